"""Rules for what a live host is: cgroups, clock, CPU frequency, boot parameters."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

STEADY = ('tsc', 'tsc-early', 'kvm-clock', 'hyperv_clocksource_tsc_page', 'arch_sys_counter', 'timebase', 'tod', 'riscv_clocksource')
"""Clocks that a process reads without the kernel: of x86 and its virtual machines, ARM, POWER, s390 and RISC-V."""
_GOVERNED = ('intel_pstate', 'amd-pstate-epp')
"""Drivers whose `powersave` follows the energy preference instead of the lowest frequency."""


@rule('node-cgroup-v1', on='host', severity='warning', source='Kubernetes documentation, cgroup v2; kubelet failCgroupV1 is true by default from 1.35')
def cgroup_v1(host: Component) -> Iterator[Problem]:
    """kubelet from 1.35 on refuses to start on cgroup v1, and memory QoS, PSI and swap need v2."""
    if not host['is_node'].value:
        raise NotApplicable('nothing shows that this host is a Kubernetes node')
    if host['cgroup_version'].value == 1:
        yield Problem(host['cgroup_version'], 'the host runs cgroup v{value}: boot with systemd.unified_cgroup_hierarchy=1 after draining it')


@rule('clocksource-slow', on='host', severity='warning', side_effect='a clock that the kernel had reason to distrust: look for "clocksource: timekeeping watchdog" in the log first', source='Redis src/syscheck.c (slow clocksource); Amazon EKS nodes: clocksource=tsc')
def clocksource_slow(host: Component) -> Iterator[Problem]:
    """Reading the time leaves the process and asks the kernel, 20 to 70 times slower: everything that measures latency gets slower.

    tsc, kvm-clock, the Hyper-V TSC page and the ARM counter are read without a system call. The clock of Xen is one since Linux
    4.16 and advice: Amazon sets tsc on its Xen instances.
    """
    clock = host['clocksource']
    if clock.value not in STEADY:
        offered = host['clocksources'].known_value or ()
        yield Problem(clock, 'the clock is {value}: every reading is a system call', fix=clock.set('tsc') if 'tsc' in offered else None, severity='advice' if clock.value == 'xen' else None)  # type: ignore[operator]


@rule('cpu-frequency-held-down', on='host', severity='warning', side_effect='more power and heat', source='tuned profiles throughput-performance and latency-performance; Linux Documentation/admin-guide/pm/cpufreq.rst')
def frequency_held_down(host: Component) -> Iterator[Problem]:
    """CPUs that save energy clock up only after load has come: tokenizers and schedulers answer late after each pause.

    A governor that follows the load is a default of kernels and distributions, so that it is advice; `powersave` of a driver
    that does not follow the load keeps the lowest frequency.
    """
    governors = host['governors']
    if not governors.known_value and governors.is_known:
        raise NotApplicable('the CPUs have no frequency scaling')
    slow = [(name, driver) for name, driver, preference in governors.value if name != 'performance' and not (driver in _GOVERNED and preference == 'performance')]
    held = any(name == 'powersave' and driver not in _GOVERNED for name, driver in slow)
    if slow:
        yield Problem(governors, 'the CPU governor is {slow}', slow=', '.join(sorted({f'{name} ({driver})' for name, driver in slow})), fix=governors.set('performance'), severity=None if held else 'advice')


@rule('cpu-mitigations-off', on='booted', severity='warning', source='Linux Documentation/admin-guide/kernel-parameters, mitigations')
def mitigations_off(host: Component) -> Iterator[Problem]:
    """Without mitigations, one container can read the memory of others through the CPU.

    When it is wrong: a host of one trusted tenant, decided on purpose.
    """
    parameters = host['boot_parameters']
    if parameters.value.get('mitigations') == 'off':
        yield Problem(parameters, 'the kernel runs with mitigations=off')


@rule('isolated-cpus-unreserved', on='booted', severity='warning', source='Kubernetes documentation, reservedSystemCPUs; Linux kernel-parameters, isolcpus')
def isolated_unreserved(host: Component) -> Iterator[Problem]:
    """CPUs taken from the kernel's scheduler are still given to pods: threads pile up on one of them and never move."""
    parameters = host['boot_parameters']
    if 'isolcpus' not in parameters.value:
        raise NotApplicable('no CPU is isolated')
    if not host['is_node'].value:
        raise NotApplicable('nothing shows that this host is a Kubernetes node')
    kubelets = host.peers('kubelet').some()
    if not any(kubelet['reserved_cpus'].is_set for kubelet in kubelets):
        yield Problem(parameters, 'isolcpus={cpus} and the kubelet reserves no CPUs: pods are scheduled onto isolated ones', cpus=parameters.value['isolcpus'])
