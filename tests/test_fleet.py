"""The fleet view: what fails on how many nodes, and who differs."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from configaudit import cli
from configaudit.fleet import aggregate, node_report, read_reports
from configaudit.report.fleet import render


def report(name: str, swappiness: str = '10', cpus: str = '64', fails: bool = False, taken: str = '2026-01-01T00:00:00Z') -> dict[str, Any]:
    finding = {'rule': 'sysctl-swappiness-high', 'severity': 'warning', 'message': f'swappiness {swappiness} is high'}
    return {
        'schema': 1, 'node': {'name': name, 'taken': taken}, 'findings': [finding] if fails else [],
        'outcomes': {'sysctl-swappiness-high': 'fail' if fails else 'pass', 'gpu-link-narrow': 'not-assessed'},
        'values': {'vm.swappiness': swappiness, 'host.cpus': cpus, 'host.memory_kib': '263000000', 'host.gpus': '8'},
    }  # fmt: skip


def write(path: Path, reports: list[dict[str, Any]]) -> str:
    path.write_text(''.join(json.dumps(item) + '\n' for item in reports))
    return str(path)


def test_a_few_that_differ_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [report(f'gpu-{number:03}', '60' if number < 3 else '10', fails=number < 3) for number in range(200)]
    assert cli.run(['node-report', write(tmp_path / 'all.jsonl', nodes)]) == 1
    text = capsys.readouterr().out
    assert '3 of 200 differ in vm.swappiness' in text
    assert 'gpu-000 has 60, gpu-001 has 60, gpu-002 has 60' in text
    assert '200 nodes in 1 group: 3 with an error or a warning' in text


def test_nodes_are_compared_with_their_like() -> None:
    nodes = [report(f'a-{number}', '10') for number in range(5)] + [report(f'b-{number}', '60', cpus='8') for number in range(5)]
    fleet = aggregate([node_report(item, None, '') for item in nodes])
    assert [(name, count) for name, count, _ in fleet.groups] == [('64 CPUs, 251 GiB, 8 GPUs', 5), ('8 CPUs, 251 GiB, 8 GPUs', 5)]
    assert fleet.outliers == ()


def test_groups_by_name(tmp_path: Path) -> None:
    files = [write(tmp_path / 'x.jsonl', [report('pool-a-1'), report('pool-a-2'), report('pool-b-1')])]
    assert [item.group for item in read_reports(files, r'^(.*)-[^-]+$')] == ['pool-a', 'pool-a', 'pool-b']


def test_variety_is_no_outlier() -> None:
    nodes = [report(f'n-{number}', str(number % 2)) for number in range(10)]
    assert aggregate([node_report(item, None, '') for item in nodes]).outliers == ()


def test_the_last_report_of_a_node_counts(tmp_path: Path) -> None:
    files = [write(tmp_path / 'x.jsonl', [report('n', '60', taken='2026-01-02T00:00:00Z'), report('n', '10', taken='2026-01-01T00:00:00Z')])]
    assert [item.values['vm.swappiness'] for item in read_reports(files)] == ['60']


def test_what_an_agent_says_beside_its_reports_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / 'x.jsonl').write_text(f'configaudit: not published\n{json.dumps(report("n"))}\nconfigaudit: again\n{json.dumps(report("m"))}\n')
    assert [item.name for item in read_reports([str(tmp_path / 'x.jsonl')])] == ['m', 'n']


def test_what_was_not_assessed_is_counted() -> None:
    fleet = aggregate([node_report(report('n', fails=True), None, '')])
    assert [(row.rule, len(row.failed), row.not_assessed) for row in fleet.rules] == [('sysctl-swappiness-high', 1, 0), ('gpu-link-narrow', 0, 1)]


def test_objects_of_the_cluster_are_reports_too() -> None:
    result = {'policy': 'sysctl-somaxconn-low', 'result': 'fail', 'severity': 'medium', 'message': 'm', 'timestamp': {'seconds': 5, 'nanos': 0}, 'properties': {'observed': '128'}}
    metadata = {'name': 'configaudit-n', 'annotations': {'configaudit.io/values': '{"host.cpus":"8","net.core.somaxconn":"128"}'}}
    held = {'apiVersion': 'openreports.io/v1alpha1', 'metadata': metadata, 'scope': {'name': 'n'}, 'results': [result]}
    found = node_report(held, None, '')
    assert (found.name, found.group, found.taken, found.findings) == ('n', '8 CPUs', '1970-01-01T00:00:05Z', (('sysctl-somaxconn-low', 'warning', 'm'),))
    assert found.values == {'host.cpus': '8', 'net.core.somaxconn': '128'}


@pytest.mark.parametrize('annotations', [None, {}, {'configaudit.io/values': '{'}, {'configaudit.io/values': '[1]'}])
def test_an_object_without_values_is_a_report_too(annotations: dict[str, str] | None) -> None:
    held = {'apiVersion': 'openreports.io/v1alpha1', 'metadata': {'name': 'configaudit-n', 'annotations': annotations}, 'results': None}
    found = node_report(held, None, '')
    assert (found.name, found.group, found.taken, found.values) == ('configaudit-n', 'all', '', {})


def test_agents_that_stopped_are_named_and_a_clock_that_is_ahead_makes_nobody_late(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    hours = {'gone': '2026-01-01T08:00:00Z', 'ahead': '2031-01-01T00:00:00Z', 'captured': ''}
    nodes = [report(f'n-{number}', taken=f'2026-01-02T08:0{number}:00Z') for number in range(8)] + [report(name, taken=taken) for name, taken in hours.items()]
    assert aggregate([node_report(item, None, '') for item in nodes]).late == (('gone', '2026-01-01T08:00:00Z'),)
    cli.run(['node-report', write(tmp_path / 'x.jsonl', nodes)])
    assert 'gone  2026-01-01T08:00:00Z' in capsys.readouterr().out


def test_html_escapes_what_nodes_say() -> None:
    fleet = aggregate([node_report(report('<script>alert(1)</script>', fails=True), None, '')])
    page = render('html', fleet)
    assert '<script>' not in page
    assert '&lt;script&gt;' in page


def test_json_names_every_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(['node-report', '-f', 'json', write(tmp_path / 'x.jsonl', [report('n', fails=True), report('m')])])
    held = json.loads(capsys.readouterr().out)
    assert held['rules'][0]['failed'] == ['n']


@pytest.mark.parametrize('text', ['', '{', '[]', '{"a": 1}', 'configaudit: nothing\n'])
def test_what_is_no_report_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / 'x.json').write_text(text)
    assert cli.run(['node-report', str(tmp_path / 'x.json')]) == 2
    assert 'not a report' in capsys.readouterr().err


def test_files_or_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['node-report']) == 2
    assert 'either FILE or --cluster' in capsys.readouterr().err


def test_five_thousand_nodes_take_seconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    padding = {f'net.key{number}': '1' for number in range(60)}
    nodes = [report(f'n-{number}', fails=number % 50 == 0) for number in range(5000)]
    for item in nodes:
        item['values'].update(padding)
        item['outcomes'].update({f'rule-{number}': 'pass' for number in range(60)})
    path = write(tmp_path / 'x.jsonl', nodes)
    began = time.process_time()
    assert cli.run(['node-report', '-f', 'html', path]) == 1
    assert time.process_time() - began < 5
    assert '100 of 5000' in capsys.readouterr().out
