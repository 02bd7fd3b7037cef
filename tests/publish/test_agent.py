"""The agent as a process: it publishes, keeps what was not taken, and ends at once."""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from configaudit.agent import Agent, Targets
from configaudit.audit import audit_node
from configaudit.cli import run
from configaudit.config import Config
from configaudit.errors import UsageError
from configaudit.host.snapshot import Snapshot
from configaudit.publish import exposition as exposition_module
from configaudit.publish.cluster import Publisher
from configaudit.publish.exposition import Exposition, parse_address
from configaudit.publish.textfile import write_atomically
from configaudit.result import Result

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
    assert {sample.labels['outcome']: sample.value for sample in states} == {'fail': 1}


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


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, 'it did not happen'
        time.sleep(0.02)


def metrics(text: str) -> dict[str, float]:
    """The metrics that have one sample."""
    return {family.name: family.samples[0].value for family in text_string_to_metric_families(text) if len(family.samples) == 1}


def audited(value: str = '256', name: str = 'node-7') -> tuple[Snapshot, Result]:
    snapshot = Snapshot({'/proc/sys/net/core/somaxconn': value}, facts={'netns': 'host', 'pidns': 'host', 'name': name})
    return snapshot, audit_node(snapshot, Config())


def running(audit: Callable[[], tuple[Snapshot, Result]], said: list[str], targets: Targets, runs: int) -> Agent:
    """An agent in this process that ended after some runs."""
    left = iter(range(runs))

    def counted() -> tuple[Snapshot, Result]:
        if next(left) == runs - 1:
            agent.stop.set()
        return audit()

    agent = Agent(counted, 0.01, targets, lambda _: None, said.append)
    agent.run()
    return agent


@pytest.fixture
def signals() -> Iterator[None]:
    """Puts the handlers of this process back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    collecting = gc.isenabled()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    if not collecting:
        gc.disable()


@pytest.mark.usefixtures('signals')
def test_a_run_that_fails_is_said_and_the_last_report_stands(tmp_path: Path) -> None:
    answers = iter([audited(), OSError(5, 'Input/output error'), ValueError('odd'), UsageError('gone')])
    said: list[str] = []

    def audit() -> tuple[Snapshot, Result]:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    running(audit, said, Targets(textfile=str(tmp_path / 'a.prom'), quiet=True), 4)
    assert [text.partition(': ')[2] for text in said] == ['OSError: [Errno 5] Input/output error', 'ValueError: odd', 'UsageError: gone']
    assert 'sysctl-somaxconn-low' in (tmp_path / 'a.prom').read_text()


@pytest.mark.usefixtures('signals')
def test_a_wrong_command_line_ends_the_first_run() -> None:
    def audit() -> tuple[Snapshot, Result]:
        raise UsageError('no such snapshot')

    with pytest.raises(UsageError, match='no such snapshot'):
        running(audit, [], Targets(quiet=True), 1)


@pytest.mark.usefixtures('signals')
def test_a_clock_that_is_set_back_makes_no_negative_duration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = iter(range(100, 0, -1))
    monkeypatch.setattr(time, 'time', lambda: next(hours) * 3600.0)
    running(audited, [], Targets(textfile=str(tmp_path / 'a.prom'), quiet=True), 3)
    assert 0 <= metrics((tmp_path / 'a.prom').read_text())['configaudit_last_run_duration_seconds'] < 60


@pytest.mark.usefixtures('signals')
def test_a_host_without_a_name_publishes_nothing_and_says_why() -> None:
    said: list[str] = []
    agent = running(lambda: audited(name=''), said, Targets(cluster=('openreports',), quiet=True), 1)
    assert said == ['--publish: the host has no name, set NODE_NAME']
    assert [item.failures for item in agent._publishers.values()] == [0]


def test_targets_that_fail_hold_up_no_other(root: Path, tmp_path: Path) -> None:
    process = start(root, '--textfile', str(tmp_path / 'none' / 'a.prom'))
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())['node']['name'] == 'node-7'
    assert process.stderr.readline() == f'configaudit: --textfile {tmp_path}/none/a.prom: No such file or directory\n'
    process.kill()
    process.communicate()


@pytest.mark.parametrize('gone', ['closed', 'full'])
def test_nobody_reads_standard_output_or_it_is_full(gone: str, root: Path, tmp_path: Path) -> None:
    file = tmp_path / 'a.prom'
    command = [sys.executable, '-m', 'configaudit', 'node', '--no-config', '--sysroot', str(root), '--watch', '1s', '--textfile', str(file)]
    reader, writer = os.pipe()
    os.close(reader)
    with open('/dev/full', 'wb') as full, subprocess.Popen(command, stdout=full if gone == 'full' else writer, stderr=writer) as process:
        os.close(writer)
        wait_for(file.exists)
        first = file.stat().st_ino
        wait_for(lambda: file.stat().st_ino != first)
        assert process.poll() is None
        process.terminate()
        assert process.wait(5) == 0


def test_a_port_in_use_is_a_wrong_command_line(root: Path) -> None:
    with socket.create_server(('127.0.0.1', 0)) as taken:
        process = start(root, '--listen', str(taken.getsockname()[1]))
        output, said = process.communicate(timeout=20)
    assert (process.returncode, output) == (2, '')
    assert said.endswith('Address already in use\n')


@pytest.mark.parametrize(
    ('words', 'problem'),
    [
        (['--listen', '9105', '--publish', 'openreports'], '--listen and --publish: only with --watch'),
        (['--watch', '1m', '--save', 'a'], '--save: not with --watch'),
        (['--watch', '1m', '-f', 'sarif'], '--format sarif: not with --watch'),
        (['--watch', 'often'], "--watch: 'often' is not a duration of a second or more, such as 10m"),
    ],
)
def test_options_that_would_do_nothing_are_refused(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(['node', '--no-config', *words]) == 2
    assert capsys.readouterr().err == f'configaudit: {problem}\n'


@pytest.mark.parametrize('host', ['127.0.0.1', '::1'])
def test_every_address_is_those_of_both_families(host: str) -> None:
    exposition = Exposition(':0')
    exposition.text = 'x 1\n'
    try:
        connection = socket.create_connection((host, exposition.port), timeout=5)
    except OSError as error:
        pytest.skip(f'{host} is not there: {error}')
    with connection:
        connection.sendall(b'GET /metrics HTTP/1.0\r\n\r\n')
        assert connection.makefile('rb').read().endswith(b'x 1\n')


def test_a_client_that_says_nothing_or_leaves_costs_nothing(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(exposition_module, 'SILENCE_S', 0.2)
    exposition = Exposition('127.0.0.1:0')
    exposition.text = 'x 1\n' * 1_000_000
    with socket.create_connection(('127.0.0.1', exposition.port), timeout=5) as silent:
        assert silent.recv(1) == b''
    with socket.create_connection(('127.0.0.1', exposition.port), timeout=5) as leaver:
        leaver.sendall(b'GET /metrics HTTP/1.0\r\n\r\n')
    time.sleep(0.3)
    assert capfd.readouterr().err == ''


def test_metrics_are_served_after_the_first_run() -> None:
    exposition = Exposition('127.0.0.1:0')
    url = f'http://127.0.0.1:{exposition.port}'
    with pytest.raises(urllib.error.HTTPError, match='503'):
        urllib.request.urlopen(f'{url}/healthz')
    exposition.text = 'configaudit_findings 1\n'
    assert urllib.request.urlopen(f'{url}/metrics').read() == b'configaudit_findings 1\n'
    with pytest.raises(urllib.error.HTTPError, match='404'):
        urllib.request.urlopen(f'{url}/other')


@pytest.mark.parametrize(('text', 'expected'), [('9105', ('127.0.0.1', 9105)), (':9105', ('', 9105)), ('10.0.0.1:1', ('10.0.0.1', 1)), ('[::1]:2', ('::1', 2))])
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

    publisher = Publisher(send, 0.0, stop := threading.Event(), said.append).start()
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

    publisher = Publisher(send, 0.0, stop := threading.Event(), print).start()
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
