"""Kotlin source (tree-sitter-kotlin) in the shape of parse/jvm.py."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from configaudit.parse.grammar import GRAMMARS, tree_of
from configaudit.parse.jvm import MAX_DEPTH, MAX_LINKS, Event, Expr, Language, Scope, Source, dotted
from configaudit.patterns import regex
from configaudit.places import Document

_BODIES = frozenset(('class_declaration', 'object_declaration', 'companion_object', 'class_body', 'enum_class_body', 'ERROR'))
_FUNCTIONS = frozenset(('function_declaration', 'secondary_constructor', 'anonymous_initializer', 'getter'))
_BRANCHES = frozenset(('if_expression', 'when_entry', 'catch_block', 'lambda_literal', 'for_statement', 'while_statement', 'do_while_statement'))
_VALUE = regex(r'@Value\(\s*"\\\$\{([^"{}]+)\}"')
_CHAIN = ('call_expression', 'navigation_expression')
_PIECE = regex(r'\$(?:\{(\w+)\}|(\w+))|((?:[^$\\]|\\.|\$(?![\w{]))+)')
_FUNCTION = regex(rb'^[ \t]*(?:@?\w+[ \t]+)*fun\b', re.MULTILINE)
_BRACES = regex(rb'[{}]')
_MAX_ALONE = 50
_SETTERS = ('apply', 'also', 'run', 'let', 'with')


def source_of(document: Document, words: Collection[bytes]) -> Source:
    """A parsed file. Raises Unreadable."""
    return Source(document, Language('Kotlin', 'kotlin', _FUNCTIONS, _BRANCHES, _members, _walk), words)


def _members(source: Source, root: Any) -> Iterator[Any]:
    stack = list(reversed(root.named_children))
    read: list[Any] = []
    while stack:
        node = stack.pop()
        read.append(node)
        if node.type == 'import':
            source.add_import(re.sub(r'\s', '', source.text(node).removeprefix('import').partition(' as ')[0]))
        elif node.type in _BODIES:
            stack.extend(reversed(node.named_children))
        elif node.type in ('property_declaration', 'primary_constructor') or node.type in _FUNCTIONS:
            yield node
    if root.has_error:
        yield from _alone(source.data, {node.start_byte for node in read if node.type in _FUNCTIONS})


def _alone(data: bytes, read: set[int]) -> Iterator[Any]:
    """The functions behind a syntax error, after which the grammar gives up the rest of the file: each is parsed by itself."""
    bare = GRAMMARS['kotlin'].literals.sub(lambda found: b' ' * len(found[0]), data)
    starts = [found.end() - len(found[0].lstrip()) for found in _FUNCTION.finditer(bare)]
    for start, end in list(zip(starts, [*starts[1:], len(data)], strict=False))[:_MAX_ALONE]:
        if start not in read:
            text = re.sub(rb'[^\n]', b' ', data[:start]) + data[start : _closed(bare, start, end)]
            yield from (node for node in tree_of('kotlin', text).named_children if node.type == 'function_declaration')


def _closed(bare: bytes, start: int, end: int) -> int:
    """Where what holds a function ends, or its own end."""
    depth = 0
    for found in _BRACES.finditer(bare, start, end):
        depth += 1 if found[0] == b'{' else -1
        if depth < 0:
            return found.start()
    return end


def _walk(source: Source, top: Any, scope: Scope) -> None:
    stack = [top]
    while stack:
        node = stack.pop()
        kind = node.type
        if kind == 'property_declaration':
            stack.extend(reversed(_declare(source, node, scope)))
        elif kind in ('parameter', 'class_parameter'):
            _parameter(source, node, scope)
        elif kind == 'assignment':
            stack.extend(reversed(_assign(source, node, scope)))
        elif kind == 'call_expression':
            scope.events.append(Event('', expression(source, node)))
            stack.extend(reversed(_inside(node)))
        else:
            if kind == 'return_expression' and len(node.named_children) == 1:
                scope.returned.add(source.text(node.named_children[0]))
            stack.extend(reversed(node.named_children))


def _inside(node: Any) -> list[Any]:
    """What is left to walk of a chain: its arguments and lambdas."""
    found: list[Any] = []
    for _ in range(MAX_LINKS):
        if node.type not in _CHAIN:
            break
        found[:0] = [child for child in node.named_children[1:] if child.type in ('value_arguments', 'annotated_lambda')]
        node = node.named_children[0]
    return [*([node] if node.type != 'identifier' else []), *found]


def _declare(source: Source, node: Any, scope: Scope) -> list[Any]:
    """Bind what `val x = ...` declares; what is left to walk."""
    variable = next((child for child in node.named_children if child.type == 'variable_declaration'), None)
    if variable is None:
        return list(node.named_children)
    name = source.text(variable.named_children[0])
    modifiers = next((child for child in node.named_children if child.type == 'modifiers'), None)
    property_ = _VALUE.search(source.text(modifiers)) if modifiers is not None else None
    rest = [child for child in node.named_children if child.start_byte >= variable.end_byte]
    value = rest[0] if rest and rest[0].type not in ('getter', 'setter', 'property_delegate') and b'=' in source.data[variable.end_byte : rest[0].start_byte] else None
    found = expression(source, value) if value is not None else None
    left = _note(source, value, found, name, scope) + rest[1:] if value is not None else rest
    keeps = scope.outer is not None or re.search(r'\bval\b', source.data[node.start_byte : variable.start_byte].decode('utf-8', 'replace')) is not None
    bound = scope.names.setdefault(name, [])
    if property_ is not None:
        bound.append(Expr('property', property_[1], node))
    elif value is not None or scope.outer is None:
        bound.append(found if keeps else None)
    return left


def _parameter(source: Source, node: Any, scope: Scope) -> None:
    name = next((child for child in node.named_children if child.type == 'identifier'), None)
    if name is None:
        return
    kind = next((child for child in node.named_children if child.type in ('user_type', 'nullable_type')), None)
    if kind is not None:
        scope.types[source.text(name)] = re.sub(r'<.*|\?', '', source.text(kind), flags=re.DOTALL)
    found = _VALUE.search(source.data[max(node.start_byte - 120, 0) : node.end_byte].decode('utf-8', 'replace').rpartition(',')[2])
    scope.names.setdefault(source.text(name), []).append(Expr('property', found[1], node) if found else None)


def _assign(source: Source, node: Any, scope: Scope) -> list[Any]:
    left, right = node.child_by_field_name('left'), node.child_by_field_name('right')
    if left is None or right is None or left.type not in ('identifier', 'navigation_expression'):
        return list(node.named_children)
    value = expression(source, right)
    name = source.text(left).removeprefix('this.')
    scope.assign(name, value)
    if left.type == 'navigation_expression' and not source.text(left).startswith('this.'):
        scope.events.append(Event('', _setter(source, node, value)))
        return [right]
    return _note(source, right, value, name, scope)


def _setter(source: Source, node: Any, value: Expr) -> Expr:
    """`a.b = c` as the call `a.b(c)`."""
    target = expression(source, node.child_by_field_name('left'))
    return Expr('call', target.name, node, target.of, (value,))


def _note(source: Source, node: Any, found: Expr | None, name: str, scope: Scope) -> list[Any]:
    """Note a chain that is put into a variable; what is left to walk of it."""
    if found is None or found.kind not in ('call', 'new') or node.type != 'call_expression':
        return [node]
    scope.events.append(Event(name, found))
    return _inside(node)


def expression(source: Source, node: Any, depth: int = MAX_DEPTH) -> Expr:
    """A node as an expression; of kind 'other' what is not understood."""
    nodes: list[Any] = []
    while node.type in _CHAIN and len(nodes) < MAX_LINKS:
        nodes.append(node)
        node = node.named_children[0]
    found = _single(source, node, depth)
    for link in reversed(nodes):
        last = link.named_children[-1]
        if link.type == 'navigation_expression':
            found = Expr('field', source.text(last), link, found)
        else:
            found = _call(source, link, found, depth)
    return found


def _call(source: Source, node: Any, callee: Expr, depth: int) -> Expr:
    arguments = tuple(
        expression(source, item.named_children[-1], depth - 1)
        for child in node.named_children[1:] if child.type == 'value_arguments' and depth
        for item in child.named_children if item.type == 'value_argument' and item.named_children
    )  # fmt: skip
    block = next((child for child in node.named_children[1:] if child.type == 'annotated_lambda'), None)
    if block is not None and depth:
        items = Expr('block', '', block, None, _items(source, block, depth - 1))
        if callee.kind == 'call' and callee.name == 'with' and callee.of is None and callee.arguments:
            return Expr('call', 'with', node, callee.arguments[0], (items,))
        arguments = (*arguments, items) if callee.kind == 'field' and callee.name in _SETTERS else arguments
    if callee.kind in ('call', 'new'):  # a lambda behind the arguments
        return callee._replace(node=node)
    if callee.name[:1].isupper() and dotted(callee):
        return Expr('new', dotted(callee), node, None, arguments)
    return Expr('call', callee.name, node, callee.of, arguments)


def _items(source: Source, block: Any, depth: int) -> tuple[Expr, ...]:
    """What a block does to the object it is given: calls and assignments without a receiver, or with `it` or `this`."""
    found: list[Expr] = []
    stack = [block]
    while stack and depth:
        node = stack.pop()
        if node.type in ('call_expression', 'assignment'):
            left = node.child_by_field_name('left') if node.type == 'assignment' else None
            right = node.child_by_field_name('right') if left is not None else None
            if left is not None and right is not None:
                item = _setter(source, node, expression(source, right, depth))
            else:
                item = expression(source, node, depth)
            if item.kind == 'call' and (item.of is None or (item.of.kind == 'name' and item.of.name in ('it', 'this'))):
                found.append(item)
            continue
        stack.extend(reversed(node.named_children))
    return tuple(found)


def _single(source: Source, node: Any, depth: int) -> Expr:
    kind, text = node.type, source.text(node)
    if kind in ('identifier', 'this_expression'):
        return Expr('bool' if text in ('true', 'false') else 'name', text, node)
    if kind in ('number_literal', 'float_literal'):
        return Expr('number', text, node)
    if kind == 'string_literal':
        return _template(node, text[1:-1])
    if not depth:
        return Expr('other', kind, node)
    if kind == 'as_expression' and len(node.named_children) == 2:
        inner, target = node.named_children
        return Expr('cast', re.sub(r'<.*|\?|\s', '', source.text(target), flags=re.DOTALL), node, None, (expression(source, inner, depth - 1),))
    if kind == 'parenthesized_expression' or (kind == 'unary_expression' and text.endswith('!!')):
        return expression(source, node.named_children[0], depth - 1) if node.named_children else Expr('other', kind, node)
    if kind == 'unary_expression':
        operand = node.child_by_field_name('argument')
        return Expr('unary', text[:1], node, None, (expression(source, operand, depth - 1),) if operand is not None else ())
    left, right = node.child_by_field_name('left'), node.child_by_field_name('right')
    if kind == 'binary_expression' and left is not None and right is not None:
        operator = source.data[left.end_byte : right.start_byte].decode('utf-8', 'replace').strip()
        return Expr('binary', operator, node, None, (expression(source, left, depth - 1), expression(source, right, depth - 1)))
    return Expr('other', kind, node)


def _template(node: Any, text: str) -> Expr:
    """A string; with names inside it is their sum."""
    pieces = list(_PIECE.finditer(text))
    if sum(len(piece[0]) for piece in pieces) != len(text) or len(pieces) > 20:
        return Expr('other', 'template', node)
    found = [Expr('text', piece[3], node) if piece[3] is not None else Expr('name', piece[1] or piece[2], node) for piece in pieces]
    total = found[0] if found else Expr('text', '', node)
    for piece in found[1:]:
        total = Expr('binary', '+', node, None, (total, piece))
    return total
