"""Braces in files that are not written for a template engine: text of a string, or a placeholder nobody filled in."""

from collections.abc import Iterator

from configaudit.findings import Error
from configaudit.parse.formats import is_dashboard
from configaudit.parse.template import Template
from configaudit.parse.tree import Map, Node, Scalar, Seq
from configaudit.parse.yaml import SyntaxProblem, Tree, parse
from configaudit.patterns import regex
from configaudit.places import Document, Place, locate
from configaudit.units import HOLE

_ALERT = regex(rb'\{\{-?[^`]*\$(?:labels|value|externalLabels)\b')
"""Of a Prometheus annotation: prometheus.io/docs/prometheus/latest/configuration/alerting_rules, templating."""


_FILTERED = regex(rb'(?m)(?<=[:\-] )@[\w.-]{2,}@(?=[ \t]*\r?$)')
"""A value that Maven fills in when it copies resources (`version: @project.version@`): no YAML before that."""


def before_filtering(data: bytes) -> tuple[bytes, Tree] | None:
    """A text whose values Maven has yet to fill in, with those masked, and its tree; None when that does not make YAML of it."""
    masked = _FILTERED.sub(lambda found: b'^' * max(len(found[0]), 4), data)
    if masked == data:
        return None
    try:
        return masked, parse(masked, True)
    except SyntaxProblem:
        return None


def unfilled(document: Document, roots: list[Node]) -> Iterator[Error]:
    """The first placeholder of a document that stands where YAML wants a value, with how many there are."""
    inside = [span for root in roots for span in _spans(root)]
    found = [
        (at, text)
        for at, text in _candidates(document)
        if not any(start < at < end for start, end in inside)
    ]  # fmt: skip
    if found:
        at, name = found[0]
        place = locate(Place(document, at, at))
        others = f' and {len(found) - 1} more' if len(found) > 1 else ''
        yield Error(
            document.path, place.line, place.column, 'template',
            f'placeholder {name}{others} not filled in: this is not YAML until something replaces it', False,
        )  # fmt: skip


def _candidates(document: Document) -> Iterator[tuple[int, str]]:
    """Where an action opens a value or has its line to itself: offset in code points, text."""
    for action in document.template.actions:
        line = document.data[document.data.rfind(b'\n', 0, action.start) + 1 : action.start].strip()
        in_comment = line.startswith(b'#') or b' #' in line
        if line[-1:] in (b':', b'-', b'') and not in_comment and not action.text.startswith((b'{%', b'{#')):
            yield len(document.data[document.bom : action.start].decode('utf-8', 'replace')), action.text.decode('utf-8', 'replace')


def _spans(root: Node) -> Iterator[tuple[int, int]]:
    """Where the scalars of a tree stand, keys included."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, Scalar):
            yield int(node.start_mark.index), int(node.end_mark.index)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.extend(node.values() if isinstance(node, Map) else node)
            waiting.extend(node.names.values() if isinstance(node, Map) else ())


def is_text(template: Template, data: bytes) -> bool:
    """Whether all braces of a document that parses are for whoever reads its strings: labels in a dashboard's legends, values
    in an alert's annotations."""
    theirs = is_dashboard(data) or all(_ALERT.match(action.text) for action in template.actions)
    return theirs and without_placeholders(data) is not None


def without_placeholders(data: bytes) -> Tree | None:
    """The tree of a text whose braces all stand in strings and comments, so that it needs no mask; else None."""
    try:
        tree = parse(data)
    except SyntaxProblem:
        return None
    return None if any(_has_hole(root) for root in tree.roots) else tree


def _has_hole(root: Node) -> bool:
    """Whether a mapping of the tree has a collection for a key, which is what `{{ x }}` reads as."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, (Map, Seq)) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Map) and HOLE in node:
            return True
        waiting.extend(node.values() if isinstance(node, Map) else node)
    return False
