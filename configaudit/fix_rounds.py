"""Fixing in rounds: write what does not touch each other, judge again, until nothing is left to write.

Nothing reaches a file before the last round: the contents are judged in memory, and an edit after which
a file can no longer be read is taken back.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from configaudit.findings import Finding
from configaudit.fix import Refusal, edits_of, plan, replace_file, splice
from configaudit.result import Result

ROUNDS = 20
"""Fixes at one place come one a round; two rules that undo each other end here."""
Judge = Callable[[Mapping[str, bytes]], Result]
"""Audits again, with contents (path as shown -> bytes) that stand for those of the files."""


class Fixed(NamedTuple):
    """What fixing comes to."""

    old: dict[str, bytes]
    """Path -> content as it stands in the file, of every file that changes."""
    new: dict[str, bytes]
    applied: int
    refused: tuple[tuple[Finding, str], ...]
    """What remains of the fixes of the last round, and why."""


def fix_all(result: Result, judge: Judge, unsafe: bool = False) -> Fixed:
    """The files as they are when every fix that can be written is. Raises OSError when one cannot be read."""
    old: dict[str, bytes] = {}
    new: dict[str, bytes] = {}
    broken: set[str] = set()
    applied = 0
    refused: list[tuple[Finding, str]] = []
    for _ in range(ROUNDS):
        sound, refused = _apart(result.findings, broken)
        planned, done, left = plan(sound, unsafe)
        refused += left
        if not planned:
            break
        for path in planned.keys() - old.keys():
            old[path] = _content(path)
        tried = {**new, **{path: splice(new.get(path, old[path]), edits) for path, edits in planned.items()}}
        after = judge(tried)
        lost = _unread(after) - _unread(result)
        if lost.keys() & planned.keys():
            broken |= lost.keys() & planned.keys()
            continue
        new, result, applied = tried, after, applied + len(done)
    return Fixed({path: old[path] for path in new}, new, applied, tuple(refused))


def write(fixed: Fixed) -> list[tuple[str, OSError]]:
    """Write the files, each whole or not at all, and say which could not be written."""
    failed = []
    for path, data in sorted(fixed.new.items()):
        try:
            replace_file(path, data)
        except OSError as error:
            failed.append((path, error))
    return failed


def _apart(findings: Iterable[Finding], broken: set[str]) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """Findings whose fix may be tried, and those whose fix would change a file that then cannot be read."""
    sound: list[Finding] = []
    refused: list[tuple[Finding, str]] = []
    for finding in findings:
        edits = edits_of(finding) if broken and finding.fix else ()
        if not isinstance(edits, Refusal) and any(edit.path in broken for edit in edits):
            refused.append((finding, 'the file could not be read any more after it'))
        else:
            sound.append(finding)
    return sound, refused


def _unread(result: Result) -> Counter[str]:
    return Counter(error.path for error in result.errors)


def _content(path: str) -> bytes:
    with open(path, 'rb') as file:
        return file.read()
