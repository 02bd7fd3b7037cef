"""Access control of PCI bridges, read from configuration space."""

import struct
from pathlib import Path

from configaudit.host.acs import PATH, bridges, control_of
from configaudit.host.reader import read_host


def space(control: int) -> bytes:
    """A configuration space of 4 KiB: an AER capability (0001h) at 100h, ACS (000Dh) at 148h."""
    data = bytearray(4096)
    struct.pack_into('<I', data, 0x100, 0x0001 | 1 << 16 | 0x148 << 20)
    struct.pack_into('<IHH', data, 0x148, 0x000D | 1 << 16, 0x5F, control)
    return bytes(data)


def test_the_control_register_is_found() -> None:
    assert control_of(space(0x1D)) == 0x1D
    assert control_of(space(0)) == 0


def test_what_cannot_be_read_is_unknown() -> None:
    loop = bytearray(4096)
    struct.pack_into('<I', loop, 0x100, 0x0001 | 0x100 << 20)
    for data in (b'', space(1)[:64], space(1)[:0x14A], bytes(4096), bytes(loop), b'\xff' * 4096):
        assert control_of(data) is None


def test_only_bridges_above_gpus_are_looked_at(tmp_path: Path) -> None:
    devices = {'0000:15:01.0': ('', '0x060400'), '0000:15:01.0/0000:1b:00.0': ('0x10de', '0x030200'), '0000:16:01.0': ('', '0x060400'), '0000:16:01.0/0000:2b:00.0': ('0x15b3', '0x020000')}
    bus = tmp_path / 'sys/bus/pci/devices'
    bus.mkdir(parents=True)
    for path, (vendor, kind) in devices.items():
        folder = tmp_path / 'sys/devices/pci0000:15' / path
        folder.mkdir(parents=True)
        (folder / 'vendor').write_text(vendor + '\n')
        (folder / 'class').write_text(kind + '\n')
        (folder / 'config').write_bytes(space(0x1D))
        (bus / folder.name).symlink_to(f'../../../devices/pci0000:15/{path}')
    assert bridges(str(tmp_path)) == '0000:15:01.0 001d\n'
    assert read_host(str(tmp_path), kind='sysroot').text(PATH) == '0000:15:01.0 001d'
    assert bridges(str(tmp_path / 'nothing')) == ''
