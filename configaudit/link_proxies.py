"""Proxies to what stands behind them: Services, the engines in their pods, and the release of nginx that reads a file."""

import os.path
from collections.abc import Iterator, Mapping

from configaudit.context import Context
from configaudit.knowledge.images import identify
from configaudit.knowledge.proxy_kinds import is_loopback
from configaudit.knowledge.versions import Version
from configaudit.link import NOT_SEEN, nearest
from configaudit.link_built import built_in, programs_of
from configaudit.model import Component, Peers

_IMAGES = {
    'nginx': 'nginx', 'nginx-unprivileged': 'nginx', 'openresty': 'nginx', 'angie': 'nginx', 'caddy': 'caddy', 'haproxy': 'haproxy', 'traefik': 'traefik',
}  # fmt: skip
"""Last part of an image's name -> the product whose configuration it reads."""
_LEAD_TO_PODS = ('ingress-nginx', 'alb', 'gcp', 'gke', 'gateway-api', 'ai-gateway', 'istio')
"""Products whose routes are objects of a cluster or a cloud: a compose service of the same name is another environment."""
_ENGINE_UNSEEN = 'what answers behind the proxy is not among the files read'


def link_proxies(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Give Services their engines, upstreams and routes their Services and engines, and nginx files their release. Runs after pods are linked."""
    services = by_kind.get('service', [])
    for service in services:
        engines = dict.fromkeys(engine for pod in service.peers('pod') for engine in pod.peers('engine'))
        service.peer_map['engine'] = Peers.of(engines, context.complete, _ENGINE_UNSEEN)
    for pool in by_kind.get('inference-pool', ()):
        named = [service for service in services if service.name == pool['picker'].known_value and (not pool.scope or service.scope in ('', pool.scope))]
        pool.peer_map['service'] = Peers.of(nearest(pool, named), context.complete, 'the Service of its picker is not among the files read')
    upstreams, routes = by_kind.get('proxy-upstream', []), by_kind.get('proxy-route', [])
    if upstreams or routes:
        written = [server for server in by_kind.get('http-server', ()) if server['written_in'].known_value and all(carrier.kind.name == 'dockerfile' for carrier in server.peers('carrier'))]
        programs = programs_of(written, by_kind.get('compose-service', ())) if written else {}
        for server, home in built_in(written, programs).items():
            if len(programs[home]) == 1:
                server.peer_map['carrier'] = Peers.of([home], True)
        carriers = [carrier for carrier in by_kind.get('compose-service', []) if carrier.peers('engine') or carrier.peers('http-server') or carrier in programs]
        for component in (*upstreams, *(route for route in routes if 'targets' in route.settings)):
            _link_targets(component, services, carriers, programs, written, context)
        if routes:
            from configaudit.link_routes import link_routes

            link_routes(by_kind, upstreams, context)
            _link_balancer(routes, by_kind.get('http-server', []))
    files = [component for kind in ('proxy-upstream', 'proxy-route', 'proxy-listener', 'nginx') for component in by_kind.get(kind, [])]
    if files:
        images = list(_proxy_images(by_kind))
        for component in files:
            _set_version(component, images)


def _link_balancer(routes: list[Component], servers: list[Component]) -> None:
    """Peers `http-server` of Terraform's only Application Load Balancer: the only server of the run, where no other proxy may stand between."""
    balancers = [route for route in routes if route['product'].known_value == 'alb' and not route.identity.startswith('Ingress/')]
    spots = {(server.place.outermost().document.path, server.place.outermost().start): server for server in servers}
    if len(routes) == len(balancers) == len(spots) == 1 and not balancers[0].peers('http-server') and not balancers[0].peers('engine'):
        balancers[0].peer_map['http-server'] = Peers.of(spots.values(), True)


def _link_targets(
    upstream: Component, services: list[Component], carriers: list[Component], programs: Mapping[Component, list[Component]], written: list[Component], context: Context
) -> None:
    """`programs`: the servers in source code that compose builds into a carrier; `written`: all of them."""
    targets: tuple[tuple[str, str], ...] = upstream['targets'].known_value or ()  # type: ignore[assignment]
    found = nearest(upstream, [service for service in services if any(_answers(service, host, upstream.scope) for host, _ in targets)])
    names = {host for host, _ in targets}
    engines = [engine for service in found for engine in service.peers('engine')]
    if upstream['product'].known_value in _LEAD_TO_PODS:
        carriers = []
    carriers = nearest(upstream, [one for one in carriers if names.intersection(one['names'].known_value or ())])  # type: ignore[arg-type]
    engines.extend(engine for carrier in carriers for engine in carrier.peers('engine'))
    holders = [*carriers, *(pod for service in found for pod in service.peers('pod'))]
    serving = [list(holder.peers('http-server')) or programs.get(holder, []) for holder in holders if not holder.peers('engine')]
    own = {port for host, port in targets if is_loopback(host)}
    serving.append(nearest(upstream, [server for server in written if own and server['port'].known_value in own]))
    alone = [servers[0] for servers in serving if len(servers) == 1]
    upstream.peer_map['http-server'] = Peers.of(dict.fromkeys(alone), context.complete, _ENGINE_UNSEEN)
    upstream.peer_map['service'] = Peers.of(found, context.complete, NOT_SEEN['service'])
    upstream.peer_map['engine'] = Peers.of(dict.fromkeys(engines), context.complete, _ENGINE_UNSEEN)


def _answers(service: Component, host: str, scope: str) -> bool:
    """Whether a host name is a Service's: `name`, `name.namespace`, `name.namespace.svc...`."""
    name, _, rest = host.partition('.')
    if name != service.name or (rest and '.svc' not in f'.{rest}' and '.' in rest):
        return False
    namespace = rest.partition('.')[0] or scope
    return not namespace or not service.scope or namespace == service.scope


def _proxy_images(by_kind: Mapping[str, list[Component]]) -> Iterator[tuple[Component, str, Version]]:
    """Everything that runs a proxy's image whose tag names a release."""
    for components in by_kind.values():
        for component in components if components and 'image-user' in components[0].kind.traits else ():
            image = component['image'].known_value
            if isinstance(image, str):
                found = identify(image)
                product = _IMAGES.get(found.repository.rpartition('/')[2])
                if product is not None and found.version is not None:
                    yield component, product, found.version


def _set_version(component: Component, images: list[tuple[Component, str, Version]]) -> None:
    """The release, when the images in the file's own folder or the nearest one above agree on it."""
    own = component['product'].known_value or 'nginx'
    path = component.place.outermost().document.path
    around = [(one, version) for one, product, version in images if product == own and _is_above(one.place.outermost().document.path, path)]
    closest = nearest(component, [one for one, _ in around])
    versions = {version for one, version in around if one in closest}
    if len(versions) == 1:
        component.version = versions.pop()
        component.version_from = f'the image of {closest[0].name}'


def _is_above(outer: str, inner: str) -> bool:
    folder = os.path.dirname(outer)
    return not folder or inner.startswith(folder + '/')
