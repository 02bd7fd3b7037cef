"""Fixing in rounds: write what does not touch each other, judge again, until nothing is left to write.

Nothing reaches a file before the last round: the contents are judged in memory, and an edit after which
a file can no longer be read is taken back.
"""

import errno
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from configaudit.findings import Finding
from configaudit.fix import Refusal, edits_of, is_current, plan, replace_file, splice
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
    barred: dict[str, str] = {}
    applied = 0
    refused: list[tuple[Finding, str]] = []
    for _ in range(ROUNDS):
        sound, refused = _apart(result.findings, barred)
        planned, done, left = plan(sound, unsafe)
        refused += left
        if not planned:
            break
        for path in planned.keys() - old.keys():
            old[path] = _content(path)
            if not all(is_current(finding, path, old[path]) for finding in done):
                barred[path] = 'the file has changed since it was read'
        if barred.keys() & planned.keys():
            continue
        tried = {**new, **{path: splice(new.get(path, old[path]), edits) for path, edits in planned.items()}}
        after = judge(tried)
        lost = _unread(after) - _unread(result)
        if lost.keys() & planned.keys():
            barred.update(dict.fromkeys(lost.keys() & planned.keys(), 'the file could not be read any more after it'))
            continue
        new, result, applied = tried, after, applied + len(done)
    return Fixed({path: old[path] for path in new}, new, applied, tuple(refused))


def write(fixed: Fixed) -> list[tuple[str, OSError]]:
    """Write the files, each whole or not at all, and say which could not be written."""
    failed = []
    for path, data in sorted(fixed.new.items()):
        try:
            if _content(path) != fixed.old[path]:
                raise OSError(errno.ESTALE, 'it has changed since it was read', path)
            replace_file(path, data)
        except OSError as error:
            failed.append((path, error))
    return failed


def _apart(findings: Iterable[Finding], barred: Mapping[str, str]) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """Findings whose fix may be tried, and those whose fix would change a file that must stay as it is, and why."""
    sound: list[Finding] = []
    refused: list[tuple[Finding, str]] = []
    for finding in findings:
        edits = edits_of(finding) if barred and finding.fix else ()
        reason = '' if isinstance(edits, Refusal) else next((barred[edit.path] for edit in edits if edit.path in barred), '')
        if reason:
            refused.append((finding, reason))
        else:
            sound.append(finding)
    return sound, refused


def _unread(result: Result) -> Counter[str]:
    return Counter(error.path for error in result.errors)


def _content(path: str) -> bytes:
    with open(path, 'rb') as file:
        return file.read()
