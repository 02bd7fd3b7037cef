"""Reports of a node for other systems: cluster objects and the node-problem-detector."""

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import Outcome, outcomes
from configaudit.report.cluster_report import KINDS, cluster_report
from configaudit.report.npd import npd

HOST = {'netns': 'host', 'pidns': 'host', 'name': 'node-7'}
FILES = {'/proc/sys/net/core/somaxconn': '256', '/proc/sys/vm/overcommit_memory': '0', '/proc/sys/kernel/osrelease': '6.8.0'}


def found(files: dict[str, str], facts: dict[str, str] = HOST) -> list[Outcome]:
    return outcomes(audit_node(Snapshot(files, facts=facts), Config()))


def test_each_rule_has_one_outcome() -> None:
    words = {item.rule.id: item.word for item in found(FILES)}
    assert words['sysctl-somaxconn-low'] == 'fail'
    assert words['sysctl-overcommit-never'] == 'pass'
    assert words['huge-pages-stall'] == 'not-assessed'
    assert words['node-swap-on'] == 'not-applicable'


def test_what_a_container_sees_is_neither_pass_nor_fail() -> None:
    words = {item.rule.id: item for item in found(FILES, {**HOST, 'netns': 'other'})}
    assert words['sysctl-somaxconn-low'].word == 'not-assessed'
    assert 'wrong namespace' in words['sysctl-somaxconn-low'].reason


@pytest.mark.parametrize('api', KINDS)
def test_a_report_has_the_fields_of_its_kind(api: str) -> None:
    report = cluster_report(found(FILES), 'node-7', 1_800_000_000.5, api)
    version, kind, _ = KINDS[api]
    assert (report['apiVersion'], report['kind'], report['metadata']['name']) == (version, kind, 'configaudit-node-7')
    assert report['scope'] == {'kind': 'Node', 'apiVersion': 'v1', 'name': 'node-7'}
    results = {item['policy']: item for item in report['results']}
    failed = results['sysctl-somaxconn-low']
    assert (failed['result'], failed['severity'], failed['timestamp']) == ('fail', 'medium', {'seconds': 1_800_000_000, 'nanos': 0})
    assert failed['properties'] == {
        'observed': '256', 'expected': '4096', 'fix': 'set net.core.somaxconn to 4096', 'file': '/proc/sys/net/core/somaxconn', 'docs': 'docs/rules/sysctl-somaxconn-low.md',
    }  # fmt: skip
    assert results['huge-pages-stall']['result'] == 'error'
    assert report['summary']['fail'] == sum(item['result'] == 'fail' for item in report['results'])
    assert report['summary']['skip'] > 0


@pytest.mark.parametrize(
    ('files', 'fail_on', 'code', 'line'),
    [
        ({'/proc/sys/vm/overcommit_memory': '2'}, 'advice', 1, 'overcommit_memory 2 refuses memory that is only reserved: kubelet wants 1, an...'),
        ({'/proc/sys/vm/overcommit_memory': '0'}, 'warning', 0, 'no configuration problem'),
        ({}, 'warning', 2, 'nothing on this host could be assessed'),
    ],
)
def test_the_node_problem_detector_gets_one_short_line(files: dict[str, str], fail_on: str, code: int, line: str) -> None:
    answer = npd(found(files), fail_on)
    assert answer == (code, line)
    assert len(answer[1]) <= 80
