"""The fixes of a node as files: what the script applies, `undo` takes back, byte for byte."""

import subprocess
from pathlib import Path

import pytest

from configaudit import cli
from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.fix_plan import files, plan, steps_of, write
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
