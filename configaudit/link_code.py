"""What programs dial and serve: gRPC clients in source code to the Services they name and the servers behind or beside them, HTTP servers to handlers that stream."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from configaudit.context import Context
from configaudit.link import called, nearest
from configaudit.link_built import built_in
from configaudit.model import Component, Peers, Setting

_HOSTNAME = 'external-dns.alpha.kubernetes.io/hostname'
_NO_FRONT = 'the Service in front of the server is not among the files read'
_NO_SERVICE = 'the Service that the client dials is not among the files read'


def link_code(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Peers `service` and `grpc-server` of the clients that are written in programs, `service` of gRPC servers and back, and the streams of HTTP servers."""
    _streams(by_kind)
    services: dict[str, list[Component]] = {}
    for service in by_kind.get('service', ()):
        services.setdefault(service.name, []).append(service)
    servers = [server for server in by_kind.get('grpc-server', ()) if server['written_in'].known_value]
    homes = built_in(servers, by_kind.get('compose-service', ())) if servers else {}
    for server in by_kind.get('grpc-server', ()):
        found = _in_front(server, services)
        server.peer_map['service'] = Peers.of(found, context.complete, _NO_FRONT)
        for service in found:
            service.peer_map['grpc-server'] = Peers.of((*service.peers('grpc-server'), server))
    for client in by_kind.get('grpc-client', ()):
        if client['written_in'].known_value:
            client.peer_map['service'] = Peers.of(_declared(client, services, context) or _dialled(client, services), context.complete, _NO_SERVICE)
            client.peer_map['balancer'] = Peers.of(_published(client, by_kind.get('service', ())))
            if not client.peers('grpc-server'):
                _behind(client, homes)
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
    common = 0  # the module lies at or below where both paths part: what is above has no part in the names of its packages
    here, there = own.split('/'), folder.split('/')
    while here[common:] and there[common:] and here[common] == there[common]:
        common += 1
    package = '/'.join(there[common:])
    return folder == own or (bool(package) and any(path.endswith('/' + package) for path in server['imports'].known_value))  # type: ignore[attr-defined]


def _in_front(server: Component, services: Mapping[str, list[Component]]) -> list[Component]:
    """The one Service that has a server's own name, whose pods start its file, or that is the only one of a gRPC port that leads to the port it listens on."""
    names: tuple[str, ...] = server['names'].known_value or ()  # type: ignore[assignment]
    found = [service for name in names for service in services.get(name, ())]
    port = server['port'].known_value
    if not found and port:
        leading = [service for group in services.values() for service in group if any(_leads_to(service, item, port) for item in service['ports'].known_value or ())]  # type: ignore[attr-defined]
        found = [service for service in leading if _starts(service, server)]
        found = found or [service for service in leading if any(_leads_to(service, item, port) and _calls_itself_grpc(item) for item in service['ports'].known_value or ())]  # type: ignore[attr-defined]
    found = nearest(server, found)
    return found if len(found) == 1 else []


def _leads_to(service: Component, port: Mapping[str, Any], wanted: object) -> bool:
    """Whether a port of a Service is for the one that a program listens on, by its number or by its name in the container."""
    if wanted in (str(port['target']), str(port['port'])):
        return True
    containers = [container for pod in service.peers('pod') for container in pod.peers('container')]
    return any(str((container['ports'].known_value or {}).get(str(port['target']))) == wanted for container in containers)  # type: ignore[attr-defined]


def _calls_itself_grpc(port: Mapping[str, Any]) -> bool:
    return 'grpc' in f'{port["name"] or ""} {port["app_protocol"] or ""}'


def _starts(service: Component, server: Component) -> bool:
    """Whether a container behind a Service is told to run the server's file: `python server.py`, `python -m ranker.server`."""
    path = server.place.outermost().document.path
    for container in (container for pod in service.peers('pod') for container in pod.peers('container')):
        words = ' '.join(word.value for word in container['words'].known_value or () if word.known).split()  # type: ignore[attr-defined]
        modules = [following.replace('.', '/') + '.py' for word, following in pairwise(words) if word == '-m']
        if any(f'/{path}'.endswith('/' + module) for module in modules) or any(word.rpartition('/')[2] == path.rpartition('/')[2] for word in words):
            return True
    return False


def _published(client: Component, services: Iterable[Component]) -> list[Component]:
    """The Services whose load balancer has the dialled name, as an annotation for external-dns says."""
    host = str(client['target'].known_value or '').rpartition('/')[2].partition(':')[0]
    return [service for service in services if host.count('.') > 1 and host in str((service['annotations'].known_value or {}).get(_HOSTNAME, '')).replace(' ', '').split(',')]  # type: ignore[attr-defined]


def _behind(client: Component, homes: Mapping[Component, Component]) -> None:
    """The one server in front of which the dialled Service stands, or that is built into the dialled service of compose."""
    found = list(dict.fromkeys(server for service in client.peers('service') for server in service.peers('grpc-server')))
    sure = [server for server in found if any(_starts(service, server) for service in server.peers('service'))]
    host, _, port = str(client['target'].known_value or '').rpartition('/')[2].partition(':')
    if not found and host:
        found = sure = [server for server, home in homes.items() if host in (home['names'].known_value or ()) and server['port'].known_value in (port, None)]  # type: ignore[operator]
    if len(found) == 1:
        client.peer_map['grpc-server'] = Peers.of(found)
        client.settings['server_from'] = Setting('server_from', 'name' if sure else 'port', client.place, 'inherited')


def _declared(client: Component, services: Mapping[str, list[Component]], context: Context) -> list[Component]:
    """The Service that `links:` of the configuration names for a client: by its name, or by that of a workload behind it."""
    names = {server for name, server in context.links if name in called(client)}
    every = [service for group in services.values() for service in group] if names else []
    return [service for service in every if names & {service.name, service.identity, *(workload.identity for pod in service.peers('pod') for workload in pod.peers('workload'))}]


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
    accepting = [server for server in servers if _accepts(server, client)] if time.known_value != math.inf else []
    chosen = accepting[:1] if accepting else here if len(here) == 1 else []
    if chosen:
        client.peer_map['grpc-server'] = Peers.of(chosen)
        pair = 'package' if _folder(chosen[0]) == _folder(client) and _called(client, 'client') and _called(chosen[0], 'server') else 'folder'
        client.settings['server_from'] = Setting('server_from', pair, client.place, 'inherited')


def _called(component: Component, word: str) -> bool:
    """Whether a file's name says which end it is: client.go, grpc_server.py."""
    return word in component.place.outermost().document.path.rpartition('/')[2].lower()


def _accepts(server: Component, client: Component) -> bool:
    """Whether a server may allow these pings; what is not known of it may be anything."""
    least, permits = server['min_time_s'], server['permit_without_stream']
    pings = client['max_pings'].known_value == 0 or bool(client['permit_without_stream'].known_value)
    fast = pings and least.is_known and isinstance(least.known_value, (int, float)) and client['time_s'].known_value < least.known_value  # type: ignore[operator]
    refused = permits.is_known and not permits.known_value and client['permit_without_stream'].known_value
    return not fast and not refused


def _folder(component: Component) -> str:
    return component.place.outermost().document.path.rpartition('/')[0]
