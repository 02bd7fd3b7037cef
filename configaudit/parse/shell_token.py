"""Values of a shell script and the places that define them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from configaudit.parse.shell_tree import Literal
from configaudit.patterns import regex
from configaudit.units import HOLE

Span = tuple[int, int]

_FIELD = regex(r'[ \t\r\n]+|[^ \t\r\n]+')


class Part(NamedTuple):
    """A run of a value with one place; exact when the span spells this run and nothing else.

    `variable` names the passed-in variable whose text the span counts in; '' means the script.
    """

    value: str
    start: int
    end: int
    reason: str = ''
    variable: str = ''
    exact: bool = True


class Token(NamedTuple):
    """An argument after quote removal and expansion; what cannot be known in it is HOLE.

    The span tells where the value is defined: the word itself (with quotes), the assigned value of the variable, or the
    array element. `use` is the span of the word in the command. `pure` says that replacing the span replaces the value.
    """

    value: str
    start: int
    end: int
    use: Span
    reason: str
    pure: bool
    parts: tuple[Part, ...] = ()
    variable: str = ''

    def cut(self, begin: int, end: int | None = None) -> Token:
        """Return a slice of the value with its own place: the `256` of `--max-num-seqs=$SEQS`."""
        stop = len(self.value) if end is None else end
        return gather(_slice(self.parts, begin, stop), self.use)


class Place(NamedTuple):
    """Where a run of parts lies as a whole."""

    start: int
    end: int
    exact: bool
    variable: str


def unknown(place: Place, use: Span, reason: str) -> Token:
    """Return a token that may hold anything."""
    part = Part(HOLE, place.start, place.end, reason, place.variable, False)
    return Token(HOLE, place.start, place.end, use, reason, False, (part,), place.variable)


def gather(parts: Sequence[Part], use: Span) -> Token:
    """Make one token of adjacent parts."""
    place = _span(parts, use)
    reason = _reason(parts)
    value = ''.join(part.value for part in parts)
    return Token(value, place.start, place.end, use, reason, place.exact and not reason, tuple(parts), place.variable)


def join(tokens: Sequence[Token], use: Span, separator: str = '') -> Token:
    """Make one token of several that stand in one word; its place is that word."""
    gap = (Part(separator, use[0], use[1], exact=False),) if separator else ()
    parts: list[Part] = []
    for number, token in enumerate(tokens):
        parts += gap if number else ()
        parts += token.parts
    value = separator.join(token.value for token in tokens)
    return Token(value, *use, use, _reason(parts), False, tuple(parts))


def split(token: Token) -> Iterator[Token | None]:
    """Yield the blank-separated fields of a value; None stands for each run of blanks."""
    field: list[Part] = []
    for part in token.parts:
        for match in _FIELD.finditer(part.value):
            if match.group()[0] in ' \t\r\n':
                if field:
                    yield gather(field, token.use)
                    field = []
                yield None
            else:
                field.append(_piece(part, match.start(), match.end()))
    if field:
        yield gather(field, token.use)


class Source:
    """Script text and where it came from: itself, or the parts of a string that is run as a script."""

    def __init__(self, text: str, origin: Token | None = None) -> None:
        self.text = text
        self._use = origin.use if origin else (0, 0)
        self._parts = origin.parts if origin else ()
        self._ends = list(accumulate(len(part.value) for part in self._parts))

    def place(self, start: int, end: int) -> Place:
        """Return the outer place of a span of the script."""
        return _span(self._cover(start, end), self._use) if self._parts else Place(start, end, True, '')

    def parts(self, literal: Literal) -> tuple[Part, ...]:
        """Return the value of a literal with outer places."""
        if not self._parts:
            return (Part(literal.value, literal.start, literal.end),)
        covered = self._cover(literal.start, literal.end)
        if literal.value == self.text[literal.start : literal.end]:
            return covered
        place = _span(covered, self._use)
        return (Part(literal.value, place.start, place.end, _reason(covered), place.variable, place.exact),)

    def literal(self, literals: Sequence[Literal], start: int, end: int) -> Token:
        """Make the token of a word that consists of literals alone; the span may include its quotes."""
        place = self.place(start, end)
        value = ''.join(literal.value for literal in literals)
        parts = tuple(part for literal in literals for part in self.parts(literal))
        reason = _reason(parts)
        span = (place.start, place.end)
        return Token(value, *span, span, reason, place.exact and not reason, parts, place.variable)

    def _cover(self, start: int, end: int) -> tuple[Part, ...]:
        first = min(bisect_right(self._ends, start), len(self._parts) - 1)
        last = bisect_right(self._ends, max(end - 1, start))
        offset = self._ends[first] - len(self._parts[first].value)
        return _slice(self._parts[first : last + 1], start - offset, end - offset)


def _piece(part: Part, begin: int, end: int) -> Part:
    if begin == 0 and end == len(part.value):
        return part
    value = part.value[begin:end]
    if part.end - part.start == len(part.value):
        return part._replace(value=value, start=part.start + begin, end=part.start + end)
    return part._replace(value=value, exact=False)


def _slice(parts: Sequence[Part], begin: int, end: int) -> tuple[Part, ...]:
    """Cut a run of parts; an empty slice keeps one empty part that marks the place."""
    found: list[Part] = []
    offset = 0
    for part in parts:
        low, high = max(begin - offset, 0), min(end - offset, len(part.value))
        if low < high or (begin == end and 0 <= begin - offset <= len(part.value) and not found):
            found.append(_piece(part, low, max(low, high)))
        offset += len(part.value)
    return tuple(found)


def _span(parts: Sequence[Part], use: Span) -> Place:
    if not parts:
        return Place(*use, False, '')
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return Place(first.start, first.end, first.exact, first.variable)
    pairs = list(pairwise(parts))
    if not all(a.variable == b.variable and a.end <= b.start for a, b in pairs):
        return Place(*use, False, '')
    exact = all(part.exact for part in parts) and all(a.end == b.start for a, b in pairs)
    return Place(first.start, last.end, exact, first.variable)


def _reason(parts: Sequence[Part]) -> str:
    return next((part.reason for part in parts if part.reason), '')
