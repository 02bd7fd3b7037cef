"""PromQL: which metrics a query names and where, and whether it is a query at all.

The grammar is promql-parser's (https://pypi.org/project/promql-parser/, Prometheus' own, in Rust), imported when the
first query is read; without it queries stay unread. Its tree has no offsets: those come from the tokens here.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.patterns import regex
from configaudit.units import HOLE

MAX_LENGTH = 64 * 2**10
MAX_TOKENS = 600
"""Outside of label matchers. promql-parser 0.12.0 takes time in the square of them and overflows its stack, which ends
the process, between 3,000 and 10,000; the longest query of 30 public repositories has fewer than 200."""
_TOKEN = regex(
    r'(?P<string>"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)*\'?|`[^`]*`?)|(?P<comment>\#[^\n]*)'
    rf'|(?P<hole>{HOLE}|<<[^<>\n]{{1,80}}>>|\{{\{{[^{{}}\n]*\}}\}}|\$\{{[^{{}}\n]{{1,80}}\}}|\[\[\w+(?::\w+)?\]\]|\$[A-Za-z_]\w*)'
    r'|(?P<name>[A-Za-z_:][\w:]*)|(?P<other>[=!]~|[=!<>]=|\d[\w.]*|\S)'
)
_WORD = regex(r'[\w:]')
_PLAIN = regex(r'\^?[A-Za-z_:][\w:]*\$?\Z')
_LABELS = frozenset(('by', 'without', 'on', 'ignoring', 'group_left', 'group_right'))
_UNFINISHED = ('unclosed', 'unexpected end of input')
"""Beginnings of the parser's messages about what no dialect of PromQL takes either."""


class Name(NamedTuple):
    """A metric's name in a query: its text, its place in the query, and the names that serve where it has no series."""

    text: str
    start: int
    end: int
    alternatives: frozenset[str] = frozenset()


class Query(NamedTuple):
    """What a query names. `problem`: why it was not read; `broken`: no Prometheus, nor anything like it, reads it."""

    names: tuple[Name, ...] = ()
    problem: str = ''
    broken: bool = False


def read(text: str) -> Query:
    """The metrics that a query names. What a dashboard or a template fills in later is held open."""
    tokens = list(_tokens(text)) if len(text) <= MAX_LENGTH else []
    if not tokens or sum(token.inside != '{' for token in tokens) > MAX_TOKENS:
        return Query(problem='too long' if tokens or text.strip() else 'empty')
    try:
        from promql_parser import parse
    except ImportError:
        return Query(problem='the package promql-parser is not installed')
    holes = [token for token in tokens if token.kind == 'hole']
    problem = ''
    for letter in '1a' if holes else 'a':
        try:
            tree = parse(_filled(text, holes, letter))
        except ValueError as error:
            problem = problem or str(error)
            continue
        return Query(tuple(_names(tree, tokens)))
    return Query(problem=problem.partition('\n')[0], broken=not holes and problem.startswith(_UNFINISHED))


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int
    inside: str
    """The bracket it stands in: '{', '[', '(' behind a word that wants labels, or ''."""
    before: str
    """The token before it."""


def _tokens(text: str) -> Iterator[_Token]:
    opened: list[str] = []
    before = ''
    for match in _TOKEN.finditer(text):
        kind, found = match.lastgroup or '', match[0]
        if kind == 'comment':
            continue
        yield _Token(kind, found, match.start(), match.end(), opened[-1] if opened else '', before)
        if kind == 'other' and found in '([{':
            opened.append('' if found == '(' and before.lower() not in _LABELS else found)
        elif kind == 'other' and found in ')]}' and opened:
            opened.pop()
        before = found


def _filled(text: str, holes: list[_Token], letter: str) -> str:
    """The query with something of the same length for each part that is filled in later."""
    for hole in holes:
        text = text[: hole.start] + _stand_in(text, hole, letter) + text[hole.end :]
    return text


def _stand_in(text: str, hole: _Token, letter: str) -> str:
    """What makes a query of a hole: a range in [], a matcher or its value in {}, else a name or a number."""
    size = hole.end - hole.start
    after = text[hole.end :].lstrip()
    if _WORD.match(text[hole.end : hole.end + 1]) or (hole.start and _WORD.match(text[hole.start - 1])):
        return ('1' if hole.inside == '[' or text[hole.start - 1 : hole.start].isdigit() else 'a') * size
    if hole.inside == '[':
        return '5m'.ljust(size) if size > 1 else '5'
    if hole.inside == '{':
        if after[:1] in ('=', '!'):
            return 'a' * size
        if hole.before in ('=', '=~', '!=', '!~'):
            return f'"{"a" * (size - 2)}"' if size > 1 else letter
        return 'a' * (size - 3) + '=""' if size > 3 else ' ' * size
    return ('a' if hole.inside == '(' else letter) * size


def _names(tree: Any, tokens: list[_Token]) -> Iterator[Name]:
    """The names of a tree with their places. Both come in the order of the text."""
    spans: dict[str, list[tuple[int, int]]] = {}
    holes = {edge for token in tokens if token.kind == 'hole' for edge in (token.start, token.end)}
    for token in tokens:
        quoted = token.kind == 'string' and token.inside == '{'
        if token.start in holes or token.end in holes:
            continue
        if quoted or (token.kind == 'name' and not token.inside):
            text = token.text[1:-1].strip('^$') if quoted else token.text
            start = token.start + (token.text.find(text) if quoted else 0)
            spans.setdefault(text, []).append((start, start + len(text)))
    for text, alternatives in _selected(tree, frozenset()):
        if spans.get(text):
            start, end = spans[text].pop(0)
            yield Name(text, start, end, alternatives)


def _selected(tree: Any, alternatives: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Every metric a tree selects, with those on the other side of each `or` around it."""
    waiting = [(tree, alternatives)]
    while waiting:
        node, others = waiting.pop()
        if str(getattr(node, 'op', '')) == 'or':
            left, right = (frozenset(filter(None, map(_name_of, _nodes(side)))) for side in (node.lhs, node.rhs))
            waiting.extend(((node.rhs, others | left), (node.lhs, others | right)))
            continue
        name = _name_of(node)
        if name:
            yield name, others
        waiting.extend((child, others) for child in reversed(_children(node)))


def _nodes(tree: Any) -> Iterator[Any]:
    """A tree's nodes."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(_children(node))


def _children(node: Any) -> list[Any]:
    """What stands directly below a node, in the order of the text."""
    below = [getattr(node, field, None) for field in ('vector_selector', 'param', 'expr', 'lhs', 'rhs')]
    below.extend(getattr(node, 'args', None) or ())
    return [child for child in below if child is not None]


def _name_of(node: Any) -> str:
    """The metric of a selector: its name, or what its matchers say of `__name__` exactly."""
    matchers = getattr(node, 'matchers', None)
    if matchers is None or hasattr(node, 'vector_selector'):
        return ''
    if node.name:
        return str(node.name)
    for matcher in matchers.matchers:
        if matcher.name == '__name__':
            return _exact(matcher.value, str(matcher.op))
    return ''


def _exact(value: str, operator: str) -> str:
    """The one name that a matcher takes: `="x"`, or `=~"^x$"` with nothing of a pattern in it; '' for any other."""
    return value.strip('^$') if operator.endswith(('.Equal', '.Re')) and _PLAIN.match(value) else ''
