"""What a snapshot shows of a host."""

import math

import pytest

from configaudit.extract.node import live_components
from configaudit.extract.node.disks import in_force
from configaudit.extract.node.machine import count_of
from configaudit.host.snapshot import Snapshot
from configaudit.model import Component, Unknown

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max locked memory         unlimited            unlimited            bytes
Max open files            1024                 524288               files
"""


def found(files: dict[str, str], kind: str, facts: dict[str, str] | None = None) -> list[Component]:
    return [item for item in live_components(Snapshot(files, facts=facts)) if item.kind.name == kind]


def disk(name: str, **files: str) -> dict[str, str]:
    defaults = {'size': '100', 'queue/scheduler': '[none] mq-deadline kyber', 'queue/rotational': '0', 'mq/0/nr_tags': '1', 'mq/1/nr_tags': '1'}
    return {f'/sys/block/{name}/{key}': text for key, text in {**defaults, **{key.replace('__', '/'): text for key, text in files.items()}}.items()}


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('none [mq-deadline] kyber', 'mq-deadline'), ('none\n', 'none'), ('[none] mq-deadline ', 'none'), ('', None), ('a b', None)],
)
def test_the_word_in_force(text: str, expected: str | None) -> None:
    assert in_force(text) == expected


@pytest.mark.parametrize(('text', 'expected'), [('0-3,8', 5), ('0', 1), ('', None), ('x', None), ('0-', 1)])
def test_lists_of_processors(text: str, expected: int | None) -> None:
    assert count_of(text) == expected


def test_disks_without_memory_and_hidden_paths() -> None:
    files = {**disk('nvme0n1'), **disk('nvme0c0n1', hidden='1'), **disk('loop0'), **disk('zram0'), **disk('sdb', size='0'), **disk('sdc', removable='1')}
    disks = found(files, 'block-device')
    assert [item.name for item in disks] == ['nvme0n1']
    assert (disks[0]['queues'].value, disks[0]['transport'].value, disks[0]['scheduler'].value) == (2, 'nvme', 'none')
    assert disks[0]['below'].value == ('nvme0c0n1',)


def test_stacked_devices_name_what_they_stand_on() -> None:
    files = {**disk('dm-0'), '/sys/block/dm-0/slaves/sda2/x': ''}
    assert found(files, 'block-device')[0]['below'].value == ('sda2',)


def test_a_disk_without_a_scheduler_file_says_so() -> None:
    files = disk('nvme0n1')
    del files['/sys/block/nvme0n1/queue/scheduler']
    with pytest.raises(Unknown, match='no scheduler of its own'):
        found(files, 'block-device')[0]['scheduler'].value  # noqa: B018


def test_limits_of_a_process() -> None:
    files = {'/proc/7/limits': LIMITS, '/proc/7/comm': 'containerd', '/proc/7/mountinfo': '1 2 0:5 / /dev/shm rw - tmpfs shm rw,size=65536k'}
    process = found(files, 'host-process')[0]
    assert (process['nofile_soft'].value, process['nofile_hard'].value, process['memlock_soft'].value) == (1024, 524288, math.inf)
    assert process['shm_bytes'].value == 64 * 2**20


@pytest.mark.parametrize(('key', 'fact'), [('net.core.somaxconn', 'netns'), ('kernel.pid_max', 'pidns')])
def test_values_of_another_namespace_are_unknown(key: str, fact: str) -> None:
    files = {'/proc/sys/' + key.replace('.', '/'): '128\n'}
    assert found(files, 'sysctl', {fact: 'host'})[0]['value'].value == 128
    with pytest.raises(Unknown, match='wrong namespace'):
        found(files, 'sysctl', {fact: 'other'})[0]['value'].value  # noqa: B018


def test_the_host_as_a_whole() -> None:
    files = {
        '/proc/sys/kernel/osrelease': '6.1.0\n', '/proc/meminfo': 'MemTotal:       1024 kB\n', '/proc/swaps': 'Filename Type Size Used Priority\n/dev/sda2 partition 4096 0 -2\n',
        '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n', '/var/lib/kubelet/config.yaml': 'kind: KubeletConfiguration\n',
        '/sys/kernel/mm/transparent_hugepage/enabled': '[always] madvise never\n', '/proc/cmdline': 'mitigations=off nosmt',
    }  # fmt: skip
    host = found(files, 'host')[0]
    assert [host[name].value for name in ('kernel', 'memory_kib', 'swaps', 'cgroup_version', 'is_node', 'thp_enabled')] == ['6.1.0', 1024, (('/dev/sda2', 4096),), 2, True, 'always']
    assert host['boot_parameters'].value == {'mitigations': 'off', 'nosmt': ''}
    with pytest.raises(Unknown, match='no such file'):
        host['clocksource'].value  # noqa: B018


def test_an_empty_snapshot_is_a_host_of_which_nothing_is_known() -> None:
    assert [item.kind.name for item in live_components(Snapshot({}))] == ['host']
