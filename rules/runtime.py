"""Rules for container runtimes: what every container of the host inherits."""

from collections.abc import Iterator

from configaudit import units
from configaudit.model import Component, Fix, NotApplicable, Problem, Severity, rule

_NOFILE = 'containerd docs/containerd-2.0.md (rlimits are inherited); Amazon EKS base-runtime-spec: 65536:1048576'


@rule(
    'runtime-nofile-low',
    on='container-runtime',
    severity='warning',
    source=f'July tuning checklist, change 10; {_NOFILE}',
    checklist='july-10',
)
def nofile_low(runtime: Component, *, limit: int = 65535, risky: int = 32768) -> Iterator[Problem]:
    """Every container starts with too few open files: accept and open fail with "too many open files".

    This is the ulimit that change 10 of the July checklist means (not fs.file-max). Programs in Go raise the soft
    limit themselves; nginx and plain Python do not. From `risky` on a smaller limit is advice.
    """
    soft, hard = runtime['nofile_soft'], runtime['nofile_hard']
    if not soft.is_set and not hard.is_set:
        raise NotApplicable('it sets no limit for open files')
    low = soft if soft.is_set else hard
    if low.value < limit:
        fixes = [
            found.set(65536).changes for found in (soft, hard) if found.is_set and found.slot and found.value < 65536
        ]
        fix = Fix(tuple(change for changes in fixes for change in changes)) if fixes else None
        severity: Severity | None = 'advice' if low.value >= risky else None
        yield Problem(
            low, '{value} open files for every container are under {limit}', limit=limit, fix=fix, severity=severity
        )


@rule(
    'runtime-nofile-unlimited',
    on='container-runtime',
    severity='warning',
    source='containerd issue 6707; moby pull request 45534; systemd NEWS 240',
)
def nofile_unlimited(runtime: Component, *, limit: int = 2**20) -> Iterator[Problem]:
    """An unlimited soft limit becomes fs.nr_open, up to 2^30: programs that size a table by it take gigabytes.

    mysql went from 300 MB to 20 GB; others close a billion descriptors at every fork. Both projects took the
    setting out of their units. A soft limit of 1024:524288 or 65536:1048576 lets a program raise its own.
    """
    soft = runtime['nofile_soft']
    if not soft.is_set:
        raise NotApplicable('it sets no soft limit for open files')
    if soft.value > limit:
        yield Problem(
            soft,
            '{shown} open files as the soft limit of every container, over {limit}',
            shown='unlimited' if soft.value == float('inf') else soft.value,
            limit=limit,
        )


@rule(
    'runtime-shm-small',
    on='container-runtime',
    severity='advice',
    source='NCCL documentation, troubleshooting, shared memory; dockerd reference: default 64 MiB',
)
def shm_small(runtime: Component, *, limit: int = 2**30) -> Iterator[Problem]:
    """On a GPU host, 64 MiB of /dev/shm are too little for NCCL and for workers that share tensors.

    Judged where the daemon knows the nvidia runtime. `--shm-size` and `shm_size:` of a container come first.
    """
    if runtime['daemon'].value != 'docker' or not runtime['gpu'].value:
        raise NotApplicable('nothing shows that containers use GPUs here')
    size = runtime['shm_bytes']
    if size.value < limit:
        yield Problem(
            size, '{shown} of /dev/shm for every container on a GPU host are under {least}',
            shown=units.show_bytes(size.value), least=units.show_bytes(limit), limit=limit, fix=size.set('1g'),
        )  # fmt: skip


@rule(
    'runtime-cgroupfs-driver', on='container-runtime', severity='advice', confidence='medium',
    source='Kubernetes documentation, setup/production-environment/container-runtimes, cgroup drivers',
)  # fmt: skip
def cgroupfs_driver(runtime: Component) -> Iterator[Problem]:
    """On a host that systemd manages, the cgroupfs driver makes two managers of one tree: nodes get unstable under pressure.

    kubelet and the runtime must use the same driver; kubeadm's default is systemd since 1.22.

    When it is wrong: a host without systemd, or a kubelet that is set to cgroupfs on purpose.
    """
    driver = runtime['cgroup_driver']
    if not driver.is_set:
        raise NotApplicable('it names no cgroup driver')
    if driver.value == 'cgroupfs':
        fix = driver.set(True) if runtime['daemon'].value == 'containerd' else None
        yield Problem(
            driver, 'the cgroup driver is cgroupfs: with systemd as init, set systemd here and in the kubelet', fix=fix
        )


@rule(
    'runtime-pids-limit-low',
    on='container-runtime',
    severity='warning',
    side_effect='a runaway process can start more before it is stopped', source='OpenShift nodes: podPidsLimit 4096; crio.conf(5), pids_limit',
)
def pids_limit_low(runtime: Component, *, limit: int = 1024) -> Iterator[Problem]:
    """A low limit of processes makes thread creation fail: inference servers have hundreds of threads a process."""
    pids = runtime['pids_limit']
    if not pids.is_set:
        raise NotApplicable('it sets no limit for processes')
    if 0 < pids.value < limit:
        yield Problem(
            pids, '{value} processes and threads a container are under {limit}', limit=limit, fix=pids.set(4096)
        )
