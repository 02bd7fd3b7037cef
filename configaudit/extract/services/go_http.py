"""HTTP in Go source: the clients that programs make, with their clocks, their connections and whether streams go through them."""

import math
from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_forwarding import handlers, hands_on
from configaudit.extract.services.go_handlers import Function, functions
from configaudit.extract.services.go_servers import servers
from configaudit.extract.services.go_streams import (
    GENERATION_WORDS,
    STREAM_WORDS,
    called_here,
    found_in,
    name_of,
    sends,
    stream_of,
)
from configaudit.extract.services.go_transports import TRANSPORT, pool_of, transports
from configaudit.extract.services.go_values import NANOSECONDS, WORKED_OUT, default, setting_at
from configaudit.knowledge.service_kinds import HTTP_CLIENT
from configaudit.model import Component, Setting
from configaudit.parse.golang import Scope, Source
from configaudit.places import Place

_SOURCE = 'net/http DefaultMaxIdleConnsPerHost'
_IDLE_PER_HOST = 2
_REVERSE = 'net/http/httputil.'
_KEPT = (b'CloseIdleConnections', b'sync.Once', b'DisableKeepAlives')
"""Words of a function that looks after the connections itself."""


def http_components(source: Source) -> Iterator[Component]:
    """The clients, transports, servers and handlers of a file."""
    paths = source.imports.values()
    if 'golang.org/x/net/http2' in paths or 'net/http' in paths:
        yield from transports(source)
    if 'net/http' in paths or _REVERSE[:-1] in paths:
        answering = [function for function in functions(source) if function.is_handler]
        gateways = [function for function in answering if hands_on(source, function) or found_in(source, function.node, STREAM_WORDS) or found_in(source, function.node, GENERATION_WORDS)]
        for scope in source.scopes:
            for literal in scope.literals:
                kind = source.name_of(literal.child_by_field_name('type'))
                if kind == 'net/http.Client':
                    yield _client(source, scope, literal, answering, gateways)
                elif kind == _REVERSE + 'ReverseProxy':
                    yield _proxy(source, scope, literal, (source.fields(literal) or {}).get('Transport'))
            yield from _made_proxies(source, scope)
        yield from _default_client(source, gateways)
        yield from servers(source)
    yield from handlers(source)


def _client(source: Source, scope: Scope, literal: Any, answering: list[Function], gateways: list[Function]) -> Component:
    fields = source.fields(literal) or {}
    settings: dict[str, Setting] = {}
    if 'Timeout' in fields:
        limit = setting_at(source, scope, 'timeout_s', fields['Timeout'], NANOSECONDS, 's')
        settings['timeout_s'] = limit._replace(known_value=math.inf) if limit.is_known and not limit.known_value else limit
    local, field = _names(source, scope, literal)
    if not local and not field and scope is not source.package:
        local = _inline(source, literal)
    transport = _pool(source, scope, fields.get('Transport'), source.place(literal), settings)
    stream = stream_of(source, scope, local, field)
    if stream is not None:
        settings['streams'] = Setting('streams', True, stream)
    user = next((function for function in gateways for call in function.calls if sends(source, call, local if function.scope is scope or scope is source.package else '', field)), None)
    if user is not None or (stream is not None and field):
        settings['forwards'] = Setting('forwards', True, stream or source.place(user.node.child_by_field_name('name') or user.node))  # type: ignore[union-attr]
    if transport is not None and local and not field and _is_made_anew(source, scope, transport, local, answering):
        settings['per_request'] = Setting('per_request', True, source.place(transport))
    return _component(source, literal, settings, 'net/http')


def _pool(source: Source, scope: Scope, transport: Any, place: Place, settings: dict[str, Setting]) -> Any:
    """The connections a client keeps, into `settings`; the literal of its transport when the file shows it."""
    if transport is None:
        settings['idle_per_host'] = default('idle_per_host', _IDLE_PER_HOST, place, _SOURCE)
        return None
    literal = source.settled(transport, scope)
    if literal.type == 'composite_literal' and source.name_of(literal.child_by_field_name('type')) == TRANSPORT:
        settings.update(pool_of(source, scope, literal))
        idle = settings.get('idle_per_host')
        if idle is None or (idle.is_known and not idle.known_value):
            settings['idle_per_host'] = default('idle_per_host', _IDLE_PER_HOST, source.place(literal), _SOURCE)
        return literal
    settings['idle_per_host'] = Setting('idle_per_host', None, source.place(transport), reason=WORKED_OUT)
    return None


def _is_made_anew(source: Source, scope: Scope, transport: Any, local: str, answering: list[Function]) -> bool:
    """Whether a function that answers a request, or is called by one, makes a transport, sends with it and drops it."""
    text = source.data[scope.node.start_byte : scope.node.end_byte]
    if scope is source.package or not scope.node.start_byte <= transport.start_byte < scope.node.end_byte or any(word in text for word in _KEPT):
        return False
    if not any(sends(source, call, local, '') for call in scope.calls):
        return False
    name = name_of(source, scope)
    inside = any(function.node.start_byte <= transport.start_byte < function.node.end_byte for function in answering)
    return inside or any(called_here(source, call) == name for function in answering for call in function.calls)


def _inline(source: Source, literal: Any) -> str:
    """What stands before `.Do` in `(&http.Client{}).Do(req)`."""
    node = literal
    while node.parent is not None and node.parent.type in ('unary_expression', 'parenthesized_expression'):
        node = node.parent
    return source.text(node) if node.parent is not None and node.parent.type == 'selector_expression' else ''


def _made_proxies(source: Source, scope: Scope) -> Iterator[Component]:
    """Reverse proxies of httputil.NewSingleHostReverseProxy, with the transport that is set afterwards."""
    for call in scope.calls:
        if source.called(call) == _REVERSE + 'NewSingleHostReverseProxy':
            holder = next((name for name, values in scope.bound.items() if any(value is not None and value.id == call.id for value in values)), '')
            later = [found for name, found in scope.bound.items() if name.endswith('.Transport') and holder and name in (f'{holder}.Transport',)]
            yield _proxy(source, scope, call.child_by_field_name('function'), later[0][-1] if later else None, bool(holder))


def _proxy(source: Source, scope: Scope, node: Any, transport: Any, seen: bool = True) -> Component:
    place = source.place(node)
    settings: dict[str, Setting] = {'forwards': Setting('forwards', True, place)}
    result = scope.node.child_by_field_name('result')
    if seen and (result is None or 'ReverseProxy' not in source.text(result)):
        _pool(source, scope, transport, place, settings)
    return _component(source, node, settings, 'httputil.ReverseProxy')


def _default_client(source: Source, answering: list[Function]) -> Iterator[Component]:
    for function in answering:
        for call in function.calls:
            if source.method(call) == ('http.DefaultClient', 'Do'):
                place = source.place(call.child_by_field_name('function'))
                settings = {'forwards': Setting('forwards', True, place), 'idle_per_host': default('idle_per_host', _IDLE_PER_HOST, place, _SOURCE)}
                yield _component(source, call, settings, 'net/http')
                return


def _component(source: Source, node: Any, settings: dict[str, Setting], product: str) -> Component:
    path, place = source.document.path, source.place(node)
    settings['product'], settings['written_in'] = Setting('product', product, place), Setting('written_in', 'Go', place)
    return Component(HTTP_CLIENT, path.rpartition('/')[2], f'go/{path}/http-client/{node.start_byte}', place, settings)


def _names(source: Source, scope: Scope, literal: Any) -> tuple[str, str]:
    """The variable that holds a client, and the field it is put into: by a struct literal or by assignment."""
    node = literal.parent if literal.parent is not None and literal.parent.type == 'unary_expression' else literal
    local = next((name for name, values in scope.bound.items() if any(value is not None and value.id in (node.id, literal.id) for value in values)), '')
    if '.' in local:
        return '', local.rpartition('.')[2]
    holder = node.parent
    if holder is not None and holder.type == 'literal_element' and holder.parent is not None and holder.parent.type == 'keyed_element':
        key = holder.parent.child_by_field_name('key')
        if key is not None and key.id != holder.id:
            return local, source.text(key)
    return local, _field_of(source, scope, local) if local else ''


def _field_of(source: Source, scope: Scope, local: str) -> str:
    """The field of a struct literal that a variable is put into: `&Client{http: local}`."""
    for literal in scope.literals:
        for key, value in (source.fields(literal) or {}).items():
            if source.text(value) == local:
                return key
    return ''
