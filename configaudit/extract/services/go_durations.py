"""Durations in Go source that were written without a unit: time.Duration counts nanoseconds."""

import re
from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_handlers import parameters_of
from configaudit.extract.services.go_values import LOCKED
from configaudit.knowledge.service_kinds import GO_DURATION
from configaudit.model import Component, Setting
from configaudit.parse.golang import Scope, Source
from configaudit.parse.golang_values import Unfolded, value
from configaudit.patterns import regex

_POOL = frozenset(('SetConnMaxLifetime', 'SetConnMaxIdleTime'))
_FIELDS: dict[str, frozenset[str]] = {
    'net/http.Client': frozenset(('Timeout',)),
    'net/http.Server': frozenset(('ReadTimeout', 'ReadHeaderTimeout', 'WriteTimeout', 'IdleTimeout')),
    'net/http.Transport': frozenset(('IdleConnTimeout', 'ResponseHeaderTimeout', 'TLSHandshakeTimeout', 'ExpectContinueTimeout')),
    'net.Dialer': frozenset(('Timeout', 'KeepAlive')),
    'google.golang.org/grpc/keepalive.ClientParameters': frozenset(('Time', 'Timeout')),
    'google.golang.org/grpc/keepalive.ServerParameters': frozenset(('MaxConnectionIdle', 'MaxConnectionAge', 'MaxConnectionAgeGrace', 'Time', 'Timeout')),
    'google.golang.org/grpc/keepalive.EnforcementPolicy': frozenset(('MinTime',)),
}
"""Struct -> its fields that are durations."""
_PGX = regex(r'\.MaxConn(?:Lifetime|IdleTime)$')
_TINY = 10**6
"""Nanoseconds: no timeout or lifetime of a connection is meant to be under a millisecond."""
_UNIT = regex(r'\btime\.(?:Nanosecond|Microsecond|Millisecond|Second|Minute|Hour)\b')
_INTEGER_CALL = regex(r'(?:\bstrconv\.(?:Atoi|ParseInt)|\bviper\.(?:Get|Must)?Int(?:32|64)?|\bflag\.Int(?:64)?)\(')
_INTEGERS = frozenset(('int', 'int32', 'int64', 'uint', 'uint32'))
_FIELD = regex(rb'(?m)^[ \t]+(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]+([\w.*]+)', re.ASCII)
_NANOSECONDS = regex(r'(?i)nano|ns$')


def durations(source: Source) -> Iterator[Component]:
    """Every duration of a connection or server that is a bare number, or a whole number of a file's own turned into nanoseconds."""
    fields = _declared(source)
    for scope in source.scopes:
        for what, node in _given(source, scope):
            found = _tiny(source, scope, node)
            converted = '' if found is not None else _converted(source, scope, node, fields)
            if found is not None or converted:
                place, path = source.place(node), source.document.path
                settings = {'of': Setting('of', what, place), 'nanoseconds': Setting('nanoseconds', found, place, locked=LOCKED), 'number': Setting('number', converted, place, locked=LOCKED)}
                yield Component(GO_DURATION, path.rpartition('/')[2], f'go/{path}/duration/{what}', place, settings)


def _given(source: Source, scope: Scope) -> Iterator[tuple[str, Any]]:
    """(name of the setting, expression) of the durations that a function sets."""
    for call in scope.calls:
        method, arguments = source.method(call)[1], source.arguments(call)
        if method in _POOL and len(arguments) == 1:
            yield method, arguments[0]
    for literal in scope.literals:
        kind = source.name_of(literal.child_by_field_name('type'))
        for field, node in (source.fields(literal) or {}).items() if kind in _FIELDS else ():
            if field in _FIELDS[kind]:
                yield f'{kind.rpartition("/")[2]}.{field}', node
    if any('jackc/pgx' in path for path in source.imports.values()):
        for name, values in scope.bound.items():
            if _PGX.search(name) and len(values) == 1 and values[0] is not None:
                yield name.rpartition('.')[2], values[0]


def _tiny(source: Source, scope: Scope, node: Any) -> int | None:
    """The nanoseconds of a number without a unit, when they are too few to be meant."""
    settled = source.settled(node, scope)
    if _UNIT.search(source.text(settled)):
        return None
    try:
        found = value(source, node, scope)
    except Unfolded:
        return None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < _TINY else None


def _converted(source: Source, scope: Scope, node: Any, fields: dict[str, set[str]]) -> str:
    """What stands in `time.Duration(x)` without a unit beside it, when the file shows that x is a plain number."""
    settled = source.settled(node, scope)
    arguments = source.arguments(settled) if settled.type == 'call_expression' and source.called(settled) == 'time.Duration' else []
    if len(arguments) != 1:
        return ''
    text = source.text(arguments[0])
    whole = _is_whole(source, scope, arguments[0], fields)
    return text[:60] if whole and not _NANOSECONDS.search(text) else ''


def _is_whole(source: Source, scope: Scope, node: Any, fields: dict[str, set[str]]) -> bool:
    settled = source.settled(node, scope)
    text = source.text(settled)
    if settled.type == 'call_expression':
        return _INTEGER_CALL.match(text) is not None
    if settled.type == 'identifier':
        return parameters_of(source, scope.node).get(text, '') in _INTEGERS
    kinds = fields.get(text.rpartition('.')[2], set()) if settled.type == 'selector_expression' else set()
    return bool(kinds) and kinds <= _INTEGERS


def _declared(source: Source) -> dict[str, set[str]]:
    """Field -> the types that structs of the file declare it with."""
    found: dict[str, set[str]] = {}
    for names, kind in _FIELD.findall(source.data) if b'time.Duration(' in source.data else ():
        for name in names.decode().split(','):
            found.setdefault(name.strip(), set()).add(kind.decode())
    return found
