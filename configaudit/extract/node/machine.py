"""The host as a whole. Sources: Linux Documentation/admin-guide (kernel-parameters, mm/transhuge, cgroup-v2), proc(5)."""

from collections.abc import Callable
from typing import Any

from configaudit.extract.node.disks import in_force
from configaudit.extract.node.kubelet import CONFIGURATIONS
from configaudit.extract.node.live import FORMAT, live_setting, place_of_file, whole
from configaudit.host.acs import PATH as ACS
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_kinds import HOST
from configaudit.model import Component, Setting, Slot

_MEMORY = '/sys/kernel/mm/transparent_hugepage'
_PRODUCT = '/sys/class/dmi/id/product_name'
_CLOCK = '/sys/devices/system/clocksource/clocksource0/current_clocksource'


def machine(snapshot: Snapshot) -> Component:
    """The one component that every live thing belongs to."""
    name = snapshot.facts.get('name') or 'host'
    rows: tuple[tuple[str, str, Callable[[str], Any], str, tuple[str, ...]], ...] = (
        ('kernel', '/proc/sys/kernel/osrelease', str, '', ()),
        ('cpus', '/sys/devices/system/cpu/online', count_of, 'count', ()),
        ('numa_nodes', '/sys/devices/system/node/online', count_of, 'count', ()),
        ('memory_kib', '/proc/meminfo', _memory, 'KiB', ()),
        ('thp_enabled', f'{_MEMORY}/enabled', in_force, '', ('thp', 'enabled')),
        ('thp_defrag', f'{_MEMORY}/defrag', in_force, '', ('thp', 'defrag')),
        ('clocksource', _CLOCK, str, '', ('clocksource', 'clocksource0')),
        ('boot_parameters', '/proc/cmdline', _parameters, '', ()),
        ('softnet_drops', '/proc/net/softnet_stat', _drops, 'count', ()),
        ('swaps', '/proc/swaps', _swaps, '', _swap_target(snapshot)),
        ('open_files', '/proc/sys/fs/file-nr', lambda text: whole(text.split()[0]) if text.split() else None, 'count', ()),
        ('open_files_max', '/proc/sys/fs/file-nr', lambda text: whole(text.split()[-1]) if text.split() else None, 'count', ()),
    )
    settings = {name: live_setting(snapshot, name, path, read, unit=unit, target=target) for name, path, read, unit, target in rows}
    place = place_of_file(snapshot, '/proc/sys/kernel/osrelease')
    settings |= {
        'huge_pages': _huge_pages(snapshot), 'governors': _governors(snapshot), 'gpus': _gpus(snapshot), 'fastest_link': _fastest_link(snapshot),
        'rdma_devices': Setting('rdma_devices', tuple(snapshot.names('/sys/class/infiniband')), place),
        'acs': live_setting(snapshot, 'acs', ACS, _controls, absent='the configuration space of PCI bridges was not read (root only)'),
        'vendor': live_setting(snapshot, 'vendor', '/sys/class/dmi/id/sys_vendor', lambda text: f'{text} {snapshot.text(_PRODUCT) or ""}'.strip()),
        'clocksources': live_setting(snapshot, 'clocksources', _CLOCK.replace('current', 'available'), lambda text: tuple(text.split())),
        'cgroup_version': _cgroups(snapshot), 'is_node': Setting('is_node', is_node(snapshot), place),
        'reads': Setting('reads', snapshot.facts.get('kind', ''), place),
        'netns': Setting('netns', snapshot.facts.get('netns', 'unknown'), place), 'pidns': Setting('pidns', snapshot.facts.get('pidns', 'unknown'), place),
    }  # fmt: skip
    return Component(HOST, name, f'live/host/{name}', place, settings)


def is_node(snapshot: Snapshot) -> bool:
    """Whether the host runs a kubelet, or is set up to."""
    running = any(snapshot.text(f'/proc/{name}/comm') in ('kubelet', 'k3s-server', 'k3s-agent', 'rke2') for name in snapshot.names('/proc') if name.isdigit())
    return running or any(snapshot.has(path) for path in CONFIGURATIONS) or snapshot.has('/etc/systemd/system/kubelet.service.d')


def count_of(text: str) -> int | None:
    """How many numbers a list such as '0-3,8' names."""
    total = 0
    for part in text.split(','):
        first, _, last = part.strip().partition('-')
        if not first.isdigit() or (last and not last.isdigit()):
            return None
        total += int(last or first) - int(first) + 1
    return total


def _memory(text: str) -> int | None:
    line = next((line for line in text.splitlines() if line.startswith('MemTotal:')), '')
    words = line.split()
    return whole(words[1]) if len(words) > 1 else None


def _swap_target(snapshot: Snapshot) -> tuple[str, ...]:
    """What a fix switches off: the one swap area there is."""
    areas = _swaps(snapshot.text('/proc/swaps') or '')
    return ('swap', areas[0][0]) if len(areas) == 1 else ()


def _controls(text: str) -> dict[str, int] | None:
    """Bridge -> control register."""
    try:
        return {bridge: int(control, 16) for bridge, control in (line.split() for line in text.splitlines())}
    except ValueError:
        return None


def _parameters(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (word.partition('=') for word in text.split())}


def _swaps(text: str) -> tuple[tuple[str, int], ...]:
    """(device, KiB) of each active swap area."""
    rows = [line.split() for line in text.splitlines()[1:]]
    return tuple((row[0], int(row[2])) for row in rows if len(row) > 2 and row[2].isdigit())


def _huge_pages(snapshot: Snapshot) -> Setting:
    """(KiB, reserved, free) of every size of huge page."""
    folder = '/sys/kernel/mm/hugepages'
    found = []
    for name in snapshot.names(folder):
        counts = [whole(snapshot.text(f'{folder}/{name}/{file}') or '') for file in ('nr_hugepages', 'free_hugepages')]
        size = name.removeprefix('hugepages-').removesuffix('kB')
        if size.isdigit() and counts[0] is not None and counts[1] is not None:
            found.append((int(size), counts[0], counts[1]))
    first = next((f'{folder}/{name}/nr_hugepages' for name in snapshot.names(folder)), folder)
    return Setting('huge_pages', tuple(found), place_of_file(snapshot, first), reason='' if found else f'{folder}: {snapshot.why(folder)}')


def _governors(snapshot: Snapshot) -> Setting:
    """(governor, driver, energy preference) of the CPUs, each combination once; none where there is no frequency scaling."""
    folder = '/sys/devices/system/cpu'
    scaled = [f'{folder}/{name}/cpufreq' for name in snapshot.names(folder) if snapshot.names(f'{folder}/{name}/cpufreq')]
    files = ('scaling_governor', 'scaling_driver', 'energy_performance_preference')
    found = tuple(dict.fromkeys(tuple(snapshot.text(f'{path}/{file}') or '' for file in files) for path in scaled))
    place = place_of_file(snapshot, f'{scaled[0]}/scaling_governor' if scaled else folder)
    return Setting('governors', found, place, slot=Slot(FORMAT, place, ('governor',)))


def _fastest_link(snapshot: Snapshot) -> Setting:
    """Mbit/s of the fastest network card that is up; 0 when none says a speed."""
    folder = '/sys/class/net'
    cards = [name for name in snapshot.names(folder) if f'{folder}/{name}/device/class' in snapshot.files and snapshot.text(f'{folder}/{name}/operstate') == 'up']
    speeds = {name: whole(snapshot.text(f'{folder}/{name}/speed') or '') or 0 for name in cards}
    fastest = max(speeds, key=speeds.__getitem__, default='')
    return Setting('fastest_link', speeds.get(fastest, 0), place_of_file(snapshot, f'{folder}/{fastest}/speed'))


def _drops(text: str) -> int | None:
    """The second column of every CPU's row, hexadecimal."""
    try:
        return sum(int(line.split()[1], 16) for line in text.splitlines() if line.strip())
    except (IndexError, ValueError):
        return None


def _gpus(snapshot: Snapshot) -> Setting:
    """The GPUs that NVIDIA's driver has; 0 without the driver."""
    folder = '/proc/driver/nvidia/gpus'
    place = place_of_file(snapshot, '/proc/driver/nvidia/version')
    return Setting('gpus', len(snapshot.names(folder)), place)


def _cgroups(snapshot: Snapshot) -> Setting:
    """2 when the unified hierarchy is the whole of it, 1 when there are controllers of version 1."""
    unified = '/sys/fs/cgroup/cgroup.controllers'
    place = place_of_file(snapshot, unified)
    if unified in snapshot.files:
        return Setting('cgroup_version', 2, place)
    mounts = snapshot.text('/proc/self/mountinfo') or ''
    if ' - cgroup ' in mounts or {'cpu', 'cpu,cpuacct', 'memory', 'pids', 'systemd'}.intersection(snapshot.names('/sys/fs/cgroup')):
        return Setting('cgroup_version', 1, place)
    return Setting('cgroup_version', None, place, reason=f'{unified}: {snapshot.why(unified)}')
