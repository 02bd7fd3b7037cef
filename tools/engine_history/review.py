"""What a release changes against the one before it, for the eyes of a reviewer."""

from collections.abc import Iterator, Mapping
from typing import Any

from .history import Snapshot

Specs = Mapping[str, Mapping[str, Any]]


def _shown(spec: Mapping[str, Any]) -> str:
    return '(computed)' if spec.get('computed') else repr(spec.get('default'))


def _changes(kind: str, before: Specs, after: Specs) -> Iterator[str]:
    """Added, removed, and moved defaults of flags or variables."""
    yield from (f'+ {kind} {name}' for name in sorted(set(after) - set(before)))
    yield from (f'- {kind} {name}' for name in sorted(set(before) - set(after)))
    for name in sorted(set(before) & set(after)):
        old, new = before[name], after[name]
        if _shown(old) != _shown(new):
            yield f'~ {kind} {name}: default {_shown(old)} -> {_shown(new)}'
        for key in ('type', 'boolean', 'nargs', 'choices', 'bounds', 'deprecated', 'removal'):
            if kind == 'flag' and old.get(key) != new.get(key):
                yield f'~ {kind} {name}: {key} {old.get(key)} -> {new.get(key)}'


def _metric_changes(before: Snapshot, after: Snapshot) -> Iterator[str]:
    old, new = (
        {(name, key, hidden) for name, of in each.metrics.items() for key, hidden in of.items()}
        for each in (before, after)
    )
    for sign, names in (('+', new - old), ('-', old - new)):
        for name, key, hidden in sorted(names):
            yield f'{sign} metric {name} {key}{" (hidden)" if hidden else ""}'


def changes(before: Snapshot | None, after: Snapshot) -> list[str]:
    """One line for each change; a first release is only counted."""
    if before is None:
        return [f'{len(after.flags)} flags, {len(after.env)} variables, {len(after.metrics)} metrics']
    return [
        *_changes('flag', before.flags, after.flags),
        *_changes('env', before.env, after.env),
        *_metric_changes(before, after),
    ]
