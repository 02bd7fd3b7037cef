"""Which version an engine is, and how that was found."""

import re
from posixpath import dirname, join
from typing import NamedTuple

from configaudit.context import Context
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.launch import image_of
from configaudit.extract.environment import Stores
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.images import Image
from configaudit.knowledge.shipped import HISTORIES
from configaudit.knowledge.versions import Version, parse
from configaudit.patterns import regex

_BESIDE = ('requirements.txt', 'pyproject.toml', '../requirements.txt', '../pyproject.toml')
"""Where the packages of a program are pinned."""
_REQUIREMENTS = regex(r'[^\s"\',;&|]*requirements[\w.-]*\.txt')


class Release(NamedTuple):
    """An engine's version, None when it cannot be told."""

    version: Version | None
    found: str
    """How it was found, or why not."""
    note: str = ''
    """That it is newer or older than the data, or ''."""


def engine_release(invocation: Invocation, engine: str, context: Context, stores: Stores | None = None) -> Release:
    """The version by annotation, image tag, pins of the script or image file, or as the configuration gives it."""
    version, noted = _annotated(invocation, engine)
    found = noted
    if version is None:
        version, found = _by_image(image_of(invocation), engine)
    if version is None:
        pin, how = _pinned(invocation, engine, stores)
        version, found = (parse(pin), how) if pin else (None, noted or found)
    given = context.version_of(engine, invocation.process.component)
    if version is None and given:
        version, found = parse(given), 'as given'
    if engine in context.assumed_versions:
        version, found = parse(context.assumed_versions[engine]), 'assumed'
    return Release(version, found, _outside(engine, version) if version is not None and engine in HISTORIES else '')


def _outside(engine: str, version: Version) -> str:
    """That the recorded releases end before this one, or begin after it; else ''."""
    oldest, newest = catalogue(engine).versions[0], catalogue(engine).newest
    return f'newer than the data ({newest})' if version > newest else f'older than the data ({oldest})' if version < oldest else ''


def _annotated(invocation: Invocation, engine: str) -> tuple[Version | None, str]:
    """The version that a person noted on the pod: '0.10.2', or 'vllm=0.10.2' where several engines run in it; and how, or what is wrong with the note."""
    wrong = ''
    for pod in invocation.process.component.peers('pod'):
        noted = pod['engine_version']
        for part in str(noted.known_value or '').split(','):
            name, equals, text = part.strip().rpartition('=')
            if noted.is_set and text and (not equals or name.strip() == engine):
                if version := parse(text):
                    return version, 'annotation'
                wrong = f'the annotation {text!r} is no version'
    return None, wrong


def _by_image(image: Image | None, engine: str) -> tuple[Version | None, str]:
    if image is None:
        return None, 'no image is named'
    if image.engine == engine and image.version is not None:
        return image.version, f'image tag {image.tag}' + (f' of {image.product}' if image.product and str(image.version) not in image.tag else '')
    if image.engine not in (engine, None):
        return None, f'the image is {image.engine}'
    return None, image.reason or ('a digest' if image.digest else f'image tag {image.tag!r}' if image.tag else 'no image tag')


def _pinned(invocation: Invocation, engine: str, stores: Stores | None) -> tuple[str, str]:
    """The one version that the process's script or image file installs, and how it says so; ('', '') without one."""
    process = invocation.process
    document = process.component.place.document
    around = document.text if document.format in ('shell', 'dockerfile') else ''
    texts = [around, *(word.value for word in (*(process.entrypoint or ()), *(process.arguments or ())))]
    pattern = re.compile(rf'(?<![\w.-]){engine}(?:\[[\w,]*\])?\s*==\s*v?(\d+\.\d+[\w.]*)')
    found = _only(pattern, texts)
    if found:
        return found, f'pip pin {engine}=={found}'
    name = f'{engine.upper()}_VERSION'
    found = _only(re.compile(rf'^\s*(?:ARG|ENV)\s+{name}[ =]["\']?v?(\d+\.\d+[\w.]*)', re.MULTILINE), [around] if document.format == 'dockerfile' else [])
    if found:
        return found, f'build argument {name}={found}'
    named = _BESIDE if document.format == 'python' else _REQUIREMENTS.findall('\n'.join(texts))
    listed = [(path, text) for path in named if (text := _text(path, document.path, stores))]
    found = _only(pattern, [text for _, text in listed])
    return (found, f'pip pin {engine}=={found} in {listed[0][0]}') if found else ('', '')


def _only(pattern: re.Pattern[str], texts: list[str]) -> str:
    """The one version that a pattern finds; '' for none or several."""
    found = {match for text in texts for match in pattern.findall(text)}
    return found.pop() if len(found) == 1 else ''


def _text(path: str, document: str, stores: Stores | None) -> str:
    """A requirements file that is named, seen from the folder of the file that names it; '' when it is not in the run."""
    if stores is None:
        return ''
    word = stores.files.at(join(dirname(document), path))
    if word is None and path not in _BESIDE:
        word = stores.files.ending_with(path.lstrip('./'))
    return word.value if word is not None else ''
