"""Who talks to whom: services and autoscalers to workloads, budgets to pods, pools to databases."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from configaudit.context import Context
from configaudit.model import Component, Peers

NOT_SEEN = {
    'autoscaler': 'an autoscaler may exist that is not among the files read',
    'disruption-budget': 'a budget may exist that is not among the files read',
    'service': 'a Service may exist that is not among the files read',
    'database': 'the database server is not among the files read: name it under `links:`',
}


def link(components: Iterable[Component], context: Context) -> None:
    """Give every component its peers. What no file shows stays open unless the run is declared complete."""
    by_kind: dict[str, list[Component]] = {}
    for component in components:
        by_kind.setdefault(component.kind.name, []).append(component)
    workloads, pods = by_kind.get('workload', []), by_kind.get('pod', [])
    _connect(workloads, by_kind.get('autoscaler', []), 'workload', 'autoscaler', _scales, context)
    _connect(pods, by_kind.get('service', []), 'pod', 'service', _selects, context)
    _connect(pods, by_kind.get('disruption-budget', []), 'pod', 'disruption-budget', _protects, context)
    for workload in workloads:
        for kind in ('service', 'disruption-budget'):
            found = dict.fromkeys(peer for pod in workload.peers('pod') for peer in pod.peers(kind))
            workload.peer_map[kind] = Peers.of(found, context.complete, NOT_SEEN[kind])
    _databases(by_kind, context)


def _connect(
    left: list[Component],
    right: list[Component],
    left_kind: str,
    right_kind: str,
    related: Callable[[Component, Component], bool],
    context: Context,
) -> None:
    """Peers in both directions for every related pair in one scope."""
    scopes: dict[str, list[Component]] = {}
    for other in right:
        scopes.setdefault(other.scope, []).append(other)
    back: dict[Component, list[Component]] = {}
    for one in left:
        near = [*scopes.get(one.scope, ()), *(scopes.get('', ()) if one.scope else ())]
        found = [other for other in near if related(one, other)]
        if right:
            one.peer_map[right_kind] = Peers.of(found, context.complete, NOT_SEEN[right_kind])
        else:
            one.peer_map[right_kind] = Peers.of((), context.complete, NOT_SEEN[right_kind])
        for other in found:
            back.setdefault(other, []).append(one)
    for other, ones in back.items():
        other.peer_map[left_kind] = Peers.of(ones, context.complete)


def _scales(workload: Component, scaler: Component) -> bool:
    kind = scaler['target_kind'].known_value
    return scaler['target_name'].known_value == workload.name and kind in (workload['object_kind'].known_value, None)


def _selects(pod: Component, service: Component) -> bool:
    return contains(pod['labels'].known_value, service['selector'].known_value)


def _protects(pod: Component, budget: Component) -> bool:
    return contains(pod['labels'].known_value, budget['selector'].known_value)


def contains(labels: Any, selector: Any) -> bool:
    """Whether labels satisfy a selector's pairs; an empty selector selects nothing here."""
    if not isinstance(labels, Mapping) or not isinstance(selector, Mapping) or not selector:
        return False
    return all(str(labels.get(key)) == str(value) for key, value in selector.items())


def _databases(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Pools to the database servers they open connections to: by declared link, by host name, or the only one there is."""
    pools, databases = by_kind.get('pool', []), by_kind.get('database', [])
    back: dict[Component, list[Component]] = {}
    for pool in pools:
        found = [database for database in databases if _connects(pool, database, len(databases), context)]
        pool.peer_map['database'] = Peers.of(found, context.complete, NOT_SEEN['database'])
        for database in found:
            back.setdefault(database, []).append(pool)
    for database, users in back.items():
        database.peer_map['pool'] = Peers.of(users, context.complete)


def _connects(pool: Component, database: Component, databases: int, context: Context) -> bool:
    declared = [server for client, server in context.links if client in (pool.name, pool.identity)]
    if declared:
        return database.name in declared or database.identity in declared
    products = pool['product'].known_value, database['product'].known_value
    if products[0] and products[1] and products[0] != products[1]:
        return False
    host = str(pool['host'].known_value or '').split('.')[0]
    names: Any = database['names'].known_value or ()
    return host in names if host and names else databases == 1 and not names
