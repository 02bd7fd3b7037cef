"""JavaScript and TypeScript source: the calls in it, what its names stand for, and objects of options.

One reader over the three grammars (JavaScript, TypeScript, TSX). A name stands for a value when the file binds it once;
what a module is called tells what it is: `new Pool` is a pool of node-postgres only where `Pool` comes from 'pg'.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.parse.grammar import place_of, tree_of
from configaudit.places import Document, Place

MAX_DEPTH = 20
"""Of values inside one another."""
_FUNCTIONS = frozenset((
    'function_declaration', 'function_expression', 'arrow_function', 'method_definition', 'generator_function', 'generator_function_declaration',
))  # fmt: skip
_WRAPPERS = ('parenthesized_expression', 'as_expression', 'satisfies_expression', 'non_null_expression', 'await_expression')
_NAMES = ('identifier', 'shorthand_property_identifier')


class Part(NamedTuple):
    """What a name of `const { a: name = 1 } = from` is bound to."""

    whole: Any
    key: str
    default: Any


class Scope:
    """A function, or the file outside of functions: what its names are bound to, and what it calls."""

    def __init__(self, node: Any, outer: 'Scope | None' = None) -> None:
        self.node = node
        self.outer = outer
        self.bound: dict[str, list[Any]] = {}
        """Name or path ('this.db') -> expressions and Parts assigned to it; None for what no expression shows."""
        self.calls: list[Any] = []
        """Calls and `new` expressions, in the order of the text."""

    def holder(self, name: str) -> 'Scope | None':
        """The scope that declares a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.bound:
            scope = scope.outer
        return scope


class Fields(NamedTuple):
    """The fields of an object, and whether it may have others."""

    values: dict[str, Any]
    """Name -> expression; None for one that a later part may replace."""
    complete: bool


class Source:
    """A parsed file. What has a syntax error inside is left out, the rest is read."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.data = document.parsed[document.bom :]
        self.root = tree_of(document.format, self.data)
        self.imports: dict[str, str] = {}
        """Name in the file -> what it is: 'Pool' -> 'pg.Pool'; a default import or a namespace is the module itself."""
        self.file = Scope(self.root)
        self.scopes: list[Scope] = [self.file]
        self._assigned: list[tuple[Scope, str, Any]] = []
        self._walk()
        for scope, name, value in self._assigned:
            (scope.holder(name) or self.file).bound.setdefault(name, []).append(value)

    def _walk(self) -> None:
        stack: list[tuple[Any, Scope]] = [(self.root, self.file)]
        while stack:
            node, scope = stack.pop()
            kind = node.type
            if kind in ('ERROR', 'type_annotation', 'interface_declaration', 'type_alias_declaration'):
                continue
            if kind in _FUNCTIONS:
                scope = self._function(node, scope)
            elif kind in ('call_expression', 'new_expression'):
                if not node.has_error:
                    scope.calls.append(node)
            elif kind == 'import_statement':
                self._import(node)
                continue
            elif kind == 'variable_declarator':
                self._declare(node, scope)
            elif kind in ('assignment_expression', 'augmented_assignment_expression', 'update_expression', 'for_in_statement', 'public_field_definition', 'field_definition'):
                self._assign(node, scope)
            stack.extend([(child, scope) for child in reversed(node.named_children)])

    def _function(self, node: Any, outer: Scope) -> Scope:
        name = node.child_by_field_name('name')
        if name is not None and node.type.endswith('declaration'):
            outer.bound.setdefault(self.text(name), []).append(node)
        scope = Scope(node, outer)
        self.scopes.append(scope)
        parameters = node.child_by_field_name('parameters') or node.child_by_field_name('parameter')
        for found in _identifiers(parameters):
            scope.bound.setdefault(self.text(found), []).append(None)
        return scope

    def _import(self, node: Any) -> None:
        source = node.child_by_field_name('source')
        if source is None or any(child.type == 'type' for child in node.children):
            return
        module = _module(self.text(source)[1:-1])
        for item in _below(node, ('import_clause', 'named_imports', 'namespace_import', 'import_specifier', 'identifier')):
            if item.type == 'identifier' and item.parent.type in ('import_clause', 'namespace_import'):
                self.imports[self.text(item)] = module
            elif item.type == 'import_specifier':
                name = self.text(item.child_by_field_name('name'))
                alias = item.child_by_field_name('alias')
                self.imports[self.text(alias) if alias is not None else name] = module if name == 'default' else f'{module}.{name}'

    def _declare(self, node: Any, scope: Scope) -> None:
        name, value = node.child_by_field_name('name'), node.child_by_field_name('value')
        if name is None:
            return
        if name.type == 'identifier':
            if value is not None:  # `let x;` binds nothing yet
                scope.bound.setdefault(self.text(name), []).append(value)
            else:
                scope.bound.setdefault(self.text(name), [])
        elif name.type == 'object_pattern' and value is not None:
            self._take_apart(name, value, scope)
        else:
            for found in _identifiers(name):
                scope.bound.setdefault(self.text(found), []).append(None)

    def _take_apart(self, pattern: Any, value: Any, scope: Scope) -> None:
        """`const { a, b: c = 1, ...rest } = value`."""
        for item in pattern.named_children:
            key, target, default = item, item, None
            if item.type == 'pair_pattern':
                key, target = item.child_by_field_name('key'), item.child_by_field_name('value')
            if target.type in ('assignment_pattern', 'object_assignment_pattern'):
                left, default = target.child_by_field_name('left'), target.child_by_field_name('right')
                key = left if key is item else key
                target = left
            if target.type in ('identifier', 'shorthand_property_identifier_pattern'):
                scope.bound.setdefault(self.text(target), []).append(Part(value, self.text(key).strip('\'"'), default))
            else:
                for found in _identifiers(target):
                    scope.bound.setdefault(self.text(found), []).append(None)

    def _assign(self, node: Any, scope: Scope) -> None:
        target = node.child_by_field_name('left') or node.child_by_field_name('argument') or node.child_by_field_name('name') or node.child_by_field_name('property')
        if target is None:
            return
        plain = node.type == 'assignment_expression'
        if node.type.endswith('field_definition'):
            value = node.child_by_field_name('value')
            if value is not None:
                self._assigned.append((scope, f'this.{self.text(target)}', value))
        elif target.type in ('identifier', 'member_expression', 'subscript_expression'):
            self._assigned.append((scope, self.text(target), node.child_by_field_name('right') if plain else None))
        else:
            self._assigned.extend((scope, self.text(found), None) for found in _identifiers(target))

    def text(self, node: Any) -> str:
        """What stands in the file."""
        return self.data[node.start_byte : node.end_byte].decode('utf-8', 'replace')

    def place(self, node: Any) -> Place:
        """Where a node stands."""
        return place_of(self.document, self.data, node)

    def values(self, name: str, scope: Scope) -> list[Any] | None:
        """Everything that a name is bound to; None for a name that no scope declares."""
        holder = scope.holder(name)
        return holder.bound[name] if holder is not None else None

    def settled(self, node: Any, scope: Scope) -> Any:
        """The expression that a name or a field of a constant object stands for; without parentheses and types."""
        for _ in range(MAX_DEPTH):
            if node.type in _WRAPPERS and node.named_children:
                node = node.named_children[0]
            elif node.type == 'type_assertion' and node.named_children:
                node = node.named_children[-1]
            elif node.type in _NAMES:
                values = self.values(self.text(node), scope)
                if values is None or len(values) != 1 or values[0] is None or isinstance(values[0], Part):
                    return node
                node = values[0]
            elif node.type == 'member_expression':
                found = self._field(node, scope)
                if found is None:
                    return node
                node = found
            else:
                return node
        return node

    def _field(self, node: Any, scope: Scope) -> Any:
        """What `settings.max` is, where `settings` is an object that the file shows and nothing changes."""
        path = self.text(node)
        assigned = self.values(path, scope)
        if assigned is not None:
            return assigned[0] if len(assigned) == 1 and not isinstance(assigned[0], Part) else None
        whole = node.child_by_field_name('object')
        if whole.type not in ('identifier', 'member_expression'):
            return None
        inner = self.settled(whole, scope)
        return self.fields(inner, scope).values.get(self.text(node.child_by_field_name('property'))) if inner.type == 'object' else None

    def part(self, node: Any, scope: Scope) -> Part | None:
        """What a name stands for that was taken out of an object."""
        values = self.values(self.text(node), scope) if node.type in _NAMES else None
        return values[0] if values is not None and len(values) == 1 and isinstance(values[0], Part) else None

    def name_of(self, node: Any, scope: Scope, depth: int = MAX_DEPTH) -> str:
        """The full name of an expression: 'pg.Pool' for `Pool`, `pg.Pool` or `require('pg').Pool`; '' for what is imported from nowhere."""
        node = self.settled(node, scope)
        if not depth:
            return ''
        if node.type in _NAMES:
            part = self.part(node, scope)
            if part is not None:
                whole = self.name_of(part.whole, scope, depth - 1)
                return f'{whole}.{part.key}' if whole else ''
            name = self.text(node)
            return self.imports.get(name, '') if self.values(name, scope) is None else ''
        if node.type == 'member_expression':
            whole = self.name_of(node.child_by_field_name('object'), scope, depth - 1)
            name = self.text(node.child_by_field_name('property'))
            return '' if not whole else whole if name == 'default' else f'{whole}.{name}'
        if node.type == 'call_expression' and self.text(node.child_by_field_name('function')) in ('require', 'import'):
            arguments = self.arguments(node)
            return _module(self.text(arguments[0])[1:-1]) if len(arguments) == 1 and arguments[0].type == 'string' else ''
        return ''

    def called(self, call: Any, scope: Scope) -> str:
        """The full name of what a call calls or makes."""
        called = call.child_by_field_name('function') or call.child_by_field_name('constructor')
        return self.name_of(called, scope) if called is not None else ''

    def arguments(self, call: Any) -> list[Any]:
        """The arguments of a call; comments are none."""
        found = call.child_by_field_name('arguments')
        return [node for node in found.named_children if node.type != 'comment'] if found is not None else []

    def fields(self, node: Any, scope: Scope, depth: int = MAX_DEPTH) -> Fields:
        """The fields of an object literal or of a name for one. Where `...rest` is not shown, it may replace what stands before it."""
        node = self.settled(node, scope)
        if node.type != 'object' or not depth or node.has_error:
            return Fields({}, False)
        found: dict[str, Any] = {}
        complete = True
        for item in node.named_children:
            if item.type == 'pair':
                key = self._key(item.child_by_field_name('key'), scope)
                complete = complete and key is not None
                if key is not None:
                    found[key] = item.child_by_field_name('value')
            elif item.type == 'shorthand_property_identifier':
                found[self.text(item)] = item
            elif item.type == 'spread_element':
                inner = self.fields(item.named_children[0], scope, depth - 1)
                complete = complete and inner.complete
                if not inner.complete:
                    found = dict.fromkeys(found)
                found.update(inner.values)
        return Fields(found, complete)

    def _key(self, node: Any, scope: Scope) -> str | None:
        if node.type == 'computed_property_name':
            node = self.settled(node.named_children[0], scope)
            return self.text(node)[1:-1] if node.type == 'string' else None
        text = self.text(node)
        return text[1:-1] if node.type == 'string' else text


def _module(name: str) -> str:
    return name.removeprefix('node:')


def _identifiers(node: Any) -> Iterator[Any]:
    """The names that a pattern or a list of parameters binds."""
    if node is None:
        return
    stack = [node]
    while stack:
        found = stack.pop()
        if found.type in ('identifier', 'shorthand_property_identifier_pattern'):
            yield found
        elif found.type not in ('type_annotation', 'decorator'):
            stack.extend(found.named_children)


def _below(node: Any, kinds: tuple[str, ...]) -> Iterator[Any]:
    for child in node.named_children:
        if child.type in kinds:
            yield child
            yield from _below(child, kinds)
