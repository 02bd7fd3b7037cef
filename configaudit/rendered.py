"""Findings in rendered charts, led back to the template that wrote the line.

`helm template` writes `# Source: chart/templates/x.yaml` above each document. Where that file is on disk below the
working directory, it is the file that a person edits.
"""

import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from configaudit.findings import Finding
from configaudit.patterns import regex
from configaudit.places import Document, Place, locate

MAX_TEMPLATE = 4 * 2**20
_KEY = regex(r'''(?:- )?["']?(-{0,2}[\w./$-]+)["']?\s*[:=]\s*["']?''')
_WRITES = regex(r'\{\{-?\s*(?![\s-]|(?:if|else|end|with|range|define)\b|/\*)')
"""An action that puts text there."""


class _Line(NamedTuple):
    start: int
    text: str
    """Without indentation and line end."""


def lead_back(findings: Iterable[Finding], sources: Mapping[str, str]) -> list[Finding]:
    """The findings, those of rendered documents at their template's line.

    `sources`: path and line of a document -> its template. What raw template and rendered copy both show is one finding.
    """
    templates = Templates()
    kept: list[Finding] = []
    moved: list[tuple[Finding, Place]] = []
    for finding in findings:
        document = finding.place.outermost().document
        source = sources.get(f'{document.path}:{document.line}')
        place = templates.place(finding.place, source) if source else None
        if place is None:
            kept.append(finding)
        else:
            moved.append((finding, place))
    raw = {spot: number for number, finding in enumerate(kept) for spot in _spots(finding)}
    for finding, place in moved:
        at = locate(place)
        number = raw.get((finding.rule.id, at.path, at.line))
        if number is None:
            kept.append(finding._replace(place=place, related=(*finding.related, ('rendered here', finding.place))))
        else:
            kept[number] = kept[number]._replace(related=(*kept[number].related, ('rendered here', finding.place)))
    return kept


def _spots(finding: Finding) -> set[tuple[str, str, int]]:
    """Rule, path and line of a finding, also where a value that stands elsewhere is used."""
    places = (finding.place, *(place for word, place in finding.related if word == 'also used here'))
    return {(finding.rule.id, at.path, at.line) for at in map(locate, places)}


class Templates:
    """The templates on disk, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Document, list[_Line]] | None] = {}

    def place(self, place: Place, source: str) -> Place | None:
        """What in the template wrote the text of a place; None when the template is not on disk."""
        if source not in self._known:
            self._known[source] = _read(source)
        found = self._known[source]
        if found is None:
            return None
        document, lines = found
        outer = place.outermost()
        rendered = _lines(outer.document.text)
        at = max(bisect_left(rendered, (outer.start + 1,)) - 1, 0)
        if rendered[at].text in {line.text for line in lines}:
            number = _between(rendered, lines, at, rendered[at].text)
            if number is not None:
                begin = lines[number].start + max(outer.start - rendered[at].start, 0)
                end = min(begin + max(outer.end - outer.start, 0), lines[number].start + len(lines[number].text))
                return Place(document, begin, max(begin, end))
        return _written_by(document, lines, rendered, at)


def _read(source: str) -> tuple[Document, list[_Line]] | None:
    """A template below the working directory: by its path, with or without the chart's own folder."""
    home = os.path.realpath('.')
    below = source.partition('/')[2]
    for path in (source, below, *(f'charts/{name}' for name in (source, below))):
        real = os.path.realpath(path)
        if not below or not real.startswith(home + os.sep) or not os.path.isfile(real):
            continue
        try:
            with open(real, 'rb') as file:
                data = file.read(MAX_TEMPLATE)
        except OSError:
            return None
        shown = os.path.normpath(path).replace(os.sep, '/')
        document = Document(shown, 'template', data, note='it is written by a template')
        return document, _lines(document.text)
    return None


def _lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    offset = 0
    for line in text.split('\n'):
        body = line.strip()
        found.append(_Line(offset + line.find(body), body))
        offset += len(line) + 1
    return found


def _anchors(rendered: list[_Line], lines: list[_Line]) -> dict[int, int]:
    """Lines that stand once in the rendered document and once, alike, in the template."""
    here, there = _once(rendered), _once(lines)
    return {number: there[text] for text, number in here.items() if text in there}


def _once(lines: list[_Line]) -> dict[str, int]:
    seen: dict[str, int] = {}
    for number, line in enumerate(lines):
        if len(line.text) > 1:
            seen[line.text] = -1 if line.text in seen else number
    return {text: number for text, number in seen.items() if number >= 0}


def _bounds(rendered: list[_Line], lines: list[_Line], at: int) -> tuple[int, int, int]:
    """The part of the template that wrote a rendered line, between the nearest lines that are alike: first and last
    line, and how many lines of the document lie between the first and the one at hand."""
    anchors = _anchors(rendered, lines)
    before = max((number for number in anchors if number <= at), default=None)
    after = min((number for number in anchors if number >= at), default=None)
    first = anchors[before] if before is not None else 0
    last = anchors[after] if after is not None else len(lines) - 1
    if first > last:
        return 0, len(lines) - 1, at
    return first, last, at - before if before is not None else at


def _between(rendered: list[_Line], lines: list[_Line], at: int, text: str) -> int | None:
    first, last, _ = _bounds(rendered, lines, at)
    inside = [number for number in range(first, last + 1) if lines[number].text == text]
    return inside[0] if inside else None


def _key(text: str) -> str:
    found = _KEY.match(text)
    return found[1] if found is not None else ''


def _written_by(document: Document, lines: list[_Line], rendered: list[_Line], at: int) -> Place:
    """The line of the same key, else the line whose action wrote the text, else the line before."""
    first, last, passed = _bounds(rendered, lines, at)
    key = _key(rendered[at].text)
    for number in range(first, last + 1) if key else ():
        own = _KEY.match(lines[number].text)
        if own is not None and own[1] == key:
            return Place(document, lines[number].start + own.end(), lines[number].start + len(lines[number].text.rstrip('"\'')))
    writing = [number for number in range(first, last + 1) if _WRITES.search(lines[number].text)]
    item = rendered[at].text.startswith('- ')
    items = [number for number in writing if lines[number].text.startswith('- ') == item]
    passed = 0 if item and lines[first].text.endswith(':') and not items[:1] else passed
    number = min(items or writing, key=lambda number: abs(number - first - passed), default=first)
    return Place(document, lines[number].start, lines[number].start + len(lines[number].text))
