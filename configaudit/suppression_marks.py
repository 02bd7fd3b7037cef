"""Where people say which findings they accept: comments in files and annotations on objects.

    # configaudit: ignore[rule-a, rule-b] reason
    # configaudit: ignore[rule-a] until 2027-01-31: reason
    # configaudit: ignore-file[rule-a] reason          (first 20 lines)

    configaudit.io/ignore: |
      rule-a, rule-b: reason                           (the whole object, or pod template)
      rule-a @container: until 2027-01-31: reason
      rule-a @container.max_num_seqs: reason
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from configaudit.dates import is_date
from configaudit.parse import Parsed, decode, documents
from configaudit.parse.tree import Map, Scalar, Seq, get, mapping, place_of
from configaudit.patterns import regex
from configaudit.places import Document, Place

ANNOTATION = 'configaudit.io/ignore'
FILE_LINES = 20
_COMMENT = regex(r'(?:#|//|;)[ \t]*configaudit:[ \t]*(ignore[^\r\n]*)')
_BREAK = regex(r'\r\n|\r|\n')
_FORM = regex(r'(ignore|ignore-file)[ \t]*\[([^\]]*)\][ \t]*(.*)')
_UNTIL = regex(r'(?:until|expires)[ \t=:]+(\S+?)(?:[:,;][ \t]*|[ \t]+|$)(.*)', re.DOTALL)
_LINE = regex(r'([^@:]*?)[ \t]*(?:@[ \t]*([\w-]+)(?:\.([\w-]+))?)?[ \t]*(?::[ \t]*(.*))?')


class Mark(NamedTuple):
    """One suppression as written. It covers lines of a file, or an object's span in it."""

    rules: tuple[str, ...]
    reason: str
    expires: str
    by: str
    """'comment' or 'annotation'."""
    place: Place
    problem: str = ''
    """Why it does not count, or ''."""
    path: str = ''
    first: int = 0
    """Of a comment: the lines it covers, from this to `last`, counted from 1."""
    last: int = 0
    span: tuple[int, int] | None = None
    """Of an annotation: the bytes of the object or pod template."""
    container: str = ''
    setting: str = ''


def marks(files: Mapping[str, bytes]) -> Iterator[Mark]:
    """Every suppression in the files (path -> bytes)."""
    for path, raw in files.items():
        data = decode(raw)[0]
        yield from comments(path, data)
        if ANNOTATION.encode() in data:
            yield from annotations(path, data)


def comments(path: str, data: bytes) -> Iterator[Mark]:
    """The suppressions in comments of a file."""
    document = Document(path, '', data)
    text = document.text
    lines: _Lines | None = None
    for match in _COMMENT.finditer(text):
        lines = lines or _lines_of(text)
        yield _comment(document, match, lines)


class _Lines(NamedTuple):
    """A file's lines, counted from 0."""

    starts: list[int]
    is_comment: list[bool]
    below: list[int]
    """The next line that is no comment, from each line on."""
    ends: list[int]
    """The last line of the command that continues over each line."""


def _lines_of(text: str) -> _Lines:
    breaks = [match.end() for match in _BREAK.finditer(text)]
    starts = [0, *breaks]
    stripped = [text[start:end].strip() for start, end in zip(starts, [*breaks, len(text)], strict=True)]
    is_comment = [line.startswith(('#', '//', ';')) for line in stripped]
    below, ends = list(range(len(starts))), list(range(len(starts)))
    for at in range(len(starts) - 2, -1, -1):
        if is_comment[at]:
            below[at] = below[at + 1]
        # A comment may stand between continued lines (in a Dockerfile), and does not end the command.
        if stripped[at].endswith('\\') or is_comment[at]:
            ends[at] = ends[at + 1]
    return _Lines(starts, is_comment, below, ends)


def _comment(document: Document, match: re.Match[str], lines: _Lines) -> Mark:
    place = Place(document, match.start(), match.start() + len(match[0].rstrip()))
    form = _FORM.match(match[1].rstrip())
    if form is None:
        return Mark((), '', '', 'comment', place, 'write `ignore[rule] reason`', document.path)
    rules = _names(form[2])
    expires, reason, problem = _reason(form[3])
    own = bisect_right(lines.starts, match.start()) - 1
    first = last = own
    if form[1] == 'ignore-file':
        first, last = 0, len(lines.starts) - 1
        if own >= FILE_LINES:
            problem = f'ignore-file counts only in the first {FILE_LINES} lines of a file'
    elif lines.is_comment[own]:
        # Inside a command that continues with \ no comment can stand, so one above it covers all of it.
        first = lines.below[own]
        last = lines.ends[first]
    return Mark(rules, reason, expires, 'comment', place, problem, document.path, first + 1, last + 1)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(',') if (name := part.strip()))


def _reason(text: str) -> tuple[str, str, str]:
    """(expiry date, reason, problem) of what stands behind the rules."""
    match = _UNTIL.match(text.strip())
    if match is None:
        return '', text.strip().lstrip(':').strip(), ''
    if not is_date(match[1]):
        return '', match[2].strip(), f'{match[1]!r} is not a date such as 2027-01-31'
    return match[1], match[2].strip(), ''


def annotations(path: str, data: bytes) -> Iterator[Mark]:
    """The suppressions in annotations of a file's objects and pod templates."""
    for parsed in documents(path, data, gate=False):
        if isinstance(parsed, Parsed) and ANNOTATION.encode() in parsed.document.data:
            yield from _annotated(parsed.document, parsed.root, set())


def _annotated(document: Document, node: Any, seen: set[int]) -> Iterator[Mark]:
    """The annotations in a tree; an alias is the node itself, so each node is visited once."""
    if id(node) in seen or not isinstance(node, (Map, Seq)):
        return
    seen.add(id(node))
    if isinstance(node, Map):
        value = get(mapping(node, 'metadata', 'annotations'), ANNOTATION)
        if isinstance(value, Scalar):
            span = document.byte_of(node.start), document.byte_of(node.end)
            yield from _annotation(document, value, span)
    for child in node.values() if isinstance(node, Map) else node:
        yield from _annotated(document, child, seen)


def _annotation(document: Document, value: Any, span: tuple[int, int]) -> Iterator[Mark]:
    whole = place_of(document, value)
    at = whole.start
    for line in value.value.splitlines():
        if not line.strip():
            continue
        found = document.text.find(line.strip(), at, whole.end)
        place = whole if found < 0 else Place(document, found, found + len(line.strip()))
        at = max(at, found + 1)
        match = _LINE.fullmatch(line.strip())
        if match is None or not _names(match[1]):
            yield Mark((), '', '', 'annotation', place, 'write `rule: reason` or `rule @container: reason`', document.path)
            continue
        expires, reason, problem = _reason(match[4] or '')
        setting = (match[3] or '').replace('-', '_')
        yield Mark(
            _names(match[1]), reason, expires, 'annotation', place, problem, document.path,
            span=span, container=match[2] or '', setting=setting,
        )  # fmt: skip
