"""gRPC clients and servers where configuration describes them: Spring gRPC, and environment that no gRPC library reads."""

from collections.abc import Iterator, Sequence

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.services.pool_files import Entry
from configaudit.extract.services.values import setting_of, settled
from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import squash
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_ENVIRONMENT, GRPC_SERVER
from configaudit.model import Component, Peers, Setting
from configaudit.patterns import regex
from configaudit.places import Place

_UNREAD = regex(
    r'^(?:GRPC_ARG_\w+|GRPC_KEEPALIVE_(?:TIME|TIMEOUT)_MS|GRPC_KEEPALIVE_PERMIT_WITHOUT_CALLS|GRPC_HTTP2_(?:MAX_PINGS_WITHOUT_DATA|'
    r'MIN_(?:RECV_|SENT_)?PING_INTERVAL_WITHOUT_DATA_MS|MAX_PING_STRIKES)|grpc\.(?:keepalive|http2)[\w.]+)$'
)
_CLIENT = {
    'keepalivetime': ('time_s', 's'), 'keepalivetimeout': ('timeout_s', 's'), 'keepalivewithoutcalls': ('permit_without_stream', 'bool'),
    'address': ('target', 'text'), 'target': ('target', 'text'),
}  # fmt: skip
_SERVER = {
    'permitkeepalivetime': ('min_time_s', 's'), 'permitkeepalivewithoutcalls': ('permit_without_stream', 'bool'),
    'keepalivetime': ('time_s', 's'), 'keepalivetimeout': ('timeout_s', 's'), 'maxconnectionage': ('max_connection_age_s', 's'),
    'maxconnectionagegrace': ('max_connection_age_grace_s', 's'), 'keepalivepermittime': ('min_time_s', 's'), 'keepalivepermitwithoutcalls': ('permit_without_stream', 'bool'),
    'keepalivemaxage': ('max_connection_age_s', 's'), 'keepalivemaxagegrace': ('max_connection_age_grace_s', 's'),
}  # fmt: skip
_LOCAL = regex(r'(?:[a-z]+:/*)?(?:localhost|127\.[\d.]+|\[::1?\]|0\.0\.0\.0)(?::|$)|unix:|in-process:')
_SOURCE = 'grpc-spring-boot-starter: GrpcChannelProperties, GrpcServerProperties'


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """Variables of a process that look like gRPC channel arguments."""
    carrier = process.component
    found = tuple((item.name, item.place) for item in process.environment if _UNREAD.match(item.name))
    if not found:
        return []
    settings = {'unread': Setting('unread', found, found[0][1])}
    component = Component(
        GRPC_ENVIRONMENT, carrier.name, f'{carrier.identity}/grpc', found[0][1], settings, partial=process.partial, scope=carrier.scope
    )
    component.peer_map['carrier'] = Peers.of([carrier], True)
    return [component]


def spring_grpc(found: Sequence[Entry], file: str, application: str, partial: str) -> Iterator[Component]:
    """Channels and the server of the gRPC starter for Spring Boot (`grpc.client.<name>`, `grpc.server`) and of Spring gRPC (`spring.grpc.*`). Bare numbers are seconds."""
    clients: dict[str, dict[str, Setting]] = {}
    server: dict[str, Setting] = {}
    switches: dict[str, Word] = {}
    places: dict[str, Place] = {}
    for path, word in found:
        own = path[1:] if path[0] == 'spring' else path
        parts = tuple(map(squash, own))
        if len(parts) < 3 or parts[0] != 'grpc':
            continue
        in_group = parts[2] in ('channel', 'channels')
        if path[0] == 'spring' and parts[1] == 'client' and not in_group and parts[2] != 'defaultchannel':
            continue  # of another starter
        at = 3 if in_group and len(parts) > 4 else 2
        side = own[at] if parts[1] == 'client' and len(parts) > at + 1 else ''
        key = ''.join(parts[at + 1 :] if side else parts[2:])
        if side:
            _take(_CLIENT, key, word, clients.setdefault(side, {}))
        elif parts[1] == 'server':
            _take(_SERVER, key, word, server)
        else:
            continue
        places.setdefault(side, word.place)
        if key == 'enablekeepalive' or (key == 'keepalivetime' and _has_no_switch(parts)):
            switches[side] = word if key == 'enablekeepalive' else word._replace(value='true')
    for name, settings in clients.items():
        common = {key: setting for key, setting in clients.get('GLOBAL', {}).items() if key not in settings}
        if name == 'GLOBAL':
            continue
        settings.update(common)
        target = settings.get('target')
        if target is not None and _LOCAL.match(str(target.known_value or '')):
            continue
        _keepalive_switch(switches.get(name, switches.get('GLOBAL')), settings, places[name])
        yield Component(GRPC_CLIENT, name, f'{file}/grpc.client.{name}', places[name], settings, partial=partial)
    if server or '' in places:
        server['names'] = Setting('names', (application,) if application else (), places[''])
        yield Component(GRPC_SERVER, application or 'server', f'{file}/grpc.server', places[''], server, partial=partial)


def _has_no_switch(parts: Sequence[str]) -> bool:
    """Whether a key is of the form in which the time alone turns keepalive on: `keepalive.time`, where earlier forms had `keep-alive-time`."""
    return parts[-1] == 'time' and parts[2] == 'channel'


def _take(table: dict[str, tuple[str, str]], key: str, word: Word, settings: dict[str, Setting]) -> None:
    found = table.get(key)
    if found is not None:
        settings[found[0]] = setting_of(found[0], settled(word), found[1])


def _keepalive_switch(switch: Word | None, settings: dict[str, Setting], place: Place) -> None:
    """Without `enableKeepAlive: true` a channel's other keepalive keys do nothing; with it the time is 5 minutes unless set."""
    if switch is None or switch.value.lower() != 'true':
        reason = '' if switch is None or switch.known else switch.reason
        if switch is None and 'time_s' in settings:
            ignored = ('keep-alive-time', settings['time_s'].place, 'keepalive is off unless enable-keep-alive is true')
            settings['without_effect'] = Setting('without_effect', (ignored,), settings['time_s'].place)
        where = switch.place if switch is not None else place
        settings['time_s'] = Setting('time_s', float('inf'), where, 'default' if switch is None else 'explicit', reason, source=_SOURCE)
        settings.pop('permit_without_stream', None)
    else:
        settings.setdefault('time_s', Setting('time_s', 300, switch.place, 'default', source=_SOURCE))
