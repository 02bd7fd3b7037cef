"""The pipeline, to be read from top to bottom: discover, parse, extract, link, judge, suppress."""

import gc
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from configaudit import engine, registry, sources
from configaudit.config import Config
from configaudit.extract import finish, read_document
from configaudit.extract.overlay import Overlay
from configaudit.extract.process import Reading, nothing
from configaudit.link import link
from configaudit.model import Component, Error, Finding, NotAssessed, Skipped, Suppressed
from configaudit.parse import Parsed, Unread, documents
from configaudit.parse.formats import is_wanted
from configaudit.places import locate
from configaudit.registry import Registry
from configaudit.suppress import apply


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


class Intake(NamedTuple):
    """What reading the files gave."""

    reading: Reading
    skipped: list[Skipped]
    errors: list[Error]
    files: int


def audit(paths: Sequence[str], config: Config) -> Result:
    """Audit files, folders and standard input."""
    gc.freeze()
    gc.disable()
    try:
        intake = read_files(paths, config)
        components, _ = finish(intake.reading, config.context)
    finally:
        gc.enable()
    link(components, config.context)
    rules = registry.load(
        {name for component in components for name in (component.kind.name, *component.kind.traits)},
        config.plugins, config.rule_files,
    )  # fmt: skip
    config.check_rules(rules)
    outcome = engine.run(components, rules.rules, config.choose)
    findings, suppressed, more = apply(outcome.findings, components, config)
    return Result(
        tuple(sorted(merge([*findings, *more]), key=_order)),
        tuple(sorted(outcome.not_assessed, key=lambda item: (item.rule.id, item.component.identity, item.component.place.document.path))),
        tuple(sorted(suppressed, key=lambda item: _order(item.finding))),
        tuple(sorted(set(intake.skipped))), tuple(sorted(set(intake.errors))),
        tuple(components), outcome.passed, outcome.not_applicable, intake.files, rules,
    )  # fmt: skip


def read_files(paths: Sequence[str], config: Config) -> Intake:
    """Every document of every file, each by the reader it belongs to. One bad file never hides another."""
    intake = Intake(nothing(), [], [], 0)
    overlay = Overlay()
    count = 0
    found = sorted(
        sources.discover(paths, config.exclude, intake.skipped, intake.errors, is_wanted, config.stdin_name),
        key=lambda source: source.path,
    )
    for source in found:
        count += 1
        try:
            data = sources.read(source)
        except OSError as error:
            intake.errors.append(Error(source.path, 0, 0, 'unreadable', error.strerror or str(error)))
            continue
        if len(data) > sources.MAX_BYTES:
            intake.errors.append(Error(source.path, 0, 0, 'limit', f'file over {sources.MAX_BYTES >> 20} MiB'))
            continue
        _take(source, documents(source.path, data, gate=config.gate), intake, overlay)
    overlay.finish(intake.reading, intake.errors)
    return intake._replace(files=count)


def _take(source: sources.Source, parsed: Iterable[Parsed | Error | Unread], intake: Intake, overlay: Overlay) -> None:
    seen = used = False
    for item in parsed:
        if isinstance(item, Error):
            intake.errors.append(item)
            seen = True
            continue
        if isinstance(item, Unread):
            intake.skipped.append(Skipped(item.path, item.reason))
            continue
        seen = True
        if overlay.takes(item):
            used = True
            continue
        reading = read_document(item.document, item.root, item.duplicates, overlay.partial(item))
        if reading is not None:
            used = True
            intake.reading.add(reading)
    if source.named and not used and not seen:
        intake.skipped.append(Skipped(source.path, 'holds no configuration that is read'))


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per cause: the same rule at the same place for several components is one, the others related."""
    groups: dict[tuple[str, str, int, int, str], list[Finding]] = {}
    for finding in findings:
        place = finding.place.outermost()
        key = (finding.rule.id, place.document.path, place.document.base + place.start, place.end, finding.message)
        groups.setdefault(key, []).append(finding)
    merged = []
    for same in groups.values():
        first = min(same, key=lambda finding: finding.component.identity)
        others = [finding for finding in same if finding is not first and finding.component is not first.component]
        related = (*first.related, *((f'also for {other.component.identity}', other.component.place) for other in others))
        merged.append(first._replace(related=tuple(dict.fromkeys(related))))
    return merged


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    at = locate(finding.place)
    return at.path, at.line, at.column, finding.rule.id, finding.fingerprint
