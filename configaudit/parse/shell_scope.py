"""The variables of a shell script while it is read: branches, arrays, and what each command would see."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter

from configaudit.parse.shell_token import Part, Place, Token, unknown
from configaudit.units import HOLE

Value = Token | list[Token]
Changes = dict[str, Value | None]
_History = dict[str, list[tuple[int, Token | None]]]


class Environment(Mapping[str, Token]):
    """The variables at one moment; all moments share one history, so that a snapshot costs nothing."""

    def __init__(self, history: _History, moment: int, prefixes: Mapping[str, Token]) -> None:
        self._history = history
        self._moment = moment
        self._prefixes = prefixes

    def _find(self, name: str) -> Token | None:
        if name in self._prefixes:
            return self._prefixes[name]
        entries = self._history.get(name, [])
        index = bisect_right(entries, self._moment, key=itemgetter(0))
        return entries[index - 1][1] if index else None

    def __getitem__(self, name: str) -> Token:
        token = self._find(name)
        if token is None:
            raise KeyError(name)
        return token

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*self._history, *self._prefixes])
        return (name for name in names if self._find(name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Scope:
    """Variables by name; a branch records what it changes so that its changes can be undone and compared."""

    def __init__(self, variables: Mapping[str, Token | str]) -> None:
        self.passed = {name: _passed(name, value) for name, value in variables.items()}
        self._values: dict[str, Value] = dict(self.passed)
        self._history: _History = {name: [(0, token)] for name, token in self.passed.items()}
        self._moment = 0
        self._branches: list[Changes] = []

    def get(self, name: str) -> Value | None:
        """Return the value of a variable, or None when nobody sets it."""
        return self._values.get(name)

    def set(self, name: str, value: Value | None) -> None:
        """Assign a variable, or unset it with None."""
        if self._branches:
            self._branches[-1].setdefault(name, self._values.get(name))
        self._put(name, value)

    def environment(self, prefixes: Mapping[str, Token]) -> Environment:
        """Return the variables as they are now."""
        return Environment(self._history, self._moment, prefixes)

    def open(self) -> None:
        """Begin a branch."""
        self._branches.append({})

    def undo(self) -> Changes:
        """End the branch, restore what it changed and return its final values."""
        former = self._branches.pop()
        changes = {name: self._values.get(name) for name in former}
        for name, value in former.items():
            self._put(name, value)
        return changes

    def keep(self, local: AbstractSet[str]) -> frozenset[str]:
        """End the branch, keep its changes but for the local names, and return the names that stay changed."""
        former = self._branches.pop()
        for name, value in former.items():
            if name in local:
                self._put(name, value)
            elif self._branches:
                self._branches[-1].setdefault(name, value)
        return frozenset(former) - local

    def merge(self, branches: Sequence[Changes], complete: bool) -> None:
        """Assign what is known after branches of which one ran, or perhaps none when not complete."""
        for name in dict.fromkeys(name for changes in branches for name in changes):
            outcomes = [changes[name] for changes in branches if name in changes]
            former = self._values.get(name)
            if former is not None and (not complete or len(outcomes) < len(branches)):
                outcomes.insert(0, former)
            merged = _merged(name, former, outcomes)
            if merged is not former:
                self.set(name, merged)

    def forget(self, name: str, reason: str) -> None:
        """Make a variable unknown."""
        former = self._values.get(name)
        self.set(name, _hole(former, reason))

    def _put(self, name: str, value: Value | None) -> None:
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value
        self._moment += 1
        self._history.setdefault(name, []).append((self._moment, value if isinstance(value, Token) else None))


def _passed(name: str, value: Token | str) -> Token:
    """A plain string has no place of its own: -1 until a word uses it."""
    if isinstance(value, str):
        return Token(value, -1, -1, (-1, -1), '', False, (Part(value, -1, -1, exact=False),))
    parts = value.parts or (Part(value.value, value.start, value.end, value.reason, '', value.pure),)
    return value._replace(parts=tuple(part._replace(variable=name) for part in parts), variable=name)


def _hole(value: Value | None, reason: str) -> Token:
    tokens = value if isinstance(value, list) else [value] if value else []
    place = Place(tokens[-1].start, tokens[-1].end, False, tokens[-1].variable) if tokens else Place(-1, -1, False, '')
    return unknown(place, (place.start, place.end), reason)


def _merged(name: str, former: Value | None, outcomes: Sequence[Value | None]) -> Value | None:
    first = outcomes[0]
    if all(_same(first, other) for other in outcomes[1:]):
        return first
    hole = _hole(outcomes[-1], f'variable ${name} depends on a branch')
    if isinstance(former, list) and all(_extends(former, other) for other in outcomes):
        return former if former and former[-1].value == HOLE else [*former, hole]
    if isinstance(former, Token) and all(_extends(former, other) for other in outcomes):
        if former.value.endswith(HOLE):
            return former
        parts = (*former.parts, Part(' ', hole.start, hole.start, '', hole.variable, False), *hole.parts)
        return former._replace(value=f'{former.value} {HOLE}', reason=hole.reason, pure=False, parts=parts)
    return hole


def _same(one: Value | None, other: Value | None) -> bool:
    if one is other:
        return True
    if isinstance(one, Token) and isinstance(other, Token):
        return one.value == other.value and not one.reason and not other.reason
    if isinstance(one, Token) or isinstance(other, Token) or one is None or other is None:
        return False
    return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))


def _extends(former: Value, other: Value | None) -> bool:
    """Say whether a branch only appended further words."""
    if isinstance(former, Token):
        return isinstance(other, Token) and _appended(former.value, other.value)
    if isinstance(other, Token) or other is None or len(other) < len(former):
        return False
    return all(a is b or _same(a, b) for a, b in zip(former, other, strict=False))


def _appended(former: str, other: str) -> bool:
    return other.startswith(former) and other[len(former) : len(former) + 1] in ('', ' ', '\t', '\r', '\n')
