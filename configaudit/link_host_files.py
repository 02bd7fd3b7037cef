"""Which udev rule sets the scheduler of a disk, which row of limits.conf holds, and which base specification a container runtime gives its containers.

Sources: udev(7): of files with the same name only the one in the highest folder is read, rules are read by the files' names, the last
that matches wins; tuned sets schedulers after boot; containerd docs/cri/config.md, base_runtime_spec.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from posixpath import normpath

from configaudit.link_tuned import Tuning
from configaudit.model import Component, Peers
from configaudit.patterns import regex

_RULES = regex(r'(?P<root>|.*?/)(?P<folder>etc|run|usr/local/lib|usr/lib|lib)/udev/rules\.d/(?P<name>[^/]+)\Z')
_RANKS = {'etc': 0, 'run': 1, 'usr/local/lib': 2, 'usr/lib': 3, 'lib': 3}
_FOLDER = regex(r'(?P<root>|.*?/)etc/(?:containerd|docker|crio)/')
_LIMITS = regex(r'(?P<root>|.*?/)etc/security/(?:limits\.conf|limits\.d/(?P<name>[^/]+\.conf))\Z')
_UNITS = regex(r'(?P<root>|.*?/)(?:etc|run|usr/local/lib|usr/lib|lib)/systemd/')
_DAEMONS = {'containerd': ('containerd.service', 'containerd'), 'docker': ('docker.service', 'dockerd'), 'crio': ('crio.service', 'crio')}
"""Daemon -> its unit, and its process."""


def link_host_files(by_kind: Mapping[str, list[Component]], tuned: Mapping[str, Tuning]) -> None:
    """Peers: 'hidden' of a udev rule whose file is not read, 'later' of a row of limits.conf that another replaces, 'scheduler-setter' of a live disk, 'runtime-limit' of a runtime's unit and process."""
    order = _in_order(by_kind.get('io-scheduler', ()))
    profile = [component for tuning in tuned.values() for component in tuning.set if component.kind.name == 'io-scheduler']
    for disk in by_kind.get('block-device', ()):
        disk.peer_map['scheduler-setter'] = Peers.of(_setters(disk, [*order, *profile]), True)
    _link_limits(by_kind.get('nofile-limit', ()))
    specs = [runtime for runtime in by_kind.get('container-runtime', ()) if runtime['daemon'].known_value == 'oci']
    for runtime in by_kind.get('container-runtime', ()):
        _limits(runtime, specs, by_kind)


def _in_order(rules: Iterable[Component]) -> list[Component]:
    """The rules in files of udev, as they are read; those in hidden files learn it."""
    found = []
    chosen: dict[tuple[str, str], int] = {}
    for rule in rules:
        match = _RULES.match(rule.place.document.called)
        if match is not None and rule.place.document.outer is None:
            found.append((match['root'], match['name'], _RANKS[match['folder']], rule))
            chosen[match['root'], match['name']] = min(_RANKS[match['folder']], chosen.get((match['root'], match['name']), 9))
    for root, name, rank, rule in found:
        if rank > chosen[root, name]:
            rule.peer_map['hidden'] = Peers.of([rule], True)
    kept = [item for item in found if item[2] == chosen[item[0], item[1]]]
    return [rule for *_, rule in sorted(kept, key=lambda item: (item[1], item[3].place.start))]


def _link_limits(rows: Iterable[Component]) -> None:
    """Tell a row which later one is for the same sessions: limits.conf is read first, then limits.d by name (pam_limits(8))."""
    last: dict[tuple[str, str], Component] = {}
    found = [(match, row) for row in rows if (match := _LIMITS.match(row.place.document.called)) is not None and row.place.document.outer is None]
    for match, row in sorted(found, key=lambda item: (item[0]['name'] or '', item[1].place.start), reverse=True):
        key = match['root'], row.name
        row.peer_map['later'] = Peers.of([last[key]] if key in last else [], True)
        last.setdefault(key, row)


def _setters(disk: Component, rules: Iterable[Component]) -> list[Component]:
    """The rules that may match a disk, the winner last."""
    rotational = {True: '1', False: '0'}.get(disk['rotational'].known_value)  # type: ignore[call-overload]
    return [
        rule for rule in rules
        if _matches(disk.name, str(rule['device'].known_value or '')) and (not rule['rotational'].known_value or rule['rotational'].known_value == rotational)
    ]  # fmt: skip


def _matches(name: str, pattern: str) -> bool:
    return not pattern or any(fnmatchcase(name, part.replace('[^', '[!')) for part in pattern.split('|'))


def _limits(runtime: Component, specs: Iterable[Component], by_kind: Mapping[str, list[Component]]) -> None:
    """What a runtime gives every container itself holds whatever the limit of its unit is."""
    root = _FOLDER.match(f'{runtime.place.document.called}')
    named = normpath(str(runtime['base_spec'].known_value or '')).lstrip('/')
    given = [spec for spec in specs if named and f'/{spec.place.document.called}'.endswith(f'/{named}')]
    given = [one for one in (given or [runtime]) if one['nofile_soft'].is_set or one['nofile_hard'].is_set]
    unit, program = _DAEMONS.get(str(runtime['daemon'].known_value), ('', ''))
    if root is None or not given or not unit:
        return
    for component in by_kind.get('unit', ()):
        match = _UNITS.match(component.place.document.called)
        if component.name == unit and match is not None and match['root'] == root['root']:
            component.peer_map['runtime-limit'] = Peers.of(given, True)
    for process in by_kind.get('host-process', ()):
        if process.name == program:
            process.peer_map['runtime-limit'] = Peers.of(given, True)
