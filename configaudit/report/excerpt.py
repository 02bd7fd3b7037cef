"""The source line under a finding: credentials masked, tabs and wide characters measured, cut to fit, underlined."""

import re
from functools import lru_cache
from typing import NamedTuple

from configaudit.patterns import regex
from configaudit.places import Document, Place, locate, source_line
from configaudit.redact import LONGEST, MASK, line_spans
from configaudit.report.escape import UNSAFE, shown

TAB = '    '
_NEAR = 20_000
"""Bytes on either side in which the neighbours of a line are looked for."""
_SECRET_OBJECT = regex(rb'^kind:\s*["\']?Secret["\']?\s*$', re.MULTILINE)


class Excerpt(NamedTuple):
    """A line as it is printed, and the columns of the terminal that are underlined."""

    text: str
    start: int
    length: int


class Cell(NamedTuple):
    """How one code point is printed, and the columns that it takes."""

    text: str
    width: int


def excerpt(place: Place, width: int, secret: bool = False) -> Excerpt | None:
    """The line on which a place starts, in at most `width` columns; None where there is none, or one too long to redact.

    `secret`: the place itself holds a credential.
    """
    line, at = source_line(place), locate(place)
    if not line.strip() or len(line) > LONGEST:
        return None
    start = min(at.column - 1, len(line))
    end = max(at.end_column - 1, start) if at.end_line == at.line else len(line)
    before, after, only_secrets = _around(place)
    spans = line_spans(line, before, after, secret=only_secrets)
    if secret:
        spans = sorted([*spans, (start, len(line))])
    return _cut(_cells(line, tuple(spans)), start, min(end, len(line)), width)


def _around(place: Place) -> tuple[list[str], list[str], bool]:
    """The lines before and after a place's line, and whether its document is a Kubernetes Secret."""
    place = place.outermost()
    data = place.document.data
    offset = place.document.byte_of(place.start) - place.document.base
    before = data[max(0, offset - _NEAR) : offset].decode('utf-8', 'replace').splitlines(keepends=True)
    after = data[offset : offset + _NEAR].decode('utf-8', 'replace').splitlines()
    if before and not before[-1].endswith(('\n', '\r')):
        before.pop()
    return [text.rstrip('\r\n') for text in before], after[1:], _is_secret_object(place.document)


@lru_cache(maxsize=8)
def _is_secret_object(document: Document) -> bool:
    """Whether a document is a Kubernetes Secret; asked again for each of its findings."""
    return _SECRET_OBJECT.search(document.data) is not None


@lru_cache(maxsize=8)
def _cells(line: str, spans: tuple[tuple[int, int], ...]) -> list[Cell]:
    """The cells of a line; asked again for each finding on a long one."""
    masked: dict[int, Cell] = {}
    for start, end in spans:
        for at in range(start, end):
            masked.setdefault(at, Cell('', 0))
        if start == 0 or start - 1 not in masked:
            masked[start] = Cell(MASK, len(MASK))
    return [masked.get(at) or _cell(char, line, at) for at, char in enumerate(line)]


def _cell(char: str, line: str, at: int) -> Cell:
    if char == '\t':
        return Cell(TAB, len(TAB))
    if char == '#' and line.startswith(('##[', '##vso['), at - 1) and at:
        return Cell('# ', 2)
    if char.isascii() and char.isprintable():
        return Cell(char, 1)
    if UNSAFE.match(char):
        return Cell(shown(char), len(shown(char)))
    import unicodedata

    if unicodedata.combining(char) or unicodedata.category(char) in ('Mn', 'Me'):
        return Cell(char, 0)
    return Cell(char, 2 if unicodedata.east_asian_width(char) in 'WF' else 1)


def _cut(cells: list[Cell], start: int, end: int, width: int) -> Excerpt:
    """The cells around the span that fit, with an ellipsis where something is left out."""
    while cells and not cells[-1].text.strip() and len(cells) > end:
        cells = cells[:-1]
    left, right = 0, len(cells)
    if sum(cell.width for cell in cells) > width:
        left, room = start, max(width // 3, 1)
        while left > 0 and cells[left - 1].width <= room:
            left -= 1
            room -= cells[left].width
        right, room = left, width - 2
        while right < len(cells) and cells[right].width <= room:
            room -= cells[right].width
            right += 1
    head, tail = '…' if left else '', '…' if right < len(cells) else ''
    text = ''.join(cell.text for cell in cells[left:right])
    before = sum(cell.width for cell in cells[left:start])
    length = sum(cell.width for cell in cells[start : min(end, right)])
    return Excerpt(f'{head}{text}{tail}', len(head) + before, max(length, 1))
