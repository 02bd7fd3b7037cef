"""Which hop a request takes after which: from the client in code over the proxies to the engine that answers."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from configaudit.context import Context
from configaudit.knowledge.images import identify
from configaudit.link import called, nearest
from configaudit.link_built import built_in
from configaudit.model import Component, Peers, Setting
from configaudit.patterns import regex

_URL = regex(r'(?:[a-z][a-z0-9+.-]*://)?([^/:?\s]+)(?::\d+)?(/[^\s?]*)?')
_CHAT = '/v1/chat/completions'
"""Where a generation is asked for, when nothing says another path."""
_LOCATION = regex(r'location (?:(=|\^~) )?(/\S*)$')
_ENTRANCES = ('ingress-nginx', 'alb', 'gateway-api', 'ai-gateway', 'gke')
"""Proxies that stand in front of the cluster's own: no sidecar, no pod of the run."""
_IMAGES = {
    'nginx': ('nginx', 'nginx-unprivileged', 'openresty', 'angie'), 'envoy': ('envoy', 'envoy-distroless'), 'caddy': ('caddy',), 'traefik': ('traefik',),
    'litellm': ('litellm', 'litellm-database', 'litellm-non_root'), 'haproxy': ('haproxy', 'haproxy-alpine', 'haproxy-debian'),
}  # fmt: skip
_BASES = ('OPENAI_BASE_URL', 'OPENAI_API_BASE')
"""Variables from which OpenAI's library takes the address of its server."""
MAX_HOPS = 12


class _Host(NamedTuple):
    """A host name that a request is sent to; `scope` is the namespace it is resolved in, '' when that is open."""

    name: str
    scope: str
    inside: bool
    """Whether it can be the name of a Service."""


def host_of(text: str, scope: str = '') -> _Host | None:
    """'vllm', 'vllm.chat', 'vllm.chat.svc...' are Services, everything else a name of the world; None for what is no name."""
    host = text.lower().strip('.')
    first, *rest = host.split('.')
    if not first or '\ufffc' in host or '$' in host or '{' in host:
        return None
    if rest[1:2] == ['svc']:
        return _Host(first, rest[0], True)
    return _Host(host, scope, True) if not rest else _Host(host, scope, False)


def url_parts(url: str) -> tuple[str, str]:
    """The host and the path of a URL or address; '' where it has none."""
    found = _URL.match(url.strip())
    return (found[1], found[2] or '') if found is not None else ('', '')


class _Doors:
    """The hops by the names under which requests reach them."""

    def __init__(self) -> None:
        self._hops: dict[str, list[tuple[str, Component]]] = {}

    def open(self, name: _Host | None, hop: Component) -> None:
        if name is not None:
            self._hops.setdefault(name.name, []).append((name.scope, hop))

    def behind(self, name: _Host) -> Iterator[Component]:
        """The hops that answer to a name: in its namespace, or where one of both is open."""
        for scope, hop in self._hops.get(name.name, ()):
            if not scope or not name.scope or scope == name.scope:
                yield hop
        first, dot, scope = name.name.partition('.')
        if not name.inside and dot and '.' not in scope:  # 'service.namespace'
            yield from self.behind(_Host(first, scope, True))


def link_chains(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Peers of every client and route: `next` (the hop after it), `callers` (those before it) and `chain` (all after it, the engine last).

    Runs after routes have their engines. A hop that may be one of several is left out: no chain is guessed.
    """
    routes, clients = by_kind.get('proxy-route', []), by_kind.get('http-client', [])
    homes = built_in(clients, by_kind.get('compose-service', ()))
    _address_clients(clients, homes, by_kind)
    for server in by_kind.get('http-server', ()):
        word = next((word for carrier in server.peers('carrier') for word in _addresses(carrier)), None)
        if word is not None and not server['streams'].is_set:
            server.settings['streams'] = Setting('streams', True, word.place, 'inherited')
    doors = _doors(routes, by_kind)
    for client, home in homes.items():
        for name in (_passes_on(client) and home['names'].known_value) or ():  # type: ignore[attr-defined]
            doors.open(_Host(name.lower(), '', True), client)
    _istio_release(routes, by_kind)
    _route_services([*routes, *by_kind.get('proxy-upstream', ())])
    for client in clients:
        _reach(client, by_kind, context)
    following: dict[Component, Component] = {}
    callers: dict[Component, list[Component]] = {}
    for hop in (*clients, *routes):
        found = _next(hop, doors, [*routes, *clients], context)
        if found is not None:
            following[hop] = found
    for hop in _beside_the_way(following):
        del following[hop]
    for hop, found in following.items():
        callers.setdefault(found, []).append(hop)
    for hop in (*clients, *routes):
        after = list(_after(hop, following))
        engines = sorted((after[-1] if after else hop).peers('engine'), key=lambda engine: engine.identity)
        hop.peer_map['next'] = Peers.of(after[:1])
        hop.peer_map['callers'] = Peers.of(callers.get(hop, ()))
        hop.peer_map['chain'] = Peers.of([*after, *engines[:1]])


def _beside_the_way(following: Mapping[Component, Component]) -> list[Component]:
    """Of the routes of one file to one program, all but the likeliest for a generation: the one that shows it, else the most general one."""
    groups: dict[tuple[int, Component], list[Component]] = {}
    for hop, found in following.items():
        if hop.kind.name == 'proxy-route' and found.kind.name == 'http-client':
            groups.setdefault((id(hop.place.document), found), []).append(hop)
    ways = [sorted(hops, key=lambda hop: (not hop['answers'].known_value, len(str(hop['path'].known_value)), hop.identity)) for hops in groups.values()]
    return [hop for hops in ways for hop in hops[1:]]


def _after(hop: Component, following: Mapping[Component, Component]) -> Iterator[Component]:
    seen = {hop}
    while hop in following and following[hop] not in seen and len(seen) < MAX_HOPS:
        hop = following[hop]
        seen.add(hop)
        yield hop


def _passes_on(client: Component) -> bool:
    """Whether a program's client shows that generated text comes through it: what is sent to the program goes on there."""
    return bool(client['answers'].known_value or client['streams'].known_value)


def _address_clients(clients: list[Component], homes: Mapping[Component, Component], by_kind: Mapping[str, list[Component]]) -> None:
    """A client of OpenAI's library without an address in code takes it from the environment: the one that the files name."""
    unsaid = [client for client in clients if 'openai' in str(client['product'].known_value).lower() and client['target'].known_value is None]
    if not unsaid:
        return
    carriers = [one for kind in ('container', 'compose-service', 'docker-run', 'unit') for one in by_kind.get(kind, ())]
    given = [(carrier, word) for carrier in carriers for word in _addresses(carrier)]
    for client in unsaid:
        closest = [homes[client]] if client in homes else nearest(client, list(dict.fromkeys(carrier for carrier, _ in given)))
        found = {word.value: word for carrier, word in given if carrier in closest}
        if len(found) == 1:
            word = next(iter(found.values()))
            client.settings['target'] = Setting('target', word.value, word.place, 'inherited')


def _addresses(carrier: Component) -> Iterator[Any]:
    variables: Mapping[str, Any] = carrier['env'].known_value or {}  # type: ignore[assignment]
    for name in _BASES:
        word = variables[name].value if name in variables else None
        if word is not None and getattr(word, 'known', False) and word.value:
            yield word


def _doors(routes: list[Component], by_kind: Mapping[str, list[Component]]) -> _Doors:
    doors = _Doors()
    for route in routes:
        if route['product'].known_value == 'gke':
            continue  # the limit of a backend: the route in front of it is the hop
        names: list[Any] = [*(route['hosts'].known_value or ()), *str(route['server_name'].known_value or '').split()]  # type: ignore[misc]
        for name in names:
            if route['product'].known_value != 'haproxy':
                doors.open(host_of(str(name), route.scope), route)
        for service in _services_of(route, by_kind):
            for name in service['names'].known_value if service.kind.name == 'compose-service' else (service.name,):  # type: ignore[attr-defined]
                doors.open(_Host(name.lower(), service.scope if service.kind.name == 'service' else '', True), route)
    return doors


def _services_of(route: Component, by_kind: Mapping[str, list[Component]]) -> Iterable[Component]:
    """What answers by name in front of the process that reads the route's file: the one proxy of its kind nearby."""
    images = _IMAGES.get(str(route['product'].known_value), ())
    carriers = [one for kind in ('container', 'compose-service') for one in by_kind.get(kind, ()) if _runs(one, images)] if images else []
    closest = nearest(route, carriers)
    if len(closest) != 1:
        return ()
    pods = closest[0].peers('pod')
    return closest if closest[0].kind.name == 'compose-service' else dict.fromkeys(service for pod in pods for service in pod.peers('service'))


def _runs(carrier: Component, images: tuple[str, ...]) -> bool:
    image = carrier['image'].known_value
    return isinstance(image, str) and identify(image).repository.rpartition('/')[2] in images


def _route_services(senders: list[Component]) -> None:
    """Peers `routed-by` of every Service: what of Istio and of the Gateway API sends to it."""
    back: dict[Component, list[Component]] = {}
    for sender in senders:
        for service in sender.peers('service') if sender['product'].known_value in ('istio', 'gateway-api') else ():
            back.setdefault(service, []).append(sender)
    for service, found in back.items():
        service.peer_map['routed-by'] = Peers.of(sorted(found, key=lambda one: one.identity))


def _istio_release(routes: list[Component], by_kind: Mapping[str, list[Component]]) -> None:
    """The release of Istio that reads a VirtualService, when the images of its proxies or of its control plane in the run agree on one."""
    meshed = [route for route in routes if route['product'].known_value == 'istio']
    if not meshed:
        return
    found = {identify(str(one['image'].known_value)).version for one in by_kind.get('container', ()) if _runs(one, ('proxyv2', 'pilot'))}
    for route in meshed if len(found) == 1 else ():
        route.version, route.version_from = next(iter(found)), 'the image of Istio'


def _reach(client: Component, by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Peers `service` and `engine` of a client whose target names them."""
    host = host_of(url_parts(str(client['target'].known_value or ''))[0], client.scope)
    if host is None or 'engine' in client.peer_map:
        return
    first, _, scope = host.name.partition('.')
    name, scope = (host.name, host.scope) if host.inside else (first, scope)
    services = nearest(client, [one for one in by_kind.get('service', ()) if one.name == name and (not scope or one.scope in ('', scope))])
    carriers = nearest(client, [one for one in by_kind.get('compose-service', ()) if name in (one['names'].known_value or ())])  # type: ignore[operator]
    engines = dict.fromkeys(engine for one in (*services, *carriers) for engine in one.peers('engine'))
    client.peer_map.setdefault('service', Peers.of(services, context.complete))
    client.peer_map['engine'] = Peers.of(engines, context.complete, 'what answers there is not among the files read')


def _next(hop: Component, doors: _Doors, hops: list[Component], context: Context) -> Component | None:
    """The one hop that takes what this one sends, or None."""
    declared = [server for client, server in context.links if client in called(hop)]
    if declared:
        found = [one for one in hops if called(one).intersection(declared)]
    else:
        found = [one for host in _sent_to(hop) for one in doors.behind(host) if _may_follow(hop, one)]
    found = nearest(hop, list(dict.fromkeys(found)))
    return _taking(found, _path(hop)) if len(found) > 1 else next(iter(found), None)


def _sent_to(hop: Component) -> Iterator[_Host]:
    if hop.kind.name == 'http-client':
        names = [url_parts(str(hop['target'].known_value or ''))[0]]
    else:
        targets: list[tuple[str, str]] = [*(hop['targets'].known_value or ())]  # type: ignore[misc]
        for upstream in hop.peers('proxy-upstream'):
            targets.extend(upstream['targets'].known_value or ())  # type: ignore[arg-type]
        names = [name for name, _ in targets]
        if any('gateway' in name for name in names) and hop['product'].known_value in ('ingress-nginx', 'alb'):
            names.extend(str(hop['server_name'].known_value or '').split())  # a gateway takes the request by its Host header
    yield from filter(None, (host_of(name, hop.scope) for name in names))


def _may_follow(hop: Component, other: Component) -> bool:
    if other is hop or other.place.document is hop.place.document:
        return False
    if other.kind.name == 'http-client':
        return True
    if other['product'].known_value in ('ingress-nginx', 'alb'):
        return hop.kind.name == 'http-client'
    return not other['in_mesh'].known_value or hop['product'].known_value not in (*_ENTRANCES, 'istio')


def _path(hop: Component) -> str:
    given = url_parts(str(hop['target'].known_value or ''))[1] if hop.kind.name == 'http-client' else str(hop['path'].known_value or '')
    return given if given.startswith(('/v1/', '/api/')) and len(given) > 5 else _CHAT


def _taking(routes: list[Component], path: str) -> Component | None:
    """Of several routes the one whose path is the longest that the request's starts with; else the only one with generated text."""
    if any(route.kind.name == 'http-client' for route in routes):
        return None
    lengths = {route: max((len(prefix) for prefix in _prefixes(route) if path.startswith(prefix)), default=0) for route in routes}
    best = max(lengths.values())
    found = [route for route in routes if best and lengths[route] == best] or [route for route in routes if route['answers'].known_value]
    return found[0] if len(found) == 1 else None


def _prefixes(route: Component) -> Iterator[str]:
    text = str(route['path'].known_value or '')
    location = _LOCATION.match(text)
    if location is not None:
        yield location[2]
    elif not text.startswith('location'):
        yield from (word for word in text.split() if word.startswith('/'))
