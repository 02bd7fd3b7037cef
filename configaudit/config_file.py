"""The configuration file's values, each checked against the table of keys with its place."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit import units
from configaudit.config_schema import ROOT, Key, Shape
from configaudit.dates import is_date
from configaudit.errors import UsageError
from configaudit.places import Document, Place, locate

MAX_BYTES = 2**20
MAX_NODES = 100_000


class Node(NamedTuple):
    """A value of the file with its place: a dict or list of nodes, or a plain value."""

    value: Any
    place: Place
    keys: dict[str, Place]
    """Of a mapping: where each key stands."""
    text: str = ''
    """Of a plain value: its text as written, since a version 0.10 is not the number 0.1."""


def read(path: str, shown: str) -> dict[str, Any]:
    """The checked values of a file, nested as they stand. UsageError names the place of what is wrong."""
    root = _toml(path, shown) if path.endswith('.toml') else _yaml(path, shown)
    return {} if root is None else check(root, ROOT, '')


def place_of(path: str, keys: tuple[str, ...], word: str = '') -> str:
    """Where a word stands below one of the top-level keys of a file, as 'path:line:column'; '' where it does not."""
    from configaudit.sources import shown

    root = _toml(path, shown(path)) if path.endswith('.toml') else _yaml(path, shown(path))
    if root is None or not isinstance(root.value, dict):
        return ''
    for key, value in root.value.items():
        if key in keys:
            for name, place in [('', root.keys.get(key, value.place)), *_words(value)]:
                if name == word:
                    at = locate(place)
                    return f'{at.path}:{at.line}:{at.column}'
    return ''


def _words(node: Node) -> Iterator[tuple[str, Place]]:
    """Every key and every plain value below a node, in the order of the file."""
    if isinstance(node.value, dict):
        for key, item in node.value.items():
            yield key, node.keys.get(key, item.place)
            yield from _words(item)
    elif isinstance(node.value, list):
        for item in node.value:
            yield from _words(item)
    else:
        yield node.text, node.place


def _bytes(path: str) -> bytes:
    try:
        with open(path, 'rb') as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f'{path}: {error.strerror or error}') from None
    if len(data) > MAX_BYTES:
        raise UsageError(f'{path}: over {MAX_BYTES >> 20} MiB')
    return data


def _yaml(path: str, shown: str) -> Node | None:
    from configaudit.parse.yaml import SyntaxProblem, parse

    document = Document(shown, 'yaml', _bytes(path))
    try:
        tree = parse(document.data)
    except SyntaxProblem as problem:
        raise UsageError(_at(Place(document, problem.index, problem.index), problem.message)) from None
    if tree.duplicates:
        again = tree.duplicates[0]
        raise UsageError(_at(Place(document, again.second, again.second), f'{again.key!r} stands twice'))
    return _yaml_node(document, tree.roots[0], [MAX_NODES]) if tree.roots else None


def _yaml_node(document: Document, node: Any, left: list[int]) -> Node:
    """A node of the tree; aliases are expanded, so `left` counts how many values are still allowed."""
    from configaudit.parse.tree import Map, Seq, place_of, plain

    place = place_of(document, node)
    left[0] -= 1
    if left[0] < 0:
        raise UsageError(_at(place, f'over {MAX_NODES} values'))
    if isinstance(node, Map):
        keys = {name: place_of(document, key) for name, key in node.names.items()}
        return Node({name: _yaml_node(document, value, left) for name, value in node.items()}, place, keys)
    if isinstance(node, Seq):
        return Node([_yaml_node(document, item, left) for item in node], place, {})
    return Node(plain(node), place, {}, node.value)


def _toml(path: str, shown: str) -> Node | None:
    from configaudit.parse import toml

    document = Document(shown, 'toml', _bytes(path))
    file = toml.read(document.text)
    if file.problems:
        problem = file.problems[0]
        raise UsageError(_at(Place(document, problem.start, problem.end), problem.message))
    prefix = ('tool', 'configaudit')
    tables = [table for table in file.tables if table.path[:2] == prefix]
    root = Node({}, Place(document, tables[0].start, tables[0].end) if tables else Place(document, 0, 0), {})
    for table in tables:
        _descend(root, table.path[2:], Place(document, table.start, table.end))
    for entry in file.entries:
        if entry.path[:2] == prefix and len(entry.path) > 2:
            at = Place(document, entry.key_start, entry.end)
            parent = _descend(root, entry.path[2:-1], at)
            parent.value[entry.path[-1]] = _toml_node(entry.value, Place(document, entry.start, entry.end))
            parent.keys[entry.path[-1]] = at
    return _with_lists(root)


def _descend(node: Node, path: tuple[str, ...], place: Place) -> Node:
    for step in path:
        node.keys.setdefault(step, place)
        node = node.value.setdefault(step, Node({}, place, {}))
    return node


def _toml_node(value: object, place: Place) -> Node:
    if isinstance(value, list):
        return Node([_toml_node(item, place) for item in value], place, {})
    if isinstance(value, dict):
        return Node({key: _toml_node(item, place) for key, item in value.items()}, place, dict.fromkeys(value, place))
    return Node(value, place, {}, value if isinstance(value, str) else place.text)


def _with_lists(node: Node) -> Node:
    """Arrays of tables come as tables with the keys '0', '1', ...: make lists of them."""
    if isinstance(node.value, list):
        return node._replace(value=[_with_lists(item) for item in node.value])
    if not isinstance(node.value, dict):
        return node
    items = {key: _with_lists(value) for key, value in node.value.items()}
    if items and list(items) == [str(number) for number in range(len(items))]:
        return node._replace(value=list(items.values()))
    return node._replace(value=items)


def check(node: Node, shape: Shape, name: str) -> Any:
    """The plain value of a node that has the shape; UsageError with its place otherwise."""
    kind, value = shape.kind, node.value
    if kind == 'map':
        return _map(node, shape, name)
    if kind in ('table', 'list'):
        return _collection(node, shape, name)
    if kind == 'either':
        assert shape.of is not None
        return check(node, shape.of, name) if isinstance(value, dict) else _text(node, name, 'a text or a mapping')
    if kind == 'texts':
        items = value if isinstance(value, list) else [node]
        return tuple(_text(item, name, 'a text or a list of texts') for item in items)
    if kind == 'any':
        return _plain(node)
    return _single(node, shape, name)


def _plain(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {key: _plain(item) for key, item in node.value.items()}
    return [_plain(item) for item in node.value] if isinstance(node.value, list) else node.value


def _single(node: Node, shape: Shape, name: str) -> Any:
    value = node.value
    if shape.kind == 'choice':
        if value is False and 'off' in shape.choices:  # YAML 1.1 reads a bare off as false
            return 'off'
        if value not in shape.choices:
            hint = _hint(str(value), shape.choices)
            listed = ', '.join(shape.choices)
            raise UsageError(_at(node.place, f'{name}: {value!r} is none of {listed}{"; " + hint if hint else ""}'))
        return value
    if shape.kind == 'boolean' and not isinstance(value, bool):
        raise _wrong(node, name, 'true or false')
    if shape.kind == 'number' and (isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0):
        raise _wrong(node, name, 'a number above 0')
    if shape.kind == 'duration':
        seconds = units.seconds(value) if not isinstance(value, bool) else None
        if seconds is None or seconds <= 0:
            raise _wrong(node, name, "seconds, or a duration such as '90s' or '2m'")
        return seconds
    if shape.kind == 'date' and not is_date(node.text):
        raise _wrong(node, name, 'a date such as 2027-01-31')
    return _text(node, name, 'a text') if shape.kind in ('text', 'date') else value


def _map(node: Node, shape: Shape, name: str) -> dict[str, Any]:
    if node.value is None:
        return {}
    if not isinstance(node.value, dict):
        raise _wrong(node, name, 'a mapping')
    keys: dict[str, Key] = {key.name: key for key in shape.keys}
    found = {}
    for key, item in node.value.items():
        if key not in keys:
            where = f' in {name}' if name else ''
            hint = _hint(key, tuple(keys)) or 'one of ' + ', '.join(keys)
            raise UsageError(_at(node.keys.get(key, item.place), f'unknown key {key!r}{where}: {hint}'))
        found[key] = check(item, keys[key].shape, f'{name}.{key}' if name else key)
    for key in shape.keys:
        if key.required and key.name not in found:
            raise UsageError(_at(node.place, f'{name}: {key.name!r} is missing'))
    if name.startswith(('ignores[', 'overrides[', 'databases[')):
        found[''] = node.place
    return found


def _collection(node: Node, shape: Shape, name: str) -> Any:
    assert shape.of is not None
    if shape.kind == 'list':
        if not isinstance(node.value, list):
            raise _wrong(node, name, 'a list')
        return [check(item, shape.of, f'{name}[{number}]') for number, item in enumerate(node.value)]
    if not isinstance(node.value, dict):
        raise _wrong(node, name, 'a mapping')
    return {key: check(item, shape.of, f'{name}.{key}') for key, item in node.value.items()}


def _text(node: Node, name: str, wanted: str) -> str:
    if isinstance(node.value, (dict, list)) or node.value is None:
        raise _wrong(node, name, wanted)
    return node.text


def _wrong(node: Node, name: str, wanted: str) -> UsageError:
    given = {dict: 'a mapping', list: 'a list', type(None): 'nothing'}.get(type(node.value)) or repr(node.value)
    return UsageError(_at(node.place, f'{name or "the file"}: {given} stands where {wanted} belongs'))


def _at(place: Place, message: str) -> str:
    at = locate(place)
    return f'{at.path}:{at.line}:{at.column}: {message}'


def _hint(word: str, names: tuple[str, ...]) -> str:
    close = nearest(word, names)
    return f'did you mean {close!r}?' if close else ''


def nearest(word: str, names: tuple[str, ...]) -> str:
    """The name that a mistyped word most likely means, or ''."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word.replace('_', '-'), names, 1) or get_close_matches(word, names, 1)), '')
