"""Which version an engine is and how that was found."""

import re
from typing import NamedTuple

from configaudit.context import Context
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.launch import image_of
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.versions import Version, parse

_HISTORIES = ('vllm', 'sglang')


class Release(NamedTuple):
    """An engine's version, None when it cannot be told."""

    version: Version | None
    found: str
    """How it was found, or why not."""
    note: str = ''
    """That it is newer than the data, or ''."""


def engine_release(invocation: Invocation, engine: str, context: Context) -> Release:
    """The version by image tag, by a pinned pip package in the same script, or given by the run's option."""
    image = image_of(invocation)
    version, found = None, 'no image is named'
    if image is not None:
        version = image.version if image.engine == engine else None
        if version is not None:
            found = f'image tag {image.tag}'
        elif image.engine not in (engine, None):
            found = f'the image is {image.engine}'
        else:
            found = image.reason or ('a digest' if image.digest else f'image tag {image.tag!r}' if image.tag else 'no image tag')
    pin = _pinned(invocation, engine) if version is None else None
    if pin is not None:
        version, found = parse(pin), f'pip pin {engine}=={pin}'
    given = context.engine_versions.get(engine) or context.engine_versions.get('')
    if version is None and given:
        version, found = parse(given), 'given by option'
    if engine in context.assumed_versions:
        version, found = parse(context.assumed_versions[engine]), 'assumed'
    newest = catalogue(engine).newest if version is not None and engine in _HISTORIES else None
    note = f'newer than the data ({newest})' if version is not None and newest is not None and version > newest else ''
    return Release(version, found, note)


def _pinned(invocation: Invocation, engine: str) -> str | None:
    """The one version that the process's script or image file installs with pip."""
    process = invocation.process
    document = process.component.place.document
    around = document.text if document.format in ('shell', 'dockerfile') else ''
    texts = [around, *(word.value for word in (*(process.entrypoint or ()), *(process.arguments or ())))]
    pattern = re.compile(rf'\b{engine}(?:\[[\w,]*\])?\s*==\s*v?(\d+\.\d+[\w.]*)')
    found = {match for text in texts for match in pattern.findall(text)}
    return found.pop() if len(found) == 1 else None
