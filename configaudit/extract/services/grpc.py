"""gRPC clients and servers where configuration describes them: Spring gRPC, and environment that no gRPC library reads."""

from collections.abc import Iterator, Sequence

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.services.pool_files import entries
from configaudit.extract.services.values import setting_of, settled
from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import squash
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_ENVIRONMENT, GRPC_SERVER
from configaudit.model import Component, Kind, Peers, Setting
from configaudit.parse.tree import Map
from configaudit.patterns import regex
from configaudit.places import Document, Place

_UNREAD = regex(
    r'^(?:GRPC_ARG_\w+|GRPC_KEEPALIVE_(?:TIME|TIMEOUT)_MS|GRPC_KEEPALIVE_PERMIT_WITHOUT_CALLS|GRPC_HTTP2_(?:MAX_PINGS_WITHOUT_DATA|'
    r'MIN_(?:RECV_|SENT_)?PING_INTERVAL_WITHOUT_DATA_MS|MAX_PING_STRIKES)|grpc\.(?:keepalive|http2)[\w.]+)$'
)
_CLIENT = {
    'keepalivetime': ('time_s', 's'), 'keepalivetimeout': ('timeout_s', 's'), 'keepalivewithoutcalls': ('permit_without_stream', 'bool'),
    'address': ('target', 'text'),
}  # fmt: skip
_SERVER = {
    'permitkeepalivetime': ('min_time_s', 's'), 'permitkeepalivewithoutcalls': ('permit_without_stream', 'bool'),
    'keepalivetime': ('time_s', 's'), 'keepalivetimeout': ('timeout_s', 's'), 'maxconnectionage': ('max_connection_age_s', 's'),
    'maxconnectionagegrace': ('max_connection_age_grace_s', 's'),
}  # fmt: skip
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


def spring_components(document: Document, root: Map, application: str) -> Iterator[Component]:
    """`grpc.client.<name>` and `grpc.server` of the gRPC starter for Spring Boot. Bare numbers are seconds."""
    if 'grpc' not in root:
        return
    clients: dict[str, dict[str, Setting]] = {}
    server: dict[str, Setting] = {}
    switches: dict[str, Word] = {}
    places: dict[str, Place] = {}
    for path, word in entries(document, root):
        parts = tuple(map(squash, path))
        if parts[0] != 'grpc' or len(parts) < 3:
            continue
        side = path[2] if parts[1] == 'client' and len(parts) > 3 else ''
        if parts[1] == 'client' and side:
            _take(_CLIENT, parts[-1], word, clients.setdefault(side, {}))
        elif parts[1] == 'server':
            _take(_SERVER, parts[-1], word, server)
        places.setdefault(side, word.place)
        if parts[-1] == 'enablekeepalive':
            switches[side] = word
    for name, settings in clients.items():
        _keepalive_switch(switches.get(name), settings, places[name])
        yield _component(GRPC_CLIENT, name, f'{document.path.rpartition("/")[2]}/grpc.client.{name}', places[name], settings)
    if server or '' in places:
        settings = server
        settings['names'] = Setting('names', (application,) if application else (), places[''])
        yield _component(GRPC_SERVER, application or 'server', f'{document.path.rpartition("/")[2]}/grpc.server', places[''], settings)


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


def _component(kind: Kind, name: str, identity: str, place: Place, settings: dict[str, Setting]) -> Component:
    return Component(kind, name, identity, place, settings)
