"""Scalars as text with the place of every character: what leads from a string's inside to the file."""

from typing import Any

from configaudit.parse.tree import home
from configaudit.patterns import regex
from configaudit.places import Document, Place, Segment

_ESCAPE = regex(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r?\n|.)|\^{4,}")


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
    """Align what is written with what it means: runs between line folds and escapes are the same in both."""
    chunks: list[tuple[int, str]] = []
    at = 0
    lines = raw.splitlines(keepends=True)
    for number, line in enumerate(lines):
        body = line.strip(' \t\r\n')
        offset = at + line.find(body) if body else at
        at += len(line)
        if style in ('|', '>') and number == 0:
            continue
        if not style or style in '"\'':
            if number == 0 and style:
                body, offset = body[1:], offset + 1
            if number == len(lines) - 1 and style and body.endswith(style):
                body = body[:-1]
        chunks.extend(_split_escapes(body, offset, style))
    segments: list[Segment] = []
    cursor = 0
    for offset, chunk in chunks:
        found = value.find(chunk, cursor)
        if found >= 0 and chunk:
            segments.append(Segment(found, start + offset, len(chunk)))
            cursor = found + len(chunk)
    return tuple(segments) or (Segment(0, start, 0),)


def _split_escapes(body: str, offset: int, style: str | None) -> list[tuple[int, str]]:
    if style == "'":
        parts, at = [], offset
        for part in body.split("''"):
            parts.append((at, part))
            at += len(part) + 2
        return parts
    pieces: list[tuple[int, str]] = []
    last = 0
    for match in _ESCAPE.finditer(body):
        if match[0][0] == '\\' and style != '"':
            continue
        pieces.append((offset + last, body[last : match.start()]))
        last = match.end()
    pieces.append((offset + last, body[last:]))
    return [piece for piece in pieces if piece[1]]
