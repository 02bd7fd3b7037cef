"""Values shared by the readers of text formats. Offsets are code points into the document, ends are exclusive."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One assignment; `start`..`end` is where a new value is spliced (inside the quotes when quoted)."""

    section: str
    key: str
    value: str
    key_start: int
    key_end: int
    start: int
    end: int


class Header(NamedTuple):
    """A section header, brackets included."""

    name: str
    start: int
    end: int


class Problem(NamedTuple):
    """Something that could not be read."""

    start: int
    end: int
    message: str


class File(NamedTuple):
    entries: tuple[Entry, ...]
    headers: tuple[Header, ...]
    problems: tuple[Problem, ...]


class Word(NamedTuple):
    """One word of a value, unquoted; the span is inside the quotes when the whole word is quoted."""

    text: str
    start: int
    end: int


class Edit(NamedTuple):
    """Replace `start`..`end` by `text`."""

    start: int
    end: int
    text: str


def replace(entry: Entry, value: str) -> Edit:
    """Splice `value` as it is: quoting is the caller's where the format has a `replace_...` of its own."""
    return Edit(entry.start, entry.end, value)
