"""No fix of a live value lowers a limit, whatever the value is; and it ends its finding."""

import itertools

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.fix_plan import applied, plan
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.sysctls import BOUNDS

VALUES = (0, 1, 2, 100, 128, 1000, 1024, 4096, 16384, 32768, 65535, 65536, 131071, 131072, 262144, 2**20, 2**21, 2**22, 2**30, 2**63 - 1)
MODES = ('vm.overcommit_memory', 'vm.zone_reclaim_mode', 'net.ipv4.tcp_retries2', 'net.ipv4.tcp_tw_recycle', 'net.ipv4.tcp_tw_reuse', 'kernel.panic', 'kernel.panic_on_oops', 'vm.panic_on_oom', 'vm.swappiness')
"""Parameters that are no ceilings."""
KEYS = sorted({key for row in BOUNDS for key in row.keys} - set(MODES)) + ['net.core.rmem_max', 'net.core.wmem_max']
HOST = {
    '/proc/meminfo': 'MemTotal: 263000000 kB\n', '/sys/devices/system/cpu/online': '0-95', '/proc/sys/net/core/netdev_max_backlog': '1000', '/proc/1/comm': 'kubelet',
    '/proc/net/softnet_stat': '00000001 00000009 00000000\n', '/proc/sys/net/netfilter/nf_conntrack_count': '60000', '/proc/sys/net/netfilter/nf_conntrack_buckets': '65536',
    '/sys/class/net/eth0/device/class': '0x020000', '/sys/class/net/eth0/operstate': 'up', '/sys/class/net/eth0/speed': '100000',
}  # fmt: skip


def path(key: str) -> str:
    return '/proc/sys/' + key.replace('.', '/')


@pytest.mark.parametrize('key', KEYS)
def test_no_parameter_is_lowered(key: str) -> None:
    for value in VALUES:
        snapshot = Snapshot({**HOST, path(key): f'{value}\n'}, facts={'netns': 'host', 'pidns': 'host'})
        planned = plan(audit_node(snapshot, Config()).findings)
        after = applied(snapshot, planned)
        assert int(after.files[path(key)].split()[-1]) >= value, planned
        assert all(int(after.files[name]) >= int(text) for name, text in snapshot.files.items() if name.startswith('/proc/sys/net/netfilter/'))
        left = plan(audit_node(after, Config()).findings)
        assert not [item.finding.message for item in left if item.finding.place.document.path == path(key)]


LIMITS = '{title:<26}{soft:<21}{hard:<21}{unit}\n'


@pytest.mark.parametrize('program', ['containerd', 'dockerd', 'nginx', 'envoy'])
def test_no_limit_of_a_process_is_lowered(program: str) -> None:
    amounts = ('0', '64', '1024', '4096', '65536', '524288', '1048576', '1073741816', 'unlimited')
    for soft, hard in itertools.combinations_with_replacement(amounts, 2):
        limits = ''.join(LIMITS.format(title=title, soft=soft, hard=hard, unit='files') for title in ('Max open files', 'Max locked memory'))
        files = {
            **HOST, '/proc/7/comm': program, '/proc/7/cmdline': program, '/proc/7/limits': limits, '/proc/7/cgroup': f'0::/system.slice/{program}.service\n',
            '/sys/class/infiniband/mlx5_0/ports/1/state': '4: ACTIVE', '/proc/driver/nvidia/gpus/0000:1b:00.0/information': 'x',
        }  # fmt: skip
        for item in plan(audit_node(Snapshot(files, facts={'netns': 'host', 'pidns': 'host'}), Config()).findings):
            for change in item.finding.fix.changes if item.finding.fix else ():
                if change.slot is not None and change.slot.path[0] == 'unit':
                    given = str(change.value).split(':')
                    assert number(given[0]) >= number(soft)
                    assert number(given[-1]) >= number(hard)
                    assert item.steps[0].file == f'/etc/systemd/system/{program}.service.d/zz-configaudit.conf'


def number(text: str) -> float:
    return float('inf') if text in ('unlimited', 'infinity') else float(text)
