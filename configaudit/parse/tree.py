"""Trees of configuration with the place of every key and value: what the YAML and JSON readers build.

A scalar stays the event that libyaml delivered (text, style, marks); maps and lists are dict and list
with their span. Nothing is converted until somebody asks for it.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from configaudit.parse.libyaml import ScalarEvent as Scalar
from configaudit.patterns import regex
from configaudit.places import Document, Place

Node: TypeAlias = Any


__all__ = [
    'Map', 'Node', 'Scalar', 'Seq', 'get', 'home', 'items', 'key_place', 'mapping', 'maps', 'place_of', 'plain', 'resolve', 'start_of', 'text',
]  # fmt: skip


class Map(dict[str, Any]):
    """A mapping: its items are nodes; `names` has the key's own scalar, `merged` the keys from `<<`.

    `document` is set on nodes that another document gave (a kustomize patch); see `home`.
    """

    __slots__ = ('document', 'end', 'flow', 'merged', 'names', 'start')

    def __init__(self, start: int, flow: bool) -> None:
        self.start = start
        self.end = start
        self.flow = flow
        self.names: dict[str, Scalar] = {}
        self.merged: frozenset[str] = frozenset()


class Seq(list[Any]):
    """A sequence of nodes."""

    __slots__ = ('document', 'end', 'flow', 'start')

    def __init__(self, start: int, flow: bool) -> None:
        self.start = start
        self.end = start
        self.flow = flow


_WORDS: dict[str, object] = {
    '': None, '~': None, 'null': None, 'Null': None, 'NULL': None,
    **dict.fromkeys(('true', 'True', 'TRUE', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'y', 'Y'), True),
    **dict.fromkeys(('false', 'False', 'FALSE', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'n', 'N'), False),
}  # fmt: skip
# y and n are booleans to go-yaml only as values of boolean fields; as text they stay text (see `plain`).
for _letter in 'yYnN':
    del _WORDS[_letter]
_NUMBER = regex(r'[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[\d_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][-+]?\d+)?)$')


def plain(node: Node | None) -> Any:
    """The value as YAML 1.1 reads it (go-yaml's dialect): None, bool, int, float, str, dict or list."""
    if node is None:
        return None
    if isinstance(node, dict):
        return {key: plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain(item) for item in node]
    if node.style or not node.implicit[0]:
        return node.value
    return resolve(node.value)


def resolve(text: str) -> Any:
    """A plain scalar's value by YAML 1.1, without sexagesimals and dates."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in '+-.0123456789' or _NUMBER.match(text) is None:
        return text
    try:
        digits = text.replace('_', '')
        sign, body = (digits[0], digits[1:]) if digits[0] in '+-' else ('', digits)
        if body[:2] in ('0x', '0b', '0o'):
            return int(sign + body, 0)
        if len(body) > 1 and body[0] == '0' and body.isdigit():
            return int(sign + body, 8)
        return int(digits) if body.isdigit() else float(digits)
    except ValueError:
        return text


def get(node: Any, *path: str | int) -> Any:
    """The node below, or None where the path leaves the tree."""
    for step in path:
        if isinstance(step, str):
            if not isinstance(node, dict):
                return None
            node = node.get(step)
        else:
            if not isinstance(node, list) or step >= len(node):
                return None
            node = node[step]
    return node


def text(node: Any, *path: str | int) -> str | None:
    """A scalar's text, whatever type YAML would give it; None for null, maps, lists and absence."""
    node = get(node, *path) if path else node
    if not isinstance(node, Scalar):
        return None
    if not node.style and node.value in ('', '~', 'null') and node.implicit[0]:
        return None
    return str(node.value)


def mapping(node: Any, *path: str | int) -> Map | None:
    """The map below, or None."""
    found = get(node, *path) if path else node
    return found if isinstance(found, Map) else None


def items(node: Any, *path: str | int) -> list[Any]:
    """The list below, or an empty one."""
    found = get(node, *path) if path else node
    return found if isinstance(found, Seq) else []


def maps(node: Any, *path: str | int) -> Iterator[Map]:
    """The maps of the list below."""
    return (item for item in items(node, *path) if isinstance(item, Map))


def start_of(node: Node) -> int:
    """Offset of a node's first character."""
    return node.start if isinstance(node, (Map, Seq)) else int(node.start_mark.index)


def home(document: Document, node: Node) -> Document:
    """The document a node stands in: the one at hand, unless a merge brought it from another."""
    return getattr(node, 'document', document)


def place_of(document: Document, node: Node) -> Place:
    """Where a node stands. A collection is shown by its first key or item; block scalars end with their text."""
    document = home(document, node)
    if isinstance(node, Map):
        first = next(iter(node.names.values()), None)
        if first is not None:
            return place_of(document, first)
        return Place(document, node.start, max(node.start + 1, node.end if node.flow else node.start + 1))
    if isinstance(node, Seq):
        return place_of(document, node[0]) if node and not node.flow else Place(document, node.start, node.start + 1)
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    if node.style in ('|', '>'):
        end = start + len(document.text[start:end].rstrip())
    return Place(document, start, end)


def key_place(document: Document, parent: Map, key: str) -> Place:
    """Where a key of a map stands."""
    name = parent.names.get(key)
    return place_of(document, name if name is not None else parent)
