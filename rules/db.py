"""Rules for connection pools and the servers they open connections to: item 7 of the July checklist."""

import math
from collections.abc import Iterable, Iterator

from configaudit.model import Component, Fix, NotApplicable, Problem, Setting, Severity, Unknown, rule
from configaudit.places import Place

from .db_demand import Demand, demands_of, worst_pods

CHECKLIST_SHARE = 0.6
"""The July checklist's own formula: max_connections x 0.6 / pods for each pod."""

_LOOPBACK = ('localhost', '127.0.0.1', '::1')


@rule(
    'db-pools-exceed-server', on='database', severity='error', checklist='july-7',
    source='July tuning checklist, change 7; PostgreSQL max_connections, superuser_reserved_connections, reserved_connections; PgBouncer max_client_conn, default_pool_size; Kubernetes maxSurge rounds up',
    effect='new pods are refused with "too many connections" in a rollout or scale-out, fail readiness and loop',
    side_effect='smaller pools queue inside the application: watch the time spent waiting for a connection',
)  # fmt: skip
def pools_exceed_server(database: Component, *, warn_share: float = 0.8) -> Iterator[Problem]:
    """The pools of all pods together may open more connections than the server accepts.

    Worst case of every pool: (autoscaler maximum or replicas + maxSurge) x worker processes x (size + overflow), summed over all
    workloads of one server. Over max_connections minus the reserved ones is an error; over `warn_share` of it a warning. Pods that
    are still terminating are outside maxSurge and hold their connections too: where their grace period is long they are counted
    for a warning. Where gunicorn's sync workers serve one request at a time, a pool opens more only if a request holds several: that is
    advice. A pooler is judged on both sides: its clients against max_client_conn in each of its pods, and what it opens
    itself (default_pool_size for every pair of database and user, in each of its pods) against the server behind it.
    The checklist's x 0.6 / pods stands beside.
    """
    pools = database.peers('pool')
    if not pools:
        raise NotApplicable('no pool that connects to this server is among the files read')
    usable = usable_of(database, pools)
    demands = demands_of(pools)
    total = sum(demand.total for demand in demands)
    ending = sum(demand.pods.ending * demand.each for demand in demands)
    if total > warn_share * usable or total + ending > usable:
        yield _exceeds(database, demands, usable, warn_share)
        return
    unknown = next((demand.unknown for demand in demands if demand.unknown), '')
    if unknown:
        raise Unknown(unknown)


def usable_of(database: Component, pools: Iterable[Component]) -> int:
    """Connections that are left to applications: without the reserved ones; of a pooler, in all of its pods."""
    free = int(database['max_connections'].value) - _reserved(database, pools)
    return free * int(database['instances'].value or 1)


def _reserved(database: Component, pools: Iterable[Component]) -> int:
    """Connections that are kept for superusers; none where all that connect are one."""
    reserved = int(database['reserved'].value) + int(database['reserved_role'].value)
    superusers = database['superusers'].known_value or ()
    return 0 if all(pool['user'].known_value in superusers for pool in pools) else reserved  # type: ignore[operator]


def _exceeds(database: Component, demands: list[Demand], usable: int, warn_share: float) -> Problem:
    largest = max(demands, key=lambda demand: demand.total)
    size, pods = largest.pool['max_open'], sum(demand.pods.number for demand in demands)
    total = sum(demand.total for demand in demands)
    busy = sum(demand.busy for demand in demands)
    ending = sum(demand.pods.ending * demand.each for demand in demands) if total <= warn_share * usable else 0
    limit = database['max_connections']
    reserved = _reserved(database, [demand.pool for demand in demands])
    if total > usable:
        template = '{parts} = {total} connections, over the {usable} that {server} accepts ({limits})'
    elif ending:
        template = '{parts} = {total} connections and {ending} of pods that may still terminate ({grace} s), over the {usable} that {server} accepts ({limits})'
    else:
        template = '{parts} = {total} connections, over {share} % of the {usable} that {server} accepts ({limits})'
    advised = int(int(limit.value) * CHECKLIST_SHARE / max(pods, 1))
    return Problem(
        size if size.is_set else largest.pool.place, template + _scaling(demands, total, usable) + ('; {busy} while no request holds two' if busy < total else '') + _advised(database),
        parts=' + '.join(demand.words for demand in demands if demand.total), total=total, usable=usable, server=database.name,
        limit=limit.value, reserved=reserved, limits=_limits(database, reserved), pods=pods, plural='s' if pods != 1 else '', share=round(warn_share * 100), ending=ending,
        grace=max(round(demand.pods.grace_s) for demand in demands), resting=_resting(demands), advised=advised, busy=busy,
        see=_see(database, demands, largest), detail='connections', severity=_severity(total, busy, usable, warn_share),
        fix=_smaller(largest, usable, warn_share) if len(demands) == 1 and not ending else None,
    )  # fmt: skip


def _severity(total: int, busy: int, usable: int, warn_share: float) -> Severity | None:
    """An error only where the server runs out while every worker is busy."""
    if busy < total and busy <= warn_share * usable:
        return 'advice'
    return None if busy > usable else 'warning'


def _limits(database: Component, reserved: int) -> str:
    limit, instances = database['max_connections'].value, int(database['instances'].value or 1)
    if database['pooler'].value:
        return f'max_client_conn {limit} x {instances} pods' if instances > 1 else f'max_client_conn {limit}'
    each = f'maxclients {limit}' if database['product'].known_value == 'redis' else f'{limit} - {reserved} reserved'
    return f'({each}) x {instances} servers' if instances > 1 else each


def _resting(demands: list[Demand]) -> int:
    return sum(demand.pods.at_rest * demand.each for demand in demands)


def _scaling(demands: list[Demand], total: int, usable: int) -> str:
    """That the sizes fit the replicas as they are written, where they do and the autoscaler breaks them."""
    return '; at the replicas as written it is {resting}, which fits: it breaks when the autoscaler scales out' if _resting(demands) <= usable < total else ''


def _advised(database: Component) -> str:
    return '' if database['pooler'].value or database['product'].known_value == 'redis' else '; the checklist allows {limit} x 0.6 / {pods} pod{plural} = {advised} each'


def _see(database: Component, demands: list[Demand], largest: Demand) -> list[tuple[str, Setting | Place]]:
    """Every side with its own line of the arithmetic."""
    see: list[tuple[str, Setting | Place]] = [('the server accepts', database['max_connections'])]
    for demand in demands:
        see.extend(demand.pods.see)
        if demand is not largest:
            size = demand.pool['max_open']
            line = f'{demand.words} = {demand.total}' if demand.total else f'another pool of the same server: {demand.unknown or "no connections"}'
            see.append((line, size if size.is_set else demand.pool.place))
    return see


def _smaller(demand: Demand, usable: int, share: float) -> Fix | None:
    size = demand.pool['max_open']
    if not size.is_set or not size.is_known or not demand.total:
        return None
    overflow = demand.pool['overflow'].known_value
    copies = demand.total // (int(size.value) + int(overflow or 0))  # type: ignore[call-overload]
    fits = int(share * usable / max(copies, 1)) - int(overflow or 0)  # type: ignore[call-overload]
    return size.set(fits) if fits >= 1 else None


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


def _is_developers(pool: Component) -> bool:
    """Whether a program, or the image of one, names a database on the machine it is tried out on; in a pod that may be a proxy beside it."""
    host = str(pool['host'].known_value)
    return host == 'host.docker.internal' or (host in _LOOPBACK and all(carrier.kind.name == 'dockerfile' for carrier in pool.peers('carrier')))


@rule(
    'db-pool-unstated', on='pool', severity='warning', checklist='july-7',
    source='July tuning checklist, change 7; defaults from the libraries\' documentation',
    effect='the sum over all pods can be checked against max_connections',
)  # fmt: skip
def pool_unstated(pool: Component) -> Iterator[Problem]:
    """Nobody says how many connections this pool may open, so the sum over all pods cannot be checked.

    A pool left at a default that is known is only advice; so is a single process, which a rollout doubles for a moment. Several
    pods or worker processes multiply a number that stands nowhere.
    """
    why_not = _not_asked(pool)
    if why_not:
        raise NotApplicable(why_not)
    if pool['max_open'].is_set:
        pool['max_open'].all(lambda value: value is not None)
        return
    yield from _unstated(pool, pool['max_open'])


def _not_asked(pool: Component) -> str:
    """Why nobody has to state the size of a pool, or ''."""
    if not pool['serves'].value:
        return 'a job or an init container'
    if pool.peers('pool'):
        return 'the processes that run this program are judged'
    if pool['max_open'].is_set:
        return ''
    if pool['max_open'].known_value == math.inf:
        return 'it has no limit, which is another finding'
    return 'a developer\'s own database, unless something overrides the address' if _is_developers(pool) else ''


def _unstated(pool: Component, size: Setting) -> Iterator[Problem]:
    """A size that nobody wrote: a default that is known, or none at all, times the copies of the pool."""
    pods, processes = worst_pods(pool), pool['processes']
    if not pods.number:
        raise NotApplicable('it is scaled to no pods')
    workers = int(processes.value or 1)
    host = pool['host'].known_value or 'the database'
    unplaced = pool['written_in'].known_value and not pool.peers('carrier') and not pods.see and workers == 1
    copies = 'all that run its program' if unplaced else f'{pods.words} x {workers} processes' if workers > 1 else pods.words
    see = [*pods.see, *((('worker processes', processes),) if processes.is_set else ())]
    if size.is_known:
        more = pool['overflow'].known_value
        yield Problem(
            size, 'the pool to {host} is left at {size} connections ({source}) in each of {copies}: state its size',
            copies=copies, host=host, size=f'{size.value} + {more}' if more else size.value, source=size.source, severity='advice', see=see,
        )  # fmt: skip
        return
    if not size.source and (pods.number - pods.surge) * workers <= 1:
        raise Unknown(f'no limit is stated for the connections of one process to {host}, and its program is not among the files: state the size of its pool')
    yield Problem(
        size, 'no limit is stated for the connections of {copies} to {host}{known}',
        copies=copies, host=host, known=f' ({size.source})' if size.source else '', confidence='medium',
        severity=None if (pods.number - pods.surge) * workers > 1 and pool['library'].known_value != 'hikari' else 'advice', see=see,
    )  # fmt: skip
