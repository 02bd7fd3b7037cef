"""Go source: the calls and literals that a reader asks for, with constants folded and places kept.

A tree-sitter grammar reads it (the packages `tree-sitter` and `tree-sitter-go`); only declarations that hold a wanted
word are walked. A name stands for a value when its function, or the file outside of functions, binds it once.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from configaudit.parse.grammar import place_of, tree_of
from configaudit.places import Document, Place

MAX_DEPTH = 20
"""Of values inside one another."""
_FUNCTIONS = ('function_declaration', 'method_declaration')


class Scope:
    """A function, or the file outside of functions: what its names are bound to, in the order of the text."""

    def __init__(self, node: Any, outer: 'Scope | None' = None) -> None:
        self.node = node
        self.outer = outer
        self.bound: dict[str, list[Any]] = {}
        """Name or field path ('s.db') -> the expressions assigned to it; None for what no expression shows."""
        self.appended: dict[str, list[Any]] = {}
        """Name -> what `append` adds to it."""
        self.calls: list[Any] = []
        self.literals: list[Any] = []

    def values(self, name: str) -> list[Any]:
        """Everything that a name is bound to, here or outside."""
        found = self.bound.get(name)
        return found if found is not None else self.outer.values(name) if self.outer is not None else []


class Options(NamedTuple):
    """Arguments of a call, those of slices included, and whether there may be more."""

    nodes: tuple[Any, ...]
    complete: bool


class Source:
    """A parsed file. A function with a syntax error is left out: what it sets may stand in the unread part."""

    def __init__(self, document: Document, words: Collection[bytes]) -> None:
        self.document = document
        data = document.parsed[document.bom :]
        self.data = data
        self.root = tree_of('go', data)
        self.imports: dict[str, str] = {}
        """Name in the file -> import path; an import for its side effects stands under its path."""
        self._constants: set[str] = set()
        self.package = Scope(self.root)
        self.scopes: list[Scope] = [self.package]
        for node in self.root.named_children:
            if node.type == 'import_declaration':
                self.imports.update(self._imports(node))
            elif node.type in ('const_declaration', 'var_declaration') and not node.has_error:
                self._walk(node, self.package)
                if node.type == 'const_declaration':
                    self._constants.update(self.text(name) for spec in _below(node, 'const_spec') for name in spec.children_by_field_name('name'))
            elif node.type in _FUNCTIONS and not node.has_error and any(data.find(word, node.start_byte, node.end_byte) >= 0 for word in words):
                scope = Scope(node, self.package)
                self.scopes.append(scope)
                self._walk(node, scope)

    def _imports(self, node: Any) -> Iterator[tuple[str, str]]:
        for spec in _below(node, 'import_spec'):
            path = self.text(spec.child_by_field_name('path')).strip('"`')
            alias = spec.child_by_field_name('name')
            name = self.text(alias) if alias is not None else ''
            parts = re.sub(r'/v\d+$', '', path).split('/')
            yield (path if name in ('_', '.') else name or re.sub(r'\.v\d+$|^go-', '', parts[-1]).replace('-', '')), path

    def _walk(self, top: Any, scope: Scope) -> None:
        stack = [top]
        while stack:
            node = stack.pop()
            kind = node.type
            if kind == 'call_expression':
                scope.calls.append(node)
            elif kind == 'composite_literal':
                scope.literals.append(node)
            elif kind in ('short_var_declaration', 'assignment_statement'):
                self._bind(scope, _items(node, 'left'), _items(node, 'right'))
            elif kind in ('var_spec', 'const_spec'):
                value = node.child_by_field_name('value')
                self._bind(scope, node.children_by_field_name('name'), value.named_children if value is not None else [], kind == 'var_spec')
            elif kind in ('parameter_declaration', 'variadic_parameter_declaration', 'range_clause'):
                for name in [*node.children_by_field_name('name'), *_items(node, 'left')]:
                    scope.bound.setdefault(self.text(name), []).append(None)
            stack.extend(reversed(node.named_children))

    def _bind(self, scope: Scope, names: list[Any], values: list[Any], zero: bool = False) -> None:
        """One assignment. A call with several results stands for the first of them; `var x T` alone binds nothing yet."""
        for at, node in enumerate(names):
            name = self.text(node)
            value = values[at] if len(values) == len(names) else values[0] if at == 0 and len(values) == 1 else None
            if value is not None and self._adds(value, name):
                arguments = value.child_by_field_name('arguments').named_children
                scope.appended.setdefault(name, []).extend(arguments[1:])
            elif value is not None or not (zero and not values):
                scope.bound.setdefault(name, []).append(value)

    def _adds(self, value: Any, name: str) -> bool:
        """Whether a value is `append(name, ...)`."""
        if value.type != 'call_expression' or self.text(value.child_by_field_name('function')) != 'append':
            return False
        arguments = value.child_by_field_name('arguments').named_children
        return bool(arguments) and self.text(arguments[0]) == name

    def text(self, node: Any) -> str:
        """What stands in the file."""
        return self.data[node.start_byte : node.end_byte].decode('utf-8', 'replace')

    def place(self, node: Any) -> Place:
        """Where a node stands."""
        return place_of(self.document, self.data, node)

    def name_of(self, node: Any) -> str:
        """The full name of `grpc.Dial` or of a type: 'google.golang.org/grpc.Dial'; '' for what is imported from nowhere."""
        if node is None or node.type not in ('selector_expression', 'qualified_type'):
            return ''
        package, _, name = self.text(node).rpartition('.')
        return f'{self.imports[package]}.{name}' if package in self.imports else ''

    def called(self, call: Any) -> str:
        """The full name of what a call calls."""
        return self.name_of(call.child_by_field_name('function'))

    def arguments(self, call: Any) -> list[Any]:
        """The arguments of a call; comments are none."""
        return [node for node in call.child_by_field_name('arguments').named_children if node.type != 'comment']

    def method(self, call: Any) -> tuple[str, str]:
        """Receiver as it is written and method name of `db.SetMaxOpenConns(1)`; empty for another call."""
        function = call.child_by_field_name('function')
        if function is None or function.type != 'selector_expression':
            return '', ''
        return self.text(function.child_by_field_name('operand')), self.text(function.child_by_field_name('field'))

    def settled(self, node: Any, scope: Scope) -> Any:
        """The expression that a name stands for, when it is bound once; without `&` and parentheses."""
        for _ in range(MAX_DEPTH):
            if node.type == 'unary_expression' and self.text(node).startswith('&'):
                node = node.child_by_field_name('operand')
            elif node.type in ('parenthesized_expression', 'literal_element') and len(node.named_children) == 1:
                node = node.named_children[0]
            elif node.type == 'identifier':
                name = self.text(node)
                values = scope.values(name)
                if len(values) != 1 or values[0] is None or (name not in scope.bound and self._may_change(name)):
                    return node
                node = values[0]
            else:
                return node
        return node

    def _may_change(self, name: str) -> bool:
        """Whether a variable of the package is set or handed out by address somewhere in the file."""
        if name in self._constants:
            return False
        word = re.escape(name.encode())
        return len(re.findall(rb'\b%s[ \t]*=(?!=)' % word, self.data)) > 1 or re.search(rb'&%s\b' % word, self.data) is not None

    def fields(self, node: Any) -> dict[str, Any] | None:
        """The fields of a struct literal with names; None for one without names."""
        found: dict[str, Any] = {}
        for item in node.child_by_field_name('body').named_children:
            if item.type == 'keyed_element':
                value = item.child_by_field_name('value')
                inner = value.named_children
                found[self.text(item.child_by_field_name('key'))] = inner[0] if value.type == 'literal_element' and inner else value
            elif item.type != 'comment':
                return None
        return found

    def options(self, nodes: list[Any], scope: Scope, depth: int = MAX_DEPTH) -> Options:
        """The single options among arguments such as `a, opts...`, from slices that the file shows."""
        found: list[Any] = []
        complete = True
        for node in nodes:
            if node.type != 'variadic_argument':
                settled = self.settled(node, scope)
                found.append(settled)
                complete = complete and settled.type == 'call_expression' and bool(self.called(settled))
                continue
            inner = self._spread(node.named_children[0], scope, depth)
            found.extend(inner.nodes)
            complete = complete and inner.complete
        return Options(tuple(found), complete)

    def _spread(self, node: Any, scope: Scope, depth: int) -> Options:
        """What `opts...` holds: the slice that `opts` is, and what is appended to it."""
        if not depth:
            return Options((), False)
        name = self.text(node)
        added = self.options(scope.appended.get(name, []), scope, depth - 1)
        settled = self.settled(node, scope)
        if settled.type == 'composite_literal':
            items = [self._element(item) for item in settled.child_by_field_name('body').named_children if item.type != 'comment']
            first = self.options(items, scope, depth - 1)
            return Options((*first.nodes, *added.nodes), first.complete and added.complete)
        if node.type == 'identifier' and not scope.values(name) and name in scope.appended:  # `var opts []grpc.DialOption`
            return added
        return Options(added.nodes, False)

    def _element(self, item: Any) -> Any:
        return item.named_children[0] if item.type == 'literal_element' and item.named_children else item


def _items(node: Any, field: str) -> list[Any]:
    """The expressions of a list, or the one that stands alone."""
    found = node.child_by_field_name(field)
    if found is None:
        return []
    return list(found.named_children) if found.type == 'expression_list' else [found]


def _below(node: Any, kind: str) -> Iterator[Any]:
    for child in node.named_children:
        if child.type == kind:
            yield child
        elif child.type.endswith('_list'):
            yield from _below(child, kind)
