"""Values of a live host as settings, placed at the file that shows them."""

from collections.abc import Callable
from typing import Any

from configaudit.host.snapshot import NOT_THERE, Snapshot
from configaudit.model import Setting, Slot
from configaudit.places import Document, Place

FORMAT = 'live'
"""Of documents, and of slots: a value that only a command changes, and a file makes last."""


def place_of_file(snapshot: Snapshot, path: str) -> Place:
    """The whole text of a file, as far as it was read."""
    text = snapshot.text(path) or ''
    return Place(Document(path, FORMAT, text.encode('utf-8', 'replace')), 0, len(text))


def live_setting(
    snapshot: Snapshot, name: str, path: str, read: Callable[[str], Any] = str, *, unit: str = '', target: tuple[str, ...] = (), absent: str = ''
) -> Setting:
    """The value in a file. `read` returns None for a text it does not understand; `target` says what a fix changes: ('sysctl', key) ...

    Unknown with the reason when the file was not read; `absent` is that reason for a file that is not there.
    """
    place = place_of_file(snapshot, path)
    text = snapshot.text(path)
    slot = Slot(FORMAT, place, target) if target else None
    if text is None:
        why = snapshot.why(path)
        return Setting(name, None, place, reason=absent if absent and why == NOT_THERE else f'{path}: {why}', unit=unit)
    value = read(text)
    reason = '' if value is not None else f'{path} does not read: {text[:40]!r}'
    return Setting(name, value, place, reason=reason, slot=slot, unit=unit)


DIGITS = 20
"""Of the longest number that a kernel shows, an unsigned one of 64 bits."""


def whole(text: str) -> int | None:
    """The whole number that a text is, as the kernel writes it; None for any other."""
    text = text.strip()
    return int(text) if len(text) <= DIGITS and text.isascii() and text.removeprefix('-').isdigit() else None
