"""What `nvidia-smi -q` (or `-q -x`), or NVML, says of each GPU, cut down to its state: no serial number, no identifier, no process.

The text keeps the sections of nvidia-smi by their indentation; newer drivers say "Clocks Event Reasons" for "Clocks Throttle Reasons"
and "GPU Power Readings" for "Power Readings". Sources: nvidia-smi(1); NVIDIA NVML API reference.
"""

import ctypes
import json
import re
import subprocess
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from configaudit.errors import UsageError

PATH = '/configaudit/nvidia-smi.json'
"""Where a snapshot keeps it."""
CAPTURED = '/sos_commands/nvidia/nvidia-smi_-q'
"""Where a sosreport has it."""
_LONGEST = 16 << 20
_WAIT_S = 60
_SLOWDOWNS = {'HW Slowdown': 'hw_slowdown', 'HW Thermal Slowdown': 'hw_thermal_slowdown', 'HW Power Brake Slowdown': 'hw_power_brake_slowdown'}
_NVML_SLOWDOWNS = {0x08: 'hw_slowdown', 0x40: 'hw_thermal_slowdown', 0x80: 'hw_power_brake_slowdown'}
"""Bits of nvmlClocksEventReasons."""
_NVML_FABRIC = {1: 'Not Started', 2: 'In Progress', 3: 'Completed'}
"""nvmlGpuFabricState_t; 0 is a GPU without a fabric."""
Rows = dict[tuple[str, ...], str]


def of_capture(text: str) -> str:
    """The same of what a captured tree holds; '' where it says nothing of a GPU."""
    try:
        return _kept(text, '')
    except UsageError:
        return ''


def read_report(path: str) -> str:
    """What a file with the output of nvidia-smi says, as a snapshot keeps it. UsageError where it says nothing of a GPU."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read(_LONGEST)
    except OSError as error:
        raise UsageError(f'--nvidia-smi {path}: {error.strerror or error}') from None
    return _kept(text, f'--nvidia-smi {path}')


def ask_driver() -> str:
    """What the driver of this host says: through NVML where nvidia-ml-py is installed, else by running nvidia-smi."""
    try:
        pynvml: Any = import_module('pynvml')
    except ImportError:
        return _run()
    try:
        pynvml.nvmlInit()
        try:
            gpus = [_ask(pynvml, pynvml.nvmlDeviceGetHandleByIndex(number)) for number in range(pynvml.nvmlDeviceGetCount())]
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        raise UsageError(f'--ask-gpus: NVML: {error}') from None
    return _lines(gpus)


def _run() -> str:
    try:
        done = subprocess.run(('nvidia-smi', '-q', '-x'), capture_output=True, timeout=_WAIT_S, check=False)
    except FileNotFoundError:
        raise UsageError("--ask-gpus: there is no nvidia-smi here, and no nvidia-ml-py (pip install 'configaudit[gpu]')") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f'--ask-gpus: nvidia-smi: {error}') from None
    return _kept(done.stdout.decode('utf-8', 'replace')[:_LONGEST], '--ask-gpus: nvidia-smi')


def _ask(nvml: Any, gpu: Any) -> dict[str, Any]:
    """One GPU through NVML; what a GPU has not is left out."""

    def answer(question: Any, *words: Any) -> Any:
        try:
            return question(gpu, *words)
        except (nvml.NVMLError, AttributeError):
            return None

    bus = nvml.nvmlDeviceGetPciInfo(gpu).busId
    told: dict[str, Any] = {'bus': _bus(bus.decode() if isinstance(bus, bytes) else bus)}
    on: dict[int | None, str] = {0: 'Disabled', 1: 'Enabled'}
    told['persistence'] = on.get(answer(nvml.nvmlDeviceGetPersistenceMode))
    told['ecc'] = on.get((answer(nvml.nvmlDeviceGetEccMode) or (None,))[0])
    told['mig'] = on.get((answer(nvml.nvmlDeviceGetMigMode) or (None,))[0])
    reasons = answer(nvml.nvmlDeviceGetCurrentClocksThrottleReasons) or 0
    told['slowdowns'] = [name for bit, name in _NVML_SLOWDOWNS.items() if reasons & bit]
    told['power_limit_w'] = _watts(answer(nvml.nvmlDeviceGetPowerManagementLimit))
    told['default_power_limit_w'] = _watts(answer(nvml.nvmlDeviceGetPowerManagementDefaultLimit))
    told['fabric'] = _fabric(nvml, gpu)
    return {name: value for name, value in told.items() if value is not None}


def _fabric(nvml: Any, gpu: Any) -> str | None:
    try:
        held = nvml.c_nvmlGpuFabricInfo_t()
        nvml.nvmlDeviceGetGpuFabricInfo(gpu, ctypes.byref(held))
    except (nvml.NVMLError, AttributeError, TypeError):
        return None
    return _NVML_FABRIC.get(held.state)


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


def _kept(text: str, source: str) -> str:
    rows = _xml(text) if '<nvidia_smi_log' in text else list(_text(text))
    gpus = [_state(bus, row) for bus, row in rows]
    if not gpus:
        raise UsageError(f'{source}: it says nothing of a GPU (the output of `nvidia-smi -q` or `nvidia-smi -q -x` does)')
    return _lines(gpus)


def _lines(gpus: list[dict[str, Any]]) -> str:
    """JSON with a line for each GPU."""
    return '[\n' + ',\n'.join(json.dumps(gpu, sort_keys=True) for gpu in gpus) + '\n]\n'


def _xml(text: str) -> list[tuple[str, Rows]]:
    """(bus, rows) of each GPU of -q -x; the names of elements are put as the text of -q has them."""
    from xml.etree import ElementTree

    if '<!ENTITY' in text:
        return []
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return []
    return [(_bus(gpu.get('id', '')), dict(_elements(gpu))) for gpu in root.findall('gpu')]


def _elements(gpu: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    for child in gpu:
        yield (child.tag,), 'some' if len(child) else (child.text or '').strip()
        for below in child:
            name = re.sub(r'^clocks_(?:event|throttle)_reason_', '', below.tag)
            yield (child.tag, name), (below.text or '').strip()


_NAMES: dict[str | tuple[str, str], tuple[str, ...]] = {
    'Persistence Mode': ('persistence_mode',), 'MIG Devices': ('mig_devices',), ('MIG Mode', 'Current'): ('mig_mode', 'current_mig'), ('ECC Mode', 'Current'): ('ecc_mode', 'current_ecc'),
    ('ECC Mode', 'Current ECC'): ('ecc_mode', 'current_ecc'), ('Fabric', 'State'): ('fabric', 'state'),
    **{(section, 'Default Power Limit'): ('gpu_power_readings', 'default_power_limit') for section in ('Power Readings', 'GPU Power Readings')},
    **{(section, name): ('gpu_power_readings', 'current_power_limit') for section in ('Power Readings', 'GPU Power Readings') for name in ('Power Limit', 'Current Power Limit')},
    **{(section, name): ('clocks_event_reasons', below) for section in ('Clocks Event Reasons', 'Clocks Throttle Reasons') for name, below in _SLOWDOWNS.items()},
}  # fmt: skip
"""A name, or section and name, of the text -> the elements of -q -x."""


def _text(text: str) -> Iterator[tuple[str, Rows]]:
    """(bus, rows) of each GPU of -q."""
    bus, rows, section = '', Rows(), ''
    for line in text.splitlines():
        start = re.match(r'GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9])\s*$', line)
        if start:
            if bus:
                yield bus, rows
            bus, rows, section = _bus(start[1]), {}, ''
            continue
        depth = len(line) - len(line.lstrip())
        name, sign, value = (part.strip() for part in line.partition(' : '))
        if depth == 4:
            section = name
        known = _NAMES.get(name if depth == 4 else (section, name))
        if bus and known is not None:
            rows[known] = value if sign else 'some'
    if bus:
        yield bus, rows


def _state(bus: str, rows: Rows) -> dict[str, Any]:
    """What a snapshot keeps of one GPU; what it has not (N/A) is left out."""
    reasons = 'clocks_event_reasons' if ('clocks_event_reasons', 'hw_slowdown') in rows else 'clocks_throttle_reasons'
    power = 'gpu_power_readings' if ('gpu_power_readings', 'default_power_limit') in rows else 'power_readings'
    limit = next((_number(rows[power, name]) for name in ('current_power_limit', 'power_limit') if (power, name) in rows), None)
    told = {
        'bus': bus, 'persistence': _word(rows, 'persistence_mode'), 'ecc': _word(rows, 'ecc_mode', 'current_ecc'), 'mig': _word(rows, 'mig_mode', 'current_mig'),
        'mig_devices': {'None': False, 'some': True}.get(rows.get(('mig_devices',), '')),
        'slowdowns': [name for name in _SLOWDOWNS.values() if rows.get((reasons, name)) == 'Active'], 'power_limit_w': limit,
        'default_power_limit_w': _number(rows.get((power, 'default_power_limit'), '')), 'fabric': _word(rows, 'fabric', 'state'),
    }  # fmt: skip
    return {name: value for name, value in told.items() if value is not None}


def _word(rows: Rows, *path: str) -> str | None:
    value = rows.get(path, '')
    return value if re.fullmatch(r'[A-Za-z ]{1,20}', value) else None


def _number(text: str) -> float | None:
    match = re.match(r'(\d{1,6}(?:\.\d{1,3})?) W', text)
    return float(match[1]) if match else None


def _bus(text: str) -> str:
    """A PCI address as /sys/bus/pci writes it: 00000000:1B:00.0 is 0000:1b:00.0."""
    return text.lower()[-12:]
