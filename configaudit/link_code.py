"""What programs dial and serve: gRPC clients in source code to the Services they name and the servers beside them, HTTP servers to handlers that stream."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from configaudit.context import Context
from configaudit.link import nearest
from configaudit.model import Component, Peers, Setting

_NO_FRONT = 'the Service in front of the server is not among the files read'
_NO_SERVICE = 'the Service that the client dials is not among the files read'


def link_code(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Peers `service` and `grpc-server` of the clients that are written in programs, `service` of gRPC servers, and the streams of HTTP servers."""
    _streams(by_kind)
    services: dict[str, list[Component]] = {}
    for service in by_kind.get('service', ()):
        services.setdefault(service.name, []).append(service)
    servers = [server for server in by_kind.get('grpc-server', ()) if server['written_in'].known_value]
    for server in by_kind.get('grpc-server', ()):
        found = _in_front(server, services)
        server.peer_map['service'] = Peers.of(found, context.complete, _NO_FRONT)
    for client in by_kind.get('grpc-client', ()):
        if client['written_in'].known_value:
            client.peer_map['service'] = Peers.of(_dialled(client, services), context.complete, _NO_SERVICE)
            if not client.peers('grpc-server'):
                _beside(client, servers)


def _streams(by_kind: Mapping[str, list[Component]]) -> None:
    """Tell Go servers with a write timeout of a handler that streams: in their own folder, or in a package that their file imports."""
    streaming = [handler for handler in by_kind.get('http-handler', ()) if handler['streams'].is_set]
    files = Counter(server.place.document.path for server in by_kind.get('http-server', ()))
    for server in by_kind.get('http-server', ()) if streaming else ():
        alone = files[server.place.document.path] == 1
        if alone and 'write_timeout_s' in server.settings and 'imports' in server.settings and not server['streams'].is_set:
            found = next((handler for handler in streaming if _serves(server, handler)), None)
            if found is not None:
                server.settings['streams'] = found['streams']._replace(origin='inherited')


def _serves(server: Component, handler: Component) -> bool:
    folder, own = _folder(handler), _folder(server)
    return folder == own or (bool(folder) and any(path.endswith('/' + folder) for path in server['imports'].known_value))  # type: ignore[attr-defined]


def _in_front(server: Component, services: Mapping[str, list[Component]]) -> list[Component]:
    """The one Service that has a server's own name, or is the only one of a gRPC port that leads to the port it listens on."""
    names: tuple[str, ...] = server['names'].known_value or ()  # type: ignore[assignment]
    found = [service for name in names for service in services.get(name, ())]
    port = server['port'].known_value
    if not found and port:
        found = [service for group in services.values() for service in group if any(_leads_to(item, port) for item in service['ports'].known_value or ())]  # type: ignore[attr-defined]
    found = nearest(server, found)
    return found if len(found) == 1 else []


def _leads_to(port: Mapping[str, Any], wanted: object) -> bool:
    named = f'{port["name"] or ""} {port["app_protocol"] or ""}'
    return 'grpc' in named and wanted in (str(port['target']), str(port['port']))


def _dialled(client: Component, services: Mapping[str, list[Component]]) -> list[Component]:
    """The one Service of the target's host: 'name', 'name.namespace', 'name.namespace.svc...'. An outside name means none."""
    target = str(client['target'].known_value or '').rpartition('/')[2].partition(':')[0]
    name, *rest = target.split('.')
    if len(rest) > 1 and rest[1] != 'svc':
        return []
    found = [service for service in services.get(name, ()) if not rest or service.scope in ('', rest[0])]
    found = nearest(client, found)
    return found if len(found) == 1 else []


def _beside(client: Component, servers: list[Component]) -> None:
    """Of a client whose target no file tells: a server that lets its pings through, or the only one of its own folder."""
    time = client['time_s']
    if client['target'].is_set or not time.is_known:
        return
    here = [server for server in servers if _folder(server) == _folder(client)]
    accepting = [server for server in servers if _accepts(server, client)]
    chosen = accepting[:1] if accepting else here if len(here) == 1 else []
    if chosen:
        client.peer_map['grpc-server'] = Peers.of(chosen)
        client.settings['server_from'] = Setting('server_from', 'folder', client.place, 'inherited')


def _accepts(server: Component, client: Component) -> bool:
    """Whether a server may allow these pings; what is not known of it may be anything."""
    least, permits = server['min_time_s'], server['permit_without_stream']
    pings = client['max_pings'].known_value == 0 or bool(client['permit_without_stream'].known_value)
    fast = pings and least.is_known and isinstance(least.known_value, (int, float)) and client['time_s'].known_value < least.known_value  # type: ignore[operator]
    refused = permits.is_known and not permits.known_value and client['permit_without_stream'].known_value
    return not fast and not refused


def _folder(component: Component) -> str:
    return component.place.outermost().document.path.rpartition('/')[0]
