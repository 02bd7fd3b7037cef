"""Which rule runs where and how: selectors over rules, patterns over paths and objects."""

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from configaudit.engine import Choice
from configaudit.model import SEVERITIES, Component, Rule
from configaudit.sources import Patterns, compile_patterns

Severities = Mapping[str, str]
Options = Mapping[str, Mapping[str, object]]


class Scope(NamedTuple):
    """Where something of the configuration holds: paths relative to its folder, and objects."""

    paths: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


class Override(NamedTuple):
    """Other choices for some paths or objects."""

    scope: Scope
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = {}
    rules: Mapping[str, Mapping[str, object]] = {}


def matches(selector: str, rule: Rule) -> bool:
    """Whether a selector names a rule: id, former id, glob, subject, checklist tag or severity."""
    if selector in (rule.id, *rule.aliases, *rule.checklist, rule.severity):
        return True
    if '*' in selector or '?' in selector:
        return _glob(selector).match(rule.id) is not None
    return any(name.startswith(selector + '-') for name in (rule.id, *rule.checklist))


def any_matches(selectors: Iterable[str], rule: Rule) -> bool:
    """Whether one of the selectors names the rule."""
    return any(matches(selector, rule) for selector in selectors)


@lru_cache(maxsize=512)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


@lru_cache(maxsize=512)
def _patterns(patterns: tuple[str, ...]) -> Patterns:
    return compile_patterns(patterns)


def in_paths(patterns: tuple[str, ...], path: str) -> bool:
    """Whether a path, or a folder above it, matches .gitignore patterns; without patterns every path does."""
    if not patterns:
        return True
    compiled = _patterns(patterns)
    steps = path.split('/')
    folders = ('/'.join(steps[:count]) for count in range(1, len(steps)))
    return compiled.match(path, False) or any(compiled.match(folder, True) for folder in folders)


def in_objects(patterns: tuple[str, ...], component: Component) -> bool:
    """Whether a component is one of the objects, or part of one; without patterns every component is."""
    return not patterns or any(_is_object(pattern, component) for pattern in patterns)


def _is_object(pattern: str, component: Component) -> bool:
    steps = component.identity.split('/')
    if '/' not in pattern:
        return any(_glob(pattern).match(step) for step in (*steps, component.name))
    wanted = pattern.strip('/').split('/')
    return len(wanted) <= len(steps) and all(_glob(part).match(step) for part, step in zip(wanted, steps))


def in_scope(scope: Scope, component: Component, path: str) -> bool:
    """Whether something holds for a component of the file at `path` (relative to the configuration's folder)."""
    return in_paths(scope.paths, path) and in_objects(scope.objects, component)


class Choices(NamedTuple):
    """What decides how a rule runs, the later entries over the earlier ones."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    always_ignore: tuple[str, ...] = ()
    """Off whatever --no-ignores says: the command line itself asked for it."""
    severity: Mapping[str, str] = {}
    rules: Mapping[str, Mapping[str, object]] = {}
    overrides: tuple[Override, ...] = ()
    profile: str = 'latency'

    def of(self, rule: Rule) -> Choice | None:
        """How a rule runs where no override holds; None: it is off."""
        if rule.profiles and self.profile not in rule.profiles:
            return None
        if (self.select and not any_matches(self.select, rule)) or any_matches((*self.ignore, *self.always_ignore), rule):
            return None
        return _choice(rule, Choice(), self.severity, self.rules)


def _choice(rule: Rule, base: Choice, severities: Severities, options: Options) -> Choice | None:
    """A choice with a severity and options laid over it. An exact id beats a glob or subject."""
    severity: str | None = base.severity
    for name in sorted(severities, key=lambda name: name == rule.id or name in rule.aliases):
        if matches(name, rule):
            severity = severities[name]
    if severity == 'off':
        return None
    given = [options[name] for name in (*rule.aliases, rule.id) if name in options]
    merged = {name: value for part in (base.options, *given) for name, value in part.items()}
    return Choice(merged, next((level for level in SEVERITIES if level == severity), None))


def chooser(choices: Choices, relative: Callable[[str], str]) -> Callable[[Rule, Component], Choice | None]:
    """A function for the engine that answers for every rule and component. `relative` makes a shown path the configuration's own."""
    known: dict[str, Choice | None] = {}
    scopes: dict[tuple[int, str], tuple[int, ...]] = {}

    def choose(rule: Rule, component: Component) -> Choice | None:
        if rule.id not in known:
            known[rule.id] = choices.of(rule)
        found = known[rule.id]
        if not choices.overrides or found is None:
            return found
        key = id(component), component.identity
        if key not in scopes:
            path = relative(component.place.outermost().document.path)
            scopes[key] = tuple(at for at, item in enumerate(choices.overrides) if in_scope(item.scope, component, path))
        for at in scopes[key]:
            override = choices.overrides[at]
            if found is None or (override.select and not any_matches(override.select, rule)) or any_matches(override.ignore, rule):
                return None
            found = _choice(rule, found, override.severity, override.rules)
        return found

    return choose
