"""What a running kubelet goes by: its configuration file, the drop-ins beside it, and its flags.

Source: Kubernetes documentation, kubelet-config-file: drop-ins are merged over the file by name, flags go before both.
"""

from collections.abc import Iterable, Sequence

from configaudit.extract.node.live import FORMAT, place_of_file, whole
from configaudit.extract.services.kubelet_flags import flag_setting, spoken_flags
from configaudit.host.reader import POD
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_kinds import KUBELET
from configaudit.model import Component, Setting, Slot

CONFIGURATIONS = ('/var/lib/kubelet/config.yaml', '/etc/kubernetes/kubelet/kubelet-config.json', '/etc/kubernetes/kubelet/config.json')
"""Where kubeadm and Amazon EKS keep the configuration."""


def settle_kubelet(snapshot: Snapshot, kubelets: Iterable[Component], processes: Iterable[Component]) -> None:
    """Give the one configuration file of a host what its drop-ins and the flags of the running kubelet say."""
    every = list(kubelets)
    mains = [kubelet for kubelet in every if not kubelet.partial]
    if len(mains) != 1:
        return
    for kubelet in sorted(every, key=lambda kubelet: kubelet.place.document.path):
        if kubelet.partial:
            mains[0].settings.update(kubelet.settings)
    running = [process for process in processes if process.name == 'kubelet']
    for process in running if len(running) == 1 else ():
        mains[0].settings.update(_spoken(snapshot, process))


def _spoken(snapshot: Snapshot, process: Component) -> dict[str, Setting]:
    """What the flags of a running kubelet set."""
    place = place_of_file(snapshot, f'{process.place.document.path.rpartition("/")[0]}/cmdline')
    flags = spoken_flags(str(process['words'].known_value or '').split())
    return {setting.name: setting for flag, value in flags if (setting := flag_setting(flag, value, place)) is not None}


def bare_kubelet(snapshot: Snapshot, kubelets: Iterable[Component], processes: Iterable[Component]) -> list[Component]:
    """The kubelet of a host on which no configuration file of it was read: its flags, and what it gave the pods."""
    running = [process for process in processes if process.name == 'kubelet']
    pods = [path for path in sorted(snapshot.files) if path.startswith('/sys/fs/cgroup/') and path.endswith('/pids.max') and POD.search(path)]
    hidden = next((f'{path}: {snapshot.unread[path]}' for path in CONFIGURATIONS if path in snapshot.unread), '')
    if any(not kubelet.partial for kubelet in kubelets) or len(running) > 1 or not (running or pods or hidden):
        return []
    words = str(running[0]['words'].known_value or '') if running else ''
    partial = hidden or ('' if words and '--config' not in words else 'its configuration file was not read')
    settings = _given(snapshot, pods) | (_spoken(snapshot, running[0]) if running else {})
    place = place_of_file(snapshot, f'{running[0].place.document.path.rpartition("/")[0]}/cmdline' if running else [*pods, CONFIGURATIONS[0]][0])
    return [Component(KUBELET, 'kubelet', 'live/kubelet', place, settings, partial=partial)]


def _given(snapshot: Snapshot, pods: Sequence[str]) -> dict[str, Setting]:
    """podPidsLimit as the control groups of the pods show it: the first without a limit, else the least."""
    limits = {path: whole(snapshot.text(path) or '') for path in pods}
    free = [path for path in pods if snapshot.text(path) == 'max']
    least = [path for path in sorted(pods, key=lambda path: limits[path] or 0) if limits[path]]
    if not free and not least:
        return {}
    path = (free or least)[0]
    place = place_of_file(snapshot, path)
    slot = Slot(FORMAT, place, ('kubelet', 'podPidsLimit'))
    return {'pod_pids_limit': Setting('pod_pids_limit', -1 if free else limits[path], place, 'default' if free else 'explicit', slot=slot)}
