"""Reading in worker processes: the same documents, the same order, the same result, on more cores.

Worth it only for thousands of files that the gate lets through; `--jobs` asks for it.
"""

import copyreg
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Item = TypeVar('Item')
Made = TypeVar('Made')


def in_workers(work: Callable[[Sequence[Item]], Made], items: Sequence[Item], sizes: Sequence[int], jobs: int) -> list[Made]:
    """`work` on consecutive parts of `items` of about equal size, in their order. A dead worker is an error, not a hang."""
    _teach_marks()
    parts = shares(items, sizes, jobs)
    context = multiprocessing.get_context('fork' if sys.platform == 'linux' else 'spawn')
    with ProcessPoolExecutor(len(parts), mp_context=context) as pool:
        return list(pool.map(work, parts))


def shares(items: Sequence[Item], sizes: Sequence[int], jobs: int) -> list[Sequence[Item]]:
    """Cut a list into consecutive parts of about equal total size; each file costs a little whatever its size."""
    weights = [size + 4096 for size in sizes]
    target = sum(weights) / max(jobs, 1)
    parts: list[Sequence[Item]] = []
    start, weight = 0, 0.0
    for at, own in enumerate(weights, 1):
        weight += own
        if weight >= target and len(parts) < jobs - 1:
            parts.append(items[start:at])
            start, weight = at, 0.0
    parts.append(items[start:])
    return [part for part in parts if part]


def _teach_marks() -> None:
    """libyaml's marks, of which trees are made, do not pickle by themselves."""
    try:
        from yaml._yaml import Mark
    except ImportError:
        from yaml.error import Mark

    def reduce(mark: Any) -> tuple[Any, tuple[object, ...]]:
        return Mark, (mark.name, mark.index, mark.line, mark.column, None, None)

    copyreg.pickle(Mark, reduce)
