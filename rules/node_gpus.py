"""Rules for the GPUs of a live host: driver, links, daemons."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

OLDEST = 525
"""The first driver branch that runs CUDA 12 without a compatibility package."""
NO_HELP = 450
"""Below this branch no compatibility package of CUDA 12 works."""
CUDA_13 = 580
NEEDED = ('driver-ready', 'toolkit-ready')
"""What the GPU operator writes when the driver and the container toolkit work."""


@rule('gpu-driver-missing', on='gpu-driver', severity='warning', source='Linux Documentation/ABI/testing/sysfs-bus-pci; NVIDIA driver README, /proc interface')
def driver_missing(driver: Component) -> Iterator[Problem]:
    """GPUs are on the bus and no driver is loaded: no container gets one.

    When it is wrong: the GPUs are passed through to virtual machines (vfio), or the driver container has not started yet.
    """
    if not driver['version'].is_known and driver['version'].reason == 'the driver is not loaded':
        yield Problem(driver.place, '{count} on the bus and the NVIDIA driver is not loaded', count=f"{driver['devices'].value} GPU{'s' if driver['devices'].value != 1 else ''}")


@rule('gpu-driver-old', on='gpu-driver', severity='error', source='NVIDIA CUDA compatibility: CUDA 12 needs driver 525, CUDA 13 needs 580')
def driver_old(driver: Component, *, oldest: int = OLDEST) -> Iterator[Problem]:
    """Images of today are built with CUDA 12 or 13: on an older driver they stop with "CUDA driver version is insufficient".

    From 450 on it is a warning: on data centre GPUs, images that bring the forward-compatibility package (cuda-compat) start.
    """
    version = driver['version']
    branch = int(str(version.value).partition('.')[0])
    if branch < oldest:
        yield Problem(version, 'driver {value} is under {oldest}: it runs no CUDA 12 image, unless one brings cuda-compat', oldest=oldest, severity='warning' if branch >= NO_HELP else None)
    elif branch < CUDA_13:
        yield Problem(version, 'driver {value} runs CUDA 12 images and no CUDA 13 ones (580)', severity='advice')


@rule('gpu-persistence-missing', on='gpu-driver', severity='warning', source='NVIDIA driver persistence: nvidia-persistenced')
def persistence_missing(driver: Component) -> Iterator[Problem]:
    """Without the persistence daemon the driver unloads its state when the last process ends: the next start takes seconds longer.

    What nvidia-smi says of the mode comes first (a warning where it is off); else the daemon is looked for.
    """
    driver['version'].value  # noqa: B018 - raises when no driver is loaded
    modes = [gpu['persistence'] for gpu in driver.peer('host').peers('gpu-state') if gpu['persistence'].known_value]
    off = [mode for mode in modes if mode.value == 'Disabled']
    if off:
        yield Problem(off[0], 'persistence mode is off on {count} of {most} GPUs', count=len(off), most=len(modes))
    if modes:
        return
    if not driver['persistence_daemon'].value:
        yield Problem(driver['version'], 'nvidia-persistenced does not run', confidence='medium', severity='advice')


@rule('gpu-validation-missing', on='gpu-driver', severity='warning', source='NVIDIA gpu-operator validator, /run/nvidia/validations')
def validation_missing(driver: Component) -> Iterator[Problem]:
    """The GPU operator did not validate the driver or the container toolkit: pods with a GPU stay in init or fail.

    When it is wrong: the operator is being started or upgraded right now.
    """
    done = driver['validations']
    missing = [name for name in NEEDED if name not in done.value]
    if missing:
        yield Problem(done, 'the GPU operator has not written {missing}', missing=', '.join(missing))


@rule('gpu-link-narrow', on='gpu-device', severity='warning', source='Linux Documentation/ABI/testing/sysfs-bus-pci, current_link_width; the speed is lowered when idle and not judged')
def link_narrow(gpu: Component) -> Iterator[Problem]:
    """A GPU with fewer lanes than it could have loads weights and swaps that much slower: reseat it, or look at the riser.

    When it is wrong: a slot that is wired with fewer lanes on purpose.
    """
    width, most = gpu['link_width'], gpu['link_width_max']
    if most.value == 0:
        raise NotApplicable('the bus shows no link, as in a virtual machine')
    if 0 < width.value < most.value:
        yield Problem(width, '{gpu} runs {value} of {most} lanes', gpu=gpu.name, most=most.value)


@rule('gpu-peer-memory-missing', on='gpu-driver', severity='advice', source='NCCL documentation, GPU Direct RDMA: nvidia_peermem, or DMA-BUF with the open modules')
def peer_memory_missing(driver: Component) -> Iterator[Problem]:
    """Without nvidia_peermem (or the open modules, which use DMA-BUF), RDMA copies through host memory: half the bandwidth.

    Only on a host with InfiniBand or RoCE devices.
    """
    if not driver.peer('host')['rdma_devices'].value:
        raise NotApplicable('no RDMA device')
    if driver['open_modules'].value:
        raise NotApplicable('the open modules use DMA-BUF')
    if 'nvidia_peermem' not in driver['modules'].value and 'nv_peer_mem' not in driver['modules'].value:
        yield Problem(driver['version'], 'the host has RDMA devices, the closed modules of driver {value}, and no nvidia_peermem')


_VIRTUAL = ('QEMU', 'KVM', 'Google', 'Microsoft', 'VMware', 'Xen', 'OpenStack', 'Amazon EC2', 'innotek', 'Nutanix', 'Alibaba', 'Bochs', 'Red Hat', 'Firecracker')
"""What the firmware of virtual machines says of its vendor; a product with `metal` in its name is none."""
_REDIRECT = 0x0004
"""P2P Request Redirect. Source: Linux include/uapi/linux/pci_regs.h, PCI_ACS_RR."""


@rule('gpu-traffic-redirected', on='host', severity='warning', confidence='medium', source='NCCL troubleshooting, PCI Access Control Services', side_effect='without ACS, devices cannot be passed on to virtual machines separately')
def traffic_redirected(host: Component) -> Iterator[Problem]:
    """Access control on PCI bridges sends what GPUs and network cards exchange up to the CPU and back: slower, or it hangs.

    On bare metal switch it off in the firmware, or after each boot with `setpci -s BRIDGE ECAP_ACS+0x6.w=0000`. Virtual machines
    need it, and are not judged; nor are GPUs that NVSwitch joins on a host without RDMA.
    """
    switches = sum(driver['nvswitches'].value for driver in host.peers('gpu-driver'))
    if host['gpus'].value + len(host['rdma_devices'].value) < 2 or not host['gpus'].value or (switches and not host['rdma_devices'].value):
        raise NotApplicable('no two devices that would exchange data over PCI')
    vendor = str(host['vendor'].value)
    if vendor.startswith(_VIRTUAL) and 'metal' not in vendor:
        raise NotApplicable('a virtual machine needs it')
    control = host['acs']
    on = sorted(bridge for bridge, bits in control.value.items() if bits & _REDIRECT)
    if on:
        yield Problem(control, '{count} of {most} PCI bridges above GPUs redirect requests ({first})', count=len(on), most=len(control.value), first=on[0])
