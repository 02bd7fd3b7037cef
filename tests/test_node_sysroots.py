"""Hosts of many kinds, made from one captured tree: what is found in each, exactly."""

import tarfile
from functools import cache
from pathlib import Path

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.reader import read_host
from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import outcomes

ARCHIVE = Path(__file__).parent.parent / 'fixtures/live/host-sysroot.tgz'
"""A small virtual machine: 2 CPUs, 24 GiB, Linux 6.18, cgroup v1, virtio disk."""
LIMITS = 'Limit                     Soft Limit           Hard Limit           Units     \nMax open files            {}                {}              files     \n'
KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\npodPidsLimit: 4096\nkubeReserved: {cpu: 100m, memory: 1Gi}\nserializeImagePulls: false\n'
HEALTHY = {
    '/proc/sys/kernel/pid_max': '4194304', '/proc/sys/vm/max_map_count': '524288', '/proc/sys/fs/inotify/max_user_instances': '8192',
    '/proc/sys/fs/inotify/max_user_watches': '524288', '/proc/sys/fs/file-max': '9223372036854775807', '/proc/sys/fs/nr_open': '1048576',
    '/proc/sys/net/ipv4/neigh/default/gc_thresh3': '16384', '/proc/sys/net/ipv6/neigh/default/gc_thresh3': '16384', '/proc/sys/net/ipv4/tcp_retries2': '8',
    '/proc/sys/kernel/panic': '10', '/proc/sys/kernel/panic_on_oops': '1', '/proc/sys/vm/overcommit_memory': '1',
    '/proc/sys/net/core/default_qdisc': 'fq', '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory pids', '/proc/cmdline': 'transparent_hugepage=madvise',
    '/var/lib/kubelet/config.yaml': KUBELET, '/proc/700/comm': 'containerd', '/proc/700/limits': LIMITS.format(1024, 524288),
    '/proc/701/comm': 'kubelet', '/proc/701/limits': LIMITS.format(1000000, 1000000),
}  # fmt: skip
"""What makes a well-kept Kubernetes node of it."""


@cache
def captured() -> dict[str, str]:
    with tarfile.open(ARCHIVE) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        texts = {'/' + name.lstrip('./'): file.read().decode('utf-8', 'replace') for name, file in files.items() if file is not None}
    return {path: text for path, text in texts.items() if not any(part in path for part in ('/proc/self/', 'fastopen_key', 'stable_secret', '/random/'))}


def found(files: dict[str, str], facts: dict[str, str] | None = None) -> list[str]:
    result = audit_node(Snapshot(files, facts={'netns': 'host', 'pidns': 'host', **(facts or {})}), Config())
    assert not result.errors
    return sorted(f'{item.severity} {item.rule.id}' for item in result.findings)


def healthy(**files: str) -> dict[str, str]:
    return {**captured(), **HEALTHY, **files}


def gpu(width: str) -> dict[str, str]:
    folder = '/sys/bus/pci/devices/0000:1b:00.0'
    return {
        f'{folder}/vendor': '0x10de', f'{folder}/class': '0x030200', f'{folder}/current_link_width': width, f'{folder}/max_link_width': '16',
        '/proc/driver/nvidia/version': 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build',
        '/proc/driver/nvidia/gpus/0000:1b:00.0/information': 'Model: NVIDIA H100 80GB HBM3', '/proc/800/comm': 'nvidia-persiste', '/proc/800/limits': LIMITS.format(1024, 4096),
        '/proc/modules': 'nvidia 1 0 - Live 0x0',
    }  # fmt: skip


def nvme(scheduler: str, *, multipath: bool) -> dict[str, str]:
    head, path = '/sys/block/nvme0n1', '/sys/block/nvme0c0n1'
    own = path if multipath else head
    files = {f'{head}/size': '3750748848', f'{head}/queue/rotational': '0', f'{head}/queue/read_ahead_kb': '128', f'{own}/queue/scheduler': scheduler, f'{own}/size': '3750748848'}
    files |= {f'{own}/mq/{number}/nr_tags': '1023' for number in range(8)}
    return files | ({f'{path}/hidden': '1', f'{head}/queue/scheduler': 'none'} if multipath else {})


def test_the_captured_machine_itself() -> None:
    assert found(captured()) == [
        'advice bbr-without-fq', 'advice sysctl-inotify-instances-low', 'advice sysctl-max-map-count-low', 'advice sysctl-pid-max-low',
    ]  # fmt: skip


def test_a_healthy_node_is_silent() -> None:
    assert found(healthy()) == []


def test_the_july_list_applied_as_it_was_written() -> None:
    """Change 10 lowers what it meant to raise; change 9 is accepted as measured."""
    files = healthy(**{'/proc/sys/fs/file-max': '65536', '/etc/sysctl.d/90-july.conf': 'fs.file-max = 65536\n'}, **nvme('none mq-deadline [kyber]', multipath=False))
    assert found(files) == ['warning sysctl-file-max-lowered', 'warning sysctl-file-max-lowered']


def test_an_old_kernel_without_half_of_the_files() -> None:
    kept = {path: text for path, text in healthy().items() if not path.startswith(('/sys/', '/proc/driver')) and 'net/core' not in path}
    kept |= {'/proc/sys/kernel/osrelease': '4.19.0-27-amd64', '/proc/sys/net/ipv4/tcp_tw_recycle': '1', '/proc/sys/net/core/somaxconn': '128', '/proc/sys/net/core/netdev_max_backlog': '1000'}
    assert found(kept) == ['advice sysctl-somaxconn-low', 'error sysctl-tw-recycle']


def test_cgroup_v1_on_a_node() -> None:
    files = healthy(**{'/sys/fs/cgroup/pids/kubepods/pids.max': 'max'})
    del files['/sys/fs/cgroup/cgroup.controllers']
    assert found(files) == ['warning node-cgroup-v1']


@pytest.mark.parametrize('multipath', [False, True])
def test_a_scheduler_on_nvme_also_behind_a_multipath_head(multipath: bool) -> None:
    assert found(healthy(**nvme('none [mq-deadline] kyber', multipath=multipath))) == ['advice disk-scheduler-on-nvme']
    assert found(healthy(**nvme('[none] mq-deadline kyber', multipath=multipath))) == []


def test_a_gpu_with_a_narrow_link() -> None:
    assert found(healthy(**gpu('8'))) == ['warning gpu-link-narrow']
    assert found(healthy(**gpu('16'))) == []


def test_swap_a_low_runtime_limit_and_a_slow_clock() -> None:
    files = healthy(**{
        '/proc/swaps': 'Filename Type Size Used Priority\n/dev/vdb partition 8388604 0 -2\n', '/proc/700/limits': LIMITS.format(1024, 4096),
        '/sys/devices/system/clocksource/clocksource0/current_clocksource': 'hpet',
    })  # fmt: skip
    assert found(files) == ['advice sysctl-swappiness-high', 'warning clocksource-slow', 'warning node-swap-on', 'warning runtime-open-files-low']


def test_an_ordinary_pod_passes_and_fails_nothing_of_the_network() -> None:
    result = audit_node(Snapshot(healthy(), facts={'netns': 'other', 'pidns': 'other'}), Config())
    words = {item.rule.id: item.word for item in outcomes(result)}
    network = {rule: word for rule, word in words.items() if rule in ('sysctl-somaxconn-low', 'sysctl-syncookies-off', 'sysctl-pid-max-low', 'sysctl-tcp-retries2-low', 'sysctl-port-range-narrow', 'sysctl-tw-buckets-low', 'pid-max-few-for-cpus')}
    assert set(network.values()) == {'not-assessed'}
    assert words['sysctl-max-map-count-low'] == 'pass'


def test_an_empty_root_is_read_without_a_word(tmp_path: Path) -> None:
    result = audit_node(read_host(str(tmp_path), kind='sysroot'), Config())
    assert (result.findings, result.errors) == ((), ())
    assert not [item for item in outcomes(result) if item.word == 'pass']


@pytest.mark.parametrize('text', ['', '\n', 'x', '0x', '-', '9' * 400, '1 2 3', '\x00\x01', '[', '[a] [b]', 'é', '18446744073709551615', 'max'])
def test_any_text_in_any_file_is_no_crash(text: str) -> None:
    result = audit_node(Snapshot(dict.fromkeys((*healthy(**gpu('8'), **nvme('none', multipath=True)),), text), facts={'netns': 'host', 'pidns': 'host'}), Config())
    assert result.files


DISTRIBUTIONS = {
    'ubuntu-24.04': {
        '/proc/sys/fs/file-max': '9223372036854775807', '/proc/sys/fs/nr_open': '1048576', '/proc/sys/vm/max_map_count': '1048576', '/proc/sys/kernel/pid_max': '4194304',
        '/proc/sys/net/core/default_qdisc': 'fq_codel', '/proc/sys/net/ipv4/tcp_congestion_control': 'cubic', '/sys/kernel/mm/transparent_hugepage/enabled': 'always [madvise] never',
        '/proc/sys/vm/swappiness': '60', '/proc/swaps': 'Filename Type Size Used Priority\n',
    },
    'debian-12': {
        '/proc/sys/fs/file-max': '9223372036854775807', '/proc/sys/fs/nr_open': '1048576', '/proc/sys/vm/max_map_count': '65530', '/proc/sys/kernel/pid_max': '4194304',
        '/proc/sys/net/core/default_qdisc': 'fq_codel', '/proc/sys/net/ipv4/tcp_congestion_control': 'cubic', '/sys/kernel/mm/transparent_hugepage/enabled': '[always] madvise never',
    },
    'rhel-9': {
        '/proc/sys/fs/file-max': '9223372036854775807', '/proc/sys/fs/nr_open': '1073741816', '/proc/sys/vm/max_map_count': '65530', '/proc/sys/kernel/pid_max': '4194304',
        '/proc/sys/net/core/default_qdisc': 'fq_codel', '/proc/sys/net/ipv4/tcp_congestion_control': 'cubic', '/sys/kernel/mm/transparent_hugepage/enabled': '[always] madvise never',
        '/sys/devices/system/clocksource/clocksource0/current_clocksource': 'tsc', '/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor': 'performance',
        '/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver': 'intel_cpufreq',
    },
    'amazon-linux-2023': {
        '/proc/sys/fs/file-max': '9223372036854775807', '/proc/sys/fs/nr_open': '1048576', '/proc/sys/vm/max_map_count': '524288', '/proc/sys/kernel/pid_max': '4194304',
        '/proc/sys/fs/inotify/max_user_instances': '8192', '/proc/sys/fs/inotify/max_user_watches': '524288', '/proc/sys/net/ipv4/ip_local_reserved_ports': '10250,30000-32767',
        '/proc/sys/net/core/default_qdisc': 'fq_codel', '/proc/sys/net/ipv4/tcp_congestion_control': 'cubic', '/sys/devices/system/clocksource/clocksource0/current_clocksource': 'tsc',
        '/proc/sys/vm/overcommit_memory': '1', '/proc/sys/kernel/panic': '10', '/proc/sys/kernel/panic_on_oops': '1', '/proc/sys/vm/panic_on_oom': '0',
        '/proc/sys/kernel/keys/root_maxkeys': '1000000', '/proc/sys/kernel/keys/root_maxbytes': '25000000',
        '/etc/kubernetes/kubelet/config.json': '{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "serializeImagePulls": false, "protectKernelDefaults": true, "kubeReserved": {"cpu": "80m"}, "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}}',
        '/proc/700/comm': 'containerd', '/proc/700/limits': LIMITS.format(1024, 524288), '/proc/2/comm': 'kthreadd',
        '/sys/block/nvme0n1/size': '100', '/sys/block/nvme0n1/queue/scheduler': '[none] mq-deadline kyber bfq', '/sys/block/nvme0n1/queue/read_ahead_kb': '128',
        '/sys/block/nvme0n1/mq/0/nr_tags': '127', '/sys/block/nvme0n1/mq/1/nr_tags': '127',
    },
    'bottlerocket': {
        '/proc/sys/fs/file-max': '9223372036854775807', '/proc/sys/fs/nr_open': '1073741816', '/proc/sys/vm/max_map_count': '524288', '/proc/sys/kernel/pid_max': '4194304',
        '/proc/sys/fs/inotify/max_user_instances': '8192', '/proc/sys/fs/inotify/max_user_watches': '524288', '/proc/sys/net/netfilter/nf_conntrack_max': '1048576',
        '/proc/sys/net/netfilter/nf_conntrack_buckets': '262144', '/proc/sys/net/netfilter/nf_conntrack_count': '900', '/proc/sys/net/core/default_qdisc': 'fq_codel',
        '/proc/sys/net/ipv4/neigh/default/gc_thresh3': '16384', '/proc/sys/net/ipv6/neigh/default/gc_thresh3': '16384', '/proc/sys/net/ipv4/tcp_congestion_control': 'cubic',
        '/proc/sys/vm/overcommit_memory': '1', '/proc/sys/kernel/panic': '10', '/proc/sys/kernel/panic_on_oops': '1', '/proc/701/comm': 'kubelet', '/proc/701/limits': LIMITS.format(1000000, 1000000),
        '/proc/sys/net/ipv4/tcp_retries2': '8',
    },
    'container-optimized-os': {
        '/proc/sys/fs/file-max': '9223372036854775807', '/proc/sys/fs/nr_open': '1048576', '/proc/sys/vm/max_map_count': '262144', '/proc/sys/kernel/pid_max': '4194304',
        '/proc/sys/fs/inotify/max_user_instances': '1024', '/proc/sys/net/core/default_qdisc': 'fq', '/proc/sys/net/ipv4/tcp_congestion_control': 'bbr', '/proc/sys/vm/swappiness': '0',
        '/proc/sys/net/ipv4/tcp_rmem': '4096 87380 6291456', '/proc/sys/net/core/rmem_max': '212992',
    },
}  # fmt: skip
"""What distributions set or leave on hosts that nobody has touched. Sources: systemd sysctl.d/50-pid-max.conf and NEWS 240; a captured Ubuntu 24.04 (kernel-hardening-checker);
Amazon EKS nodeadm; Bottlerocket release-sysctl.conf; berkeley-dsep-infra/datahub#4488 for GKE."""
EXPECTED = {
    'ubuntu-24.04': ['advice sysctl-inotify-instances-low'],
    'debian-12': ['advice sysctl-inotify-instances-low', 'advice sysctl-max-map-count-low'],
    'rhel-9': ['advice sysctl-inotify-instances-low', 'advice sysctl-max-map-count-low'],
    'amazon-linux-2023': ['advice kubelet-eviction-defaults-lost', 'advice kubelet-pod-pids-unlimited', 'advice sysctl-arp-thresholds-low', 'advice tcp-gives-up-late'],
    'bottlerocket': [],
    'container-optimized-os': [],
}  # fmt: skip


@pytest.mark.parametrize('name', DISTRIBUTIONS)
def test_a_fresh_host_of_a_distribution_gets_no_warning(name: str) -> None:
    """What nobody chose is advice at most."""
    unified = {'/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory pids'}
    assert found({**captured(), **unified, **DISTRIBUTIONS[name]}) == EXPECTED[name]


@pytest.mark.parametrize(('path', 'words'), [
    ('/proc/sys/net/core/somaxconn', 'any other pod starts from the default of the kernel, and is given its own by securityContext.sysctls, with allowedUnsafeSysctls of the kubelet)'),
    ('/proc/sys/net/ipv4/tcp_syncookies', 'is given its own by securityContext.sysctls)'),
    ('/proc/sys/vm/max_map_count', 'mmap fails in processes with many mappings'),
])  # fmt: skip
def test_a_parameter_that_pods_do_not_get_says_where_they_do(path: str, words: str) -> None:
    result = audit_node(Snapshot(healthy(**{path: '0'}), facts={'netns': 'host', 'pidns': 'host'}), Config())
    assert [item.message.endswith(words) for item in result.findings if item.place.document.path == path] == [True]
