"""Minimal edits of YAML and JSON text: replace a scalar, insert a key, append to a list, delete an entry."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from configaudit.model import REMOVE
from configaudit.parse.entries import Edit
from configaudit.parse.tree import Map, Node, Scalar, Seq, resolve, start_of
from configaudit.patterns import regex

_PLAIN = regex(r'[A-Za-z0-9_./][A-Za-z0-9_./%+@-]*\Z')


class CannotEdit(Exception):
    """Why the text cannot be changed without a person."""


def edit(text: str, roots: Sequence[Node], start: int, end: int, path: tuple[str, ...], value: object) -> list[Edit]:
    """The edits that write `value`: at start..end (path empty), or under `path` below the mapping that starts there."""
    if not path:
        if value is REMOVE:
            parent, key = _owner(roots, start)
            return [_delete(text, parent, key)]
        return [replace(text, start, end, value)]
    node = _map_at(roots, start)
    if node is None:
        raise CannotEdit('the mapping it belongs to was not found')
    return _write(text, node, path, value)


def replace(text: str, start: int, end: int, value: object) -> Edit:
    """A scalar's new text in the quotes it has."""
    old = text[start:end]
    if old[:1] in ('|', '>'):
        raise CannotEdit('the value is a block of text')
    new = scalar(value)
    if old[:1] == '"':
        return Edit(start, end, '"' + _unquoted(value).replace('\\', '\\\\').replace('"', '\\"') + '"')
    if old[:1] == "'":
        return Edit(start, end, "'" + _unquoted(value).replace("'", "''") + "'")
    if '\n' in old:
        raise CannotEdit('the value spreads over several lines')
    return Edit(start, end, new)


def scalar(value: object, json: bool = False) -> str:
    """A value as YAML (or JSON) text."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if value is None:
        return 'null'
    if isinstance(value, (int, float)):
        return _unquoted(value)
    text = str(value)
    if json or not _PLAIN.match(text) or not isinstance(resolve(text), str):
        return '"' + text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n') + '"'
    return text


def _unquoted(value: object) -> str:
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _write(text: str, node: Map, path: tuple[str, ...], value: object) -> list[Edit]:
    key, rest = path[0], path[1:]
    below = node.get(key)
    if key in node.merged:
        raise CannotEdit(f'{key} comes from a shared anchor')
    if below is None or (isinstance(below, Scalar) and not below.style and below.value in ('', 'null', '~') and rest):
        if value is REMOVE:
            raise CannotEdit(f'{key} is not set')
        content: object = value
        for name in reversed(rest):
            content = {name: content}
        if below is not None:
            return [_fill_empty(text, node, key, below, content)]
        return [_insert(text, node, key, content)]
    if rest:
        if not isinstance(below, Map):
            raise CannotEdit(f'{key} is not a mapping')
        return _write(text, below, rest, value)
    if value is REMOVE:
        return [_delete(text, node, key)]
    if isinstance(below, Seq) and isinstance(value, (list, tuple)):
        return [_append(text, node, key, below, value)]
    if isinstance(below, Scalar):
        return [replace(text, int(below.start_mark.index), int(below.end_mark.index), value)]
    raise CannotEdit(f'{key} holds a block that is written already')


def _insert(text: str, node: Map, key: str, value: object) -> Edit:
    first = next(iter(node.names.values()), None)
    if node.flow:
        json = first.style == '"' if first is not None else text.lstrip()[:1] in ('{', '[')
        entry = f'{scalar(key, json)}: {_flow(value, json)}'
        at = _last_end(text, node)
        return Edit(at, at, f', {entry}' if node else entry)
    assert first is not None
    indent = int(first.start_mark.column)
    at = _line_end(text, _last_end(text, node))
    prefix = newline(text) if text[at - 1 : at] != '\n' else ''
    return Edit(at, at, _lines(text, prefix, key, value, indent, at))


def _lines(text: str, prefix: str, key: str, value: object, indent: int, at: int) -> str:
    """A block entry as whole lines; where the text ends without a newline, so does the entry."""
    line_end = newline(text)
    body = line_end.join(' ' * indent + line for line in _block({key: value}, _indents_lists(text)))
    if prefix:
        return prefix + body
    return body + line_end


def newline(text: str) -> str:
    """The line end that the text uses."""
    return '\r\n' if '\r\n' in text else '\n'


def _indents_lists(text: str) -> bool:
    """Whether lists stand deeper than their key in this text."""
    for match in re.finditer(r'^( *)[\w.-]+:[ \t]*\r?\n( *)- ', text, re.MULTILINE):
        return len(match[2]) > len(match[1])
    return True


def _block(value: object, deep: bool) -> list[str]:
    """Lines of a block value."""
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, (Mapping, list, tuple)) and item:
                pad = '' if isinstance(item, (list, tuple)) and not deep else '  '
                lines.append(f'{scalar(key)}:')
                lines.extend(pad + line for line in _block(item, deep))
            else:
                lines.append(f'{scalar(key)}: {_flow(item)}')
    elif isinstance(value, (list, tuple)):
        for item in value:
            inner = _block(item, deep) if isinstance(item, (Mapping, list, tuple)) else [scalar(item)]
            lines.append('- ' + inner[0])
            lines.extend('  ' + line for line in inner[1:])
    return lines


def _flow(value: object, json: bool = False) -> str:
    if isinstance(value, Mapping):
        return '{' + ', '.join(f'{scalar(key, json)}: {_flow(item, json)}' for key, item in value.items()) + '}'
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(_flow(item, json) for item in value) + ']'
    return scalar(value, json)


def _append(text: str, node: Map, key: str, items: Seq, value: Sequence[object]) -> Edit:
    if items.flow:
        at = _end_of(text, items[-1]) if items else items.start + 1
        json = '"' in text[items.start : items.end] and text[items.start + 1 : items.start + 2] == '"'
        added = ', '.join(_flow(item, json) for item in value)
        return Edit(at, at, f', {added}' if items else added)
    column = _column(text, items.start)
    at = _line_end(text, _end_of(text, items))
    prefix = newline(text) if text[at - 1 : at] != '\n' else ''
    body = newline(text).join(' ' * column + line for line in _block(list(value), _indents_lists(text)))
    return Edit(at, at, prefix + body + ('' if prefix else newline(text)))


def _fill_empty(text: str, node: Map, key: str, below: Scalar, content: object) -> Edit:
    start, end = int(below.start_mark.index), int(below.end_mark.index)
    indent = int(node.names[key].start_mark.column)
    body = newline(text).join(' ' * (indent + 2) + line for line in _block(content, _indents_lists(text)))
    return Edit(start, end, newline(text) + body)


def _delete(text: str, node: Map, key: str) -> Edit:
    """Take an entry away with its line, or with its comma in a flow mapping."""
    name = node.names[key]
    start = int(name.start_mark.index)
    end = _end_of(text, node[key])
    if node.flow:
        after = re.compile(r'\s*,\s*').match(text, end)
        if after:
            return Edit(start, after.end(), '')
        before = re.search(r'\s*,\s*\Z', text[:start])
        return Edit(before.start() if before else start, end, '')
    begin = text.rfind('\n', 0, start) + 1
    if text[begin:start].strip():
        raise CannotEdit('it is the first entry of a list item')
    return Edit(begin, _line_end(text, end), '')


def _last_end(text: str, node: Map) -> int:
    """Where the text of the mapping's last entry ends (before a closing brace)."""
    ends = [_end_of(text, value) for key, value in node.items() if key not in node.merged]
    ends.extend(int(name.end_mark.index) for key, name in node.names.items() if key not in node.merged)
    return max((end for end in ends if node.start <= end), default=node.start + 1)


def _end_of(text: str, node: Node) -> int:
    if isinstance(node, (Map, Seq)):
        if node.flow:
            return node.end
        inner = [_end_of(text, item) for item in (node.values() if isinstance(node, Map) else node) if start_of(item) >= node.start]
        return max(inner, default=node.start)
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    return start + len(text[start:end].rstrip()) if node.style in ('|', '>') else end


def _line_end(text: str, at: int) -> int:
    """After the line end of the line that holds `at`."""
    found = text.find('\n', at)
    return len(text) if found < 0 else found + 1


def _column(text: str, at: int) -> int:
    return at - (text.rfind('\n', 0, at) + 1)


def _map_at(roots: Sequence[Node], start: int) -> Map | None:
    for node in walk(roots):
        if isinstance(node, Map) and node.start == start:
            return node
    return None


def _owner(roots: Sequence[Node], start: int) -> tuple[Map, str]:
    """The mapping and key whose key or value stands at an offset."""
    for node in walk(roots):
        if isinstance(node, Map):
            for key, name in node.names.items():
                if key in node and (int(name.start_mark.index) == start or start_of(node[key]) == start):
                    return node, key
    raise CannotEdit('the entry was not found')


def walk(roots: Sequence[Node]) -> list[Any]:
    """Every node once, parents before children; shared nodes (aliases) are visited at their definition only."""
    seen: set[int] = set()
    stack: list[Any] = list(reversed(roots))
    order: list[Any] = []
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        order.append(node)
        if isinstance(node, Map):
            stack.extend(reversed(list(node.values())))
        elif isinstance(node, Seq):
            stack.extend(reversed(node))
    return order
