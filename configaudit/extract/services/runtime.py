"""Daemons that run containers: docker's daemon.json, containerd's config.toml, crio.conf, OCI base specs.

Sources: dockerd(8) configuration file; containerd docs/cri/config.md; crio.conf(5); OCI runtime-spec config.md.
"""

import math
from typing import Any

from configaudit import units
from configaudit.extract.process import Reading
from configaudit.extract.settings import setting
from configaudit.knowledge.host_kinds import CONTAINER_RUNTIME
from configaudit.model import Component, Setting, Slot
from configaudit.parse import toml
from configaudit.parse.tree import Map, Scalar, get, items, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document, Place

_CGROUP_OPTION = 'native.cgroupdriver='


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """daemon.json, or the OCI runtime specification that containerd's `base_runtime_spec` names."""
    is_oci = 'ociVersion' in root
    settings = _oci(document, root) if is_oci else _docker(document, root)
    first = next(iter(root.names.values()), None)
    place = place_of(document, first if first is not None else root)
    slot = Slot('yaml_edit', Place(document, root.start, root.start))
    return Reading([_component(document, 'oci' if is_oci else 'docker', place, settings, slot, partial)], [], [], [])


def _component(
    document: Document,
    daemon: str,
    place: Place,
    settings: dict[str, Setting],
    slot: Slot | None = None,
    partial: str = '',
) -> Component:
    settings['daemon'] = Setting('daemon', daemon, place)
    name = document.path.rpartition('/')[2]
    return Component(CONTAINER_RUNTIME, daemon, f'{daemon}/{name}', place, settings, slot=slot, partial=partial)


def _docker(document: Document, root: Map) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    nofile = mapping(root, 'default-ulimits', 'nofile')
    _pair(document, nofile, settings)
    if 'default-shm-size' in root:
        found = setting('shm_bytes', document, root, 'default-shm-size')
        size = units.bytes_of(found.known_value) if isinstance(found.known_value, (str, int)) else None
        settings['shm_bytes'] = found._replace(
            known_value=size, reason='' if size is not None else 'not a size', unit='bytes'
        )
    if text(root, 'default-runtime') == 'nvidia' or get(root, 'runtimes', 'nvidia') is not None:
        key = 'default-runtime' if 'default-runtime' in root else 'runtimes'
        settings['gpu'] = Setting('gpu', True, key_place(document, root, key))
    for item in items(root, 'exec-opts'):
        if isinstance(item, Scalar) and item.value.startswith(_CGROUP_OPTION):
            settings['cgroup_driver'] = Setting(
                'cgroup_driver', item.value.removeprefix(_CGROUP_OPTION), place_of(document, item)
            )
    return settings


def _oci(document: Document, root: Map) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for limit in maps(root, 'process', 'rlimits'):
        if text(limit, 'type') == 'RLIMIT_NOFILE':
            _pair(document, limit, settings)
    return settings


def _pair(document: Document, limit: Map | None, settings: dict[str, Setting]) -> None:
    """Soft and hard limit of a mapping; Go reads the keys in any letter case."""
    for key, node in (limit or {}).items():
        name = f'nofile_{key.lower()}'
        if name in ('nofile_soft', 'nofile_hard'):
            place = place_of(document, node)
            settings[name] = _count(name, plain(node), place, Slot('yaml_edit', place))


def _count(name: str, value: Any, place: Place, slot: Slot | None) -> Setting:
    """A limit; -1 and what does not fit a signed number of 64 bit are unlimited."""
    count = units.integer(value)
    if count is None:
        return Setting(name, None, place, reason=f'{value!r} is not a number', slot=slot)
    return Setting(name, math.inf if count < 0 or count >= 2**63 - 1 else count, place, slot=slot)


def read(document: Document) -> Reading:
    """config.toml of containerd (versions 2 and 3), or crio.conf and its drop-ins."""
    file = toml.read(document.text)
    settings: dict[str, Setting] = {}
    is_crio = document.format == 'crio' or any(table.path[:1] == ('crio',) for table in file.tables)
    for entry in file.entries:
        place = Place(document, entry.start, entry.end)
        if is_crio:
            _crio(entry, place, settings)
        elif entry.path[-1] == 'base_runtime_spec' and entry.value:
            settings['base_spec'] = Setting('base_spec', entry.value, place)
        elif (
            entry.path[-2:] == ('options', 'SystemdCgroup')
            and entry.path[0] == 'plugins'
            and isinstance(entry.value, bool)
        ):
            driver = 'systemd' if entry.value else 'cgroupfs'
            if not entry.value or 'cgroup_driver' not in settings:
                settings['cgroup_driver'] = Setting('cgroup_driver', driver, place, slot=Slot('toml', place))
    if not settings:
        return Reading([], [], [], [])
    start = Place(document, 0, 1)
    return Reading([_component(document, 'crio' if is_crio else 'containerd', start, settings)], [], [], [])


def _crio(entry: toml.TomlEntry, place: Place, settings: dict[str, Setting]) -> None:
    if entry.path[:2] != ('crio', 'runtime'):
        return
    if entry.path[2:] == ('default_ulimits',) and isinstance(entry.value, list):
        for item in entry.value:
            name, _, limits = str(item).partition('=')
            if name.strip() == 'nofile':
                soft, _, hard = limits.partition(':')
                settings['nofile_soft'] = _count('nofile_soft', soft, place, None)
                settings['nofile_hard'] = _count('nofile_hard', hard or soft, place, None)
    elif entry.path[2:] == ('pids_limit',):
        settings['pids_limit'] = _count('pids_limit', entry.value, place, Slot('toml', place))
    elif entry.path[2:] == ('cgroup_manager',) and isinstance(entry.value, str):
        settings['cgroup_driver'] = Setting('cgroup_driver', entry.value, place)
