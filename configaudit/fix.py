"""From changes to bytes: minimal edits, applied from the end, atomic per file, refused where a person must decide."""

import errno
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from configaudit.findings import Finding
from configaudit.model import REMOVE, Change
from configaudit.parse.entries import Edit
from configaudit.parse.yaml_edit import CannotEdit
from configaudit.parse.yaml_text import own_start, quoted
from configaudit.patterns import regex
from configaudit.places import Document, Place

_PLAIN_PART = regex(r'(?:[\w./=@%+-]|[ :](?! |\Z))*\Z')
"""Text that may stand inside a bare YAML scalar."""

UNSAFE = 'a trade-off: needs --unsafe-fixes'
"""Why a fix is not written that a person has to weigh."""


class FileEdit(NamedTuple):
    """A replacement in a file, in bytes."""

    path: str
    start: int
    end: int
    text: str


class Refusal(NamedTuple):
    """Why a fix is not written."""

    reason: str


class FixReport(NamedTuple):
    """What happened to the fixes of a run."""

    applied: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...]
    files: tuple[str, ...]


def edits_of(finding: Finding) -> tuple[FileEdit, ...] | Refusal:
    """The byte edits of a finding's fix, or why there are none."""
    if finding.fix is None:
        return Refusal('no fix is known')
    if not finding.fix.changes:
        return Refusal('it is not in a file')
    edits: list[FileEdit] = []
    try:
        for change in finding.fix.changes:
            edits.extend(_edits(change))
    except CannotEdit as reason:
        return Refusal(str(reason))
    return tuple(edits)


def _edits(change: Change) -> list[FileEdit]:
    if change.why_not:
        raise CannotEdit(change.why_not)
    if change.slot is None:
        raise CannotEdit('it is not written in one place')
    document = change.slot.place.document
    _check_writable(document)
    place = change.slot.place
    if document.format == 'python' and not _replaces_constant(change, place.text):
        raise CannotEdit('it is a program')
    edits = _write(change.slot.format, document, place.start, place.end, change.slot.path, change.value)
    return [_to_file(document, edit) for edit in edits]


def _replaces_constant(change: Change, old: str) -> bool:
    """Whether a change of a program only puts a constant in place of another of its type."""
    if change.value is REMOVE or change.slot is None or change.slot.path:
        return False
    return old[:1] in ('"', "'") or (isinstance(change.value, (int, float)) and not isinstance(change.value, bool))


def _check_writable(document: Document) -> None:
    """Raise CannotEdit for what is written by a program or stands in no file."""
    if document.format == 'live':
        raise CannotEdit('it is live on the host: `configaudit node --fix-plan DIR` collects the commands')
    outer: Document | None = document
    while outer is not None:
        if outer.note:
            raise CannotEdit(outer.note)
        if outer.template is not None and outer.template.actions:
            raise CannotEdit('it is a template')
        outer = outer.outer.document if outer.outer is not None else None
    if document.path.startswith('<'):
        raise CannotEdit('standard input cannot be changed')


def _write(form: str, document: Document, start: int, end: int, path: tuple[str, ...], value: object) -> list[Edit]:
    """Ask the format's writer; every writer works on the document's own text."""
    from configaudit.parse import argument_edit, yaml_edit

    text = document.text
    if form == 'yaml_edit':
        return yaml_edit.edit(text, _roots(document), start, end, path, value)
    if form in ('argument', 'yaml_item', 'shell_word'):
        roots = _roots(document) if document.format == 'yaml' else None
        return argument_edit.edit(text, roots, start, end, path, value, script=form == 'shell_word')
    from configaudit.parse.line_edit import edit

    return edit(form, text, start, end, path, value)


@lru_cache(maxsize=32)
def _roots(document: Document) -> Sequence[Any]:
    from configaudit.parse.yaml import SyntaxProblem, parse

    try:
        return parse(document.parsed, document.template is not None).roots
    except SyntaxProblem as problem:
        raise CannotEdit(problem.message) from None


def _to_file(document: Document, edit: Edit) -> FileEdit:
    """An edit of a document as an edit of its file; refused where the string around it is not written as it reads."""
    text = edit.text
    place = Place(document, edit.start, edit.end)
    while place.document.outer is not None:
        inner, outer = place.document, place.document.outer.document
        if not inner.segments:
            raise CannotEdit('the text is not written as it reads')
        if place.start == place.end and inner.text[place.start - 1 : place.start] == text[-1:] == '\n':
            # A line end, and the indentation behind it, stand in no segment: whole lines go in before it.
            place, text = Place(inner, place.start - 1, place.end - 1), '\n' + text[:-1]
        start, end = inner.out(place.start), inner.out(place.end)
        written, meant = outer.text[start:end], inner.text[place.start : place.end]
        if written != meant and (text or written.split() != meant.split()):
            raise CannotEdit('the text is written with escapes or folded')
        text = _as_written(text, place, start)
        place = Place(outer, start, end)
    document = place.document
    return FileEdit(document.path, document.byte_of(place.start), document.byte_of(place.end), text)


def _as_written(text: str, place: Place, at: int) -> str:
    """New text for an inner document as it is spelled in the outer one, in the manner of the string that holds it."""
    inner = place.document
    assert inner.outer is not None
    outer = inner.outer.document
    quote = _quote_of(inner.outer)
    if quote == '"':
        return quoted(text, quote)[1:-1]
    if quote == '' and not _PLAIN_PART.match(text):
        raise CannotEdit('it would need quotes')
    if quote in ("'", '>') and '\n' in text:
        raise CannotEdit('the text is written with escapes or folded')
    if quote == "'":
        return quoted(text, quote)[1:-1]
    indent = _indent(outer.text, at).removesuffix(_indent(inner.text, place.start))
    return text.replace('\n', '\n' + indent)


def _quote_of(holder: Place) -> str:
    """How a string of a YAML document is written: a quote, '|', '>' or ''; other formats take text as it is, like '|'."""
    if holder.document.format != 'yaml':
        return '|'
    text = holder.document.text
    first = text[own_start(text, holder.start) :][:1]
    if first in ('"', "'", '|', '>'):
        return first
    before = text[holder.start - 1 : holder.start]
    return before if before in ('"', "'") else ''


def _indent(text: str, at: int) -> str:
    """The spaces that begin the line of an offset."""
    line = text[text.rfind('\n', 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(' '))]


def apply_fixes(findings: Iterable[Finding], unsafe: bool = False) -> FixReport:
    """Write the fixes into their files. Overlapping edits are skipped: the next run sees them."""
    planned, applied, refused = plan(findings, unsafe)
    for path, edits in planned.items():
        with open(path, 'rb') as file:
            data = file.read()
        replace_file(path, splice(data, edits))
    return FixReport(tuple(applied), tuple(refused), tuple(sorted(planned)))


def plan(
    findings: Iterable[Finding], unsafe: bool
) -> tuple[dict[str, list[FileEdit]], list[Finding], list[tuple[Finding, str]]]:
    """Which edits would be made, by file; which findings they fix; which are refused and why."""
    planned: dict[str, list[FileEdit]] = {}
    applied: list[Finding] = []
    refused: list[tuple[Finding, str]] = []
    findings = list(findings)
    respelled = {name for finding in findings if finding.fix and (finding.fix.safe or unsafe) for name in _respelled(finding)}
    for finding in findings:
        if finding.fix is None:
            continue
        if not finding.fix.safe and not unsafe:
            refused.append((finding, UNSAFE))
            continue
        edits = edits_of(finding)
        if isinstance(edits, Refusal):
            refused.append((finding, edits.reason))
        elif respelled and not _respelled(finding) and respelled & _settings(finding):
            refused.append((finding, 'another fix spells the flag right: run again'))
        elif any(_overlaps(edit, planned.get(edit.path, ())) for edit in edits):
            refused.append((finding, 'it overlaps with another fix: run again'))
        else:
            for edit in edits:
                planned.setdefault(edit.path, []).append(edit)
            applied.append(finding)
    return planned, applied, refused


def _respelled(finding: Finding) -> set[tuple[str, str, str]]:
    """Flags that a fix writes in the place of others: (path, component, flag's name)."""
    values = [change.value for change in finding.fix.changes if change.slot and change.slot.format == 'argument'] if finding.fix else []
    return {_setting(finding, value.partition('=')[0]) for value in values if isinstance(value, str) and value.startswith('--')}


def _settings(finding: Finding) -> set[tuple[str, str, str]]:
    return {_setting(finding, change.setting) for change in finding.fix.changes} if finding.fix else set()


def _setting(finding: Finding, name: str) -> tuple[str, str, str]:
    return finding.place.document.path, finding.component.identity, name.lstrip('-').replace('-', '_')


def _overlaps(edit: FileEdit, others: Iterable[FileEdit]) -> bool:
    """Two edits that share a byte or begin at one point: of two insertions there, one may have to stand inside the other's block."""
    return any(
        (edit.start < other.end and other.start < edit.end) or edit.start == other.start for other in others if edit != other
    )


def is_current(finding: Finding, path: str, data: bytes) -> bool:
    """Whether a file still holds what the fix of a finding was made for."""
    slots = [change.slot for change in (finding.fix.changes if finding.fix else ()) if change.slot is not None]
    documents = {slot.place.outermost().document for slot in slots}
    return all(data[made.base : made.base + len(made.data)] == made.data for made in documents if made.path == path)


def splice(data: bytes, edits: Iterable[FileEdit]) -> bytes:
    """The bytes with every edit applied, from the end so that offsets hold."""
    numbered = sorted(enumerate(dict.fromkeys(edits)), key=lambda pair: (-pair[1].start, -pair[1].end, -pair[0]))
    for _, edit in numbered:
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data


def replace_file(path: str, data: bytes) -> None:
    """Write beside and rename: the old file or the new one, never half of it. Links stay links."""
    import tempfile

    real = os.path.realpath(path)
    status = os.stat(real)
    if not (status.st_mode & 0o222 and os.access(real, os.W_OK)):
        raise PermissionError(errno.EACCES, 'the file is read-only', path)
    handle, name = tempfile.mkstemp(dir=os.path.dirname(real) or '.', prefix='.configaudit-')
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(data)
        with suppress(PermissionError, AttributeError):  # only root may give files away; Windows has no owners
            os.chown(name, status.st_uid, status.st_gid)
        os.chmod(name, status.st_mode & 0o7777)
        os.replace(name, real)
    except BaseException:
        os.unlink(name)
        raise
