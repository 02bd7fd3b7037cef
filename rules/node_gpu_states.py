"""Rules for the state of GPUs as nvidia-smi shows it."""

from collections.abc import Iterator
from typing import Any

from configaudit.model import Component, NotApplicable, Problem, Setting, rule

_SMI = 'nvidia-smi(1); NVIDIA NVML API reference'
_CAUSES = {'hw_slowdown': 'HW Slowdown', 'hw_thermal_slowdown': 'HW Thermal Slowdown', 'hw_power_brake_slowdown': 'HW Power Brake Slowdown'}


def _told(gpu: Component, name: str) -> tuple[Setting, Any]:
    """What the driver says of the GPU; NotApplicable where this one has no such thing (N/A)."""
    setting = gpu[name]
    if setting.value is None:
        raise NotApplicable(f'the GPU has no {name}')
    return setting, setting.value


@rule('gpu-ecc-off', on='gpu-state', severity='warning', side_effect='GPUs with GDDR memory have about 6 % less of it; needs a reset of the GPU', source=f'{_SMI}; NVIDIA GPU memory error management')
def ecc_off(gpu: Component) -> Iterator[Problem]:
    """Without ECC a flipped bit in GPU memory is a wrong answer that nobody notices: weights stay in memory for weeks.

    Switch it on with `nvidia-smi -e 1`; it holds after the next reset.

    When it is wrong: a workstation GPU whose whole memory is needed.
    """
    mode, value = _told(gpu, 'ecc')
    if value == 'Disabled':
        yield Problem(mode, 'ECC is off on {gpu}', gpu=gpu.name)


@rule('gpu-slowed-by-hardware', on='gpu-state', severity='warning', source=f'{_SMI}, clocks event reasons')
def slowed(gpu: Component) -> Iterator[Problem]:
    """The GPU halves its clocks or more: too hot, or the power supply asks for it. One such GPU slows its whole tensor-parallel group.

    Look at cooling, power cables and supplies; software cannot cure it.
    """
    reasons, value = _told(gpu, 'slowdowns')
    if value:
        causes = ', '.join(_CAUSES.get(name, str(name)) for name in value)
        yield Problem(reasons, '{gpu} is slowed down: {causes}', gpu=gpu.name, causes=causes)


@rule('gpu-power-limited', on='gpu-state', severity='advice', source=f'{_SMI}, power limits')
def power_limited(gpu: Component) -> Iterator[Problem]:
    """Somebody set a power limit below the default: the GPU runs slower under load, and GPUs of one group wait for the slowest.

    When it is wrong: the rack has no more power, or a lower limit was measured to cost nothing (decoding is bound by memory).
    """
    limit, value = _told(gpu, 'power_limit_w')
    _, default = _told(gpu, 'default_power_limit_w')
    if value < default:
        yield Problem(limit, '{gpu} may draw {watts} W of the default {default} W', gpu=gpu.name, watts=value, default=default)


@rule('gpu-mig-without-instances', on='gpu-state', severity='warning', source='NVIDIA MIG user guide: CUDA needs a GPU instance with a compute instance')
def mig_without_instances(gpu: Component) -> Iterator[Problem]:
    """With MIG on and no instance, no program can use the GPU: "no CUDA-capable device is detected".

    Make instances (`nvidia-smi mig -cgi ... -C`, or the MIG manager of the GPU operator), or switch MIG off.
    """
    mode, value = _told(gpu, 'mig')
    _, devices = _told(gpu, 'mig_devices')
    if value == 'Enabled' and not devices:
        yield Problem(mode, 'MIG is on for {gpu} and it has no instance', gpu=gpu.name)


@rule('gpu-fabric-not-ready', on='gpu-driver', severity='error', source='NVIDIA Fabric Manager user guide: CUDA error 802 (system not yet initialized); NVSentinel#883')
def fabric_not_ready(driver: Component) -> Iterator[Problem]:
    """On a board with NVSwitch no CUDA program starts before the fabric manager has set the switches up: "system not yet initialized".

    nvidia-fabricmanager must run, in exactly the version of the driver: with another one it stops at start. What GPUs say of
    their fabric (nvidia-smi) comes before what processes show; a fabric that is being set up is a warning.
    """
    if not driver['nvswitches'].value:
        raise NotApplicable('no NVSwitch')
    version = driver['version']
    version.value  # noqa: B018 - raises when no driver is loaded
    states = [gpu['fabric'] for gpu in driver.peer('host').peers('gpu-state') if gpu['fabric'].known_value]
    late = [state for state in states if state.value != 'Completed']
    if late:
        yield Problem(late[0], 'the fabric is "{state}" on {count} of {most} GPUs', count=len(late), most=len(states), state=late[0].value, severity='warning' if late[0].value == 'In Progress' else None)
    elif not states and not driver['fabric_manager'].value:
        yield Problem(version, 'no fabric manager runs, and the GPUs are joined by NVSwitch ({switches} on the bus)', switches=driver['nvswitches'].value)
