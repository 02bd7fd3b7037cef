"""Rules for the configuration of a kubelet, in a file or on a live node."""

import re
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

_DEFAULTS = 'kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go'
SIGNALS = ('memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available')
"""Signals with a default threshold: 100Mi, 10 %, 5 %, 15 %."""


def _gpus(kubelet: Component) -> int:
    """GPUs of the host; NotApplicable where the configuration stands alone."""
    hosts = kubelet.peers('host')
    if not hosts:
        raise NotApplicable('the configuration is judged without its host')
    return int(hosts[0]['gpus'].value)


@rule('kubelet-pod-pids-unlimited', on='kubelet', severity='warning', side_effect='a pod that forks more is refused', source=f'{_DEFAULTS}: podPidsLimit -1; OpenShift nodes 4096')
def pod_pids_unlimited(kubelet: Component) -> Iterator[Problem]:
    """One pod that forks without end takes every process id of the node, kubelet's own too.

    The limit of the machine itself (kernel.pid_max) is shared by all pods. When nobody set podPidsLimit it is advice.
    """
    limit = kubelet['pod_pids_limit']
    if limit.value == -1:
        yield Problem(limit, 'podPidsLimit is {value}: one pod may take every process id of the node', severity=None if limit.is_set else 'advice', fix=limit.set(4096))


@rule('kubelet-pod-pids-few-for-gpus', on='kubelet', severity='warning', side_effect='a fork bomb reaches further', source='OpenShift nodes 4096; NCCL, OpenMP and tokenizers start threads for each GPU and core')
def pod_pids_few(kubelet: Component, *, limit: int = 1024) -> Iterator[Problem]:
    """An inference server with several GPUs runs hundreds of threads: under a small podPidsLimit it cannot start them all."""
    pids = kubelet['pod_pids_limit']
    if not pids.is_set or pids.value < 0 or not _gpus(kubelet):
        raise NotApplicable('no limit, or no GPU')
    if pids.value < limit:
        yield Problem(pids, 'podPidsLimit {value} on a host with GPUs is under {limit}', limit=limit, fix=pids.set(4096))


@rule('kubelet-pulls-one-image-at-a-time', on='kubelet', severity='warning', side_effect='more disk and network load while images are pulled', source=f'{_DEFAULTS}: serializeImagePulls true; Amazon EKS and OpenShift set false')
def serial_pulls(kubelet: Component) -> Iterator[Problem]:
    """While one image of 10 to 20 GB is pulled, no other pod of the node starts.

    Only said of a live host with GPUs, or where somebody wrote it.
    """
    serial, parallel = kubelet['serialize_image_pulls'], kubelet['max_parallel_image_pulls']
    if not serial.is_set and not _gpus(kubelet):
        raise NotApplicable('no GPU, so that images are small')
    if serial.value and not (parallel.is_set and not serial.is_set and parallel.value > 1):
        yield Problem(serial, 'images are pulled one after another: a large one holds up every pod of the node', severity=None if serial.is_set else 'advice', fix=serial.set(False))


@rule('kubelet-eviction-defaults-lost', on='kubelet', severity='warning', source=f'{_DEFAULTS}: mergeDefaultEvictionSettings false; Kubernetes documentation, node-pressure-eviction')
def eviction_defaults_lost(kubelet: Component) -> Iterator[Problem]:
    """A partial evictionHard drops the default thresholds of all other signals: the node runs until the disk or memory is full."""
    hard, merged = kubelet['eviction_hard'], kubelet['merge_eviction_defaults']
    if not hard.is_set or not isinstance(hard.value, dict) or not hard.value:
        raise NotApplicable('the defaults hold')
    if merged.value:
        raise NotApplicable('the defaults are merged in')
    missing = [signal for signal in SIGNALS if signal not in hard.value]
    if missing:
        yield Problem(hard, 'evictionHard leaves out {missing}, and their defaults are dropped', missing=', '.join(missing), severity=None if set(missing) - {'imagefs.available'} else 'advice')


@rule('kubelet-image-gc-after-eviction', on='kubelet', severity='warning', source='Kubernetes documentation, node-pressure-eviction and image garbage collection')
def image_gc_late(kubelet: Component) -> Iterator[Problem]:
    """Images are only cleaned up after pods are already evicted for a full disk: unused images push running pods out."""
    hard, high = kubelet['eviction_hard'], kubelet['image_gc_high']
    threshold = str(hard.value.get('imagefs.available', '')) if isinstance(hard.value, dict) else ''
    share = re.fullmatch(r'(\d+(?:\.\d+)?)%', threshold)
    if not threshold and hard.is_set and isinstance(hard.value, dict) and not kubelet['merge_eviction_defaults'].value:
        raise NotApplicable('evictionHard leaves the disk of images out')
    free = float(share[1]) if share else 15.0 if not threshold else None
    if free is None:
        raise NotApplicable('imagefs.available is an amount, not a share')
    if high.value > 100 - free or (high.value == 100 - free and high.is_set):
        yield Problem(high, 'images are collected above {value} % of the disk, and pods are evicted from {limit} % on', limit=100 - free, see=[('evictionHard', hard)] if hard.is_set else ())


@rule('kubelet-unsafe-sysctls-wide', on='kubelet', severity='warning', source='Kubernetes documentation, sysctl-cluster: unsafe sysctls')
def unsafe_sysctls(kubelet: Component) -> Iterator[Problem]:
    """A wildcard lets every pod change parameters that can harm others on the node: name the ones that are needed."""
    allowed = kubelet['unsafe_sysctls']
    if not allowed.is_set:
        raise NotApplicable('none is allowed')
    wide = [str(name) for name in allowed.value if str(name) in ('*', 'net.*', 'kernel.*', 'net.ipv4.*', 'net.core.*')]
    if wide:
        yield Problem(allowed, 'allowedUnsafeSysctls has {wide}', wide=', '.join(wide))


@rule('kubelet-reserves-nothing', on='kubelet', severity='warning', side_effect='pods can be given that much less', source='Kubernetes documentation, reserve-compute-resources')
def reserves_nothing(kubelet: Component) -> Iterator[Problem]:
    """Without kubeReserved, pods may be given all memory of the node: then kubelet and the runtime are killed with them.

    Advice where nobody wrote either: managed nodes set it by flag.
    """
    if any(kubelet[name].is_set or kubelet[name].value for name in ('kube_reserved', 'system_reserved', 'reserved_cpus')):
        return
    yield Problem(kubelet['kube_reserved'], 'neither kubeReserved nor systemReserved is set: pods may take all memory of the node', severity='advice')


@rule('kubelet-numa-unaware-with-gpus', on='kubelet', severity='advice', side_effect='a pod that fits no NUMA node is refused (single-numa-node); changing the policy needs a drained node and the removal of cpu_manager_state', source='Kubernetes documentation, topology-manager')
def numa_unaware(kubelet: Component) -> Iterator[Problem]:
    """On a host with several NUMA nodes and GPUs, a pod's CPUs and memory may sit on the other side from its GPU.

    When it is wrong: pods take all GPUs of the node.
    """
    if not _gpus(kubelet) or kubelet.peers('host')[0]['numa_nodes'].value < 2:
        raise NotApplicable('one NUMA node, or no GPU')
    cpu, topology = kubelet['cpu_manager_policy'], kubelet['topology_manager_policy']
    if cpu.value == 'none' and topology.value == 'none':
        yield Problem(topology, 'cpuManagerPolicy and topologyManagerPolicy are none on {nodes} NUMA nodes with {gpus} GPUs', nodes=kubelet.peers('host')[0]['numa_nodes'].value, gpus=_gpus(kubelet), see=[('cpuManagerPolicy', cpu)])


DEMANDED = (
    ('vm.overcommit_memory', 1), ('vm.panic_on_oom', 0), ('kernel.panic', 10), ('kernel.panic_on_oops', 1), ('kernel.keys.root_maxkeys', 1000000), ('kernel.keys.root_maxbytes', 25000000),
)  # fmt: skip
"""What the kubelet sets at start, or demands. Source: kubernetes component-helpers/node/util/sysctl/sysctl.go."""


@rule('kubelet-refuses-kernel-settings', on='kubelet', severity='error', source='kubernetes pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables; Kubernetes documentation, protectKernelDefaults', side_effect='the node reboots on a kernel fault, and memory is promised beyond what there is')
def refuses_kernel_settings(kubelet: Component) -> Iterator[Problem]:
    """With protectKernelDefaults the kubelet does not start while the kernel has other values than it wants: the node stays NotReady.

    A kubelet that runs now stops at its next start. Put the values into /etc/sysctl.d before the kubelet starts.
    """
    if not kubelet['protect_kernel_defaults'].value:
        raise NotApplicable('the kubelet sets the values itself')
    if not kubelet.peers('host'):
        raise NotApplicable('the configuration is judged without its host')
    wanted = dict(DEMANDED)
    for entry in kubelet.peers('host')[0].peers('sysctl'):
        if entry.name in wanted and entry['value'].value != wanted[entry.name]:
            value = entry['value']
            yield Problem(value, '{name} is {value}, and a kubelet with protectKernelDefaults starts only with {wanted}', name=entry.name, wanted=wanted[entry.name], fix=value.set(wanted[entry.name]), detail=entry.name, see=[('the kubelet', kubelet['protect_kernel_defaults'])])
