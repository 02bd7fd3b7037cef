"""What a fix does, in the words of the file that it changes."""

import re

from configaudit.findings import Finding
from configaudit.model import REMOVE, Change, Component
from configaudit.places import Place
from configaudit.redact import safe_value
from configaudit.units import HOLE, show

_NEAR = 300
"""Code points before a value in which its name is looked for."""
_NAME = re.compile(r'([A-Za-z_\-][\w.\-/{}]*)["\']?[ \t]*[:=]?[ \t]*["\'\[{(]*\Z')
_ENTRY = re.compile(r'([A-Za-z_][\w.\-]*)[ \t]*[:={\[]')
_ENVIRONMENT = re.compile(r'name:[ \t]*["\']?([\w.\-]+)["\']?[ \t]*(?:,[ \t]*|\r?\n[ \t]*(?:-[ \t]+)?)["\']?value["\']?[ \t]*:[ \t]*["\']?\Z')
_JOINED = {'yaml_edit': ': ', 'pbtxt': ': ', 'toml': ' = ', 'sysctl': ' = ', 'yaml_item': ' ', 'shell_word': ' ', 'argument': ' ', 'nginx': ' '}
"""What stands between a name and its value in each writer's format; '=' in all others."""


def describe(change: Change, finding: Finding) -> str:
    """A change as an instruction: 'set maxSurge to 0', 'add --max-num-seqs 128', 'remove fs.file-max'."""
    slot, component = change.slot, finding.component
    if slot is None or (not slot.path and not slot.place.text):
        is_own = finding.setting == change.setting and change.setting in component.settings
        name = (_written(change, finding.place) if is_own else '') or _declared(change, component)
        return f'remove {name}' if change.value is REMOVE else f'set {name} to {_value(change)}'
    if slot.path:
        return _addition(change, slot.format, slot.path)
    name = _written(change, slot.place)
    if change.value is REMOVE:
        return f'remove {name or _declared(change, component)}'
    old, new = slot.place.text.replace(HOLE, '…'), _value(change)
    if old == new:
        return f'put {old} in quotes'
    return f'set {name} to {new}' if name else f'replace {old} by {new}'


def _addition(change: Change, form: str, path: tuple[str, ...]) -> str:
    if form == 'live':
        return f'set {path[-1]} to {_value(change)}'
    name = path[-1] if form in ('systemd', 'ini') else '.'.join(path)
    if path[-1].startswith('-') and change.value is True:
        return f'add {name}'
    return f'add {name}{_JOINED.get(form, "=")}{_value(change)}'


def _written(change: Change, place: Place) -> str:
    """The name of a value as it stands in front of it; '' where there is none."""
    text = place.text
    if text.startswith('-'):
        return text.split('=')[0].split()[0] if change.value is REMOVE else ''
    entry = _ENTRY.match(text) if change.value is REMOVE else None
    if entry:
        return entry[1]
    near = place.document.text[max(0, place.start - _NEAR) : place.start]
    spelled = re.escape(change.setting).replace('_', '[-_]')
    flag = re.search(rf'(?<![\w-])(--?(?:no-)?{spelled})["\']?[=,\s][-\s"\']*\Z', near)
    if flag:
        return flag[1]
    environment = _ENVIRONMENT.search(near) if 'value' in near[-16:] else None
    if environment:
        return environment[1]
    name = _NAME.search(near.rpartition('\n')[2])
    return '' if name is None or name[1].strip('-') in ('', 'value') else name[1]


def _declared(change: Change, component: Component) -> str:
    """The setting's name where no file shows it: its path in the format, a flag, or our own."""
    name = change.setting
    spec = component.kind.settings.get(name)
    if spec is not None and spec.path:
        return '.'.join(spec.path)
    return '--' + name.replace('_', '-') if 'engine' in component.kind.traits and not name.startswith('-') else name


def _value(change: Change) -> str:
    return _flow(safe_value(change.setting, change.value))


def _flow(value: object) -> str:
    """A value on one line, as YAML writes it."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, dict):
        return '{' + ', '.join(f'{key}: {_flow(item)}' for key, item in value.items()) + '}'
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(map(_flow, value)) + ']'
    return show(value)
