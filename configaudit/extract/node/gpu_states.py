"""The state of each GPU as its driver tells it. Source: host/nvidia.py."""

import json
from typing import Any

from configaudit.extract.node.live import FORMAT
from configaudit.host.nvidia import PATH
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_kinds import GPU_STATE
from configaudit.model import Component, Setting
from configaudit.places import Document, Place

_NAMES = ('persistence', 'ecc', 'mig', 'mig_devices', 'slowdowns', 'power_limit_w', 'default_power_limit_w', 'fabric')
_UNASKED = 'nvidia-smi was not asked (--ask-gpus, or --nvidia-smi FILE)'


def gpu_states(snapshot: Snapshot, buses: list[str]) -> list[Component]:
    """A component for every GPU that the driver told of; of those on the bus otherwise, with nothing known."""
    text = snapshot.text(PATH)
    if text is None:
        place = Place(Document(PATH, FORMAT, b''), 0, 0)
        return [_state(bus, place, {}, _UNASKED) for bus in buses]
    document = Document(PATH, FORMAT, text.encode('utf-8', 'replace'))
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found = []
    for gpu in told if isinstance(told, list) else []:
        bus = str(gpu.get('bus', '')) if isinstance(gpu, dict) else ''
        at = text.find(f'"{bus}"')
        if bus and at >= 0:
            start, end = text.rfind('\n', 0, at) + 1, text.find('\n', at)
            found.append(_state(bus, Place(document, start, end if end > 0 else len(text)), gpu, ''))
    return found


def _state(bus: str, place: Place, told: dict[str, Any], reason: str) -> Component:
    settings = {name: Setting(name, told.get(name), place, reason=reason) for name in _NAMES}
    return Component(GPU_STATE, bus, f'live/gpu-state/{bus}', place, settings)
