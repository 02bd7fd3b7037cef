"""Routes of proxies to what they lead to: upstreams, engines, Gateways and their policies; which of them carry generated text."""

import math
from collections.abc import Iterator, Mapping

from configaudit.context import Context
from configaudit.knowledge.gateways import default_timeout, implementation
from configaudit.knowledge.generation_routes import STREAMS, answers_shortly, evidence
from configaudit.link import nearest
from configaudit.model import Component, Peers, Setting
from configaudit.patterns import regex

_BACKEND_CONFIG = ('cloud.google.com/backend-config', 'beta.cloud.google.com/backend-config')
_SERVICE_UNSEEN = 'the Service, whose annotation may name a BackendConfig, is not among the files read'
_PROXY_SERVERS = ('caddy', 'traefik')
_URL = regex(r'://([^/:]+)(?::(\d+))?')


def link_routes(by_kind: Mapping[str, list[Component]], upstreams: list[Component], context: Context) -> None:
    """Give every route the engines behind it, what shows that it streams, and the time limit of its gateway."""
    clusters: dict[str, list[Component]] = {}
    for upstream in upstreams:
        clusters.setdefault(upstream.name, []).append(upstream)
    limited = {name for route in by_kind.get('proxy-route', ()) if route['product'].known_value == 'gke' and not route['unconfigured'].known_value for name, _ in _hosts(route)}
    for route in by_kind.get('proxy-route', ()):
        if route['unconfigured'].known_value:
            _leave_configured(route)
        elif route['product'].known_value == 'gke' and not route['targets'].known_value:
            _configured_service(route, by_kind)
        if route['product'].known_value == 'ingress-nginx':
            _controller_defaults(route, by_kind.get('ingress-controller', []))
        if route['product'].known_value == 'envoy':
            found = [one for one in clusters.get(str(route['target'].known_value), []) if one.place.document is route.place.document]
            route.peer_map['proxy-upstream'] = Peers.of(found, bool(found), 'its cluster is not in the file')
            for cluster in found:
                cluster.peer_map['proxy-route'] = Peers.of([*cluster.peers('proxy-route'), route], True)
        behind = route.peers('proxy-upstream')
        if behind:
            engines = dict.fromkeys(engine for upstream in behind for engine in upstream.peers('engine'))
            route.peer_map['engine'] = Peers.of(engines, all(upstream.peers('engine').complete for upstream in behind), behind[0].peers('engine').unseen)
        _tell_answers(route)
        if route['product'].known_value in ('gateway-api', 'ai-gateway'):
            _from_policies(route, by_kind)
        if route['product'].known_value == 'gateway-api' and not route['total_timeout_s'].is_set:
            _gateway_timeout(route, by_kind)
            if route['product_name'].known_value == 'GKE' and any(host in limited for host, _ in _hosts(route)):
                route.settings['total_timeout_s'] = route['total_timeout_s']._replace(known_value=math.inf)
    for server in by_kind.get('http-server', ()):
        if server['product'].known_value in _PROXY_SERVERS:
            _streams_through(server, by_kind.get('proxy-route', []))
    for nginx in by_kind.get('nginx', ()):
        _streams_through(nginx, by_kind.get('proxy-route', []))


def _streams_through(server: Component, routes: list[Component]) -> None:
    """A proxy's own server carries streams when one of the routes written in its file or folder does."""
    own = [route for route in routes if route['product'].known_value == server['product'].known_value and route['answers'].known_value]
    close = [route for route in nearest(server, own) if _beside(server, route)]
    if close:
        server.settings['streams'] = Setting('streams', True, close[0]['target'].place)


def _beside(server: Component, route: Component) -> bool:
    here, there = server.place.outermost().document.path, route.place.outermost().document.path
    return there.rpartition('/')[0].startswith(here.rpartition('/')[0])


def _implementation(class_name: str, by_kind: Mapping[str, list[Component]]) -> str:
    controllers = {str(one['controller'].known_value) for one in by_kind.get('gateway-class', ()) if one.name == class_name}
    return implementation(class_name, controllers.pop() if len(controllers) == 1 else '', '')


def _configured_service(route: Component, by_kind: Mapping[str, list[Component]]) -> None:
    """The Services whose annotation names a BackendConfig."""
    found = [
        service for service in by_kind.get('service', ())
        if f'"{route.name}"' in str((service['annotations'].known_value or {}).get('cloud.google.com/backend-config', ''))  # type: ignore[attr-defined]
    ]  # fmt: skip
    found = nearest(route, found)
    engines = dict.fromkeys(engine for service in found for engine in service.peers('engine'))
    route.peer_map['engine'], route.peer_map['service'] = Peers.of(engines), Peers.of(found)
    route.settings['targets'] = Setting('targets', tuple((service.name, '') for service in found), route.place)


def _leave_configured(route: Component) -> None:
    """Of an Ingress on GKE the Services without a BackendConfig, for which Google's default holds; the others have a route of their own."""
    services = route.peers('service')
    plain = [service for service in services if not any(key in (service['annotations'].known_value or {}) for key in _BACKEND_CONFIG)]  # type: ignore[operator]
    names = {service.name for service in services}
    limit = route.settings['total_timeout_s']
    if not plain:
        missing = not services or any(name not in names for name, _ in route['targets'].known_value)  # type: ignore[attr-defined]
        route.settings['total_timeout_s'] = limit._replace(known_value=None, reason=_SERVICE_UNSEEN) if missing else limit._replace(known_value=math.inf)
    route.peer_map['service'] = Peers.of(plain)
    route.peer_map['engine'] = Peers.of(dict.fromkeys(engine for service in plain for engine in service.peers('engine')))
    if services:
        route.settings['targets'] = route['targets']._replace(known_value=tuple((service.name, '') for service in plain))


def _controller_defaults(route: Component, controllers: list[Component]) -> None:
    """What the controller's ConfigMap sets for an Ingress that says nothing itself."""
    found = nearest(route, controllers)
    if len(found) != 1:
        return
    for name in ('read_timeout_s', 'buffering', 'body_size'):
        if found[0][name].is_set and not route[name].is_set:
            route.settings[name] = found[0][name]
    again = found[0]['retry_non_idempotent']
    if again.is_set and again.known_value and not route['next_upstream'].is_set:
        route.settings['next_upstream'] = Setting('next_upstream', 'error timeout non_idempotent', again.place)


def _tell_answers(route: Component) -> None:
    if 'answers' in route.settings:
        return
    route.settings['answers'] = Setting('answers', '', route.place, 'default')
    engines = [engine for engine in route.peers('engine') if engine.kind.name in STREAMS]
    hosts = list(_hosts(route))
    reason = evidence(str(route['path'].known_value or ''), hosts, _names(route))
    if engines and not all(answers_shortly(engine['model'].known_value) for engine in engines):
        shown = evidence(str(route['path'].known_value or ''), [('vllm', '')], ())
        if shown:
            route.settings['answers'] = Setting('answers', f'{engines[0].kind.name} answers behind it', engines[0].place)
    elif reason and not engines and not route.peers('engine'):
        route.settings['answers'] = Setting('answers', reason, route['target'].place)


def _hosts(route: Component) -> Iterator[tuple[str, str]]:
    targets: tuple[tuple[str, str], ...] = route['targets'].known_value or ()  # type: ignore[assignment]
    yield from targets
    if not targets and not route.peers('proxy-upstream'):
        url = _URL.search(str(route['target'].known_value or ''))
        if url is not None:
            yield url[1], url[2] or ''
    for upstream in route.peers('proxy-upstream'):
        behind: tuple[tuple[str, str], ...] = upstream['targets'].known_value or ()  # type: ignore[assignment]
        yield from behind


def _names(route: Component) -> Iterator[str]:
    yield str(route['server_name'].known_value or '')
    if route['product'].known_value in ('ingress-nginx', 'alb', 'gcp'):
        yield route.name
    elif route['product'].known_value == 'envoy':
        yield str(route['target'].known_value or '')
    for upstream in route.peers('proxy-upstream'):
        yield upstream.name


_SELECTED = 'whether the policy {} holds depends on labels that its selector asks for: set timeouts.request'


def _from_policies(route: Component, by_kind: Mapping[str, list[Component]]) -> None:
    """What policies attached to a route, or to its Gateway, set for it; the route's own come first. An AIGatewayRoute makes an HTTPRoute of its own name."""
    names: tuple[str, ...] = route['gateways'].known_value or ()  # type: ignore[assignment]
    own = route.identity.split('/')[-3]
    policies = by_kind.get('route-policy', ())
    homes = {gateway.scope for gateway in by_kind.get('gateway', ()) if gateway.name in names}
    for kinds, called, scopes in ((('HTTPRoute', 'AIGatewayRoute'), (own,), {route.scope}), (('Gateway',), names, homes)):
        for policy in policies:
            applies: tuple[tuple[str, str], ...] = policy['applies_to'].known_value or ()  # type: ignore[assignment]
            meant = {name for kind, name in applies if kind in kinds}
            at_home = not policy.scope or not scopes or '' in scopes or policy.scope in scopes
            if meant & set(called) or (at_home and '*' in meant):
                _take_policy(route, policy)
            elif at_home and '?' in meant and policy['total_timeout_s'].is_set and not route['total_timeout_s'].is_set:
                route.settings['total_timeout_s'] = policy['total_timeout_s']._replace(known_value=None, reason=_SELECTED.format(policy.name))


def _take_policy(route: Component, policy: Component) -> None:
    for setting in ('total_timeout_s', 'retry_on', 'attempts'):
        if policy[setting].is_set and not route[setting].is_set:
            route.settings[setting] = policy[setting]


def _gateway_timeout(route: Component, by_kind: Mapping[str, list[Component]]) -> None:
    """The limit that holds where neither a route nor a policy sets one: what the Gateway's implementation starts with."""
    names: tuple[str, ...] = route['gateways'].known_value or ()  # type: ignore[assignment]
    place, slot = route['total_timeout_s'].place, route['total_timeout_s'].slot
    gateways = nearest(route, [gateway for gateway in by_kind.get('gateway', ()) if gateway.name in names])
    products = {_implementation(str(gateway['class_name'].known_value), by_kind) for gateway in gateways}
    product = products.pop() if len(products) == 1 else '' if gateways else implementation('', '', names[0] if names else '')
    found = default_timeout(product)
    if found is None:
        reason = f'what the Gateway {", ".join(names) or "of the route"} does without a timeout depends on its implementation, which is not among the files read: set timeouts.request, or audit the Gateway too'
        route.settings['total_timeout_s'] = Setting('total_timeout_s', None, place, 'default', reason, slot=slot)
        return
    route.settings['total_timeout_s'] = Setting('total_timeout_s', found.seconds, place, 'default', slot=slot, source=found.source)
    route.settings['product_name'] = Setting('product_name', product, place)
    if gateways:
        route.peer_map['gateway'] = Peers.of(gateways, True)
