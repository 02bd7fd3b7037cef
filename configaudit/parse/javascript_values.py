"""Constants of JavaScript source: what an expression comes to when nothing but the file, and the environment, decides it.

`process.env.X || 10` comes to 10 where X is not set; a caller that knows the environment gives it. NODE_ENV is 'production':
that is what is judged.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from configaudit import units
from configaudit.parse.folding import Unfolded as Unfolded
from configaudit.parse.javascript import MAX_DEPTH, Scope, Source
from configaudit.patterns import regex

MAX_TEXT = 4096
_ENVIRONMENTS = ('process.env', 'Bun.env')
_NUMBER = regex(r'(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?|\.\d+)\Z')
_UPPER = regex(r'[A-Z][A-Z0-9_]*\Z')
_LEADING = regex(r'\s*([+-]?\d{1,30})')
_SIMPLE_ESCAPES = {'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '"': '"', "'": "'", '`': '`'}
_TO_NUMBER = ('Number', 'parseInt', 'parseFloat', 'Number.parseInt', 'Number.parseFloat', 'Math.floor', 'Math.round', 'Math.ceil')


class _Undefined:
    """JavaScript's `undefined`: a variable that is not set."""

    def __bool__(self) -> bool:
        return False


UNDEFINED = _Undefined()


class Reader:
    """Works expressions out for one environment, and remembers which variables it asked for."""

    def __init__(self, source: Source, environment: Mapping[str, str]) -> None:
        self.source = source
        self.environment = environment
        self.asked: list[str] = []

    def value(self, node: Any, scope: Scope, depth: int = MAX_DEPTH) -> Any:
        """The constant an expression comes to. Raises Unfolded, as for the field of an object that `...rest` may replace, which is None."""
        if not depth or node is None:
            raise Unfolded
        source = self.source
        node = source.settled(node, scope)
        text = source.text(node)
        if node.type == 'number':
            return number(text.replace('_', ''))
        if node.type in ('true', 'false', 'null', 'undefined'):
            return {'true': True, 'false': False, 'null': None}.get(node.type, UNDEFINED)
        if node.type in ('string', 'template_string'):
            return self._text(node, scope, depth)
        variable = self.variable(node, scope)
        if variable:
            return self._variable(variable, node, scope, depth)
        work = _KINDS.get(node.type)
        if work is None:
            raise Unfolded
        return work(self, node, scope, depth - 1)

    def variable(self, node: Any, scope: Scope) -> str:
        """The environment variable that an expression reads: `process.env.X`, `process.env['X']`, a name taken out of it, `configService.get('X')`; else ''."""
        source = self.source
        part = source.part(node, scope)
        if part is not None:
            return part.key if source.text(source.settled(part.whole, scope)) in _ENVIRONMENTS else ''
        if node.type == 'call_expression':
            return self._configured(node, scope)
        if node.type not in ('member_expression', 'subscript_expression'):
            return ''
        if source.text(source.settled(node.child_by_field_name('object'), scope)) not in _ENVIRONMENTS:
            return ''
        if node.type == 'member_expression':
            return source.text(node.child_by_field_name('property'))
        index = source.settled(node.child_by_field_name('index'), scope)
        return source.text(index)[1:-1] if index.type == 'string' else ''

    def _configured(self, node: Any, scope: Scope) -> str:
        """The variable of `configService.get('DB_POOL', 10)`: NestJS takes names in capitals from the environment."""
        function, arguments = node.child_by_field_name('function'), self.source.arguments(node)
        if function.type != 'member_expression' or not arguments or self.source.text(function.child_by_field_name('property')) not in ('get', 'getOrThrow'):
            return ''
        name = self.source.settled(arguments[0], scope)
        found = _UPPER.match(self.source.text(name)[1:-1]) if name.type == 'string' else None
        return found[0] if found is not None and 'config' in self.source.text(function.child_by_field_name('object')).lower() else ''

    def _variable(self, name: str, node: Any, scope: Scope, depth: int) -> Any:
        self.asked.append(name)
        if name in self.environment:
            return self.environment[name]
        if name == 'NODE_ENV':
            return 'production'
        if node.type == 'call_expression':
            given = self.source.arguments(node)[1:]
            return self.value(given[0], scope, depth - 1) if given and self.source.text(given[0])[:1] != '{' else UNDEFINED
        part = self.source.part(node, scope)
        return self.value(part.default, scope, depth - 1) if part is not None and part.default is not None else UNDEFINED

    def _text(self, node: Any, scope: Scope, depth: int) -> str:
        found = []
        for piece in node.named_children:
            text = self.source.text(piece)
            if piece.type == 'string_fragment':
                found.append(text)
            elif piece.type == 'escape_sequence' and text[1:] in _SIMPLE_ESCAPES:
                found.append(_SIMPLE_ESCAPES[text[1:]])
            elif piece.type == 'template_substitution' and len(piece.named_children) == 1:
                inner = self.value(piece.named_children[0], scope, depth - 1)
                if not isinstance(inner, (str, int)) or isinstance(inner, bool):
                    raise Unfolded
                found.append(str(inner))
            else:
                raise Unfolded
        if sum(map(len, found)) > MAX_TEXT:
            raise Unfolded
        return ''.join(found)

    def binary(self, node: Any, scope: Scope, depth: int) -> Any:
        """An operator between two expressions."""
        operator = self.source.text(node.child_by_field_name('operator'))
        left = self.value(node.child_by_field_name('left'), scope, depth)
        if operator in ('||', '??', '&&'):
            keeps = truthy(left) == (operator == '||') if operator != '??' else left is not None and left is not UNDEFINED
            return left if keeps else self.value(node.child_by_field_name('right'), scope, depth)
        right = self.value(node.child_by_field_name('right'), scope, depth)
        if operator in ('===', '==', '!==', '!='):
            if left is UNDEFINED or right is UNDEFINED:
                return (left is right) == (operator[0] == '=')
            return (type(left) is type(right) and left == right) == (operator[0] == '=')
        if operator == '+' and isinstance(left, str) and isinstance(right, str) and len(left) + len(right) < MAX_TEXT:
            return left + right
        if all(isinstance(part, (int, float)) and not isinstance(part, bool) and abs(part) < 2**53 for part in (left, right)):
            return _arithmetic(operator, left, right)
        raise Unfolded

    def unary(self, node: Any, scope: Scope, depth: int) -> Any:
        """`-x`, `+x`, `!x`."""
        operator = self.source.text(node.child_by_field_name('operator'))
        inner = self.value(node.child_by_field_name('argument'), scope, depth)
        if operator == '!':
            return not truthy(inner)
        if operator in '+-' and operator:
            found = to_number(inner)
            return -found if operator == '-' else found
        raise Unfolded

    def ternary(self, node: Any, scope: Scope, depth: int) -> Any:
        """`a ? b : c`, where the file decides a."""
        holds = truthy(self.value(node.child_by_field_name('condition'), scope, depth))
        return self.value(node.child_by_field_name('consequence' if holds else 'alternative'), scope, depth)

    def call(self, node: Any, scope: Scope, depth: int) -> Any:
        """`Number(x)`, `parseInt(x, 10)`, `String(x)`, `ms('30s')`."""
        function, arguments = self.source.text(node.child_by_field_name('function')), self.source.arguments(node)
        if not arguments or len(arguments) > 2:
            raise Unfolded
        inner = self.value(arguments[0], scope, depth)
        if function in _TO_NUMBER and self.source.values(function.partition('.')[0], scope) is None:
            whole = function not in ('Number', 'parseFloat', 'Number.parseFloat')
            found = to_number(inner, leading=function != 'Number')
            return int(found) if whole and math.isfinite(found) else found
        if self.source.called(node, scope) == 'ms' and isinstance(inner, str):
            seconds = units.seconds(inner.replace(' ', ''))
            if seconds is not None:
                return seconds * 1000
        raise Unfolded


_KINDS: dict[str, Callable[[Reader, Any, Scope, int], Any]] = {
    'binary_expression': Reader.binary, 'unary_expression': Reader.unary, 'ternary_expression': Reader.ternary, 'call_expression': Reader.call,
}  # fmt: skip


def number(text: str) -> Any:
    """A number literal. Raises Unfolded."""
    if not _NUMBER.match(text) or len(text) > 40:
        raise Unfolded
    if text[:1] == '0' and text[1:2] in tuple('xXbBoO'):
        return int(text, 0)
    found = float(text)
    return int(found) if found == int(found) else found


def to_number(value: Any, leading: bool = False) -> Any:
    """What `Number(value)` is, or with `leading` what `parseInt(value)` is; NaN for no number. Raises Unfolded for objects."""
    if isinstance(value, bool) or value is None:
        return int(value or 0)
    if isinstance(value, (int, float)):
        return value
    if not isinstance(value, str):
        return math.nan
    if leading:
        found = _LEADING.match(value)
        return int(found[1]) if found is not None else math.nan
    try:
        return number(value.strip().removeprefix('-')) * (-1 if value.strip().startswith('-') else 1) if value.strip() else 0
    except Unfolded:
        return math.nan


def truthy(value: Any) -> bool:
    """Whether JavaScript takes a value for true: NaN, 0, '' and what is not set are false."""
    return bool(value) and not (isinstance(value, float) and math.isnan(value))


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if operator == '/' and right:
        found = left / right
    elif operator in ('*', '+', '-'):
        found = {'*': left * right, '+': left + right, '-': left - right}[operator]
    else:
        raise Unfolded
    return int(found) if isinstance(found, float) and math.isfinite(found) and found == int(found) else found
