"""The fixes of a node as files: what the script applies, `undo` takes back, byte for byte."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit import cli
from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.fix_plan import Planned, files, plan, steps_of, write
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_fixes import step_of

BAD = {
    '/proc/sys/net/core/netdev_max_backlog': '1000\n', '/proc/sys/kernel/pid_max': '16384\n', '/proc/sys/net/core/somaxconn': '128\n',
}  # fmt: skip



def test_every_live_finding_has_a_command_and_a_file() -> None:
    found = plan(audit_node(Snapshot(BAD, facts={'netns': 'host', 'pidns': 'host'}), Config()).findings)
    assert [step.now for item in found for step in item.steps] == ['sysctl -w kernel.pid_max=4194304', 'sysctl -w net.core.somaxconn=4096']
    assert files(found)['/etc/sysctl.d/99-configaudit.conf'].splitlines()[1:] == ['kernel.pid_max = 4194304', 'net.core.somaxconn = 4096']


def test_the_script_applies_and_undoes(tmp_path: Path) -> None:
    """The script runs for real, with a `sysctl` that writes down what it is asked, in a root of its own."""
    folder, root, log = tmp_path / 'plan', tmp_path / 'root', tmp_path / 'log'
    write(plan(audit_node(Snapshot(BAD, facts={'netns': 'host', 'pidns': 'host'}), Config()).findings), str(folder))
    kept = root / 'etc/sysctl.d/99-configaudit.conf'
    kept.parent.mkdir(parents=True)
    kept.write_text('vm.swappiness = 5\n')
    script = (folder / 'configaudit-fix.sh').read_text().replace('/etc/sysctl.d', f'{root}/etc/sysctl.d').replace('"files$1"', f'"files${{1#{root}}}"')
    (folder / 'configaudit-fix.sh').write_text(script)
    tools = tmp_path / 'bin'
    tools.mkdir()
    (tools / 'sysctl').write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    (tools / 'sysctl').chmod(0o755)

    def run(word: str) -> None:
        subprocess.run(['sh', str(folder / 'configaudit-fix.sh'), word], check=True, env={'PATH': f'{tools}:/usr/bin:/bin'})

    run('apply')
    run('apply')
    assert 'kernel.pid_max = 4194304' in kept.read_text()
    run('undo')
    assert kept.read_text() == 'vm.swappiness = 5\n'
    assert log.read_text().splitlines()[-2:] == ['-w net.core.somaxconn=128', '-w kernel.pid_max=16384']


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], int]:
    """The script of a plan with a drop-in and a parameter, on a root of its own, with tools that do nothing but the first of them fails."""
    steps = (step_of(('unit', 'x.service', 'LimitNOFILE'), '1:2', ''), step_of(('sysctl', 'vm.swappiness'), 10, '60'))
    finding = audit_node(Snapshot(BAD, facts={'netns': 'host', 'pidns': 'host'}), Config()).findings[0]
    write([Planned(finding, steps)], str(tmp_path / 'plan'))
    path, root, tools = tmp_path / 'plan/configaudit-fix.sh', tmp_path / 'root', tmp_path / 'bin'
    (root / 'etc/systemd/system').mkdir(parents=True)
    (root / 'etc/sysctl.d').mkdir()
    path.write_text(path.read_text().replace('install_file /etc', f'install_file {root}/etc').replace('restore_file /etc', f'restore_file {root}/etc').replace('"files$1"', f'"files${{1#{root}}}"'))
    tools.mkdir()
    for name, code in (('systemctl', 1), ('sysctl', 0)):
        (tools / name).write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/log\nexit {code}\n')
        (tools / name).chmod(0o755)
    return lambda word: subprocess.run(['sh', str(path), word], check=False, capture_output=True, env={'PATH': f'{tools}:/usr/bin:/bin'}).returncode


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() if path.is_file() else '' for path in root.rglob('*')}


@pytest.mark.parametrize('words', [['apply', 'undo'], ['apply', 'apply', 'undo'], ['undo'], ['apply', 'undo', 'undo'], ['apply', 'undo', 'apply', 'undo']])
@pytest.mark.parametrize('held', ['', 'net.core.somaxconn = 1\n'])
def test_undo_leaves_what_was_there(script: Callable[[str], int], tmp_path: Path, words: list[str], held: str) -> None:
    if held:
        (tmp_path / 'root/etc/sysctl.d/99-configaudit.conf').write_text(held)
    before = tree(tmp_path / 'root')
    for word in words:
        script(word)
    assert tree(tmp_path / 'root') == before


def test_a_step_that_fails_stops_no_other(script: Callable[[str], int], tmp_path: Path) -> None:
    assert script('apply') == 1
    assert 'sysctl -w vm.swappiness=10' in (tmp_path / 'log').read_text()
    assert (tmp_path / 'root/etc/systemd/system/x.service.d/zz-configaudit.conf').read_text().endswith('[Service]\nLimitNOFILE=1:2\n')


def test_what_an_earlier_plan_set_stays() -> None:
    finding = audit_node(Snapshot(BAD, facts={'netns': 'host', 'pidns': 'host'}), Config()).findings[0]
    held = {'/etc/sysctl.d/99-configaudit.conf': '# written by configaudit; see PLAN.md\nfs.file-max = 3\nvm.swappiness = 60\n'}
    steps = (step_of(('sysctl', 'vm.swappiness'), 10, '60'),)
    assert files([Planned(finding, steps)], held)['/etc/sysctl.d/99-configaudit.conf'].splitlines()[1:] == ['fs.file-max = 3', 'vm.swappiness = 10']


@pytest.mark.parametrize(('name', 'said'), [('99-sysctl.conf', True), ('99-a.conf', False), ('50-x.conf', False)])
def test_a_file_that_is_read_later_is_named(name: str, said: bool) -> None:
    files = {**BAD, f'/etc/sysctl.d/{name}': 'kernel.pid_max = 16384\n'}
    steps = [step for item in plan(audit_node(Snapshot(files, facts={'netns': 'host', 'pidns': 'host'}), Config()).findings) for step in item.steps]
    assert [step.note for step in steps if 'pid_max' in step.now] == [f'/etc/sysctl.d/{name} sets kernel.pid_max too and is read later: change it there' if said else '']


def test_a_value_that_was_empty_is_written_back() -> None:
    assert step_of(('sysctl', 'net.ipv4.ip_local_reserved_ports'), '10250', '').undo == "echo '' > /proc/sys/net/ipv4/ip_local_reserved_ports"


@pytest.mark.parametrize(
    ('target', 'value', 'old', 'now', 'line'),
    [
        (('scheduler', 'nvme0n1'), 'none', 'none [mq-deadline] kyber', 'echo none > /sys/block/nvme0n1/queue/scheduler', 'KERNEL=="nvme0n1"'),
        (('thp', 'enabled'), 'madvise', '[always] madvise never', 'echo madvise > /sys/kernel/mm/transparent_hugepage/enabled', 'w /sys/kernel/mm'),
        (('sysctl', 'net.ipv4.ip_local_port_range'), '32768 60999', '1 2', "sysctl -w 'net.ipv4.ip_local_port_range=32768 60999'", '32768 60999'),
        (('unit', 'containerd.service', 'LimitNOFILE'), '1024:524288', '', 'systemctl daemon-reload && systemctl restart containerd.service', 'LimitNOFILE=1024:524288'),
        (('kubelet', 'podPidsLimit'), 4096, '', 'systemctl restart kubelet', 'podPidsLimit: 4096'),
    ],
)
def test_steps(target: tuple[str, ...], value: object, old: str, now: str, line: str) -> None:
    step = step_of(target, value, old)
    assert step.now == now
    assert line in step.text


def test_undo_writes_the_word_that_was_in_force() -> None:
    assert step_of(('scheduler', 'sda'), 'none', 'none [mq-deadline] kyber').undo == 'echo mq-deadline > /sys/block/sda/queue/scheduler'


def test_a_plan_without_findings_says_so(tmp_path: Path) -> None:
    assert write([], str(tmp_path)) == ['PLAN.md', 'configaudit-fix.sh']
    assert 'nothing to change' in (tmp_path / 'PLAN.md').read_text()
    assert subprocess.run(['sh', str(tmp_path / 'configaudit-fix.sh'), 'apply'], check=False).returncode == 0


def test_findings_in_files_have_no_steps() -> None:
    result = audit_node(Snapshot({'/etc/sysctl.d/90-x.conf': 'kernel.pid_max = 32768\n'}), Config())
    assert [steps_of(finding) for finding in result.findings if finding.rule.id == 'sysctl-pid-max-low'] == [()]


def test_the_command_writes_the_plan_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / 'root'
    for name, text in BAD.items():
        (root / name.lstrip('/')).parent.mkdir(parents=True, exist_ok=True)
        (root / name.lstrip('/')).write_text(text)
    assert cli.run(['node', '--sysroot', str(root), '--fix-plan', str(tmp_path / 'plan'), '--no-config']) == 1
    assert (root / 'proc/sys/kernel/pid_max').read_text() == '16384\n'
    assert 'sysctl -w kernel.pid_max=4194304' in (tmp_path / 'plan/configaudit-fix.sh').read_text()
    assert 'run: sysctl -w' in capsys.readouterr().out
