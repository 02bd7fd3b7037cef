"""What a fix changes: slots, where a value would be written, and the values to write there."""

from typing import NamedTuple

from configaudit.places import Place


class Slot(NamedTuple):
    """How a value that does not stand anywhere yet would be written, or an existing one changed.

    `format` names the writer (a module of `configaudit.parse`), `place` the anchor it starts from,
    `path` the names to create below it.
    """

    format: str
    place: Place
    path: tuple[str, ...] = ()


class Change(NamedTuple):
    """What a fix does to one setting; the engine turns it into byte edits."""

    slot: Slot | None
    value: object
    setting: str
    why_not: str = ''


class Fix(NamedTuple):
    """Changes that belong together, and commands a person runs where no file can be edited."""

    changes: tuple[Change, ...] = ()
    commands: tuple[str, ...] = ()
    safe: bool = False
    description: str = ''


REMOVE = object()
"""As a Change's value: delete the setting where it stands."""
