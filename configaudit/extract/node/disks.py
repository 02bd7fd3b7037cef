"""Block devices with their live queues. Sources: Linux Documentation/block/queue-sysfs.rst; block/elevator.c elv_iosched_show."""

from configaudit.extract.node.live import live_setting, place_of_file, whole
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_kinds import BLOCK_DEVICE
from configaudit.model import Component, Setting

_FOLDER = '/sys/block/'
_NOT_DISKS = ('loop', 'ram', 'zram', 'sr', 'fd', 'nbd')
_STACKED = ('dm-', 'md')
_TRANSPORTS = (('nvme', 'nvme'), ('vd', 'virtio'), ('xvd', 'xen'), ('sd', 'scsi'), ('mmcblk', 'mmc'))


def disks(snapshot: Snapshot) -> list[Component]:
    """Every disk that holds data: none that is virtual memory, removable, empty, or a hidden path of a multipath head."""
    return [_disk(snapshot, name) for name in snapshot.names('/sys/block') if _is_disk(snapshot, name)]


def _is_disk(snapshot: Snapshot, name: str) -> bool:
    folder = _FOLDER + name
    if name.startswith(_NOT_DISKS) or snapshot.text(f'{folder}/hidden') == '1' or snapshot.text(f'{folder}/removable') == '1':
        return False
    return snapshot.text(f'{folder}/size') != '0' and snapshot.has(f'{folder}/queue')


def _disk(snapshot: Snapshot, name: str) -> Component:
    folder = _FOLDER + name
    below = tuple(_below(snapshot, name))
    owner = _with_queue(snapshot, name, below)
    scheduler = f'{_FOLDER}{owner}/queue/scheduler'
    place = place_of_file(snapshot, scheduler)
    queues = len(snapshot.names(f'{_FOLDER}{owner}/mq'))
    settings = {
        'scheduler': live_setting(snapshot, 'scheduler', scheduler, in_force, target=('scheduler', owner), absent='the device has no scheduler of its own'),
        'schedulers': Setting('schedulers', tuple((snapshot.text(scheduler) or '').replace('[', '').replace(']', '').split()), place),
        'queues': Setting('queues', queues or None, place, reason='' if queues else f'{folder}/mq was not read'),
        'rotational': live_setting(snapshot, 'rotational', f'{folder}/queue/rotational', {'0': False, '1': True}.get),
        'read_ahead_kb': live_setting(snapshot, 'read_ahead_kb', f'{folder}/queue/read_ahead_kb', whole, unit='KiB', target=('read_ahead_kb', name)),
        'transport': Setting('transport', next((kind for start, kind in _TRANSPORTS if name.startswith(start)), 'other'), place),
        'below': Setting('below', below, place),
    }
    return Component(BLOCK_DEVICE, name, f'live/block/{name}', place, settings)


def _with_queue(snapshot: Snapshot, name: str, below: tuple[str, ...]) -> str:
    """The device whose scheduler works for this one: the first path of a multipath head, which itself shows `none` or nothing."""
    paths = [path for path in below if snapshot.text(f'{_FOLDER}{path}/hidden') == '1']
    own = snapshot.text(f'{_FOLDER}{name}/queue/scheduler') or ''
    return paths[0] if paths and '[' not in own else name


def in_force(text: str) -> str | None:
    """The word in brackets, or the only word there is."""
    words = text.split()
    marked = [word[1:-1] for word in words if word.startswith('[') and word.endswith(']')]
    return marked[0] if len(marked) == 1 else words[0] if len(words) == 1 else None


def _below(snapshot: Snapshot, name: str) -> list[str]:
    """The disks that a stacked device or a multipath head stands on."""
    slaves = snapshot.names(f'{_FOLDER}{name}/slaves')
    if slaves or name.startswith(_STACKED):
        return slaves
    head = name.partition('n')[2] and f'{name.rpartition("n")[0]}c'
    return [other for other in snapshot.names('/sys/block') if head and other.startswith(head) and other.endswith('n' + name.rpartition('n')[2])]
