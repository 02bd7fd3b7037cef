"""Access control (ACS) of the PCI bridges above GPUs: where it redirects requests, GPUs cannot talk to one another directly.

Sources: PCI Express Base Specification, ACS extended capability (000Dh); Linux include/uapi/linux/pci_regs.h, PCI_ACS_CTRL.
"""

import os
import struct
from collections.abc import Iterator

from configaudit.host import confined

PATH = '/configaudit/pci-acs'
"""Where a snapshot keeps it: a line `bridge control` for each bridge above a GPU, the control register in hexadecimal."""
_BUS = '/sys/bus/pci/devices'
_NVIDIA = b'0x10de'
_EXTENDED, _ACS = 0x100, 0x000D
_CONTROL = 6


def control_of(space: bytes) -> int | None:
    """The ACS control register in the configuration space of a device; None where it has none, or only the first 64 bytes were readable."""
    at, seen = _EXTENDED, 0
    while _EXTENDED <= at <= len(space) - 8 and seen < 100:
        head = struct.unpack_from('<I', space, at)[0]
        if head & 0xFFFF == _ACS:
            return int(struct.unpack_from('<H', space, at + _CONTROL)[0])
        at, seen = head >> 20, seen + 1
    return None


def bridges(root: str) -> str:
    """The text of a snapshot; '' where no configuration space could be read."""
    return ''.join(f'{bridge} {control:04x}\n' for bridge in sorted(set(_above_gpus(root))) if (control := _control(root, bridge)) is not None)


def _above_gpus(root: str) -> Iterator[str]:
    """The bridges on the way from each NVIDIA GPU to the root complex."""
    folder = confined.resolve(root, _BUS)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        try:
            is_gpu = confined.read(root, f'{_BUS}/{name}/vendor').strip() == _NVIDIA and confined.read(root, f'{_BUS}/{name}/class').startswith(b'0x03')
            real = confined.resolve(root, f'{_BUS}/{name}') if root else os.path.realpath(f'{_BUS}/{name}')
        except OSError:
            continue
        if is_gpu:
            yield from (part for part in real.split('/')[:-1] if part.count(':') == 2)


def _control(root: str, bridge: str) -> int | None:
    try:
        return control_of(confined.read(root, f'{_BUS}/{bridge}/config'))
    except OSError:
        return None
