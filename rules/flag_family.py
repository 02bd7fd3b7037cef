"""What the rules for the flags of vLLM and SGLang share: which options are judged, how they are edited, how a rule is made."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from configaudit.knowledge.flag import Flag
from configaudit.knowledge.flag_values import refusal
from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.shipped import HISTORIES
from configaudit.model import REMOVE, Change, Component, Fix, NotApplicable, Problem, Rule, Severity, Slot, rule
from configaudit.patterns import regex

from .releases import PRODUCTS

ENGINES = HISTORIES
"""Those whose flags are recorded release by release."""
OWN = frozenset(('--help', '-h', '--version', '-v', '--omni'))
"""Options that no table of flags holds: argparse's own, and what a plugin looks for."""
PLUGIN_FLAGS = regex(r'--(omni|stage|vllm-ascend)')

Judge = Callable[[Component, Any, Catalogue], Problem | None]
Row = tuple[str, Severity, Judge, str]
"""A rule's id behind the engine's name, its severity, its judge of one option, what it hurts."""


def options_of(engine: Component) -> Iterator[Any]:
    """Options that stand on the command line as one known word each."""
    for option in engine['options'].value:
        if option.given not in OWN and ' ' not in option.given and len(option.given) > 1 and not PLUGIN_FLAGS.match(option.given):
            yield option


def on_command_line(option: Any) -> bool:
    """Whether the option is spelled where it stands, not in a --config file, a variable or with quotes inside."""
    return bool(option.word.pure and option.word.use is None and option.word.place.text.startswith('-'))


def drop(option: Any, safe: bool = True) -> Fix | None:
    """A fix that takes the option and its values away: removing a value takes the flag before it along.

    Not a safe one where what the option did may be wanted otherwise.
    """
    if not on_command_line(option) or any(value.use is not None for value in option.values):
        return None
    words = (option.word,) if option.joined or not option.values else option.values
    return Fix(tuple(Change(Slot('argument', word.place), REMOVE, option.name, word.locked) for word in words), (), safe)


def rename(option: Any, flag: str) -> Fix | None:
    """A fix that spells the option otherwise and keeps its value."""
    if not on_command_line(option):
        return None
    place = option.word.place.part(0, len(option.word.value.partition('=')[0].partition('.')[0]))
    return Fix((Change(Slot('argument', place), flag, option.name, option.word.locked),))


def rewrite(engine: Component, option: Any, known: Catalogue) -> Fix | None:
    """A fix that writes what took a flag's place, where that is one to one and the release has it."""
    new, weigh = known.rewriting(option.given, engine.version)
    flag = known.find(new.partition('=')[0], engine.version).flag if new else None
    if flag is None or not on_command_line(option):
        return None
    if '=' in new:
        fix = None if option.values else Fix((Change(Slot('argument', option.word.place), new, option.name, option.word.locked),))
    else:
        kept = bool(option.values) == flag.takes_value and (flag.key or not any(value.known and refusal(known.engine, flag, value.value) for value in option.values))
        fix = rename(option, new) if kept or (flag.key and option.values) else None
    return fix._replace(safe=False) if fix is not None and weigh else fix


def flag_of(engine: Component, option: Any, known: Catalogue) -> Flag | None:
    """The flag at the engine's version, when it is known there."""
    if engine.version is None:
        return None
    status = known.status(option.given, engine.version)
    if status.state != 'known' and not status.reason.startswith('read as'):
        return None
    return known.find(option.given, engine.version).flag


def flags_of(engine: Component, option: Any, known: Catalogue) -> tuple[Flag, ...]:
    """The flag at the engine's version; with an unknown version every form it has had, or () where another may be meant."""
    if engine.version is not None:
        flag = flag_of(engine, option, known)
        return (flag,) if flag is not None else ()
    found = known.find(option.given, None).candidates
    return () if any(flag.abbreviated for flag in found) or len({flag.option for flag in found}) > 1 else found


def upstream(engine: Component) -> bool:
    """Whether the image is the project's own: others may add flags by a plugin or a patch."""
    image = str(engine['image'].known_value or '')
    return bool(re.search(r'(^|/)(vllm/vllm-|lmsysorg/sglang)', image))


def make(engine: str, row: Row) -> Rule:
    """The rule of one row for one engine."""
    name, severity, judge_one, doc = row

    def judge(component: Component) -> Iterator[Problem]:
        if not component['options'].value:
            raise NotApplicable('no flag is given')
        known = catalogue(engine)
        for option in options_of(component):
            problem = judge_one(component, option, known)
            if problem is not None:
                yield problem

    judge.__doc__ = docs(engine, doc)
    return rule(f'{engine}-{name}', on=engine, severity=severity, source=source_of(engine))(judge)


def docs(engine: str, hurts: str) -> str:
    """A rule's docstring."""
    return f'{hurts}\n\nJudged by the flags of each published release of {PRODUCTS[engine]}; with an unknown version only what no release accepts.'


def source_of(engine: str) -> str:
    """Where the flags of an engine are defined."""
    return f'{"vllm engine/arg_utils.py and cli_args.py" if engine == "vllm" else "sglang srt/server_args.py"} of the published releases'
