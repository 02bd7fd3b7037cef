"""Traefik's options in Kubernetes objects (IngressRoute, Middleware, ServersTransport) and in labels of compose services."""

from collections.abc import Callable, Iterator, Mapping

from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.traefik import Origin, dynamic_components, middleware, routed, transport
from configaudit.extract.services.traefik_options import Options, flat_tree
from configaudit.extract.words import Word, word_of
from configaudit.model import Component
from configaudit.parse.tree import Map, Scalar, get, items, mapping, maps, text
from configaudit.places import Document

_GROUPS = ('traefik.io/', 'traefik.containo.us/')


def _is_traefik(root: Map) -> bool:
    return (text(root, 'apiVersion') or '').startswith(_GROUPS)


def _origin(owner: Owner) -> Origin:
    return Origin(owner.identity, owner.namespace, owner.partial)


def read_route(owner: Owner, root: Map) -> Reading:
    """Every route of an IngressRoute: its rule, its middlewares, the Service behind it."""
    reading = nothing()
    pools: dict[object, Component] = {}
    for at, route in enumerate(maps(root, 'spec', 'routes') if _is_traefik(root) else ()):
        rule = word_of(owner.document, get(route, 'match'))
        services = [one for one in maps(route, 'services') if text(one, 'kind') in (None, 'Service') and text(one, 'name')]
        if rule is None or not services:
            continue
        router: dict[str, Word] = {'rule': rule}
        for number, one in enumerate(maps(route, 'middlewares')):
            word = word_of(owner.document, get(one, 'name'))
            if word is not None:
                router[f'middlewares[{number}]'] = word
        server = dict(_server(owner.document, services))
        name = owner.name if at == 0 else f'{owner.name}-{at}'
        reading.components.extend(routed(name, router, text(services[0], 'name') or name, server, _origin(owner), pools))
    return reading


def _server(document: Document, services: list[Map]) -> Iterator[tuple[str, Word]]:
    for number, service in enumerate(services):
        word = word_of(document, get(service, 'name'))
        if word is not None:
            scheme, port = text(service, 'scheme') or 'http', text(service, 'port')
            named = '.'.join(filter(None, (word.value, text(service, 'namespace'))))
            yield f'servers[{number}].url', word._replace(value=f'{scheme}://{named}' + (f':{port}' if port else ''), pure=False)
    own = word_of(document, get(services[0], 'serversTransport'))
    if own is not None:
        yield 'serverstransport', own


def read_middleware(owner: Owner, root: Map) -> Reading:
    """One Middleware."""
    return _object(owner, root, middleware)


def read_transport(owner: Owner, root: Map) -> Reading:
    """One ServersTransport."""
    return _object(owner, root, transport)


def _object(owner: Owner, root: Map, make: Callable[[str, Options, Origin], Component]) -> Reading:
    reading = nothing()
    spec = mapping(root, 'spec')
    options: Options = flat_tree(owner.document, spec) if spec is not None and _is_traefik(root) else {}
    if options:
        chained = {f'chain.middlewares[{at}]': word for at, one in enumerate(maps(spec, 'chain', 'middlewares')) if (word := word_of(owner.document, get(one, 'name')))}
        reading.components.append(make(owner.name, {**options, **chained}, _origin(owner)))
    return reading


def read_labels(document: Document, services: Mapping[str, Map], scope: str, partial: str) -> list[Component]:
    """The labels of all services of a compose file together; the server of a service is the container that names it."""
    options: dict[str, Word] = {}
    for name, item in services.items():
        own = dict(_labels(document, item))
        options.update(own)
        options.update(_behind(name, own))
    return list(dynamic_components(options, Origin(f'compose/{scope}', scope, partial)))


def _labels(document: Document, item: Map) -> Iterator[tuple[str, Word]]:
    for holder in (item, mapping(item, 'deploy')):
        labels = get(holder, 'labels')
        if isinstance(labels, Map):
            for key, node in labels.items():
                word = word_of(document, node)
                if word is not None and key.lower().startswith('traefik.'):
                    yield key.lower().removeprefix('traefik.'), word
        for node in items(labels):
            word = word_of(document, node) if isinstance(node, Scalar) else None
            if word is not None and word.value.lower().startswith('traefik.'):
                name, _, value = word.value.partition('=')
                place = word.place.part(len(name) + 1, len(word.value)) if word.pure else word.place
                yield name.lower().removeprefix('traefik.'), word._replace(value=value, place=place)


def _behind(name: str, own: Mapping[str, Word]) -> Iterator[tuple[str, Word]]:
    """The server and the service of routers that a container's labels leave to it."""
    services = list(dict.fromkeys(key.split('.')[2] for key in own if key.startswith('http.services.') and key.count('.') > 2))
    for router in dict.fromkeys(key.split('.')[2] for key in own if key.startswith('http.routers.') and key.count('.') > 2):
        rule = own.get(f'http.routers.{router}.rule')
        if rule is None:
            continue
        if f'http.routers.{router}.service' not in own:
            service = services[0] if len(services) == 1 else name.lower()
            yield f'http.routers.{router}.service', rule._replace(value=service, pure=False)
        if not services:
            yield f'http.services.{name.lower()}.loadbalancer.servers[0].url', rule._replace(value=f'http://{name}', pure=False)
    for service in services:
        port = own.get(f'http.services.{service}.loadbalancer.server.port')
        scheme = own.get(f'http.services.{service}.loadbalancer.server.scheme')
        anchor = port or next(word for key, word in own.items() if key.startswith(f'http.services.{service}.'))
        url = f'{scheme.value if scheme else "http"}://{name}' + (f':{port.value}' if port and port.known else '')
        yield f'http.services.{service}.loadbalancer.servers[0].url', anchor._replace(value=url, pure=False)
