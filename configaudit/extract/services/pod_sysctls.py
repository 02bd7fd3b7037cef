"""securityContext.sysctls of a pod. Source: Kubernetes API reference, PodSecurityContext."""

from typing import TYPE_CHECKING

from configaudit.model import Component, Peers, Slot
from configaudit.parse.tree import Map, get, maps, place_of

if TYPE_CHECKING:
    from configaudit.extract.carriers.pods import Owner


def pod_sysctls(owner: 'Owner', spec: Map, pod: Component) -> list[Component]:
    """One component for every parameter that the pod sets, each with what decides whether it is accepted."""
    if get(spec, 'securityContext', 'sysctls') is None:
        return []
    from configaudit.extract.services.sysctl import sysctl_component
    from configaudit.extract.words import word_of

    components = []
    for item in maps(spec, 'securityContext', 'sysctls'):
        name, value = word_of(owner.document, item.get('name')), word_of(owner.document, item.get('value'))
        if name is None or value is None or not name.known:
            continue
        slot = Slot('yaml_edit', place_of(owner.document, item['value']))
        component = sysctl_component(
            name.value.replace('/', '.'), value.value, value.place, name.place, f'{owner.identity}/sysctls',
            form='pod', scope='pod', node=True, slot=slot if value.pure else None, reason=value.reason,
        )  # fmt: skip
        component.settings['host_network'] = pod['host_network']
        component.settings['host_ipc'] = pod['host_ipc']
        component.scope = owner.namespace
        components.append(component)
    every = Peers.of(components, not pod.partial)
    for component in components:
        component.peer_map.update(sysctl=every, pod=Peers.of([pod], True))
    return components
