"""Rules for connection pools and the servers they open connections to: item 7 of the July checklist."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.model import Component, Fix, NotApplicable, Problem, Setting, Unknown, rule
from configaudit.places import Place

CHECKLIST_SHARE = 0.6
"""The July checklist's own formula: max_connections x 0.6 / pods for each pod."""


class Pods(NamedTuple):
    """How many copies of a pool exist in the worst moment of a rollout at full scale."""

    number: int
    words: str
    see: tuple[tuple[str, Setting | Place], ...] = ()
    unknown: str = ''


class Demand(NamedTuple):
    """The connections one pool may open."""

    pool: Component
    pods: Pods
    total: int
    words: str
    unknown: str


def worst_pods(pool: Component) -> Pods:
    """Replicas at the autoscaler's maximum plus what a rolling update adds (maxSurge, rounded up)."""
    if pool['pods'].is_set:
        return Pods(int(pool['pods'].value), f'{pool["pods"].value} pods')
    workloads = pool.peers('workload')
    if not workloads:
        return _instances(pool)
    workload = workloads[0]
    if workload['object_kind'].known_value == 'DaemonSet':
        return Pods(1, '1 pod', (), 'a DaemonSet has a pod on every node, and the files do not say how many there are')
    replicas, word = workload['replicas'], 'replicas'
    for scaler in workload.peers('autoscaler'):
        if scaler['max_replicas'].is_known and scaler['max_replicas'].known_value:
            replicas, word = scaler['max_replicas'], 'autoscaler maximum'
    if not replicas.is_known:
        return Pods(1, '1 pod', (), f'replicas: {replicas.reason}')
    count = int(replicas.value)
    surge = _surge(workload, count)
    see = ((word, replicas),) if replicas.is_set else ()
    words = f'({count} + {surge} surge) pods' if surge else f'{count} pods'
    return Pods(count + surge, words, see)


def _instances(pool: Component) -> Pods:
    carriers = pool.peers('carrier')
    if carriers and 'replicas' in carriers[0].kind.settings:
        replicas = carriers[0]['replicas']
        if replicas.is_known and replicas.known_value:
            return Pods(int(replicas.value), f'{replicas.value} instances', (('instances', replicas),) if replicas.is_set else ())
    return Pods(1, '1 instance')


def _surge(workload: Component, replicas: int) -> int:
    """Pods that a rolling update starts before it stops others; 0 for kinds that replace in place."""
    rolls = workload['object_kind'].known_value in ('Deployment', 'Rollout')
    surge = workload['max_surge']
    if not rolls or workload['strategy'].known_value == 'Recreate' or not surge.is_known or not replicas:
        return 0
    if isinstance(surge.known_value, str):
        return math.ceil(replicas * float(surge.known_value.rstrip('%')) / 100)
    return int(surge.value or 0)


def demand_of(pool: Component) -> Demand:
    """The connections that are certain, with the arithmetic; why more may be opened, or ''."""
    pods, processes, size, overflow = worst_pods(pool), pool['processes'], pool['max_open'], pool['overflow']
    workers = int(processes.known_value) if processes.is_known and processes.known_value else 1  # type: ignore[call-overload]
    unknown = pods.unknown or processes.reason
    options = (size.known_value,) if size.is_known else size.candidates
    open_each = min((value for value in options if isinstance(value, (int, float))), default=0)
    if open_each == math.inf or overflow.known_value == math.inf:
        return Demand(pool, pods, 0, '', f'the pool of {pool.name} has no limit')
    if not size.is_known:
        unknown = f'pool of {pool.name}: {size.reason}'
    more = int(overflow.known_value or 0) if overflow.is_known and open_each else 0  # type: ignore[call-overload]
    each = f'({open_each} + {more} overflow)' if more else f'{open_each}'
    words = f'{pool.name}: {pods.words} x ' + (f'{workers} processes x ' if workers > 1 else '') + f'{each} connections'
    return Demand(pool, pods, pods.number * workers * (int(open_each) + more), words, unknown)


@rule(
    'db-pools-exceed-server', on='database', severity='error', checklist='july-7',
    source='July tuning checklist, change 7; PostgreSQL max_connections, superuser_reserved_connections; Kubernetes maxSurge rounds up',
    effect='new pods are refused with "too many connections" in a rollout or scale-out, fail readiness and loop',
    side_effect='smaller pools queue inside the application: watch the time spent waiting for a connection',
)  # fmt: skip
def pools_exceed_server(database: Component, *, warn_share: float = 0.8) -> Iterator[Problem]:
    """The pools of all pods together may open more connections than the server accepts.

    Worst case of every pool: (autoscaler maximum or replicas + maxSurge) x worker processes x (size + overflow).
    Pods that are still terminating hold their connections on top of that. Over max_connections minus the reserved
    ones is an error; over `warn_share` of it a warning. The checklist's x 0.6 / pods stands beside.
    """
    pools = database.peers('pool')
    if not pools:
        raise NotApplicable('no pool that connects to this server is among the files read')
    limit, reserved = database['max_connections'], database['reserved']
    usable = int(limit.value) - int(reserved.value)
    demands = [demand_of(pool) for pool in pools]
    total = sum(demand.total for demand in demands)
    if total > warn_share * usable:
        yield _exceeds(database, demands, total, usable, warn_share)
        return
    unknown = next((demand.unknown for demand in demands if demand.unknown), '')
    if unknown:
        raise Unknown(unknown)


def _exceeds(database: Component, demands: list[Demand], total: int, usable: int, warn_share: float) -> Problem:
    largest = max(demands, key=lambda demand: demand.total)
    limit, size = database['max_connections'], largest.pool['max_open']
    see: list[tuple[str, Setting | Place]] = [('the server accepts', limit)]
    for demand in demands:
        see.extend(demand.pods.see)
        if demand is not largest:
            see.append(('another pool of the same server', demand.pool['max_open']))
    if total > usable:
        template = '{parts} = {total} connections, over the {usable} that {server} accepts ({limit} - {reserved} reserved)'
    else:
        template = '{parts} = {total} connections, over {share} % of the {usable} that {server} accepts ({limit} - {reserved} reserved)'
    pods = sum(demand.pods.number for demand in demands)
    return Problem(
        size if size.is_set else largest.pool.place,
        template + '; the checklist allows {limit} x 0.6 / {pods} pods = {advised} each',
        parts=' + '.join(demand.words for demand in demands if demand.total), total=total, usable=usable, server=database.name,
        limit=limit.value, reserved=database['reserved'].value, pods=pods, share=round(warn_share * 100),
        advised=int(int(limit.value) * CHECKLIST_SHARE / max(pods, 1)), see=see, detail='connections',
        severity=None if total > usable else 'warning', fix=_smaller(largest, usable, warn_share) if len(demands) == 1 else None,
    )  # fmt: skip


def _smaller(demand: Demand, usable: int, share: float) -> Fix | None:
    size = demand.pool['max_open']
    overflow = demand.pool['overflow'].known_value
    workers = demand.pool['processes'].known_value
    copies = demand.pods.number * int(workers or 1)  # type: ignore[call-overload]
    fits = int(share * usable / copies) - int(overflow or 0)  # type: ignore[call-overload]
    return size.set(fits) if size.is_set and fits >= 1 else None


@rule(
    'db-pool-unbounded', on='pool', severity='warning', checklist='july-7',
    source='July tuning checklist, change 7; Go database/sql SetMaxOpenConns, SQLAlchemy QueuePool, DBCP2 maxTotal',
    effect='a burst opens connections until the server refuses everybody', side_effect='requests wait for a connection under load',
)  # fmt: skip
def pool_unbounded(pool: Component) -> Iterator[Problem]:
    """A pool without a limit passes every burst on to the database server.

    0 (Go, SQLAlchemy) and -1 (DBCP2, an overflow) mean no limit.
    """
    for name, word in (('max_open', 'pool size'), ('overflow', 'overflow')):
        setting = pool[name]
        if not setting.is_set and not setting.is_known:
            raise NotApplicable('no size is written')
        if setting.all(lambda value: value != math.inf):
            continue
        yield Problem(
            setting, '{word} has no limit{unset}: a burst opens connections until the server refuses them', word=word, detail=name,
            unset='' if setting.is_set else f' ({setting.source})', severity=None if setting.is_set else 'advice',
        )  # fmt: skip


@rule(
    'db-pool-unstated', on='pool', severity='warning', checklist='july-7',
    source='July tuning checklist, change 7; defaults from the libraries\' documentation',
    effect='the sum over all pods can be checked against max_connections',
)  # fmt: skip
def pool_unstated(pool: Component) -> Iterator[Problem]:
    """Nobody says how many connections this pool may open, so the sum over all pods cannot be checked.

    A pool left at a default that is known is only advice; so is a single process. Several pods or worker
    processes multiply a number that stands nowhere.
    """
    size = pool['max_open']
    if not pool['serves'].value:
        raise NotApplicable('a job or an init container')
    if size.is_set:
        size.all(lambda value: value is not None)
        return
    if size.known_value == math.inf:
        raise NotApplicable('it has no limit, which is another finding')
    pods, processes = worst_pods(pool), pool['processes']
    workers = int(processes.value or 1)
    host = pool['host'].known_value or 'the database'
    copies = f'{pods.words} x {workers} processes' if workers > 1 else pods.words
    see = [*pods.see, *((('worker processes', processes),) if processes.is_set else ())]
    if size.is_known:
        more = pool['overflow'].known_value
        yield Problem(
            size, 'the pool to {host} is left at {size} connections ({source}) in each of {copies}: state its size',
            copies=copies, host=host, size=f'{size.value} + {more}' if more else size.value, source=size.source, severity='advice', see=see,
        )  # fmt: skip
        return
    yield Problem(
        size, 'no limit is stated for the connections of {copies} to {host}{known}',
        copies=copies, host=host, known=f' ({size.source})' if size.source else '', confidence='medium',
        severity=None if pods.number * workers > 1 else 'advice', see=see,
    )  # fmt: skip
