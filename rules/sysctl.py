"""Rules for kernel parameters on hosts: bounds from the table, and what a file says about itself."""

from collections.abc import Callable, Iterator

from configaudit.knowledge import sysctls
from configaudit.knowledge.sysctls import Bound
from configaudit.model import (
    Change,
    Component,
    Fix,
    NotApplicable,
    Problem,
    Rule,
    Setting,
    Severity,
    Slot,
    Unknown,
    rule,
)

RESERVED = 'net.ipv4.ip_local_reserved_ports'
PORT_RANGE = 'net.ipv4.ip_local_port_range'
KUBELET, NODE_PORTS = 10250, (30000, 32767)
"""What must be reserved; the other ports of Kubernetes answer on loopback or can wait."""


def _bounded(row: Bound) -> Rule:
    """The rule of one row."""

    def judge(entry: Component, *, limit: int = row.limit) -> Iterator[Problem]:
        _demand(entry, row.keys)
        if row.elsewhere == '' and not entry['node'].value:
            raise NotApplicable('nothing shows that this host is a Kubernetes node')
        value = _whole(entry['value'])
        if entry['form'].value == 'live' and row.rule in _BY_HOST:
            limit = _live_limit(row, entry.peer('host'), limit)
        if {'below': value < limit, 'is': value == limit, 'not': value != limit}[row.relation]:
            yield Problem(
                entry['value'],
                row.message + _reach(entry),
                limit=limit,
                fix=_remedy(row, entry, limit),
                severity=_severity(row, entry, value),
            )

    judge.__doc__ = row.why
    return rule(row.rule, on='sysctl', severity=row.severity, source=row.source, checklist=row.checklist or ())(judge)


def _reach(entry: Component) -> str:
    """Of a live value of a node: that pods do not get it, and where they do."""
    if entry['form'].value != 'live' or not entry['node'].value or entry.name not in sysctls.FRESH_IN_PODS:
        return ''
    leave = '' if entry.name in sysctls.SAFE_SINCE else ', with allowedUnsafeSysctls of the kubelet'
    return f' (on the host and with hostNetwork: any other pod starts from the default of the kernel, and is given its own by securityContext.sysctls{leave})'


def _live_limit(row: Bound, host: Component, limit: int) -> int:
    """The bound for a host of that size; without its size (a dump of sysctl) only what is low on any host counts."""
    if not host['memory_kib'].is_known and row.mild is not None:
        return min(limit, row.mild)
    return min(limit, _BY_HOST[row.rule](host))


def _conntrack_default(host: Component) -> int:
    """Linux net/netfilter/nf_conntrack_core.c, nf_conntrack_init_start: 262144 above 4 GiB, 65536 above 1 GiB."""
    memory = host['memory_kib'].value
    return 2**18 if memory > 4 * 2**20 else 2**16 if memory > 2**20 else memory // 64


_BY_HOST: dict[str, Callable[[Component], int]] = {
    # a tenth of the memory in KiB is the kernel's own choice; 0.8 allows for what was reserved at boot
    'sysctl-file-max-lowered': lambda host: int(host['memory_kib'].value / 10 * 0.8),
    # half of the hash table of connections, one entry for 128 KiB; the table is rounded down to a power of two
    'sysctl-tw-buckets-low': lambda host: int(host['memory_kib'].value / 128 / 4),
    'sysctl-conntrack-low': _conntrack_default,
}
"""The kernel's own choice on a host of that size: no live value is asked to be above it."""


def _demand(entry: Component, keys: tuple[str, ...]) -> None:
    """Only a value that takes effect is judged: of these keys, not set again below, and not one that a pod is refused."""
    if entry.name not in keys:
        raise NotApplicable(f'it is not one of {", ".join(keys)}')
    if entry['scope'].value == 'pod' and not entry.name.startswith('net.'):
        raise NotApplicable('a pod cannot set it')
    if entry.peers('hidden'):
        raise NotApplicable('its file is not in force: another one is')
    if entry['form'].value == 'file' and (_later(entry) or entry.peers('later')):
        raise NotApplicable('it is set again further down, or in a file that is read later')


def _later(entry: Component) -> list[Component]:
    """The assignments of the same key below this one."""
    return [
        other for other in entry.peers('sysctl') if other.name == entry.name and other.place.start > entry.place.start
    ]


def _whole(setting: Setting) -> int:
    """A parameter's value as a number."""
    if not isinstance(setting.value, int):
        raise Unknown(f'{setting.value!r} is not a whole number')
    return setting.value


def _remedy(row: Bound, entry: Component, limit: int) -> Fix | None:
    """Deleting needs a line of a file; a command can only be given a better value."""
    value = entry['value']
    if entry['form'].value == 'live' and row.live is not None:
        return value.set(max(row.live, limit) if row.relation == 'below' else row.live)
    if row.remedy == 'delete' and entry['form'].value == 'file':
        return value.remove(safe=row.rule == 'sysctl-tw-recycle', description='remove it: the default of the kernel holds again')
    if isinstance(row.remedy, int):
        return value.set(max(row.remedy, limit))
    return value.set(limit) if row.relation == 'below' else None


def _severity(row: Bound, entry: Component, value: int) -> Severity | None:
    if (row.mild is not None and value >= row.mild) or (entry['form'].value == 'live' and value in row.defaults):
        return 'advice'
    return row.elsewhere if row.elsewhere and not entry['node'].value else None


BOUNDED = [_bounded(row) for row in sysctls.BOUNDS]


def _ports(entry: Component) -> tuple[int, int]:
    """Both ends of a local port range."""
    _demand(entry, (PORT_RANGE,))
    words = str(entry['value'].value).split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise Unknown(f'{entry["value"].value!r} is not a pair of ports')
    return int(words[0]), int(words[1])


@rule(
    'sysctl-port-range-invalid',
    on='sysctl',
    severity='warning',
    source='Linux net/ipv4/sysctl_net_ipv4.c, ipv4_local_port_range: 1 to 65535, the first not above the second',
)
def port_range_invalid(entry: Component) -> Iterator[Problem]:
    """The kernel refuses a port range that is reversed or ends above 65535: the line has no effect."""
    low, high = _ports(entry)
    if not 1 <= low <= high <= 65535:
        fix = entry['value'].set(f'{max(low, 1)} 65535') if low < 65535 < high else None
        yield Problem(
            entry['value'], 'the kernel refuses {low} to {high}: the line has no effect', low=low, high=high, fix=fix
        )


@rule(
    'sysctl-port-range-narrow', on='sysctl', severity='warning',
    source='Linux Documentation/networking/ip-sysctl.rst, ip_local_port_range: default 32768 60999',
)  # fmt: skip
def port_range_narrow(entry: Component, *, limit: int = 16384) -> Iterator[Problem]:
    """A narrow port range runs out of local ports: new connections to one backend fail.

    The range bounds the connections from one address to one destination address and port, those in TIME_WAIT
    included. The kernel's own range has 28232 ports.
    """
    low, high = _ports(entry)
    count = high - low + 1
    if 0 < count < limit:
        wide = f'{min(low, 32768)} {max(high, 60999)}'
        yield Problem(
            entry['value'],
            '{low} to {high} are {count} ports, under {limit}',
            low=low,
            high=high,
            count=count,
            limit=limit,
            fix=entry['value'].set(wide),
        )


def _keeps(reserved: str, ports: tuple[int, int]) -> bool:
    """Whether a list such as '8080,9148-9200' has all of the ports."""
    spans = [part.partition('-') for part in reserved.replace(' ', '').split(',')]
    pairs = [(int(first), int(last or first)) for first, _, last in spans if first.isdigit() and (last or first).isdigit()]
    return any(low <= ports[0] and ports[1] <= high for low, high in pairs)


@rule(
    'sysctl-port-range-over-node-ports', on='sysctl', severity='warning',
    source='Kubernetes documentation, ports and protocols; Amazon EKS nodes reserve their ports the same way',
)  # fmt: skip
def port_range_over_node_ports(entry: Component) -> Iterator[Problem]:
    """An outgoing connection can sit on a port that kubelet, kube-proxy or a NodePort needs.

    kubelet then fails to restart with "address already in use". Keep the wide range and reserve the ports with
    net.ipv4.ip_local_reserved_ports. Only judged where the file shows that the host is a Kubernetes node. A range
    that meets only NodePorts is advice: recent kube-proxy versions do not open them.
    """
    if not entry['node'].value or entry['form'].value not in ('file', 'live'):
        raise NotApplicable('nothing shows that this host is a Kubernetes node')
    low, high = _ports(entry)
    met = [(first, last) for first, last in sysctls.KUBERNETES_PORTS if low <= last and first <= high]
    kept = [other['value'] for other in entry.peers('sysctl') if other.name == RESERVED]
    met = [pair for pair in met if not any(_keeps(str(value.value), NODE_PORTS if pair == NODE_PORTS else (KUBELET, KUBELET)) for value in kept)]
    if not met:
        return
    ports = ','.join(str(first) if first == last else f'{first}-{last}' for first, last in met)
    live = entry['form'].value == 'live' and kept
    slot = kept[-1].slot if live else Slot('sysctl', entry['value'].place, (RESERVED,))
    wanted = ','.join(str(part) for part in (kept[-1].value, ports) if str(part)) if live else ports
    written = live or (not kept and entry['form'].value == 'file' and (entry['value'].slot is None or entry['value'].slot.format == 'sysctl'))
    yield Problem(
        entry['value'], 'local ports {low} to {high} include {ports} of Kubernetes, and {reserved} does not keep them free',
        low=low, high=high, ports=ports, reserved=RESERVED, fix=Fix((Change(slot, wanted, RESERVED),)) if written else None,
        severity=None if len(met) > 1 else 'advice',
    )  # fmt: skip


@rule(
    'sysctl-swappiness-high',
    on='sysctl',
    severity='advice',
    source='Linux admin-guide/sysctl/vm.rst, swappiness: default 60; tuned profiles set 10',
)
def swappiness_high(entry: Component, *, limit: int = 60, swapping: int = 10) -> Iterator[Problem]:
    """A high swappiness moves memory of the service to disk to make room for page cache.

    Values from 100 on are meant for swap in memory (zram, zswap) and are not judged. On a live host that swaps to disk, more than
    `swapping` (what tuned's profiles set) is said; without such swap the value does nothing.
    """
    _demand(entry, ('vm.swappiness',))
    value = _whole(entry['value'])
    if entry['form'].value == 'live':
        if not any('zram' not in device for device, _ in entry.peer('host')['swaps'].value):
            raise NotApplicable('no swap on a disk')
        if swapping < value < 100:
            yield Problem(entry['value'], 'swappiness is {value} with swap on disk: memory of the service is paged out to keep files cached', limit=swapping, fix=entry['value'].set(swapping))
    elif limit < value < 100:
        yield Problem(
            entry['value'],
            'swappiness {value} is over the default of {limit}: with swap on disk, memory of the service is paged out sooner',
            limit=limit,
        )


@rule(
    'sysctl-duplicate', on='sysctl', severity='advice', source='sysctl.d(5), sysctl.conf(5): the later assignment wins'
)
def duplicate(entry: Component) -> Iterator[Problem]:
    """A key that is set twice in one file holds its last value: whoever edits the first line changes nothing."""
    if entry['form'].value != 'file':
        raise NotApplicable('a command runs in order')
    later = _later(entry)
    if later and later[-1]['value'].value != entry['value'].value:
        last = later[-1]['value']
        yield Problem(
            entry['value'], '{name} = {value} has no effect: it is set to {last} further down', name=entry.name, last=last.value,
            see=[('this one holds', last)], fix=entry['value'].remove(safe=True),
        )  # fmt: skip


@rule(
    'sysctl-not-reaching-pods', on='sysctl', severity='advice', confidence='medium',
    source='measured on Linux 6.18: value set on the host, read in a new network namespace; Kubernetes documentation, sysctl-cluster',
)  # fmt: skip
def not_reaching_pods(entry: Component) -> Iterator[Problem]:
    """A pod's network namespace starts from the kernel's defaults: these values of the host do not reach it.

    They hold for kubelet and for pods with hostNetwork. For a pod set securityContext.sysctls (some keys need
    allowedUnsafeSysctls of the kubelet). One finding for a file, at the first such key; only where the file shows
    that the host is a Kubernetes node.
    """
    if not entry['node'].value or entry['form'].value != 'file':
        raise NotApplicable('nothing shows that this host is a Kubernetes node')
    fresh = [other for other in entry.peers('sysctl') if other.name in sysctls.FRESH_IN_PODS]
    if fresh and fresh[0] is entry:
        others = len({other.name for other in fresh}) - 1
        more = f' (and {others} more here)' if others else ''
        yield Problem(
            entry['name'], '{value}{more} holds for the host and hostNetwork only: every other pod starts from the default of the kernel',
            more=more, see=[('the same', other['name']) for other in fresh[1:]],
        )  # fmt: skip
