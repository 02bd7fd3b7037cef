"""Rules for the network of a live host: parameters that hold for the host, kubelet and pods with hostNetwork."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule

IP_SYSCTL = 'Linux Documentation/networking/ip-sysctl.rst'
_FAST = 40_000
"""Mbit/s from which the default socket buffers cannot fill a link over a few milliseconds (tuned profile network-throughput)."""


def _value(host: Component, name: str) -> Setting:
    """The live value of a parameter; NotApplicable where the kernel has none of that name."""
    found = next((entry['value'] for entry in host.peers('sysctl') if entry.name == name), None)
    if found is None:
        raise NotApplicable(f'{name} was not there')
    return found


def _number(host: Component, name: str) -> Setting:
    """The live value of a parameter that is a whole number; Unknown for any other text."""
    found = _value(host, name)
    if not isinstance(found.value, int):
        raise Unknown(f'{name}: {found.value!r} is not a whole number')
    return found


def _triple(setting: Setting) -> tuple[int, int, int]:
    """The least, first and largest size of a buffer."""
    words = str(setting.value).split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        raise Unknown(f'{setting.value!r} are not three sizes')
    return int(words[0]), int(words[1]), int(words[2])


def _node(host: Component) -> None:
    if not host['is_node'].value:
        raise NotApplicable('nothing shows that this host is a Kubernetes node')


@rule('tcp-gives-up-late', on='host', severity='advice', side_effect='connections over a link that is lost for more than 100 s are cut', source=f'{IP_SYSCTL}, tcp_retries2; Azure AKS nodes: 8')
def gives_up_late(host: Component) -> Iterator[Problem]:
    """A peer that died with data on the way is noticed after 15 minutes: tcp_retries2, not keepalive, decides that.

    It holds for kubelet and pods with hostNetwork only: other pods start from the kernel's default, and clients there need
    TCP_USER_TIMEOUT or the keepalive of gRPC.
    """
    _node(host)
    retries = _number(host, 'net.ipv4.tcp_retries2')
    if retries.value >= 15:
        yield Problem(retries, 'tcp_retries2 is {value}: a dead peer is noticed after about 924 s', fix=retries.set(8))


@rule('conntrack-running-out', on='host', severity='warning', source='Linux Documentation/networking/nf_conntrack-sysctl.rst')
def conntrack_running_out(host: Component, *, share: float = 0.8) -> Iterator[Problem]:
    """When the table of tracked connections is full, new connections of every pod are dropped."""
    count, most = _number(host, 'net.netfilter.nf_conntrack_count'), _number(host, 'net.netfilter.nf_conntrack_max')
    if count.value > share * most.value:
        yield Problem(count, '{value} of {most} tracked connections, over {share}', most=most.value, share=share, fix=most.set(2 * most.value))


@rule('conntrack-few-for-cpus', on='host', severity='warning', side_effect='about 300 bytes of memory an entry; kube-proxy may set it again (conntrack.maxPerCore)', source='kubernetes pkg/proxy/apis/config/v1alpha1/defaults.go: 32768 for each core, at least 131072')
def conntrack_few(host: Component) -> Iterator[Problem]:
    """A node with many cores has room for fewer connections than kube-proxy asks for: 32768 for each core."""
    _node(host)
    most, cpus = _number(host, 'net.netfilter.nf_conntrack_max'), host['cpus'].value
    wanted = max(131072, 32768 * cpus)
    if most.value < wanted:
        yield Problem(most, 'room for {value} connections on {cpus} CPUs: kube-proxy asks for {wanted}', cpus=cpus, wanted=wanted, severity=None if most.value < 131072 else 'advice', fix=most.set(wanted))


@rule('conntrack-buckets-crowded', on='host', severity='advice', source='tuned profile openshift: hashsize = nf_conntrack_max; Linux nf_conntrack_core.c')
def conntrack_crowded(host: Component, *, ratio: int = 4) -> Iterator[Problem]:
    """Many connections in each hash bucket make every packet search a list: raise the buckets with the maximum."""
    most, buckets = _number(host, 'net.netfilter.nf_conntrack_max'), _number(host, 'net.netfilter.nf_conntrack_buckets')
    if buckets.value and most.value > ratio * buckets.value:
        yield Problem(buckets, '{most} connections in {value} buckets, over {ratio} each', most=most.value, ratio=ratio)


@rule('packets-dropped-before-the-stack', on='host', severity='warning', side_effect='a longer queue, and with it more latency under overload', source='Linux Documentation/admin-guide/sysctl/net.rst, netdev_max_backlog; /proc/net/softnet_stat, second column')
def packets_dropped(host: Component) -> Iterator[Problem]:
    """The queue between network card and stack overflowed: packets were dropped since boot, and the queue is the default one."""
    backlog, drops = _number(host, 'net.core.netdev_max_backlog'), host['softnet_drops']
    if drops.value and backlog.value <= 1000:
        yield Problem(drops, '{value} packets were dropped since boot with netdev_max_backlog {backlog}', backlog=backlog.value, severity=None if drops.value > 1000 else 'advice', fix=backlog.set(5000), see=[('the queue', backlog)])


@rule('socket-buffers-small-for-link', on='host', severity='advice', side_effect='up to that much memory for each connection', source='tuned profile network-throughput: 16777216 for links of 40 Gbit/s and more')
def buffers_small(host: Component, *, limit: int = 2**24) -> Iterator[Problem]:
    """Default socket buffers cannot keep a link of 40 Gbit/s or more full over a few milliseconds: model downloads and KV transfers crawl.

    TCP grows its buffers up to the third number of tcp_rmem and tcp_wmem; programs that set SO_RCVBUF or SO_SNDBUF themselves get
    rmem_max and wmem_max. Pods take tcp_rmem and tcp_wmem from the host when they are created, the others always hold.
    """
    speed = host['fastest_link'].value
    if speed < _FAST:
        raise NotApplicable('no link of 40 Gbit/s')
    for name in ('net.core.rmem_max', 'net.core.wmem_max'):
        size = _number(host, name)
        if size.value < limit:
            yield Problem(size, '{name} is {value}, under {limit}, with a link of {speed} Gbit/s', name=name, limit=limit, speed=speed // 1000, fix=size.set(limit), detail=name)
    for name in ('net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'):
        sizes = _value(host, name)
        least, start, most = _triple(sizes)
        if most < limit:
            yield Problem(sizes, '{name} ends at {most}, under {limit}, with a link of {speed} Gbit/s', name=name, most=most, limit=limit, speed=speed // 1000, fix=sizes.set(f'{least} {start} {limit}'), detail=name)


@rule('congestion-control-missing', on='host', severity='warning', source='Linux net/ipv4/tcp_cong.c; net/ipv4/tcp_bbr.c')
def congestion_missing(host: Component) -> Iterator[Problem]:
    """A file asks for a congestion control that the kernel does not offer: the line has no effect, cubic runs.

    The module (tcp_bbr) must be loaded before sysctl runs: /etc/modules-load.d.
    """
    offered = str(_value(host, 'net.ipv4.tcp_available_congestion_control').value).split()
    live = _value(host, 'net.ipv4.tcp_congestion_control')
    for entry in host.peers('sysctl-file'):
        if entry.name == 'net.ipv4.tcp_congestion_control' and entry['value'].value not in offered:
            yield Problem(entry['value'], '{value} is not among what the kernel offers ({offered})', offered=', '.join(offered), see=[('in force', live)])


@rule('bbr-without-fq', on='host', severity='advice', side_effect='only devices created afterwards take it', source='Linux net/ipv4/tcp_bbr.c: without fq, TCP paces by timers of its own')
def bbr_without_fq(host: Component) -> Iterator[Problem]:
    """BBR paces its packets; without the fq queue it does so with a timer for each connection, which costs CPU."""
    control, queue = _value(host, 'net.ipv4.tcp_congestion_control'), _value(host, 'net.core.default_qdisc')
    if control.value != 'bbr':
        raise NotApplicable('another congestion control')
    if queue.value != 'fq':
        yield Problem(queue, 'default_qdisc is {value} with bbr', fix=queue.set('fq'))


@rule('tcp-forgets-after-pause', on='host', severity='advice', side_effect='a burst after a pause meets whatever the network has become', source=f'{IP_SYSCTL}, tcp_slow_start_after_idle; tuned profile network-throughput: 0')
def forgets_after_pause(host: Component) -> Iterator[Problem]:
    """After a pause a connection starts slowly again: the first large answer on a kept-alive connection takes extra round trips.

    Only said of a host that runs an inference engine itself, in its own network namespace: pods have a value of their own.
    """
    if not any(process['engine'].value for process in host.peers('host-process')) or host['is_node'].value:
        raise NotApplicable('no engine runs on the host itself')
    slow = _number(host, 'net.ipv4.tcp_slow_start_after_idle')
    if slow.value == 1:
        yield Problem(slow, 'tcp_slow_start_after_idle is {value}', fix=slow.set(0))


@rule('kernel-goes-on-after-oops', on='host', severity='advice', side_effect='the node reboots on a kernel fault', source='kubernetes component-helpers/node/util/sysctl: kernel.panic 10, panic_on_oops 1, vm.panic_on_oom 0')
def goes_on_after_oops(host: Component) -> Iterator[Problem]:
    """kubelet sets these at start (or refuses to, with protectKernelDefaults): another value was written after it."""
    _node(host)
    if any(kubelet['protect_kernel_defaults'].known_value for kubelet in host.peers('kubelet')):
        raise NotApplicable('kubelet-refuses-kernel-settings says it')
    for name, wanted in (('kernel.panic', 10), ('kernel.panic_on_oops', 1), ('vm.panic_on_oom', 0)):
        value = _number(host, name)
        if value.value != wanted:
            yield Problem(value, '{name} is {value}, and kubelet wants {wanted}', name=name, wanted=wanted, fix=value.set(wanted), detail=name)


@rule('pid-max-few-for-cpus', on='host', severity='warning', source='systemd sysctl.d/50-pid-max.conf: 4194304; Amazon EKS nodes: 4194304')
def pid_max_few(host: Component, *, cpus: int = 16, limit: int = 2**22) -> Iterator[Problem]:
    """A large host runs out of process and thread ids before it runs out of anything else."""
    most = _number(host, 'kernel.pid_max')
    if host['cpus'].value < cpus:
        raise NotApplicable(f'fewer than {cpus} CPUs')
    if most.value < limit:
        chosen = most.value not in (32768, 1024 * host['cpus'].value)  # Linux kernel/pid.c, pid_idr_init: the larger of both
        yield Problem(most, 'kernel.pid_max is {value} on {cpus} CPUs, under {limit}', cpus=host['cpus'].value, limit=limit, fix=most.set(limit), severity=None if chosen else 'advice')
