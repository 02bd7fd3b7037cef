"""Where a value stands: documents inside files, documents inside strings, and exact places in them.

A place is kept as code-point offsets into the text that was parsed; bytes, lines and columns are
derived when a report or an edit needs them, from the original bytes.
"""

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple


class Segment(NamedTuple):
    """A run of text that stands unchanged in the outer document: inner[i] is outer[outer + i - inner]."""

    inner: int
    outer: int
    length: int


class Location(NamedTuple):
    """A place as a person reads it: lines and columns from 1, columns in code points, ends exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int


class Document:
    """One unit that a parser reads: a YAML document, a whole file of another format, a script in a string."""

    __slots__ = (
        '_align', '_segments', 'base', 'below', 'bom', 'called', 'data', 'format', 'line', 'note', 'outer', 'parsed', 'path', 'template', 'values',
    )  # fmt: skip

    def __init__(
        self,
        path: str,
        format: str,  # noqa: A002 - the field's usual name
        data: bytes,
        base: int = 0,
        line: int = 1,
        parsed: bytes | None = None,
        outer: 'Place | None' = None,
        segments: 'Callable[[], tuple[Segment, ...]] | None' = None,
        note: str = '',
        called: str = '',
    ) -> None:
        self.path = path
        self.called = called or path
        """Its own path: of a file inside a string the one that it gets on its host, else `path`."""
        self.below = path
        """Its path below the folder that a person named: what the folders above are called says nothing about it."""
        self.format = format
        self.data = data
        """Original bytes of this document (for an inner document: of its text)."""
        self.base = base
        """Byte offset of `data` in the file."""
        self.line = line
        """Line number of the first byte."""
        self.parsed = data if parsed is None else parsed
        """What the parser saw: the original, or its template mask of equal byte length."""
        self.bom = 3 if base == 0 and data[:3] == b'\xef\xbb\xbf' else 0
        self.outer = outer
        self._align = segments
        self._segments: tuple[Segment, ...] | None = None
        self.template: Any = None
        """What the template mask hid (`parse.template.Template`), or None."""
        self.values: Any = None
        """Looks a chart value up: path -> its text and place, or None."""
        self.note = note
        """Why a fix is refused here ('a template', 'rendered from ...'), or ''."""

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """For a worker's answer: the alignment is worked out, what looks up chart values stays behind."""
        self._segments = self.segments
        state = {name: getattr(self, name) for name in self.__slots__}
        return None, {**state, '_align': None, 'values': None}

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Of an inner document: the runs that stand unchanged in the outer one; worked out when first asked for."""
        if self._segments is None:
            self._segments = self._align() if self._align is not None else ()
        return self._segments

    @property
    def text(self) -> str:
        """The parsed text; a byte order mark is not part of it."""
        return _text(self)

    def byte_of(self, index: int) -> int:
        """Byte offset in the file of a code-point offset in the parsed text."""
        if self.parsed.isascii():
            return self.base + self.bom + index
        return self.base + self.bom + len(self.text[:index].encode())

    def out(self, index: int) -> int:
        """Offset in the outer document of an offset in this inner one."""
        at = max(bisect_right(self.segments, index, key=lambda segment: segment.inner) - 1, 0)
        segment = self.segments[at]
        return segment.outer + min(index - segment.inner, segment.length)


@lru_cache(maxsize=8)
def _text(document: Document) -> str:
    """Many questions in a row are about one document: it is decoded once for them."""
    return document.parsed[document.bom :].decode('utf-8', 'replace')


class Place(NamedTuple):
    """A span of a document, in code points of the parsed text."""

    document: Document
    start: int
    end: int

    def part(self, start: int, end: int) -> 'Place':
        """A span inside this one, counted from its start."""
        return Place(self.document, self.start + start, self.start + end)

    @property
    def text(self) -> str:
        """What stands here, as written (a masked template shows as its mask)."""
        return self.document.text[self.start : self.end]

    def outermost(self) -> 'Place':
        """The same span in the file that a person opens."""
        place = self
        while place.document.outer is not None:
            document = place.document
            if not document.segments:
                place = document.outer  # type: ignore[assignment]
                continue
            start, end = document.out(place.start), document.out(max(place.end, place.start))
            place = Place(document.outer.document, start, max(start, end))  # type: ignore[union-attr]
        return place


def locate(place: Place) -> Location:
    """The place in lines, columns and bytes of its file."""
    place = place.outermost()
    document = place.document
    start, end = document.byte_of(place.start), document.byte_of(place.end)
    line, column = _position(document, start - document.base)
    end_line, end_column = _position(document, end - document.base)
    return Location(document.path, line, column, end_line, end_column, start, end)


def _position(document: Document, offset: int) -> tuple[int, int]:
    data = document.data
    if b'\r' in data:
        data = data.replace(b'\r\n', b' \n').replace(b'\r', b'\n')
    begin = data.rfind(b'\n', 0, offset) + 1
    column = len(data[max(begin, document.bom) : offset].decode('utf-8', 'replace')) + 1
    return document.line + data.count(b'\n', 0, offset), column


def source_line(place: Place) -> str:
    """The whole line of the file on which the place starts, without its line end."""
    place = place.outermost()
    data = place.document.data
    offset = place.document.byte_of(place.start) - place.document.base
    begin = max(data.rfind(b'\n', 0, offset), data.rfind(b'\r', 0, offset)) + 1
    ends = [at for at in (data.find(b'\n', offset), data.find(b'\r', offset)) if at >= 0]
    line = data[max(begin, place.document.bom) : min(ends, default=len(data))]
    return line.decode('utf-8', 'replace')
