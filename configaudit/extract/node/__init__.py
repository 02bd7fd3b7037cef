"""From a snapshot of a host to components: what is live there."""

from collections.abc import Iterable

from configaudit.extract.node.disks import disks
from configaudit.extract.node.gpus import gpus
from configaudit.extract.node.kubelet import bare_kubelet, settle_kubelet
from configaudit.extract.node.machine import machine
from configaudit.extract.node.processes import processes
from configaudit.extract.node.sysctls import sysctls
from configaudit.host.snapshot import Snapshot
from configaudit.model import Component, Peers

_SET_UP_BY = ('kubelet', 'container-runtime', 'io-scheduler', 'nofile-limit', 'unit', 'huge-page-mode')
"""Kinds of what stands in the files of a host."""


def live_components(snapshot: Snapshot, static: Iterable[Component] = ()) -> list[Component]:
    """The host, its parameters, disks and processes; all know their host, and the host knows them and what its files set up."""
    host = machine(snapshot)
    groups = {
        'sysctl': sysctls(snapshot, bool(host['is_node'].known_value)), 'block-device': disks(snapshot), 'host-process': processes(snapshot),
        'gpu': gpus(snapshot),
    }  # fmt: skip
    for kind, found in groups.items():
        for name in dict.fromkeys((kind, *(component.kind.name for component in found))):
            host.peer_map[name] = Peers.of([component for component in found if name in (kind, component.kind.name)], True)
        for component in found:
            component.peer_map['host'] = Peers.of([host], True)
    static = list(static)
    kubelets = [item for item in static if item.kind.name == 'kubelet']
    settle_kubelet(snapshot, kubelets, groups['host-process'])
    bare = bare_kubelet(snapshot, kubelets, groups['host-process'])
    static += bare
    for kind in _SET_UP_BY:
        host.peer_map[kind] = Peers.of([item for item in static if item.kind.name == kind], False, f'no {kind} configuration was read')
        for component in host.peer_map[kind]:
            component.peer_map['host'] = Peers.of([host], True)
    host.peer_map['sysctl-file'] = Peers.of([item for item in static if item.kind.name == 'sysctl'], True)
    for component in host.peer_map['sysctl-file']:
        component.peer_map['host'] = Peers.of([host], True)
    return [host, *bare, *(component for found in groups.values() for component in found)]
