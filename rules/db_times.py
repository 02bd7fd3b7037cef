"""Rules for the clocks of a connection pool: lifetimes, waits, socket timeouts, checks on every checkout."""

import math
import re
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, rule
from configaudit.patterns import regex

_LOOPBACK = regex(r'jdbc:[a-z:]+//(?:localhost|127\.[\d.]+|\[::1\])(?:[:/?;]|\Z)', re.IGNORECASE)
_RDS_PROXY = regex(r'\.proxy-[a-z0-9]+\.[a-z0-9-]+\.rds\.amazonaws\.com$')
_RDS_PROXY_S = 1800
"""RDS Proxy's IdleClientTimeout where nobody sets it."""
_CLOSES = {'mysql': 'wait_timeout', 'postgres': 'idle_session_timeout', 'redis': 'timeout'}
_HIKARI_FLOOR_S = 30
"""HikariConfig.validateNumerics: a shorter maxLifetime is set back to 30 minutes."""


def written(setting: Setting, seconds: float) -> object:
    """A duration in the unit that the setting's file uses."""
    if setting.unit == 'ms':
        return round(seconds * 1000)
    return f'{round(seconds)}s' if setting.unit == 'duration' else round(seconds)


@rule(
    'db-lifetime-exceeds-server', on='pool', severity='error', checklist='july-7',
    source='HikariCP README: maxLifetime several seconds shorter than any limit of the database; MySQL wait_timeout, PostgreSQL idle_session_timeout, PgBouncer client_idle_timeout, RDS Proxy IdleClientTimeout 1800 s',
    effect='no query fails on a connection that the server has closed', side_effect='connections are replaced a little more often',
)  # fmt: skip
def lifetime_exceeds_server(pool: Component, *, margin_s: float = 60) -> Iterator[Problem]:
    """The pool keeps idle connections longer than the server does, and hands out dead ones.

    The server (MySQL's wait_timeout, PostgreSQL's idle_session_timeout), the pooler (PgBouncer's client_idle_timeout, RDS Proxy) or
    the load balancer in between closes a connection after so many seconds without a query. A pool that keeps it beyond that
    must ping it (keepalive), test it before use or let it go (idle timeout) earlier.
    """
    lifetime = pool['max_lifetime_s']
    if lifetime.is_known and lifetime.known_value is None:
        raise NotApplicable('the files say no lifetime')
    if not pool.peers('database') and pool['product'].known_value not in ('mysql', None, '') and not _RDS_PROXY.search(str(pool['host'].known_value)):
        raise NotApplicable('the server does not close idle sessions by default')
    server, word = _closed_after(pool)
    if server.value == math.inf or lifetime.value < server.value or _lets_go(pool, server.value):
        return
    keepalive = pool['keepalive_s']
    certain = lifetime.is_set and bool(server.is_set or server.source) and (keepalive.is_set or pool['library'].known_value != 'hikari')
    kept = 'for ever' if lifetime.value == math.inf else f'{round(lifetime.value)} s'
    yield Problem(
        lifetime, 'connections live {kept}, {word} closes idle ones after {limit} s: the pool hands out dead connections',
        kept=kept, word=word, limit=round(server.value), see=[(word, server)], severity=None if certain else 'warning',
        fix=lifetime.set(written(lifetime, max(server.value - margin_s, server.value / 2))),
    )  # fmt: skip


def _closed_after(pool: Component) -> tuple[Setting, str]:
    """After how many seconds without a query the other side closes a connection, and by what."""
    host = str(pool['host'].known_value or '')
    if not pool.peers('database') and _RDS_PROXY.search(host):
        return Setting('wait_timeout_s', _RDS_PROXY_S, pool['host'].place, 'default'), 'RDS Proxy (IdleClientTimeout)'
    database = pool.peer('database')
    if database['declared'].value:
        name = f'{database.name} (idle_timeout_s)'
    elif database['pooler'].value:
        name = f'{database.name} (client_idle_timeout)'
    else:
        name = f'{database.name} ({_CLOSES.get(str(database["product"].known_value), "its idle timeout")})'
    return database['wait_timeout_s'], name


def _lets_go(pool: Component, wait_s: float) -> bool:
    """Whether idle connections are pinged, tested before use, or closed before the server closes them."""
    keepalive, idle, floor = pool['keepalive_s'].value, pool['idle_timeout_s'], pool['min_idle'].value
    if (keepalive and keepalive < wait_s) or pool['pre_ping'].value or pool['test_on_borrow'].value:
        return True
    keeps = floor != 0 if pool['library'].known_value == 'hikari' else bool(floor)
    return not keeps and bool(idle.value) and idle.value < wait_s


@rule(
    'db-lifetime-unbounded', on='pool', severity='warning', checklist='july-7',
    source='July tuning checklist, change 7; Go database/sql SetConnMaxLifetime, SQLAlchemy pool_recycle; go-sql-driver/mysql README, "Important settings"',
    effect='connections move to the new primary after a failover', side_effect='a reconnect now and then',
)  # fmt: skip
def lifetime_unbounded(pool: Component, *, advised_s: float = 1800) -> Iterator[Problem]:
    """Connections that never retire stay on the old server after a failover or a DNS change.

    A lifetime of 5 to 30 minutes rebalances them behind a proxy or load balancer. With MySQL in Go it is more: the driver
    requires one, shorter than what the server and everything between allows, or a query after a pause ends in "invalid connection".
    """
    lifetime = pool['max_lifetime_s']
    if not lifetime.is_set and (lifetime.known_value != math.inf or not pool['max_open'].is_set or pool['pre_ping'].value or pool['idle_timeout_s'].value != math.inf):
        raise NotApplicable('no lifetime is written, or idle connections are let go or tested')
    if lifetime.value == math.inf:
        fix = lifetime.set(written(lifetime, advised_s)) if lifetime.is_set or not pool['written_in'].known_value else None
        if pool['product'].known_value == 'mysql' and pool['written_in'].known_value == 'Go':
            message = 'no SetConnMaxLifetime: after a pause the driver hands out a connection that MySQL or a proxy has closed ("invalid connection")'
            yield Problem(lifetime, message, fix=fix)
            return
        yield Problem(lifetime, 'connections never retire: {advised} s moves them after a failover', advised=advised_s, severity='advice', fix=fix)


@rule(
    'db-hikari-lifetime-ignored', on='pool', severity='warning', checklist='july-7',
    source='HikariCP HikariConfig.validateNumerics: maxLifetime below 30 s is replaced by 30 min',
    effect='the lifetime that was meant holds',
)  # fmt: skip
def hikari_lifetime_ignored(pool: Component) -> Iterator[Problem]:
    """HikariCP drops a lifetime below 30 s and takes 30 minutes; such a value is usually seconds in a field of milliseconds."""
    lifetime = pool['max_lifetime_s']
    if pool['library'].value != 'hikari' or not lifetime.is_set:
        raise NotApplicable('no HikariCP lifetime is written')
    if 0 < lifetime.value < _HIKARI_FLOOR_S:
        milliseconds = round(lifetime.value * 1000)
        meant = milliseconds * 1000
        fix = lifetime.set(meant) if meant >= _HIKARI_FLOOR_S * 1000 and lifetime.unit == 'ms' else None
        yield Problem(
            lifetime, 'max-lifetime {milliseconds} ms is below the 30000 ms floor: HikariCP ignores it and uses 30 min',
            milliseconds=milliseconds, fix=fix,
        )  # fmt: skip


@rule(
    'db-wait-unbounded', on='pool', severity='warning', checklist='july-7',
    source='HikariCP connectionTimeout 0, Druid maxWait -1, DBCP2 maxWait -1, Prisma pool_timeout 0, node-postgres connectionTimeoutMillis 0 (its default): wait for ever',
    effect='requests fail fast when the pool is exhausted instead of piling up', side_effect='errors under overload that were silent waits',
)  # fmt: skip
def wait_unbounded(pool: Component, *, advised_s: float = 5) -> Iterator[Problem]:
    """A request that waits for a connection without limit holds its thread until the whole service stands."""
    wait = pool['wait_timeout_s']
    if not wait.is_set and wait.known_value != math.inf:
        raise NotApplicable('no waiting time is written')
    if wait.value == math.inf:
        yield Problem(
            wait, 'a request waits for a connection for ever{unset}: {advised} s fails fast', advised=advised_s, unset='' if wait.is_set else f' ({wait.source})',
            severity=None if wait.is_set else 'advice', fix=wait.set(written(wait, advised_s)) if wait.is_set else None,
        )  # fmt: skip


@rule(
    'db-jdbc-timeout-unset', on='pool', severity='advice', checklist='july-7',
    source='MySQL Connector/J connectTimeout and socketTimeout default to 0; PgJDBC socketTimeout defaults to 0',
    effect='a dead database host frees its threads after the timeout',
    side_effect='queries longer than the socket timeout are cut: set it above the slowest one',
)  # fmt: skip
def jdbc_timeout_unset(pool: Component, *, connect_s: float = 3, socket_s: float = 30) -> Iterator[Problem]:
    """A JDBC URL without timeouts lets a dead database host block threads until TCP gives up, if ever.

    Druid from 1.2.12 on sets 10 s by itself: there the finding is of medium confidence.
    """
    url = pool['url']
    text = str(url.known_value or '')
    if not text.startswith('jdbc:'):
        raise NotApplicable('no JDBC URL')
    if _LOOPBACK.match(text):
        raise NotApplicable('the database runs on this machine')
    missing = [
        (name, advised)
        for setting, name, advised in (('connect_timeout_s', _connect_name(text), connect_s), ('socket_timeout_s', 'socketTimeout', socket_s))
        if pool[setting].value in (None, 0)
    ]
    if not missing:
        return
    scale = 1 if text.startswith('jdbc:postgresql') else 1000
    pairs = [f'{name}={round(advised if name == "loginTimeout" else advised * scale)}' for name, advised in missing]
    separator = ';' if text.startswith('jdbc:sqlserver') else '&'
    first = separator if separator == ';' or '?' in text else '?'
    if text.endswith(('?', '&', ';')):
        first = ''
    yield Problem(
        url, 'the JDBC URL sets no {names}: a dead database host blocks threads', names=' and no '.join(name for name, _ in missing),
        confidence='medium' if pool['library'].known_value == 'druid' else None, fix=url.set(text + first + separator.join(pairs)),
    )  # fmt: skip


def _connect_name(url: str) -> str:
    return 'loginTimeout' if url.startswith('jdbc:sqlserver') else 'connectTimeout'


@rule(
    'db-test-on-borrow', on='pool', severity='advice', checklist='july-7',
    source='Druid configuration reference: testOnBorrow costs a round trip a checkout; testWhileIdle is enough',
    effect='one round trip less for every checkout', side_effect='a connection that died within the idle interval is noticed by the query',
)  # fmt: skip
def test_on_borrow(pool: Component) -> Iterator[Problem]:
    """A validation query on every checkout doubles the round trips of short queries."""
    borrow, idle = pool['test_on_borrow'], pool['test_while_idle']
    if borrow.is_set and borrow.value and idle.is_set and idle.value:
        yield Problem(borrow, 'every checkout is tested although idle connections are tested already', fix=borrow.set('false'))
