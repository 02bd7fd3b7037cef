"""Expressions of Go source as settings: folded, placed, and honest about what only the running program knows."""

from typing import Any

from configaudit.model import Setting
from configaudit.parse.golang import Scope, Source
from configaudit.parse.golang_values import Unfolded, value
from configaudit.places import Place

LOCKED = 'it is a program'
WORKED_OUT = 'the program works it out'
NANOSECONDS = 10**9
"""In a second; Go writes durations in nanoseconds."""


def setting_at(source: Source, scope: Scope, name: str, node: Any, scale: float = 1, unit: str = '') -> Setting:
    """The setting that an expression gives; a number is divided by `scale`."""
    place = source.place(node)
    try:
        found = value(source, node, scope)
    except Unfolded:
        return Setting(name, None, place, 'explicit', WORKED_OUT, unit=unit, locked=LOCKED)
    if isinstance(found, (int, float)) and not isinstance(found, bool) and scale != 1:
        found = found / scale
        found = int(found) if found == int(found) else found
    return Setting(name, found, place, unit=unit, locked=LOCKED)


def text_of(source: Source, scope: Scope, node: Any) -> str | None:
    """The constant text of an expression, or None."""
    try:
        found = value(source, node, scope)
    except Unfolded:
        return None
    return found if isinstance(found, str) else None


def default(name: str, known: object, place: Place, source: str) -> Setting:
    """What holds because nobody set it."""
    return Setting(name, known, place, 'default', source=source, locked=LOCKED)
