"""Rust source: chains of builder calls, with the names they start from, constants folded and places kept.

`Endpoint::from_static("http://a:1").timeout(x).connect()` is one chain: where it starts, and every method with its arguments.
What stands in test modules and test functions is left out.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.parse.folding import Unfolded as Unfolded
from configaudit.parse.grammar import place_of, tree_of
from configaudit.patterns import regex
from configaudit.places import Document, Place

MAX_DEPTH = 20
"""Of values inside one another."""
_SECONDS = {'from_secs': 1, 'from_millis': 1e-3, 'from_micros': 1e-6, 'from_nanos': 1e-9, 'from_mins': 60, 'from_hours': 3600, 'from_secs_f64': 1, 'from_secs_f32': 1}
_INTEGER = regex(r'(0x[0-9a-fA-F_]+|[0-9][0-9_]*)(?:[iu](?:8|16|32|64|128|size))?\Z')
_FLOAT = regex(r'([0-9][0-9_]*\.[0-9_]*)(?:f32|f64)?\Z')
_TEST = regex(rb'cfg\(test\)|\btest\b|\btest_case\b|\brstest\b')
_THROUGH = ('try_expression', 'await_expression', 'parenthesized_expression', 'reference_expression')


class Chain(NamedTuple):
    """A chain of calls."""

    start: str
    """The full path that it starts from: 'tonic::transport::Endpoint::from_static'."""
    call: Any
    methods: dict[str, Any]
    """Method -> its call; the last one of a name counts."""
    function: Any
    """The function around it, or the file."""


class Source:
    """A parsed file. What has a syntax error inside is left out, the rest is read."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.data = document.parsed[document.bom :]
        self.root = tree_of('rust', self.data)
        self.imports: dict[str, str] = {}
        """Name in the file -> full path."""
        self._bound: dict[tuple[int, str], list[Any]] = {}
        self._calls: list[tuple[Any, Any]] = []
        self._walk()

    def _walk(self) -> None:
        stack: list[tuple[Any, Any]] = [(self.root, self.root)]
        while stack:
            node, function = stack.pop()
            kind = node.type
            if kind == 'ERROR' or (kind in ('mod_item', 'function_item') and self._is_test(node)):
                continue
            if kind == 'use_declaration':
                self.imports.update(self._paths(node.child_by_field_name('argument'), ''))
                continue
            if kind == 'function_item':
                function = node
            elif kind in ('let_declaration', 'const_item', 'static_item', 'assignment_expression'):
                name = node.child_by_field_name('pattern') or node.child_by_field_name('name') or node.child_by_field_name('left')
                if name is not None:
                    self._bound.setdefault((function.id, self.text(name)), []).append(node.child_by_field_name('value') or node.child_by_field_name('right'))
            elif kind == 'call_expression' and not node.has_error:
                self._calls.append((node, function))
            stack.extend([(child, function) for child in reversed(node.named_children)])

    def _is_test(self, node: Any) -> bool:
        before = node.prev_named_sibling
        while before is not None and before.type in ('attribute_item', 'line_comment', 'block_comment'):
            if before.type == 'attribute_item' and _TEST.search(self.data, before.start_byte, before.end_byte):
                return True
            before = before.prev_named_sibling
        return False

    def _paths(self, node: Any, prefix: str) -> Iterator[tuple[str, str]]:
        """What a `use` brings in: 'Pool' -> 'sqlx::Pool'."""
        if node is None:
            return
        path = node.child_by_field_name('path')
        text = prefix + self.text(path if path is not None and node.type != 'scoped_identifier' else node)
        if node.type == 'use_as_clause':
            yield self.text(node.child_by_field_name('alias')), text
        elif node.type == 'scoped_use_list':
            yield from self._paths(node.child_by_field_name('list'), f'{text}::' if path is not None else prefix)
        elif node.type == 'use_list':
            for item in node.named_children:
                yield from self._paths(item, prefix)
        elif node.type in ('identifier', 'scoped_identifier', 'self'):
            full = text.removesuffix('::self')
            yield full.rpartition('::')[2], full

    def text(self, node: Any) -> str:
        """What stands in the file."""
        return self.data[node.start_byte : node.end_byte].decode('utf-8', 'replace')

    def place(self, node: Any) -> Place:
        """Where a node stands."""
        return place_of(self.document, self.data, node)

    def chains(self) -> Iterator[Chain]:
        """Every chain that starts from a path, in the order of the file; methods on the variable that holds it belong to it."""
        for call, function in self._calls:
            start = self.path_of(call.child_by_field_name('function'))
            if '::' not in start:
                continue
            methods, top = self._methods(call)
            holder = top.parent
            if holder is not None and holder.type == 'let_declaration':
                name = self.text(holder.child_by_field_name('pattern')).removeprefix('mut ')
                methods.update(self._later(name, function))
            yield Chain(start, call, methods, function)

    def _methods(self, node: Any) -> tuple[dict[str, Any], Any]:
        found: dict[str, Any] = {}
        while node.parent is not None:
            above = node.parent
            if above.type == 'field_expression' and above.parent is not None and above.parent.type == 'call_expression' and above.child_by_field_name('value').id == node.id:
                node = above.parent
                found[self.text(above.child_by_field_name('field'))] = node
            elif above.type in _THROUGH:
                node = above
            else:
                break
        return found, node

    def _later(self, name: str, function: Any) -> dict[str, Any]:
        """The methods that a function calls on a variable."""
        found: dict[str, Any] = {}
        for call, where in self._calls:
            called = call.child_by_field_name('function')
            if where.id == function.id and called.type == 'field_expression':
                value = called.child_by_field_name('value')
                if value.type == 'identifier' and self.text(value) == name:
                    found[self.text(called.child_by_field_name('field'))] = call
                    found.update(self._methods(call)[0])
        return found

    def path_of(self, node: Any) -> str:
        """The full path of `Endpoint::new`, generics left out; '' for no path."""
        if node is None:
            return ''
        if node.type == 'generic_function':
            node = node.child_by_field_name('function')
        if node.type not in ('scoped_identifier', 'identifier'):
            return ''
        parts = [part for part in regex(r'::<[^<>]*(?:<[^<>]*>[^<>]*)*>|<[^<>]*>').sub('', self.text(node)).split('::') if part]
        if not parts:
            return ''
        return '::'.join([self.imports.get(parts[0], parts[0]), *parts[1:]])

    def arguments(self, call: Any) -> list[Any]:
        """The arguments of a call."""
        found = call.child_by_field_name('arguments')
        return [node for node in found.named_children if not node.type.endswith('comment')] if found is not None else []

    def value(self, node: Any, function: Any, depth: int = MAX_DEPTH) -> Any:
        """The constant an expression comes to; a Duration is a number of seconds, `None` is None. Raises Unfolded."""
        if not depth:
            raise Unfolded
        text, kind = self.text(node), node.type
        if kind in _THROUGH and node.named_children:
            return self.value(node.named_children[-1], function, depth - 1)
        if kind == 'integer_literal' and (found := _INTEGER.match(text)) is not None and len(text) < 40:
            return int(found[1].replace('_', ''), 16 if text[:2] == '0x' else 10)
        if kind == 'float_literal' and (found := _FLOAT.match(text)) is not None:
            return float(found[1].replace('_', ''))
        if kind == 'boolean_literal':
            return text == 'true'
        if kind == 'string_literal' and '\\' not in text:
            return text[1:-1]
        if kind == 'identifier':
            return None if text == 'None' else self._named(text, function, depth)
        return self._computed(node, function, depth)

    def _named(self, name: str, function: Any, depth: int) -> Any:
        for scope in (function, self.root):
            values = self._bound.get((scope.id, name))
            if values is not None:
                if len(values) != 1 or values[0] is None:
                    raise Unfolded
                return self.value(values[0], function, depth - 1)
        raise Unfolded

    def _computed(self, node: Any, function: Any, depth: int) -> Any:
        if node.type == 'binary_expression':
            left, right = (self.value(node.child_by_field_name(side), function, depth - 1) for side in ('left', 'right'))
            operator = self.text(node.child_by_field_name('operator'))
            if all(isinstance(part, (int, float)) and not isinstance(part, bool) and abs(part) < 2**53 for part in (left, right)) and operator in ('*', '+', '-'):
                return {'*': left * right, '+': left + right, '-': left - right}[operator]
        if node.type == 'call_expression' and len(self.arguments(node)) == 1:
            path = self.path_of(node.child_by_field_name('function'))
            inner = self.arguments(node)[0]
            if path == 'Some':
                return self.value(inner, function, depth - 1)
            seconds = _SECONDS.get(path.rpartition('::')[2]) if '::Duration::' in f'::{path}' else None
            if seconds is not None:
                found = self.value(inner, function, depth - 1) * seconds
                return int(found) if found == int(found) else round(found, 9)
        raise Unfolded
