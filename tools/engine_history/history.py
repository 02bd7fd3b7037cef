"""What releases have, as ranges of versions: the form that the package ships, and back."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from configaudit.knowledge.versions import release as version_of

from .environment import variables
from .metrics import metrics
from .specification import Spec

Json = dict[str, Any]
Ends = list[list[str]]


class Snapshot(NamedTuple):
    """One release: option -> specification, variable -> specification, metric -> generation -> whether it is hidden."""

    flags: Mapping[str, Spec]
    env: Mapping[str, Spec]
    metrics: Mapping[str, Mapping[str, bool]]
    kinds: Mapping[str, str]  # metric -> gauge, counter ...


def snapshot(engine: str, specs: Iterable[Spec], sources: Mapping[str, str]) -> Snapshot:
    """What the sources of one release say; options are keyed by the spelling that comes first in the release."""
    found = metrics(engine, sources)
    named = {spec['names'][0]: spec for spec in specs}
    hidden = {name: {key: each.hidden for key, each in generations.items()} for name, generations in found.items()}
    kinds = {name: next((each.kind for each in of.values() if each.kind), '') for name, of in found.items()}
    return Snapshot(named, variables(engine, sources), hidden, {name: kind for name, kind in kinds.items() if kind})


def in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=version_of)


def rekey(snapshots: Mapping[str, Snapshot], keys: Iterable[str] = ()) -> dict[str, Snapshot]:
    """The same with one key for each option through all releases: the main spelling of the newest release that has it.

    A key is always a spelling that the release takes. `keys`, the foremost first, are kept where they can be.
    """
    rank = {key: number for number, key in enumerate(keys)}
    found = {}
    for name in reversed(in_order(snapshots)):
        flags = {}
        for spec in snapshots[name].flags.values():
            used = [each for each in spec['names'] if each in rank]
            key = min(used, key=rank.__getitem__, default=_first_long(spec['names']))
            rank.setdefault(key, len(rank))
            flags[key] = spec
        found[name] = snapshots[name]._replace(flags=flags)
    return found


def keys_of(shipped: Json) -> list[str]:
    """The options of the shipped form, those of the newest releases first."""
    place = {name: number for number, name in enumerate(shipped['versions'])}
    return sorted(shipped['flags'], key=lambda key: (-place[shipped['flags'][key][-1]['last']], key))


def _first_long(names: list[str]) -> str:
    return next((name for name in names if name.startswith('--')), names[0])


def _shipped_spec(key: str, spec: Spec) -> Spec:
    others = sorted(name for name in spec['names'] if name != key)
    return {**{each: value for each, value in spec.items() if each != 'names'}, **({'aliases': others} if others else {})}


def ranges(versions: list[str], present: Mapping[str, Mapping[str, Spec]]) -> dict[str, list[Json]]:
    """name -> [{first, last, ...}] of version -> name -> specification; equal neighbours are one range."""
    found: dict[str, list[Json]] = {}
    for number, version in enumerate(versions):
        for name, spec in present[version].items():
            entries = found.setdefault(name, [])
            last = entries[-1] if entries else None
            follows = last is not None and number > 0 and last['last'] == versions[number - 1]
            if last is not None and follows and spec == {key: last[key] for key in last if key not in ('first', 'last')}:
                last['last'] = version
            else:
                entries.append({'first': version, 'last': version, **spec})
    return dict(sorted(found.items()))


def collapse(engine: str, snapshots: Mapping[str, Snapshot]) -> Json:
    """The shipped form of releases whose options have one key each."""
    versions = in_order(snapshots)
    flags = {
        name: {key: _shipped_spec(key, spec) for key, spec in snapshots[name].flags.items()} for name in versions
    }
    kinds: dict[str, str] = {}
    for name in versions:
        kinds.update(snapshots[name].kinds)
    return {
        'engine': engine,
        'versions': versions,
        'flags': ranges(versions, flags),
        'env': ranges(versions, {name: snapshots[name].env for name in versions}),
        'metrics': _metric_ranges(versions, snapshots, hidden=False),
        'hidden_metrics': _metric_ranges(versions, snapshots, hidden=True),
        'metric_kinds': dict(sorted(kinds.items())),
    }


def _metric_ranges(versions: list[str], snapshots: Mapping[str, Snapshot], *, hidden: bool) -> dict[str, dict[str, Ends]]:
    """metric -> generation -> [[first, last]]; `hidden`: only where the metric is hidden by default."""
    present: dict[str, dict[str, Spec]] = {}
    for version in versions:
        of_version = snapshots[version].metrics.items()
        present[version] = {
            f'{name} {key}': {} for name, of in of_version for key, is_hidden in of.items() if is_hidden or not hidden
        }
    found: dict[str, dict[str, Ends]] = {}
    for joined, entries in ranges(versions, present).items():
        name, _, key = joined.partition(' ')
        found.setdefault(name, {})[key] = [[entry['first'], entry['last']] for entry in entries]
    return found


def expand(shipped: Json) -> dict[str, Snapshot]:
    """The releases that the shipped form was made of."""
    versions: list[str] = shipped['versions']
    place = {name: number for number, name in enumerate(versions)}

    def at(number: int, first: str, last: str) -> bool:
        return place[first] <= number <= place[last]

    found = {}
    for number, version in enumerate(versions):
        flags = {
            key: _spec_of(key, entry)
            for key, entries in shipped['flags'].items()
            for entry in entries
            if at(number, entry['first'], entry['last'])
        }
        env = {
            name: {key: value for key, value in entry.items() if key not in ('first', 'last')}
            for name, entries in shipped['env'].items()
            for entry in entries
            if at(number, entry['first'], entry['last'])
        }
        hidden = shipped.get('hidden_metrics', {})
        names: dict[str, dict[str, bool]] = {}
        for name, of in shipped['metrics'].items():
            for key, ends in of.items():
                if any(at(number, *pair) for pair in ends):
                    names.setdefault(name, {})[key] = any(at(number, *pair) for pair in hidden.get(name, {}).get(key, ()))
        found[version] = Snapshot(flags, env, names, shipped.get('metric_kinds', {}))
    return found


def _spec_of(key: str, entry: Json) -> Spec:
    names = [key, *entry.get('aliases', ())]
    return {**{each: value for each, value in entry.items() if each not in ('first', 'last', 'aliases')}, 'names': names}
