"""Who talks to whom: services and autoscalers to workloads, budgets to pods, gRPC clients to servers."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from configaudit.context import Context
from configaudit.model import Component, Peers
from configaudit.patterns import regex

NOT_SEEN = {
    'autoscaler': 'an autoscaler may exist that is not among the files read',
    'disruption-budget': 'a budget may exist that is not among the files read',
    'service': 'a Service may exist that is not among the files read',
    'database': 'the database server is not among the files read: name it under `links:`, or describe it under `databases:`',
    'grpc-server': 'the gRPC server is not among the files read: name it under `links:`',
}
_TO_REPLACE = regex(r'replace|placeholder|change-?me|[<{$\ufffc]')
"""In a namespace's name: each deployment fills in its own."""


def link(components: Iterable[Component], context: Context) -> dict[str, list[Component]]:
    """Give every component its peers; the components by kind. What no file shows stays open unless the run is declared complete."""
    by_kind: dict[str, list[Component]] = {}
    for component in components:
        by_kind.setdefault(component.kind.name, []).append(component)
    workloads, pods = by_kind.get('workload', []), by_kind.get('pod', [])
    scaled = Index(by_kind.get('autoscaler', []), lambda scaler: [('name', str(_value(scaler, 'target_name')))])
    _connect(workloads, 'workload', 'autoscaler', scaled, lambda workload: [('name', workload.name)], _scales, context)
    for kind in ('service', 'disruption-budget'):
        selecting = Index(by_kind.get(kind, []), lambda chooser: _pairs(_value(chooser, 'selector'))[:1])
        _connect(pods, 'pod', kind, selecting, lambda pod: _pairs(_value(pod, 'labels')), _selects, context)
    for workload in workloads:
        for kind in ('service', 'disruption-budget'):
            found = dict.fromkeys(peer for pod in workload.peers('pod') for peer in pod.peers(kind))
            workload.peer_map[kind] = Peers.of(found, context.complete, NOT_SEEN[kind])
    _scope_services(pods, by_kind.get('service', []), context)
    _grpc_servers(by_kind, context)
    return by_kind


Pairs = list[tuple[str, str]]


class Index:
    """Components found by a label or name they ask for, without comparing everything with everything."""

    def __init__(self, components: Iterable[Component], keys: Callable[[Component], Pairs]) -> None:
        self._by_key: dict[tuple[str, str], list[Component]] = {}
        for component in components:
            for key in keys(component):
                self._by_key.setdefault(key, []).append(component)

    def find(self, keys: Pairs) -> Iterable[Component]:
        """Everything that asks for one of the keys."""
        return dict.fromkeys(found for key in keys for found in self._by_key.get(key, ()))


def _value(component: Component, name: str) -> Any:
    setting = component.settings.get(name)
    return setting.known_value if setting is not None else None


def _pairs(labels: Any) -> Pairs:
    return [(str(key), str(value)) for key, value in labels.items()] if isinstance(labels, Mapping) else []


def _connect(
    left: list[Component],
    left_kind: str,
    right_kind: str,
    index: Index,
    keys: Callable[[Component], Pairs],
    related: Callable[[Component, Component], bool],
    context: Context,
) -> None:
    """Peers in both directions for every related pair in one scope; of several the nearest in the folder tree, seen from both sides.

    A budget is believed to cover every pod that it selects: what is called missing must be missing.
    """
    back: dict[Component, list[Component]] = {}
    for one in left:
        found = [other for other in index.find(keys(one)) if _same_scope(one, other) and related(one, other)]
        if right_kind != 'disruption-budget':
            found = [other for other in found if _one_application(one, other)]
        found = nearest(one, found)
        one.peer_map[right_kind] = Peers.of(found, context.complete, NOT_SEEN[right_kind])
        for other in found:
            back.setdefault(other, []).append(one)
    far: dict[Component, list[Component]] = {}
    for other, ones in back.items():
        close = nearest(other, ones)
        other.peer_map[left_kind] = Peers.of(close, context.complete)
        for one in ones if right_kind != 'disruption-budget' and len(close) < len(ones) else ():
            if one not in close:
                far.setdefault(one, []).append(other)
    for one, others in far.items():
        kept = (other for other in one.peer_map[right_kind] if other not in others)
        one.peer_map[right_kind] = Peers.of(kept, context.complete, NOT_SEEN[right_kind])


def _same_scope(one: Component, other: Component) -> bool:
    return one.scope == other.scope or not one.scope or not other.scope


def _one_application(one: Component, other: Component) -> bool:
    """Whether two objects can belong together: they name one namespace, or one lies at most a folder below where their paths part."""
    if one.scope and one.scope == other.scope:
        return True
    here, there = _folders(one)[:-1], _folders(other)[:-1]
    return min(len(here), len(there)) - _shared(here, there) <= 1


def nearest(one: Component, others: list[Component]) -> list[Component]:
    """Those that share the longest folder path with a component: an overlay's Service is not its sibling's."""
    if len(others) < 2:
        return others
    here = _folders(one)
    shared = [_shared(here, _folders(other)) for other in others]
    best = max(shared)
    return [other for other, depth in zip(others, shared, strict=True) if depth == best]


def _folders(component: Component) -> tuple[str, ...]:
    return _parts(component.place.outermost().document.path)


@lru_cache(maxsize=4096)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(path.split('/'))


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    if one == other:
        return len(one) + 1
    return next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))


def _scales(workload: Component, scaler: Component) -> bool:
    kind = _value(scaler, 'target_kind')
    return kind in (_value(workload, 'object_kind'), None)


def _selects(pod: Component, chooser: Component) -> bool:
    return contains(_value(pod, 'labels'), _value(chooser, 'selector'))


def contains(labels: Any, selector: Any) -> bool:
    """Whether labels satisfy a selector's pairs; an empty selector selects nothing here."""
    if not isinstance(labels, Mapping) or not isinstance(selector, Mapping) or not selector:
        return False
    return all(str(labels.get(key)) == str(value) for key, value in selector.items())


def _scope_services(pods: list[Component], services: list[Component], context: Context) -> None:
    """Every Service of a pod's namespace: the kubelet writes each into the pod's environment.

    Files that name no namespace share one when they lie in one folder, or one in a folder above the other.
    """
    if not services:
        return
    for pod in pods:
        if 'engine' in pod.peer_map:
            named = bool(pod.scope) and _TO_REPLACE.search(pod.scope) is None
            found = [service for service in services if service.scope == pod.scope and (named or _in_one_line(pod, service))]
            pod.peer_map['scope-service'] = Peers.of(nearest(pod, found), context.complete, NOT_SEEN['service'])


def _in_one_line(one: Component, other: Component) -> bool:
    here, there = _folders(one)[:-1], _folders(other)[:-1]
    return here[: len(there)] == there or there[: len(here)] == here


def host_names(server: Component) -> Iterable[str]:
    """Names under which a server is reached: its own, and those of the Services in front of its pod."""
    services = (service.name for pod in server.peers('pod') for service in pod.peers('service'))
    return dict.fromkeys((*(_value(server, 'names') or ()), *services))


def declared(client: Component, servers: Iterable[Component], context: Context) -> list[Component]:
    """The servers that a person linked to a client, in the configuration or by an annotation of its pod."""
    workloads, pods = client.peers('workload'), client.peers('pod')
    own = {*called(client), *(one for workload in workloads for one in (workload.name, workload.identity))}
    names = [server for name, server in context.links if name in own]
    names.extend(name for pod in pods for name in _value(pod, 'links') or ())
    return [server for server in servers if called(server).intersection(names)] if names else []


def called(component: Component) -> set[str]:
    """What a person may call a component by: its name, its identity, and the path of the program it is written in."""
    own = {component.name, component.identity}
    return {*own, component.place.outermost().document.path} if _value(component, 'written_in') else own


def _grpc_servers(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """gRPC clients to the servers they name: by declared link, by Service or application name."""
    clients = by_kind.get('grpc-client', [])
    if not clients:
        return
    servers = [*by_kind.get('grpc-server', ()), *by_kind.get('triton', ())]
    named = Index(servers, lambda server: [('host', name) for name in host_names(server)])
    for client in clients:
        target = str(_value(client, 'target') or '').rpartition('/')[2].partition(':')[0].split('.')[0] or client.name
        found = declared(client, servers, context) or nearest(client, list(named.find([('host', target)])))
        client.peer_map['grpc-server'] = Peers.of(found, context.complete, NOT_SEEN['grpc-server'])
