"""Rules for the flags of engines whose parser is known release by release: one family over what the catalogue says."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from configaudit.knowledge.flags import Catalogue, Flag, catalogue
from configaudit.knowledge.vllm import human_integer
from configaudit.model import REMOVE, Change, Component, Fix, NotApplicable, Problem, Rule, Severity, Slot, rule
from configaudit.patterns import regex

from .releases import PRODUCTS, release

ENGINES = ('vllm', 'sglang')
"""Those whose flags are recorded release by release."""
KEPT_SHORT = frozenset(('--tp', '--dp', '--pp', '--ep'))
"""Abbreviations that SGLang's own documentation uses."""
OWN = frozenset(('--help', '-h', '--version', '-v', '--omni'))
"""Options that no table of flags holds: argparse's own, and what a plugin looks for."""
PLUGIN_FLAGS = regex(r'--(omni|stage|vllm-ascend)')

WORDS = {'gt': 'above', 'ge': 'at least', 'lt': 'below', 'le': 'at most'}

Judge = Callable[[Component, Any, Catalogue], Problem | None]


def _options(engine: Component) -> Iterator[Any]:
    """Options that stand on the command line as one known word each."""
    for option in engine['options'].value:
        if option.given not in OWN and ' ' not in option.given and len(option.given) > 1 and not PLUGIN_FLAGS.match(option.given):
            yield option


def _on_command_line(option: Any) -> bool:
    """Whether the option is spelled where it stands, not in a --config file, a variable or with quotes inside."""
    return bool(option.word.pure and option.word.use is None and option.word.place.text.startswith('-'))


def _drop(option: Any) -> Fix | None:
    """A fix that takes the option and its values away: removing a value takes the flag before it along."""
    if not _on_command_line(option) or any(value.use is not None for value in option.values):
        return None
    words = (option.word,) if option.joined or not option.values else option.values
    return Fix(tuple(Change(Slot('argument', word.place), REMOVE, option.name, word.locked) for word in words), (), True)


def _rename(option: Any, flag: str) -> Fix | None:
    """A fix that spells the option otherwise and keeps its value."""
    if not _on_command_line(option):
        return None
    place = option.word.place.part(0, len(option.word.value.partition('=')[0].partition('.')[0]))
    return Fix((Change(Slot('argument', place), flag, option.name, option.word.locked),))


def _how_known(exact: bool) -> str:
    """What the recorded releases say of one between two of them."""
    return 'is unknown' if exact else 'may be unknown'


def _removed(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    if engine.version is None:
        return None
    status = known.status(option.given, engine.version)
    if status.state != 'removed' or status.between is None:
        return None
    last, first = status.between
    use = status.replacement or 'drop it'
    since = f'gone in {first}' if first != last else f'last in {last}'
    read_as = f' (now {status.reason})' if status.reason else ''
    return Problem(
        option.word.place, '{flag} {known} to {engine}: {since}{read_as}, the engine stops at start; {use}',
        flag=option.given, known=_how_known(status.exact), engine=release(engine), since=since, read_as=read_as, use=use if use.startswith('drop') else f'use {use}',
        fix=_drop(option) if use.startswith('drop') else None, detail=option.name, severity=None if status.exact else 'advice',
    )  # fmt: skip


def _unknown(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    status = known.status(option.given, engine.version)
    if status.state != 'unknown' or (engine.kind.name == 'sglang' and engine['command'].value == 'serve'):
        return None  # `sglang serve` also starts the diffusion server, whose flags are others
    near = known.suggest(option.given, engine.version)
    foreign = status.replacement
    hint = f'use {foreign}' if foreign else f'did you mean {near}?' if near else 'no release has it'
    return Problem(
        option.word.place, '{flag} is unknown to {engine}: {hint}', flag=option.given, engine=release(engine), hint=hint,
        severity='warning' if engine.version is None or not _upstream(engine) else None, fix=_rename(option, near) if near and not foreign else None,
        detail=option.name,
    )  # fmt: skip


def _upstream(engine: Component) -> bool:
    """Whether the image is the project's own: others may add flags by a plugin or a patch."""
    image = str(engine['image'].known_value or '')
    return bool(re.search(r'(^|/)(vllm/vllm-|lmsysorg/sglang)', image))


def _too_new(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    if engine.version is None:
        return None
    status = known.status(option.given, engine.version)
    if status.state != 'too-new' or status.between is None:
        return None
    before, first = status.between
    when = f'it first appears in {first}' if status.exact else f'it appeared between {before} and {first}'
    severity: Severity | None = None if status.exact and _upstream(engine) else 'warning' if status.exact else 'advice'
    return Problem(
        option.word.place, '{flag} {known} to {engine}: {when}, the engine stops at start',
        flag=option.given, known=_how_known(status.exact), engine=release(engine), when=when, detail=option.name, severity=severity,
    )  # fmt: skip


def _flag(engine: Component, option: Any, known: Catalogue) -> Flag | None:
    if engine.version is None or known.status(option.given, engine.version).state != 'known':
        return None
    return known.find(option.given, engine.version).flag


def _deprecated(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    flag = _flag(engine, option, known)
    if flag is None or not (flag.deprecated or flag.removal):
        return None
    use = known.replacement(option.given) or (f'--{flag.target.replace("_", "-")}' if flag.target else '')
    when = f', to be removed in {flag.removal}' if flag.removal else ''
    hint = '' if not use else f'; {use}' if use.startswith('drop') else f'; use {use}'
    return Problem(
        option.word.place, '{flag} is deprecated in {engine}{when}{hint}', flag=option.given, engine=release(engine), when=when, hint=hint,
        fix=_drop(option) if use.startswith('drop') else None, detail=option.name,
    )  # fmt: skip


def _abbreviated(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    found = known.find(option.given, engine.version)
    flag = found.flag or (found.candidates[-1] if found.candidates else None)
    if flag is None or not flag.abbreviated or option.given in KEPT_SHORT or known.status(option.given, engine.version).state != 'known':
        return None
    return Problem(
        option.word.place, '{flag} is short for {full}: it breaks when another flag begins alike', flag=option.given, full=flag.option,
        fix=_rename(option, flag.option), detail=option.name,
    )  # fmt: skip


def _value_unexpected(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    """A value behind a switch: `--enable-x True`, `--enable-x=True`."""
    flag = _flag(engine, option, known)
    if flag is None or flag.takes_value or option.value is None:
        return None
    return Problem(
        option.word.place, '{flag} takes no value in {engine}: the engine stops at start; write {right}', flag=option.given,
        engine=release(engine), right=flag.option if option.value.value.lower() in ('true', '1') else f'--no-{flag.option[2:]}', detail=option.name,
    )  # fmt: skip


def _value_invalid(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    flag = _flag(engine, option, known)
    if flag is None or not flag.takes_value or flag.nargs or flag.boolean or option.value is None or not option.value.known or flag.key:
        return None
    text = option.value.value
    if '$(' in text or (flag.nullable and text.lower() in ('none', 'null', '')):
        return None
    reason = _bad_value(flag, text)
    if not reason:
        return None
    return Problem(
        option.value.place, '{text} is no value for {flag} in {engine}: {reason}', text=repr(text), flag=flag.option, engine=release(engine), reason=reason,
        detail=option.name,
    )  # fmt: skip


def _bad_value(flag: Flag, text: str) -> str:
    """Why the parser refuses a value, or ''."""
    number: float | None = None
    if flag.type in ('int', 'float'):
        try:
            number = int(text) if flag.type == 'int' else float(text)
        except ValueError:
            return 'it wants a whole number' if flag.type == 'int' else 'it wants a number'
    elif flag.type == 'human-int':
        number = human_integer(text)
        if number is None:
            return 'it wants a whole number (8k, 8K)'
    elif flag.choices and text not in flag.choices and not any('$' in choice for choice in flag.choices):
        return 'it wants one of ' + ', '.join(flag.choices[:12])
    for sign, bound in flag.bounds if number is not None else ():
        holds = {'gt': number > bound, 'ge': number >= bound, 'lt': number < bound, 'le': number <= bound}  # type: ignore[operator]
        if not holds.get(sign, True):
            return f'it must be {WORDS[sign]} {bound:g}'
    return ''


ROWS: tuple[tuple[str, Severity, Judge, str], ...] = (
    ('flag-removed', 'error', _removed, 'The engine stops at start with "unrecognized arguments": this release no longer has the flag.'),
    ('flag-unknown', 'error', _unknown, 'The engine stops at start with "unrecognized arguments": no release has the flag.'),
    ('flag-too-new', 'error', _too_new, 'The engine stops at start with "unrecognized arguments": only later releases have the flag.'),
    ('flag-deprecated', 'warning', _deprecated, 'The flag still works and its removal is announced: the next image stops at start.'),
    ('flag-abbreviated', 'advice', _abbreviated, 'An abbreviated flag works until another one begins alike; then the engine stops at start.'),
    ('flag-value-unexpected', 'error', _value_unexpected, 'A switch takes no value in this release: the engine stops at start.'),
    ('flag-value-invalid', 'error', _value_invalid, 'The parser of this release refuses the value: the engine stops at start.'),
)


def _make(engine: str, row: tuple[str, Severity, Judge, str]) -> Rule:
    name, severity, judge_one, doc = row

    def judge(component: Component) -> Iterator[Problem]:
        if not component['options'].value:
            raise NotApplicable('no flag is given')
        known = catalogue(engine)
        for option in _options(component):
            problem = judge_one(component, option, known)
            if problem is not None:
                yield problem

    judge.__doc__ = f'{doc}\n\nJudged by the flags of each published release of {PRODUCTS[engine]}; with an unknown version only what no release accepts.'
    source = 'vllm engine/arg_utils.py and cli_args.py' if engine == 'vllm' else 'sglang srt/server_args.py'
    return rule(f'{engine}-{name}', on=engine, severity=severity, source=f'{source} of the published releases')(judge)


FLAG_RULES = [_make(engine, row) for engine in ENGINES for row in ROWS]
