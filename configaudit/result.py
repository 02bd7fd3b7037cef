"""One audit's whole result, as every reporter gets it, and what was printed of it."""

from typing import NamedTuple

from configaudit.findings import Error, Finding, NotAssessed, Skipped, Suppressed
from configaudit.model import Component
from configaudit.registry import Registry


class Result(NamedTuple):
    """Everything a reporter may print."""

    findings: tuple[Finding, ...]
    not_assessed: tuple[NotAssessed, ...]
    suppressed: tuple[Suppressed, ...]
    skipped: tuple[Skipped, ...]
    errors: tuple[Error, ...]
    components: tuple[Component, ...]
    passed: dict[str, int]
    not_applicable: dict[str, int]
    files: int
    registry: Registry
    beside: tuple[str, ...] = ()
    """Files that were read beside the audited ones: chart values."""
    stale: int = 0
    """Findings that a baseline counts and that are gone."""


class Kept(NamedTuple):
    """What a run printed and how it ended."""

    code: int
    printed: str
    written: tuple[tuple[str, str], ...]
    """(file, text) of every further report."""
