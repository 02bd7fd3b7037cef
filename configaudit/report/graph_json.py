"""The graph for programs: every component and every link, byte-identical for equal input. docs/graph.md documents it."""

from collections.abc import Iterable, Mapping
from typing import Any

from configaudit.findings import Finding
from configaudit.graph import Graph, Link, Missing, Node, worst
from configaudit.graph_settings import Value
from configaudit.model import SEVERITIES
from configaudit.report import Options
from configaudit.report.document import locator, value_of
from configaudit.report.escape import json_text
from configaudit.report.graph_words import amount, clean, kind_of, name_of

SCHEMA = 1
Where = Any


def render(graph: Graph, options: Options) -> str:
    """The graph as JSON."""
    where = locator()
    shown = {id(finding): finding for node in graph.nodes for finding in node.findings}
    shown.update((id(finding), finding) for part in graph.aside for finding in part.findings)
    return json_text({
        'schema': SCHEMA,
        'components': [_node(node, where) for node in graph.nodes],
        'links': [_link(link) for link in graph.links],
        'not_seen': [_missing(gap) for gap in graph.missing],
        'aside': [
            {'kind': part.kind, 'path': part.path, 'components': part.components, 'findings': [_finding(finding, where) for finding in part.findings]}
            for part in graph.aside
        ],
        'summary': {
            'components': len(graph.nodes), 'links': len(graph.links), 'not_seen': len(graph.missing),
            'chains': len({node.chain for node in graph.nodes}), 'severity': _counts(shown.values()), 'left_out': len(graph.left_out),
        },
    })  # fmt: skip


def _node(node: Node, where: Where) -> dict[str, Any]:
    component = node.component
    return {
        'id': node.id,
        'kind': component.kind.name,
        'traits': list(component.kind.traits),
        'title': f'{clean(kind_of(component))} {name_of(component)}',
        'name': clean(component.name),
        'identity': clean(component.identity),
        'scope': clean(component.scope),
        'chain': node.chain,
        'engine_version': None if component.version is None else str(component.version),
        'location': where(component.place),
        'parts': [{'kind': part.kind.name, 'identity': clean(part.identity)} for part in node.parts],
        'settings': [_value(value, where) for value in node.values],
        'severity': worst(node.findings),
        'findings': [_finding(finding, where) for finding in node.findings],
    }


def _value(value: Value, where: Where) -> dict[str, Any]:
    setting = value.setting
    return {
        'name': setting.name,
        'label': value.label,
        'limits': {'TOTAL': 'the whole answer', 'GAP': 'the silence between two reads'}.get(value.mark),
        'text': amount(value),
        'value': value_of(setting.name, '***' if setting.secret else setting.known_value) if setting.is_known else None,
        'unit': value.unit,
        'origin': setting.origin if setting.is_known else 'unknown',
        'reason': clean(setting.reason),
        'source': setting.source,
        'location': where(setting.place),
    }


def _link(link: Link) -> dict[str, Any]:
    return {'from': link.source, 'to': link.target, 'word': link.word, 'request': not link.beside, 'inferred_from': clean(link.evidence)}


def _missing(gap: Missing) -> dict[str, Any]:
    return {'id': gap.id, 'from': list(gap.sources), 'kind': gap.kind, 'name': clean(gap.name), 'reason': clean(gap.reason), 'chain': gap.chain}


def _finding(finding: Finding, where: Where) -> dict[str, Any]:
    return {
        'rule': finding.rule.id, 'severity': finding.severity, 'confidence': finding.confidence, 'message': clean(finding.message),
        'location': where(finding.place), 'fingerprint': finding.fingerprint,
    }  # fmt: skip


def _counts(findings: Iterable[Finding]) -> Mapping[str, int]:
    counts: dict[str, int] = dict.fromkeys(SEVERITIES, 0)
    for finding in findings:
        counts[finding.severity] += 1
    return counts
