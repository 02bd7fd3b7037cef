"""How many connections pools open in the worst moment: pods at full scale in a rollout x processes x (size + overflow)."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from configaudit.model import Component, Setting
from configaudit.places import Place

See = tuple[tuple[str, Setting | Place], ...]
_ROLLS = ('Deployment', 'Rollout')
LONG_GRACE_S = 120
"""From here on a pod that terminates may outlive the rollout's next steps; its pool holds its connections until it is gone."""


class Pods(NamedTuple):
    """How many copies of a pool exist in the worst moment of a rollout at full scale."""

    number: int
    words: str
    see: See = ()
    unknown: str = ''
    at_rest: int = 0
    """The same where no autoscaler scales out."""
    ending: int = 0
    """Pods of the old version that may still be terminating beside them."""
    grace_s: float = 0
    surge: int = 0
    """Those among `number` that only a rollout adds."""


class Demand(NamedTuple):
    """The connections one pool may open."""

    pool: Component
    pods: Pods
    each: int
    """Of one pod."""
    words: str
    unknown: str

    at_once: int | None = None
    """Of one pod, those that its requests use at a time, where its workers serve a known number of them; the pool may hold more."""

    @property
    def total(self) -> int:
        """All that are certain."""
        return self.pods.number * self.each

    @property
    def busy(self) -> int:
        """Those that are open while every worker is busy and no request holds more than one."""
        return self.total if self.at_once is None else self.pods.number * min(self.each, self.at_once)


def worst_pods(pool: Component) -> Pods:
    """Replicas at the autoscaler's maximum plus what a rolling update adds (maxSurge, rounded up)."""
    if pool['pods'].is_set:
        return _stated(pool)
    workloads = pool.peers('workload')
    if not workloads:
        return _instances(pool)
    workload = workloads[0]
    kind = workload['object_kind'].known_value
    if kind == 'DaemonSet':
        return Pods(1, '1 pod', (), 'a DaemonSet has a pod on every node, and the files do not say how many there are', 1)
    if kind in ('Job', 'CronJob'):
        return _counted(workload['parallelism' if kind == 'Job' else 'cron_parallelism'], 'parallelism')
    return _replicated(pool, workload)


def _replicated(pool: Component, workload: Component) -> Pods:
    replicas = workload['replicas']
    most, word = replicas, 'replicas'
    for scaler in workload.peers('autoscaler'):
        if scaler['max_replicas'].is_known and scaler['max_replicas'].known_value:
            most, word = scaler['max_replicas'], 'autoscaler maximum'
    if not most.is_known:
        return Pods(1, '1 pod', (), f'replicas: {most.reason}', 1)
    count = int(most.value)
    surge = _surge(workload, count)
    own = int(replicas.value) if replicas.is_known else count
    ending, grace_s = _ending(pool, workload, count)
    return Pods(
        count + surge, f'({count} + {surge} surge) pods' if surge else f'{count} pod{"s" if count != 1 else ""}',
        ((word, most),) if most.is_set else (), '', own + _surge(workload, own), ending, grace_s, surge,
    )  # fmt: skip


def _stated(pool: Component) -> Pods:
    """Pods of a pooler that an operator starts."""
    pods = pool['pods']
    if not pods.is_known:
        return Pods(1, '1 pod', (), f'pods: {pods.reason}', 1)
    count = int(pods.value)
    more = _part(pool['surge'].known_value, count) if pool['surge'].is_known else 0
    words = f'({count} + {more} surge) pods' if more else f'{count} pod{"s" if count != 1 else ""}'
    return Pods(count + more, words, (('pods', pods),), '', count + more, surge=more)


def _counted(setting: Setting, word: str) -> Pods:
    if not setting.is_known:
        return Pods(1, '1 pod', (), f'{word}: {setting.reason}', 1)
    count = max(int(setting.value or 1), 1)
    return Pods(count, f'{count} pod{"s" if count != 1 else ""}', ((word, setting),) if setting.is_set else (), '', count)


def _instances(pool: Component) -> Pods:
    """The copies of every service that runs it."""
    each = [_copies(carrier) for carrier in pool.peers('carrier')]
    if len(each) < 2:
        unseen = '' if pool.peers('pod') else f'how many processes run {pool.name} is not among the files read'
        return each[0] if each else Pods(1, '1 instance', (), unseen, 1)
    count = sum(copies.number for copies in each)
    services = tuple(('run by', carrier.place) for carrier in pool.peers('carrier'))
    unknown = next((copies.unknown for copies in each if copies.unknown), '')
    return Pods(count, f'{count} instances', (*(see for copies in each for see in copies.see), *services), unknown, count)


def _copies(carrier: Component) -> Pods:
    """How many containers of a service of compose there are."""
    for name in ('replicas', 'scale'):
        replicas = carrier[name] if name in carrier.kind.settings else None
        if replicas is not None and not replicas.is_known:
            return Pods(1, '1 instance', (), f'{name}: {replicas.reason}', 1)
        if replicas is not None and replicas.is_set and replicas.known_value is not None:
            count = int(replicas.value)
            return Pods(count, f'{count} instance{"s" if count != 1 else ""}', (('instances', replicas),), '', count)
    return Pods(1, '1 instance', at_rest=1)


def _surge(workload: Component, replicas: int) -> int:
    """Pods that a rolling update starts before it stops others; 0 for kinds that replace in place."""
    rolls = workload['object_kind'].known_value in _ROLLS
    surge = workload['max_surge']
    if not rolls or workload['strategy'].known_value == 'Recreate' or not surge.is_known or not replicas:
        return 0
    return _part(surge.known_value, replicas)


def _part(share: object, count: int) -> int:
    """A number, or a percentage of a count rounded up."""
    if isinstance(share, str):
        return math.ceil(count * float(share.rstrip('%')) / 100)
    return int(share) if isinstance(share, (int, float)) else 0


def _ending(pool: Component, workload: Component, count: int) -> tuple[int, float]:
    """Pods that a rolling update has told to stop: they are outside maxSurge and hold their connections until they are gone."""
    rolls = workload['object_kind'].known_value in _ROLLS and workload['strategy'].known_value != 'Recreate'
    grace = pool.peers('pod')[0]['grace_s'] if pool.peers('pod') else None
    if not rolls or grace is None or not grace.is_set or not grace.is_known or grace.value < LONG_GRACE_S:
        return 0, 0
    return count, float(grace.value)


def demand_of(pool: Component) -> Demand:
    """The connections that are certain, with the arithmetic; why more may be opened, or ''."""
    pods, processes, size, overflow = worst_pods(pool), pool['processes'], pool['max_open'], pool['overflow']
    workers, users = _known(processes, 1), _known(pool['users'], 1)
    options = (size.known_value,) if size.is_known else size.candidates
    open_each = min((value for value in options if isinstance(value, (int, float))), default=0)
    if open_each == math.inf or overflow.known_value == math.inf:
        return Demand(pool, pods, 0, '', f'the pool of {pool.name} has no limit')
    more = _known(overflow, 0) if open_each else 0
    each = workers * users * (int(open_each) + more)
    unknown = pods.unknown or processes.reason
    most = pool['most'].known_value
    if isinstance(most, (int, float)) and most:
        each = min(each, int(most))
    if pool['users'].reason and each != most:
        unknown = unknown or pool['users'].reason
    if not size.is_known:
        unknown = f'pool of {pool.name}: {size.reason}'
    factors = _each(workers, users, int(open_each), more)
    words = f'{pool.name}: {pods.words} x ' + (f'{each} connections (max_db_connections)' if each == most else factors)
    served = _served_at_once(pool)
    return Demand(pool, pods, each, words, unknown, workers * served if served else None)


def _served_at_once(pool: Component) -> int | None:
    """Requests that one worker process serves at a time: gunicorn's sync workers one, its threads one each; None where it is not known."""
    servers = [server for carrier in pool.peers('carrier') if 'http-server' in carrier.peer_map for server in carrier.peers('http-server')]
    if len(servers) != 1 or servers[0]['product'].known_value != 'gunicorn' or pool['library'].known_value != 'sqlalchemy':
        return None
    kind, threads = servers[0]['worker_class'], servers[0]['threads']
    known = kind.is_known and kind.known_value in ('sync', 'gthread') and threads.is_known
    return int(threads.value) if known and isinstance(threads.known_value, (int, float)) else None


def _each(workers: int, users: int, size: int, more: int) -> str:
    factors = [f'{workers} processes'] if workers > 1 else []
    factors.extend([f'{users} users'] if users > 1 else [])
    factors.append(f'({size} + {more} overflow) connections' if more else f'{size} connections')
    return ' x '.join(factors)


def _known(setting: Setting, least: int) -> int:
    return int(setting.known_value) if setting.is_known and isinstance(setting.known_value, (int, float)) and setting.known_value else least


def demands_of(pools: Iterable[Component]) -> list[Demand]:
    """The demand of every pool; an init container is done before its pod's others start, so that only the larger side counts."""
    demands = [demand_of(pool) for pool in pools]
    later: dict[Component, int] = {}
    for demand in demands:
        for pod in demand.pool.peers('pod')[:1]:
            later[pod] = later.get(pod, 0) + (0 if _is_init(demand.pool) else demand.each)
    return [
        demand for demand in demands
        if not _is_init(demand.pool) or not demand.pool.peers('pod') or demand.each > later.get(demand.pool.peers('pod')[0], 0) or demand.unknown
    ]  # fmt: skip


def _is_init(pool: Component) -> bool:
    carriers = pool.peers('carrier')
    return bool(carriers) and 'init' in carriers[0].kind.settings and bool(carriers[0]['init'].known_value)
