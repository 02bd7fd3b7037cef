"""Expressions of Python source as settings: folded, placed, and honest about what only the running program knows."""

import ast
from typing import NamedTuple

from configaudit.model import Setting
from configaudit.parse.python import Source, Unfolded
from configaudit.patterns import regex
from configaudit.places import Place

LOCKED = 'it is a program'
WORKED_OUT = 'the program works it out'
_READS = ('os.getenv', 'os.environ.get', 'decouple.config')
_CASTS = ('int', 'float', 'str')
FIELD = 'settings.'
"""Before the name of a field of a settings class, where a variable's name stands."""
_SETTINGS = ('settings', 'config', 'conf', 'cfg', 'app_settings', 'app_config')


class Variable(NamedTuple):
    """An environment variable that a program reads, and what it takes without it."""

    name: str
    default: ast.expr | None


def keywords(source: Source, call: ast.Call) -> tuple[dict[str, ast.expr], str]:
    """The keywords of a call, and why there may be more."""
    given = {word.arg: word.value for word in call.keywords if word.arg}
    unseen = ''
    for word in call.keywords:
        if word.arg is None:
            pairs = source.pairs(word.value)
            unseen = unseen or ('' if pairs is not None else 'keywords come from a mapping that is not shown')
            given = {**(pairs or {}), **given}
    return given, unseen


def variable_of(source: Source, node: ast.expr) -> Variable | None:
    """The environment variable behind `os.getenv('X', 5)`, `int(os.environ['X'])`, `env.int('X', default=5)`, `config('X', default=5)`."""
    node = source.settled(node)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        found = variable_of(source, node.values[0])
        return Variable(found.name, node.values[1]) if found is not None and found.default is None else None
    if isinstance(node, ast.Subscript) and source.name_of(node.value) == 'os.environ' and isinstance(node.slice, ast.Constant):
        return Variable(str(node.slice.value), None)
    if isinstance(node, ast.Attribute):
        return Variable(FIELD + node.attr, None) if _is_settings(node.value) else None
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id in _CASTS and len(node.args) == 1:
        return variable_of(source, node.args[0])
    reads = source.name_of(node.func) in _READS or _is_environ(source, node.func)
    if not reads or not node.args or not isinstance(node.args[0], ast.Constant) or not isinstance(node.args[0].value, str):
        return None
    default = next((word.value for word in node.keywords if word.arg == 'default'), node.args[1] if len(node.args) > 1 else None)
    return Variable(node.args[0].value, default)


def _is_settings(node: ast.expr) -> bool:
    """Whether an object is called as settings are, or made by `get_settings()`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ('get_settings', 'get_config')
    return (isinstance(node, ast.Name) and node.id in _SETTINGS) or (isinstance(node, ast.Attribute) and node.attr in _SETTINGS)


_SETTINGS_MODULE = regex(r'(?:^|[._])(?:base|common|settings|defaults?|config|main|env)(?:[._]|$)')


def _is_environ(source: Source, node: ast.expr) -> bool:
    """Whether a function is `env` or `env.int` of django-environ."""
    if isinstance(node, ast.Attribute) and node.attr in ('int', 'str', 'float', 'bool', 'url'):
        node = node.value
    made = source.settled(node)
    if isinstance(node, ast.Name) and node.id == 'env' and made is node:
        return any(alias.name in ('env', '*') for item in source.tree.body if isinstance(item, ast.ImportFrom) and _SETTINGS_MODULE.search(item.module or '') for alias in item.names)
    return isinstance(node, ast.Name) and isinstance(made, ast.Call) and source.name_of(made.func) in ('environ.Env', 'environ.FileAwareEnv', 'environs.Env')


def setting_at(source: Source, name: str, node: ast.expr, unit: str = '', scale: float = 1) -> Setting:
    """The setting that an expression gives; a number is divided by `scale`. Of an environment variable its default, with the variable as `source`."""
    place = source.place(node)
    variable = None
    try:
        found = source.value(node)
    except Unfolded:
        variable = variable_of(source, node)
        try:
            found = source.value(variable.default) if variable is not None and variable.default is not None else None
        except Unfolded:
            found = None
        if variable is None or found is None:
            return Setting(name, None, place, 'explicit', WORKED_OUT, unit=unit, source=f'${variable.name}' if variable and scale == 1 else '', locked=LOCKED)
        found = _number(found) if unit in ('s', 'count') else found
    if isinstance(found, (int, float)) and not isinstance(found, bool) and scale != 1:
        found = found / scale
        found = int(found) if found == int(found) else found
    return Setting(name, found, place, unit=unit, source=f'${variable.name}' if variable and scale == 1 else '', locked=LOCKED)


def read_from(source: Source, node: ast.expr | None) -> Setting | None:
    """The variable that a program takes an address from; of a settings class the one that its field is called after."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == 'str' and node.args:
        node = node.args[0]
    found = variable_of(source, node) if node is not None else None
    if found is None or node is None:
        return None
    name = found.name.removeprefix(FIELD).upper() if found.name.startswith(FIELD) else found.name
    return Setting('variable', name, source.place(node))


def decided_by(settings: dict[str, Setting], place: Place) -> dict[str, Setting]:
    """The settings with a note which environment variables decide them (of settings classes, their fields do)."""
    decided = tuple((name, setting.source[1:], 1) for name, setting in settings.items() if setting.source.startswith('$') and not setting.source.startswith(f'${FIELD}'))
    if not decided:
        return settings
    names = [name for name, _, _ in decided]
    plain = {name: setting._replace(source='') if name in names else setting for name, setting in settings.items()}
    return {**plain, 'decided_by': Setting('decided_by', decided, place)}


def _number(value: object) -> object:
    """A variable's default is often text: '30' means 30 where it is cast."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number == int(number) else number
