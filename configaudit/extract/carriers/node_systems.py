"""Nodes that are one configuration: Talos, GKE and AKS node pools (YAML, JSON), Bottlerocket (TOML).

Sources: Talos v1alpha1 configuration reference; AKS documentation, custom node configuration (linuxOSConfig); GKE documentation, node system configuration (linuxConfig, kubeletConfig); Bottlerocket settings reference (settings.kernel, .boot, .kubernetes, .oci-defaults).
"""

import math
from typing import Any

from configaudit import units
from configaudit.extract.carriers.node_objects import kubelet_part
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.services.boot import boot_parameter, boot_parameters
from configaudit.extract.services.sysctl import sysctl_component
from configaudit.extract.services.udev import scheduler_component
from configaudit.extract.words import word_of
from configaudit.knowledge.host_kinds import CONTAINER_RUNTIME
from configaudit.knowledge.node_kinds import KUBELET
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse import toml
from configaudit.parse.sysctl import normalised
from configaudit.parse.tree import Map, get, key_place, mapping, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document, Place

_SCHEDULER = regex(r'block\.(?P<device>[^.]+)\.queue\.scheduler')
_MERGED = 'merged over the configuration that Bottlerocket gives its nodes'
_KUBELET = {
    ('eviction-hard',): 'eviction_hard', ('allowed-unsafe-sysctls',): 'unsafe_sysctls', ('pod-pids-limit',): 'pod_pids_limit',
    ('cpu-manager-policy',): 'cpu_manager_policy', ('topology-manager-policy',): 'topology_manager_policy',
    ('image-gc-high-threshold-percent',): 'image_gc_high', ('reserved-cpus',): 'reserved_cpus',
}  # fmt: skip
AKS = {key.replace('.', '').replace('_', '').replace('-', ''): key for key in (
    'fs.aio-max-nr', 'fs.file-max', 'fs.inotify.max_user_watches', 'fs.nr_open', 'kernel.threads-max', 'net.core.netdev_max_backlog', 'net.core.optmem_max',
    'net.core.rmem_default', 'net.core.rmem_max', 'net.core.somaxconn', 'net.core.wmem_default', 'net.core.wmem_max', 'net.ipv4.ip_local_port_range',
    'net.ipv4.neigh.default.gc_thresh1', 'net.ipv4.neigh.default.gc_thresh2', 'net.ipv4.neigh.default.gc_thresh3', 'net.ipv4.tcp_fin_timeout',
    'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_max_syn_backlog',
    'net.ipv4.tcp_max_tw_buckets', 'net.netfilter.nf_conntrack_buckets', 'net.netfilter.nf_conntrack_max', 'vm.max_map_count', 'vm.swappiness',
    'vm.vfs_cache_pressure',
)}  # fmt: skip
"""Azure's name in small letters -> parameter. Source: AKS documentation, custom node configuration, linuxOSConfig.sysctls."""
_NUMBERS = ('pod_pids_limit', 'image_gc_high')


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """A machine configuration of Talos or a patch of one, or the system configuration of a GKE node pool."""
    reading = nothing()
    machine = mapping(root, 'machine') or root
    owner = document.called.rpartition('/')[2]
    for values in filter(None, (mapping(root, 'machine', 'sysctls'), mapping(root, 'linuxConfig', 'sysctl'))):
        reading.components.extend(_linked([_mapped(document, values, name, owner) for name in values]))
    for name, node in (mapping(machine, 'sysfs') or {}).items():
        match, word = _SCHEDULER.fullmatch(name), word_of(document, node)
        if match and word is not None and word.known:
            reading.components.append(scheduler_component(word.value, match['device'], word.place, owner, Slot('yaml_edit', place_of(document, node))))
    reading.components.extend(aks_sysctls(document, root, owner))
    for keys in (('kubelet', 'extraConfig'), ('kubeletConfig',)):
        reading.components.extend(kubelet_part(Owner(document, 'machine', '', owner), machine, *keys))
    reading.components.extend(boot_parameters(document, get(machine, 'install', 'extraKernelArgs'), owner, node_of_cluster=True))
    for file in maps(machine, 'files'):
        path, word = text(file, 'path'), word_of(document, get(file, 'content'))
        if path and word is not None:
            reading.nested.append(Nested(path, word))
    return reading


def aks_sysctls(document: Document, root: Map, owner: str) -> list[Component]:
    """The kernel parameters of a Linux configuration of Azure's node pools, whose names are in camel case there."""
    values = mapping(root, 'sysctls')
    known = [(name, AKS[name.lower()]) for name in values or () if name.lower() in AKS]
    return _linked([_mapped(document, values, name, owner, key) for name, key in known]) if values is not None else []


def _mapped(document: Document, values: Map, name: str, owner: str, key: str = '') -> Component:
    """A kernel parameter that is a key of a mapping."""
    word, place = word_of(document, values[name]), place_of(document, values[name])
    value, reason = (word.value, word.reason) if word is not None else ('', 'a list or mapping is no value')
    return sysctl_component(
        key or normalised(name), value, word.place if word is not None else place, key_place(document, values, name), owner, node=True,
        slot=Slot('yaml_edit', place), reason=reason,
    )  # fmt: skip


def _linked(components: list[Component]) -> list[Component]:
    every = Peers.of(components, True)
    for component in components:
        component.peer_map['sysctl'] = every
    return components


def read(document: Document) -> Reading:
    """User data of Bottlerocket."""
    owner = document.called.rpartition('/')[2]
    kernel: list[Component] = []
    reading = nothing()
    kubelet: dict[str, Setting] = {}
    limits: dict[str, Setting] = {}
    for entry in toml.read(document.text).entries:
        below = entry.path[1:] if entry.path[:1] == ('settings',) else ()
        quoted = document.text[entry.start : entry.start + 1] in ('"', "'")
        place = Place(document, entry.start + quoted, entry.end - quoted)
        name = Place(document, entry.key_start, entry.start)
        if below[:2] == ('kernel', 'sysctl') and len(below) == 3:
            kernel.append(sysctl_component(normalised(below[2]), str(entry.value), place, _key(name), owner, node=True, slot=Slot('toml', place)))
        elif below[:2] == ('boot', 'kernel-parameters'):
            value = ','.join(map(str, entry.value)) if isinstance(entry.value, list) else str(entry.value)
            reading.components.append(boot_parameter(below[2], value, place, owner, True))
        elif below[:1] == ('kubernetes',):
            _kubelet(kubelet, below[1:], entry.value, place)
        elif below[:3] == ('oci-defaults', 'resource-limits', 'max-open-files'):
            _limit(limits, below[3:], entry.value, place)
    reading.components.extend(_linked(kernel))
    for kind, settings in ((KUBELET, kubelet), (CONTAINER_RUNTIME, limits)):
        if settings:
            first = next(iter(settings.values())).place
            reading.components.append(Component(kind, owner, f'bottlerocket/{owner}', first, settings, partial=_MERGED))
    return reading


def _key(place: Place) -> Place:
    """The key alone, of a place that ends where the value begins."""
    return place.part(0, len(place.text.rpartition('=')[0].rstrip()))


def _kubelet(settings: dict[str, Setting], path: tuple[str, ...], value: Any, place: Place) -> None:
    """A setting of the kubelet; the thresholds of eviction-hard and the reserved resources stand in tables of their own."""
    if path[:1] == ('eviction-hard',) and len(path) == 2:
        held = settings.get('eviction_hard')
        known = held.known_value if held is not None and isinstance(held.known_value, dict) else {}
        settings['eviction_hard'] = Setting('eviction_hard', {**known, path[1]: value}, held.place if held is not None else place)
    elif path[:1] in (('kube-reserved',), ('system-reserved',)):
        name = path[0].replace('-', '_')
        settings.setdefault(name, Setting(name, {path[-1]: value}, place))
    elif path in _KUBELET:
        name = _KUBELET[path]
        settings[name] = Setting(name, units.integer(value) if name in _NUMBERS else value, place, slot=Slot('toml', place))


def _limit(settings: dict[str, Setting], path: tuple[str, ...], value: Any, place: Place) -> None:
    """Soft and hard limit of open files; -1 and `unlimited` are none."""
    name = {'soft-limit': 'nofile_soft', 'hard-limit': 'nofile_hard'}.get('.'.join(path))
    count = math.inf if value in (-1, 'unlimited') else units.integer(value)
    if name:
        settings['daemon'] = Setting('daemon', 'bottlerocket', place)
        settings[name] = Setting(name, count, place, reason='' if count is not None else f'{value!r} is not a number', slot=Slot('toml', place))
