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
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from configaudit.dates import is_date
from configaudit.parse import Parsed, decode, documents
from configaudit.parse.tree import Map, Scalar, Seq, get, mapping, place_of
from configaudit.places import Document, Place

TRACE = b'configaudit'
"""Bytes that stand in every file with a suppression."""
ANNOTATION = 'configaudit.io/ignore'
FILE_LINES = 20
_COMMENT = re.compile(r'(?:#|//|;)[ \t]*configaudit:[ \t]*(ignore[^\r\n]*)')
_FORM = re.compile(r'(ignore|ignore-file)[ \t]*\[([^\]]*)\][ \t]*(.*)')
_UNTIL = re.compile(r'(?:until|expires)[ \t=:]+(\S+?)(?:[:,;][ \t]*|[ \t]+|$)(.*)', re.DOTALL)
_LINE = re.compile(r'([^@:]*?)[ \t]*(?:@[ \t]*([\w-]+)(?:\.([\w-]+))?)?[ \t]*(?::[ \t]*(.*))?')


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
    starts: list[int] = []
    lines: list[str] = []
    for match in _COMMENT.finditer(text):
        if not lines:
            lines = text.splitlines(keepends=True)
            starts = [0]
            for line in lines:
                starts.append(starts[-1] + len(line))
        number = text.count('\n', 0, match.start()) + 1
        yield _comment(document, match, number, [line.strip() for line in lines])


def _comment(document: Document, match: re.Match[str], number: int, lines: list[str]) -> Mark:
    place = Place(document, match.start(), match.start() + len(match[0].rstrip()))
    form = _FORM.match(match[1].rstrip())
    if form is None:
        return Mark((), '', '', 'comment', place, 'write `ignore[rule] reason`', document.path)
    rules = _names(form[2])
    expires, reason, problem = _reason(form[3])
    if form[1] == 'ignore-file':
        if number > FILE_LINES:
            problem = f'ignore-file counts only in the first {FILE_LINES} lines of a file'
        return Mark(rules, reason, expires, 'comment', place, problem, document.path, 1, len(lines) + 1)
    first, last = _covered(lines, number)
    return Mark(rules, reason, expires, 'comment', place, problem, document.path, first, last)


def _covered(lines: list[str], number: int) -> tuple[int, int]:
    """The lines that the comment on a line speaks of: its own, or the (continued) line below a comment that stands alone."""
    if not _is_comment(lines[number - 1]):
        return number, number
    below = number
    while below < len(lines) and _is_comment(lines[below]):
        below += 1
    last = below
    # A comment cannot stand inside a command that continues with \, so one above it covers all of it.
    while last + 1 < len(lines) and (lines[last].endswith('\\') or _is_comment(lines[last])):
        last += 1
    return number, last + 1


def _is_comment(line: str) -> bool:
    return line.startswith(('#', '//', ';'))


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
            yield from _annotated(parsed.document, parsed.root)


def _annotated(document: Document, node: Any) -> Iterator[Mark]:
    if isinstance(node, Map):
        value = get(mapping(node, 'metadata', 'annotations'), ANNOTATION)
        if isinstance(value, Scalar):
            span = document.byte_of(node.start), document.byte_of(node.end)
            yield from _lines(document, value, span)
    for child in node.values() if isinstance(node, Map) else node if isinstance(node, Seq) else ():
        yield from _annotated(document, child)


def _lines(document: Document, value: Any, span: tuple[int, int]) -> Iterator[Mark]:
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
