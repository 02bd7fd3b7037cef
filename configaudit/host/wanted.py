"""Which files of a host are read: nothing that holds secrets, environments or the content of anybody's memory.

A pattern is a path whose parts may hold `*`; one that ends in `/**` takes a whole tree.
"""

KERNEL: tuple[str, ...] = (
    '/proc/sys/**', '/proc/meminfo', '/proc/swaps', '/proc/cmdline', '/proc/modules', '/proc/net/softnet_stat', '/proc/self/mountinfo',
    '/proc/driver/nvidia/version', '/proc/driver/nvidia/params', '/proc/driver/nvidia/gpus/*/information',
)  # fmt: skip
DEVICES: tuple[str, ...] = (
    '/sys/block/*', '/sys/block/*/size', '/sys/block/*/hidden', '/sys/block/*/removable', '/sys/block/*/queue/scheduler', '/sys/block/*/queue/rotational',
    '/sys/block/*/queue/read_ahead_kb', '/sys/block/*/queue/nr_requests', '/sys/block/*/mq/*/nr_tags', '/sys/block/*/slaves/*', '/sys/block/*/device/model',
    '/sys/block/*/multipath/*',
    '/sys/kernel/mm/transparent_hugepage/enabled', '/sys/kernel/mm/transparent_hugepage/defrag', '/sys/kernel/mm/hugepages/*/nr_hugepages',
    '/sys/kernel/mm/hugepages/*/free_hugepages',
    '/sys/devices/system/cpu/online', '/sys/devices/system/cpu/possible', '/sys/devices/system/cpu/isolated', '/sys/devices/system/cpu/nohz_full',
    '/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor', '/sys/devices/system/cpu/cpu*/cpufreq/scaling_driver',
    '/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference',
    '/sys/devices/system/node/online', '/sys/devices/system/clocksource/clocksource0/current_clocksource',
    '/sys/devices/system/clocksource/clocksource0/available_clocksource',
    '/sys/fs/cgroup/cgroup.controllers', '/sys/fs/cgroup/*/cgroup.procs', '/sys/fs/cgroup/kubepods*/pids.max', '/sys/fs/cgroup/pids/kubepods*/pids.max',
    '/sys/class/net/*/device/class', '/sys/class/net/*/speed', '/sys/class/net/*/operstate',
    '/sys/class/infiniband/*/ports/*/state', '/sys/class/infiniband/*/ports/*/rate', '/sys/class/infiniband/*/ports/*/link_layer',
    '/sys/hypervisor/type', '/sys/class/dmi/id/sys_vendor', '/sys/class/dmi/id/product_name',
)  # fmt: skip
POD_LIMITS: tuple[str, ...] = tuple(
    f'/sys/fs/cgroup/{root}kubepods*/{level}*pod*/pids.max' for root in ('', 'pids/') for level in ('', '*/')
)
"""What the kubelet gave each pod: `podPidsLimit` of its configuration, which may not be readable."""
PCI = ('vendor', 'device', 'class', 'current_link_width', 'max_link_width', 'current_link_speed', 'max_link_speed', 'numa_node')
"""Files of a PCI device that are read of GPUs and network controllers."""
STATIC: tuple[str, ...] = (
    '/etc/sysctl.conf', '/etc/sysctl.d/*', '/run/sysctl.d/*', '/usr/local/lib/sysctl.d/*', '/usr/lib/sysctl.d/*', '/lib/sysctl.d/*',
    '/etc/security/limits.conf', '/etc/security/limits.d/*', '/etc/udev/rules.d/*', '/run/udev/rules.d/*', '/usr/local/lib/udev/rules.d/*', '/usr/lib/udev/rules.d/*sched*',
    '/etc/systemd/system.conf', '/etc/systemd/system.conf.d/*', '/run/systemd/system.conf.d/*', '/usr/lib/systemd/system.conf.d/*', '/etc/systemd/system/service.d/*', '/usr/lib/systemd/system/service.d/*',
    *(f'{root}/systemd/system/{unit}{tail}' for root in ('/etc', '/run', '/usr/lib', '/lib') for unit in (
        'containerd.service', 'docker.service', 'crio.service', 'cri-o.service', 'kubelet.service', 'k3s.service', 'rke2-server.service', 'rke2-agent.service',
        'ollama.service', 'vllm.service', 'nvidia-persistenced.service', 'nvidia-fabricmanager.service',
    ) for tail in ('', '.d/*')),
    '/etc/containerd/config.toml', '/etc/containerd/conf.d/*', '/etc/containerd/*.json', '/etc/docker/daemon.json', '/etc/crio/crio.conf', '/etc/crio/crio.conf.d/*',
    '/var/lib/kubelet/config.yaml', '/etc/kubernetes/kubelet/kubelet-config.json', '/etc/kubernetes/kubelet/config.json', '/etc/kubernetes/kubelet/config.json.d/*',
    '/etc/kubernetes/kubelet.conf.d/*', '/etc/tuned/active_profile', '/etc/tuned/tuned-main.conf', '/etc/tuned/*/tuned.conf', '/etc/tuned/profiles/*/tuned.conf',
    '/usr/lib/tuned/*/tuned.conf', '/usr/lib/tuned/profiles/*/tuned.conf', '/etc/modules-load.d/*', '/etc/os-release', '/usr/lib/os-release',
    '/run/nvidia/validations/*', '/etc/tmpfiles.d/*',
)  # fmt: skip
SKIPPED_SYSCTLS = ('/kernel/random', '/tcp_fastopen_key', '/stable_secret', '/proc/sys/debug', '/kernel/usermodehelper', '/proc/sys/sunrpc')
"""Ends of sysctl paths that are never read: keys and seeds."""
INTERFACES = ('/conf/', '/neigh/')
"""Below these, only `all` and `default` are read: a node has thousands of interfaces."""
CMDLINE = frozenset((
    'mitigations', 'isolcpus', 'nohz_full', 'rcu_nocbs', 'transparent_hugepage', 'clocksource', 'tsc', 'systemd.unified_cgroup_hierarchy', 'cgroup_no_v1',
    'cgroup_enable', 'iommu', 'intel_iommu', 'amd_iommu', 'hugepages', 'hugepagesz', 'default_hugepagesz', 'elevator', 'skew_tick', 'intel_pstate', 'amd_pstate',
    'numa_balancing', 'processor.max_cstate', 'intel_idle.max_cstate', 'idle', 'nosmt', 'pci', 'nvme_core.multipath', 'nvme_core.io_timeout', 'pcie_aspm',
    'scsi_mod.use_blk_mq', 'psi', 'swapaccount', 'numa', 'selinux', 'audit', 'nmi_watchdog', 'spectre_v2', 'nospectre_v2', 'pti', 'nopti', 'l1tf', 'mds', 'tsx',
))  # fmt: skip
"""Parameters of the kernel's command line that are kept: others may hold addresses and credentials."""
PROGRAMS = frozenset((
    'containerd', 'dockerd', 'crio', 'kubelet', 'kube-proxy', 'k3s', 'k3s-server', 'k3s-agent', 'rke2', 'tritonserver', 'nginx', 'envoy', 'haproxy', 'traefik',
    'redis-server', 'mongod', 'postgres', 'mysqld', 'java', 'ollama', 'llama-server', 'vllm', 'text-generation', 'nvidia-persiste', 'nv-fabricmanage', 'irqbalance',
    'tuned', 'systemd', 'sglang', 'trtllm-serve',
))  # fmt: skip
"""Names of processes (as /proc/PID/comm cuts them, 15 characters) whose limits are read."""
ENGINES = {
    'tritonserver': 'triton', 'ollama': 'ollama', 'llama-server': 'llamacpp', 'text-generation': 'tgi', 'text-generation-launcher': 'tgi', 'text-generation-server': 'tgi',
    'vllm': 'vllm', 'sglang': 'sglang', 'sglang_router': '', 'lmdeploy': 'lmdeploy', 'trtllm-serve': 'trtllm', 'tensorrt_llm': 'trtllm', 'text_generation_server': 'tgi',
}  # fmt: skip
"""Programs and Python packages -> the inference engine that they start ('': none)."""
