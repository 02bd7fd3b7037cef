"""Java source (tree-sitter-java) in the shape of parse/jvm.py."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from configaudit.parse.jvm import MAX_DEPTH, MAX_LINKS, Event, Expr, Language, Scope, Source
from configaudit.patterns import regex
from configaudit.places import Document

_BODIES = frozenset((
    'class_declaration', 'record_declaration', 'enum_declaration', 'interface_declaration', 'class_body', 'enum_body', 'enum_body_declarations', 'interface_body',
))  # fmt: skip
_FUNCTIONS = frozenset(('method_declaration', 'constructor_declaration', 'compact_constructor_declaration', 'static_initializer', 'block'))
_BRANCHES = frozenset((
    'if_statement', 'switch_block_statement_group', 'switch_rule', 'ternary_expression', 'catch_clause', 'lambda_expression', 'for_statement', 'enhanced_for_statement',
    'while_statement', 'do_statement',
))  # fmt: skip
_VALUE = regex(r'@Value\(\s*(?:value\s*=\s*)?"\$\{([^"{}]+)\}"')
_BOUND_CLASS = regex(rb'@(?:Data|Setter|ConfigurationProperties)\b')
"""Classes whose fields are set from outside."""
_CHAIN = ('method_invocation', 'field_access')


def source_of(document: Document, words: Collection[bytes]) -> Source:
    """A parsed file. Raises Unreadable."""
    return Source(document, Language('Java', 'java', _FUNCTIONS, _BRANCHES, _members, _walk), words)


def _members(source: Source, root: Any) -> Iterator[Any]:
    stack = list(reversed(root.named_children))
    while stack:
        node = stack.pop()
        if node.type == 'import_declaration':
            source.add_import(re.sub(r'\s', '', source.text(node).removeprefix('import').strip().removeprefix('static ').rstrip(';')))
        elif node.type in _BODIES:
            stack.extend(reversed(node.named_children))
        elif node.type in ('field_declaration', 'constant_declaration') or node.type in _FUNCTIONS:
            yield node


def _walk(source: Source, top: Any, scope: Scope) -> None:
    stack = [top]
    while stack:
        node = stack.pop()
        kind = node.type
        if kind in ('field_declaration', 'constant_declaration', 'local_variable_declaration', 'resource', 'formal_parameter', 'catch_formal_parameter', 'enhanced_for_statement'):
            stack.extend(reversed(_declare(source, node, scope)))
        elif kind == 'assignment_expression':
            stack.extend(reversed(_assign(source, node, scope)))
        elif kind == 'lambda_expression' and (parameters := node.child_by_field_name('parameters')).type != 'formal_parameters':
            for name in [parameters, *parameters.named_children]:
                scope.names.setdefault(source.text(name), []).append(None)
            stack.append(node.child_by_field_name('body'))
        elif kind == 'instanceof_expression' and (name := node.child_by_field_name('name')) is not None:
            scope.types[source.text(name)] = _type(source, node.child_by_field_name('right'))
            scope.names.setdefault(source.text(name), []).append(None)
        elif kind in ('method_invocation', 'object_creation_expression'):
            scope.events.append(Event('', expression(source, node)))
            stack.extend(reversed(_inside(node)))
        else:
            if kind == 'return_statement' and len(node.named_children) == 1:
                scope.returned.add(source.text(node.named_children[0]))
            stack.extend(reversed(node.named_children))


def _type(source: Source, node: Any) -> str:
    """A type without its parameters."""
    return re.sub(r'<.*|\s', '', source.text(node), flags=re.DOTALL)


def _inside(node: Any) -> list[Any]:
    """What is left to walk of a chain: its arguments."""
    found: list[Any] = []
    for _ in range(MAX_LINKS):
        if node is None or node.type not in (*_CHAIN, 'object_creation_expression'):
            break
        arguments = node.child_by_field_name('arguments')
        found[:0] = [child for child in node.named_children if child.type == 'class_body']
        found[:0] = arguments.named_children if arguments is not None else []
        node = node.child_by_field_name('object')
    return [*([node] if node is not None and node.type not in ('identifier', 'this') else []), *found]


def _declare(source: Source, node: Any, scope: Scope) -> list[Any]:
    """Bind what a declaration declares; what is left to walk."""
    left: list[Any] = []
    modifiers = next((child for child in node.named_children if child.type == 'modifiers'), None)
    property_ = _VALUE.search(source.text(modifiers)) if modifiers is not None else None
    kind = node.child_by_field_name('type')
    for item in node.children_by_field_name('declarator') or [node]:
        name_node, value = item.child_by_field_name('name'), item.child_by_field_name('value')
        if name_node is None:
            continue
        name = source.text(name_node)
        if kind is not None:
            scope.types[name] = _type(source, kind)
        found = expression(source, value) if value is not None else None
        if node.type == 'enhanced_for_statement':
            found, left = None, list(node.named_children)
        elif value is not None:
            left.extend(_note(source, value, found, name, scope))
        if property_ is not None:
            found = Expr('property', property_[1], node)
        elif node.type == 'field_declaration' and not _is_fixed(source, modifiers, name):
            found = None
        bound = scope.names.setdefault(name, [])
        if value is not None or found is not None or node.type not in ('local_variable_declaration', 'field_declaration'):
            bound.append(found)
    return left


def _is_fixed(source: Source, modifiers: Any, name: str) -> bool:
    """Whether a field keeps the value it is declared with."""
    text = source.text(modifiers) if modifiers is not None else ''
    if re.search(r'\bfinal\b', text):
        return True
    if not re.search(r'\bprivate\b', text) or '@' in text or _BOUND_CLASS.search(source.data):
        return False
    return len(re.findall(rb'\b%s\s*=(?!=)' % re.escape(name.encode()), source.data)) == 1


def _assign(source: Source, node: Any, scope: Scope) -> list[Any]:
    left, right = node.child_by_field_name('left'), node.child_by_field_name('right')
    name = source.text(left).removeprefix('this.')
    value = expression(source, right)
    scope.assign(name, value)
    return _note(source, right, value, name, scope)


def _note(source: Source, node: Any, found: Expr | None, name: str, scope: Scope) -> list[Any]:
    """Note a chain that is put into a variable; what is left to walk of it."""
    if found is None or found.kind not in ('call', 'new'):
        return [node]
    scope.events.append(Event(name, found))
    while node.type in ('parenthesized_expression', 'cast_expression'):
        node = node.child_by_field_name('value') or node.named_children[0]
    return _inside(node)


def expression(source: Source, node: Any, depth: int = MAX_DEPTH) -> Expr:
    """A node as an expression; of kind 'other' what is not understood."""
    nodes: list[Any] = []
    while node is not None and node.type in _CHAIN and len(nodes) < MAX_LINKS:
        nodes.append(node)
        node = node.child_by_field_name('object')
    found = _single(source, node, depth) if node is not None else None
    for link in reversed(nodes):
        if link.type == 'field_access':
            found = Expr('field', source.text(link.child_by_field_name('field')), link, found)
        else:
            found = Expr('call', source.text(link.child_by_field_name('name')), link, found, _arguments(source, link, depth))
    return found if found is not None else Expr('other', '', node)


def _arguments(source: Source, node: Any, depth: int) -> tuple[Expr, ...]:
    arguments = node.child_by_field_name('arguments')
    if arguments is None or not depth:
        return ()
    return tuple(expression(source, child, depth - 1) for child in arguments.named_children if not child.type.endswith('comment'))


def _single(source: Source, node: Any, depth: int) -> Expr:
    kind, text = node.type, source.text(node)
    if kind in ('identifier', 'this'):
        return Expr('name', text, node)
    if kind.endswith(('_integer_literal', 'floating_point_literal')):
        return Expr('number', text, node)
    if kind == 'string_literal':
        return Expr('text' if not text.startswith('"""') else 'other', text[1:-1], node)
    if kind in ('true', 'false'):
        return Expr('bool', kind, node)
    if kind == 'object_creation_expression':
        return Expr('new', _type(source, node.child_by_field_name('type')), node, None, _arguments(source, node, depth))
    parts = {
        'binary_expression': ('left', 'right'), 'unary_expression': ('operand',), 'cast_expression': ('value',), 'parenthesized_expression': (),
    }.get(kind)  # fmt: skip
    if parts is None or not depth:
        return Expr('other', kind, node)
    inner = [node.child_by_field_name(part) for part in parts] or node.named_children[:1]
    found = tuple(expression(source, part, depth - 1) for part in inner if part is not None)
    if kind == 'cast_expression' and found:
        return Expr('cast', _type(source, node.child_by_field_name('type')), node, None, found)
    if kind == 'parenthesized_expression':
        return found[0] if found else Expr('other', kind, node)
    operator = node.child_by_field_name('operator')
    return Expr(kind.partition('_')[0], source.text(operator), node, None, found)
