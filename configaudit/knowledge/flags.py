"""Command-line flags and environment variables of an engine, by version: existence, type, default, replacement.

The data is `engines/*.json`, written by tools/engine_history; `history` reads a version between two examined ones.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, NamedTuple

from configaudit.knowledge.flag import LEVEL, Flag, Spec, flag_at, paired, spelled
from configaudit.knowledge.history import Position, Range, Status, judge, locate
from configaudit.knowledge.shipped import load
from configaudit.knowledge.versions import Version, parse

# vLLM 0.33.0 utils/argparse_utils.py EnableDisableAction: `--enable-x` also has `--disable-x`, and the other way round.
PAIRED_SINCE = {'vllm': Version((0, 33, 0, 0))}
KEYED_SINCE = {'vllm': Version((0, 9, 0, 0))}
"""Releases whose parser reads `--flag.key VALUE` (create_nested_dict in vllm/utils.py); SGLang's never does."""
FOLDED = frozenset(('vllm',))
"""Engines whose parser takes `_` for `-` in a flag's name (FlexibleArgumentParser); SGLang's is argparse's own."""


class Lookup(NamedTuple):
    """The answer for one option; several candidates when the version is unknown and the versions differ."""

    flag: Flag | None
    candidates: tuple[Flag, ...]
    reason: str = ''


# One meaning of a spelling: the main option, its range, whether the spelling negates it.
Meaning = tuple[str, Range, bool]


def _nothing(part: str) -> Mapping[str, Any]:
    """What a catalogue without variables and metrics has of them."""
    return {}


class Catalogue:
    """One engine's flags and variables. Build it with `catalogue(engine)`, which keeps it."""

    def __init__(
        self, engine: str, data: Mapping[str, Any], replacements: Mapping[str, Any], more: Callable[[str], Mapping[str, Any]] = _nothing
    ) -> None:
        """`data`: versions and flags; `more`: gives what is rarely asked for, 'env' or 'metrics', when it is asked for."""
        self.engine = engine
        self.names: list[str] = data['versions']
        self.versions = tuple(version for name in self.names if (version := parse(name)))
        self.newest = self.versions[-1]
        self._at = {name: at for at, name in enumerate(self.names)}
        since = PAIRED_SINCE.get(engine)
        self._paired_from = bisect_left(self.versions, since) if since else len(self.versions)
        self._flags: Mapping[str, list[Spec]] = data['flags']
        self.options = tuple(self._flags)
        self._replaced = replacements
        self._more = more
        self._tables: dict[int | None, dict[str, list[Meaning]]] = {}
        self._meanings: Callable[[str, int | None], list[Meaning]] = cache(self._look_up)
        self.find: Callable[[str, Version | None], Lookup] = cache(self._find)
        self.status: Callable[[str, Version | None], Status] = cache(self._status)

    @cached_property
    def _env(self) -> Mapping[str, list[Spec]]:
        found: Mapping[str, list[Spec]] = self._more('env').get('env', {})
        return found

    @cached_property
    def _emitted(self) -> Mapping[str, Any]:
        return self._more('metrics')

    @property
    def _metrics(self) -> Mapping[str, Mapping[str, list[list[str]]]]:
        found: Mapping[str, Mapping[str, list[list[str]]]] = self._emitted.get('metrics', {})
        return found

    @property
    def hidden_metrics(self) -> Mapping[str, Mapping[str, list[list[str]]]]:
        """Where a metric is off unless it is asked for, in the form of the metrics."""
        found: Mapping[str, Mapping[str, list[list[str]]]] = self._emitted.get('hidden_metrics', {})
        return found

    @property
    def metric_kinds(self) -> Mapping[str, str]:
        """Metric -> gauge, counter, histogram, summary or info, where it is known."""
        found: Mapping[str, str] = self._emitted.get('metric_kinds', {})
        return found

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables of any version."""
        return tuple(self._env)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Prometheus metrics of any version."""
        return tuple(self._metrics)

    def position(self, version: Version) -> Position:
        """How a version is read."""
        return locate(self.versions, version)

    def keyed(self, version: Version | None) -> bool:
        """Whether the parser of a version reads the keys of `--flag.key VALUE`; of an unknown version: where any does."""
        since = KEYED_SINCE.get(self.engine)
        return since is not None and (version is None or version >= since)

    def spelling(self, option: str) -> str:
        """The form options are compared in, without the keys of --flag.key."""
        if self.engine not in FOLDED:
            return option
        name = option.partition('.')[0].rstrip('+')
        return name.replace('_', '-') if name.startswith('--') else name

    def spellings(self, version: Version | None) -> frozenset[str]:
        """Every spelling in full that the parser of a version (None: of any) takes."""
        return frozenset(self._table(self.position(version).read_as if version else None))

    def _ranges(self, entries: Iterable[Spec]) -> list[Range]:
        return [Range(self._at[each['first']], self._at[each['last']], each) for each in entries]

    def _table(self, at: int | None) -> dict[str, list[Meaning]]:
        """Every spelling that one examined version (None: any version) takes, with its meanings."""
        if at not in self._tables:
            self._tables[at] = self._spelled_by(self._flags, at)
        return self._tables[at]

    def _spelled_by(self, options: Iterable[str], at: int | None) -> dict[str, list[Meaning]]:
        """The spellings of some options."""
        table: dict[str, list[Meaning]] = {}
        spans = [(option, span) for option in options for span in self._ranges(self._flags[option])]
        present = [(option, span) for option, span in spans if at is None or span.has(at)]
        for option, span in present:
            for name, negated in spelled(option, span.spec):
                table.setdefault(name, []).append((option, span, negated))
        real = frozenset(table) if at is not None else frozenset()
        for option, span in present:
            for name, clipped, negated in self._pairs(option, span, at):
                if name not in real:
                    table.setdefault(name, []).append((option, clipped, negated))
        return table

    @cached_property
    def _spellers(self) -> Mapping[str, list[str]]:
        """A main spelling or an alias -> the options that have it at some version."""
        found = {option: [option] for option in self._flags}
        for option, entries in self._flags.items():
            for alias in {alias for each in entries for alias in each.get('aliases', ())}:
                found.setdefault(alias, []).append(option)
        return found

    def _look_up(self, name: str, at: int | None) -> list[Meaning]:
        """The meanings of one spelling in full: the whole table takes 3 ms to build, and most runs ask for a few flags."""
        word = name.lstrip('-').partition('-')[2]
        near = (name, f'--{word}', f'--enable-{word}', f'--disable-{word}')
        options = {option for each in near for option in self._spellers.get(each, ())}
        return self._spelled_by(sorted(options), at).get(name, [])

    def _pairs(self, option: str, span: Range, at: int | None) -> Iterator[tuple[str, Range, bool]]:
        """The --enable-x and --disable-x spellings of a --x / --no-x flag, in the versions that make them."""
        start = self._paired_from
        if start <= span.last and (at is None or at >= start):
            clipped = span._replace(first=max(span.first, start))
            yield from ((name, clipped, negated) for name, negated in paired(option, span.spec))

    def _match(self, option: str, at: int | None) -> tuple[list[Meaning], bool, str]:
        """(what the spelling stands for, whether it is abbreviated, why nothing was found)."""
        name = self.spelling(option)
        if at is not None and '.' in option.partition('=')[0] and not self.keyed(self.versions[at]):
            return [], False, 'no such flag'
        found = self._meanings(name, at)
        if found:
            return found, False, ''
        if name.startswith(LEVEL) and (len(name) > len(LEVEL) or at is None) and self.engine in FOLDED:
            return self._meanings('--optimization-level', at) or self._meanings(LEVEL, at), False, ''
        table = self._table(at)
        starts = [full for full in table if full.startswith(name)] if name.strip('-') else []
        meanings = {(main, negated) for full in starts for main, _, negated in table[full]}
        if len(meanings if at is None else starts) == 1:
            return [each for full in starts for each in table[full]], True, ''
        if meanings:
            return [], True, 'ambiguous: could be ' + ', '.join(sorted(starts))
        return [], False, 'no such flag'

    def _find(self, option: str, version: Version | None) -> Lookup:
        """The flag an option stands for, by the rules of the engine's own parser; `_` and `-` are equal here."""
        place = self.position(version) if version else None
        found, abbreviated, reason = self._match(option, place.read_as if place else None)
        if place and found and not place.examined and self.status(option, version).state == 'removed':
            return Lookup(None, (), 'removed')
        key = option.partition('.')[2].rstrip('+')
        flags = {
            flag_at(main, span, place)._replace(negated=negated, abbreviated=abbreviated, key=key)
            for main, span, negated in found
        }
        candidates = tuple(sorted(flags, key=lambda each: (self._at[each.first], each.option)))
        if len({each._replace(first='', last='') for each in candidates}) == 1:
            return Lookup(candidates[0]._replace(last=candidates[-1].last), candidates)
        return Lookup(None, candidates, reason or 'differs between versions')

    def flag(self, option: str, version: Version | None) -> Flag | None:
        """The flag at a version; with an unknown version only what all versions agree on."""
        return self.find(option, version).flag

    def history(self, option: str) -> tuple[Flag, ...]:
        """The flag through all versions, oldest first; empty for an option that no version has."""
        return tuple(
            flag_at(self._main(option), span, None) for span in self._ranges(self._flags.get(self._main(option), ()))
        )

    def first(self, option: str) -> Version | None:
        """The first examined version with the flag."""
        spans = self.history(option)
        return parse(spans[0].first) if spans else None

    def last(self, option: str) -> Version | None:
        """The last examined version with the flag."""
        spans = self.history(option)
        return parse(spans[-1].last) if spans else None

    def _status(self, option: str, version: Version | None) -> Status:
        """Whether a version has a flag, and if not, since or until when.

        A removed flag that the parser now takes for the start of another one is removed; `reason` names the other one.
        """
        place = self.position(version) if version else None
        found, abbreviated, reason = self._match(option, place.read_as if place else None)
        once = self._meanings(self.spelling(option), None)
        main = self._main(option) if once or not found else found[0][0]
        replaced = self._replaced['flags'].get(main, {})
        if abbreviated and not found and not once:
            return Status('ambiguous', place is None or place.examined, reason=reason)
        if place is None or version is None:
            return Status('known' if found else 'unknown', True, replacement=replaced.get('use', ''), reason=reason)
        status = judge([each[1] for each in once or found], place, self.names, replaced)
        if status.state == 'too-new' and found and found[0][0] == main:
            return Status('known', status.exact, reason=f'short for {main}, of which it is a name of its own later')
        if status.state != 'known' and abbreviated:
            return status._replace(reason=f'read as {found[0][0]}' if found else reason)
        return status

    def env_status(self, name: str, version: Version | None) -> Status:
        """The same for an environment variable the engine reads."""
        if not self._env:
            return Status('not-recorded', False, reason=f'no list of environment variables for {self.engine}')
        spans = self._ranges(self._env.get(name, ()))
        replaced = self._replaced['env'].get(name, {})
        if version is None:
            return Status('known' if spans else 'unknown', True, replacement=replaced.get('use', ''))
        return judge(spans, self.position(version), self.names, replaced)

    def env_default(self, name: str, version: Version) -> object:
        """The default of an environment variable at a version, None when it has none or does not exist."""
        at = self.position(version).read_as
        return next((span.spec.get('default') for span in self._ranges(self._env.get(name, ())) if span.has(at)), None)

    def env_history(self, name: str) -> tuple[tuple[str, str, object], ...]:
        """(first, last examined version, default) of an environment variable, oldest first."""
        return tuple((span['first'], span['last'], span.get('default')) for span in self._env.get(name, ()))

    def _main(self, option: str) -> str:
        """The main spelling of an option of any version, or the option itself."""
        name = self.spelling(option)
        return next((each[0] for each in self._meanings(name, None)), name)

    def rewriting(self, option: str, version: Version | None) -> tuple[str, bool]:
        """(what to write instead of a flag, keeping its value or with '=value'; whether to weigh it first), '' where nothing is one to one.

        Only where the version has what would be written.
        """
        replaced = self._replaced['flags'].get(self._main(option), {})
        new = str(replaced.get('write', ''))
        there = new and version is not None and self.status(new.partition('=')[0], version).state == 'known'
        return (new, bool(replaced.get('weigh'))) if there else ('', False)

    def replacement(self, option: str) -> str:
        """What to use instead of a removed flag, '' when nothing is recorded."""
        return str(self._replaced['flags'].get(self._main(option), {}).get('use', ''))

    def suggest(self, option: str, version: Version | None) -> str | None:
        """The flag of that version whose spelling is nearest, None when nothing is near."""
        from difflib import get_close_matches  # 5 ms, needed only when a finding is printed

        table = self._table(self.position(version).read_as if version else None)
        return next(iter(get_close_matches(self.spelling(option).replace('_', '-'), sorted(table), n=1, cutoff=0.75)), None)

    def metric_history(self, name: str) -> tuple[tuple[str, str, str], ...]:
        """(engine generation, first, last examined version) of a Prometheus metric; empty when no version emits it."""
        found = self._metrics.get(name, {})
        return tuple((generation, first, last) for generation in sorted(found) for first, last in found[generation])


@cache
def catalogue(engine: str) -> Catalogue:
    """The catalogue of 'vllm' or 'sglang'. KeyError for an engine without one."""
    return Catalogue(engine, load(engine), load('replacements')[engine], lambda part: load(f'{engine}_{part}'))
