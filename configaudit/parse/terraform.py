"""Terraform: blocks and the expressions of their attributes, constants folded and places kept.

A tree-sitter grammar reads it. What a plan would compute is not guessed: an expression is a constant, a reference, a choice
between constants, a list or an object of such, or unknown.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from configaudit.parse.entries import Edit
from configaudit.parse.grammar import place_of, tree_of
from configaudit.parse.yaml_edit import CannotEdit
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

MAX_DEPTH = 20
"""Of values inside one another."""
MAX_PIECES = 200
"""Of a broken file, which are parsed one by one."""
_TOP = regex(rb'(?m)^(?:resource|module|variable|locals|data|output|provider|terraform)\b[^\n{]*\{')


class Expression(NamedTuple):
    """The value of an attribute."""

    kind: Literal['constant', 'reference', 'choice', 'list', 'object', 'computed']
    text: str
    """Of a constant: its text, with HOLE for what is put in. Of a reference: `var.idle`, `aws_lb.main.arn`."""
    place: Place
    """Of a string: what stands between the quotes."""
    items: tuple['Expression', ...] = ()
    fields: Mapping[str, 'Expression'] = {}


class Block(NamedTuple):
    """A block: `resource "aws_lb" "main" { ... }`."""

    kind: str
    labels: tuple[str, ...]
    place: Place
    """Its header."""
    attributes: Mapping[str, Expression]
    blocks: tuple['Block', ...]
    broken: bool = False
    """A syntax error stands in it: what it says may be in the unread part."""
    end: int = 0
    """Offset of its closing brace, in code points of the document."""

    def inner(self, kind: str) -> Iterator['Block']:
        """The blocks of one kind directly inside."""
        return (block for block in self.blocks if block.kind == kind)


def read(document: Document) -> tuple[Block, ...]:
    """The blocks of a file; the attributes of a file of values stand in one without a kind. Raises Unreadable."""
    return _Reader(document).file()


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.data = document.parsed[document.bom :]

    def file(self) -> tuple[Block, ...]:
        root = tree_of('terraform', self.data)
        starts = [found.start() for found in _TOP.finditer(self.data)] if root.has_error else []
        if 1 < len(starts) <= MAX_PIECES:
            ends = [*starts[1:], len(self.data)]
            return tuple(block for start, end in zip(starts, ends, strict=True) for block in self._piece(start, end))
        return self._blocks(root)

    def _piece(self, start: int, end: int) -> tuple[Block, ...]:
        """One block of a broken file by itself: the grammar may take everything behind an error into it."""
        return self._blocks(tree_of('terraform', b' ' * start + self.data[start:end]))

    def _blocks(self, root: Any) -> tuple[Block, ...]:
        body = next((node for node in root.named_children if node.type == 'body'), None)
        if body is None:
            return ()
        attributes, blocks = self._body(body, MAX_DEPTH)
        loose = (Block('', (), Place(self.document, 0, 0), attributes, ()),) if attributes else ()
        return (*loose, *blocks)

    def _body(self, node: Any, depth: int) -> tuple[dict[str, Expression], tuple[Block, ...]]:
        attributes: dict[str, Expression] = {}
        blocks: list[Block] = []
        for child in node.named_children if depth else ():
            if child.type == 'attribute' and not child.has_error:
                name, value = child.named_children[0], child.named_children[-1]
                attributes[self.text(name)] = self._expression(value, depth - 1)
            elif child.type == 'block':
                blocks.append(self._block(child, depth - 1))
        return attributes, tuple(blocks)

    def _block(self, node: Any, depth: int) -> Block:
        head = [child for child in node.named_children if child.type in ('identifier', 'string_lit')]
        body = next((child for child in node.named_children if child.type == 'body'), None)
        attributes, blocks = self._body(body, depth) if body is not None else ({}, ())
        words = [self.text(child).strip('"') for child in head]
        first, last = self._place(head[0]), self._place(head[-1])
        close = next((child for child in node.named_children if child.type == 'block_end'), None)
        end = self._place(close).start if close is not None else 0
        return Block(words[0], tuple(words[1:]), Place(self.document, first.start, last.end), attributes, blocks, node.has_error, end)

    def _expression(self, node: Any, depth: int) -> Expression:
        while node.type in ('expression', 'literal_value', 'collection_value', 'template_expr') and len(node.named_children) == 1:
            node = node.named_children[0]
        place = self._place(node)
        if not depth:
            return Expression('computed', self.text(node), place)
        if node.type in ('numeric_lit', 'bool_lit', 'null_lit'):
            return Expression('constant', self.text(node) if node.type != 'null_lit' else '', place)
        if node.type in ('string_lit', 'quoted_template'):
            return self._string(node, place, depth)
        if node.type == 'operation' and self.text(node).lstrip('-').replace('.', '', 1).isdigit():
            return Expression('constant', self.text(node), place)
        if node.type == 'tuple':
            return Expression('list', '', place, tuple(self._expression(child, depth - 1) for child in node.named_children if child.type == 'expression'))
        if node.type == 'object':
            return Expression('object', '', place, (), dict(self._elements(node, depth)))
        if node.type == 'conditional':
            sides = tuple(self._expression(child, depth - 1) for child in node.named_children[-2:])
            return Expression('choice', self.text(node), place, sides)
        return self._named(node, place, depth)

    def _named(self, node: Any, place: Place, depth: int) -> Expression:
        """`var.x` and `aws_lb.main[0].arn` are an expression of several nodes; `tostring(3)` is its argument."""
        children = node.named_children
        if node.type == 'expression' and children and children[0].type == 'variable_expr' and all(
            child.type in ('variable_expr', 'get_attr', 'index', 'splat') for child in children
        ):
            return Expression('reference', ''.join(self.text(child) for child in children if child.type in ('variable_expr', 'get_attr')), place)
        if node.type == 'variable_expr':
            return Expression('reference', self.text(node), place)
        if node.type == 'function_call' and self.text(children[0]) in ('tostring', 'tonumber', 'tolist', 'toset', 'sensitive', 'nonsensitive'):
            arguments = [child for child in children[-1].named_children if child.type == 'expression']
            if len(arguments) == 1:
                return self._expression(arguments[0], depth - 1)
        return Expression('computed', self.text(node), place)

    def _string(self, node: Any, place: Place, depth: int) -> Expression:
        """A string: its text; one that is nothing but `${var.x}` is the reference in it."""
        parts = [child for child in node.named_children if child.type in ('template_literal', 'template_interpolation', 'template_directive')]
        inside = Place(self.document, place.start + 1, place.end - 1)
        if len(parts) == 1 and parts[0].type == 'template_interpolation':
            inner = next((child for child in parts[0].named_children if child.type == 'expression'), None)
            if inner is not None:
                return self._expression(inner, depth - 1)
        text = ''.join(self.text(part) if part.type == 'template_literal' else HOLE for part in parts)
        return Expression('constant', text.replace('$${', '${').replace('%%{', '%{') if '\\' not in text else text.replace('\\"', '"'), inside)

    def _elements(self, node: Any, depth: int) -> Iterator[tuple[str, Expression]]:
        for element in node.named_children:
            if element.type == 'object_elem' and len(element.named_children) == 2:
                key, value = element.named_children
                yield self.text(key).strip('"'), self._expression(value, depth - 1)

    def text(self, node: Any) -> str:
        return self.data[node.start_byte : node.end_byte].decode('utf-8', 'replace')

    def _place(self, node: Any) -> Place:
        return place_of(self.document, self.data, node)


def insert(text: str, at: int, name: str, value: str) -> Edit:
    """The edit that adds an attribute before the closing brace at an offset. Raises CannotEdit for a block on one line."""
    line = text.rfind('\n', 0, at) + 1
    if text[line:at].strip():
        raise CannotEdit('the block stands on one line')
    return Edit(line, line, f'{text[line:at]}  {name} = {value}\n')
