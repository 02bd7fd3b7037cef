"""Constants of Java and Kotlin source: what an expression comes to when nothing but the file decides it."""

from typing import Any, NamedTuple

from configaudit.parse.folding import Unfolded as Unfolded
from configaudit.parse.folding import unescaped
from configaudit.parse.jvm import MAX_DEPTH, Expr, Scope, dotted, settled
from configaudit.patterns import regex

UNITS = {
    'NANOSECONDS': 1e-9, 'MICROSECONDS': 1e-6, 'MILLISECONDS': 1e-3, 'SECONDS': 1, 'MINUTES': 60, 'HOURS': 3600, 'DAYS': 86400,
    'NANOS': 1e-9, 'MICROS': 1e-6, 'MILLIS': 1e-3,
}  # fmt: skip
"""Seconds of java.util.concurrent.TimeUnit and java.time.temporal.ChronoUnit."""
_OF = {'ofNanos': 1e-9, 'ofMillis': 1e-3, 'ofSeconds': 1, 'ofMinutes': 60, 'ofHours': 3600, 'ofDays': 86400}
_TO = {
    'toNanos': 1e-9, 'toMicros': 1e-6, 'toMillis': 1e-3, 'toSeconds': 1, 'getSeconds': 1, 'seconds': 1, 'toMinutes': 60, 'toHours': 3600, 'toDays': 86400,
    'inWholeMilliseconds': 1e-3, 'inWholeSeconds': 1, 'inWholeMinutes': 60, 'inWholeNanoseconds': 1e-9,
}  # fmt: skip
_KOTLIN = {'milliseconds': 1e-3, 'seconds': 1, 'minutes': 60, 'hours': 3600, 'days': 86400, 'microseconds': 1e-6, 'nanoseconds': 1e-9}
_CONVERSIONS = ('toLong', 'toInt', 'toIntOrNull', 'toLongOrNull', 'toJavaDuration', 'toDouble', 'longValue', 'intValue')
_BOXES = ('Integer', 'Long')
_PARSERS = ('parseInt', 'parseLong', 'valueOf')
_LIMITS = {'Long.MAX_VALUE': 2**63 - 1, 'Integer.MAX_VALUE': 2**31 - 1, 'Int.MAX_VALUE': 2**31 - 1}
_NUMBER = regex(r'(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)$')
_SIMPLE_ESCAPES = {'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '"': '"', "'": "'", '$': '$'}
_LONGEST = 4096
"""Characters of a text."""


class Span(NamedTuple):
    """A duration."""

    seconds: float


def value(expr: Expr, scope: Scope, depth: int = MAX_DEPTH) -> Any:
    """A number, text, truth value or Span. Raises Unfolded."""
    expr = settled(expr, scope)
    if not depth:
        raise Unfolded
    kind = expr.kind
    if kind == 'number':
        return _number(expr.name)
    if kind == 'text':
        return unescaped(expr.name, _SIMPLE_ESCAPES)
    if kind == 'bool':
        return expr.name == 'true'
    if kind == 'property':
        key, colon, default = expr.name.partition(':')
        reason = f'the property {key} decides it' + (f' ({default} unless it is set)' if colon and default else '')
        raise Unfolded(reason, key.replace('.', '_').replace('-', '').upper())
    if kind in ('field', 'name'):
        return _field(expr, scope, depth)
    if kind == 'call':
        return _call(expr, scope, depth)
    if kind == 'unary' and expr.name == '-' and expr.arguments:
        operand = value(expr.arguments[0], scope, depth - 1)
        if isinstance(operand, (int, float)):
            return -operand
    if kind == 'binary' and expr.name == '?:':
        return value(expr.arguments[0], scope, depth - 1)
    if kind == 'binary':
        return _arithmetic(expr.name, *(value(part, scope, depth - 1) for part in expr.arguments))
    raise Unfolded


def unit_of(expr: Expr) -> float:
    """Seconds of `TimeUnit.SECONDS`, however it is qualified. Raises Unfolded."""
    if expr.kind in ('field', 'name') and expr.name in UNITS:
        return UNITS[expr.name]
    raise Unfolded


def _field(expr: Expr, scope: Scope, depth: int) -> Any:
    written = dotted(expr)
    if written in _LIMITS:
        return _LIMITS[written]
    if written.endswith('Duration.ZERO'):
        return Span(0)
    if expr.kind == 'field' and expr.of is not None and not written:
        return _measured(expr.name, value(expr.of, scope, depth - 1))
    raise Unfolded


def _measured(name: str, base: Any) -> Any:
    """`30.seconds`, or `Duration.ofSeconds(30).seconds`."""
    if isinstance(base, Span) and name in _TO:
        return _whole(base.seconds / _TO[name])
    if name in _KOTLIN and isinstance(base, (int, float)):
        return Span(base * _KOTLIN[name])
    raise Unfolded


def _call(expr: Expr, scope: Scope, depth: int) -> Any:
    owner = dotted(expr.of).rpartition('.')[2]
    given = expr.arguments
    if owner == 'Duration' and expr.name in _OF and len(given) == 1:
        return Span(_count(value(given[0], scope, depth - 1)) * _OF[expr.name])
    if owner == 'Duration' and expr.name == 'of' and len(given) == 2:
        return Span(_count(value(given[0], scope, depth - 1)) * unit_of(given[1]))
    if owner in UNITS and expr.name in _TO and len(given) == 1:
        return _whole(_count(value(given[0], scope, depth - 1)) * UNITS[owner] / _TO[expr.name])
    variable = value(given[0], scope, depth - 1) if given and _reads_environment(expr, owner) else ''
    if variable and isinstance(variable, str):
        raise Unfolded(f'${variable} decides it', variable)
    if owner in _BOXES and expr.name in _PARSERS and given:
        return _converted(value(given[0], scope, depth - 1))
    if expr.of is not None and not given:
        base = value(expr.of, scope, depth - 1)
        if expr.name in _CONVERSIONS:
            return _converted(base)
        return _measured(expr.name, base)
    raise Unfolded


def _reads_environment(expr: Expr, owner: str) -> bool:
    """Whether a call is `System.getenv("X")`, or `System.getenv().getOrDefault("X", ...)`."""
    if expr.name == 'getenv':
        return owner == 'System'
    return expr.name in ('getOrDefault', 'get') and expr.of is not None and expr.of.kind == 'call' and expr.of.name == 'getenv'


def _converted(base: Any) -> Any:
    return _number(base.strip()) if isinstance(base, str) else base


def _count(number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise Unfolded
    return number


def _whole(number: float) -> float:
    nearest = round(number, 6)
    return int(nearest) if nearest == int(nearest) else nearest


def _number(text: str) -> float:
    text = text.replace('_', '')
    if not text.lower().startswith('0x'):
        text = text.rstrip('LlFfDdUu')
    text = text.rstrip('LlUu')
    if not _NUMBER.match(text) or len(text) > 40:
        raise Unfolded
    if text.isdigit():
        return int(text, 8) if len(text) > 1 and text[0] == '0' and not text.strip('01234567') else int(text)
    return int(text, 0) if text[:2].lower() in ('0x', '0b') else float(text)


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if operator == '+' and (isinstance(left, str) or isinstance(right, str)):
        if isinstance(left, (str, int)) and isinstance(right, (str, int)) and not isinstance(left, bool) and not isinstance(right, bool):
            joined = f'{left}{right}'
            if len(joined) <= _LONGEST:
                return joined
        raise Unfolded
    if isinstance(left, Span) and operator == '*':
        return Span(left.seconds * _count(right))
    left, right = _count(left), _count(right)
    whole = isinstance(left, int) and isinstance(right, int)
    if abs(left) > 2**63 or abs(right) > 2**63:
        raise Unfolded
    if operator == '*':
        return left * right
    if operator in '+-' and operator:
        return left + right if operator == '+' else left - right
    if operator == '/' and right:
        return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1) if whole else left / right
    if operator == '<<' and whole and 0 <= right < 63:
        return int(left) << int(right)
    raise Unfolded
