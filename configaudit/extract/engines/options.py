"""From parsed options to an engine's settings, with their places and writers."""

from collections.abc import Callable, Mapping
from typing import Any

from configaudit import units
from configaudit.extract.arguments import Arguments, Option, Shape
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.launch import Launch
from configaudit.extract.words import Word
from configaudit.knowledge.defaults import Default
from configaudit.knowledge.flags import Catalogue
from configaudit.knowledge.versions import Version
from configaudit.model import Kind, Setting, Slot
from configaudit.places import Place

CONVERT: dict[str, Callable[[Any], Any]] = {
    'count': units.integer, 'number': units.number, 's': units.seconds, 'ms': units.number, 'bool': units.boolean,
}  # fmt: skip


def shapes(catalogue: Catalogue, version: Version | None) -> Callable[[str], Shape | None]:
    """How an engine's parser of that version reads an option; an unknown option keeps its spelling."""

    def shape_of(option: str) -> Shape | None:
        found = catalogue.find(option, version)
        flag = found.flag or (found.candidates[-1] if found.candidates else None)
        if flag is None and version is not None and not found.candidates and not found.reason.startswith('ambiguous'):
            known = catalogue.find(option, None)
            flag = known.flag or (known.candidates[-1] if known.candidates else None)
        if flag is None:
            return None
        if flag.takes_value:
            many = flag.nargs in ('*', '+') or flag.nargs.isdigit()
            values = 'many' if many else 'optional' if flag.nargs == '?' else 'one'
        else:
            values = 'optional' if flag.boolean == 'StoreBoolean' else 'none'
        return Shape(flag.option, values, flag.negated, flag.abbreviated)

    return shape_of


def setting_from(name: str, unit: str, option: Option, launch: Launch) -> Setting:
    """The setting of an option that was given; unknown where a template decides whether it is."""
    setting = _given(name, unit, option)
    conditional = setting.is_known and _is_conditional(option.word.place, launch.program)
    return setting._replace(known_value=None, reason='a template decides whether it is given') if conditional else setting


def marked(arguments: Arguments, program: Place) -> Arguments:
    """The arguments with what a template may leave out marked."""
    conditional = tuple(option._replace(conditional=_is_conditional(option.word.place, program)) for option in arguments.options)
    loose = tuple(word for word in arguments.positional if not _is_conditional(word.place, program))
    return arguments._replace(options=conditional, loose=loose)


def _is_conditional(place: Place, program: Place) -> bool:
    """Whether an if, range or with of a template holds this place and not the program that it is given to."""
    file = place.document
    while file.outer is not None:
        file = file.outer.document
    if file.template is None:  # to tell where a place of a string stands in the file costs more than all else here
        return False
    place, program = place.outermost(), program.outermost()
    document = place.document
    if program.document is not document or document.template is None:
        return False
    at, start = (document.byte_of(spot.start) - document.base for spot in (place, program))
    return any(begin <= at < end and not begin <= start < end for begin, end in document.template.regions)


def _given(name: str, unit: str, option: Option) -> Setting:
    value = option.value
    if value is None and unit != 'bool':
        return Setting(name, None, option.word.place, reason='no value follows', unit=unit)
    if value is None or (unit == 'bool' and option.shape is not None and option.shape.values == 'none'):
        locked = 'it stands in a configuration file of the engine' if _in_file(option) else option.word.locked
        slot = Slot('argument', option.word.place) if option.word.pure else None
        return Setting(name, not option.negated, option.word.place, slot=slot, unit=unit, locked=locked)
    setting = word_setting(name, unit, value)
    return setting._replace(slot=Slot('yaml_edit', value.place)) if _in_file(option) and setting.slot is not None else setting


def _in_file(option: Option) -> bool:
    """Whether the option is a key of a --config file, which has no dashes."""
    return option.word.pure and not option.word.place.text.lstrip('"\'').startswith('-')


def word_setting(name: str, unit: str, value: Word) -> Setting:
    """A setting spelled by one word."""
    converted = CONVERT[unit](value.value) if unit in CONVERT and value.known else value.value
    reason = '' if value.known else value.reason or 'not known'
    if value.known and converted is None:
        reason = f'{value.value!r} is not a value of this setting'
    slot = Slot('argument', value.place) if value.pure else None
    uses = (value.use,) if value.use is not None else ()
    origin = 'inherited' if value.use is not None else 'explicit'
    locked = value.locked or ('' if value.pure else 'it is put together from several parts')
    return Setting(name, converted, value.place, origin, reason, (), slot, unit, uses=uses, locked=locked)  # type: ignore[arg-type]


def default_setting(name: str, found: Default, invocation: Invocation, launch: Launch, flag: str, unit: str = '') -> Setting:
    """The setting of an option nobody gave: what the engine makes of it."""
    slot = slot_for(invocation, launch, flag, unit)
    reason = '' if found.known else found.condition or 'the engine works it out at start'
    value = found.value if found.known else None
    return Setting(name, value, launch.program, 'default', reason, found.candidates, slot, unit, found.source)


def slot_for(invocation: Invocation, launch: Launch, flag: str, unit: str = '') -> Slot | None:
    """Where a flag would be added: as a key of a mapping, or behind the last word that stands on the command line itself; None without one."""
    keys = invocation.process.keys
    if keys is not None:
        path = keys.fields.get(flag, ()) if keys.fields else (flag.removeprefix('--').replace('-', keys.joint),)
        writable = keys.slot is not None and path and (keys.switches or unit != 'bool')
        return keys.slot._replace(path=(*keys.slot.path, *path)) if keys.slot is not None and writable else None
    words = next((line for line in (launch.arguments, invocation.argv) if any(word.use is None for word in line)), None)
    return Slot(invocation.form, _written(words[-1]), (flag,)) if words else None


def _written(word: Word) -> Place:
    """Where a word stands on the command line: its variable, where that is defined elsewhere; the text that spells all its parts."""
    place = word.use or word.place
    outer = place.document.outer
    joined = outer is not None and not word.pure and place.start == 0 and place.end == len(place.document.text)
    return outer if joined and outer is not None else place


def unseen_setting(name: str, reason: str, launch: Launch) -> Setting:
    """The setting of an option that may be among arguments that are not shown."""
    return Setting(name, None, launch.program, 'inherited', reason)


def read_options(
    kind: Kind, arguments: Arguments, launch: Launch, settings: dict[str, Setting], names: Mapping[str, str]
) -> None:
    """Fill every flag setting of the kind that was given. `names`: canonical flag -> setting where they differ."""
    by_flag = {spec.path[0]: name for name, spec in kind.settings.items() if spec.path}
    by_flag.update(names)
    for option in arguments.options:
        name = by_flag.get(option.name)
        if name is not None:
            settings[name] = setting_from(name, kind.settings[name].unit, option, launch)
