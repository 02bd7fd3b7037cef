"""The one place that turns a Result into plain values: what the JSON contract says, and all reporters build on.

Whatever comes from a file is redacted here; how it is escaped is each format's own business.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from configaudit.findings import Finding, NotAssessed
from configaudit.model import CONFIDENCES, SEVERITIES, Component, Fix
from configaudit.places import Place, locate
from configaudit.redact import redact, safe_value
from configaudit.report.fix_words import describe
from configaudit.result import Result
from configaudit.units import HOLE

if TYPE_CHECKING:
    from configaudit.knowledge.node_fixes import Step

SCHEMA = 1
Values = dict[str, Any]
Locate = Callable[[Place], Values]


def document(result: Result) -> Values:
    """The whole report in the order and the names of the contract."""
    where = locator()
    return {
        'schema': SCHEMA,
        'findings': findings(result, where),
        'not_assessed': [_not_assessed(item, where) for item in result.not_assessed],
        'suppressed': suppressed(result, where),
        'skipped': skipped(result),
        'errors': errors(result),
        'components': [_component(item, where) for item in result.components],
        'summary': summary(result),
    }


def locator() -> Locate:
    """Finds line and column of places, each place once."""
    known: dict[Place, Values] = {}

    def where(place: Place) -> Values:
        if place not in known:
            at = locate(place)
            known[place] = {
                'path': at.path, 'line': at.line, 'column': at.column, 'end_line': at.end_line, 'end_column': at.end_column,
            }  # fmt: skip
        return known[place]

    return where


def findings(result: Result, where: Locate) -> list[Values]:
    """Every finding, in the order of `result.findings`."""
    return [_finding(item, where) for item in result.findings]


def suppressed(result: Result, where: Locate) -> list[Values]:
    """Every suppressed finding, with the reason and what suppressed it."""
    return [{**_finding(item.finding, where), 'reason': _text(item.reason), 'by': _text(item.by)} for item in result.suppressed]


def skipped(result: Result) -> list[Values]:
    """What was left out."""
    return [{'path': item.path, 'reason': _text(item.reason)} for item in result.skipped]


def errors(result: Result) -> list[Values]:
    """What could not be read."""
    return [
        {'path': item.path, 'line': item.line, 'column': item.column, 'kind': item.kind, 'message': _text(item.message)}
        for item in result.errors
    ]


def summary(result: Result) -> Values:
    """Counts, and why rules were not assessed."""
    return {
        'findings': len(result.findings),
        'severity': _counts(SEVERITIES, (item.severity for item in result.findings)),
        'confidence': _counts(CONFIDENCES, (item.confidence for item in result.findings)),
        'passed': sum(result.passed.values()),
        'not_applicable': sum(result.not_applicable.values()),
        'not_assessed': len(result.not_assessed),
        'not_assessed_by_rule': _by_rule(result.not_assessed),
        'suppressed': len(result.suppressed),
        'skipped': len(result.skipped),
        'errors': len(result.errors),
        'files': result.files,
        'components': len(result.components),
    }


def reasons(result: Result) -> list[tuple[str, int]]:
    """Why rules were not assessed, the most frequent reason first."""
    counts: dict[str, int] = {}
    for item in result.not_assessed:
        reason = _text(item.reason)
        counts[reason] = counts.get(reason, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def docs_of(rule: str) -> str:
    """Where the rule's page stands in the project."""
    return f'docs/rules/{rule}.md'


def _counts(names: Iterable[str], found: Iterable[str]) -> dict[str, int]:
    counts = dict.fromkeys(names, 0)
    for name in found:
        counts[name] += 1
    return counts


def _by_rule(items: Iterable[NotAssessed]) -> list[Values]:
    rules: dict[str, dict[str, int]] = {}
    for item in items:
        counts = rules.setdefault(item.rule.id, {})
        reason = _text(item.reason)
        counts[reason] = counts.get(reason, 0) + 1
    return [
        {'rule': rule, 'count': sum(counts.values()), 'reasons': dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))}
        for rule, counts in sorted(rules.items())
    ]


def _finding(finding: Finding, where: Locate) -> Values:
    rule = finding.rule
    return {
        'rule': rule.id,
        'severity': finding.severity,
        'confidence': finding.confidence,
        'message': _text(finding.message),
        'values': {name: value_of(name, value) for name, value in sorted(finding.values.items())},
        'component': _text(finding.component.identity),
        'checklist': list(rule.checklist),
        'location': where(finding.place),
        'related': [{'message': _text(word), 'location': where(place)} for word, place in finding.related],
        'fix': _fix(finding),
        'effect': rule.effect,
        'side_effect': rule.side_effect,
        'source': rule.source,
        'docs': docs_of(rule.id),
        'fingerprint': finding.fingerprint,
    }


def _fix(finding: Finding) -> Values | None:
    """The fix with its edits; one that is refused keeps its reason as the description, and its commands."""
    from configaudit.fix import Refusal, edits_of

    fix = finding.fix
    if fix is None:
        return None
    steps = _steps(finding) if any(change.slot is not None and change.slot.format == 'live' for change in fix.changes) else ()
    if steps:
        commands = [command for step in steps for command in (step.now, f'# for good: {step.file or step.note}') if command]
        return {'safe': fix.safe, 'description': _describe(fix, finding), 'edits': [], 'commands': [_text(command) for command in commands]}
    edits = edits_of(finding) if fix.changes else ()
    description = _describe(fix, finding)
    if isinstance(edits, Refusal):
        description, edits = f'{description}: not written by the tool, {_text(edits.reason)}', ()
    if any(redact(edit.text) != edit.text for edit in edits):
        description, edits = f'{description}: the edit is not shown, it holds a credential', ()
    return {
        'safe': fix.safe,
        'description': description,
        'edits': [edit._asdict() for edit in edits],
        'commands': [_text(command) for command in fix.commands],
    }


def _steps(finding: Finding) -> 'tuple[Step, ...]':
    """What changes a live host; what knows it is imported for hosts only."""
    from configaudit.fix_plan import steps_of

    return steps_of(finding)


def _describe(fix: Fix, finding: Finding) -> str:
    return _text(fix.description or ', '.join(describe(change, finding) for change in fix.changes) or 'run a command')


def _not_assessed(item: NotAssessed, where: Locate) -> Values:
    return {
        'rule': item.rule.id, 'component': _text(item.component.identity), 'reason': _text(item.reason),
        'location': where(item.component.place),
    }  # fmt: skip


def _component(item: Component, where: Locate) -> Values:
    return {
        'kind': item.kind.name,
        'name': _text(item.identity),
        'engine_version': None if item.version is None else str(item.version),
        'version_from': _text('; '.join(filter(None, (item.version_from, item.note)))),
        'location': where(item.place),
    }


def _text(text: str) -> str:
    return redact(text).replace(HOLE, '…')


def value_of(name: str, value: object) -> Any:
    """A value of the arithmetic as JSON can hold it."""
    value = safe_value(name, value)
    if isinstance(value, float) and not math.isfinite(value):
        return 'unlimited' if value == math.inf else str(value)
    if isinstance(value, str):
        return value.replace(HOLE, '…')
    if isinstance(value, Mapping):
        return {key: value_of(str(key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [value_of(name, item) for item in value]
    return value
