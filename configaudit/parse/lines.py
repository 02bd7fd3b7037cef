"""Physical and logical lines as offsets, and edits by the line. Only LF and CRLF end a line."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.parse.entries import Edit, Entry, File
from configaudit.places import Segment

BLANK = ' \t\r\f\v'


class Span(NamedTuple):
    start: int
    end: int


class Logical(NamedTuple):
    """A line with its continuations; `text[i]` stands at `start + i` of the document."""

    text: str
    start: int
    end: int


def lines(text: str) -> Iterator[Span]:
    """Spans of the lines, without their ends."""
    start, size = 0, len(text)
    while start < size:
        stop = text.find('\n', start)
        stop = size if stop < 0 else stop
        yield Span(start, stop - 1 if text.endswith('\r', start, stop) else stop)
        start = stop + 1


def trim(text: str, start: int, end: int) -> Span:
    """The span without blanks at its ends."""
    while start < end and text[start] in BLANK:
        start += 1
    while end > start and text[end - 1] in BLANK:
        end -= 1
    return Span(start, end)


def inside_quotes(text: str, start: int, end: int) -> Span:
    """The span inside the quotes when one quoted string fills `start`..`end`, else the span itself."""
    if end - start > 1 and text[start] in '"\'' and text[end - 1] == text[start]:
        at = text.find(text[start], start + 1, end)
        while text[at - 1] == '\\' and at < end - 1:
            at = text.find(text[start], at + 1, end)
        if at == end - 1:
            return Span(start + 1, end - 1)
    return Span(start, end)


def logical_lines(text: str, comments: str) -> Iterator[Logical]:
    """Join lines at a trailing backslash; comment lines between them count for nothing.

    The joints are filled with blanks, so that offsets within the joined text stay true.
    """
    parts: list[str] = []
    begin = reached = stop = 0
    for start, end in lines(text):
        first = trim(text, start, end).start
        if first < end and text[first] in comments:
            continue
        if parts:
            parts.append(' ' * (start - reached))
        else:
            begin = start
        line = text[start:end]
        continued = (len(line) - len(line.rstrip('\\'))) % 2
        parts.append(line[:-1] if continued else line)
        reached, stop = end - continued, end
        if not continued:
            yield Logical(''.join(parts), begin, end)
            parts = []
    if parts:
        yield Logical(''.join(parts), begin, stop)


def outer_offset(segments: tuple[Segment, ...], index: int) -> int:
    """Offset in the document of character `index` of a joined text."""
    segment = segments[max(bisect_right(segments, index, key=lambda segment: segment.inner) - 1, 0)]
    return segment.outer + min(index - segment.inner, segment.length)


def outer_span(segments: tuple[Segment, ...], start: int, end: int) -> Span:
    """Span in the document of a span in a joined text."""
    first = outer_offset(segments, start)
    return Span(first, outer_offset(segments, end - 1) + 1 if end > start else first)


def newline(text: str) -> str:
    """The line ending that the text uses."""
    first = text.find('\n')
    return '\r\n' if first > 0 and text[first - 1] == '\r' else '\n'


def insert_below(text: str, offset: int, line: str) -> Edit:
    """`line` as a new line below the one that holds `offset`."""
    stop = text.find('\n', offset)
    if stop < 0:
        return Edit(len(text), len(text), newline(text) + line)
    return Edit(stop + 1, stop + 1, line + newline(text))


def append_line(text: str, line: str) -> Edit:
    """`line` as the last line."""
    gap = '' if not text or text.endswith('\n') else newline(text)
    return Edit(len(text), len(text), gap + line + newline(text))


def insert_in_section(text: str, file: File, section: str, line: str) -> Edit:
    """`line` below the last entry of the section, else below its header, else in a new section at the end."""
    ends = [entry.end for entry in file.entries if entry.section == section]
    ends = ends or [header.end for header in file.headers if header.name == section]
    if ends:
        return insert_below(text, ends[-1], line)
    gap = newline(text) if text.strip(BLANK + '\n') else ''
    return append_line(text, f'{gap}[{section}]{newline(text)}{line}')


def delete_line(text: str, entry: Entry) -> Edit:
    """Take out the whole line of an entry, its line ending included."""
    stop = text.find('\n', entry.end)
    return Edit(text.rfind('\n', 0, entry.key_start) + 1, len(text) if stop < 0 else stop + 1, '')


def insert_in_block(text: str, inner: Span, statement: str, child: int | None, *, at_start: bool = False) -> Edit:
    """`statement` in a braced block whose content is `inner`, indented like `child` (offset of a statement in it).

    A block on one line stays on one line.
    """
    if '\n' not in text[inner.start : inner.end]:
        at = inner.start if at_start else trim(text, *inner).end
        return Edit(at, at, f' {statement}' if at > inner.start or at_start else f' {statement} ')
    indent = _indent(text, child) if child is not None else None
    if indent is None:
        indent = (_indent(text, inner.end) or '') + '    '
    if at_start:
        return insert_below(text, inner.start, indent + statement)
    line_start = text.rfind('\n', 0, inner.end) + 1
    if not text[line_start : inner.end].strip(BLANK):
        return Edit(line_start, line_start, indent + statement + newline(text))
    return Edit(inner.end, inner.end, f' {statement} ')


def _indent(text: str, offset: int) -> str | None:
    """Blanks before `offset` on its line; None when something else stands there."""
    before = text[text.rfind('\n', 0, offset) + 1 : offset]
    return before if not before.strip(BLANK) else None


def quote_of(text: str, start: int, end: int) -> str:
    """The quote around `start`..`end`, or ''."""
    before = text[max(start - 1, 0) : start]
    return before if before and before in '"\'' and text.startswith(before, end) else ''
