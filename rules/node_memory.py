"""Rules for the memory of a live host: huge pages, swap, NUMA, open files of all processes."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule

HURT = ('redis-server', 'mongod', 'java')
"""Programs whose documentation asks for huge pages to be off or asked for: MongoDB's before release 8.0, Java's for low latency."""
_THP = 'Linux Documentation/admin-guide/mm/transhuge.rst'


def _programs(host: Component) -> set[str]:
    return {str(process['program'].known_value) for process in host.peers('host-process')}


def _parameter(host: Component, name: str) -> Setting | None:
    """The live value of a kernel parameter that is a whole number, None where it was not read."""
    found = next((entry['value'] for entry in host.peers('sysctl') if entry.name == name), None)
    if found is not None and not isinstance(found.value, int):
        raise Unknown(f'{name}: {found.value!r} is not a whole number')
    return found


@rule(
    'huge-pages-always', on='host', severity='warning', side_effect='programs that gain from huge pages must ask for them (madvise)',
    source=f'{_THP}; Redis --check-system; MongoDB production notes',
)  # fmt: skip
def huge_pages_always(host: Component) -> Iterator[Problem]:
    """With transparent huge pages on for everybody, a fork of Redis copies 2 MiB for each byte written, and latency jumps.

    Only said where such a program runs (Redis, MongoDB, Java) and has not turned them off for itself, as Redis does since 6.2.
    MongoDB from 8.0 on wants them, and Java gains at times: without Redis it is advice. Profiles for high-performance computing
    set `always` on purpose.
    """
    hurt = sorted({str(process['program'].known_value) for process in host.peers('host-process') if process['huge_pages'].known_value}.intersection(HURT))
    if not hurt:
        raise NotApplicable('no program runs that it hurts')
    pages = host['thp_enabled']
    if pages.value == 'always':
        yield Problem(pages, 'transparent huge pages are {value} while {programs} runs', programs=', '.join(hurt), fix=pages.set('madvise'), severity=None if 'redis-server' in hurt else 'advice')


@rule('huge-pages-stall', on='host', severity='warning', side_effect='fewer allocations get a huge page at once', source=_THP)
def huge_pages_stall(host: Component) -> Iterator[Problem]:
    """With defrag on `always`, every allocation may stop to compact memory: stalls of milliseconds in any program."""
    defrag = host['thp_defrag']
    if host['thp_enabled'].known_value == 'never':
        raise NotApplicable('transparent huge pages are off')
    if defrag.value == 'always':
        yield Problem(defrag, 'defrag is {value}: allocations stop to compact memory', fix=defrag.set('madvise'))


@rule('huge-pages-idle', on='host', severity='advice', source='Linux Documentation/admin-guide/mm/hugetlbpage.rst')
def huge_pages_idle(host: Component) -> Iterator[Problem]:
    """Reserved huge pages that nobody uses are memory that no process can have.

    When it is wrong: their user (a virtual machine, a database) starts later.
    """
    for size, total, free in host['huge_pages'].value:
        if total and total == free:
            yield Problem(host['huge_pages'], 'all {total} reserved huge pages of {size} KiB are free: {mib} MiB of memory nobody can use', total=total, size=size, mib=total * size // 1024, detail=str(size))


@rule('node-swap-on', on='host', severity='warning', side_effect='what was swapped out must fit into memory', source='Kubernetes documentation, swap memory management: failSwapOn true, memorySwap.swapBehavior NoSwap')
def swap_on(host: Component) -> Iterator[Problem]:
    """kubelet refuses to start with swap on, unless failSwapOn is false.

    With failSwapOn false and no swapBehavior it is advice: pods do not use swap (NoSwap, the default since 1.28), kubelet and the
    runtime do.
    """
    if not host['is_node'].value:
        raise NotApplicable('nothing shows that this host is a Kubernetes node')
    swaps = host['swaps']
    if not swaps.value:
        return
    kubelets = host.peers('kubelet').some()
    if any(kubelet['swap_behavior'].is_set for kubelet in kubelets):
        raise NotApplicable('the kubelet is told how to use swap')
    allowed = any(kubelet['fail_swap_on'].is_set and kubelet['fail_swap_on'].known_value is False for kubelet in kubelets)
    names = ', '.join(device for device, _ in swaps.value)
    yield Problem(swaps, 'swap is on ({names}, {mib} MiB) on a Kubernetes node', names=names, mib=sum(size for _, size in swaps.value) // 1024, fix=swaps.set('off') if len(swaps.value) == 1 else None, severity='advice' if allowed else None)


@rule('open-files-running-out', on='host', severity='warning', source='Linux Documentation/admin-guide/sysctl/fs.rst, file-nr')
def open_files_running_out(host: Component, *, share: float = 0.8) -> Iterator[Problem]:
    """When all processes together reach fs.file-max, open and accept fail with ENFILE for everybody but root."""
    used, most = host['open_files'], host['open_files_max']
    if used.value > share * most.value:
        ceiling = _parameter(host, 'fs.file-max')
        fix = ceiling.set(max(2**21, 2 * most.value)) if ceiling is not None else None
        yield Problem(used, '{value} of {most} open files are in use, over {share}', most=most.value, share=share, fix=fix)


@rule('numa-balancing-beside-pinning', on='host', severity='advice', side_effect='processes without a pinned CPU are no longer moved to their memory', source='Linux Documentation/admin-guide/sysctl/kernel.rst, numa_balancing')
def numa_balancing(host: Component) -> Iterator[Problem]:
    """Automatic NUMA balancing unmaps pages to see who uses them: with pinned CPUs it only costs page faults."""
    if host['numa_nodes'].value < 2:
        raise NotApplicable('one NUMA node')
    if not any(kubelet['cpu_manager_policy'].known_value == 'static' for kubelet in host.peers('kubelet')):
        raise NotApplicable('no kubelet with pinned CPUs')
    balancing = _parameter(host, 'kernel.numa_balancing')
    if balancing is not None and balancing.value != 0:
        yield Problem(balancing, 'numa_balancing is {value} on {nodes} NUMA nodes with pinned CPUs', nodes=host['numa_nodes'].value, fix=balancing.set(0))


@rule('overcommit-heuristic-beside-redis', on='host', severity='warning', side_effect='a process that asks for too much is killed later instead of refused at once', source='Redis documentation, administration; redis src/syscheck.c')
def overcommit_redis(host: Component) -> Iterator[Problem]:
    """Redis forks to save: without overcommit_memory = 1 the fork fails when its memory is more than half of what is free."""
    if 'redis-server' not in _programs(host):
        raise NotApplicable('no Redis runs here')
    mode = _parameter(host, 'vm.overcommit_memory')
    if mode is not None and mode.value == 0:
        yield Problem(mode, 'overcommit_memory is {value} while Redis runs: its background save can fail', fix=mode.set(1))
