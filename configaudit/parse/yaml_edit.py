"""Minimal edits of YAML and JSON text: replace a scalar, insert a key, append to a list, delete an entry."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from configaudit.model import REMOVE
from configaudit.parse.entries import Edit
from configaudit.parse.tree import Map, Node, Scalar, Seq, start_of
from configaudit.parse.yaml_text import (
    block,
    column,
    entries,
    flow,
    indents_lists,
    leads_line,
    line_end,
    newline,
    own_start,
    quoted,
    scalar,
    unquoted,
)
from configaudit.patterns import regex

_COMMA_AFTER = regex(r'\s*,[ \t]*(?:\r?\n[ \t]*)?')
_COMMA_BEFORE = regex(r'\s*,\s*\Z')
_ALIAS = regex(r'["\']?\s*:\s*\*[^\s,\[\]{}]+')
_SHARED = 'several places share it (a YAML anchor)'


class CannotEdit(Exception):
    """Why the text cannot be changed without a person."""


def edit(text: str, roots: Sequence[Node], start: int, end: int, path: tuple[str, ...], value: object) -> list[Edit]:
    """The edits that write `value`: at start..end (path empty), or under `path` below the mapping that starts there."""
    common = shared(text, roots)
    if not path:
        found = _owner(roots, start)
        if found is not None and (id(found[0]) in common or id(found[0][found[1]]) in common):
            raise CannotEdit(_SHARED)
        if value is not REMOVE:
            return [replace(text, start, end, value)]
        if found is None:
            raise CannotEdit('the entry was not found')
        return [_delete(text, found[0], found[1])]
    node = next((node for node in walk(roots) if isinstance(node, Map) and node.start == start), None)
    if node is None:
        raise CannotEdit('the mapping it belongs to was not found')
    return _write(text, node, path, value, common)


def replace(text: str, start: int, end: int, value: object) -> Edit:
    """A scalar's new text in the quotes it has; an anchor or tag before it stays."""
    start = min(own_start(text, start), end)
    old = text[start:end]
    if old[:1] in ('|', '>'):
        raise CannotEdit('the value is a block of text')
    if isinstance(value, (Mapping, list, tuple)):
        raise CannotEdit('the value is no list or mapping yet')
    if old[:1] in ('"', "'"):
        return Edit(start, end, quoted(unquoted(value), old[0]))
    if '\n' in old:
        raise CannotEdit('the value spreads over several lines')
    gap = ' ' if start == end and text[start - 1 : start] in (':', '-') else ''
    return Edit(start, end, gap + scalar(value))


def _write(text: str, node: Map, path: tuple[str, ...], value: object, common: frozenset[int]) -> list[Edit]:
    key, rest = path[0], path[1:]
    below = node.get(key)
    if key in node.merged or id(node) in common or id(below) in common:
        raise CannotEdit(_SHARED)
    content: Any = value
    for name in reversed(rest):
        content = {name: content}
    empty = isinstance(below, Scalar) and not below.style and below.value in ('', 'null', '~')
    if value is REMOVE:
        if below is None or (empty and rest):
            raise CannotEdit(f'{key} is not set')
        return _write(text, below, rest, value, common) if rest and isinstance(below, Map) else [_delete(text, node, key)]
    if below is None:
        return [_insert(text, node, {key: content})]
    if empty and isinstance(content, (Mapping, list, tuple)):
        return _fill(text, node, key, below, content)
    if rest:
        if not isinstance(below, Map):
            raise CannotEdit(f'{key} is not a mapping')
        return _write(text, below, rest, value, common)
    return [_change(text, below, key, value)]


def _change(text: str, below: Node, key: str, value: object) -> Edit:
    """What stands there already gets another value, or more entries."""
    if isinstance(below, Seq) and isinstance(value, (list, tuple)):
        return _append(text, below, value)
    if isinstance(below, Map) and not below and isinstance(value, Mapping):
        return _insert(text, below, value)
    if isinstance(below, Scalar):
        return replace(text, int(below.start_mark.index), int(below.end_mark.index), value)
    raise CannotEdit(f'{key} holds a block that is written already')


def _insert(text: str, node: Map, added: Mapping[Any, object]) -> Edit:
    """More entries at the end of a mapping."""
    own = [key for key in node.names if key not in node.merged]
    at = _last_end(text, node)
    if node.flow:
        json = node.names[own[0]].style == '"' if own else text.lstrip()[:1] in ('{', '[')
        last = node.names[own[-1]].start_mark.index if own else at
        return Edit(at, at, (_comma(text, last) if own else '') + entries(added, json))
    return _block_lines(text, block(added, indents_lists(text)), column(text, own_start(text, node.start)), at)


def _comma(text: str, last: int) -> str:
    """What goes between entries in braces: a line break where the last entry began its line."""
    lead = leads_line(text, last)
    return ', ' if lead is None or '\n' not in text[:last] else f',{newline(text)}{lead}'


def _block_lines(text: str, lines: list[str], indent: int, after: int) -> Edit:
    """Whole lines behind the line that holds an offset; where the text ends without a newline, so do they."""
    at = line_end(text, after)
    body = newline(text).join(' ' * indent + line for line in lines)
    return Edit(at, at, body + newline(text) if text[at - 1 : at] == '\n' else newline(text) + body)


def _append(text: str, items: Seq, value: Sequence[object]) -> Edit:
    if items.flow:
        at = end_of(text, items[-1]) if items else items.end - 1
        json = '"' in text[items.start : items.end] and text[start_of(items[0]) : start_of(items[0]) + 1] == '"' if items else text.lstrip()[:1] in ('{', '[')
        added = ', '.join(flow(item, json) for item in value)
        return Edit(at, at, (_comma(text, start_of(items[-1])) if items else '') + added)
    return _block_lines(text, block(list(value), indents_lists(text)), column(text, own_start(text, items.start)), end_of(text, items))


def _fill(text: str, node: Map, key: str, below: Scalar, content: object) -> list[Edit]:
    """A value for a key that holds nothing."""
    start, end = int(below.start_mark.index), int(below.end_mark.index)
    if node.flow:
        return [Edit(start, end, (' ' if text[start - 1 : start] == ':' else '') + flow(content, node.names[key].style == '"'))]
    deep = indents_lists(text)
    indent = int(node.names[key].start_mark.column) + (2 if deep or isinstance(content, Mapping) else 0)
    begin = start - 1 if start < end and text[start - 1 : start] == ' ' else start
    lines = _block_lines(text, block(content, deep), indent, end)
    return [Edit(begin, end, ''), lines] if begin < end else [lines]


def _delete(text: str, node: Map, key: str) -> Edit:
    """Take an entry away with its line, or with its comma in a flow mapping."""
    name = node.names[key]
    start = int(name.start_mark.index)
    end = end_of(text, node[key])
    if node.flow:
        return without_comma(text, start, end)
    begin = text.rfind('\n', 0, start) + 1
    if text[begin:start].strip():
        raise CannotEdit('it is the first entry of a list item')
    if len(node) == 1:
        raise CannotEdit('nothing would be left around it')
    return Edit(begin, line_end(text, end), '')


def without_comma(text: str, start: int, end: int) -> Edit:
    """Take an item out of a list in brackets, with the comma behind it or else before it."""
    after = _COMMA_AFTER.match(text, end)
    if after:
        return Edit(start, after.end(), '')
    before = _COMMA_BEFORE.search(text[:start])
    return Edit(before.start() if before else start, end, '')


def _last_end(text: str, node: Map) -> int:
    """Where the text of the mapping's last entry ends (before a closing brace)."""
    if node.flow:
        return max((_value_end(text, node, key) for key in node.names if key not in node.merged), default=node.end - 1)
    ends = [end_of(text, node[key]) for key in node if key not in node.merged]
    ends.extend(int(name.end_mark.index) for key, name in node.names.items() if key not in node.merged)
    return max((end for end in ends if node.start <= end), default=own_start(text, node.start) + 1)


def _value_end(text: str, node: Map, key: str) -> int:
    """Where an entry in braces ends; an alias ends with its name."""
    end = int(node.names[key].end_mark.index)
    if start_of(node[key]) >= end:
        return end_of(text, node[key])
    alias = _ALIAS.match(text, end)
    return alias.end() if alias else end


def end_of(text: str, node: Node) -> int:
    """Where a node's own text ends, without the blank lines and comments that the parser counts to it."""
    if isinstance(node, (Map, Seq)):
        if node.flow:
            return node.end
        inner = [end_of(text, item) for item in (node.values() if isinstance(node, Map) else node) if start_of(item) >= node.start]
        if isinstance(node, Map):
            inner.extend(int(name.end_mark.index) + 1 for key, name in node.names.items() if key not in node.merged)
        return max(inner, default=node.start)
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    return start + len(text[start:end].rstrip()) if node.style in ('|', '>') else end


def _owner(roots: Sequence[Node], start: int) -> tuple[Map, str] | None:
    """The mapping and key whose key or value stands at an offset."""
    for node in walk(roots):
        if isinstance(node, Map):
            for key, name in node.names.items():
                if key in node and (int(name.start_mark.index) == start or start_of(node[key]) == start):
                    return node, key
    return None


def children(node: Node) -> Iterator[Any]:
    """The nodes right below."""
    if isinstance(node, Map):
        yield from node.values()
    elif isinstance(node, Seq):
        yield from node


def walk(roots: Sequence[Node]) -> list[Any]:
    """Every mapping and list once, parents before children; shared ones (aliases) are visited at their definition only."""
    seen: set[int] = set()
    stack: list[Any] = list(reversed(roots))
    order: list[Any] = []
    while stack:
        node = stack.pop()
        if not isinstance(node, (Map, Seq)) or id(node) in seen:
            continue
        seen.add(id(node))
        order.append(node)
        below = node.values() if isinstance(node, Map) else node
        stack.extend([child for child in below if isinstance(child, (Map, Seq))][::-1])
    return order


def shared(text: str, roots: Sequence[Node]) -> frozenset[int]:
    """The ids of the nodes that stand in several places by anchor and alias, and of the mappings and lists below them."""
    if '*' not in text:
        return frozenset()
    parents: dict[int, int] = {}
    nodes = walk(roots)
    for node in nodes:
        for child in children(node):
            parents[id(child)] = parents.get(id(child), 0) + 1
    common = {key for key, count in parents.items() if count > 1}
    return frozenset(common.union(id(node) for top in nodes if id(top) in common for node in walk([top])))
