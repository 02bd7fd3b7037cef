"""Commands that tune the host: `sysctl -w`, writes into /proc/sys and /sys/block, and files that a script writes."""

import os.path
import re
from collections.abc import Iterable, Iterator
from importlib import import_module

from configaudit.extract.commands import Invocation, word_at
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.services.sysctl import is_node, sysctl_component
from configaudit.extract.services.udev import scheduler_component
from configaudit.extract.words import Word
from configaudit.model import Component, Slot
from configaudit.parse.formats import format_of
from configaudit.parse.shell import commands
from configaudit.patterns import regex
from configaudit.places import Document, Place, Segment

_WORTH = ('sysctl', '/proc/sys/', '/queue/scheduler', '/limits.', '/udev/', '/etc/nginx/')
_READERS = {'sysctl': 'sysctl', 'limits': 'limits', 'udev': 'udev', 'nginx': 'nginx'}
_WRITE = regex(
    r"""\becho\s+(?:-[ne]+\s+)?(?P<quote>["']?)(?P<value>[\w-]+(?:[ \t]+\w+)*?)(?P=quote)\s*"""
    r"""(?:>>?|\|\s*(?:sudo\s+)?tee(?:\s+-a)?)\s*(?P<path>/(?:proc/sys|sys/block)/[\w./*?\[\]-]+)"""
)
_BLOCK = regex(r'/sys/block/(?P<device>[^/]+)/queue/scheduler$')
_TARGET = r"""(?:>>?|\btee(?:\s+-a)?)\s*["']?(?P<path>/etc/(?:(?:sysctl|security/limits|udev/rules)\.[\w./@-]+|nginx/[\w./-]+))"""
_LINE = regex(r"""\becho\s+(?P<quote>["'])(?P<body>[^"'\n]+)(?P=quote)[^\n;&>]*""" + _TARGET)
_HEREDOC = regex(
    r"""^[^\n#]*(?:<<-?\s*["']?(?P<end>\w+)["']?[^\n]*?)?""" + _TARGET +
    r"""[^\n<]*(?:<<-?\s*["']?(?P<late>\w+)["']?[^\n]*)?\n(?P<body>.*?)^[ \t]*(?(end)(?P=end)|(?P=late))[ \t]*$""",
    re.MULTILINE | re.DOTALL,
)  # fmt: skip


def read_process(process: Process, invocations: Iterable[Invocation], stores: Stores) -> list[Component]:
    """What the commands of a process set on the host it runs on."""
    owner = process.component.identity
    node = process.component.kind.name == 'container' or is_node(process.component.place.document)
    found = [component for one in invocations for component in sysctl_command(one.argv, owner, node)]
    for word in (*(process.entrypoint or ()), *(process.arguments or ())):
        found.extend(writes(word, owner, node))
    return found


def read_script(document: Document) -> Reading:
    """What a script, read as a whole, sets on its host: its commands, and the files that it writes."""
    reading = nothing()
    text = document.text
    if not any(word in text for word in _WORTH):
        return reading
    script = Word(text, Place(document, 0, len(text)))
    owner, node = document.path.rpartition('/')[2], is_node(document)
    if 'sysctl' in text:
        for command in commands(text):
            argv = tuple(word_at(token, script, {}) for token in command.argv)
            if argv and argv[0].value == 'sudo':
                argv = argv[1:]
            reading.components.extend(sysctl_command(argv, owner, node))
    reading.components.extend(writes(script, owner, node))
    for inner in written_files(script):
        reading.add(import_module('configaudit.extract.services.' + _READERS[inner.format]).read(inner))
    return reading


def sysctl_command(argv: tuple[Word, ...], owner: str, node: bool) -> Iterator[Component]:
    """The parameters that one `sysctl [-w] key=value ...` sets; nothing for any other command."""
    if not argv or os.path.basename(argv[0].value) != 'sysctl':
        return
    for word in argv[1:]:
        name, equals, value = word.value.partition('=')
        if not equals or name.startswith('-'):
            continue
        place = word.place.part(len(name) + 1, len(word.value)) if word.pure else word.place
        yield sysctl_component(
            name.strip().replace('/', '.'), value, place, word.place, owner, form='command', node=node,
            slot=Slot('argument', place) if word.pure else None, reason=word.reason,
        )  # fmt: skip


def writes(script: Word, owner: str, node: bool) -> Iterator[Component]:
    """What `echo value > /proc/sys/...` and `... | tee /sys/block/.../scheduler` set in a script."""
    for match in _WRITE.finditer(script.value):
        if _in_comment(script.value, match.start()):
            continue
        place = script.place.part(*match.span('value')) if script.pure else script.place
        slot = Slot('argument', place) if script.pure else None
        device = _BLOCK.match(match['path'])
        if device is not None:
            yield scheduler_component(match['value'], device['device'], place, owner, slot)
        elif match['path'].startswith('/proc/sys/'):
            name = match['path'].removeprefix('/proc/sys/').replace('/', '.')
            yield sysctl_component(name, match['value'], place, place, owner, form='command', node=node, slot=slot)


def written_files(script: Word) -> Iterator[Document]:
    """Files of kernel parameters, limits, udev rules and nginx that a script writes with here-documents or echo."""
    for pattern in (_HEREDOC, _LINE):
        for match in pattern.finditer(script.value):
            kind = format_of(match['path'], match['body'].encode())
            if kind in _READERS and script.pure and not _in_comment(script.value, match.start()):
                note = 'echo writes it' if pattern is _LINE else ''
                yield _inside(script.place.part(*match.span('body')), kind, note, match['path'])


def _inside(place: Place, kind: str, note: str, path: str) -> Document:
    """A part of a document as a document of its own."""
    length = place.end - place.start
    segments = (Segment(0, place.start, length),)
    return Document(
        place.document.path,
        kind,
        place.text.encode(),
        outer=place,
        segments=lambda: segments,
        note=note or place.document.note,
        called=path if kind == 'nginx' else '',
    )


def _in_comment(text: str, at: int) -> bool:
    return '#' in text[text.rfind('\n', 0, at) + 1 : at]
