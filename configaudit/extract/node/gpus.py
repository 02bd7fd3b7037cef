"""GPUs as the driver and the PCI bus show them. Sources: Linux Documentation/ABI/testing/sysfs-bus-pci; NVIDIA driver README, /proc interface."""

import re

from configaudit.extract.node.gpu_states import gpu_states
from configaudit.extract.node.live import live_setting, place_of_file, whole
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_kinds import GPU_DEVICE, GPU_DRIVER
from configaudit.model import Component, Setting

_BUS = '/sys/bus/pci/devices'
_DRIVER = '/proc/driver/nvidia/version'
_VALIDATIONS = '/run/nvidia/validations'
_NVIDIA, _GPU_CLASSES, _SWITCH_CLASS = '0x10de', ('0x0300', '0x0302'), ('0x0680',)
_VERSION = re.compile(r'\b(\d{3,4}\.\d+(?:\.\d+)?)\b')


def gpus(snapshot: Snapshot) -> list[Component]:
    """The driver, when there is one, and every NVIDIA GPU on the bus."""
    devices = [name for name in snapshot.names(_BUS) if _is_of(snapshot, name, _GPU_CLASSES)]
    found = [*(_device(snapshot, name) for name in devices), *gpu_states(snapshot, devices)]
    return [*([_driver(snapshot, len(devices))] if snapshot.has(_DRIVER) or devices else []), *found]


def _is_of(snapshot: Snapshot, name: str, classes: tuple[str, ...]) -> bool:
    kind = snapshot.text(f'{_BUS}/{name}/class') or ''
    return snapshot.text(f'{_BUS}/{name}/vendor') == _NVIDIA and kind.startswith(classes)


def _device(snapshot: Snapshot, name: str) -> Component:
    folder = f'{_BUS}/{name}'
    settings = {
        'link_width': live_setting(snapshot, 'link_width', f'{folder}/current_link_width', whole),
        'link_width_max': live_setting(snapshot, 'link_width_max', f'{folder}/max_link_width', whole),
    }  # fmt: skip
    return Component(GPU_DEVICE, name, f'live/gpu/{name}', place_of_file(snapshot, f'{folder}/current_link_width'), settings)


def _driver(snapshot: Snapshot, devices: int) -> Component:
    place = place_of_file(snapshot, _DRIVER)
    programs = {snapshot.text(f'/proc/{name}/comm') or '' for name in snapshot.names('/proc') if name.isdigit()}
    ready = tuple(name for name in snapshot.names(_VALIDATIONS) if name.endswith('-ready'))
    hidden = '' if programs and snapshot.facts.get('pidns') != 'other' else 'the processes of the host were not seen'
    switches = sum(_is_of(snapshot, name, _SWITCH_CLASS) for name in snapshot.names(_BUS))
    settings = {
        'version': live_setting(snapshot, 'version', _DRIVER, _version, absent='the driver is not loaded'),
        'open_modules': Setting('open_modules', 'Open Kernel Module' in (snapshot.text(_DRIVER) or ''), place),
        'devices': Setting('devices', devices, place),
        'persistence_daemon': Setting('persistence_daemon', 'nvidia-persiste' in programs, place, reason=hidden),
        'fabric_manager': Setting('fabric_manager', 'nv-fabricmanage' in programs, place, reason=hidden),
        'nvswitches': Setting('nvswitches', switches, place),
        'modules': live_setting(snapshot, 'modules', '/proc/modules', lambda text: tuple(line.split()[0] for line in text.splitlines() if line.strip())),
        'validations': Setting('validations', ready, place_of_file(snapshot, _VALIDATIONS), reason='' if snapshot.names(_VALIDATIONS) else 'the GPU operator validates nothing here'),
    }  # fmt: skip
    return Component(GPU_DRIVER, 'nvidia', 'live/gpu-driver/nvidia', place, settings)


def _version(text: str) -> str | None:
    match = _VERSION.search(text)
    return match[1] if match else None
