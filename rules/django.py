"""Rules for Django's database settings: persistent connections and the pool that excludes them."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

DOCS = 'Django docs, Databases'


@rule(
    'django-pool-with-persistent-connections', on='pool', severity='error', checklist='july-7',
    source=f'{DOCS}, Connection pool; Django 5.2, backends/postgresql/base.py: "Pooling doesn\'t support persistent connections."',
    effect='the first query does not fail', side_effect='none: the pool keeps the connections',
)  # fmt: skip
def pool_with_persistent_connections(pool: Component) -> Iterator[Problem]:
    """Django refuses a pool together with CONN_MAX_AGE: ImproperlyConfigured at the first query.

    The pool keeps connections itself: leave CONN_MAX_AGE at 0.
    """
    pooled, age = pool['pooled'], pool['persistent_s']
    if not pooled.is_set or not pooled.value:
        raise NotApplicable('it has no pool of Django')
    if age.value != 0:
        shown = 'None' if age.value == math.inf else f'{age.value:g}'
        yield Problem(age, 'CONN_MAX_AGE {shown} together with the option `pool`: Django raises ImproperlyConfigured at the first query', shown=shown, see=[('the pool', pooled)])


@rule(
    'django-persistent-connections-unchecked', on='pool', severity='advice', checklist='july-7',
    source=f'{DOCS}, Persistent connections: CONN_HEALTH_CHECKS (4.1 and newer) tests a kept connection before its first use in a request',
    effect='no request fails on a connection that a failover or a firewall has closed', side_effect='a round trip for every request that uses the database',
)  # fmt: skip
def persistent_connections_unchecked(pool: Component) -> Iterator[Problem]:
    """A connection that is kept between requests may be dead when the next one comes: after a failover, a restart of a pooler, or an idle
    timeout on the way, one request of every thread fails.
    """
    age = pool['persistent_s']
    if pool['library'].value != 'django' or not age.is_set or age.value == 0:
        raise NotApplicable('it keeps no connections between requests')
    if not pool['pre_ping'].value:
        kept = 'for ever' if age.value == math.inf else f'for {age.value:g} s'
        yield Problem(age, 'connections are kept {kept} and not tested before they are used again: CONN_HEALTH_CHECKS is not on', kept=kept)


@rule(
    'django-persistent-connections-under-asgi', on='pool', severity='warning', confidence='medium', checklist='july-7',
    source=f'{DOCS}, Caveats: persistent connections should be disabled under ASGI, where the pool of the database backend takes their place',
    effect='connections are closed when their request ends', side_effect='a connection is opened for every request that uses the database, where no pool does it',
)  # fmt: skip
def persistent_connections_under_asgi(pool: Component) -> Iterator[Problem]:
    """Under ASGI every request may run in a thread of its own: what it keeps is not found again by the next one, stays open until
    CONN_MAX_AGE is over, and the connections add up to "too many clients".
    """
    age = pool['persistent_s']
    if pool['library'].value != 'django' or not age.is_set or age.value == 0:
        raise NotApplicable('it keeps no connections between requests')
    servers = pool.peers('asgi-server')
    if not servers:
        raise NotApplicable('nothing shows that it runs under ASGI')
    yield Problem(age, 'CONN_MAX_AGE under an ASGI server: kept connections are not used again, and stay open', see=[('the server', servers[0].place)])
