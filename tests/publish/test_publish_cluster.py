"""Publishing to the cluster: the agent as a process and the real client, against a server that validates by the CRD."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from jsonschema import Draft202012Validator
from report_schema import SCHEMAS

from configaudit.audit import audit_node
from configaudit.cli import run
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import outcomes
from configaudit.publish import cluster, cluster_object
from configaudit.publish.cluster import LONGEST_DELAY_S, Publisher, Sender
from configaudit.report.cluster_report import KINDS, cluster_report, object_name

FILES = {
    'proc/sys/net/core/netdev_max_backlog': '1000', 'proc/sys/net/core/somaxconn': '256', 'proc/sys/vm/overcommit_memory': '2', 'proc/sys/kernel/osrelease': '6.8.0',
    'etc/sysctl.d/99-tuning.conf': 'fs.file-max = 65536\n',
    'proc/sys/net/ipv4/tcp_congestion_control': 'bbr', 'proc/sys/net/core/default_qdisc': 'https://agent:S3cr3tPassw0rd@qdisc.example',
}  # fmt: skip
SECRET = 'S3cr3tPassw0rd'
REPORT = '/apis/openreports.io/v1alpha1/clusterreports/configaudit-node-7'
Start = Callable[..., 'subprocess.Popen[str]']


@pytest.fixture
def server() -> Iterator[ApiServer]:
    held = ApiServer()
    yield held
    held.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / 'root' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / 'root'


@pytest.fixture
def agent(root: Path, tmp_path: Path, server: ApiServer) -> Iterator[Start]:
    """Starts an agent that audits the root every second or so, and publishes."""
    running = []

    def start(*words: str, watch: str = '1s', node: str = 'node-7', **options: Any) -> 'subprocess.Popen[str]':
        command = [sys.executable, '-m', 'configaudit', 'node', '--no-config', '--sysroot', str(root), '--watch', watch, '--publish', 'openreports', *words]
        environment = {**os.environ, 'NODE_NAME': node, 'KUBECONFIG': server.kubeconfig(tmp_path / 'kubeconfig')}
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=(tmp_path / 'stderr').open('w'), text=True, env=environment, **options))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, 'it did not happen'
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    return [int(word) for task in Path(f'/proc/{pid}/task').glob('*/children') for word in task.read_text().split()]


def result_of(report: dict[str, Any], rule: str) -> str:
    return next(item['result'] for item in report['results'] if item['policy'] == rule)


def test_the_agent_publishes_and_a_newer_report_replaces_the_older(agent: Start, server: ApiServer, root: Path) -> None:
    agent('--quiet', '--publish', 'policyreport')
    until(lambda: len(server.objects) == 2)
    assert set(server.objects) == {REPORT, '/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports/configaudit-node-7'}
    assert result_of(server.objects[REPORT], 'sysctl-somaxconn-low') == 'fail'
    (root / 'proc/sys/net/core/somaxconn').write_text('65535')
    until(lambda: result_of(server.objects[REPORT], 'sysctl-somaxconn-low') == 'pass')
    assert not server.refused


def test_a_server_that_fails_for_a_while_loses_no_report(agent: Start, server: ApiServer, tmp_path: Path) -> None:
    server.faults = [500, 'close', 429]
    agent('--quiet', watch='2s')
    until(lambda: REPORT in server.objects, 60)
    assert not server.faults
    said = (tmp_path / 'stderr').read_text()
    assert 'configaudit-node-7 was not published, it is kept and tried again: 500 the server is busy' in said
    assert '429 the server is busy' in said
    assert 'Traceback' not in said


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_a_request_that_hangs_holds_up_no_end(agent: Start, server: ApiServer, number: int) -> None:
    server.faults = ['hang'] * 9
    process = agent('--quiet')
    until(lambda: server.requests)
    (child,) = children(process.pid)
    began = time.monotonic()
    process.send_signal(number)
    assert process.wait(timeout=5) == 0
    assert time.monotonic() - began < 1
    until(lambda: not Path(f'/proc/{child}').exists() or 'State:\tZ' in Path(f'/proc/{child}/status').read_text(), 1)


def test_no_secret_leaves_the_node(agent: Start, server: ApiServer, root: Path, tmp_path: Path) -> None:
    process = agent()
    until(lambda: REPORT in server.objects)
    assert process.stdout is not None
    texts = [process.stdout.readline(), json.dumps(server.objects), (tmp_path / 'stderr').read_text()]
    assert 'qdisc.example' in texts[0]
    assert 'qdisc.example' in texts[1]
    assert not any(SECRET in text for text in texts)


def test_reports_are_read_back_page_by_page(server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv('KUBECONFIG', server.kubeconfig(tmp_path / 'kubeconfig', 'a-token'))
    monkeypatch.setattr('configaudit.publish.cluster_reports.PAGE', 2)
    server.token = 'a-token'
    for number, value in enumerate(('4096', '4096', '4096', '4096', '256')):
        held = outcomes(audit_node(Snapshot({'/proc/sys/net/core/somaxconn': value}, facts={'netns': 'host', 'pidns': 'host'}), Config()))
        report = cluster_report(held, f'node-{number}', 1.8e9, values={'net.core.somaxconn': value})
        server.objects[f'/apis/openreports.io/v1alpha1/clusterreports/{report["metadata"]["name"]}'] = report
    foreign = {**report, 'metadata': {'name': 'of-kyverno', 'labels': {'app.kubernetes.io/managed-by': 'kyverno'}}}
    server.objects['/apis/openreports.io/v1alpha1/clusterreports/of-kyverno'] = foreign
    assert run(['node-report', '--cluster', 'openreports', '-f', 'json']) == 1
    held = json.loads(capsys.readouterr().out)
    assert held['nodes'] == 5
    assert {row['rule']: row['failed'] for row in held['rules']}['sysctl-somaxconn-low'] == ['node-4']
    assert [(item['name'], item['nodes']) for item in held['outliers']] == [('net.core.somaxconn', {'node-4': '256'})]
    assert len(server.requests) == 3
    server.token = 'another'
    assert run(['node-report', '--cluster', 'openreports']) == 2
    assert '--cluster: 401 Unauthorized' in capsys.readouterr().err


def test_a_list_of_kubeconfigs_and_no_kubeconfig_say_what_is_wrong(server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv('KUBECONFIG', f'{tmp_path}/none{os.pathsep}{server.kubeconfig(tmp_path / "kubeconfig")}')
    assert run(['node-report', '--cluster', 'openreports']) == 0
    monkeypatch.delenv('KUBECONFIG')
    monkeypatch.setenv('HOME', str(tmp_path))
    capsys.readouterr()
    assert run(['node-report', '--cluster', 'openreports']) == 2
    output = capsys.readouterr()
    assert output.out == ''
    assert output.err.startswith('configaudit: --cluster: ')


@pytest.mark.parametrize('node', ['Node_7', 'ip-10-0-0-1.ec2.internal', 'x' * 300, 'a..b', '.a.', 'é', '7-'])
@pytest.mark.parametrize('api', KINDS)
def test_any_name_of_a_host_makes_an_object_that_is_taken(api: str, node: str) -> None:
    held = outcomes(audit_node(Snapshot({'/proc/sys/net/core/somaxconn': '1'}, facts={'netns': 'host', 'pidns': 'host'}), Config()))
    version, _, plural = KINDS[api]
    body = cluster_report(held, node, 1.8e9, api)
    assert [error.message for error in Draft202012Validator(SCHEMAS[f'/apis/{version}/{plural}']).iter_errors(body)] == []


def test_the_name_of_a_node_is_kept() -> None:
    assert object_name('ip-10-0-0-1.ec2.internal') == 'configaudit-ip-10-0-0-1.ec2.internal'


class Clock(threading.Event):
    """Stands in for the event that stops an agent: whoever waits for it moves the time on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0
        return False


def busiest_second(times: list[float]) -> int:
    counts: dict[int, int] = {}
    for at in times:
        counts[int(at)] = counts.get(int(at), 0) + 1
    return max(counts.values())


def fleet(spread: float, outage: float) -> tuple[list[float], list[float]]:
    """When 5,000 agents that start together with an API server that is away ask, and when they are served."""
    random.seed(7)
    asked, served = [], []
    for _ in range(5000):
        clock = Clock()

        def send(_report: object, clock: Clock = clock) -> str:
            asked.append(clock.now)
            if clock.now < outage:
                return '503'
            served.append(clock.now)
            return ''

        publisher = Publisher(send, spread, clock, lambda _: None)
        publisher.offer({'kind': 'ClusterReport', 'metadata': {'name': 'n'}})
        publisher.deliver()
    return asked, served


def test_a_fleet_that_starts_together_asks_over_the_whole_spread() -> None:
    asked, served = fleet(300, 0)
    assert len(asked) == len(served) == 5000
    assert max(served) <= 300
    assert busiest_second(asked) <= 2 * 5000 / 300 + 10


def test_a_server_that_comes_back_is_not_overrun() -> None:
    outage = 3600.0
    asked, served = fleet(300, outage)
    assert len(served) == 5000
    assert max(served) <= outage + LONGEST_DELAY_S
    # In the outage each agent waits half of the longest delay on average: 5,000 / 150 s.
    assert busiest_second([at for at in asked if at > 1800]) <= 3 * 5000 / (LONGEST_DELAY_S / 2)


def test_no_process_to_be_had_is_one_more_failed_try(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter([True, False])
    said: list[str] = []

    def send(_report: object) -> str:
        if next(tries):
            raise OSError(11, 'Resource temporarily unavailable')
        return ''

    publisher = Publisher(send, 0, Clock(), said.append)
    publisher.offer({'kind': 'ClusterReport', 'metadata': {'name': 'n'}})
    publisher.deliver()
    assert (publisher.failures, publisher.published) == (1, 1)
    assert said == ['ClusterReport n was not published, it is kept and tried again: Resource temporarily unavailable']


def test_a_server_that_is_silent_is_a_failed_try(server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv('KUBECONFIG', server.kubeconfig(tmp_path / 'kubeconfig'))
    monkeypatch.setattr(cluster_object, 'TIMEOUT_S', 0.2)
    monkeypatch.setattr(sys, 'stdin', io.StringIO(json.dumps({'apiVersion': 'openreports.io/v1alpha1', 'metadata': {'name': 'n'}})))
    server.faults = ['hang']
    assert cluster_object.main(['clusterreports']) == 1
    assert 'timed out' in capsys.readouterr().err.lower()
    assert len(server.requests) == 1


def test_without_the_client_nothing_is_started(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr('configaudit.command.node.find_spec', lambda _: None)
    assert run(['node', '--no-config', '--watch', '1m', '--publish', 'openreports']) == 2
    assert capsys.readouterr().err == "configaudit: --publish needs the extra: pip install 'configaudit[cluster]'\n"


def test_a_try_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, 'PATIENCE_S', 0.3)
    sender = Sender('clusterreports')
    monkeypatch.setattr(sender, '_command', (sys.executable, '-c', 'import time; time.sleep(60)'))
    assert sender({}) == 'no answer in 0.3 s'
    sender.close()
    assert sender({}) == 'the agent ends'
