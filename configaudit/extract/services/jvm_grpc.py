"""gRPC channels and servers in Java and Kotlin source.

Defaults and floors: grpc-java KeepAliveManager.java, NettyServerBuilder.java; calls: ManagedChannelBuilder, ServerBuilder.
"""

import math
from collections.abc import Iterator

from configaudit.extract.services.jvm_objects import Made, objects_of
from configaudit.extract.services.jvm_values import LOCKED, component, known, last, text_of
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_SERVER
from configaudit.model import Component, Setting
from configaudit.parse.jvm import Expr, Source, dotted
from configaudit.patterns import regex

_CHANNELS = ('ManagedChannelBuilder', 'NettyChannelBuilder', 'OkHttpChannelBuilder')
_SERVERS = ('ServerBuilder', 'NettyServerBuilder', 'OkHttpServerBuilder')
_FACTORIES = {
    'newChannelBuilder': 'client', 'newChannelBuilderForAddress': 'client', 'newServerBuilderForPort': 'server',
}  # fmt: skip
"""Of io.grpc.Grpc."""
_LOCAL = regex(r'(?:[a-z]+:/*)?(?:localhost|127\.[\d.]+|\[::1?\]|0\.0\.0\.0)(?::|$)|unix:')
_CLIENT = {'keepAliveTime': 'time_s', 'keepAliveTimeout': 'timeout_s', 'keepAliveWithoutCalls': 'permit_without_stream'}
_SERVER = {
    'permitKeepAliveTime': 'min_time_s', 'permitKeepAliveWithoutCalls': 'permit_without_stream', 'keepAliveTime': 'time_s', 'keepAliveTimeout': 'timeout_s',
    'maxConnectionAge': 'max_connection_age_s', 'maxConnectionAgeGrace': 'max_connection_age_grace_s',
}  # fmt: skip
_FLOOR_S = 10
"""Of a client's keepAliveTime: a smaller one is raised."""
_OFF_S = 1000 * 86400
"""As long, and keepalive is off (AS_LARGE_AS_INFINITE)."""
_UNSEEN = 'its options come from elsewhere in the program'


def grpc_components(source: Source) -> Iterator[Component]:
    """The channels a file opens and the servers it makes."""
    for number, made in enumerate(objects_of(source, _kind)):
        found = _client(source, made, number) if made.kind == 'client' else _server(source, made, number)
        if found is not None:
            yield found


def _kind(source: Source, expr: Expr) -> str:
    owner = expr.name if expr.kind == 'parameter' else dotted(expr.of) if expr.kind == 'call' else ''
    name = owner.rpartition('.')[2]
    if name not in (*_CHANNELS, *_SERVERS, 'Grpc') or not source.comes_from(owner, 'io.grpc'):
        return ''
    if name == 'Grpc':
        return _FACTORIES.get(expr.name, '')
    return ('client' if name in _CHANNELS else 'server') if expr.kind == 'parameter' or expr.name.startswith('for') else ''


def _partial(made: Made) -> str:
    return '' if made.whole and made.called('build', 'start', 'buildAndStart') else _UNSEEN


def _client(source: Source, made: Made, number: int) -> Component | None:
    settings: dict[str, Setting] = {}
    target = _target(made)
    if target is not None:
        if _LOCAL.match(target):
            return None
        settings['target'] = Setting('target', target, source.place(made.birth.arguments[0].node), locked=LOCKED)
    _take(source, made, _CLIENT, settings)
    time = settings.get('time_s')
    if time is not None and time.is_known and isinstance(time.known_value, (int, float)):
        settings['time_s'] = time._replace(known_value=math.inf if time.known_value >= _OFF_S else max(time.known_value, _FLOOR_S))
        if time.known_value < _FLOOR_S:
            settings['time_asked_s'] = time._replace(name='time_asked_s')
    for call in made.called('defaultLoadBalancingPolicy', 'defaultServiceConfig'):
        text = text_of(call.arguments[0], call.scope) if call.arguments else None
        place = source.place(call.arguments[0].node) if call.arguments else source.place(made.birth.node)
        settings['round_robin'] = Setting('round_robin', text == 'round_robin', place, reason='' if text is not None else 'the service config is worked out')
    if made.called('nameResolverFactory', 'proxyDetector'):
        settings['custom'] = Setting('custom', True, source.place(made.birth.node))
    partial = _partial(made)
    if partial and not settings:
        return None
    settings['max_pings'] = Setting('max_pings', 0, source.place(made.birth.node), 'default', source='only the C core stops after some pings without data')
    _configures(source, made, settings)
    return component(GRPC_CLIENT, source, made, settings, number, partial)


def _target(made: Made) -> str | None:
    """'host:port' or the target of `forTarget`, when it is constant."""
    given = made.birth.arguments
    if made.birth.kind == 'parameter' or not given:
        return None
    host = text_of(given[0], made.scope)
    if host is None or made.birth.name not in ('forAddress', 'newChannelBuilderForAddress'):
        return host
    port = known(given[1], made.scope) if len(given) > 1 else None
    return f'{host}:{port}' if isinstance(port, int) else host


def _server(source: Source, made: Made, number: int) -> Component | None:
    settings: dict[str, Setting] = {}
    _take(source, made, _SERVER, settings)
    streams = last(source, 'max_concurrent_streams', made.called('maxConcurrentCallsPerConnection'))
    if streams is not None:
        settings['max_concurrent_streams'] = streams
    port = known(made.birth.arguments[0], made.scope) if made.birth.arguments and made.birth.name in ('forPort', 'newServerBuilderForPort') else None
    if isinstance(port, int):
        settings['port'] = Setting('port', str(port), source.place(made.birth.arguments[0].node), locked=LOCKED)
    if _partial(made) and not settings:
        return None
    _configures(source, made, settings)
    return component(GRPC_SERVER, source, made, settings, number, _partial(made))


def _configures(source: Source, made: Made, settings: dict[str, Setting]) -> None:
    """Methods have no names that a library ignores; a builder that is handed in sets up the ends of a starter."""
    for name in ('unread', 'without_effect') if made.kind == 'client' else ('unread',):
        settings[name] = Setting(name, (), source.place(made.birth.node), 'default')
    if made.birth.kind == 'parameter':
        settings['configures'] = Setting('configures', True, source.place(made.birth.node))


def _take(source: Source, made: Made, names: dict[str, str], settings: dict[str, Setting]) -> None:
    for method, name in names.items():
        setting = last(source, name, made.called(method), '' if name.startswith('permit') else 's')
        if setting is not None:
            settings[name] = setting
