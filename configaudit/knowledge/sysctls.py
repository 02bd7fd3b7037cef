"""Kernel parameters: bounds that a value must keep, and where a value takes effect. Figures stand with their source."""

from typing import Literal, NamedTuple

from configaudit.model import Severity

SYSCTL_DOC = 'Linux Documentation/admin-guide/sysctl'
IP_SYSCTL = 'Linux Documentation/networking/ip-sysctl.rst'


class Bound(NamedTuple):
    """A bound on one parameter: every row is a rule."""

    rule: str
    keys: tuple[str, ...]
    limit: int
    severity: Severity
    message: str
    """`{value}` and `{limit}` are filled in."""
    why: str
    source: str
    relation: Literal['below', 'is', 'not'] = 'below'
    """What is wrong: a value below the limit, exactly it, or any other."""
    mild: int | None = None
    """Values from here on are only advice."""
    elsewhere: Severity | Literal[''] | None = None
    """The severity on a host that shows no sign of Kubernetes; '': no finding there, None: the same."""
    remedy: int | Literal['delete'] | None = None
    """The value to write; 'delete': take the line out, so that the kernel's own default holds."""
    checklist: str = ''
    live: int | None = None
    """The value for a running host, where the remedy of a file is to take its line out."""
    defaults: tuple[int, ...] = ()
    """What the kernel starts with: a live value of these was chosen by nobody, so that it is advice."""


BOUNDS: tuple[Bound, ...] = (
    Bound(
        'sysctl-file-max-lowered', ('fs.file-max',), 2**21, 'warning',
        '{value} open files for all processes of the host together is under {limit} and lowers the default (systemd since '
        '240: no limit); the limit of one service is its RLIMIT_NOFILE',
        """A low fs.file-max lets one process use up the open files of the whole node.

        fs.file-max counts the open files of all processes together. The kernel starts with a tenth of the memory
        (in KiB), systemd since 240 raises that to 2^63-1: 65536 lowers it on every host with more than 640 MiB. One
        process at systemd's hard limit of 524288 then takes all, and others get ENFILE. "Too many open files"
        (EMFILE) comes from RLIMIT_NOFILE, which the container runtime sets (LimitNOFILE of its unit,
        base_runtime_spec, default-ulimits). Values from 524288 on are advice.

        When it is wrong: on a host of a few hundred MiB whose kernel default is lower still.

        Evidence: with 65536 and three processes that hold 20000 files each, the fourth got ENFILE after 4651.""",
        'Linux fs/file_table.c files_maxfiles_init; systemd NEWS 240; NCCL troubleshooting (raise to 2097152)',
        mild=2**19, remedy='delete', checklist='july-10',
        live=2**21,
    ),
    Bound(
        'sysctl-nr-open-low', ('fs.nr_open',), 2**20, 'warning',
        'fs.nr_open {value} is under the kernel default of {limit}: a container that asks for more open files does not '
        'start, and a unit gets fewer than it asks for',
        """fs.nr_open is the ceiling of every RLIMIT_NOFILE: below its default, containers fail to start.

        A container with such a ulimit is refused (EPERM); systemd gives a unit with LimitNOFILE=1048576 what it can.""",
        f'{SYSCTL_DOC}/fs.rst: default 1024*1024', remedy='delete', checklist='july-10',
        live=2**20,
    ),
    Bound(
        'sysctl-tw-recycle', ('net.ipv4.tcp_tw_recycle',), 0, 'error',
        'tcp_tw_recycle was removed in Linux 4.12 (sysctl reports an unknown key), and {value} drops clients behind NAT '
        'on the kernels before',
        """tcp_tw_recycle drops connections of clients behind NAT, and is an unknown key since Linux 4.12.

        It compared timestamps per remote address: clients behind one NAT have different clocks, so their SYNs were
        dropped. Many connections in TIME_WAIT are cured by connection reuse, then by tcp_tw_reuse on the client.""",
        'Linux 4.12 removal of tcp_tw_recycle (commit 4396e46187ca)', relation='not', remedy='delete',
        live=0,
    ),
    Bound(
        'sysctl-tw-reuse-everywhere', ('net.ipv4.tcp_tw_reuse',), 1, 'advice',
        'tcp_tw_reuse {value} reuses ports in TIME_WAIT toward every destination; the default of 2 does so for loopback only',
        """Reusing ports in TIME_WAIT trusts the timestamps of every peer: the kernel's documentation says to ask an expert first.

        On a Kubernetes node, the only host that is judged, it holds for the host and for pods with hostNetwork. Many connections in TIME_WAIT are cured by
        keeping connections open, then by a wider port range in the pod.

        When it is wrong: a proxy that was measured to run out of ports.""",
        f'{IP_SYSCTL}, tcp_tw_reuse: default 2 since Linux 4.19', relation='is', elsewhere='', remedy='delete', live=2,
    ),
    Bound(
        'sysctl-pid-max-low', ('kernel.pid_max',), 65535, 'warning',
        '{value} process ids for the whole host are under {limit} (systemd sets 4194304 on 64 bit)',
        """A low kernel.pid_max runs out of process and thread ids: fork and thread creation fail.

        Every thread takes an id; an inference server with tokenizer pools, NCCL and OpenMP threads has hundreds.""",
        'systemd sysctl.d/50-pid-max.conf; Linux kernel/pid.c: max(32768, 1024 * CPUs)', remedy=4194304,
        defaults=(32768,),
    ),
    Bound(
        'sysctl-somaxconn-low', ('net.core.somaxconn',), 4096, 'warning',
        'somaxconn {value} is under {limit}, the default since Linux 5.4: it cuts every listen backlog down to that',
        """A short accept queue drops connections in bursts, whatever backlog the server asks for.

        The backlog of listen() is cut to net.core.somaxconn. 4096 is the default since Linux 5.4, so a smaller
        explicit value shortens the queue. The server's own backlog must be as long. From 1024 on it is advice.""",
        f'{IP_SYSCTL}, somaxconn: default 4096, 128 before 5.4', mild=1024,
        defaults=(128,),
    ),
    Bound(
        'sysctl-syncookies-off', ('net.ipv4.tcp_syncookies',), 0, 'warning',
        'tcp_syncookies {value}: when the SYN queue overflows, new connections are dropped instead of answered',
        """Without SYN cookies a SYN flood or a burst that fills the SYN queue locks new clients out.

        Cookies are only sent when the queue overflows; 1 is the default.""",
        f'{IP_SYSCTL}, tcp_syncookies: default 1', relation='is', remedy=1,
    ),
    Bound(
        'sysctl-tw-buckets-low', ('net.ipv4.tcp_max_tw_buckets',), 32768, 'warning',
        'tcp_max_tw_buckets {value} is under {limit}, what a host with 8 GiB starts with: surplus TIME_WAIT sockets are '
        'destroyed at once',
        """Too few TIME_WAIT buckets destroy sockets early: late segments then hit new connections.

        The limit exists against denial of service only; the kernel documentation says not to lower it. The default
        is half of the connection hash table, which has one entry for every 128 KiB of memory.""",
        f'{IP_SYSCTL}, tcp_max_tw_buckets; Linux net/ipv4/tcp.c tcp_init', remedy='delete',
        live=32768,
    ),
    Bound(
        'sysctl-overcommit-never', ('vm.overcommit_memory',), 2, 'warning',
        'overcommit_memory {value} refuses memory that is only reserved: kubelet wants 1, and CUDA reserves far more '
        'address space than it uses',
        """With strict accounting, processes that reserve a large address space get ENOMEM with free memory left.

        kubelet sets (or, with protectKernelDefaults, demands) 1. CUDA, Go and Java reserve address space by the
        gigabyte. On a host without a sign of Kubernetes it is advice.

        When it is wrong: a host for PostgreSQL alone, where its documentation proposes 2.""",
        'kubernetes component-helpers/node/util/sysctl; Redis --check-system', relation='is', elsewhere='advice',
        remedy='delete',
        live=1,
    ),
    Bound(
        'sysctl-zone-reclaim', ('vm.zone_reclaim_mode',), 0, 'advice',
        'zone_reclaim_mode {value} drops page cache before it uses memory of the other NUMA node',
        """Zone reclaim stalls allocations to keep them on one NUMA node, and throws the page cache away.

        Model files and container layers live in the page cache; 0 is the default.

        When it is wrong: a job that is split over NUMA nodes by hand, as high-performance computing profiles do.""",
        f'{SYSCTL_DOC}/vm.rst, zone_reclaim_mode', relation='not', remedy='delete',
        live=0,
    ),
    Bound(
        'sysctl-max-map-count-low', ('vm.max_map_count',), 262144, 'warning',
        'max_map_count {value} is under {limit}: mmap fails in processes with many mappings',
        """A process that maps many files or regions gets ENOMEM from mmap.

        Elasticsearch refuses to start below 262144; allocators of large inference processes and memory-mapped
        weights use many maps too. From the kernel default of 65530 on it is advice.""",
        'Elasticsearch bootstrap checks; OpenShift and Amazon EKS nodes (262144, 524288)', mild=65530,
        defaults=(65530,),
    ),
    Bound(
        'sysctl-inotify-instances-low', ('fs.inotify.max_user_instances',), 512, 'warning',
        '{value} inotify instances per user are under {limit}: on a node all containers of one user share them',
        """Too few inotify instances: kubelet, log shippers and config watchers fail with "too many open files".

        The count is per user, and most containers run as the same few users. On a host without a sign of
        Kubernetes it is advice.""",
        'Linux fs/notify/inotify: default 128; Amazon EKS and Bottlerocket nodes: 8192', elsewhere='advice',
        remedy=8192,
        defaults=(128,),
    ),
    Bound(
        'sysctl-inotify-watches-low', ('fs.inotify.max_user_watches',), 65536, 'advice',
        '{value} inotify watches per user are under {limit}, what OpenShift nodes have',
        """Too few inotify watches: file watchers miss changes or fail with "no space left on device".

        The kernel default is 1 % of the memory in KiB, between 8192 and 1048576: a small explicit value lowers it.""",
        'Linux fs/notify/inotify/inotify_user.c; OpenShift node profile 65536, Amazon EKS 524288', remedy=524288,
    ),
    Bound(
        'sysctl-conntrack-low', ('net.netfilter.nf_conntrack_max', 'net.nf_conntrack_max'), 131072, 'warning',
        'room for {value} tracked connections is under {limit}: a full table drops the packets of new connections',
        """When the connection tracking table is full, the node drops new connections of every pod.

        kube-proxy sets 32768 per core and at least 131072; the kernel starts with 262144 above 4 GiB of memory.
        kube-proxy may overwrite a value from a file. On a host without a sign of Kubernetes it is advice.""",
        'kube-proxy conntrack defaults; Linux nf_conntrack_core.c', elsewhere='advice', remedy=262144,
        defaults=(65536, 32768, 16384),
    ),
    Bound(
        'sysctl-arp-thresholds-low', ('net.ipv4.neigh.default.gc_thresh3', 'net.ipv6.neigh.default.gc_thresh3'), 4096,
        'warning',
        'a neighbour table of {value} entries is under {limit}: with more pods and nodes than that in reach, packets '
        'are lost',
        """A full neighbour (ARP) table loses packets to peers that are not in it: "neighbour table overflow".

        Every pod and node in reach of layer 2 takes an entry. 1024 is the default. Only judged where the file shows
        that the host is a Kubernetes node; above 1024 it is advice.

        When it is wrong: an overlay network, where a node sees only its own pods.""",
        'Azure AKS nodes: 4096/8192/16384; OpenShift nodes: 8192/32768/65536', mild=1025, elsewhere='', remedy=16384,
        defaults=(1024,),
    ),
    Bound(
        'sysctl-tcp-retries2-low', ('net.ipv4.tcp_retries2',), 8, 'warning',
        'tcp_retries2 {value} gives a connection up before the 100 s that RFC 1122 asks for ({limit} retries)',
        """Too few retransmissions cut connections in an ordinary network disturbance.

        8 is the least that RFC 1122 allows (at least 100 s); the default of 15 is about 15 minutes.""",
        f'{IP_SYSCTL}, tcp_retries2; RFC 1122, 4.2.3.5',
    ),
)  # fmt: skip

SAFE_SINCE: dict[str, str] = {
    'kernel.shm_rmid_forced': '', 'net.ipv4.ip_local_port_range': '', 'net.ipv4.tcp_syncookies': '',
    'net.ipv4.ping_group_range': '1.18', 'net.ipv4.ip_unprivileged_port_start': '1.22',
    'net.ipv4.ip_local_reserved_ports': '1.27', 'net.ipv4.tcp_keepalive_time': '1.29',
    'net.ipv4.tcp_keepalive_intvl': '1.29', 'net.ipv4.tcp_keepalive_probes': '1.29', 'net.ipv4.tcp_fin_timeout': '1.29',
    'net.ipv4.tcp_rmem': '1.32', 'net.ipv4.tcp_wmem': '1.32',
    'net.ipv4.tcp_slow_start_after_idle': '1.37', 'net.ipv4.tcp_notsent_lowat': '1.37',
}  # fmt: skip
"""Parameters a pod may set without the kubelet's leave, and since which minor version ('' : always).

Source: Kubernetes documentation, tasks/administer-cluster/sysctl-cluster, safe and unsafe sysctls.
"""
NEW_AS_SAFE = '1.37'
"""A parameter safe only from this version on is not safe on most clusters yet."""

POD_PREFIXES: dict[str, str] = {
    'net.': 'network',
    'kernel.shm': 'ipc',
    'kernel.msg': 'ipc',
    'kernel.sem': 'ipc',
    'fs.mqueue.': 'ipc',
}
"""What the kubelet takes for a pod at all, by namespace. Source: kubernetes component-helpers/node/util/sysctl/namespace.go."""

NODE_WIDE_NET: frozenset[str] = frozenset((
    'net.core.rmem_max', 'net.core.wmem_max', 'net.core.rmem_default', 'net.core.wmem_default',
    'net.core.netdev_max_backlog', 'net.core.default_qdisc', 'net.core.busy_poll', 'net.core.netdev_budget',
    'net.ipv4.tcp_mem', 'net.ipv4.tcp_max_orphans', 'net.ipv4.neigh.default.gc_thresh1',
    'net.ipv4.neigh.default.gc_thresh2', 'net.ipv4.neigh.default.gc_thresh3', 'net.netfilter.nf_conntrack_max',
))  # fmt: skip
"""net.* parameters that do not exist in a pod's network namespace or are read-only there (measured on Linux 6.18)."""

FRESH_IN_PODS: frozenset[str] = frozenset((
    'net.core.somaxconn', 'net.core.optmem_max', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_keepalive_intvl',
    'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_fin_timeout', 'net.ipv4.ip_local_port_range',
    'net.ipv4.ip_unprivileged_port_start', 'net.ipv4.ping_group_range', 'net.ipv4.tcp_syncookies',
    'net.ipv4.tcp_slow_start_after_idle', 'net.ipv4.tcp_notsent_lowat', 'net.ipv4.tcp_retries2', 'net.ipv4.tcp_tw_reuse',
    'net.ipv4.tcp_max_tw_buckets', 'net.ipv4.tcp_max_syn_backlog', 'net.ipv4.tcp_mtu_probing', 'net.ipv4.tcp_fastopen',
    'net.ipv4.tcp_ecn',
))  # fmt: skip
"""Parameters that start from the kernel's default in every new network namespace (measured on Linux 6.18)."""

KUBERNETES_PORTS: tuple[tuple[int, int], ...] = ((10248, 10250), (10256, 10256), (30000, 32767))
"""kubelet, kube-proxy and NodePorts. Source: Kubernetes documentation, reference/networking/ports-and-protocols."""
