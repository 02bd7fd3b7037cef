"""Compose files: one component and one process for each service.

Source: Compose Specification (compose-spec/compose-spec, spec.md and its parts 05-services, 12-interpolation).
"""

from collections.abc import Iterator, Mapping
from functools import partial as bind
from posixpath import dirname, join, normpath
from typing import Any, NamedTuple

from configaudit.extract.carriers.containers import (
    ALL,
    Published,
    device_ids,
    first_devices,
    mount,
    nofile,
    published,
    setting,
)
from configaudit.extract.carriers.interpolation import interpolate, split
from configaudit.extract.environment import Stores
from configaudit.extract.process import Imported, Process, Reading, Variable, nothing
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.carrier_kinds import COMPOSE_SERVICE, role_of
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse.tree import Map, Scalar, Seq, get, items, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document, Place
from configaudit.units import HOLE

_PARTS = frozenset(
    ('command', 'environment', 'ports', 'volumes', 'deploy', 'env_file', 'depends_on', 'profiles', 'restart', 'ulimits')
)
_SPECIAL = frozenset(('nofile', 'nofile_soft', 'nofile_hard'))


class Service(NamedTuple):
    """One service as it stands in its file."""

    document: Document
    name: str
    item: Map
    component: Component
    waiting: tuple[str, ...]
    variables: Mapping[str, Word]
    """What `${VAR}` takes from a .env file beside the compose file."""

    def word(self, node: Any) -> Word | None:
        """A scalar with its variables replaced; None for null, reset and collections."""
        if not isinstance(node, Scalar) or text(node) is None or (node.tag or '').startswith('!'):
            return None
        word = word_of(self.document, node)
        return interpolate(word, self.variables) if word is not None else None

    def value(self, *path: str) -> str:
        """A scalar's text below the service, or ''."""
        word = self.word(get(self.item, *path))
        return word.value if word is not None else ''


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """The services of a compose file."""
    reading = nothing()
    services = {name: item for name, item in (mapping(root, 'services') or {}).items() if isinstance(item, Map)}
    partial = partial or _override(document, services)
    project = text(root, 'name') or ''
    components: list[Component] = []
    for name, item in services.items():
        why = partial or ('it extends another service' if 'extends' in item else '')
        component = Component(
            COMPOSE_SERVICE,
            name,
            '/'.join(filter(None, ('compose', project, name))),
            key_place(document, mapping(root, 'services') or root, name),
            {},
            slot=Slot('yaml_edit', Place(document, item.start, item.start)),
            partial=why,
            scope=dirname(document.path) or '.',
        )
        components.append(component)
        service = Service(document, name, item, component, _waiting(services, name), {})
        reading.processes.append(_read(service)._replace(settle=bind(_settle, service)))
    for component in components:
        component.peer_map['compose-service'] = Peers.of(components, True)
    reading.components.extend(components)
    return reading


def _override(document: Document, services: Mapping[str, Map]) -> str:
    """Why a file is only part of a project: its name says so, or a service in it could not start alone."""
    needy = [item for item in services.values() if not any(key in item for key in ('image', 'build', 'extends'))]
    if 'override' in document.path.rpartition('/')[2] or any(_PARTS.intersection(item) for item in needy):
        return 'an override of another compose file'
    return ''


def _settle(service: Service, process: Process, stores: Stores) -> Process:
    """The service once more, with the values of the project's .env file."""
    data = stores.find('envfile', '', normpath(join(dirname(service.document.path), '.env')))
    if data is None:
        return process
    return _read(service._replace(variables=data.values))


def _read(service: Service) -> Process:
    """Fill the component's settings and give the process."""
    document, item, component = service.document, service.item, service.component
    settings = component.settings
    settings.clear()
    for name, spec in COMPOSE_SERVICE.settings.items():
        if spec.path and name not in _SPECIAL:
            found = _setting(service, name, spec.unit, spec.path)
            if found is not None:
                settings[name] = found
    _limits(service)
    _gpus(service)
    if 'build' in item:
        settings['build'] = Setting('build', plain(item['build']), key_place(document, item, 'build'))
    profiles = tuple(word.value for node in items(item, 'profiles') if (word := service.word(node)))
    settings['profiles'] = Setting('profiles', profiles, key_place(document, item, 'profiles'))
    settings['waited_for'] = Setting('waited_for', service.waiting, component.place)
    settings['ports'] = Setting('ports', tuple(_ports(service)), key_place(document, item, 'ports'))
    settings['mounts'] = Setting('mounts', dict(_mounts(service)), key_place(document, item, 'volumes'))
    environment = tuple(_environment(service))
    settings['env'] = Setting(
        'env', {variable.name: variable for variable in environment}, key_place(document, item, 'environment')
    )
    entrypoint, arguments = _words(service, 'entrypoint'), _words(service, 'command')
    words = tuple(word.value for word in (*(entrypoint or ()), *(arguments or ())))
    settings['words'] = Setting('words', words, component.place)
    image = service.word(item.get('image'))
    role = role_of(service.name, image.value if image else '', ' '.join(words))
    settings['role'] = Setting('role', role, component.place)
    return Process(
        component,
        image,
        entrypoint,
        arguments,
        environment,
        tuple(_env_files(service)),
        partial=component.partial,
        form='shell_word' if isinstance(item.get('command'), Scalar) else 'yaml_item',
        syntax='none',
    )


def _setting(service: Service, name: str, unit: str, path: tuple[str, ...]) -> Setting | None:
    parent = mapping(service.item, *path[:-1]) if len(path) > 1 else service.item
    node = parent.get(path[-1]) if parent is not None else None
    if parent is None or node is None:
        return None
    if isinstance(node, Scalar):
        word = service.word(node)
        return setting(name, unit, word, 'yaml_edit') if word is not None else None
    return Setting(name, plain(node), key_place(service.document, parent, path[-1]), unit=unit)


def _limits(service: Service) -> None:
    """The open-file limit: one number for both, or soft and hard."""
    settings, limits = service.component.settings, mapping(service.item, 'ulimits')
    node = get(limits, 'nofile')
    if isinstance(node, Scalar):
        word = service.word(node)
        if word is not None:
            soft, hard = nofile(word.value)
            whole = setting('nofile', '', word, 'yaml_edit')
            settings['nofile'] = settings['nofile_soft'] = whole._replace(known_value=soft)
            settings['nofile_hard'] = whole._replace(known_value=hard, name='nofile_hard')
    elif isinstance(node, Map):
        for key in ('soft', 'hard'):
            word = service.word(node.get(key))
            if word is not None:
                limit = nofile(word.value)[0]
                settings[f'nofile_{key}'] = setting(f'nofile_{key}', '', word, 'yaml_edit')._replace(known_value=limit)
        if 'nofile_soft' in settings:
            settings['nofile'] = settings['nofile_soft']._replace(name='nofile')


def _gpus(service: Service) -> None:
    """Which GPUs the container sees: a device reservation, `gpus:`, or the nvidia runtime with its variable."""
    item, settings = service.item, service.component.settings
    reservation = mapping(item, 'deploy', 'resources', 'reservations')
    key, holder = ('devices', reservation) if reservation is not None and 'devices' in reservation else ('gpus', item)
    if holder is None or key not in holder:
        if service.value('runtime') == 'nvidia':
            visible = next((v.value for v in _environment(service) if v.name == 'NVIDIA_VISIBLE_DEVICES'), None)
            ids = device_ids(visible.value.split(',')) if isinstance(visible, Word) else ALL
            reason = 'NVIDIA_VISIBLE_DEVICES is not known' if any(HOLE in found for found in ids) else ''
            settings['gpus'] = Setting('gpus', ids, key_place(service.document, item, 'runtime'), reason=reason)
        return
    if isinstance(holder[key], Scalar):
        settings['gpus'] = Setting('gpus', ALL, key_place(service.document, holder, key))
    for request in maps(holder, key):
        kinds = {text(node) for node in items(request, 'capabilities')}
        if kinds & {'gpu', 'nvidia', 'compute'} or text(request, 'driver') == 'nvidia' or key == 'gpus':
            settings['gpus'] = _request(service, request)


def _request(service: Service, request: Map) -> Setting:
    ids = [word for node in items(request, 'device_ids') if (word := service.word(node))]
    count = service.word(request.get('count'))
    place = ids[0].place if ids else count.place if count else place_of(service.document, request)
    if ids:
        unknown = next((word.reason for word in ids if not word.known), '')
        return Setting(
            'gpus', device_ids(part for word in ids for part in word.value.split(',')), place, reason=unknown
        )
    if count is None:
        return Setting('gpus', ALL, place)
    devices = first_devices(count.value)
    return Setting('gpus', devices, place, reason='' if devices is not None else 'the number of GPUs is not known')


def _ports(service: Service) -> Iterator[Published]:
    for node in items(service.item, 'ports'):
        word = service.word(node)
        if word is not None:
            yield published(word)
        elif isinstance(node, Map):
            part = {
                key: found.value if (found := service.word(node.get(key))) else ''
                for key in ('host_ip', 'published', 'target')
            }
            yield Published(part['host_ip'], part['published'], part['target'], place_of(service.document, node))


def _mounts(service: Service) -> Iterator[tuple[str, str]]:
    for node in items(service.item, 'volumes'):
        word = service.word(node)
        if word is not None:
            yield mount(word.value)
        elif isinstance(node, Map):
            yield (text(node, 'target') or '').rstrip('/'), text(node, 'source') or text(node, 'type') or ''
    tmpfs = service.item.get('tmpfs')
    for node in tmpfs if isinstance(tmpfs, Seq) else [tmpfs]:
        word = service.word(node)
        if word is not None:
            yield word.value.split(':')[0].rstrip('/'), 'tmpfs'


def _words(service: Service, key: str) -> tuple[Word, ...] | None:
    node = service.item.get(key)
    if isinstance(node, Seq):
        return tuple(word for child in node if (word := _item(service, child)) is not None)
    if not isinstance(node, Scalar) or text(node) is None or (node.tag or '').startswith('!'):
        return None
    word = word_of(service.document, node)
    return split(word, service.variables) if word is not None else None


def _item(service: Service, node: Any) -> Word | None:
    """An item of a list form: an empty string is an argument too."""
    word = word_of(service.document, node)
    return interpolate(word, service.variables) if word is not None else None


def _environment(service: Service) -> Iterator[Variable]:
    document, node = service.document, service.item.get('environment')
    if isinstance(node, Map):
        for name, child in node.items():
            place = key_place(document, node, name)
            yield Variable(name, service.word(child) or _passed(child, name, place), place)
    for child in node if isinstance(node, Seq) else ():
        word = service.word(child)
        if word is None:
            continue
        name, equals, value = word.value.partition('=')
        given = word.tail or word._replace(value=value, place=_after(word, len(name) + 1))
        yield Variable(name, given if equals else _passed(None, name, word.place), word.place)


def _after(word: Word, length: int) -> Place:
    """The place of the rest of a word that spells its value."""
    return (
        word.place.part(length, len(word.value)) if len(word.value) == word.place.end - word.place.start else word.place
    )


def _passed(node: Any, name: str, place: Place) -> Word:
    """A variable without a value comes from the shell that runs Compose; an empty string is a value."""
    if isinstance(node, Scalar) and node.style:
        return Word(node.value, place, False)
    return Word(HOLE, place, False, f'${name} is passed on from the environment of whoever starts it')


def _env_files(service: Service) -> Iterator[Imported]:
    node = service.item.get('env_file')
    for child in node if isinstance(node, Seq) else [node]:
        word = service.word(get(child, 'path') if isinstance(child, Map) else child)
        if word is not None and text(child, 'required') != 'false':
            path = normpath(join(dirname(service.document.path), word.value))
            yield Imported('envfile', path, '', word.place)


def _waiting(services: Mapping[str, Map], name: str) -> tuple[str, ...]:
    """Services that start only after this one is healthy."""
    return tuple(
        other for other, item in services.items() if text(item, 'depends_on', name, 'condition') == 'service_healthy'
    )
