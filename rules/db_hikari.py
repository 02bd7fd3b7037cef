"""Rules for times that HikariCP refuses, or drops with a line in the log."""

import math
from collections.abc import Iterator

from configaudit.model import Component, Fix, NotApplicable, Problem, Setting, rule

_SOURCE = 'HikariCP, HikariConfig.setConnectionTimeout and validateNumerics'
_WAIT_FLOOR_S, _KEEPALIVE_FLOOR_S, _IDLE_FLOOR_S = 0.25, 30, 10


def _meant(setting: Setting, floor_s: float) -> Fix | None:
    """Seconds in a field of milliseconds, a thousand times as much."""
    milliseconds = round(setting.value * 1000)
    return setting.set(milliseconds * 1000) if setting.unit == 'ms' and milliseconds >= floor_s else None


def _is_hikari(pool: Component) -> None:
    if pool['library'].value != 'hikari':
        raise NotApplicable('not a pool of HikariCP')


@rule(
    'db-hikari-wait-refused', on='pool', severity='error', checklist='july-7', source=_SOURCE + ': below 250 ms it throws',
    effect='the application starts', side_effect='requests wait longer for a connection before they fail',
)  # fmt: skip
def hikari_wait_refused(pool: Component) -> Iterator[Problem]:
    """HikariCP throws at a connection timeout below 250 ms, so that the application does not start; such a value is usually seconds in a field of milliseconds."""
    _is_hikari(pool)
    wait = pool['wait_timeout_s']
    if wait.is_set and 0 < wait.value < _WAIT_FLOOR_S:
        milliseconds = round(wait.value * 1000)
        yield Problem(wait, 'a connection timeout of {milliseconds} ms is below the 250 ms that HikariCP accepts: it throws at the start', milliseconds=milliseconds, fix=_meant(wait, _WAIT_FLOOR_S))


@rule(
    'db-hikari-time-ignored', on='pool', severity='warning', checklist='july-7', source=_SOURCE,
    effect='the time that was meant holds', side_effect='idle connections are pinged or closed more often',
)  # fmt: skip
def hikari_time_ignored(pool: Component) -> Iterator[Problem]:
    """HikariCP drops a keepalive time below 30 s or not below the lifetime, an idle timeout below 10 s, and any idle timeout of a pool of fixed size.

    A pool is of fixed size when minimumIdle is left out or equals maximumPoolSize: there the idle timeout is only misleading.
    """
    _is_hikari(pool)
    keepalive, idle, lifetime = pool['keepalive_s'], pool['idle_timeout_s'], pool['max_lifetime_s']
    if keepalive.is_set and keepalive.value and keepalive.value < _KEEPALIVE_FLOOR_S:
        yield Problem(keepalive, 'a keepalive time of {value} s is below the 30 s that HikariCP takes: it drops it', detail='keepalive', fix=_meant(keepalive, _KEEPALIVE_FLOOR_S))
    elif keepalive.is_set and keepalive.value and lifetime.value != math.inf and keepalive.value >= lifetime.value:
        yield Problem(keepalive, 'a keepalive time of {value} s is not below the lifetime of {lifetime} s: HikariCP drops it', lifetime=lifetime.value, see=[('the lifetime', lifetime)], detail='keepalive')
    if not idle.is_set or not idle.value:
        raise NotApplicable('no idle timeout is written')
    smallest = pool['min_idle']
    if not smallest.is_set or smallest.value >= pool['max_open'].value:
        yield Problem(idle, 'the idle timeout does nothing: the pool is of fixed size, because minimumIdle {why}', why='equals maximumPoolSize' if smallest.is_set else 'is not set', severity='advice', detail='idle')
    elif idle.value < _IDLE_FLOOR_S:
        yield Problem(idle, 'an idle timeout of {value} s is below the 10 s that HikariCP takes: it uses 10 min', detail='idle', fix=_meant(idle, _IDLE_FLOOR_S))
