"""Rules for the ports of Services as meshes and gateways understand them."""

from collections.abc import Iterator, Mapping
from typing import Any

from configaudit.model import Component, NotApplicable, Problem, Setting, Slot, rule
from configaudit.places import Place

_OPAQUE = ('tcp', 'tls', 'https', 'udp', 'mongo', 'mysql', 'redis')
"""Protocols of Istio under which a connection passes as it is."""


@rule(
    'grpc-port-called-otherwise', on='service', severity='warning', confidence='medium', checklist='july-5',
    source='Istio documentation, Protocol Selection; Gateway API, GEP-1911: an HTTPRoute speaks HTTP/1.1 to a backend without appProtocol',
    effect='calls reach the server over HTTP/2, each balanced by itself',
)  # fmt: skip
def grpc_port_called_otherwise(service: Component) -> Iterator[Problem]:
    """A gRPC port says that it is something else: the mesh or gateway speaks HTTP/1.1 to it, which no gRPC server takes, or passes connections through unbalanced.

    A port without a name or protocol is told by its first bytes in Istio; an HTTPRoute takes it for HTTP/1.1.
    """
    senders = service.peers('routed-by')
    if not senders:
        raise NotApplicable('neither Istio nor a Gateway routes to it, as far as is seen')
    for port in service['ports'].value:
        why = _grpc_behind(service, port)
        sender = next((one for one in senders if why and _sends(one, service, port)), None)
        harm = _harm(port, sender) if sender is not None else ''
        if sender is not None and harm:
            at: Place = port['place']
            slot = Slot('yaml_edit', Place(at.document, at.start, at.start), ('appProtocol',))
            fix = Setting('appProtocol', None, at, slot=slot).set('kubernetes.io/h2c' if sender['product'].value == 'gateway-api' else 'grpc') if port['app_protocol'] is None else None
            yield Problem(at, 'port {port} leads to gRPC ({why}) and {harm}', port=port['port'], why=why, harm=harm, see=[('it is routed here', sender.place)], fix=fix, detail=str(port['port']))


def _grpc_behind(service: Component, port: Mapping[str, Any]) -> str:
    """What shows that gRPC answers behind a port, or ''."""
    target = str(port['target'])
    for engine in service.peers('engine'):
        named = {name for container in engine.peers('container') for name, number in container['ports'].value.items() if engine.kind.name == 'triton' and number == engine['grpc_port'].value}
        if engine.kind.name == 'triton' and target in {str(engine['grpc_port'].value), *named}:
            return 'Triton\'s gRPC port'
    for server in service.peers('grpc-server'):
        if server['port'].known_value in (target, *_numbers(service, target)):
            return f'{server.name} serves it'
    return f'its target is called {target}' if target == 'grpc' or target.startswith('grpc-') else ''


def _numbers(service: Component, name: str) -> set[str]:
    """The ports that the containers behind a Service give a name."""
    containers = [container for pod in service.peers('pod') for container in pod.peers('container')]
    return {str(number) for container in containers for called, number in (container['ports'].known_value or {}).items() if called == name}  # type: ignore[attr-defined]


def _sends(sender: Component, service: Component, port: Mapping[str, Any]) -> bool:
    """Whether a route or rule is for this port; one that names no port is for all."""
    ports = {number for host, number in sender['targets'].value if host.split('.')[0] == service.name}
    return bool(ports & {'', str(port['port'])})


def _harm(port: Mapping[str, Any], sender: Component) -> str:
    given, name = str(port['app_protocol'] or ''), str(port['name'] or '')
    says = (given.rpartition('/')[2] or name.partition('-')[0]).lower()
    if says in ('grpc', 'http2', 'h2c') or (name.startswith('grpc') and not given):
        return ''
    told = f'appProtocol {given}' if given else f'the name {name}'
    if sender['product'].value == 'gateway-api':
        if not sender.identity.startswith('HTTPRoute/'):
            return ''  # a GRPCRoute speaks HTTP/2 whatever the port says
        return 'has no appProtocol: an HTTPRoute speaks HTTP/1.1 to it' if not given else f'{told} says HTTP/1.1' if says in ('http', 'https') else ''
    return f'{told} says HTTP/1.1' if says == 'http' else f'{told} says {says}: connections pass unbalanced' if says in _OPAQUE else ''
