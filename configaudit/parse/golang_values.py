"""Constants of Go source: what an expression comes to when nothing but the file decides it."""

from typing import Any

from configaudit.parse.folding import Unfolded as Unfolded
from configaudit.parse.folding import unescaped
from configaudit.parse.golang import MAX_DEPTH, Scope, Source
from configaudit.patterns import regex

_UNITS = {'Nanosecond': 1, 'Microsecond': 10**3, 'Millisecond': 10**6, 'Second': 10**9, 'Minute': 60 * 10**9, 'Hour': 3600 * 10**9}
_INTEGER = regex(r'(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)$')
_SIMPLE_ESCAPES = {'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '"': '"', "'": "'"}
_CONVERSIONS = ('int(', 'int32(', 'int64(', 'uint32(', 'uint(', 'uint64(')


def value(source: Source, node: Any, scope: Scope, depth: int = MAX_DEPTH) -> Any:
    """The constant an expression comes to; a duration is a number of nanoseconds. Raises Unfolded."""
    node = source.settled(node, scope)
    kind, text = node.type, source.text(node)
    if not depth:
        raise Unfolded
    if kind == 'int_literal':
        return _integer(text)
    if kind == 'float_literal' and not text.lower().startswith('0x'):
        return float(text.replace('_', ''))
    if kind in ('true', 'false'):
        return kind == 'true'
    if kind == 'raw_string_literal':
        return text[1:-1]
    if kind == 'interpreted_string_literal':
        return unescaped(text[1:-1], _SIMPLE_ESCAPES)
    if kind == 'selector_expression' and source.name_of(node).startswith('time.') and node.child_by_field_name('field') is not None:
        unit = _UNITS.get(source.name_of(node).partition('.')[2])
        if unit is not None:
            return unit
    if kind == 'call_expression' and len(source.arguments(node)) == 1 and (source.called(node) == 'time.Duration' or text.startswith(_CONVERSIONS)):
        return int(value(source, source.arguments(node)[0], scope, depth - 1))
    return _computed(source, node, scope, depth)


def _computed(source: Source, node: Any, scope: Scope, depth: int) -> Any:
    if node.type == 'unary_expression' and source.text(node).startswith('-'):
        operand = value(source, node.child_by_field_name('operand'), scope, depth - 1)
        if isinstance(operand, (int, float)):
            return -operand
    if node.type == 'binary_expression':
        left, right = (value(source, node.child_by_field_name(side), scope, depth - 1) for side in ('left', 'right'))
        operator = source.text(node.child_by_field_name('operator'))
        if isinstance(left, str) and isinstance(right, str) and operator == '+' and len(left) + len(right) < 4096:
            return left + right
        if all(isinstance(part, (int, float)) and not isinstance(part, bool) and abs(part) < 2**63 for part in (left, right)):
            return _arithmetic(operator, left, right)
    raise Unfolded


def _integer(text: str) -> int:
    text = text.replace('_', '')
    if not _INTEGER.match(text) or len(text) > 40:
        raise Unfolded
    return int(text, 8) if len(text) > 1 and text[0] == '0' and text[1].isdigit() else int(text, 0)


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if operator == '*':
        return left * right
    if operator == '+':
        return left + right
    if operator == '-':
        return left - right
    whole = isinstance(left, int) and isinstance(right, int)
    if operator == '/' and right:
        return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1) if whole else left / right
    if operator == '<<' and whole and 0 <= right < 63:
        return left << right
    raise Unfolded
