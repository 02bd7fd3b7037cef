"""Words of service configuration as settings: converted, placed, and honest about what is not known."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from configaudit import units
from configaudit.extract.words import Word
from configaudit.model import Setting, Slot
from configaudit.patterns import regex

_PLACEHOLDER = regex(r'\$\{([^:{}]+)(?::([^{}]*))?\}$')


def _milliseconds(text: str) -> float | None:
    value = units.number(text)
    return None if value is None else value / 1000


def _duration(text: str) -> float | None:
    """Seconds of a duration with a unit ('30m'); a bare number has no certain unit, except 0."""
    value = units.number(text)
    return units.seconds(text) if value is None else 0 if value == 0 else None


_ISO = regex(r'-?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')


def _spring(text: str) -> float | None:
    """Seconds of a Duration as Spring binds it: '30s', 'PT30S', -1; a bare number is milliseconds."""
    value, text = units.number(text), text.strip()
    if value is not None:
        return value / 1000
    iso = _ISO.match(text.upper())
    if iso is not None and any(iso.groups()):
        return sum(float(part or 0) * size for part, size in zip(iso.groups(), (86400, 3600, 60, 1), strict=True))
    found = units.seconds(text.removeprefix('-'))
    return None if found is None else -found if text.startswith('-') else found


CONVERT: dict[str, Callable[[str], Any]] = {
    'count': units.integer, 'ms': _milliseconds, 's': units.seconds, 'duration': _duration, 'spring': _spring, 'bool': units.boolean, 'text': str,
}  # fmt: skip


def settled(word: Word) -> Word:
    """A Spring placeholder as what it comes to: its default, or unknown when the environment must say."""
    found = _PLACEHOLDER.match(word.value)
    if found is None:
        return word if '${' not in word.value else word._replace(pure=False)
    if found[2] is None:
        return word._replace(value=units.HOLE, pure=False, reason=f'${found[1]} is not set in the files read')
    return word._replace(value=found[2], place=word.place.part(*found.span(2)) if word.pure else word.place)


def setting_of(
    name: str, word: Word, unit: str, unlimited: Mapping[str, tuple[float, ...]] | None = None, writer: str = 'argument'
) -> Setting:
    """The setting that a word spells; a number that means 'no limit' becomes infinity."""
    reason = '' if word.known else word.reason or 'not known'
    value = None if reason else CONVERT[unit](word.value)
    if not reason and value is None:
        reason = f'{word.value!r} says no number that is certain'
    if value is not None and unlimited and value in unlimited.get(name, ()):
        value = math.inf
    slot = Slot(writer, word.place) if word.pure else None
    uses = (word.use,) if word.use is not None else ()
    locked = word.locked or ('' if word.pure else 'it is put together from several parts')
    origin = 'inherited' if word.use is not None else 'explicit'
    return Setting(name, value, word.place, origin, reason, (), slot, unit, uses=uses, locked=locked)  # type: ignore[arg-type]
