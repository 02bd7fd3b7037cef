"""One flag at one release: its spellings, type, limits, how its value is given."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from configaudit.knowledge.history import Position, Range

Spec = Mapping[str, Any]
LEVEL = '-O'
"""vLLM reads `-O3` as --optimization-level 3, before 0.12.0 as --compilation-config."""


class Flag(NamedTuple):
    """What a flag is at one version (or, with an unknown version, at every version that has it)."""

    option: str  # the main spelling, '--max-num-seqs'
    type: str  # bool int human-int human-int-or-auto float str enum json json-or-str list[...] custom
    default: object = None
    computed: bool = False  # the default is worked out by the engine's code: `default` says nothing
    choices: tuple[str, ...] = ()
    bounds: tuple[tuple[str, float], ...] = ()  # ('gt' | 'ge' | 'lt' | 'le', number)
    boolean: str = (
        ''  # store_true, store_const, StoreBoolean (value optional), bool_optional (--x / --no-x), '' takes a value
    )
    nargs: str = ''
    nullable: bool = False  # also takes None
    aliases: tuple[str, ...] = ()
    deprecated: bool = False
    removal: str = ''  # the release that the engine announces for the removal
    target: str = ''  # the flag that a deprecated one stores into
    first: str = ''
    last: str = ''
    negated: bool = False  # written as --no-x (or the opposite of an --enable/--disable pair)
    abbreviated: bool = False
    key: str = ''  # 'a.b' when written as --flag.a.b
    exact: bool = True

    @property
    def takes_value(self) -> bool:
        """Whether the next argument belongs to the flag (StoreBoolean takes one only if it is there)."""
        return self.boolean in ('', 'StoreBoolean')


def spelled(option: str, spec: Spec) -> Iterator[tuple[str, bool]]:
    """(spelling, whether it negates) of a flag, --no-x among them."""
    for name in (option, *spec.get('aliases', ())):
        if name == LEVEL and option == '--optimization-level':
            continue  # not an option of the parser: -O3 is rewritten before it
        yield name, False
        if spec.get('boolean') == 'bool_optional' and name.startswith('--'):
            yield f'--no-{name[2:]}', True


def paired(option: str, spec: Spec) -> Iterator[tuple[str, bool]]:
    """The opposite of an --enable-x or --disable-x flag."""
    if spec.get('boolean') != 'bool_optional':
        return
    word = option[2:]
    if word.startswith('enable-'):
        yield f'--disable-{word[7:]}', True
    elif word.startswith('disable-'):
        yield f'--enable-{word[8:]}', True


def flag_at(option: str, span: Range, place: Position | None) -> Flag:
    """What the data says of a flag in a range of releases."""
    spec = span.spec
    inside = place is None or (not place.newer and span.first <= place.lower and place.upper <= span.last)
    return Flag(
        option=option,
        type=spec['type'],
        default=_frozen(spec.get('default')),
        computed=spec.get('computed', False),
        choices=tuple(spec.get('choices', ())),
        bounds=tuple(sorted(spec.get('bounds', {}).items())),
        boolean=spec.get('boolean', ''),
        nargs=spec.get('nargs', ''),
        nullable=spec.get('nullable', False),
        aliases=tuple(spec.get('aliases', ())),
        deprecated=spec.get('deprecated', False),
        removal=spec.get('removal', ''),
        target=spec.get('target', ''),
        first=spec['first'],
        last=spec['last'],
        exact=inside,
    )


def _frozen(default: object) -> object:
    """Defaults must be hashable: a list as a tuple, a mapping as its sorted items."""
    if isinstance(default, list):
        return tuple(map(_frozen, default))
    return tuple(sorted(default.items())) if isinstance(default, dict) else default
