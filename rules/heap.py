"""Rules for heaps that a runtime manages itself: -Xmx of the JVM, the old space of Node.js."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule
from configaudit.units import show_bytes


@rule(
    'heap-above-memory-limit', on='managed-heap', severity='error',
    source='JVM -Xmx and Node.js --max-old-space-size bound the heap only; stacks, code and buffers come on top',
    effect='the runtime reports its own out-of-memory instead of being killed', side_effect='more garbage collection',
)  # fmt: skip
def heap_above_memory_limit(runtime: Component, *, share: float = 0.8) -> Iterator[Problem]:
    """A heap as large as the container's memory limit ends in an OOMKill: the runtime needs memory beside its heap.

    Over the limit is an error, over `share` of it a warning.
    """
    heap, limit = runtime['heap'], runtime['memory_limit']
    if not limit.is_set:
        raise NotApplicable('no memory limit')
    if heap.value <= share * limit.value:
        return
    yield Problem(
        heap, '{runtime} heap of {heap} is {percent} % of the memory limit {limit}; over {share} % leaves too little for the rest',
        runtime=runtime['runtime'].value, heap=show_bytes(heap.value), limit=show_bytes(limit.value), share=round(share * 100),
        percent=round(100 * heap.value / limit.value), see=[('the memory limit', limit)],
        severity=None if heap.value >= limit.value else 'warning', detail='heap',
    )  # fmt: skip
