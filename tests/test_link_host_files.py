"""Which udev rule holds for a disk, and what a runtime gives its containers itself."""

from collections.abc import Callable, Mapping

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.result import Result

Run = Callable[..., Result]
DISK = {
    '/sys/block/sda/queue/scheduler': 'none [mq-deadline] kyber bfq', '/sys/block/sda/queue/rotational': '0', '/sys/block/sda/size': '100',
    '/proc/sys/kernel/osrelease': '6.8.0',
}  # fmt: skip
RULE = 'ACTION=="add|change", KERNEL=="sd*", ATTR{queue/scheduler}="kyber"\n'


def differs(files: Mapping[str, str]) -> list[str]:
    result = audit_node(Snapshot({**DISK, **files}), Config())
    return [item.message.rpartition(' sets ')[2] for item in result.findings if item.rule.id == 'disk-scheduler-differs']


@pytest.mark.parametrize(
    ('files', 'wanted'),
    [
        ({'/etc/udev/rules.d/60-a.rules': RULE}, ['kyber']),
        ({'/etc/udev/rules.d/60-a.rules': RULE, '/usr/lib/udev/rules.d/90-sched.rules': RULE.replace('kyber', 'bfq')}, ['bfq']),
        ({'/etc/udev/rules.d/60-sched.rules': RULE, '/usr/lib/udev/rules.d/60-sched.rules': RULE.replace('kyber', 'bfq')}, ['kyber']),
        ({'/etc/udev/rules.d/60-a.rules': RULE.replace('sd*', 'nvme*')}, []),
        ({'/etc/udev/rules.d/60-a.rules': RULE.replace('sd*', 'sd*", ATTR{queue/rotational}=="1')}, []),
        ({'/etc/udev/rules.d/60-a.rules': RULE.replace('sd*', 'sd*", ENV{ID_MODEL}=="x')}, []),
        ({'/etc/udev/rules.d/60-a.rules': RULE.replace('kyber', 'deadline')}, ['deadline, which the kernel does not offer']),
        ({'/etc/udev/rules.d/60-a.rules': RULE, '/etc/tuned/active_profile': 'a', '/etc/tuned/a/tuned.conf': '[disk]\nelevator=none\n'}, ['none']),
    ],
)
def test_the_rule_of_a_disk(files: Mapping[str, str], wanted: list[str]) -> None:
    assert differs(files) == wanted


UNIT = '[Service]\nExecStart=/usr/bin/containerd\nRestart=always\n'
CONFIG = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n  base_runtime_spec = "/etc/containerd/cri-base.json"\n'
SPEC = '{"ociVersion": "1.1.0", "process": {"rlimits": [{"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}]}}\n'


def test_a_base_specification_goes_before_the_unit(run: Run) -> None:
    files = {'etc/systemd/system/containerd.service': UNIT, 'etc/containerd/config.toml': CONFIG}
    assert [item.rule.id for item in run(files).findings] == ['systemd-nofile-unset']
    assert [item.rule.id for item in run({**files, 'etc/containerd/cri-base.json': SPEC}).findings] == []


def test_a_default_of_docker_goes_before_the_unit(run: Run) -> None:
    daemon = '{"default-ulimits": {"nofile": {"Name": "nofile", "Soft": 65536, "Hard": 1048576}}}\n'
    files = {'etc/systemd/system/docker.service': UNIT.replace('containerd', 'dockerd')}
    assert [item.rule.id for item in run(files).findings] == ['systemd-nofile-unset']
    assert [item.rule.id for item in run({**files, 'etc/docker/daemon.json': daemon}).findings] == []


@pytest.mark.parametrize(
    ('files', 'found'),
    [
        ({'etc/security/limits.conf': '* soft nofile 1024\n'}, 1),
        ({'etc/security/limits.conf': '* soft nofile 1024\n', 'etc/security/limits.d/90-more.conf': '* soft nofile 1048576\n'}, 0),
        ({'etc/security/limits.conf': '* soft nofile 1048576\n', 'etc/security/limits.d/90-less.conf': '* soft nofile 1024\n'}, 1),
        ({'etc/security/limits.d/10-a.conf': '* soft nofile 1024\nroot soft nofile 1024\n* soft nofile 1048576\n'}, 1),
    ],
)
def test_the_last_row_for_a_session_holds(run: Run, files: dict[str, str], found: int) -> None:
    assert len([item for item in run(files).findings if item.rule.id == 'limits-conf-nofile-low']) == found
