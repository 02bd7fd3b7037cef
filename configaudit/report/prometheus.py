"""A node's audit as Prometheus metrics, in the text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from configaudit import VERSION
from configaudit.model import SEVERITIES
from configaudit.outcomes import Outcome

Labels = tuple[tuple[str, str], ...]


class Run(NamedTuple):
    """What is told of a run beside its outcomes. Times in seconds since 1970, and in seconds."""

    node: str
    at: float
    took: float
    unread: int
    publish_failures: Mapping[str, int] = {}


def render(outcomes: Iterable[Outcome], run: Run) -> str:
    """Every rule with findings by severity, every rule's outcome, and when that was.

    Only the outcome that holds is a series: the others would make four times as many, a million for 5,000 nodes.
    """
    held = list(outcomes)
    lines: list[str] = []
    for name, kind, text, samples in _families(held, run):
        lines += [f'# HELP {name} {text}', f'# TYPE {name} {kind}']
        lines += [f'{name}{_labels(labels)} {value:g}' if value < 1e6 else f'{name}{_labels(labels)} {value:.3f}' for labels, value in samples]
    return '\n'.join(lines) + '\n'


def _families(held: list[Outcome], run: Run) -> Iterator[tuple[str, str, str, list[tuple[Labels, float]]]]:
    node = ('node', run.node)
    findings: list[tuple[Labels, float]] = [((node, ('rule', item.rule.id), ('severity', item.severity)), float(len(item.findings))) for item in held if item.findings]
    states: list[tuple[Labels, float]] = [((node, ('rule', item.rule.id), ('severity', item.severity), ('outcome', item.word)), 1.0) for item in held]
    worst: list[tuple[Labels, float]] = [((node, ('severity', severity)), float(sum(len(item.findings) for item in held if item.severity == severity))) for severity in SEVERITIES]
    yield 'configaudit_rule_findings', 'gauge', 'Findings of a rule on this node.', findings
    yield 'configaudit_rule_outcome', 'gauge', 'The outcome of a rule on this node is the one in the label.', states
    yield 'configaudit_findings', 'gauge', 'Findings on this node by severity.', worst
    yield 'configaudit_unread_files', 'gauge', 'Files of the host that could not be read.', [((node,), float(run.unread))]
    yield 'configaudit_last_run_timestamp_seconds', 'gauge', 'When the last audit ended.', [((node,), run.at)]
    yield 'configaudit_last_run_duration_seconds', 'gauge', 'How long the last audit took.', [((node,), run.took)]
    yield 'configaudit_publish_failures_total', 'counter', 'Reports that could not be published.', [((node, ('target', target)), float(count)) for target, count in sorted(run.publish_failures.items())]
    yield 'configaudit_build_info', 'gauge', 'The version of the agent.', [((('version', VERSION),), 1.0)]


def _labels(labels: Labels) -> str:
    pairs = ','.join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f'{{{pairs}}}' if pairs else ''


def _escaped(value: str) -> str:
    return value.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
