"""Profiles of tuned: what they set, and which of them is in force on a host."""

from collections.abc import Callable, Mapping

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
LIVE = {'/proc/sys/vm/swappiness': '60', '/proc/sys/kernel/osrelease': '6.8.0', '/proc/cmdline': ''}
PARENT = '[main]\nsummary=x\n[sysctl]\nvm.swappiness=10\n[vm]\ntransparent_hugepages=never\n'


def node(files: Mapping[str, str]) -> Result:
    return audit_node(Snapshot({**LIVE, **files}, facts={'netns': 'host'}), Config())


def drift(files: Mapping[str, str]) -> list[str]:
    return [item.message for item in node(files).findings if item.rule.id in ('sysctl-live-differs', 'huge-pages-differ')]


def test_only_the_active_profile_and_what_it_includes_are_in_force() -> None:
    files = {
        '/etc/tuned/active_profile': 'mine\n', '/etc/tuned/mine/tuned.conf': '[main]\ninclude=parent\n[sysctl]\nvm.swappiness=1\n',
        '/usr/lib/tuned/parent/tuned.conf': PARENT, '/usr/lib/tuned/other/tuned.conf': '[sysctl]\nvm.max_map_count=1000\n',
    }  # fmt: skip
    assert drift(files) == ['vm.swappiness is 60, and /etc/tuned/mine/tuned.conf sets 1']
    assert 'sysctl-max-map-count-low' not in {item.rule.id for item in node(files).findings}
    assert drift({**files, '/sys/kernel/mm/transparent_hugepage/enabled': '[always] madvise never'})[-1] == 'the mode is always, and /usr/lib/tuned/parent/tuned.conf sets never'


def test_without_an_active_profile_none_holds() -> None:
    assert drift({'/usr/lib/tuned/parent/tuned.conf': PARENT, '/sys/kernel/mm/transparent_hugepage/enabled': '[always] madvise never'}) == []


def test_profiles_that_include_each_other_end() -> None:
    files = {'/etc/tuned/active_profile': 'a', '/etc/tuned/a/tuned.conf': '[main]\ninclude=b\n', '/etc/tuned/b/tuned.conf': '[main]\ninclude=a\n[sysctl]\nvm.swappiness=10\n'}
    assert drift(files) == ['vm.swappiness is 60, and /etc/tuned/b/tuned.conf sets 10']


@pytest.mark.parametrize(('main', 'holds'), [('', 'sysctl.d'), ('reapply_sysctl = 1\n', 'sysctl.d'), ('reapply_sysctl = 0\n', 'tuned')])
def test_sysctl_files_go_last_unless_told_otherwise(main: str, holds: str) -> None:
    files = {
        '/etc/tuned/active_profile': 'a', '/etc/tuned/a/tuned.conf': '[sysctl]\nvm.swappiness=10\n', '/etc/sysctl.d/9.conf': 'vm.swappiness = 1\n',
        '/etc/tuned/tuned-main.conf': main,
    }  # fmt: skip
    (message,) = drift(files)
    assert holds in message.partition(', and ')[2]


def test_a_profile_by_itself(run: Run) -> None:
    text = """[main]
include=throughput-performance
[variables]
maps = 60000
cores = ${f:calc_isolated_cores}
[sysctl]
vm.max_map_count = ${maps}
net.core.somaxconn => 128
fs.file-max = 65536
kernel.pid_max = ${cores}
[mine]
type = sysctl
uname_regex = aarch64
fs.nr_open = 1024
[off]
type = sysctl
enabled = false
fs.nr_open = 1024
[disk]
devices = nvme0n1, nvme1n1
elevator = bfq
[bootloader]
cmdline_mine = +mitigations=off skew_tick=1
"""
    result = run({'profiles/mine/tuned.conf': text})
    found = {item.rule.id: locate(item.place).line for item in result.findings}
    assert found == {'sysctl-max-map-count-low': 7, 'sysctl-file-max-lowered': 9, 'io-scheduler-not-none-on-nvme': 21, 'cpu-mitigations-off': 23}


def test_a_tuned_object_holds_profiles(run: Run) -> None:
    text = """apiVersion: tuned.openshift.io/v1
kind: Tuned
metadata: {name: mine, namespace: openshift-cluster-node-tuning-operator}
spec:
  profile:
    - name: mine
      data: |
        [main]
        include=openshift-node
        [sysctl]
        fs.file-max=65536
"""
    assert [(item.rule.id, locate(item.place).line) for item in run({'t.yaml': text}).findings] == [('sysctl-file-max-lowered', 11)]


def test_lines_of_tmpfiles(run: Run) -> None:
    text = '# x\nw /proc/sys/fs/file-max - - - - 65536\nw! /sys/block/nvme0n1/queue/scheduler - - - - bfq\nd /run/x 0755 root root -\n'
    found = [(item.rule.id, locate(item.place).line) for item in run({'etc/tmpfiles.d/x.conf': text}).findings]
    assert found == [('sysctl-file-max-lowered', 2), ('io-scheduler-not-none-on-nvme', 3)]
