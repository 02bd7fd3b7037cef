"""HTTP servers in Go source: their clocks, and whether what they serve streams.

Defaults: net/http Server (no timeout at all); ReadHeaderTimeout and IdleTimeout fall back on ReadTimeout.
"""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_streams import STREAM_WORDS, found_in
from configaudit.extract.services.go_values import NANOSECONDS, setting_at, text_of
from configaudit.knowledge.service_kinds import HTTP_SERVER
from configaudit.model import Component, Setting
from configaudit.parse.golang import Scope, Source
from configaudit.patterns import regex
from configaudit.places import Place

_FIELDS = {'WriteTimeout': 'write_timeout_s', 'IdleTimeout': 'idle_timeout_s', 'ReadHeaderTimeout': 'read_header_timeout_s', 'ReadTimeout': 'read_header_timeout_s'}
_LISTENERS = {'ListenAndServe': 0, 'ListenAndServeTLS': 0, 'Serve': -1, 'ServeTLS': -1}
"""Functions of net/http that make a server without any timeout -> where its address stands."""
_LOCAL = regex(r'(?:localhost|127\.[\d.]+|\[::1\]):')
_PROXIES = regex(rb'\bReverseProxy\b')
_DECIDED = b'SetWriteDeadline'


def servers(source: Source) -> Iterator[Component]:
    """The servers of a file; none that listens on this machine only."""
    for scope in source.scopes:
        for literal in scope.literals:
            if source.name_of(literal.child_by_field_name('type')) == 'net/http.Server':
                fields = source.fields(literal)
                if fields is not None and not _is_local(source, scope, fields.get('Addr')) and not _is_waived(source, literal):
                    yield _server(source, literal, _clocks(source, scope, literal, fields))
        for call in scope.calls:
            package, _, name = source.called(call).rpartition('.')
            if package == 'net/http' and name in _LISTENERS:
                at, arguments = _LISTENERS[name], source.arguments(call)
                if arguments and not (at == 0 and _is_local(source, scope, arguments[0])) and not _is_waived(source, call):
                    yield _server(source, call.child_by_field_name('function'), {})


def _is_local(source: Source, scope: Scope, node: Any) -> bool:
    text = text_of(source, scope, node) if node is not None else None
    return text is not None and _LOCAL.match(text) is not None


def _is_waived(source: Source, node: Any) -> bool:
    """Whether the line says that gosec's finding was looked at."""
    end = source.data.find(b'\n', node.start_byte)
    return b'nosec' in source.data[node.start_byte : end if end >= 0 else len(source.data)]


def _clocks(source: Source, scope: Scope, literal: Any, fields: dict[str, Any]) -> dict[str, Setting]:
    """The timeouts of a literal, and of assignments to the variable that holds it."""
    wanted = (literal.id, literal.parent.id if literal.parent is not None else None)
    holder = next((name for name, values in scope.bound.items() if any(value is not None and value.id in wanted for value in values)), '')
    given = dict(fields)
    for field in _FIELDS if holder else ():
        values = scope.bound.get(f'{holder}.{field}', [])
        if values and values[-1] is not None:
            given[field] = values[-1]
    settings: dict[str, Setting] = {}
    for field, name in _FIELDS.items():
        if field in given and name not in settings:
            setting = setting_at(source, scope, name, given[field], NANOSECONDS, 's')
            no_limit = setting.is_known and isinstance(setting.known_value, (int, float)) and setting.known_value <= 0
            settings[name] = setting._replace(known_value=float('inf')) if no_limit else setting
    if 'IdleTimeout' not in given and 'ReadTimeout' in given:  # net/http: without IdleTimeout that of ReadTimeout holds
        settings['idle_timeout_s'] = setting_at(source, scope, 'idle_timeout_s', given['ReadTimeout'], NANOSECONDS, 's')
    return settings


def _server(source: Source, node: Any, settings: dict[str, Setting]) -> Component:
    path, place = source.document.path, source.place(node)
    settings['written_in'] = Setting('written_in', 'Go', place)
    settings['imports'] = Setting('imports', tuple(source.imports.values()), place)
    stream = _streams(source) if 'write_timeout_s' in settings and _DECIDED not in source.data else None
    if stream is not None:
        settings['streams'] = Setting('streams', True, stream)
    return Component(HTTP_SERVER, path.rpartition('/')[2], f'go/{path}/http-server/{node.start_byte}', place, settings)


def _streams(source: Source) -> Place | None:
    return found_in(source, source.root, STREAM_WORDS) or found_in(source, source.root, _PROXIES)
