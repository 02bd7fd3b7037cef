"""haproxy.cfg: backends with their servers, the longest silence they may keep, how long requests queue, and what is sent again.

Source: HAProxy configuration manual, `timeout server` (inactivity, milliseconds unless a unit follows), `timeout queue` (unset: as long as
`timeout connect`), `retry-on`, `default-server`. Measured with HAProxy 2.6: `timeout client` does not end a request whose server is silent.
"""

from collections.abc import Iterator
from typing import NamedTuple

from configaudit import units
from configaudit.extract.process import Reading, nothing
from configaudit.knowledge.proxy_kinds import ROUTE, UPSTREAM
from configaudit.model import Component, Peers, Setting
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
        head, lines = section.lines[0], [line for line in section.lines[1:] if len(line.words) > _ADDRESS.get(line.words[0], len(line.words))]
        servers = [line.words[_ADDRESS[line.words[0]]] for line in lines]
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
        settings.update(_queue(document, section, lines))
        route = Component(ROUTE, name, f'{file}/{head.words[0]}/{name}', place, settings)
        pool = {'product': settings['product'], 'targets': settings['targets'], **dict(_protocol(document, section, lines, place))}
        upstream = Component(UPSTREAM, name, f'{route.identity}/servers', place, pool)
        route.peer_map['proxy-upstream'] = Peers.of([upstream], True)
        upstream.peer_map['proxy-route'] = Peers.of([route], True)
        reading.components.extend((route, upstream))
    return reading


def _sections(text: str) -> Iterator[_Section]:
    """Every section with the defaults that hold for it: those it names with `from`, else the last ones before it."""
    defaults: list[_Line] = []
    named: dict[str, list[_Line]] = {}
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
            chosen = line.words[-1] if len(line.words) > 2 and line.words[-2] == 'from' else ''
            current = _Section([line], named.get(chosen, defaults))
            if line.words[0] == 'defaults':
                current = _Section([line, *named.get(chosen, [])[1:]], [])
                defaults = current.lines
                named[line.words[1] if len(line.words) > 1 and line.words[1] != 'from' else ''] = current.lines
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
        yield 'read_timeout_s', _time(document, 'read_timeout_s', silence)
    again = _last(section, 'retry-on')
    posts_stay = any(line.words[:2] == ('http-request', 'disable-l7-retry') for line in section.lines)
    if again is not None and not posts_stay:
        yield 'retry_on', Setting('retry_on', ' '.join(again.words[1:]), _place(document, again, 1))
        tries = _last(section, 'retries')
        count = units.integer(tries.words[1]) if tries is not None else None
        if tries is not None and count is not None:
            yield 'attempts', Setting('attempts', count, _place(document, tries, 1))


def _time(document: Document, name: str, line: _Line) -> Setting:
    text = line.words[2]
    match = _TIME.match(text)
    reason = '' if match else 'filled by a template' if HOLE in text or '$' in text else f'{text!r} is no time'
    return Setting(name, int(match[1]) * _SECONDS[match[2]] if match else None, _place(document, line, 2), reason=reason, unit='s')


def _option(lines: list[_Line], section: _Section, name: str) -> tuple[_Line, int] | None:
    """Where an option of servers stands: on a server's own line, else on a `default-server` of the section or its defaults."""
    shared = [line for line in (*section.lines, *section.defaults) if line.words[0] == 'default-server']
    for line in (*lines, *shared):
        if name in line.words[1:-1]:
            return line, line.words.index(name, 1) + 1
    return None


def _queue(document: Document, section: _Section, lines: list[_Line]) -> Iterator[tuple[str, Setting]]:
    """How many requests a server takes at once, and how long others wait for it."""
    found = _option(lines, section, 'maxconn')
    count = units.integer(found[0].words[found[1]]) if found is not None else None
    if found is None or count is None:
        return
    yield 'server_requests', Setting('server_requests', count, _place(document, *found))
    own, connect = _last(section, 'timeout', 'queue'), _last(section, 'timeout', 'connect')
    if own is not None:
        yield 'queue_timeout_s', _time(document, 'queue_timeout_s', own)
    elif connect is not None:
        yield 'queue_timeout_s', _time(document, 'queue_timeout_s', connect)._replace(origin='default', source='HAProxy manual, timeout queue')


def _protocol(document: Document, section: _Section, lines: list[_Line], place: Place) -> Iterator[tuple[str, Setting]]:
    found = _option(lines, section, 'proto')
    if found is not None and found[0].words[found[1]] == 'h2':
        yield 'protocol_http', Setting('protocol_http', '2', _place(document, *found))
    else:
        yield 'protocol_http', Setting('protocol_http', '1.1', place, 'default')
