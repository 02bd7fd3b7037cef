"""Which rule runs where and how: selectors over rules, patterns over paths and objects."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from configaudit.engine import Choice
from configaudit.model import SEVERITIES, Component, Rule
from configaudit.scope import Scope as Scope
from configaudit.scope import glob, in_scope
from configaudit.scope import in_objects as in_objects
from configaudit.scope import in_paths as in_paths

Severities = Mapping[str, str]
Options = Mapping[str, Mapping[str, object]]


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
        return glob(selector).match(rule.id) is not None
    return any(name.startswith(selector + '-') for name in (rule.id, *rule.checklist))


def any_matches(selectors: Iterable[str], rule: Rule) -> bool:
    """Whether one of the selectors names the rule."""
    return any(matches(selector, rule) for selector in selectors)


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
    service: Mapping[str, object] = {}
    """The service's own numbers that a person gave (`longest_generation_s`): every rule that has such an option takes them."""

    def of(self, rule: Rule) -> Choice | None:
        """How a rule runs where no override holds; None: it is off."""
        if rule.profiles and self.profile not in rule.profiles:
            return None
        if (self.select and not any_matches(self.select, rule)) or any_matches((*self.ignore, *self.always_ignore), rule):
            return None
        told = {name: value for name, value in self.service.items() if name in rule.options}
        return _choice(rule, Choice(told), self.severity, self.rules)


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
