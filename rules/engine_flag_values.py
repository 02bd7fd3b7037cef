"""Rules for the values of flags: given where none is taken, missing, refused, given twice; and words that belong to no flag."""

from collections.abc import Iterator
from typing import Any

from configaudit.knowledge.flag import Flag
from configaudit.knowledge.flag_values import refusal
from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.versions import release as version_of
from configaudit.model import REMOVE, Change, Component, Fix, NotApplicable, Problem, Rule, Severity, Slot, rule

from .flag_family import ENGINES, Row, docs, drop, flags_of, make, options_of, source_of, upstream
from .releases import release
from .vllm import built_for_another_device

MODEL_MOVED = version_of('0.11.1')
"""From here on `vllm serve` moves the name behind --model to the front: a model that stands there already is one word too many."""
BOOLEANS = {'true': True, '1': True, 'yes': True, 'on': True, 'false': False, '0': False, 'no': False, 'off': False}
REPEATED = frozenset(('--middleware',))
"""Flags whose values add up (argparse's append)."""
MODEL_WORD = version_of('0.10.0')
"""From here on vLLM's server module takes a word without a flag for the model, and does not read it."""


def _severity(engine: Component, flags: tuple[Flag, ...]) -> Severity | None:
    """One step lower where the version is unknown or lies between two that differ."""
    return None if engine.version is not None and all(flag.exact for flag in flags) else 'warning'


def _value_unexpected(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    """A value behind a switch: `--enable-x True`, `--enable-x=True`."""
    flags = flags_of(engine, option, known)
    if not flags or any(flag.takes_value for flag in flags):
        return None
    value = option.value if option.joined else None if option.key else _behind(engine, option)
    if value is None and not option.key:
        return None
    flag, text = flags[-1], value.value if value is not None else option.key
    wanted = BOOLEANS.get(text.lower())
    right = flag.option if wanted is not False else f'--no-{flag.option[2:]}' if flag.boolean == 'bool_optional' else ''
    return Problem(
        option.word.place, '{flag} takes no value in {engine}: {effect}; {advice}', flag=option.given, engine=release(engine),
        effect='the engine stops at start' if option.joined or not _swallowed(engine, value) else f'{text} is read as a word of its own',
        advice=f'write {right}' if right else 'leave it out', detail=option.name,
        severity=_severity(engine, flags) if option.joined or not _swallowed(engine, value) else 'warning',
        fix=None if wanted is None or option.key else _as_switch(option, value, right),
    )  # fmt: skip


def _behind(engine: Component, option: Any) -> Any:
    """The word right behind a switch when it says true or false and is no model's name."""
    arguments = engine['arguments'].value
    words = arguments.words
    for word in arguments.positional:
        if word.value.lower() in BOOLEANS:
            at = next((at for at, other in enumerate(words) if other is word), 0)
            if at and words[at - 1] is option.word:
                return word
    return None


def _swallowed(engine: Component, word: Any) -> bool:
    """Whether the parser takes a word for the model: the first one that belongs to no flag."""
    return word is not None and any(word is first for first in _allowed(engine))


def _allowed(engine: Component) -> tuple[Any, ...]:
    """The words without a flag that the parser takes: one model for vLLM, none for SGLang's module."""
    arguments = engine['arguments'].value
    if arguments.model_word is not None:
        moves = engine['command'].value == 'serve' and engine.version is not None and engine.version >= MODEL_MOVED
        return () if moves and any(option.given == '--model' and any(option.word is word for word in arguments.command_line) for option in arguments.options) else (arguments.model_word,)
    takes_one = engine['command'].value == 'serve' if engine.kind.name == 'sglang' else engine.version is None or engine.version >= MODEL_WORD
    return tuple(arguments.positional[:1]) if takes_one else ()


def _as_switch(option: Any, value: Any, right: str) -> Fix | None:
    """A fix that leaves the switch that is meant, or takes flag and value away."""
    if not option.word.pure or option.word.use is not None or not option.word.place.text.startswith('-'):
        return None
    if option.joined:
        new: object = right or REMOVE
        return Fix((Change(Slot('argument', option.word.place), new, option.name, option.word.locked),))
    if not value.pure or value.use is not None or value.place.document is not option.word.place.document:
        return None
    if not right:
        return Fix((Change(Slot('argument', value.place), REMOVE, option.name, value.locked),))
    text, start, end = value.place.document.text, option.word.place.start, value.place.end
    quotes = [mark if mark in ('"', "'") else '' for mark in (text[start - 1 : start], text[end : end + 1])]
    if quotes[0] != quotes[1]:
        return None
    return Fix((Change(Slot('argument', option.word.place._replace(end=end)), right, option.name, option.word.locked),))


def _value_missing(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    """A flag that wants a value, with another flag or nothing behind it."""
    flags = flags_of(engine, option, known)
    if not flags or option.values or engine['arguments'].value.unknown_tail:
        return None
    if any(not flag.takes_value or flag.boolean or flag.nargs in ('?', '*') for flag in flags):
        return None
    return Problem(
        option.word.place, '{flag} wants a value and none follows: {engine} stops at start', flag=option.given, engine=release(engine),
        detail=option.name, severity=_severity(engine, flags),
    )  # fmt: skip


def _value_invalid(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    flags = flags_of(engine, option, known)
    if not flags or any(not flag.takes_value or flag.boolean for flag in flags):
        return None
    for value in option.values:
        text = f'{{"{option.key}": 1}}' if option.key else value.value
        if not value.known or '$(' in text or (option.key and flags[-1].type in ('json', 'custom', 'str') and not flags[-1].choices):
            continue
        reasons = [refusal(known.engine, flag, text, engine.version) for flag in flags]
        if all(reasons) and not (_of_choices(reasons[-1]) and built_for_another_device(engine)):
            return Problem(
                value.place, '{text} is no value for {flag} in {engine}: {reason}', text=repr(text), flag=flags[-1].option, engine=release(engine),
                reason='it has no keys' if option.key else reasons[-1], detail=option.name, severity=_value_severity(engine, flags, reasons[-1]),
            )  # fmt: skip
    return None


def _value_severity(engine: Component, flags: tuple[Flag, ...], reason: str) -> Severity | None:
    """A choice may have been added to an image that is not the project's own."""
    return 'warning' if _of_choices(reason) and not upstream(engine) else _severity(engine, flags)


def _of_choices(reason: str) -> bool:
    return reason.startswith('it wants one of')


def _duplicated(engine: str) -> Rule:
    def judge(component: Component) -> Iterator[Problem]:
        arguments, known = component['arguments'].value, catalogue(engine)
        for option, last in (*_pairs(arguments.options), *_overridden(arguments)):
            flags = flags_of(component, option, known)
            if not flags or option.name in REPEATED or any(flag.nargs in ('+', '*') for flag in flags):
                continue
            differ = _spelled(last) != _spelled(option)
            seen = all(value.known for value in (*option.values, *last.values))
            yield Problem(
                option.word.place, '{flag} is given again: {engine} takes the last{kept}', flag=option.given, engine=release(component),
                kept=f', {_spelled(last)}, not {_spelled(option)}' if differ else '', detail=option.name, severity=None if differ and seen else 'advice',
                see=[('the one that counts', last.word.place)], fix=None if differ else drop(option),
            )  # fmt: skip

    judge.__doc__ = docs(engine, 'A flag that is given twice is read once: the last one counts, and who changes the first changes nothing.')
    return rule(f'{engine}-flag-duplicated', on=engine, severity='warning', source=source_of(engine))(judge)


def _pairs(options: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Every option that a later one of the same name and key overrides, with the last of them."""
    written = [option for option in options if not option.conditional and option.word.place.text.lstrip('"\'').startswith('-')]
    last = {(option.name, option.key): option for option in written}
    for option in written:
        if last[option.name, option.key] is not option:
            yield option, last[option.name, option.key]


def _overridden(arguments: Any) -> Iterator[tuple[Any, Any]]:
    """Keys of a --config file that the command line sets too."""
    for option in arguments.overridden:
        last = arguments.last(option.name)
        if not option.key and not last.key and not last.conditional:
            yield option, last


def _spelled(option: Any) -> str:
    """An option's value, or whether a switch is on."""
    if option.value is None:
        return 'off' if option.negated else 'on'
    return ' '.join(value.value if value.known else value.place.text.strip('"\'') for value in option.values)


def _stray(engine: str) -> Rule:
    def judge(component: Component) -> Iterator[Problem]:
        arguments = component['arguments'].value
        if arguments.unknown_tail or component['command'].value == 'dynamo':
            raise NotApplicable('not all arguments are seen')
        allowed = _allowed(component)
        booleans = [word for option in options_of(component) if not option.values for word in [_behind(component, option)] if word is not None]
        before = [word for word in (arguments.model_word,) if word is not None and not any(word is other for other in arguments.positional)]
        for word in (*before, *arguments.loose):
            if word.known and not any(word is other for other in (*allowed, *booleans)):
                yield Problem(
                    word.place, '{word} belongs to no flag: {engine} stops at start', word=repr(word.value), engine=release(component), detail=word.value,
                    severity=None if component.version is not None else 'warning',
                )  # fmt: skip

    judge.__doc__ = docs(engine, 'A word that belongs to no flag stops the engine at start with "unrecognized arguments".')
    return rule(f'{engine}-argument-stray', on=engine, severity='error', source=source_of(engine))(judge)


ROWS: tuple[Row, ...] = (
    ('flag-value-unexpected', 'error', _value_unexpected, 'A switch takes no value in this release: the engine stops at start.'),
    ('flag-value-missing', 'error', _value_missing, 'A flag without the value it wants stops the engine at start.'),
    ('flag-value-invalid', 'error', _value_invalid, 'The parser of this release refuses the value: the engine stops at start.'),
)
VALUE_RULES = [*(make(engine, row) for engine in ENGINES for row in ROWS), *map(_duplicated, ENGINES), *map(_stray, ENGINES)]
