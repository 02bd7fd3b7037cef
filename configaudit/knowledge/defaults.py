"""The effective default of a setting: one value, several possible values, or a value only the engine can work out."""

from collections.abc import Sequence
from typing import NamedTuple


class Default(NamedTuple):
    """What an unset setting becomes.

    `candidates` holds every possible value: one when the default is certain, several when it depends on an unknown
    version or GPU, none when the set is open (derived from the model or from free memory). `value` is the certain
    one, else None; a certain None (the setting does not exist at that version) has the candidates `(None,)`.
    """

    value: object
    candidates: tuple[object, ...]
    source: str
    condition: str = ''

    @property
    def known(self) -> bool:
        return len(self.candidates) == 1


def certain(value: object, source: str, condition: str = '') -> Default:
    """The only possible value."""
    return Default(value, (value,), source, condition)


def derived(source: str, condition: str) -> Default:
    """A value the engine works out from what is not in the configuration."""
    return Default(None, (), source, condition)


def one_of(values: 'set[int] | set[bool] | set[float] | set[str]', source: str, condition: str = '') -> Default:
    """Certain when one value is left, otherwise all of them in ascending order."""
    candidates = tuple(sorted(values))
    return Default(candidates[0] if len(candidates) == 1 else None, candidates, source, condition)


def on_any(found: Sequence[Default]) -> Default:
    """The default where it is not known which of several GPUs (or releases) holds."""
    candidates = tuple(dict.fromkeys(value for default in found for value in default.candidates))
    if len(found) == 1 or not all(default.candidates for default in found):
        return next((default for default in found if not default.candidates), found[0])
    condition = found[0].condition if len(candidates) == 1 else 'depends on the GPU'
    return found[0]._replace(value=candidates[0] if len(candidates) == 1 else None, candidates=candidates, condition=condition)
