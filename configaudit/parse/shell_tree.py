"""The syntax tree of a POSIX or bash script; offsets are code points of the script, ends are exclusive."""

from __future__ import annotations

from typing import NamedTuple


class Literal(NamedTuple):
    """Text that stands for itself; quoted text is never split into fields."""

    value: str
    start: int
    end: int
    quoted: bool


class Parameter(NamedTuple):
    """`$X`, `${X}`, `${X:-word}`, `${A[@]}`, or the kubelet's `$(X)`.

    `operator` is '' for the plain value, one of `:- - := = :? ? :+ +`, or 'other' for any edit of the value.
    """

    name: str
    subscript: str
    operator: str
    operand: Word | None
    start: int
    end: int
    quoted: bool
    kubelet: bool


class Substitution(NamedTuple):
    """`$(...)`, backquotes, `<(...)` or `$((...))`; the last has no body."""

    body: tuple[Node, ...]
    start: int
    end: int


Segment = Literal | Parameter | Substitution


class Word(NamedTuple):
    """One word; `NAME=value` carries the name and its first segment is then exactly `NAME=` or `NAME+=`."""

    segments: tuple[Segment, ...]
    start: int
    end: int
    name: str = ''
    append: bool = False
    indexed: bool = False
    elements: tuple[Word, ...] | None = None

    def assigned(self) -> Word:
        """Return the right-hand side of `NAME=value`."""
        return Word(self.segments[1:], self.segments[0].end, self.end)


class Simple(NamedTuple):
    """A simple command: assignments and words in order, and the targets of its redirections."""

    words: tuple[Word, ...]
    redirections: tuple[Word, ...]
    start: int
    end: int


class Pipeline(NamedTuple):
    """Two or more stages joined by `|`."""

    stages: tuple[Node, ...]


class Chain(NamedTuple):
    """Pipelines joined by `&&` and `||`; the operator before the first is ''."""

    items: tuple[tuple[str, Node], ...]
    background: bool


class Group(NamedTuple):
    """`{ ...; }` or, as a subshell, `( ... )`."""

    body: tuple[Node, ...]
    subshell: bool


class Choice(NamedTuple):
    """`if` or `case`: pairs of condition and body; complete when one body always runs."""

    subject: Word | None
    branches: tuple[tuple[tuple[Node, ...], tuple[Node, ...]], ...]
    complete: bool


class Loop(NamedTuple):
    """`for` and `select` (with a name), `while` and `until` (without)."""

    name: str
    words: tuple[Word, ...]
    body: tuple[Node, ...]


class Function(NamedTuple):
    """A function definition."""

    name: str
    body: tuple[Node, ...]


Node = Simple | Pipeline | Chain | Group | Choice | Loop | Function
