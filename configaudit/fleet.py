"""Reports of many nodes as one: which rules fail where, and which nodes differ from their like."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from statistics import median_high
from typing import Any, NamedTuple

from configaudit.errors import UsageError
from configaudit.model import SEVERITIES

MAJORITY = 0.8
"""Share of a group that makes a value the usual one: below it there is no outlier, only variety."""
SMALLEST = 3
"""Nodes in a group below which nobody is an outlier."""
LATE_S = 3600
"""An agent that is this far behind most others has stopped, or its node is gone (the alert NodeAuditStale waits as long)."""
_SAID = 'configaudit: '
"""How an agent's lines on standard error begin: `kubectl logs` shows them among the reports."""
VALUES = 'configaudit.io/values'
"""The annotation of a report object that holds the values by which nodes are compared."""


class NodeReport(NamedTuple):
    """One node's last report."""

    name: str
    group: str
    taken: str
    findings: tuple[tuple[str, str, str], ...]
    """(rule, severity, message)."""
    outcomes: Mapping[str, str]
    values: Mapping[str, str]


class RuleRow(NamedTuple):
    """A rule over the fleet."""

    rule: str
    severity: str
    failed: tuple[str, ...]
    not_assessed: int
    message: str
    """Of the first node."""


class Outlier(NamedTuple):
    """Nodes that differ from the others of their group."""

    group: str
    name: str
    """What differs: a kernel parameter, 'host.kernel' ..."""
    usual: str
    of: int
    nodes: tuple[tuple[str, str], ...]
    """(node, its value)."""


class Fleet(NamedTuple):
    """The whole of it."""

    nodes: tuple[NodeReport, ...]
    rules: tuple[RuleRow, ...]
    outliers: tuple[Outlier, ...]
    groups: tuple[tuple[str, int, int], ...]
    """(group, nodes, nodes with a warning or an error)."""
    late: tuple[tuple[str, str], ...] = ()
    """(node, when it reported) of those more than LATE_S behind the median."""


def read_reports(files: Iterable[str], group: str = '') -> list[NodeReport]:
    """The last report of every node in these files: JSON, one document or one a line. UsageError for what is none."""
    pattern = group_pattern(group)
    last: dict[str, NodeReport] = {}
    for path in files:
        try:
            with open(path, encoding='utf-8') as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f'{path}: {getattr(error, "strerror", None) or error}') from None
        for held in _documents(text, path):
            report = node_report(held, pattern, path)
            if report.name not in last or report.taken >= last[report.name].taken:
                last[report.name] = report
    return [last[name] for name in sorted(last)]


def group_pattern(group: str) -> 're.Pattern[str] | None':
    """The compiled --group; UsageError for what is no regular expression."""
    try:
        return re.compile(group) if group else None
    except re.error as error:
        raise UsageError(f'--group {group!r}: {error}') from None


def _documents(text: str, path: str) -> Iterator[Any]:
    try:
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith(_SAID)]
        if len(lines) > 1 and lines[0][:1] == '{' and lines[0].rstrip()[-1:] == '}':
            yield from map(json.loads, lines)
        else:
            yield json.loads('\n'.join(lines))
    except ValueError as error:
        raise UsageError(f'{path}: not a report of `configaudit node -f json`: {error}') from None


def node_report(held: Any, pattern: 're.Pattern[str] | None', where: str) -> NodeReport:
    """A report from `configaudit node -f json`, or from an object in the cluster."""
    if isinstance(held, dict) and str(held.get('apiVersion', '')).startswith(('openreports.io/', 'wgpolicyk8s.io/')):
        return _from_object(held, pattern)
    if not isinstance(held, dict) or 'node' not in held or 'outcomes' not in held:
        raise UsageError(f'{where}: not a report of `configaudit node -f json`')
    values = {str(name): str(value) for name, value in held.get('values', {}).items()}
    name = str(held['node'].get('name') or where)
    findings = tuple((str(item['rule']), str(item['severity']), str(item['message'])) for item in held.get('findings', ()))
    return NodeReport(name, _group(name, values, pattern), str(held['node'].get('taken', '')), findings, held['outcomes'], values)


_SEVERITY = {'high': 'error', 'medium': 'warning', 'low': 'advice'}
_WORDS = {'pass': 'pass', 'fail': 'fail', 'warn': 'fail', 'error': 'not-assessed', 'skip': 'not-applicable'}


def _from_object(held: dict[str, Any], pattern: 're.Pattern[str] | None') -> NodeReport:
    name = str(held.get('scope', {}).get('name') or held['metadata']['name'])
    results = held.get('results') or []
    failed = tuple((str(item['policy']), _SEVERITY.get(item.get('severity'), 'advice'), str(item.get('message', ''))) for item in results if item.get('result') in ('fail', 'warn'))
    outcomes = {str(item['policy']): _WORDS.get(item.get('result'), 'not-assessed') for item in results}
    seconds = max((int(item.get('timestamp', {}).get('seconds', 0)) for item in results), default=0)
    taken = datetime.fromtimestamp(seconds, timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ') if 0 < seconds < 253_402_300_800 else ''
    values = _annotated(held)
    return NodeReport(name, _group(name, values, pattern), taken, failed, outcomes, values)


def _annotated(held: dict[str, Any]) -> dict[str, str]:
    try:
        values = json.loads((held['metadata'].get('annotations') or {}).get(VALUES, '{}'))
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in values.items()} if isinstance(values, dict) else {}


def _group(name: str, values: Mapping[str, str], pattern: 're.Pattern[str] | None') -> str:
    """The nodes a node is compared with: what --group finds in its name, else those of the same size."""
    if pattern is not None:
        match = pattern.search(name)
        return (match[1] if match.re.groups else match[0]) if match else 'others'
    if 'host.cpus' not in values:
        return 'all'
    memory = values.get('host.memory_kib', '')
    size = f', {round(int(memory) / 2**20)} GiB' if memory.isdigit() else ''
    gpus = values.get('host.gpus', '0')
    return f'{values["host.cpus"]} CPUs{size}' + (f', {gpus} GPUs' if gpus not in ('0', '') else '')


def aggregate(reports: Sequence[NodeReport]) -> Fleet:
    """Rules by how many nodes fail them, and outliers by how few differ."""
    groups: dict[str, list[NodeReport]] = {}
    for report in reports:
        groups.setdefault(report.group, []).append(report)
    rows = tuple((name, len(held), sum(any(severity != 'advice' for _, severity, _ in report.findings) for report in held)) for name, held in sorted(groups.items()))
    outliers = sorted((item for name, held in groups.items() for item in _outliers(name, held)), key=lambda item: (len(item.nodes), item.group, item.name))
    return Fleet(tuple(reports), tuple(_rules(reports)), tuple(outliers), rows, tuple(_late(reports)))


def _late(reports: Sequence[NodeReport]) -> list[tuple[str, str]]:
    times = [(report, at) for report in reports if (at := _seconds(report.taken)) is not None]
    middle = median_high(at for _, at in times) if times else 0  # one clock that is ahead makes nobody late
    return [(report.name, report.taken) for report, at in times if middle - at > LATE_S]


def _seconds(taken: str) -> float | None:
    """Seconds since 1970 of a time as reports write it; None for what is none (a host that was captured has no time)."""
    try:
        return datetime.strptime(taken, '%Y-%m-%dT%H:%M:%SZ').replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None


def _rules(reports: Sequence[NodeReport]) -> list[RuleRow]:
    failed: dict[str, dict[str, tuple[str, str]]] = {}
    for report in reports:
        for rule, severity, message in report.findings:
            failed.setdefault(rule, {}).setdefault(report.name, (severity, message))
    unseen = Counter(rule for report in reports for rule, word in report.outcomes.items() if word == 'not-assessed')
    rows = [
        RuleRow(rule, min((severity for severity, _ in held.values()), key=SEVERITIES.index), tuple(sorted(held)), unseen.pop(rule, 0), next(iter(held.values()))[1])
        for rule, held in failed.items()
    ]  # fmt: skip
    rows.extend(RuleRow(rule, '', (), count, '') for rule, count in unseen.items())
    return sorted(rows, key=lambda row: (SEVERITIES.index(row.severity) if row.severity in SEVERITIES else 9, -len(row.failed), row.rule))


def _outliers(group: str, held: list[NodeReport]) -> Iterator[Outlier]:
    if len(held) < SMALLEST:
        return
    for name in sorted({name for report in held for name in report.values}):
        seen = [(report.name, report.values[name]) for report in held if name in report.values]
        usual, count = Counter(value for _, value in seen).most_common(1)[0]
        if count < len(seen) and count >= MAJORITY * len(seen):
            yield Outlier(group, name, usual, len(seen), tuple((node, value) for node, value in seen if value != usual))
