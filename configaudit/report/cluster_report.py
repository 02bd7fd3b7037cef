"""A node's audit as a cluster object: OpenReports ClusterReport, or the older ClusterPolicyReport.

Fields: openreports/reports-api v0.2.1, apis/openreports.io/v1alpha1; kubernetes-sigs/wg-policy-prototypes v1alpha2.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from configaudit.fleet import VALUES
from configaudit.outcomes import Outcome
from configaudit.patterns import regex
from configaudit.redact import redact
from configaudit.report.document import docs_of
from configaudit.report.fix_words import describe

SOURCE = 'configaudit'
KINDS = {'openreports': ('openreports.io/v1alpha1', 'ClusterReport', 'clusterreports'), 'policyreport': ('wgpolicyk8s.io/v1alpha2', 'ClusterPolicyReport', 'clusterpolicyreports')}
"""Name of an option -> API version, kind, plural."""
_RESULTS = {'pass': 'pass', 'not-applicable': 'skip', 'not-assessed': 'error'}
_SEVERITIES = {'error': 'high', 'warning': 'medium', 'advice': 'low'}
_NOT_IN_NAMES = regex('[^a-z0-9.-]|(?<![a-z0-9])[.]|[.](?![a-z0-9])')
_WORST_FIRST = ('fail', 'warn', 'error', 'pass')
MAX_BYTES = 1_000_000
"""A request to etcd is at most 1.5 MiB (--max-request-bytes): what would not fit is counted and not listed."""
MAX_TEXT = 1000


def cluster_report(outcomes: Iterable[Outcome], node: str, at: float, api: str = 'openreports', values: Mapping[str, str] = {}) -> dict[str, Any]:
    """The report of one node. Rules that do not apply are counted and not listed."""
    version, kind, _ = KINDS[api]
    held = list(outcomes)
    results = [result for outcome in held for result in _results(outcome, node, at)]
    words = [result['result'] for result in results]
    return {
        'apiVersion': version, 'kind': kind,
        'metadata': {
            'name': object_name(node), 'labels': {'app.kubernetes.io/managed-by': SOURCE},
            'annotations': {VALUES: json.dumps(dict(values), separators=(',', ':'), sort_keys=True)},
        },
        **({'source': SOURCE} if api == 'openreports' else {}),
        'scope': {'kind': 'Node', 'apiVersion': 'v1', 'name': node},
        'summary': {
            'pass': words.count('pass'), 'fail': words.count('fail'), 'warn': words.count('warn'), 'error': words.count('error'),
            'skip': sum(item.word == 'not-applicable' for item in held),
        },
        'results': _fitting(results),
    }  # fmt: skip


def _fitting(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results that an object has room for: failures before what passed, in the order of the rules."""
    kept: set[int] = set()
    size = 0
    for index in sorted(range(len(results)), key=lambda index: _WORST_FIRST.index(results[index]['result'])):
        size += len(json.dumps(results[index]))
        if size > MAX_BYTES:
            break
        kept.add(index)
    return [result for index, result in enumerate(results) if index in kept]


def object_name(node: str) -> str:
    """A name that the API server takes (RFC 1123): a host's own name may have capitals and underscores."""
    return _NOT_IN_NAMES.sub('-', f'{SOURCE}-{node}'.lower())[:253].rstrip('-.')


def _results(outcome: Outcome, node: str, at: float) -> Iterator[dict[str, Any]]:
    rule = outcome.rule
    base: dict[str, Any] = {
        'source': SOURCE, 'policy': rule.id, 'rule': rule.id, 'category': 'Node configuration', 'severity': _SEVERITIES[outcome.severity],
        'timestamp': {'seconds': int(at), 'nanos': 0}, 'scored': True, 'resources': [{'kind': 'Node', 'apiVersion': 'v1', 'name': node}],
    }  # fmt: skip
    if outcome.word == 'not-applicable':
        return
    if not outcome.findings:
        yield {**base, 'result': _RESULTS[outcome.word], **({'message': _text(outcome.reason)} if outcome.reason else {})}
    for finding in outcome.findings:
        fix = ', '.join(describe(change, finding) for change in finding.fix.changes) if finding.fix is not None else ''
        properties = {'observed': str(finding.values.get('value', '')), 'expected': str(finding.values.get('limit', '')), 'fix': fix, 'file': finding.place.document.path, 'docs': docs_of(rule.id)}
        yield {
            **base, 'severity': _SEVERITIES[finding.severity], 'result': 'warn' if finding.severity == 'advice' else 'fail',
            'message': _text(finding.message), 'properties': {name: _text(value) for name, value in properties.items() if value},
        }  # fmt: skip


def _text(text: str) -> str:
    return redact(text)[:MAX_TEXT]
