"""Monitors of the Prometheus Operator to the pods that they have scraped."""

from collections.abc import Iterable, Mapping

from configaudit.context import Context
from configaudit.link import contains, nearest
from configaudit.model import Component, Peers


def link_monitors(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Give pods the monitors that select them, by their own labels or through a Service. Runs after pods have their Services."""
    found: dict[Component, list[Component]] = {}
    for monitor in by_kind.get('monitor', ()):
        through_services = monitor['object_kind'].known_value == 'ServiceMonitor'
        chosen = _selected(monitor, by_kind.get('service' if through_services else 'pod', ()))
        pods = [pod for service in chosen for pod in service.peers('pod')] if through_services else chosen
        for pod in dict.fromkeys(pods):
            found.setdefault(pod, []).append(monitor)
    for pod, monitors in found.items():
        pod.peer_map['monitor'] = Peers.of(monitors, context.complete)


def _selected(monitor: Component, others: Iterable[Component]) -> list[Component]:
    """The Services or pods that a monitor selects; of those in several folders the nearest."""
    selector = monitor['selector'].known_value
    return nearest(monitor, [other for other in others if contains(other['labels'].known_value, selector) and _in_reach(monitor, other)])


def _in_reach(monitor: Component, other: Component) -> bool:
    """Whether the monitor looks into the namespace of a Service or pod."""
    names = monitor['namespaces'].known_value
    return bool(monitor['any_namespace'].known_value) or (isinstance(names, list) and other.scope in names) or monitor.scope == other.scope
