"""Reports of a node for other systems: cluster objects, the node-problem-detector, and the formats made for files in a repository."""

import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import pytest
from sarif_subset import LOG

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import Outcome, outcomes
from configaudit.report import REPORTERS, Options, render
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


def test_a_report_that_is_too_large_keeps_its_failures() -> None:
    held = found(FILES)
    failed = next(item for item in held if item.word == 'fail')
    many = failed._replace(findings=tuple(failed.findings[0]._replace(message=f'{number} ' + 'x' * 990) for number in range(3000)))
    report = cluster_report([item for item in held if item.word == 'pass'] + [many], 'node-7', 1.8e9)
    assert 900_000 < len(json.dumps(report)) < 1_100_000
    assert report['summary']['fail'] == 3000
    assert report['summary']['pass'] > 0
    assert {item['result'] for item in report['results']} == {'fail'}


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


HOSTILE = {**FILES, '/proc/sys/net/ipv4/tcp_congestion_control': 'bbr', '/proc/sys/net/core/default_qdisc': 'fq\x1b[31m ]]> | <b> %0A::error::'}
PLACE = '/proc/sys/net/core/somaxconn'


def rendered(form: str) -> str:
    return render(form, audit_node(Snapshot(HOSTILE, facts=HOST), Config()), Options())


def test_sarif_names_files_of_a_host_by_absolute_addresses() -> None:
    log = json.loads(rendered('sarif'))
    jsonschema.Draft202012Validator(LOG).validate(log)
    places = [item['locations'][0]['physicalLocation']['artifactLocation'] for item in log['runs'][0]['results']]
    assert {'uri': f'file://{PLACE}'} in places
    assert all('uriBaseId' not in place for place in places)


def test_junit_is_well_formed() -> None:
    cases = ET.fromstring(rendered('junit')).findall('.//testcase')
    assert PLACE in {case.get('file') for case in cases}


def test_gitlab_tells_issues_apart() -> None:
    issues = json.loads(rendered('gitlab'))
    assert PLACE in {issue['location']['path'] for issue in issues}
    assert len({issue['fingerprint'] for issue in issues}) == len(issues)


def test_github_gets_one_command_a_line() -> None:
    lines = rendered('github').splitlines()
    assert any(f'file={PLACE},line=1' in line for line in lines)
    assert [line for line in lines if line.startswith('::') and not re.match(r'::(error|warning|notice) (file=[^:,]+,|title=configaudit%3A [^:]+::)', line)] == []


@pytest.mark.parametrize('form', [form for form in REPORTERS if form != 'json'])
def test_what_a_kernel_file_holds_commands_no_reader(form: str) -> None:
    text = rendered(form)
    assert PLACE in text
    assert '\x1b' not in text
    assert '<b>' not in text or form in ('text', 'github', 'gitlab', 'sarif')
