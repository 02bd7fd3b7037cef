"""What a run comes to, piece by piece: findings, what was not assessed, suppressed, unread or left out."""

from collections.abc import Mapping
from typing import NamedTuple

from configaudit.model import Component, Confidence, Fix, Rule, Severity
from configaudit.places import Place


class Finding(NamedTuple):
    """A problem with everything a reporter shows; `fingerprint` survives moves, renames and rewording."""

    rule: Rule
    severity: Severity
    confidence: Confidence
    message: str
    values: Mapping[str, object]
    component: Component
    place: Place
    related: tuple[tuple[str, Place], ...]
    fix: Fix | None
    setting: str
    fingerprint: str


class NotAssessed(NamedTuple):
    """A rule that could not judge a component, and why."""

    rule: Rule
    component: Component
    reason: str


class Suppressed(NamedTuple):
    """A finding that somebody decided to live with, and why."""

    finding: Finding
    reason: str
    by: str


class Error(NamedTuple):
    """Something that could not be read; `fatal` when it is of a kind the audit covers (exit status 3)."""

    path: str
    line: int
    column: int
    kind: str
    message: str
    fatal: bool = True


class Skipped(NamedTuple):
    """A file or document that was left out, and why."""

    path: str
    reason: str
