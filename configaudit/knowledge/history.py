"""Whether something exists at a version, judged from the releases that were examined.

Every final release is examined, so that a version between two of them is a pre-release or a build of its own. It is
read as its nearest neighbour of the same minor release, preferably the lower one, else as the lower one. `exact` says
whether both neighbours agree.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from configaudit.knowledge.versions import Version


class Status(NamedTuple):
    """`state`: known, removed, unknown, too-new, newer-than-data, ambiguous, or not-recorded (no data of that kind).

    `between`: for removed (last version with it, first without), for too-new (last without, first with).
    """

    state: str
    exact: bool
    between: tuple[str, str] | None = None
    replacement: str = ''
    reason: str = ''


class Range(NamedTuple):
    """An entry of the data with its ends as positions in the list of examined versions."""

    first: int
    last: int
    spec: Mapping[str, Any]

    def has(self, position: int) -> bool:
        return self.first <= position <= self.last


class Position(NamedTuple):
    """Where a version lies among the examined ones: which one it is read as, and its neighbours (-1: before all)."""

    read_as: int
    lower: int
    upper: int
    newer: bool = False

    @property
    def examined(self) -> bool:
        return self.lower == self.upper and not self.newer


def locate(versions: Sequence[Version], version: Version) -> Position:
    """The position of a version; see the module docstring."""
    at = bisect_left(versions, version)
    if at == len(versions):
        return Position(at - 1, at - 1, at - 1, newer=True)
    if versions[at] == version:
        return Position(at, at, at)
    same_minor = [i for i in (at - 1, at) if i >= 0 and versions[i].minor == version.minor]
    return Position(same_minor[0] if same_minor else max(at - 1, 0), at - 1, at)


def judge(spans: Sequence[Range], place: Position, names: Sequence[str], replaced: Mapping[str, str]) -> Status:
    """The state of an option with these ranges.

    `names`: the examined versions; `replaced`: {'use'?} of the option.
    """
    use = replaced.get('use', '')
    at_lower, at_upper, now = (any(span.has(at) for span in spans) for at in (place.lower, place.upper, place.read_as))
    older = place.lower < 0
    exact = at_lower == at_upper and not place.newer and not older
    if now:
        return Status('known', exact, replacement=use)
    before = [span.last for span in spans if span.last < place.read_as]
    if before:
        last = max(before)
        return Status('removed', exact, (names[last], names[last + 1]), use)
    if place.newer:
        return Status('newer-than-data', False, replacement=use, reason=f'newer than the data ({names[-1]})')
    later = [span.first for span in spans if span.first > place.read_as]
    if later:
        return Status('too-new', exact, (names[min(later) - 1], names[min(later)]), use)
    return Status('unknown', not older, replacement=use, reason=f'older than the data ({names[0]})' if older else 'no version has it')
