"""Which rules there are: the built-in ones, those of named plugins, and those of --rules files."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from configaudit.errors import UsageError
from configaudit.model import Rule

_BUILT_IN = 'configaudit.rules'


class Registry(NamedTuple):
    """Rules in report order, found by kind or id."""

    rules: tuple[Rule, ...]

    def by_id(self, name: str) -> Rule | None:
        """The rule of an id or a former id."""
        return next((rule for rule in self.rules if rule.id == name or name in rule.aliases), None)


def load(met: Iterable[str] | None = None, plugins: Iterable[str] = (), files: Iterable[str] = ()) -> Registry:
    """The rules for the kinds and traits that were met (None: all), with plugins and files. Duplicate ids are an error."""
    subjects: dict[str, tuple[str, ...]] = import_module(_BUILT_IN).SUBJECTS
    wanted = None if met is None else set(met)
    names = dict.fromkeys(
        name for kind, modules in subjects.items() if wanted is None or kind in wanted for name in modules
    )
    order = {name: at for at, name in enumerate(dict.fromkeys(name for modules in subjects.values() for name in modules))}
    found = [rule for name in sorted(names, key=order.__getitem__) for rule in rules_of(import_module(f'{_BUILT_IN}.{name}'))]
    for module in (*_plugins(plugins), *_files(files)):
        found.extend(rules_of(module))
    seen: dict[str, Rule] = {}
    for rule in found:
        for name in (rule.id, *rule.aliases):
            if seen.setdefault(name, rule) is not rule:
                raise UsageError(f'two rules are called {name}')
    return Registry(tuple(found))


def rules_of(module: ModuleType) -> Iterator[Rule]:
    """The rules that a module defines, one by one or in lists (families)."""
    for value in vars(module).values():
        if isinstance(value, Rule):
            yield value
        elif isinstance(value, (list, tuple)) and value and all(isinstance(item, Rule) for item in value) and not isinstance(value, Rule):
            yield from value


def _plugins(names: Iterable[str]) -> Iterator[ModuleType]:
    """Modules behind the entry points of group `configaudit.rules` that the configuration names."""
    wanted = list(names)
    if not wanted:
        return
    from importlib.metadata import entry_points

    points = {point.name: point for point in entry_points(group=_BUILT_IN)}
    for name in wanted:
        if name not in points:
            raise UsageError(f'plugin {name!r} is not installed: no entry point of that name in group {_BUILT_IN}')
        module = points[name].load()
        yield module


def _files(paths: Iterable[str]) -> Iterator[ModuleType]:
    """Modules from files and folders named on the command line."""
    import os
    from importlib.util import module_from_spec, spec_from_file_location

    for path in paths:
        files = [path] if not os.path.isdir(path) else [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith('.py')]
        for file in files:
            spec = spec_from_file_location('configaudit_rules_' + os.path.basename(file).removesuffix('.py'), file)
            if spec is None or spec.loader is None or not os.path.isfile(file):
                raise UsageError(f'{file}: not a Python file with rules')
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module
