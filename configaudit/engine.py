"""The only loop: every component, every rule of its kind, four outcomes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from configaudit.findings import Finding, NotAssessed
from configaudit.knowledge.versions import satisfies
from configaudit.model import SEVERITIES, Component, NotApplicable, Problem, Rule, Setting, Severity, Unknown
from configaudit.redact import safe_value
from configaudit.units import show

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b  # the same function; importing it loads OpenSSL, 3 ms of every run

Options = Callable[[Rule, Component], 'Choice | None']


class Choice(NamedTuple):
    """How the configuration wants a rule run on a component."""

    options: Mapping[str, object] = {}
    severity: Severity | None = None


class Outcome(NamedTuple):
    """What the rules said."""

    findings: list[Finding]
    not_assessed: list[NotAssessed]
    passed: dict[str, int]
    """Rule id -> on how many components it found nothing wrong."""
    not_applicable: dict[str, int]


def run(components: Iterable[Component], rules: Iterable[Rule], choose: Options) -> Outcome:
    """Judge every component by every rule on its kind or traits. `choose` returns None for a rule that is off."""
    outcome = Outcome([], [], {}, {})
    by_kind: dict[str, list[Rule]] = {}
    for rule in rules:
        for name in rule.on:
            by_kind.setdefault(name, []).append(rule)
    applicable: dict[str, tuple[Rule, ...]] = {}
    for component in components:
        kind = component.kind
        if kind.name not in applicable:
            found = [rule for name in (kind.name, *kind.traits) for rule in by_kind.get(name, ())]
            applicable[kind.name] = tuple({rule.id: rule for rule in found}.values())
        for rule in applicable[kind.name]:
            choice = choose(rule, component)
            if choice is not None:
                _judge(rule, component, choice, outcome)
    return outcome


def _judge(rule: Rule, component: Component, choice: Choice, outcome: Outcome) -> None:
    reason = _version_reason(rule, component)
    if reason == 'outside':
        outcome.not_applicable[rule.id] = outcome.not_applicable.get(rule.id, 0) + 1
        return
    if reason:
        outcome.not_assessed.append(NotAssessed(rule, component, reason))
        return
    count = 0
    try:
        for problem in rule.judge(component, **choice.options):
            outcome.findings.append(_finding(rule, component, problem, choice, count))
            count += 1
    except Unknown as unknown:
        outcome.not_assessed.append(NotAssessed(rule, component, str(unknown)))
    except NotApplicable:
        if not count:
            outcome.not_applicable[rule.id] = outcome.not_applicable.get(rule.id, 0) + 1
    else:
        if not count:
            outcome.passed[rule.id] = outcome.passed.get(rule.id, 0) + 1


def _version_reason(rule: Rule, component: Component) -> str:
    """'' to go on, 'outside' for not applicable, else why the rule cannot be assessed."""
    if not rule.versions:
        return ''
    if component.version is None:
        return f'the version is not known ({component.version_from or "no image tag"}); the rule holds for {rule.versions}'
    return '' if satisfies(component.version, rule.versions) else 'outside'


def _finding(rule: Rule, component: Component, problem: Problem, choice: Choice, number: int) -> Finding:
    setting = problem.at if isinstance(problem.at, Setting) else None
    severity = choice.severity or _lower_of(rule.severity, problem.severity)
    from_default = setting is not None and setting.origin == 'default' and bool(setting.source)
    if (component.version is None or component.note) and from_default and 'engine' in component.kind.traits and choice.severity is None:
        severity = SEVERITIES[min(SEVERITIES.index(severity) + 1, 2)]
    place = problem.at.place if isinstance(problem.at, Setting) else problem.at
    values = {name: safe_value(name, value) for name, value in problem.values.items()}
    if setting is not None and setting.secret:
        values['value'] = '***'
    related = [*problem.see, *(('also used here', use) for use in (setting.uses if setting else ()))]
    name = setting.name if setting else ''
    return Finding(
        rule, severity, problem.confidence or rule.confidence, _message(problem.template, values), values, component,
        place, tuple(related), problem.fix, name, fingerprint(rule.id, component.identity, problem.detail or name),
    )  # fmt: skip


def _lower_of(own: Severity, given: Severity | None) -> Severity:
    return own if given is None else SEVERITIES[max(SEVERITIES.index(own), SEVERITIES.index(given))]


def _message(template: str, values: Mapping[str, Any]) -> str:
    return template.format_map({name: show(value) for name, value in values.items()})


def fingerprint(rule: str, identity: str, detail: str) -> str:
    """What stays the same when files move and words change: rule, object and semantic detail."""
    text = '\0'.join((rule, identity, detail))
    return blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()
