"""Expressions of Java and Kotlin source as settings: folded, placed, and honest about what only the running program knows."""

from typing import Any

from configaudit.extract.services.jvm_objects import Call, Made
from configaudit.model import Component, Kind, Setting
from configaudit.parse.jvm import Expr, Scope, Source
from configaudit.parse.jvm_values import Span, Unfolded, unit_of, value
from configaudit.places import Place

LOCKED = 'it is a program'
WORKED_OUT = 'the program works it out'
CONDITION = 'the program sets it under a condition'


def known(expr: Expr, scope: Scope) -> Any:
    """What an expression comes to, or None."""
    try:
        return value(expr, scope)
    except Unfolded:
        return None


def variable_of(expr: Expr, scope: Scope) -> str:
    """The variable of the environment that an expression takes its value from, or ''."""
    try:
        value(expr, scope)
    except Unfolded as why:
        return why.variable
    return ''


def text_of(expr: Expr, scope: Scope) -> str | None:
    """The constant text of an expression, or None."""
    found = known(expr, scope)
    return found if isinstance(found, str) else None


def setting_at(source: Source, name: str, call: Call, unit: str = '') -> Setting:
    """The setting that the first argument of a call gives. Durations are seconds: `(30, TimeUnit.SECONDS)`, a Duration, or a number of `unit` ('ms', 's')."""
    place = source.place(call.arguments[0].node)
    try:
        found = value(call.arguments[0], call.scope)
        if len(call.arguments) == 2 and unit and isinstance(found, (int, float)):
            found = Span(found * unit_of(call.arguments[1]))
    except Unfolded as why:
        return Setting(name, None, place, 'explicit', str(why) or WORKED_OUT, unit=unit, locked=LOCKED)
    if isinstance(found, Span):
        found = found.seconds
    elif unit == 'ms' and isinstance(found, (int, float)):
        found = found / 1000
    if isinstance(found, float) and found == int(found):
        found = int(found)
    return Setting(name, found, place, reason='' if call.certain else CONDITION, unit=unit, locked=LOCKED)


def last(source: Source, name: str, calls: list[Call], unit: str = '') -> Setting | None:
    """The setting of the last of these calls; unknown when there are several that do not say one thing."""
    given = [setting_at(source, name, call, unit) for call in calls if call.arguments]
    if not given:
        return None
    setting = given[-1]
    if any(one.known_value != setting.known_value or one.reason for one in given):
        return setting._replace(known_value=None, reason=setting.reason or CONDITION)
    return setting


def place_of(source: Source, made: Made) -> Place:
    """Where an object is made; of one that is handed in, where the first thing is done to it."""
    if made.birth.kind != 'parameter':
        return source.place(made.birth.node)
    first = next((call.arguments[0].node for call in made.calls if call.arguments), None)
    return source.place(first if first is not None else made.birth.node)


def component(kind: Kind, source: Source, made: Made, settings: dict[str, Setting], number: int, partial: str = '') -> Component:
    """A component of a program."""
    path, language = source.document.path, source.language
    place = place_of(source, made)
    settings['written_in'] = Setting('written_in', language.name, place)
    return Component(kind, path.rpartition('/')[2], f'{language.form}/{path}/{kind.name}/{number}', place, settings, partial=partial)
