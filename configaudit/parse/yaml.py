"""YAML and JSON with the place of every value, from libyaml's events.

Measured: the event loop is faster than CSafeLoader and, with its own depth cap, survives input that
makes `yaml.compose` crash on deep nesting. Limits are constants; each has a message.
"""

import time
from typing import Any, NamedTuple

from configaudit.parse.libyaml import (
    AliasEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
    yaml,
)
from configaudit.parse.template import FILL, collapse
from configaudit.parse.tree import Map, Node, Seq
from configaudit.units import HOLE

MAX_DEPTH = 200
MAX_NODES = 2_000_000
MAX_BYTES = 32 * 2**20
MAX_SECONDS = 10.0

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # PyYAML built without libyaml: the same events, twenty times slower
    _Parser = yaml.Loader


class Duplicate(NamedTuple):
    """A key that stands twice in one mapping; the later one counts."""

    key: str
    first: int
    second: int


class Tree(NamedTuple):
    """What one stream holds: its roots (a stream may carry several documents) and its duplicate keys."""

    roots: list[Node]
    duplicates: list[Duplicate]


class SyntaxProblem(Exception):
    """The text is not YAML, or passes a limit. `index` is a code-point offset."""

    def __init__(self, message: str, index: int, kind: str = 'yaml') -> None:
        super().__init__(message)
        self.message = message
        self.index = index
        self.kind = kind


def parse(data: bytes, masked: bool = False) -> Tree:
    """The trees of one YAML stream. Raises SyntaxProblem, and nothing else, on any bytes."""
    if len(data) > MAX_BYTES:
        raise SyntaxProblem(f'document over {MAX_BYTES >> 20} MiB', 0, 'limit')
    stream: Any = _Parser(data)
    try:
        return _build(stream.get_event, masked)
    except yaml.YAMLError as error:
        raise _syntax_problem(error, data) from None
    except (ValueError, UnicodeError) as error:
        raise SyntaxProblem(str(error), 0) from None
    finally:
        stream.dispose()


def check(data: bytes) -> None:
    """Raise SyntaxProblem when a stream is not YAML, building nothing: for kinds that nobody reads.

    The bare scan has no depth cap of ours, so text that could nest deeply takes the slow way.
    """
    if _Parser is yaml.Loader or len(data) > MAX_BYTES or data.count(b'[') + data.count(b'{') > 10_000 or b'- - - -' in data:
        parse(data)
        return
    stream = _Parser(data)
    try:
        stream.raw_parse()
    except yaml.YAMLError as error:
        raise _syntax_problem(error, data) from None
    finally:
        stream.dispose()


def _syntax_problem(error: yaml.YAMLError, data: bytes) -> SyntaxProblem:
    mark = getattr(error, 'problem_mark', None) or getattr(error, 'context_mark', None)
    problem = getattr(error, 'problem', None) or getattr(error, 'reason', None) or str(error)
    context = getattr(error, 'context', None)
    position = _characters(data, getattr(error, 'position', None) or 0) if mark is None else 0
    message = f'{context}: {problem}' if context else str(problem)
    return SyntaxProblem(message, mark.index if mark is not None else position)


def _characters(data: bytes, offset: int) -> int:
    """libyaml's byte offset in code points; at bytes that are not UTF-8 it names a later one."""
    data = data.removeprefix(b'\xef\xbb\xbf')
    try:
        data.decode()
    except UnicodeDecodeError as error:
        offset = error.start
    return len(data[:offset].decode('utf-8', 'replace'))


def _build(get: Any, masked: bool) -> Tree:
    duplicates: list[Duplicate] = []
    anchors: dict[str, Node] = {}
    stack: list[tuple[Any, Any]] = []
    roots: list[Node] = []
    node, pending, in_map, count = roots, None, False, 0  # type: Any, Any, bool, int
    deadline = time.monotonic() + MAX_SECONDS
    while True:
        event = get()
        kind = event.__class__
        if kind is ScalarEvent:
            value = event
            if masked and FILL in event.value:
                event.value = collapse(event.value)
            if event.anchor is not None:
                anchors[event.anchor] = event
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(stack) >= MAX_DEPTH:
                raise SyntaxProblem(f'nesting deeper than {MAX_DEPTH}', event.start_mark.index, 'limit')
            value = (Map if kind is MappingStartEvent else Seq)(event.start_mark.index, event.flow_style)
            if event.anchor is not None:
                anchors[event.anchor] = value
            stack.append((node, pending))
            node, pending, in_map = value, None, kind is MappingStartEvent
            continue
        elif kind is AliasEvent:
            found = anchors.get(event.anchor)
            if found is None:
                raise SyntaxProblem(f'undefined alias *{event.anchor}', event.start_mark.index)
            value = _opaque(event) if any(found is outer for outer, _ in stack) or found is node else found
        elif kind is StreamEndEvent:
            return Tree(roots, duplicates)
        elif kind is DocumentStartEvent:
            anchors = {}
            continue
        elif stack:  # the end of a mapping or a sequence
            node.end = event.end_mark.index
            value = node
            if in_map and '<<' in node:
                count += _merge(node)
            node, pending = stack.pop()
            in_map = node.__class__ is Map
        else:
            continue
        if not in_map:
            node.append(value)
        elif pending is None:
            pending = value if value.__class__ is ScalarEvent else _opaque(value)
        else:
            name = pending.value
            if name in node and name != '<<' and HOLE not in name:
                duplicates.append(Duplicate(name, node.names[name].start_mark.index, pending.start_mark.index))
            if name == '<<' and name in node:
                name = f'<< {len(node)}'
            node[name] = value
            node.names[name] = pending
            pending = None
        count += 1
        if count & 0xFFF == 0 and (count > MAX_NODES or time.monotonic() > deadline):
            raise SyntaxProblem(f'over {MAX_NODES} values or {MAX_SECONDS:g} s', 0, 'limit')


def _opaque(value: Any) -> ScalarEvent:
    """A scalar in place of what cannot be one: a collection as a key, an alias to its own parent."""
    start = value.start if isinstance(value, (Map, Seq)) else value.start_mark.index
    mark = yaml.Mark('', start, 0, 0, None, None)
    return ScalarEvent(None, None, (False, True), HOLE, mark, mark, style='"')


def _merge(node: Map) -> int:
    """Resolve `<<`: what the mapping does not set itself comes from the merged ones, the first wins."""
    merged: dict[str, Node] = {}
    for key in [key for key in node if key == '<<' or key.startswith('<< ')]:
        value = node.pop(key)
        node.names.pop(key)
        for source in value if isinstance(value, Seq) else [value]:
            if isinstance(source, Map):
                for name, item in source.items():
                    if name not in node and name not in merged:
                        merged[name] = item
                        node.names[name] = source.names[name]
    node.update(merged)
    node.merged = frozenset(merged)
    return len(merged)
