"""Kernel parameters as they are in force. Source: Linux Documentation/admin-guide/sysctl, networking/ip-sysctl.rst."""

from configaudit.extract.node.live import FORMAT, place_of_file, whole
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.host_kinds import SYSCTL
from configaudit.model import Component, Peers, Setting, Slot

_ROOT = '/proc/sys/'


def sysctls(snapshot: Snapshot, node: bool) -> list[Component]:
    """One component for every parameter that was read; all are each other's peers."""
    found = [_parameter(snapshot, path, node) for path in sorted(snapshot.files) if path.startswith(_ROOT)]
    every = Peers.of(found, True)
    for component in found:
        component.peer_map['sysctl'] = every
    return found


def _parameter(snapshot: Snapshot, path: str, node: bool) -> Component:
    name = path.removeprefix(_ROOT).replace('/', '.')
    words = ' '.join((snapshot.text(path) or '').split())
    number = whole(words)
    place = place_of_file(snapshot, path)
    reason = foreign(snapshot, name)
    settings = {
        'name': Setting('name', name, place),
        'value': Setting('value', None if reason else words if number is None else number, place, reason=reason, slot=Slot(FORMAT, place, ('sysctl', name))),
        'scope': Setting('scope', 'host', place),
        'form': Setting('form', 'live', place),
        'node': Setting('node', node, place),
    }
    return Component(SYSCTL, name, f'live/{name}', place, settings)


def foreign(snapshot: Snapshot, name: str) -> str:
    """Why a parameter that was read is not the host's own, or ''."""
    if name.startswith('net.') and snapshot.facts.get('netns') == 'other':
        return 'wrong namespace: it was read in the network namespace of a container (hostNetwork: true shows the host)'
    if name == 'kernel.pid_max' and snapshot.facts.get('pidns') == 'other':
        return 'wrong namespace: it was read in the process namespace of a container (hostPID: true shows the host)'
    return ''
