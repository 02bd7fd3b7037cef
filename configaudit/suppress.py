"""Findings that somebody decided to live with: in a comment, in an annotation, in the configuration."""

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from configaudit.config import Config, Ignored
from configaudit.engine import Outcome, fingerprint
from configaudit.findings import Finding, NotAssessed, Suppressed
from configaudit.model import SEVERITIES, Component, Kind, Rule
from configaudit.places import Place, locate
from configaudit.registry import Registry, load
from configaudit.selection import any_matches, in_objects, in_paths, matches
from configaudit.suppression_marks import Mark, marks
from configaudit.suppression_rules import RULES, expired, invalid, unused, without_reason

_KIND = Kind('suppression', (), {})


class _Judged(NamedTuple):
    """What the run is, for judging suppressions."""

    components: Sequence[Component]
    not_assessed: Sequence[NotAssessed]
    registry: Registry
    config: Config


def apply(
    outcome: Outcome, components: Sequence[Component], config: Config, files: Mapping[str, bytes], registry: Registry
) -> tuple[list[Finding], list[Suppressed], list[Finding]]:
    """(what remains, what is suppressed, findings about the suppressions themselves).

    `files` are the bytes of every file read that holds `intake.TRACE`.
    """
    if not config.ignores or not (files or config.ignored or config.expired):
        return outcome.findings, [], []
    found = list(marks(files))
    judged = _Judged(components, outcome.not_assessed, _known(found, registry, config), config)
    remarks = list(_remarks(found, judged))
    valid = [mark for mark in found if not mark.problem and not _is_over(mark.expires, config)]
    valid = [mark._replace(rules=tuple(name for name in mark.rules if not _name_problem(name, judged.registry))) for mark in valid]
    kept, suppressed, used = _divide(outcome.findings, valid, components, config)
    remarks.extend(_unused_marks(valid, used, judged))
    remarks.extend(_configured(used, judged))
    return kept, suppressed, remarks


def _known(found: Iterable[Mark], registry: Registry, config: Config) -> Registry:
    """The registry, of all rules where a suppression names one that was not needed for this run."""
    names = {name for mark in found for name in mark.rules}
    if all(any(matches(name, item) for item in registry.rules) for name in names):
        return registry
    return load(None, config.plugins, config.rule_files)


def _is_over(expires: str, config: Config) -> bool:
    return bool(expires) and expires <= config.day()


def _name_problem(name: str, registry: Registry) -> str:
    if not name.strip('*?'):
        return f'`{name}` would hide everything: name the rules'
    if name in SEVERITIES:
        return f'{name} is a severity: name the rules'
    return '' if any(matches(name, item) for item in (*registry.rules, *RULES)) else f'no rule is called {name}'


def _remarks(found: Iterable[Mark], judged: _Judged) -> Iterator[Finding]:
    """Findings on suppressions that do not count, ran out or give no reason."""
    for mark in found:
        problems = [mark.problem] if mark.problem else [text for name in mark.rules if (text := _name_problem(name, judged.registry))]
        if not mark.problem and not mark.rules:
            problems = ['it names no rule']
        names = ', '.join(mark.rules)
        for text in problems:
            yield from _report(invalid, mark.place, f'this suppression does not count: {text}', names + text, judged.config)
        if _is_over(mark.expires, judged.config):
            text = f'the suppression of {names} ran out on {mark.expires}'
            yield from _report(expired, mark.place, text, names, judged.config)
        elif not problems and not mark.reason and without_reason.id in judged.config.choices.severity:
            yield from _report(without_reason, mark.place, f'the suppression of {names} does not say why', names, judged.config)


def _divide(
    findings: Iterable[Finding], valid: list[Mark], components: Sequence[Component], config: Config
) -> tuple[list[Finding], list[Suppressed], set[tuple[int, str]]]:
    """(kept, suppressed, which rule names of which marks or configured ignores were used)."""
    by_line: dict[tuple[str, int], list[Mark]] = {}
    for mark in valid:
        for line in range(mark.first, mark.last + 1) if mark.span is None else ():
            by_line.setdefault((mark.path, line), []).append(mark)
    spanning = [mark for mark in valid if mark.span is not None]
    owned = _owned(spanning, components)
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    used: set[tuple[int, str]] = set()
    for finding in findings:
        hits: list[Mark | Ignored] = [mark for line in sorted(_lines(finding)) for mark in by_line.get(line, ())] if by_line else []
        hits.extend(_on_object(finding, spanning, owned) if spanning else ())
        hits.extend(item for item in config.ignored if not _is_over(item.expires, config) and _is_ignored(finding, item, config))
        named = [(hit, name) for hit in hits for name in hit.rules if matches(name, finding.rule)]
        used.update((id(hit), name) for hit, name in named)
        if named:
            hit = named[0][0]
            suppressed.append(Suppressed(finding, hit.reason, hit.by if isinstance(hit, Mark) else 'configuration'))
        else:
            kept.append(finding)
    return kept, suppressed, used


def _lines(finding: Finding) -> set[tuple[str, int]]:
    """The lines on which a comment speaks of a finding: its own, those of its component and of what runs it, and of related places."""
    found: set[tuple[str, int]] = set()
    at = locate(finding.place)
    last = at.end_line - 1 if at.end_column == 1 and at.end_line > at.line else at.end_line
    found.update((at.path, line) for line in range(at.line, last + 1))
    owners = (finding.component, *finding.component.peers('carrier'))
    for place in (*(owner.place for owner in owners), *(place for _, place in finding.related)):
        other = locate(place)
        found.add((other.path, other.line))
    return found


def _owned(spanning: Iterable[Mark], components: Iterable[Component]) -> dict[str, list[Mark]]:
    """Identity -> annotations of the object it stands in. Components whose own place is elsewhere belong by their identity."""
    by_path: dict[str, list[tuple[int, str]]] = {}
    for component in components:
        outer = component.place.outermost()
        at = outer.document.byte_of(outer.start), component.identity.removesuffix('/pod')
        by_path.setdefault(outer.document.path, []).append(at)
    for held in by_path.values():
        held.sort()
    owned: dict[str, list[Mark]] = {}
    for mark in spanning:
        assert mark.span is not None
        held = by_path.get(mark.path, [])
        inside = held[bisect_left(held, (mark.span[0], '')) : bisect_left(held, (mark.span[1], ''))]
        for identity in dict.fromkeys(name for _, name in inside):
            owned.setdefault(identity, []).append(mark)
    return owned


def _on_object(finding: Finding, spanning: Iterable[Mark], owned: Mapping[str, list[Mark]]) -> list[Mark]:
    """The annotations that speak of a finding: of the object around its component, or around its place."""
    steps = finding.component.identity.split('/')
    found = [mark for count in range(1, len(steps) + 1) for mark in owned.get('/'.join(steps[:count]), ())]
    outer = finding.place.outermost()
    at, path = outer.document.byte_of(outer.start), outer.document.path
    found.extend(mark for mark in spanning if mark.path == path and mark.span and mark.span[0] <= at < mark.span[1])
    return [mark for mark in found if _is_in_container(steps, mark.container) and mark.setting in ('', finding.setting)]


def _is_in_container(steps: list[str], name: str) -> bool:
    return not name or any(role in ('containers', 'initContainers') and step == name for role, step in pairwise(steps))


def _is_ignored(finding: Finding, item: Ignored, config: Config) -> bool:
    paths = {config.relative(place.outermost().document.path) for place in (finding.place, finding.component.place)}
    in_path = any(in_paths(item.scope.paths, path) for path in paths)
    return in_path and in_objects(item.scope.objects, finding.component)


def _unused_marks(valid: Iterable[Mark], used: set[tuple[int, str]], judged: _Judged) -> Iterator[Finding]:
    seen = {component.place.outermost().document.path for component in judged.components}
    for mark in valid:
        names = [name for name in mark.rules if (id(mark), name) not in used and _could_find(name, mark.path, judged)]
        if names and mark.path in seen:
            text = 'nothing to suppress here for ' + ', '.join(names)
            yield from _report(unused, mark.place, text, ','.join(names), judged.config)


def _could_find(name: str, path: str, judged: _Judged) -> bool:
    """Whether the rules of a name are on and none of them was left open in the file ('' for any file)."""
    if not any(matches(name, item) and judged.config.choices.of(item) is not None for item in judged.registry.rules):
        return False
    return not any(
        matches(name, item.rule) and path in ('', item.component.place.outermost().document.path)
        for item in judged.not_assessed
    )


def _configured(used: set[tuple[int, str]], judged: _Judged) -> Iterator[Finding]:
    """Findings on the configuration's own ignores: expired ones, and unused ones whose object or file was seen."""
    config = judged.config
    for item in (*config.ignored, *config.expired):
        names = ', '.join(item.rules) or 'the override'
        if _is_over(item.expires, config):
            yield from _report(expired, item.place, f'{names} ran out on {item.expires}', names, config)
        elif _is_seen(item, judged):
            idle = [name for name in item.rules if (id(item), name) not in used and _could_find(name, '', judged)]
            if idle:
                yield from _report(unused, item.place, 'nothing to ignore for ' + ', '.join(idle), ','.join(idle), config)


def _is_seen(item: Ignored, judged: _Judged) -> bool:
    """Whether the run could have met what an ignore is for: a component there, or a plain path that is gone."""
    relative = judged.config.relative
    if any(
        in_paths(item.scope.paths, relative(component.place.outermost().document.path)) and in_objects(item.scope.objects, component)
        for component in judged.components
    ):
        return True
    plain = [path for path in item.scope.paths if '/' in path.strip('/') and not set('*?[!') & set(path)]
    return bool(plain) and not any(os.path.exists(os.path.join(judged.config.root, path.strip('/'))) for path in plain)


def _report(about: Rule, place: Place, message: str, detail: str, config: Config) -> Iterator[Finding]:
    choices = config.choices
    if any_matches((*choices.ignore, *choices.always_ignore), about) or (choices.select and not any_matches(choices.select, about)):
        return
    severity = choices.severity.get(about.id, about.severity)
    level = next((item for item in SEVERITIES if item == severity), None)
    if level is None:
        return
    component = Component(_KIND, 'suppression', 'suppression', place, {})
    mark = fingerprint(about.id, 'suppression', detail)
    yield Finding(about, level, 'high', message, {}, component, place, (), None, '', mark)
