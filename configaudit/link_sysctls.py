"""Which assignment of a kernel parameter holds, when several files of one host set it.

Source: sysctl.d(5) and systemd-sysctl(8): of files with the same name only the one in the highest folder is read (/etc, /run,
/usr/local/lib, /usr/lib), a link to /dev/null hides them all; what is left is read by name, whatever folder it is in, and later
assignments win. procps reads /etc/sysctl.conf last. A key that is named explicitly is not touched by globs.
"""

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from configaudit.link_tuned import Tuning
from configaudit.model import Component, Peers
from configaudit.patterns import regex
from configaudit.places import Document

_FILE = regex(r'(?:(?P<root>.*?)/|/?)(?P<folder>etc|run|usr/local/lib|usr/lib|lib)/(?:sysctl\.d/(?P<name>[^/]+\.conf)|sysctl\.conf)\Z')
_RANKS = {'etc': 0, 'run': 1, 'usr/local/lib': 2, 'usr/lib': 3, 'lib': 3}
NONE: dict[str, Tuning] = {}
LAST = '\uffff'
"""Sorts /etc/sysctl.conf behind every file of sysctl.d."""


class _Place(NamedTuple):
    """Where a file stands in the order of reading: root of the host, name, rank of the folder."""

    root: str
    name: str
    rank: int


def link_sysctls(by_kind: Mapping[str, list[Component]], masks: Collection[str] = (), tuned: Mapping[str, Tuning] = NONE) -> None:
    """Tell every assignment in a file which later ones take its place, and every live parameter which one set it.

    `masks`: paths that are links to /dev/null; `tuned`: what profiles set on each host. Peers: 'later' (they win over this one), 'hidden' (the file is not read),
    'setter' (of a live parameter: the assignment that should hold).
    """
    files: dict[str, list[Component]] = {}
    live: dict[str, Component] = {}
    for component in by_kind.get('sysctl', ()):
        if component['form'].known_value == 'live':
            live[component.name] = component
        elif component['form'].known_value == 'file':
            files.setdefault(path_of(component.place.document), []).append(component)
    roots: dict[str, list[tuple[str, _Place]]] = {}
    for path in (*files, *masks):
        place = _place(path)
        if place is not None:
            roots.setdefault(place.root, []).append((path, place))
    for root in dict.fromkeys((*roots, *(root.rstrip('/') for root in tuned))):
        order = _with_tuned(_read(roots.get(root, []), files, masks), tuned.get(f'{root}/') or tuned.get(root))
        _override(order)
        _set(order, live)


def _with_tuned(order: list[Component], tuning: Tuning | None) -> list[Component]:
    if tuning is None:
        return order
    profile = [component for component in tuning.set if component.kind.name == 'sysctl']
    return [*profile, *order] if tuning.reapply else [*order, *profile]


def path_of(document: Document) -> str:
    """The path of a file; of one inside a string that of the object around it, and the path that it gets on the host."""
    return document.called if document.outer is None else f'{document.path}#{document.outer.document.base}:{document.called}'


def _place(path: str) -> _Place | None:
    match = _FILE.match(path)
    return _Place(match['root'] or '', match['name'] or LAST, _RANKS[match['folder']]) if match else None


def _read(held: list[tuple[str, _Place]], files: Mapping[str, list[Component]], masks: Collection[str]) -> list[Component]:
    """The assignments that are read, in the order in which they are; the others learn that they are hidden."""
    chosen: dict[str, tuple[int, str]] = {}
    for path, place in held:
        if place.name not in chosen or (place.rank, path) < chosen[place.name]:
            chosen[place.name] = place.rank, path
    for path, place in held:
        winner = chosen[place.name][1]
        if path != winner:
            for component in files.get(path, ()):
                component.peer_map['hidden'] = Peers.of(files.get(winner, ())[:1] or [component], True)
    return [component for name in sorted(chosen) for component in files.get(chosen[name][1], ()) if chosen[name][1] not in masks]


def _override(order: list[Component]) -> None:
    later: dict[str, list[Component]] = {}
    for component in reversed(order):
        component.peer_map['later'] = Peers.of(reversed(later.get(component.name, [])), True)
        later.setdefault(component.name, []).append(component)


def _set(order: Iterable[Component], live: Mapping[str, Component]) -> None:
    """The assignment that should hold for each live parameter: the last explicit one, else the last glob."""
    explicit = {component.name: component for component in order if '*' not in component.name and '?' not in component.name}
    globs = [component for component in order if component.name not in explicit]
    for name, parameter in live.items():
        setter = explicit.get(name) or next((glob for glob in reversed(globs) if fnmatchcase(name, glob.name)), None)
        if setter is not None:
            parameter.peer_map['setter'] = Peers.of([setter], True)
            setter.peer_map['live'] = Peers.of([*setter.peers('live'), parameter], True)
