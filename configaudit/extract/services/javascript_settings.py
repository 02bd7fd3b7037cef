"""Expressions of JavaScript source as settings: folded, placed, and honest about what only the running program knows."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from configaudit.model import Component, Kind, Setting
from configaudit.parse.javascript import Scope, Source
from configaudit.parse.javascript_values import UNDEFINED, Reader, Unfolded, to_number
from configaudit.patterns import regex

LOCKED = 'it is a program'
WORKED_OUT = 'the program works it out'
WRITTEN_IN = 'Node.js'
_SAMPLES = ('6', '12')
_LOCAL = regex(r'(?:[a-z]+:/*)?(?:localhost|127\.[\d.]+|\[::1?\]|0\.0\.0\.0)(?:[:/]|$)|unix:')
_URL = 'scheme://host:1/path'


def is_local(address: str) -> bool:
    """Whether an address never leaves the machine."""
    return _LOCAL.match(address) is not None


class Option(NamedTuple):
    """What an option of a library says: the setting, units of the option in one of the setting's, and numbers that mean no limit."""

    setting: str
    scale: float = 1
    unlimited: tuple[float, ...] = ()


class Options(NamedTuple):
    """The settings of an object of options, and which of them the environment decides."""

    settings: dict[str, Setting]
    variables: list[tuple[str, str, float]]
    """(setting, environment variable, factor): what a variable that is set makes of the setting."""


def fold(source: Source, scope: Scope, node: Any) -> tuple[Any, tuple[str, ...]]:
    """The constant of an expression and the environment variables that it asked for. Raises Unfolded."""
    reader = Reader(source, {})
    return reader.value(node, scope), tuple(name for name in dict.fromkeys(reader.asked) if name != 'NODE_ENV')


def text_of(source: Source, scope: Scope, node: Any) -> str | None:
    """The constant text of an expression, or None; of a field that a later `...rest` may replace (no node) as well."""
    if node is None:
        return None
    try:
        found, _ = fold(source, scope, node)
    except Unfolded:
        return None
    return found if isinstance(found, str) else None


def variable_of(source: Source, scope: Scope, node: Any) -> str:
    """The environment variable that an expression is taken from as it is, or ''."""
    reader = Reader(source, {})
    try:
        reader.value(node, scope)
        names = list(dict.fromkeys(reader.asked))
        taken = len(names) == 1 and Reader(source, {names[0]: _URL}).value(node, scope) == _URL
    except Unfolded:
        return ''
    return names[0] if taken else ''


def target_of(source: Source, scope: Scope, node: Any) -> dict[str, Setting]:
    """Whom a client asks: the address, or the environment variable that holds it."""
    if node is None:
        return {}
    text, variable = text_of(source, scope, node), variable_of(source, scope, node)
    text = None if variable and text and is_local(text) else text  # what a developer's machine has
    found = {'target': Setting('target', text, source.place(node), locked=LOCKED)} if text else {}
    return {**found, 'variable': Setting('variable', variable, source.place(node))} if variable else found


def setting_at(source: Source, scope: Scope, name: str, node: Any, option: Option) -> tuple[Setting | None, list[tuple[str, str, float]]]:
    """The number that an expression gives, divided by the option's scale; None for `undefined`, and what the environment decides of it."""
    place = source.place(node)
    unit = ('ms' if option.scale == 1000 else 's') if name.endswith('_s') else ''
    unknown = Setting(name, None, place, 'explicit', WORKED_OUT, unit=unit, locked=LOCKED)
    try:
        found, asked = fold(source, scope, node)
    except Unfolded:
        return unknown, []
    variables = _factor(source, scope, node, asked[0], option.scale) if len(asked) == 1 else 0
    told = [(name, asked[0], variables)] if variables else []
    if found is None or found is UNDEFINED or not math.isfinite(value := to_number(found)):
        missing = f'${asked[0]} is not set in the files read' if asked else ''
        return (unknown._replace(reason=missing) if missing else None), told
    value = math.inf if value in option.unlimited else value / option.scale
    whole = int(value) if math.isfinite(value) and value == int(value) else value
    return unknown._replace(known_value=whole, reason=''), told


def _factor(source: Source, scope: Scope, node: Any, variable: str, scale: float) -> float:
    """What the variable's number is multiplied with; 0 when it is no plain factor."""
    try:
        one, two = (to_number(Reader(source, {variable: sample}).value(node, scope)) for sample in _SAMPLES)
    except Unfolded:
        return 0
    factor = float(one) / float(_SAMPLES[0])
    return factor / scale if factor > 0 and float(two) / float(_SAMPLES[1]) == factor else 0


def options_of(source: Source, scope: Scope, values: Mapping[str, Any], known: Mapping[str, Option]) -> Options:
    """The settings among the fields of an object."""
    settings: dict[str, Setting] = {}
    variables: list[tuple[str, str, float]] = []
    for key, option in known.items():
        node = values.get(key)
        if node is None:
            continue
        setting, told = setting_at(source, scope, option.setting, node, option)
        if setting is not None:
            settings[option.setting] = setting
            variables.extend(told)
    return Options(settings, variables)


def default(name: str, known: object, place: Any, source: str) -> Setting:
    """What holds because nobody set it."""
    return Setting(name, known, place, 'default', source=source, locked=LOCKED)


def component(kind: Kind, source: Source, node: Any, settings: dict[str, Setting], partial: str = '') -> Component:
    """A component of the program, at a node."""
    path, place = source.document.path, source.place(node)
    settings['written_in'] = Setting('written_in', WRITTEN_IN, place)
    return Component(kind, path.rpartition('/')[2], f'node/{path}/{kind.name}/{node.start_byte}', place, settings, partial=partial)


def head_of(call: Any) -> Any:
    """The name that a call calls: where a finding on something that is not written stands."""
    return call.child_by_field_name('function') or call.child_by_field_name('constructor') or call


def scope_around(source: Source, node: Any) -> Scope:
    """The innermost function that a node stands in, or the file."""
    around = (scope for scope in source.scopes if scope.node.start_byte <= node.start_byte and node.end_byte <= scope.node.end_byte)
    return max(around, key=lambda scope: (scope.node.start_byte, -scope.node.end_byte), default=source.file)


def enclosing(scope: Scope) -> Iterable[Scope]:
    """A scope and those around it."""
    found: Scope | None = scope
    while found is not None:
        yield found
        found = found.outer


_REQUEST = frozenset(('req', 'request', '_req', 'res', 'response', 'reply', 'ctx'))
_ROUTES = frozenset(('get', 'post', 'put', 'patch', 'delete', 'all', 'use', 'route', 'on'))


def in_handler(source: Source, scope: Scope) -> Any:
    """The function that answers a request and in which a scope stands, or None: its parameters say so, and a route or an export holds it."""
    for found in enclosing(scope):
        names = {source.text(parameter).partition(':')[0].lstrip('(') for parameter in _parameters(found.node)}
        if names & _REQUEST and _is_route(source, found.node):
            return found.node
    return None


def _parameters(node: Any) -> list[Any]:
    found = node.child_by_field_name('parameters')
    single = node.child_by_field_name('parameter')
    return list(found.named_children) if found is not None else [single] if single is not None else []


def _is_route(source: Source, node: Any) -> bool:
    """Whether a function is given to a route, or is exported as a handler: `app.post('/x', (req, res) => ...)`, `export async function POST(req)`."""
    holder = node.parent
    if holder is not None and holder.type == 'arguments' and holder.parent is not None:
        function = holder.parent.child_by_field_name('function')
        return function is not None and source.text(function).rpartition('.')[2] in _ROUTES
    name = node.child_by_field_name('name')
    return holder is not None and holder.type == 'export_statement' and name is not None and source.text(name) in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'handler')
