"""haproxy.cfg: backends with their servers, the longest silence they may keep, and what is sent again.

Source: HAProxy configuration manual, `timeout server` (inactivity, milliseconds unless a unit follows), `retry-on`, `default-server`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from configaudit import units
from configaudit.extract.process import Reading, nothing
from configaudit.knowledge.proxy_kinds import ROUTE
from configaudit.model import Component, Setting
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_WORD = regex(r'"[^"\n]*"|[^\s#"]+|#.*')
_SECTIONS = frozenset(('global', 'defaults', 'frontend', 'backend', 'listen', 'resolvers', 'peers', 'mailers', 'userlist', 'cache', 'program', 'ring', 'http-errors'))
_ADDRESS = {'server': 2, 'server-template': 3}
"""Lines that name servers, and which of their words is the address."""
_SECONDS = {'us': 1e-6, 'ms': 1e-3, 's': 1, 'm': 60, 'h': 3600, 'd': 86400, '': 1e-3}
_TIME = regex(r'(\d+)(us|ms|s|m|h|d|)$')


class _Line(NamedTuple):
    """The words of a line, and where each one starts."""

    words: tuple[str, ...]
    starts: tuple[int, ...]


class _Section(NamedTuple):
    lines: list[_Line]
    defaults: list[_Line]
    """What the `defaults` section before it says."""


def read(document: Document) -> Reading:
    """A component for every backend (and `listen`) that speaks HTTP and has servers."""
    reading = nothing()
    file = document.path.rpartition('/')[2]
    for section in _sections(document.text):
        head, servers = section.lines[0], [line.words[_ADDRESS[line.words[0]]] for line in section.lines[1:] if len(line.words) > _ADDRESS.get(line.words[0], len(line.words))]
        if head.words[0] not in ('backend', 'listen') or len(head.words) < 2 or not servers or not _speaks_http(section):
            continue
        name = head.words[1]
        place = _place(document, head, 1)
        targets = tuple(map(_host_port, servers))
        settings = {
            'product': Setting('product', 'haproxy', place), 'path': Setting('path', '/', place), 'target': Setting('target', name, place),
            'targets': Setting('targets', targets, place), 'server_name': Setting('server_name', name, place),
        }  # fmt: skip
        settings.update(_limits(document, section))
        reading.components.append(Component(ROUTE, name, f'{file}/{head.words[0]}/{name}', place, settings))
    return reading


def _sections(text: str) -> Iterator[_Section]:
    defaults: list[_Line] = []
    current = _Section([], defaults)
    at = 0
    for raw in text.splitlines(keepends=True):
        found = [match for match in _WORD.finditer(raw) if not match[0].startswith('#')]
        line = _Line(tuple(match[0].strip('"') for match in found), tuple(at + match.start() for match in found))
        at += len(raw)
        if not line.words:
            continue
        if line.words[0] in _SECTIONS:
            if current.lines:
                yield current
            current = _Section([line], defaults)
            if line.words[0] == 'defaults':
                defaults = current.lines
        elif current.lines:
            current.lines.append(line)
    if current.lines:
        yield current


def _place(document: Document, line: _Line, word: int) -> Place:
    return Place(document, line.starts[word], line.starts[word] + len(line.words[word]))


def _last(section: _Section, *words: str) -> _Line | None:
    """The line that holds: the section's own, else the one of its defaults."""
    for lines in (section.lines, section.defaults):
        found = [line for line in lines if line.words[: len(words)] == words and len(line.words) > len(words)]
        if found:
            return found[-1]
    return None


def _speaks_http(section: _Section) -> bool:
    mode = _last(section, 'mode')
    return mode is not None and mode.words[1] == 'http'


def _host_port(address: str) -> tuple[str, str]:
    host, colon, port = address.rpartition(':')
    return (host, port) if colon else (address, '')


def _limits(document: Document, section: _Section) -> Iterator[tuple[str, Setting]]:
    silence = _last(section, 'timeout', 'server')
    if silence is not None:
        match = _TIME.match(silence.words[2])
        reason = '' if match else 'filled by a template' if HOLE in silence.words[2] or '$' in silence.words[2] else f'{silence.words[2]!r} is no time'
        yield 'read_timeout_s', Setting('read_timeout_s', int(match[1]) * _SECONDS[match[2]] if match else None, _place(document, silence, 2), reason=reason, unit='s')
    again = _last(section, 'retry-on')
    posts_stay = any(line.words[:2] == ('http-request', 'disable-l7-retry') for line in section.lines)
    if again is not None and not posts_stay:
        yield 'retry_on', Setting('retry_on', ' '.join(again.words[1:]), _place(document, again, 1))
        tries = _last(section, 'retries')
        count = units.integer(tries.words[1]) if tries is not None else None
        if tries is not None and count is not None:
            yield 'attempts', Setting('attempts', count, _place(document, tries, 1))
