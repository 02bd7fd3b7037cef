"""Kinds of what a live host shows: the host as a whole, its block devices, the processes that serve."""

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec

HOST = declare(Kind('host', ('booted',), {
    'kernel': SettingSpec('text'),
    'cpus': SettingSpec('count'),
    'memory_kib': SettingSpec('KiB'),
    'numa_nodes': SettingSpec('count'),
    'cgroup_version': SettingSpec('count'),
    'is_node': SettingSpec('bool', False),
    'boot_parameters': SettingSpec(default={}),
    'thp_enabled': SettingSpec('text'),
    'thp_defrag': SettingSpec('text'),
    'clocksource': SettingSpec('text'),
    'swaps': SettingSpec(default=()),
    'open_files': SettingSpec('count'),
    'open_files_max': SettingSpec('count', raise_only=True),
    'huge_pages': SettingSpec(default=()),
    'governors': SettingSpec(default=()),
    'clocksources': SettingSpec(default=()),
    'gpus': SettingSpec('count', 0),
    'rdma_devices': SettingSpec(default=()),
    'acs': SettingSpec(default={}),
    'vendor': SettingSpec('text'),
    'fastest_link': SettingSpec('Mbit/s', 0),
    'softnet_drops': SettingSpec('count'),
    'reads': SettingSpec('text'),
    'netns': SettingSpec('text'),
    'pidns': SettingSpec('text'),
}))  # fmt: skip
"""A host. `kernel` as uname -r; `is_node`: a kubelet runs or is configured; `boot_parameters`: name -> value of the kernel's command line;
`thp_*`: the word in brackets; `swaps`: (device, KiB) of active swap; `open_files` of `open_files_max`: fs.file-nr;
`huge_pages`: (KiB, reserved, free) of each size; `governors`: (governor, driver, energy preference) of the CPUs, each once; `gpus` of NVIDIA's driver;
`acs`: bridge above a GPU -> its ACS control register; `vendor` of the machine, as its firmware says;
`fastest_link`: of the network cards that are up; `softnet_drops`: packets dropped before the stack since boot;
`reads` how it was read (live, sysroot, sysctl-dump), `netns` and `pidns` whose values those are (host, other, unknown)."""

BLOCK_DEVICE = declare(Kind('block-device', (), {
    'scheduler': SettingSpec('text'),
    'schedulers': SettingSpec(default=()),
    'queues': SettingSpec('count'),
    'rotational': SettingSpec('bool'),
    'transport': SettingSpec('text'),
    'read_ahead_kb': SettingSpec('KiB'),
    'below': SettingSpec(default=()),
}))  # fmt: skip
"""A disk with its live queue. `schedulers`: what the kernel offers; `queues`: hardware queues; `transport` nvme, virtio, xen, scsi, mmc or other;
`below`: the disks under a dm, md or multipath device, none of a real one."""

KUBELET = declare(Kind('kubelet', (), {
    'swap_behavior': SettingSpec('text', None, ('memorySwap', 'swapBehavior')),
    'fail_swap_on': SettingSpec('bool', True, ('failSwapOn',)),
    'cpu_manager_policy': SettingSpec('text', 'none', ('cpuManagerPolicy',)),
    'topology_manager_policy': SettingSpec('text', 'none', ('topologyManagerPolicy',)),
    'reserved_cpus': SettingSpec('text', None, ('reservedSystemCPUs',)),
    'pod_pids_limit': SettingSpec('count', -1, ('podPidsLimit',)),
    'serialize_image_pulls': SettingSpec('bool', True, ('serializeImagePulls',)),
    'max_parallel_image_pulls': SettingSpec('count', None, ('maxParallelImagePulls',)),
    'eviction_hard': SettingSpec('', None, ('evictionHard',)),
    'merge_eviction_defaults': SettingSpec('bool', False, ('mergeDefaultEvictionSettings',)),
    'image_gc_high': SettingSpec('count', 85, ('imageGCHighThresholdPercent',)),
    'unsafe_sysctls': SettingSpec('', None, ('allowedUnsafeSysctls',)),
    'kube_reserved': SettingSpec('', None, ('kubeReserved',)),
    'system_reserved': SettingSpec('', None, ('systemReserved',)),
    'protect_kernel_defaults': SettingSpec('bool', False, ('protectKernelDefaults',)),
    'fail_cgroup_v1': SettingSpec('bool', None, ('failCgroupV1',)),
}))  # fmt: skip
"""A KubeletConfiguration. Defaults: kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go."""

HOST_PROCESS = declare(Kind('host-process', (), {
    'program': SettingSpec('text'),
    'engine': SettingSpec('text', ''),
    'nofile_soft': SettingSpec('count', raise_only=True),
    'nofile_hard': SettingSpec('count', raise_only=True),
    'memlock_soft': SettingSpec('bytes', raise_only=True),
    'memlock_hard': SettingSpec('bytes', raise_only=True),
    'shm_bytes': SettingSpec('bytes'),
    'words': SettingSpec('text', ''),
    'spread': SettingSpec('bool', False),
    'unit': SettingSpec('text', ''),
    'huge_pages': SettingSpec('bool', True),
}))  # fmt: skip
"""A running process whose limits matter: a runtime, a kubelet, an inference engine, a proxy, a database. `engine`: vllm, sglang ... or '';
`words`: its command line, without credentials; `spread`: over several GPUs at once; `unit`: its systemd unit, '' in a container;
`huge_pages`: whether the kernel may give it transparent ones."""

GPU_DEVICE = declare(Kind('gpu-device', (), {'link_width': SettingSpec('count'), 'link_width_max': SettingSpec('count')}))
"""A GPU on the PCI bus and the lanes of its link."""

GPU_STATE = declare(Kind('gpu-state', (), {
    'persistence': SettingSpec('text'),
    'ecc': SettingSpec('text'),
    'mig': SettingSpec('text'),
    'mig_devices': SettingSpec('bool'),
    'slowdowns': SettingSpec(default=()),
    'power_limit_w': SettingSpec('W', raise_only=True),
    'default_power_limit_w': SettingSpec('W'),
    'fabric': SettingSpec('text'),
}))  # fmt: skip
"""A GPU as nvidia-smi or NVML tells of it; None where it has no such thing. `slowdowns`: reasons of the hardware that hold its clocks down now."""

GPU_DRIVER = declare(Kind('gpu-driver', (), {
    'version': SettingSpec('text'),
    'open_modules': SettingSpec('bool', False),
    'devices': SettingSpec('count', 0),
    'persistence_daemon': SettingSpec('bool', False),
    'fabric_manager': SettingSpec('bool', False),
    'nvswitches': SettingSpec('count', 0),
    'modules': SettingSpec(default=()),
    'validations': SettingSpec(default=()),
}))  # fmt: skip
"""NVIDIA's driver. `devices`: GPUs on the bus; `validations`: the *-ready files of the GPU operator."""
