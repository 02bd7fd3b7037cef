"""Rules for the limits of running processes (change 10 of the July checklist)."""

import math
from collections.abc import Iterator

from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Setting, Slot, rule

RUNTIMES = {'containerd': 'containerd.service', 'dockerd': 'docker.service', 'crio': 'crio.service', 'k3s-server': 'k3s.service', 'k3s-agent': 'k3s-agent.service'}
SERVERS = ('nginx', 'envoy', 'haproxy', 'redis-server', 'mongod')
"""Programs with a descriptor for each connection, that do not raise their limit themselves as Go and Java do."""
_PROC = 'proc(5), /proc/PID/limits'


def _unit(process: Component, setting: Setting, key: str, value: str) -> Fix | None:
    """A drop-in for the unit of a process: the one that it runs in, or that its program usually has."""
    unit = str(process['unit'].value) or RUNTIMES.get(str(process['program'].value), '')
    return Fix((Change(Slot('live', setting.place, ('unit', unit, key)), value, setting.name),)) if unit else None


def _raised(process: Component, soft: int, hard: int) -> str:
    """Both limits of open files for a unit: none is lower than what holds."""
    held = [max(least, process[name].value) for name, least in (('nofile_soft', soft), ('nofile_hard', hard))]
    return ':'.join('infinity' if value == math.inf else str(value) for value in held)


@rule(
    'runtime-open-files-low', on='host-process', severity='warning', checklist='july-10', side_effect='the runtime restarts; running containers keep their limit until they are recreated',
    source='containerd docs/containerd-2.0.md (no LimitNOFILE line: 1024:524288 of systemd); Amazon EKS 65536:1048576, Azure AKS 1048576',
)  # fmt: skip
def runtime_open_files_low(process: Component, *, limit: int = 65536) -> Iterator[Problem]:
    """Containers inherit the runtime's limit of open files: no process in them can raise its own above this.

    fs.file-max is another thing: the count of all processes together.
    """
    program = str(process['program'].value)
    if program not in RUNTIMES:
        raise NotApplicable('it is no container runtime')
    if process.peers('runtime-limit'):
        raise NotApplicable('its configuration gives every container a limit of its own')
    hard = process['nofile_hard']
    if hard.value < limit:
        yield Problem(hard, '{program} may open {value} files, under {limit}: no container can have more', program=program, limit=limit, fix=_unit(process, hard, 'LimitNOFILE', _raised(process, 1024, 524288)))


@rule('runtime-open-files-unbounded', on='host-process', severity='warning', source='containerd#6707, moby#44547, moby#45534; systemd NEWS 240')
def runtime_open_files_unbounded(process: Component) -> Iterator[Problem]:
    """Programs that walk all possible descriptors take gigabytes of memory or minutes of start-up with a limit of a billion.

    Only said where fs.nr_open lets a process really have that many (systemd raises it to 2^30 - 8). 1024:524288 (soft, hard) is what containerd 2 and systemd give.
    """
    if str(process['program'].value) not in RUNTIMES:
        raise NotApplicable('it is no container runtime')
    hard = process['nofile_hard']
    ceiling = next((entry['value'] for entry in process.peer('host').peers('sysctl') if entry.name == 'fs.nr_open'), None)
    most = ceiling.value if ceiling is not None else math.inf
    if hard.value >= 10**9 or (hard.value == math.inf and most > 2**20):
        yield Problem(hard, '{program} may open {most} files: programs in containers that walk all of them stall', program=process['program'].value, most='unlimited' if hard.value == math.inf else hard.value, see=[('fs.nr_open', ceiling)] if ceiling is not None else ())


@rule('server-open-files-low', on='host-process', severity='warning', checklist='july-10', side_effect='the service restarts', source=f'{_PROC}; systemd NEWS 240: select() fails above 1024 descriptors, so raise it only for programs that poll')
def server_open_files_low(process: Component, *, limit: int = 1024) -> Iterator[Problem]:
    """A server that may open 1024 files refuses connections beyond about a thousand: "too many open files".

    For nginx the default of 1024 is advice: its worker_connections (768 or 512 where nobody set them) end before. The limit is the one in force: programs that raise it themselves (Go since 1.19, Java, vLLM, SGLang) show the raised one. In a
    container it comes from the runtime: process.rlimits of containerd's base_runtime_spec, default-ulimits of Docker, or
    `ulimit -n` before the program.
    """
    program, engine = str(process['program'].value), str(process['engine'].value)
    if program not in SERVERS and not engine:
        raise NotApplicable('it is no server with many connections')
    if 'nginx: master' in str(process['words'].value):
        raise NotApplicable('its workers have the connections')
    soft = process['nofile_soft']
    spare = program == 'nginx' and process['nofile_hard'].value > limit
    if soft.value <= limit:
        yield Problem(soft, '{name} may open {value} files: connections beyond that are refused', name=engine or program, fix=_unit(process, soft, 'LimitNOFILE', _raised(process, 65536, 524288)) if process['unit'].value else None, severity='advice' if spare else None)


@rule('engine-shared-memory-small', on='host-process', severity='warning', source='NCCL troubleshooting, shared memory; docker default-shm-size 64 MiB')
def engine_shm_small(process: Component) -> Iterator[Problem]:
    """GPUs of one engine exchange data through /dev/shm: 64 MiB is too little for NCCL with more than one GPU.

    In a pod mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm; with Docker give --shm-size.
    """
    gpus = process.peer('host')['gpus']
    if not process['engine'].value or gpus.value < 2:
        raise NotApplicable('no inference engine on a host with several GPUs')
    if not process['spread'].value:
        raise NotApplicable('the engine runs on one GPU, or without NCCL')
    size = process['shm_bytes']
    if size.value <= 64 * 2**20:
        yield Problem(size, '{engine} has {mib} MiB of shared memory on a host with {gpus} GPUs', engine=process['engine'].value, mib=size.value // 2**20, gpus=gpus.value)


@rule('rdma-memory-lock-limited', on='host-process', severity='warning', side_effect='the runtime restarts; containers must be recreated', source='NCCL troubleshooting, networking: unlimited memlock for RDMA')
def rdma_memlock(process: Component) -> Iterator[Problem]:
    """RDMA pins the memory it uses: with a limited memlock, NCCL over InfiniBand or RoCE fails with "cannot allocate memory"."""
    program = str(process['program'].value)
    host = process.peer('host')
    if program not in RUNTIMES or not host['rdma_devices'].value:
        raise NotApplicable('no container runtime on a host with RDMA')
    if not host['gpus'].value:
        raise NotApplicable('no GPU whose traffic would use RDMA')
    lock = process['memlock_hard']
    if lock.value != math.inf:
        yield Problem(lock, '{program} may lock {value} bytes of memory, and the host has RDMA ({devices})', program=program, devices=', '.join(host['rdma_devices'].value), fix=_unit(process, lock, 'LimitMEMLOCK', 'infinity'))
