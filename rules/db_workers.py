"""Rules for pools against the threads and requests of the server process that they serve."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule


@rule(
    'db-pool-below-threads', on='pool', severity='warning', confidence='medium', checklist='july-7',
    source='gunicorn settings, threads; SQLAlchemy QueuePool: 5 + 10 overflow, a thread that waits longer than pool_timeout gets an error',
    effect='requests do not fail with "QueuePool limit reached" while the database is idle',
    side_effect='more connections: processes x (size + overflow) must fit into max_connections',
)  # fmt: skip
def pool_below_threads(pool: Component) -> Iterator[Problem]:
    """Each worker process serves more requests at once than its pool has connections: under load they wait, and fail when the wait is over."""
    threads, size, overflow = pool['threads'], pool['max_open'], pool['overflow']
    if not threads.is_set or threads.value <= 1:
        raise NotApplicable('the server has no threads that are known')
    total = size.value + overflow.value
    if total != math.inf and threads.value > total:
        yield Problem(
            size, '{threads} threads in each worker process share {total} connections: the others wait and then fail', threads=threads.value,
            total=total, see=[('the threads', threads)],
        )  # fmt: skip


@rule(
    'db-pool-per-request', on='pool', severity='warning', checklist='july-7',
    source='node-postgres docs, Pooling: one pool for the life of the program; sqlx Pool: clone it, do not make it again',
    effect='requests share connections, and the sum over all pods holds', side_effect='none',
)  # fmt: skip
def pool_per_request(pool: Component) -> Iterator[Problem]:
    """A pool that is made inside a request handler opens connections of its own for each request, and keeps them after it.

    Its limit then limits nothing: under load the server refuses everybody. Make it once, outside of the handler.
    """
    anew = pool['per_request']
    if anew.value:
        yield Problem(anew, 'every request makes a pool of its own: its limit limits nothing, connections add up until the server refuses them')
