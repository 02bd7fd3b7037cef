"""A baseline: the findings an old repository starts with, so that only new ones are reported.

An entry is a fingerprint with a count, not a place: moving a file keeps it, a second copy of a
mistake is new. Reasons that people write into the file survive an update.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from configaudit.errors import UsageError
from configaudit.findings import Finding, Suppressed

DEFAULT = '.configaudit-baseline.json'
SCHEMA = 1


class Entry(NamedTuple):
    """So many findings of one fingerprint that are known."""

    rule: str
    object: str
    fingerprint: str
    times: int
    reason: str = ''


class Split(NamedTuple):
    """Findings against a baseline."""

    new: tuple[Finding, ...]
    known: tuple[Suppressed, ...]
    stale: int
    """Findings that the baseline counts and the run no longer has."""


def entries_of(findings: Iterable[Finding], old: Iterable[Entry] = ()) -> list[Entry]:
    """The entries for what is found now, with the reasons of the old ones."""
    reasons = {entry.fingerprint: entry.reason for entry in old}
    counts: Counter[str] = Counter()
    first: dict[str, Finding] = {}
    for finding in findings:
        counts[finding.fingerprint] += 1
        first.setdefault(finding.fingerprint, finding)
    return sorted(
        Entry(item.rule.id, item.component.identity, mark, counts[mark], reasons.get(mark, '')) for mark, item in first.items()
    )


def split(findings: Iterable[Finding], entries: Iterable[Entry]) -> Split:
    """What is new, what is known; the first findings of a fingerprint are the known ones."""
    left = {entry.fingerprint: entry.times for entry in entries}
    reasons = {entry.fingerprint: entry.reason for entry in entries}
    new: list[Finding] = []
    known: list[Suppressed] = []
    for finding in findings:
        if left.get(finding.fingerprint, 0) > 0:
            left[finding.fingerprint] -= 1
            known.append(Suppressed(finding, reasons[finding.fingerprint] or 'in the baseline', 'baseline'))
        else:
            new.append(finding)
    return Split(tuple(new), tuple(known), sum(left.values()))


def dump(entries: Iterable[Entry]) -> str:
    """The text of a baseline file: sorted, one key a line, so that a diff shows what changed."""
    rows = [_row(entry) for entry in entries]
    return json.dumps({'schema': SCHEMA, 'findings': rows}, indent=1, ensure_ascii=False) + '\n'


def read(path: str) -> list[Entry]:
    """The entries of a baseline file. UsageError when it cannot be read or is none."""
    try:
        with open(path, encoding='utf-8') as file:
            held = json.load(file)
        if held['schema'] != SCHEMA:
            raise UsageError(f'{path}: written by another version of configaudit: schema {held["schema"]}, not {SCHEMA}')
        return [_entry(row) for row in held['findings']]
    except OSError as error:
        raise UsageError(f'{path}: {error.strerror or error}') from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f'{path}: not a baseline file: `configaudit baseline create` writes one') from None


def _row(entry: Entry) -> dict[str, object]:
    row = {'rule': entry.rule, 'object': entry.object, 'fingerprint': entry.fingerprint, 'count': entry.times}
    return {**row, 'reason': entry.reason} if entry.reason else row


def _entry(row: dict[str, object]) -> Entry:
    count = row['count']
    if not isinstance(count, int):
        raise ValueError(row)
    return Entry(str(row['rule']), str(row['object']), str(row['fingerprint']), count, str(row.get('reason', '')))
