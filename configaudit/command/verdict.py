"""What an audit comes to: which findings count, and the exit status."""

from collections.abc import Iterable
from typing import NamedTuple

from configaudit.config import Config
from configaudit.model import CONFIDENCES, SEVERITIES
from configaudit.places import Place
from configaudit.result import Result
from configaudit.sources import shown

CLEAN, FINDINGS, LOST, NOTHING = 0, 1, 3, 4


class Limits(NamedTuple):
    """What makes an audit fail."""

    fail_on: str = 'warning'
    strict: bool = False
    """A rule of severity error or warning that could not be assessed counts like a finding, and no template may stay unread."""
    allow_empty: bool = False


def audited(paths: Iterable[str], config: Config) -> Result:
    """The result of an audit, without findings of too low confidence."""
    from configaudit.audit import audit

    result = audit(tuple(paths) or ('.',), config)
    enough = CONFIDENCES[: CONFIDENCES.index(config.min_confidence) + 1]
    return result._replace(findings=tuple(item for item in result.findings if item.confidence in enough))


def dead_links(result: Result, config: Config) -> list[str]:
    """The names under `links:` of the configuration that no component has: a link that names one of them does nothing."""
    given = dict.fromkeys(name for pair in config.context.links for name in pair)
    if not given:
        return []
    from configaudit.link import called

    known = {name for component in result.components for name in called(component)}
    for component in result.components:
        known.update(component['names'].known_value or () if 'names' in component.settings else ())  # type: ignore[arg-type]
    return [name for name in given if name not in known]


def narrowed(result: Result, files: Iterable[str]) -> Result:
    """The part of a result that concerns some files and folders."""
    names = {shown(name) for name in files}
    if not names or '.' in names:
        return result

    def wanted(path: str) -> bool:
        return path in names or any(path.startswith(name + '/') for name in names)

    def placed(place: Place) -> bool:
        return wanted(place.outermost().document.path)

    return result._replace(
        findings=tuple(item for item in result.findings if placed(item.place)),
        not_assessed=tuple(item for item in result.not_assessed if placed(item.component.place)),
        suppressed=tuple(item for item in result.suppressed if placed(item.finding.place)),
        skipped=tuple(item for item in result.skipped if wanted(item.path)),
        errors=tuple(item for item in result.errors if wanted(item.path)),
    )


def without_known(result: Result, path: str) -> tuple[Result, int]:
    """A result without what a baseline knows, and how many of its entries are stale."""
    from configaudit import baseline

    parts = baseline.split(result.findings, baseline.read(path))
    return result._replace(findings=parts.new, suppressed=(*result.suppressed, *parts.known)), parts.stale


def status(result: Result, paths: Iterable[str], limits: Limits) -> int:
    """The exit status of an audit: 3 beats 1 beats 4."""
    named = {shown(path) for path in paths}
    if any(error.fatal or error.path in named or (limits.strict and error.kind == 'template') for error in result.errors):
        return LOST
    if limits.fail_on != 'never' and _fails(result, limits):
        return FINDINGS
    if not result.components and not limits.allow_empty:
        return LOST if result.errors else NOTHING
    return CLEAN


def _fails(result: Result, limits: Limits) -> bool:
    counted = SEVERITIES[: SEVERITIES.index(limits.fail_on) + 1]
    if any(item.severity in counted for item in result.findings):
        return True
    return limits.strict and any(item.rule.severity != 'advice' for item in result.not_assessed)
