"""Which profiles of tuned are in force on a host, and in which order they set things.

Source: tuned(8): /etc/tuned goes before /usr/lib/tuned, a profile comes behind those that it includes; tuned-main.conf(5),
reapply_sysctl: with 1 (the default) the files of sysctl.d are applied again behind the profile.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from configaudit.model import Component, Peers
from configaudit.patterns import regex

_FOLDER = regex(r'(?P<root>|.*?/)(?P<folder>etc|usr/lib|usr/local/lib)/tuned/')


class Tuning(NamedTuple):
    """What tuned sets on one host, in order."""

    set: tuple[Component, ...]
    reapply: bool
    """Whether the files of sysctl.d win over it."""


def link_tuned(by_kind: Mapping[str, list[Component]]) -> dict[str, Tuning]:
    """By root of a host whose active profile is known (a live host has one, or none): what holds. All else that profiles set there learns that it is hidden."""
    hosts: dict[str, list[Component]] = {}
    for component in by_kind.get('tuned', ()):
        match = _FOLDER.match(component.place.document.path)
        if match and component.place.document.outer is None:
            hosts.setdefault(match['root'], []).append(component)
    found = {}
    for root, files in hosts.items():
        active = [name for file in files if file['role'].value == 'active' for name in file['active'].value]
        if active or 'host' in by_kind:
            found[root] = _tuning(files, active)
    return found


def _tuning(files: Iterable[Component], active: Iterable[str]) -> Tuning:
    profiles: dict[str, Component] = {}
    for file in sorted(files, key=lambda file: file.place.document.path, reverse=True):
        if file['role'].value == 'profile':
            profiles[file.name] = file  # of two, the one below /etc comes last
    order: list[Component] = []
    for name in active:
        _load(name, profiles, order)
    for file in files:
        if file['role'].value == 'profile' and file not in order:
            for component in file.peers('set'):
                component.peer_map['hidden'] = Peers.of([file], True)
    reapply = all(file['reapply'].value for file in files if file['role'].value == 'main')
    return Tuning(tuple(component for file in order for component in file.peers('set')), reapply)


def _load(name: str, profiles: Mapping[str, Component], order: list[Component]) -> None:
    """Add a profile behind those that it includes; none twice, so that a circle ends."""
    profile = profiles.get(name)
    if profile is None or profile in order:
        return
    order.append(profile)
    before = len(order) - 1
    for included in profile['includes'].value:
        _load(included, profiles, order)
    order.append(order.pop(before))
