"""Compose's `${VAR:-default}` with the place of every part, and command strings split as Compose splits them.

Sources: Compose file reference, "Interpolation"; compose-go, template and mattn/go-shellwords.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from configaudit.extract.words import Word
from configaudit.patterns import regex
from configaudit.places import Document, Place, Segment
from configaudit.units import HOLE

Variables = Mapping[str, Word]
Run = tuple[int, int]

_VARIABLE = regex(r'\$(?:\$|\{([A-Za-z_]\w*)(:?[-?+])?|([A-Za-z_]\w*))')
_MAX_DEPTH = 20


class Piece(NamedTuple):
    """A run of the final text; `start`..`end` is where it stands in the text as written."""

    value: str
    start: int
    end: int
    defined: Word | None = None
    """The word that defines it, when that stands elsewhere (a .env file)."""
    reason: str = ''

    def cut(self, begin: int, stop: int) -> 'Piece':
        """A part of it."""
        if begin <= 0 and stop >= len(self.value):
            return self
        value = self.value[max(begin, 0) : stop]
        exact = self.end - self.start == len(self.value)
        start, end = (
            (self.start + max(begin, 0), self.start + max(begin, 0) + len(value)) if exact else (self.start, self.end)
        )
        return Piece(value, start, end, None, self.reason)


def interpolate(word: Word, variables: Variables) -> Word:
    """A word with its variables replaced; what no file sets is unknown, not empty."""
    if '$' not in word.value:
        return word
    return _word(word, list(_pieces(word.value, variables, 0, 0)))


def split(word: Word, variables: Variables) -> tuple[Word, ...]:
    """The words of a command string, variables replaced first."""
    pieces = list(_pieces(word.value, variables, 0, 0))
    text = ''.join(piece.value for piece in pieces)
    return tuple(_word(word, list(_cut(pieces, runs))) for runs in _shell_words(text))


def _pieces(text: str, variables: Variables, offset: int, depth: int) -> Iterator[Piece]:
    at = 0
    while (match := _VARIABLE.search(text, at)) is not None and depth < _MAX_DEPTH:
        yield from _literal(text, at, match.start(), offset)
        at = match.end()
        name, operator = match[1] or match[3], match[2] or ''
        if name is None:
            yield Piece('$', offset + match.start(), offset + at)
            continue
        operand = at
        if match[1]:
            at = _closing(text, at)
            operand, at = at, min(at + 1, len(text))
            given = text[match.end() : operand]
        else:
            given = ''
        span = offset + match.start(), offset + at
        yield from _variable(variables, name, operator, given, offset + match.end(), span, depth)
    yield from _literal(text, at, len(text), offset)


def _literal(text: str, start: int, end: int, offset: int) -> Iterator[Piece]:
    if end > start:
        yield Piece(text[start:end], offset + start, offset + end)


def _closing(text: str, at: int) -> int:
    """The brace that closes a variable whose name has been read."""
    depth = 1
    while at < len(text):
        depth += (text[at] == '{') - (text[at] == '}')
        if not depth:
            return at
        at += 1
    return at


def _variable(
    variables: Variables, name: str, operator: str, given: str, given_at: int, span: Run, depth: int
) -> Iterator[Piece]:
    found = variables.get(name)
    present = found is not None and (bool(found.value) or not operator.startswith(':'))
    if operator.endswith('+'):
        if present:
            yield from _pieces(given, variables, given_at, depth + 1)
    elif present and found is not None:
        yield Piece(found.value, *span, found, found.reason)
    elif operator.endswith('-'):
        yield from _pieces(given, variables, given_at, depth + 1)
    else:
        yield Piece(HOLE, *span, None, f'${name} is not set in the files read')


def _cut(pieces: list[Piece], runs: list[Run]) -> Iterator[Piece]:
    """The parts of pieces that lie in the runs of the joined text."""
    for start, stop in runs:
        offset = 0
        for piece in pieces:
            end = offset + len(piece.value)
            if offset < stop and end > start:
                yield piece.cut(start - offset, stop - offset)
            offset = end


def _word(word: Word, pieces: list[Piece]) -> Word:
    if not pieces:
        return Word('', word.place, False, locked=word.locked)
    if len(pieces) == 1:
        return _single(word, pieces[0])
    value = ''.join(piece.value for piece in pieces)
    reason = next((piece.reason for piece in pieces if piece.reason), '')
    tail = None
    equals = value.find('=') + 1
    if 0 < equals < len(value) and (value.startswith('-') or value[: equals - 1].isidentifier()):
        tail = _word(word, list(_cut(pieces, [(equals, len(value))])))
    adjacent = all(a.end == b.start for a, b in pairwise(pieces)) and all(
        piece.end - piece.start == len(piece.value) for piece in pieces
    )
    if adjacent:
        return Word(value, word.place.part(pieces[0].start, pieces[-1].end), word.pure, reason, word.locked, tail=tail)
    return Word(value, _place(word, pieces, value), False, reason, word.locked, tail=tail)


def _single(word: Word, piece: Piece) -> Word:
    use = word.place.part(piece.start, piece.end)
    if piece.defined is not None:
        return piece.defined._replace(use=use)
    exact = piece.end - piece.start == len(piece.value)
    return Word(piece.value, use, word.pure and exact and not piece.reason, piece.reason or word.reason, word.locked)


def _place(word: Word, pieces: list[Piece], value: str) -> Place:
    """A document of the final text, each part leading back to what spells it."""
    segments, inner = [], 0
    base = word.place.start
    for piece in pieces:
        exact = piece.end - piece.start == len(piece.value)
        segments.append(Segment(inner, base + piece.start, len(piece.value) if exact else 0))
        inner += len(piece.value)
    outer = word.place.part(pieces[0].start, max(piece.end for piece in pieces))
    return Place(
        Document(outer.document.path, 'string', value.encode(), outer=outer, segments=lambda: tuple(segments)),
        0,
        len(value),
    )


def _shell_words(text: str) -> Iterator[list[Run]]:
    """For each word the runs of characters that it keeps; quotes and backslashes are left out."""
    runs: list[Run] = []
    quote, begun, at = '', False, 0
    while at < len(text):
        character = text[at]
        if character == '\\' and quote != "'" and at + 1 < len(text) and (not quote or text[at + 1] in '"\\$'):
            if text[at + 1] != '\n':
                _keep(runs, at + 1)
                begun = True
            at += 1
        elif character == quote:
            quote = ''
        elif not quote and character in '"\'':
            quote, begun = character, True
        elif not quote and character in ' \t\r\n':
            if begun:
                yield runs
            runs, begun = [], False
        else:
            _keep(runs, at)
            begun = True
        at += 1
    if begun:
        yield runs


def _keep(runs: list[Run], at: int) -> None:
    if runs and runs[-1][1] == at:
        runs[-1] = (runs[-1][0], at + 1)
    else:
        runs.append((at, at + 1))
