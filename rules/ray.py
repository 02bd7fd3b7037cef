"""Rules for deployments of Ray Serve."""

from collections.abc import Iterator

from configaudit.knowledge.versions import release
from configaudit.model import Component, NotApplicable, Problem, rule

SCHEMA = 'Ray Serve schema.py and _private/constants.py, 2.9 to 2.60'
FIVE = release('2.32.0')
GONE = release('2.33.0')


@rule('ray-concurrent-queries-ignored', on='ray-deployment', severity='warning', source=SCHEMA)
def concurrent_queries_ignored(deployment: Component) -> Iterator[Problem]:
    """Ray drops `max_concurrent_queries` without a word since 2.33, and a replica takes 5 requests at once instead of what the file says.

    Its name is `max_ongoing_requests` since 2.10.
    """
    old, new = deployment['max_concurrent_queries'], deployment['max_ongoing_requests']
    if not old.is_set or new.is_set:
        raise NotApplicable('it is not set, or the new name stands beside it')
    if deployment.version is None:
        message = 'max_concurrent_queries is max_ongoing_requests since Ray 2.10, and is ignored since 2.33: write max_ongoing_requests: {value}'
        yield Problem(old, message, severity='advice')
    elif deployment.version >= GONE:
        message = 'Ray {release} ({found}) ignores max_concurrent_queries: a replica takes 5 requests at once, write max_ongoing_requests: {value}'
        yield Problem(old, message, release=str(deployment.version), found=deployment.version_from)


@rule(
    'ray-ongoing-requests-default', on='ray-deployment', severity='advice', confidence='medium', source=SCHEMA,
    side_effect='an engine that batches without limit may run out of memory',
)  # fmt: skip
def ongoing_requests_default(deployment: Component, *, advised: int = 64) -> Iterator[Problem]:
    """A replica on a GPU works on 5 requests at once, and the rest waits in the proxy: an engine that could batch dozens stays idle.

    When it is wrong: the decorator in the code says more, or the deployment works on one request at a time.
    """
    ongoing = deployment['max_ongoing_requests']
    if not deployment['gpus'].value or ongoing.is_set or deployment['max_concurrent_queries'].is_set or deployment.partial:
        raise NotApplicable('it is set, or needs no GPU')
    if deployment.version is None or deployment.version >= FIVE:
        yield Problem(ongoing, 'max_ongoing_requests is not set: since Ray 2.32 a replica takes 5 requests at once unless its decorator says more', fix=ongoing.set(advised))


@rule('ray-batch-above-ongoing-requests', on='ray-deployment', severity='warning', source='Ray Serve batching.py: max_batch_size > max_ongoing_requests')
def batch_above_ongoing_requests(deployment: Component) -> Iterator[Problem]:
    """A batch can never be full: the replica is given fewer requests at once than the batch holds, and waits out its window every time."""
    batch, ongoing = deployment['max_batch_size'], deployment['max_ongoing_requests']
    if batch.is_set and ongoing.is_set and batch.value > ongoing.value:
        yield Problem(ongoing, 'max_ongoing_requests {value} is less than a batch of {batch}: no batch is ever full', batch=batch.value, see=[('the batch', batch)], fix=ongoing.set(2 * batch.value))
