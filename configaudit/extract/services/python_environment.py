"""What Python programs take from outside: environment variables that manifests of the run set, fields of pydantic's settings classes."""

import ast
from collections.abc import Iterable, Sequence

from configaudit.extract.environment import Stores, environment_of
from configaudit.extract.process import Data, Process
from configaudit.extract.services.python_values import FIELD, LOCKED, variable_of
from configaudit.extract.services.values import CONVERT
from configaudit.extract.words import Word
from configaudit.model import Component, Setting
from configaudit.parse.python import Source, Unfolded
from configaudit.units import HOLE

_BASES = ('pydantic_settings.BaseSettings', 'pydantic.BaseSettings', 'pydantic.v1.BaseSettings')
_SEVERAL = 'the manifests set ${name} to several values'


def fields_of(source: Source) -> dict[str, Word]:
    """The fields of a file's settings classes: 'field VARIABLE' -> default; without a default, or with one that is worked out, a hole."""
    found: dict[str, Word] = {}
    known: set[str] = set()
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef) and any(source.name_of(base) in _BASES or (isinstance(base, ast.Name) and base.id in known) for base in node.bases):
            known.add(node.name)
            prefix = _prefix(source, node)
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    name, word = _field(source, item, prefix + item.target.id)
                    found[f'{item.target.id} {name.upper()}'] = word
    return found


def _field(source: Source, item: ast.AnnAssign, name: str) -> tuple[str, Word]:
    """The variable of a field, and its default."""
    default, place = item.value, source.place(item.value or item.target)
    if isinstance(default, ast.Call):
        words = {word.arg: word.value for word in default.keywords if word.arg}
        alias = words.get('validation_alias') or words.get('alias') or words.get('env')
        if isinstance(alias, ast.Constant):
            name = str(alias.value)
        default = words.get('default') or (default.args[0] if default.args else None)
    try:
        value = source.value(default) if default is not None else HOLE
    except Unfolded:
        variable = variable_of(source, default) if default is not None else None
        name, value = (variable.name, HOLE) if variable is not None else (name, HOLE)
    known = isinstance(value, (int, float, str))
    return name, Word(str(value) if known else HOLE, place, False, f'${name.upper()} is not set in the files read', LOCKED)


def _prefix(source: Source, node: ast.ClassDef) -> str:
    for item in ast.walk(node):
        if isinstance(item, ast.keyword) and item.arg == 'env_prefix' and isinstance(item.value, ast.Constant):
            return str(item.value.value)
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name) and item.targets[0].id == 'env_prefix' and isinstance(item.value, ast.Constant):
            return str(item.value.value)
    return ''


def join_environment(components: Iterable[Component], processes: Sequence[Process], data: Iterable[Data], stores: Stores) -> None:
    """Give the settings of programs what the manifests set, else the default of the settings class."""
    waiting = [(one, setting) for one in components for setting in list(one.settings.values()) if setting.source.startswith('$')]
    if not waiting:
        return
    fields: dict[str, list[tuple[str, Word]]] = {}
    for item in data:
        for key, word in item.values.items() if item.kind == 'pydantic' else ():
            field, _, name = key.partition(' ')
            fields.setdefault(field, []).append((name, word))
    environments = [environment_of(process, stores) for process in processes]
    for component, setting in waiting:
        asked = setting.source[1:]
        named = fields.get(asked.removeprefix(FIELD), []) if asked.startswith(FIELD) else [(asked, None)]
        words = [environment[name] for name, _ in named for environment in environments if name in environment]
        defaults = [word for _, word in named if word is not None]
        component.settings[setting.name] = _joined(setting, words or defaults, asked.removeprefix(FIELD))


def _joined(setting: Setting, words: list[Word], name: str) -> Setting:
    """The one value of all words; unknown when they differ. Without any the setting stays as the program says it."""
    if not words:
        return setting._replace(source='')
    if len({word.value for word in words}) > 1:
        return setting._replace(known_value=None, reason=_SEVERAL.replace('{name}', name), source='')
    word = words[0]
    value = CONVERT[setting.unit or 'text'](word.value) if word.known else None
    reason = word.reason if not word.known else '' if value is not None else f'{word.value!r} says no number that is certain'
    return Setting(setting.name, value, word.place, 'inherited', reason, unit=setting.unit, uses=(setting.place,), locked=word.locked or LOCKED)


