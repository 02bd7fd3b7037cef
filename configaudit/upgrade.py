"""What changes between two releases of an engine: for everybody, and for the files of an application.

For files the audit runs twice, as if every engine of that name were the one release and then the other: what the rules say
differently, and the defaults of the engines that differ, is what the upgrade changes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from configaudit.config import Config
from configaudit.errors import UsageError
from configaudit.findings import Finding
from configaudit.knowledge.at_version import flags_at, metrics_at, resolved, variables_at
from configaudit.knowledge.flag import Flag
from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.gpus import PRODUCTS as PRODUCTS_OF_GPUS
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.metrics import ask
from configaudit.knowledge.shipped import HISTORIES
from configaudit.knowledge.versions import Version
from configaudit.model import Component, Setting
from configaudit.places import Place
from configaudit.release_sheet import (
    NOT_LISTED,
    PRODUCTS,
    age,
    choices,
    default_of,
    gpu_of,
    kind,
    release_of,
    row,
    spelled,
)
from configaudit.result import Result

Audit = Callable[[Config], Result]


class Named(NamedTuple):
    """A flag, variable or metric that one of the two releases has, and what to use instead, if anything is recorded."""

    name: str
    use: str = ''


class Moved(NamedTuple):
    """A default, or what a flag accepts, that is another one in the other release."""

    name: str
    before: str
    after: str
    why: str = ''
    source: str = ''
    places: tuple[tuple[str, Place], ...] = ()
    """(engine's identity, where it would be set) of every engine that leaves it at its default."""


class Releases(NamedTuple):
    """The two releases, for a title."""

    engine: str
    before: Version
    after: Version
    notes: tuple[str, ...]
    gpu: Gpu | None

    @property
    def title(self) -> str:
        """'vLLM 0.8.5 -> 0.16.0 on A100-80GB'."""
        where = f' on {self.gpu.name or self.gpu.slice}' if self.gpu else ''
        return f'{PRODUCTS[self.engine]} {self.before} -> {self.after}{where}'


class Difference(NamedTuple):
    """All that differs between two releases, whoever uses them."""

    releases: Releases
    gone: tuple[Named, ...]
    new: tuple[Named, ...]
    syntax: tuple[Moved, ...]
    """Flags that are written otherwise: type, switch or value, choices that went."""
    defaults: tuple[Moved, ...]
    variables_gone: tuple[Named, ...]
    variables_new: tuple[Named, ...]
    metrics_gone: tuple[Named, ...]
    metrics_new: tuple[Named, ...]


class Impact(NamedTuple):
    """What the step changes for some files."""

    releases: Releases
    engines: tuple[Component, ...]
    appear: tuple[Finding, ...]
    """Findings of the later release that the earlier one does not have."""
    disappear: tuple[Finding, ...]
    defaults: tuple[Moved, ...]
    result: Result
    """The audit as of the later release."""


def releases(engine: str, before: str, after: str, gpu: str) -> Releases:
    """Two releases of an engine. UsageError for an engine without a history, and for words that are no versions."""
    name = engine.lower()
    if name not in HISTORIES:
        raise UsageError(f'{engine!r} has no history by release (there are: {", ".join(HISTORIES)})')
    known = catalogue(name)
    versions = release_of(before, known), release_of(after, known)
    notes = tuple(f'{version} is {note}' for version in dict.fromkeys(versions) if (note := age(known, version)))
    return Releases(name, *versions, notes, gpu_of(gpu))


def difference(asked: Releases) -> Difference:
    """What differs between two releases by the catalogue."""
    known = catalogue(asked.engine)
    old, new = flags_at(known, asked.before), flags_at(known, asked.after)
    variables = variables_at(known, asked.before), variables_at(known, asked.after)
    metrics = metrics_at(known, asked.before), metrics_at(known, asked.after)
    return Difference(
        asked, tuple(Named(name, known.replacement(name)) for name in old if name not in new), tuple(Named(name) for name in new if name not in old),
        tuple(_syntax(old, new)), tuple(_defaults(asked, old, new)),
        tuple(Named(name, known.env_status(name, asked.after).replacement) for name in variables[0] if name not in variables[1]),
        tuple(Named(name) for name in variables[1] if name not in variables[0]),
        tuple(Named(name, (answer := ask(name, asked.after)).use or answer.hint) for name in sorted(metrics[0] - metrics[1])), tuple(map(Named, sorted(metrics[1] - metrics[0]))),
    )  # fmt: skip


def _syntax(old: Mapping[str, Flag], new: Mapping[str, Flag]) -> Iterator[Moved]:
    """Flags that refuse something they took."""
    for name in sorted(old.keys() & new.keys()):
        before, after, now = old[name], new[name], choices(new[name])
        lost = [choice for choice in choices(before) if choice not in now] if now else []
        if lost:
            yield Moved(name, f'takes {", ".join(lost)}', 'does not', f'one of {", ".join(now)}')
        elif _shape(before) != _shape(after) or (now and not before.choices):
            yield Moved(name, kind(before), kind(after), f'one of {", ".join(now)}' if now else '')


def _shape(flag: Flag) -> str:
    """What may stand behind a flag."""
    return 'nothing' if not flag.takes_value else 'a switch or a value' if flag.boolean else 'a value'


def _defaults(asked: Releases, old: Mapping[str, Flag], new: Mapping[str, Flag]) -> Iterator[Moved]:
    worked_out = resolved(asked.engine, asked.before, asked.gpu), resolved(asked.engine, asked.after, asked.gpu)
    for name in sorted(old.keys() & new.keys()):
        before, after = row(old[name], worked_out[0]), row(new[name], worked_out[1])
        where = by_gpu(asked, name) if len(after.candidates) > 1 and asked.gpu is None else ''
        if where or (_moves(old[name], new[name]) if not after.source else before.default != after.default):
            yield Moved(name, before.default, after.default, where or after.why or before.why, after.source)


def _moves(before: Flag, after: Flag) -> bool:
    """Whether the recorded default is another one; nothing at all and an empty value are the same."""
    if before.computed or after.computed or after.deprecated:
        return False
    empty = (None, '', ())
    return before.default != after.default and not (before.default in empty and after.default in empty)


def by_gpu(asked: Releases, name: str) -> str:
    """On which GPUs a default that depends on the GPU moves: '1024 -> 256 on A100-80GB'."""
    moves: dict[str, list[str]] = {}
    for gpu in PRODUCTS_OF_GPUS.values():
        before, after = (resolved(asked.engine, version, gpu).get(name) for version in (asked.before, asked.after))
        if before is not None and after is not None and before.known and after.known and before.value != after.value:
            moves.setdefault(f'{spelled(before.value)} -> {spelled(after.value)}', []).append(gpu.name)
    return '; '.join(f'{move} on {", ".join(names[:4])}{" and others" if len(names) > 4 else ""}' for move, names in moves.items())


def impact(asked: Releases, config: Config, audit: Audit) -> Impact:
    """What the step changes for the files that `audit` reads."""
    context = config.context
    before, after = (
        audit(config._replace(context=context._replace(assumed_versions={**context.assumed_versions, asked.engine: str(version)})))
        for version in (asked.before, asked.after)
    )
    old, new = set(map(_same, before.findings)), set(map(_same, after.findings))
    engines = {_spot(item): item for item in before.components if item.kind.name == asked.engine}
    later = [item for item in after.components if item.kind.name == asked.engine]
    moved = [*_settled(asked, engines, later), *_recorded(asked, later)]
    return Impact(
        asked, tuple(later),
        tuple(item for item in after.findings if _same(item) not in old), tuple(item for item in before.findings if _same(item) not in new),
        tuple(_grouped(moved)), after,
    )  # fmt: skip


def _same(finding: Finding) -> tuple[str, str]:
    """What a finding has in both audits: overlays of one application hold objects of one name in several files."""
    return finding.fingerprint, finding.place.document.path


def _spot(engine: Component) -> tuple[str, str, int]:
    """What tells an engine from its namesakes in other files and documents."""
    place = engine.place
    return engine.identity, place.document.path, place.document.base + place.start


def _settled(asked: Releases, engines: Mapping[tuple[str, str, int], Component], later: Iterable[Component]) -> Iterator[Moved]:
    """Defaults that the engines' own GPU, environment and flags decide; a flag that goes has none any more."""
    kept = flags_at(catalogue(asked.engine), asked.after)
    for engine in later:
        earlier = engines.get(_spot(engine))
        for name, setting in sorted(engine.settings.items()):
            old = earlier.settings.get(name) if earlier is not None else None
            if old is None or old.is_set or setting.is_set or not (old.source or setting.source):
                continue
            before, after = _value(old), _value(setting)
            spec = engine.kind.settings[name]
            flag = spec.path[0] if spec.path else 'engine' if name == 'generation' else name
            if flag.startswith('-') and flag not in kept:
                continue
            where = by_gpu(asked, flag) if len(setting.candidates) > 1 and not engine['gpu'].is_known else ''
            if before != after or where:
                yield Moved(flag, before, after, where or setting.reason or old.reason, setting.source, ((engine.identity, setting.place),))


def _value(setting: Setting) -> str:
    if setting.is_known:
        return spelled(setting.known_value)
    return ' or '.join(map(spelled, setting.candidates)) or NOT_LISTED


def _recorded(asked: Releases, later: Iterable[Component]) -> Iterator[Moved]:
    """Defaults of flags that no component has as a setting."""
    known: Catalogue = catalogue(asked.engine)
    old, new = flags_at(known, asked.before), flags_at(known, asked.after)
    for engine in later:
        own = {spec.path[0] for spec in engine.kind.settings.values() if spec.path}
        given = {option.name for option in engine['options'].known_value or ()}  # type: ignore[attr-defined]
        if engine['model'].is_set or not engine['model'].is_known:
            given.add('--model')  # vLLM takes it by position too
        for name in sorted(old.keys() & new.keys() - own - given):
            if _moves(old[name], new[name]):
                yield Moved(name, default_of(old[name]), default_of(new[name]), '', '', ((engine.identity, engine.place),))


def _grouped(moved: Iterable[Moved]) -> Iterator[Moved]:
    """The same change of several engines as one."""
    groups: dict[tuple[str, str, str], list[Moved]] = {}
    for item in moved:
        groups.setdefault((item.name, item.before, item.after), []).append(item)
    for _, same in sorted(groups.items()):
        yield same[0]._replace(places=tuple(dict.fromkeys(place for item in same for place in item.places)))
