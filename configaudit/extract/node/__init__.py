"""From a snapshot of a host to components: what is live there."""

from configaudit.extract.node.disks import disks
from configaudit.extract.node.machine import machine
from configaudit.extract.node.processes import processes
from configaudit.extract.node.sysctls import sysctls
from configaudit.host.snapshot import Snapshot
from configaudit.model import Component, Peers


def live_components(snapshot: Snapshot) -> list[Component]:
    """The host, its parameters, disks and processes; all know their host, and the host knows them."""
    host = machine(snapshot)
    groups = {
        'sysctl': sysctls(snapshot, bool(host['is_node'].known_value)), 'block-device': disks(snapshot), 'host-process': processes(snapshot),
    }  # fmt: skip
    for kind, found in groups.items():
        host.peer_map[kind] = Peers.of(found, True)
        for component in found:
            component.peer_map['host'] = Peers.of([host], True)
    return [host, *(component for found in groups.values() for component in found)]
