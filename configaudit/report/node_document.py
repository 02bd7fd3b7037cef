"""A node's audit as one JSON value: the contract of every audit, and what tells nodes apart."""

from typing import Any

from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.sysctls import BOUNDS
from configaudit.model import Component
from configaudit.outcomes import outcomes
from configaudit.redact import redact
from configaudit.report.document import document
from configaudit.result import Result

COMPARED = frozenset(key for bound in BOUNDS for key in bound.keys) | {
    'vm.swappiness', 'kernel.numa_balancing', 'net.ipv4.tcp_retries2', 'net.ipv4.tcp_congestion_control', 'net.core.default_qdisc', 'net.core.rmem_max',
    'net.core.wmem_max', 'net.ipv4.ip_local_port_range', 'net.core.netdev_max_backlog', 'kernel.panic', 'kernel.panic_on_oops', 'vm.panic_on_oom',
    'net.ipv4.tcp_slow_start_after_idle', 'net.ipv4.tcp_tw_reuse', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.ip_local_reserved_ports',
}  # fmt: skip
"""Kernel parameters whose values a fleet is compared by."""
_HOST = ('kernel', 'cpus', 'numa_nodes', 'memory_kib', 'cgroup_version', 'thp_enabled', 'thp_defrag', 'clocksource', 'gpus')


def node_document(result: Result, snapshot: Snapshot) -> dict[str, Any]:
    """The report of one node: findings and gaps without the list of components, with outcomes and values."""
    whole = document(result)
    del whole['components']
    facts = snapshot.facts
    return {
        **whole,
        'node': {name: facts.get(name, '') for name in ('name', 'taken', 'kind', 'netns', 'pidns', 'tool')},
        'outcomes': {item.rule.id: item.word for item in outcomes(result)},
        'values': compared(result),
    }  # fmt: skip


def compared(result: Result) -> dict[str, str]:
    """What tells this node from others: values by name."""
    return {name: redact(value) for name, value in sorted(pair for component in result.components for pair in _values(component))}


def _values(component: Component) -> list[tuple[str, str]]:
    kind = component.kind.name
    if kind == 'sysctl' and component.name in COMPARED and component['form'].known_value == 'live':
        return [(component.name, str(component['value'].known_value))] if component['value'].is_known else []
    if kind == 'host':
        return [(f'host.{name}', str(component[name].known_value)) for name in _HOST if component[name].is_known]
    if kind == 'block-device' and component['scheduler'].is_known:
        return [(f'scheduler.{component.name}', str(component['scheduler'].known_value))]
    if kind == 'gpu-driver' and component['version'].is_known:
        return [('gpu.driver', str(component['version'].known_value))]
    return []
