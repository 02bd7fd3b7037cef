"""Scalars as text with the place of every character: what leads from a string's inside to the file."""

from typing import Any

from configaudit.parse.tree import home
from configaudit.patterns import regex
from configaudit.places import Document, Place, Segment

_MASK = regex(r'\^{4,}')
_FOLD = r'[\r\n][ \t\r\n]*'
_CHANGED = {
    '"': regex(rf'\\(?:x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}|(?:\r\n|\r|\n)[ \t]*|.)|{_FOLD}|\^{{4,}}'),
    "'": regex(rf"''|{_FOLD}|\^{{4,}}"),
    '': regex(rf'{_FOLD}|\^{{4,}}'),
}
"""By quote: what is written differently from what it means."""


def content(document: Document, node: Any) -> Place:
    """The place of a scalar's text, without quotes: in the document itself, or in an inner one.

    A simple scalar (one line, no escapes) is a span of its document. Any other becomes an inner document
    whose segments lead back to the characters that spell it.
    """
    document = home(document, node)
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    value = node.value
    quote = 1 if node.style in ('"', "'") else 0
    if node.style not in ('|', '>') and end - start - 2 * quote == len(value):
        return Place(document, start + quote, end - quote)
    inner = inner_document(document, node)
    return Place(inner, 0, len(value))


def inner_document(document: Document, node: Any, format: str = 'string') -> Document:  # noqa: A002
    """A scalar's text as a document of its own, mapped to the outer one."""
    document = home(document, node)
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    value, style = node.value, node.style

    def align() -> tuple[Segment, ...]:
        return _segments(document.text[start:end], start, value, style)

    return Document(
        document.path, format, value.encode(), outer=Place(document, start, end), segments=align, note=document.note
    )


def _segments(raw: str, start: int, value: str, style: str | None) -> tuple[Segment, ...]:
    """Align what is written with what it means; empty where that cannot be told exactly."""
    if style in ('|', '>'):
        return _block_segments(raw, start, value)
    return _flow_segments(raw, start, value, style or '')


def _flow_segments(raw: str, start: int, value: str, style: str) -> tuple[Segment, ...]:
    """Of plain and quoted scalars: runs between line folds and escapes are the same in both."""
    segments: list[Segment] = []
    at, stop = (1, len(raw) - 1) if style else (0, len(raw))
    cursor = 0
    for match in _CHANGED[style].finditer(raw, at, stop):
        run = raw[at : match.start()]
        length = len(run.rstrip(' \t') if match[0][0] in '\r\n' else run)
        segments.append(Segment(cursor, start + at, length))
        segments.append(Segment(cursor + length, start + at + length, 0))
        cursor += length + _width(match[0])
        at = match.end()
    segments.append(Segment(cursor, start + at, stop - at))
    return tuple(segments) if cursor + stop - at == len(value) else ()


def _width(written: str) -> int:
    """How many characters an escape, a line fold or a masked action stands for."""
    if written[0] == '\\' and written[1] in '\r\n':
        return 0
    breaks = written.count('\n') or written.count('\r')
    return max(breaks - 1, 1)


def _block_segments(raw: str, start: int, value: str) -> tuple[Segment, ...]:
    """Of block scalars: each line without its indentation."""
    segments: list[Segment] = []
    at = cursor = 0
    for number, line in enumerate(raw.splitlines(keepends=True)):
        body = line.strip(' \t\r\n')
        offset = at + line.find(body) if body else at
        at += len(line)
        if number == 0:
            continue
        for begin, chunk in _without_masks(body, offset):
            found = value.find(chunk, cursor)
            if found >= 0:
                segments.append(Segment(found, start + begin, len(chunk)))
                cursor = found + len(chunk)
    return tuple(segments) or (Segment(0, start, 0),)


def _without_masks(body: str, offset: int) -> list[tuple[int, str]]:
    pieces: list[tuple[int, str]] = []
    last = 0
    for match in _MASK.finditer(body):
        pieces.append((offset + last, body[last : match.start()]))
        last = match.end()
    pieces.append((offset + last, body[last:]))
    return [piece for piece in pieces if piece[1]]
