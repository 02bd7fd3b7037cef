"""The agent as a process: it publishes, keeps what was not taken, and ends at once."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from configaudit.errors import UsageError
from configaudit.publish.cluster import Publisher
from configaudit.publish.exposition import Exposition, parse_address
from configaudit.publish.textfile import write_atomically

FILES = {
    'proc/sys/net/core/netdev_max_backlog': '1000', 'proc/sys/net/core/somaxconn': '256', 'proc/sys/vm/overcommit_memory': '2', 'proc/sys/kernel/osrelease': '6.8.0',
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / 'root' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / 'root'


def start(root: Path, *words: str) -> 'subprocess.Popen[str]':
    command = [sys.executable, '-m', 'configaudit', 'node', '--no-config', '--sysroot', str(root), '--watch', '60s', *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, 'NODE_NAME': 'node-7'})


@pytest.fixture
def agent(root: Path, tmp_path: Path) -> 'Iterator[subprocess.Popen[str]]':
    process = start(root, '--textfile', str(tmp_path / 'configaudit.prom'))
    yield process
    process.kill()
    process.wait()


def test_each_run_is_a_line_of_json_and_metrics_that_parse(agent: 'subprocess.Popen[str]', tmp_path: Path) -> None:
    assert agent.stdout is not None
    held = json.loads(agent.stdout.readline())
    assert held['node']['name'] == 'node-7'
    assert (held['outcomes']['sysctl-somaxconn-low'], held['values']['net.core.somaxconn']) == ('fail', '256')
    for _ in range(100):
        if (tmp_path / 'configaudit.prom').exists():
            break
        time.sleep(0.05)
    families = {family.name: family for family in text_string_to_metric_families((tmp_path / 'configaudit.prom').read_text())}
    found = {sample.labels['rule']: sample for sample in families['configaudit_rule_findings'].samples}
    assert found['sysctl-somaxconn-low'].labels == {'node': 'node-7', 'rule': 'sysctl-somaxconn-low', 'severity': 'warning'}
    assert families['configaudit_last_run_timestamp_seconds'].samples[0].value > 1.7e9
    states = [sample for sample in families['configaudit_rule_outcome'].samples if sample.labels['rule'] == 'sysctl-somaxconn-low']
    assert {sample.labels['outcome']: sample.value for sample in states} == {'fail': 1, 'pass': 0, 'not-applicable': 0, 'not-assessed': 0}


def test_sigterm_ends_it_within_a_second(agent: 'subprocess.Popen[str]') -> None:
    assert agent.stdout is not None
    agent.stdout.readline()
    began = time.monotonic()
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(timeout=5) == 0
    assert time.monotonic() - began < 1


def test_the_agent_stays_small(agent: 'subprocess.Popen[str]') -> None:
    assert agent.stdout is not None
    agent.stdout.readline()
    time.sleep(0.3)
    status = Path(f'/proc/{agent.pid}/status').read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith('VmRSS:'))
    assert resident < 60 * 1024


def test_metrics_are_served_after_the_first_run() -> None:
    exposition = Exposition('127.0.0.1:0')
    url = f'http://127.0.0.1:{exposition.port}'
    with pytest.raises(urllib.error.HTTPError, match='503'):
        urllib.request.urlopen(f'{url}/healthz')
    exposition.text = 'configaudit_findings 1\n'
    assert urllib.request.urlopen(f'{url}/metrics').read() == b'configaudit_findings 1\n'
    with pytest.raises(urllib.error.HTTPError, match='404'):
        urllib.request.urlopen(f'{url}/other')


@pytest.mark.parametrize(('text', 'expected'), [('9105', ('127.0.0.1', 9105)), (':9105', ('0.0.0.0', 9105)), ('10.0.0.1:1', ('10.0.0.1', 1)), ('[::1]:2', ('::1', 2))])
def test_a_port_alone_is_for_this_host(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize('text', ['', 'x', '1:x', '70000'])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match='--listen'):
        parse_address(text)


def test_a_report_is_kept_until_it_is_taken() -> None:
    taken, said, tries = [], [], iter(['timed out', '503 Service Unavailable', ''])

    def send(report: dict[str, object]) -> str:
        problem = next(tries)
        if not problem:
            taken.append(report)
        return problem

    publisher = Publisher(send, 0.0, stop := threading.Event(), said.append)
    report = {'kind': 'ClusterReport', 'metadata': {'name': 'configaudit-node-7'}}
    publisher.offer(report)
    for _ in range(200):
        if taken:
            break
        time.sleep(0.05)
    stop.set()
    assert taken == [report]
    assert (publisher.failures, publisher.published, len(said)) == (2, 1, 2)


def test_a_newer_report_replaces_one_that_waits() -> None:
    taken: list[dict[str, object]] = []
    gate = threading.Event()

    def send(report: dict[str, object]) -> str:
        gate.wait()
        taken.append(report)
        return ''

    publisher = Publisher(send, 0.0, stop := threading.Event(), print)
    for number in range(4):
        publisher.offer({'kind': 'ClusterReport', 'metadata': {'name': str(number)}})
        time.sleep(0.02)
    gate.set()
    for _ in range(100):
        if len(taken) >= 2:
            break
        time.sleep(0.02)
    stop.set()
    assert taken[-1]['metadata'] == {'name': '3'}
    assert len(taken) <= 2


def test_a_textfile_is_whole_or_not_there(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / 'a.prom'), 'x 1\n')
    write_atomically(str(tmp_path / 'a.prom'), 'x 2\n')
    assert [path.name for path in tmp_path.iterdir()] == ['a.prom']
    assert (tmp_path / 'a.prom').stat().st_mode & 0o777 == 0o644
    with pytest.raises(OSError, match='No such file'):
        write_atomically(str(tmp_path / 'none' / 'a.prom'), 'x')
