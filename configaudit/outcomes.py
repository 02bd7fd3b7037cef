"""What each rule came to on a host: pass, fail, not applicable, or not assessed."""

from typing import Literal, NamedTuple

from configaudit.findings import Finding
from configaudit.model import SEVERITIES, Rule, Severity
from configaudit.result import Result

Word = Literal['pass', 'fail', 'not-applicable', 'not-assessed']
WORDS: tuple[Word, ...] = ('pass', 'fail', 'not-applicable', 'not-assessed')


class Outcome(NamedTuple):
    """One rule's outcome over all that it judged. A failure anywhere is a failure; what was not seen is no pass."""

    rule: Rule
    word: Word
    severity: Severity
    """Of the worst finding; the rule's own where there is none."""
    findings: tuple[Finding, ...]
    reason: str
    """Why it was not assessed, or ''."""


def outcomes(result: Result) -> list[Outcome]:
    """The outcome of every rule that met something it judges, by rule id."""
    found: dict[str, list[Finding]] = {}
    for finding in result.findings:
        found.setdefault(finding.rule.id, []).append(finding)
    reasons = {item.rule.id: item.reason for item in reversed(result.not_assessed)}
    return [outcome for rule in sorted(result.registry.rules, key=lambda rule: rule.id) if (outcome := _outcome(rule, found, reasons, result)) is not None]


def _outcome(rule: Rule, found: dict[str, list[Finding]], reasons: dict[str, str], result: Result) -> Outcome | None:
    if rule.id in found:
        worst = min((finding.severity for finding in found[rule.id]), key=SEVERITIES.index)
        return Outcome(rule, 'fail', worst, tuple(found[rule.id]), '')
    if rule.id in reasons:
        return Outcome(rule, 'not-assessed', rule.severity, (), reasons[rule.id])
    if rule.id in result.passed:
        return Outcome(rule, 'pass', rule.severity, (), '')
    return Outcome(rule, 'not-applicable', rule.severity, (), '') if rule.id in result.not_applicable else None
