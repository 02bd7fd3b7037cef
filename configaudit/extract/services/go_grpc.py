"""gRPC clients and servers in Go source: keepalive, connection age and balancing.

Defaults and floors: grpc-go dialoptions.go, internal/transport/defaults.go, http2_client.go.
"""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_values import LOCKED, NANOSECONDS, WORKED_OUT, setting_at, text_of
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_SERVER
from configaudit.model import Component, Setting
from configaudit.parse.golang import Options, Scope, Source
from configaudit.patterns import regex

_GRPC = 'google.golang.org/grpc.'
_KEEPALIVE = 'google.golang.org/grpc/keepalive.'
_DIALS = {'Dial': 0, 'NewClient': 0, 'DialContext': 1}
"""Function -> where its target stands."""
_LOCAL = regex(r'(?:[a-z]+:/*)?(?:localhost|127\.[\d.]+|\[::1\]|bufnet|bufconn)(?::|$)|unix:|@')
_FLOOR_S = 10
"""Of a client's Time: grpc-go raises a smaller one, 0 included."""
_PASSTHROUGH = 'grpc-go dialoptions.go: Dial and DialContext start with the scheme passthrough, NewClient with dns'
_BUNDLE = regex(r'\(?(?:\w+ )?(?:\[\])?(\w+)\.(Dial|Server)Option\b')
"""What a function returns that gathers options."""
_SHARED = {
    'Dial': frozenset((_GRPC + 'WithKeepaliveParams',)),
    'Server': frozenset((_GRPC + 'KeepaliveEnforcementPolicy', _GRPC + 'KeepaliveParams')),
}
_NO_LIMIT = 'only the C core stops after some pings without data'
_UNSEEN = 'its options come from elsewhere in the program'
_CLIENT = {'Time': 'time_s', 'Timeout': 'timeout_s', 'PermitWithoutStream': 'permit_without_stream'}
_POLICY = {'MinTime': 'min_time_s', 'PermitWithoutStream': 'permit_without_stream'}
_SERVER = {'Time': 'time_s', 'Timeout': 'timeout_s', 'MaxConnectionAge': 'max_connection_age_s', 'MaxConnectionAgeGrace': 'max_connection_age_grace_s'}
_HARMLESS = ('go.opentelemetry.io/', 'google.golang.org/grpc/')
"""Packages whose options set neither keepalive nor balancing."""


def grpc_components(source: Source) -> Iterator[Component]:
    """The channels a file opens and the servers it makes."""
    if not any(path.startswith('google.golang.org/grpc') for path in source.imports.values()):
        return
    number = 0
    for scope in source.scopes:
        made = _bundle(source, scope, number)
        if made is not None:
            number += 1
            yield made
        for call in scope.calls:
            name = source.called(call)
            if not name.startswith(_GRPC):
                continue
            made = _client(source, scope, call, name, number) if name.removeprefix(_GRPC) in _DIALS else None
            made = _server(source, scope, call, number) if name == _GRPC + 'NewServer' else made
            if made is not None:
                number += 1
                yield made


def _client(source: Source, scope: Scope, call: Any, name: str, number: int) -> Component | None:
    arguments = source.arguments(call)
    at = _DIALS[name.removeprefix(_GRPC)]
    if len(arguments) <= at:
        return None
    target = text_of(source, scope, arguments[at])
    if target is not None and _LOCAL.match(target):
        return None
    options = source.options(arguments[at + 1 :], scope)
    settings: dict[str, Setting] = {}
    if not name.endswith('.NewClient'):
        settings['resolver'] = Setting('resolver', 'passthrough', source.place(call.child_by_field_name('function')), 'default', source=_PASSTHROUGH)
    if target is not None:
        settings['target'] = setting_at(source, scope, 'target', arguments[at])
    for option in options.nodes:
        _client_option(source, scope, option, settings)
    return _component(GRPC_CLIENT, source, call, options, settings, f'grpc-client/{number}')


def _bundle(source: Source, scope: Scope, number: int) -> Component | None:
    """The options that a function returns for others to dial or to serve with; they may add to them."""
    found = _BUNDLE.match(source.text(scope.node.child_by_field_name('result') or scope.node)) if scope is not source.package else None
    if found is None or source.imports.get(found[1]) != 'google.golang.org/grpc':
        return None
    wanted = _SHARED[found[2]]
    calls = [call for call in scope.calls if source.called(call) in wanted]
    if not calls or any(source.called(call).removeprefix(_GRPC) in (*_DIALS, 'NewServer') for call in scope.calls):
        return None
    settings: dict[str, Setting] = {}
    for call in calls:
        (_client_option if found[2] == 'Dial' else _server_option)(source, scope, call, settings)
    kind, key = (GRPC_CLIENT, 'grpc-client') if found[2] == 'Dial' else (GRPC_SERVER, 'grpc-server')
    return _component(kind, source, calls[0], Options((), False), settings, f'{key}/{number}')


def _client_option(source: Source, scope: Scope, option: Any, settings: dict[str, Setting]) -> None:
    name = source.called(option) if option.type == 'call_expression' else ''
    arguments = source.arguments(option) if name else []
    if name == _GRPC + 'WithKeepaliveParams' and arguments:
        settings.update(_struct(source, scope, arguments[0], 'ClientParameters', _CLIENT))
        time = settings.get('time_s')
        if time is None or (time.is_known and time.known_value < _FLOOR_S):  # type: ignore[operator]
            place = time.place if time is not None else source.place(option)
            settings['time_asked_s'] = Setting('time_asked_s', time.known_value if time is not None else 0, place, unit='s', locked=LOCKED)
            settings['time_s'] = Setting('time_s', _FLOOR_S, place, unit='s', locked=LOCKED)
    elif name in (_GRPC + 'WithDefaultServiceConfig', _GRPC + 'WithBalancerName') and arguments:
        text = text_of(source, scope, arguments[0])
        place = source.place(option)
        settings['round_robin'] = Setting('round_robin', 'round_robin' in (text or ''), place, reason='' if text is not None else 'the service config is worked out')
    elif name in (_GRPC + 'WithContextDialer', _GRPC + 'WithDialer', _GRPC + 'WithResolvers'):
        settings['custom'] = Setting('custom', True, source.place(option))


def _server(source: Source, scope: Scope, call: Any, number: int) -> Component:
    options = source.options(source.arguments(call), scope)
    settings: dict[str, Setting] = {}
    port = _port(source)
    if port is not None:
        settings['port'] = port
    for option in options.nodes:
        _server_option(source, scope, option, settings)
    return _component(GRPC_SERVER, source, call, options, settings, f'grpc-server/{number}')


def _server_option(source: Source, scope: Scope, option: Any, settings: dict[str, Setting]) -> None:
    name = source.called(option) if option.type == 'call_expression' else ''
    arguments = source.arguments(option) if name else []
    if name == _GRPC + 'KeepaliveEnforcementPolicy' and arguments:
        settings.update(_struct(source, scope, arguments[0], 'EnforcementPolicy', _POLICY))
    elif name == _GRPC + 'KeepaliveParams' and arguments:
        settings.update(_struct(source, scope, arguments[0], 'ServerParameters', _SERVER))
    elif name == _GRPC + 'MaxConcurrentStreams' and arguments:
        settings['max_concurrent_streams'] = setting_at(source, scope, 'max_concurrent_streams', arguments[0])


def _port(source: Source) -> Setting | None:
    """The one port that the file listens on: `net.Listen("tcp", ":9090")`."""
    found: dict[str, Setting] = {}
    for scope in source.scopes:
        for call in scope.calls:
            arguments = source.arguments(call)
            address = text_of(source, scope, arguments[1]) if source.called(call) == 'net.Listen' and len(arguments) == 2 else None
            port = (address or '').rpartition(':')[2]
            if port.isdigit():
                found[port] = Setting('port', port, source.place(arguments[1]))
    return next(iter(found.values())) if len(found) == 1 else None


def _struct(source: Source, scope: Scope, node: Any, kind: str, names: dict[str, str]) -> dict[str, Setting]:
    """The settings of a struct literal; all unknown when the file does not show it."""
    literal = source.settled(node, scope)
    fields = None
    if literal.type == 'composite_literal' and source.name_of(literal.child_by_field_name('type')) == _KEEPALIVE + kind:
        fields = source.fields(literal)
    if fields is None:
        place = source.place(node)
        return {name: Setting(name, None, place, reason=WORKED_OUT) for name in names.values()}
    return {
        setting: setting_at(source, scope, setting, fields[name], 1 if name.startswith('Permit') else NANOSECONDS, '' if name.startswith('Permit') else 's')
        for name, setting in names.items() if name in fields
    }  # fmt: skip


def _component(kind: Any, source: Source, call: Any, options: Options, settings: dict[str, Setting], key: str) -> Component:
    path = source.document.path
    settings['written_in'] = Setting('written_in', 'Go', source.place(call))
    if kind is GRPC_CLIENT:
        settings['max_pings'] = Setting('max_pings', 0, source.place(call), 'default', source=_NO_LIMIT)
    else:
        settings['max_ping_strikes'] = Setting('max_ping_strikes', 2, source.place(call), 'default', source='grpc-go internal/transport/http2_server.go, maxPingStrikes')
    seen = options.complete and all(source.called(option).startswith((_GRPC, *_HARMLESS)) for option in options.nodes)
    return Component(kind, path.rpartition('/')[2], f'go/{path}/{key}', source.place(call.child_by_field_name('function')), settings, partial='' if seen else _UNSEEN)
