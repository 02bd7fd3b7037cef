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

    At the limit is an error, over `share` of it a warning. The heap is -Xmx, or MaxRAMPercentage of the limit.
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


@rule(
    'jvm-heap-left-at-a-quarter', on='managed-heap', severity='advice', confidence='medium',
    source='JDK, MaxRAMPercentage: 25 unless set, of the container\'s memory limit (UseContainerSupport)',
    effect='the memory that the container pays for is used', side_effect='what lies outside of the heap (metaspace, threads, direct buffers) must fit into the rest',
)  # fmt: skip
def jvm_heap_left_at_a_quarter(runtime: Component, *, above_gib: float = 2) -> Iterator[Problem]:
    """A JVM that is told no heap size takes a quarter of the container's memory limit: of a large limit three quarters stay unused.

    Set `-XX:MaxRAMPercentage=75` in JAVA_TOOL_OPTIONS, or lower the limit.

    When it is wrong: the image sets JAVA_TOOL_OPTIONS itself, or most of the memory is meant for direct buffers or memory-mapped files.
    """
    heap, limit = runtime['heap'], runtime['memory_limit']
    if heap.is_set or not limit.is_set:
        raise NotApplicable('a heap size is set, or no memory limit')
    if limit.value > above_gib * 2**30:
        yield Problem(
            heap, 'the JVM takes {heap} of the memory limit {limit} for its heap, a quarter, unless it is told otherwise', heap=show_bytes(heap.value),
            limit=show_bytes(limit.value), see=[('the memory limit', limit)], detail='default',
        )  # fmt: skip
