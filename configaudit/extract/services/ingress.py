"""Ingress: every backend with the protocol its controller speaks to it (ingress-nginx, AWS Load Balancer Controller), and Google's time limit."""

from collections.abc import Iterator

from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.extract.words import is_open, word_of
from configaudit.knowledge.proxy_kinds import UPSTREAM, looks_like_grpc
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, get, mapping, maps, place_of, text
from configaudit.places import Document, Place

ANNOTATIONS = {
    'ingress-nginx': ('nginx.ingress.kubernetes.io/backend-protocol', 'HTTP'),
    'alb': ('alb.ingress.kubernetes.io/backend-protocol-version', 'HTTP1'),
}
"""Controller -> the annotation that says what it speaks to backends, and what it speaks without it."""

_CLASSES = {'nginx': 'ingress-nginx', 'alb': 'alb', 'gce': 'gke', 'gce-internal': 'gke'}


_PASSTHROUGH = 'nginx.ingress.kubernetes.io/ssl-passthrough'
"""With it the controller hands TLS on as it comes: it speaks no HTTP, so nothing of the Ingress holds for what is in it."""


def read_ingress(owner: Owner, root: Map) -> Reading:
    """A component for every backend of a controller that is known."""
    reading = nothing()
    annotations = mapping(root, 'metadata', 'annotations')
    product = _controller(root, annotations)
    if product == 'gke':
        from configaudit.extract.services.ingress_routes import google_route

        reading.components.extend(google_route(owner, root, list(_backends(owner.document, root))))
    if product not in ANNOTATIONS or (text(annotations, _PASSTHROUGH) or 'false') != 'false':
        return reading
    seen: set[tuple[str, str]] = set()
    for name, port, place in _backends(owner.document, root):
        if (name, port) not in seen:
            seen.add((name, port))
            reading.components.append(_backend(owner, root, annotations, product, name, port, place))
    if reading.components:
        from configaudit.extract.services.ingress_routes import route_of

        reading.components.append(route_of(owner, root, annotations, product, list(_backends(owner.document, root))))
    return reading


def _controller(root: Map, annotations: Map | None) -> str:
    """Which controller serves the Ingress, by its class or by annotations that only one controller reads."""
    named = text(root, 'spec', 'ingressClassName') or text(annotations, 'kubernetes.io/ingress.class') or ''
    if named:
        return _CLASSES.get(named, '')
    keys = tuple(annotations or ())
    prefixes = {'ingress-nginx': 'nginx.ingress.kubernetes.io/', 'alb': 'alb.ingress.kubernetes.io/'}
    return next((product for product, prefix in prefixes.items() if any(key.startswith(prefix) for key in keys)), '')


def _backends(document: Document, root: Map) -> Iterator[tuple[str, str, Place]]:
    """(service, port name or number, place of the port) of every rule and of the default backend."""
    found = [mapping(root, 'spec', 'defaultBackend'), mapping(root, 'spec', 'backend')]
    found.extend(mapping(path, 'backend') for rule in maps(root, 'spec', 'rules') for path in maps(rule, 'http', 'paths'))
    for backend in found:
        name = text(backend, 'service', 'name') or text(backend, 'serviceName')
        for path in (('service', 'port', 'name'), ('service', 'port', 'number'), ('servicePort',)):
            port = text(backend, *path)
            if name and port:
                yield name, port, place_of(document, get(backend, *path))


def _backend(owner: Owner, root: Map, annotations: Map | None, product: str, name: str, port: str, place: Place) -> Component:
    document = owner.document
    key, default = ANNOTATIONS[product]
    word = word_of(document, get(annotations, key))
    settings = {
        'product': Setting('product', product, place),
        'targets': Setting('targets', ((name, port),), place),
        'grpc': Setting('grpc', f'its port is named {port}' if looks_like_grpc(port) else '', place),
    }
    slot = Slot('yaml_edit', Place(document, root.start, root.start), ('metadata', 'annotations', key))
    hidden = owner.partial or ('filled by a template' if any(is_open(document, node) for node in (root, annotations) if node) else '')
    protocol = Setting('backend_protocol', default, place, 'default', hidden, slot=slot, source=f'{product} annotations')
    if word is not None:
        reason = '' if word.known else word.reason
        protocol = Setting('backend_protocol', word.value.upper(), word.place, reason=reason, slot=Slot('yaml_edit', word.place))
    settings['backend_protocol'] = protocol
    identity = f'{owner.identity}/{name}:{port}'
    return Component(UPSTREAM, name, identity, place, settings, partial=owner.partial, scope=owner.namespace)
