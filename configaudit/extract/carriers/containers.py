"""What Docker's command line and Compose write the same way: ports, mounts, limits, devices."""

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from configaudit import units
from configaudit.extract.words import Word
from configaudit.model import Origin, Setting, Slot
from configaudit.places import Place

ALL: tuple[str, ...] = ('all',)
"""Device ids of a container that sees every GPU."""
_LOCAL = ('127.', 'localhost', '[::1]', '::1')


class Published(NamedTuple):
    """A container's port on the host."""

    address: str
    """Host address it is bound to; '' is every interface."""
    host: str
    """Host port; '' when Docker picks one."""
    container: str
    place: Place

    @property
    def is_public(self) -> bool:
        """Whether other machines reach it."""
        return not self.address.startswith(_LOCAL)


CONVERT: dict[str, Callable[[Any], Any]] = {
    'size': units.bytes_of, 's': units.seconds, 'count': units.integer, 'bool': units.boolean, 'cores': units.quantity,
}  # fmt: skip


def setting(name: str, unit: str, word: Word, slot: str) -> Setting:
    """A setting spelled by one word; `slot` names the writer."""
    value = CONVERT[unit](word.value) if unit in CONVERT and word.known else word.value
    reason = '' if word.known else word.reason or 'its value is not known'
    if word.known and value is None:
        reason = f'{word.value!r} is not a value of this setting'
    uses = (word.use,) if word.use is not None else ()
    origin: Origin = 'inherited' if uses else 'explicit'
    locked = word.locked or ('' if word.pure else 'it is put together from several parts')
    return Setting(name, value, word.place, origin, reason, (), Slot(slot, word.place), unit, uses=uses, locked=locked)


def published(word: Word) -> Published:
    """A port in short syntax: [[address:][host]:]container[/protocol]."""
    text = word.value.split('/')[0]
    address = ''
    if text.startswith('['):
        address, _, text = text.partition(']')
        address, text = address + ']', text.removeprefix(':')
    parts = text.split(':')
    if len(parts) > 2:
        address = ':'.join(parts[:-2])
    return Published(address, parts[-2] if len(parts) > 1 else '', parts[-1], word.place)


def mount(text: str) -> tuple[str, str]:
    """(path in the container, source) of a volume in short syntax."""
    parts = text.split(':')
    if len(parts) == 1:
        return parts[0].rstrip('/'), ''
    at = next((at for at, part in enumerate(parts[1:], 1) if part.startswith('/')), 1)
    return parts[at].rstrip('/'), ':'.join(parts[:at])


def nofile(text: str) -> tuple[float | None, float | None]:
    """(soft, hard) of 'soft:hard' or one number; -1 and unlimited are no limit."""
    soft, _, hard = text.partition(':')
    return _limit(soft), _limit(hard or soft)


def _limit(text: str) -> float | None:
    text = text.strip()
    return math.inf if text in ('-1', 'unlimited', 'infinity') else units.integer(text)


def device_ids(values: Iterable[str]) -> tuple[str, ...]:
    """Device ids without blanks and quotes; 'all' alone means every GPU."""
    ids = tuple(value.strip().strip('"\'') for value in values if value.strip().strip('"\''))
    return ALL if 'all' in ids else ids


def first_devices(count: str) -> tuple[str, ...] | None:
    """What Docker gives for a number of GPUs: always the first ones; None when it is no number."""
    if count in ('all', '-1'):
        return ALL
    number = units.integer(count)
    return None if number is None else tuple(str(at) for at in range(number))


def requested_devices(text: str) -> tuple[str, ...] | None:
    """Device ids of `--gpus`: 'all', '2', 'device=0,1', '"device=0,1",capabilities=utility'; None when unreadable."""
    text = text.strip().strip('\'"')
    for field in text.split('"') if '"' in text else text.split(';'):
        name, equals, value = field.strip(', ').partition('=')
        if not equals:
            return first_devices(name)
        if name == 'device':
            return device_ids(value.split(','))
        if name == 'count':
            return first_devices(value.split(',')[0])
    return None
