"""What a running kubelet goes by: its configuration file, the drop-ins beside it, and its flags.

Source: Kubernetes documentation, kubelet-config-file: drop-ins are merged over the file by name, flags go before both.
"""

from collections.abc import Iterable

from configaudit.extract.node.live import place_of_file
from configaudit.extract.services.kubelet_flags import flag_setting, spoken_flags
from configaudit.host.snapshot import Snapshot
from configaudit.model import Component


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
        place = place_of_file(snapshot, f'{process.place.document.path.rpartition("/")[0]}/cmdline')
        for flag, value in spoken_flags(str(process['words'].known_value or '').split()):
            setting = flag_setting(flag, value, place)
            if setting is not None:
                mains[0].settings[setting.name] = setting
