"""Rules for the runtime of Node.js programs."""

from collections.abc import Iterator

from configaudit.model import Component, Problem, rule


@rule(
    'node-threadpool-set-too-late', on='node-runtime', severity='warning', confidence='medium',
    source='Node.js CLI docs, UV_THREADPOOL_SIZE: not guaranteed from process.env; measured with Node.js 20: 32 set in an ES module leaves 4 threads, in the environment it gives 32',
    effect='file access, DNS look-ups and cryptography run on as many threads as was meant', side_effect='more threads than CPUs gain nothing for work that keeps a CPU busy',
)  # fmt: skip
def threadpool_set_too_late(program: Component) -> Iterator[Problem]:
    """The module that sets UV_THREADPOOL_SIZE was itself read by the thread pool: its size stays at 4.

    Set it in the environment: of the container, in the Dockerfile, or before the command.
    """
    size = program['threadpool']
    if size.is_set:
        yield Problem(size, 'UV_THREADPOOL_SIZE is set by the program itself, after its modules were loaded through the pool: 4 threads remain')
