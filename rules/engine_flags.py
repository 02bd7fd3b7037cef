"""Rules for the flags of engines whose parser is known release by release: one family over what the catalogue says."""

from typing import Any

from configaudit.knowledge.flags import Catalogue
from configaudit.model import Component, Fix, Problem, Severity

from .flag_family import ENGINES, Row, drop, flag_of, make, rename, rewrite, upstream
from .releases import release


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
    use = status.replacement
    what = use if use.startswith('drop') else f'use {use}' if use else 'nothing that takes its place is recorded'
    since = f'gone in {first}' if first != last else f'last in {last}'
    read_as = f' (now {status.reason})' if status.reason else ''
    return Problem(
        option.word.place, '{flag} {known} to {engine}: {since}{read_as}, the engine stops at start; {use}',
        flag=option.given, known=_how_known(status.exact), engine=release(engine), since=since, read_as=read_as, use=what,
        fix=drop(option, safe=bool(use)) if not use or use.startswith('drop') else rewrite(engine, option, known), detail=option.name, severity='advice' if not status.exact else 'warning' if status.reason.startswith('read as') else None,
    )  # fmt: skip


def _unknown(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    status = known.status(option.given, engine.version)
    if status.state != 'unknown' or (engine.kind.name == 'sglang' and engine['command'].value == 'serve'):
        return None  # `sglang serve` also starts the diffusion server, whose flags are others
    near = known.suggest(option.given, engine.version)
    foreign = status.replacement
    hint = foreign if foreign.startswith('drop') else f'use {foreign}' if foreign else f'did you mean {near}?' if near else 'no release has it' if status.exact else 'no recorded release has it'
    return Problem(
        option.word.place, '{flag} is unknown to {engine}: {hint}', flag=option.given, engine=release(engine), hint=hint,
        severity='warning' if engine.version is None or not status.exact or not upstream(engine) else None, fix=_instead(engine, option, known, near, foreign),
        detail=option.name,
    )  # fmt: skip


def _instead(engine: Component, option: Any, known: Catalogue, near: str | None, foreign: str) -> Fix | None:
    """What to write instead of a flag that no release has: another engine's name for the same, or the spelling that is meant."""
    if foreign.startswith('drop'):
        return drop(option)
    if foreign:
        return rewrite(engine, option, known)
    return rename(option, near) if near else None


def _too_new(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    if engine.version is None:
        return None
    status = known.status(option.given, engine.version)
    if status.state != 'too-new' or status.between is None:
        return None
    before, first = status.between
    when = f'it first appears in {first}' if status.exact else f'it appeared between {before} and {first}'
    severity: Severity | None = 'advice' if not status.exact else None if upstream(engine) and not status.reason.startswith('read as') else 'warning'
    return Problem(
        option.word.place, '{flag} {known} to {engine}: {when}, the engine stops at start',
        flag=option.given, known=_how_known(status.exact), engine=release(engine), when=when, detail=option.name, severity=severity,
    )  # fmt: skip


def _deprecated(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    flag = flag_of(engine, option, known)
    if flag is None or not (flag.deprecated or flag.removal):
        return None
    use = known.replacement(flag.option if flag.abbreviated else option.given) or (f'--{flag.target.replace("_", "-")}' if flag.target else '')
    when = f', to be removed in {flag.removal}' if flag.removal else ''
    hint = '' if not use else f'; {use}' if use.startswith('drop') else f'; use {use}'
    return Problem(
        option.word.place, '{flag} is deprecated in {engine}{when}{hint}', flag=option.given, engine=release(engine), when=when, hint=hint,
        fix=drop(option) if use.startswith('drop') else rewrite(engine, option, known), detail=option.name,
    )  # fmt: skip


def _abbreviated(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    found = known.find(option.given, engine.version)
    flag = found.flag or (found.candidates[-1] if found.candidates else None)
    if flag is None or not flag.abbreviated or option.given in KEPT_SHORT or known.status(option.given, engine.version).state != 'known':
        return None
    return Problem(
        option.word.place, '{flag} is short for {full}: it breaks when another flag begins alike', flag=option.given, full=flag.option,
        fix=rename(option, flag.option), detail=option.name,
    )  # fmt: skip


def _ambiguous(engine: Component, option: Any, known: Catalogue) -> Problem | None:
    if engine.version is None:
        return None
    status = known.status(option.given, engine.version)
    if status.state != 'ambiguous':
        return None
    return Problem(
        option.word.place, '{flag} is {reason}: {engine} stops at start', flag=option.given, reason=status.reason, engine=release(engine),
        detail=option.name, severity=None if status.exact else 'warning',
    )  # fmt: skip


KEPT_SHORT = frozenset(('--tp', '--dp', '--pp', '--ep'))
"""Abbreviations that SGLang's own documentation uses."""
ROWS: tuple[Row, ...] = (
    ('flag-removed', 'error', _removed, 'The engine stops at start with "unrecognized arguments": this release no longer has the flag.'),
    ('flag-unknown', 'error', _unknown, 'The engine stops at start with "unrecognized arguments": no release has the flag.'),
    ('flag-too-new', 'error', _too_new, 'The engine stops at start with "unrecognized arguments": only later releases have the flag.'),
    ('flag-deprecated', 'warning', _deprecated, 'The flag still works and its removal is announced: the next image stops at start.'),
    ('flag-abbreviated', 'advice', _abbreviated, 'An abbreviated flag works until another one begins alike; then the engine stops at start.'),
    ('flag-ambiguous', 'error', _ambiguous, 'An abbreviation that fits several flags stops the engine at start.'),
)


FLAG_RULES = [make(engine, row) for engine in ENGINES for row in ROWS]
