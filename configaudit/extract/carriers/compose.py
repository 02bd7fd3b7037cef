"""Compose files: one component and one process for each service.

Source: Compose Specification (compose-spec/compose-spec, spec.md and its parts 05-services, 12-interpolation).
"""

from collections.abc import Iterator, Mapping
from functools import partial as bind
from posixpath import dirname, join, normpath

from configaudit.extract.carriers.compose_service import (
    Service,
    command_words,
    env_files,
    environment,
    files,
    gpus,
    limits,
    mounts,
    ports,
)
from configaudit.extract.carriers.containers import setting
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process, Reading, nothing
from configaudit.knowledge.carrier_kinds import COMPOSE_SERVICE, role_of
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse.tree import Map, Scalar, items, key_place, mapping, plain, text
from configaudit.places import Document, Place

_PARTS = frozenset(
    ('command', 'environment', 'ports', 'volumes', 'deploy', 'env_file', 'depends_on', 'profiles', 'restart', 'ulimits')
)
_SPECIAL = frozenset(('nofile', 'nofile_soft', 'nofile_hard'))
_BUILDS = frozenset(('build', 'image', 'extends', 'platform', 'pull_policy', 'profiles', 'labels', 'container_name'))
"""Keys of a service that is there only so that `docker compose build` makes its image."""


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
        service = Service(document, name, item, component, _waiting(services, name, 'service_healthy'), {})
        ended = _waiting(services, name, 'service_completed_successfully')
        reading.processes.append(_read(service)._replace(settle=bind(_settle, service)))
        component.settings['completes'] = Setting('completes', bool(ended), component.place)
    for component in components:
        component.peer_map['compose-service'] = Peers.of(components, True)
    reading.components.extend(components)
    if b'traefik.http' in document.parsed:
        from configaudit.extract.services.traefik_objects import read_labels

        reading.components.extend(read_labels(document, services, dirname(document.path) or '.', partial))
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
    limits(service)
    gpus(service)
    if 'build' in item:
        settings['build'] = Setting('build', plain(item['build']), key_place(document, item, 'build'))
    profiles = tuple(word.value for node in items(item, 'profiles') if (word := service.word(node)))
    settings['profiles'] = Setting('profiles', profiles, key_place(document, item, 'profiles'))
    settings['aliases'] = Setting('aliases', tuple(_aliases(service)), component.place)
    settings['waited_for'] = Setting('waited_for', service.waiting, component.place)
    names = (service.name, *(word.value for key in ('container_name', 'hostname') if (word := service.word(item.get(key))) is not None and word.known))
    settings['names'] = Setting('names', tuple(dict.fromkeys(names)), component.place)
    settings['ports'] = Setting('ports', tuple(ports(service)), key_place(document, item, 'ports'))
    settings['mounts'] = Setting('mounts', dict(mounts(service)), key_place(document, item, 'volumes'))
    variables = tuple(environment(service))
    by_name = {variable.name: variable for variable in variables}
    settings['env'] = Setting('env', by_name, key_place(document, item, 'environment'))
    entrypoint, arguments = command_words(service, 'entrypoint'), command_words(service, 'command')
    words = tuple(word.value for word in (*(entrypoint or ()), *(arguments or ())))
    settings['words'] = Setting('words', words, component.place)
    image = service.word(item.get('image'))
    is_built_only = 'build' in item and _BUILDS.issuperset(item)
    role = '' if is_built_only else role_of(service.name, image.value if image else '', ' '.join(words))
    settings['role'] = Setting('role', role, component.place)
    return Process(
        component,
        image,
        entrypoint,
        arguments,
        variables,
        tuple(env_files(service)),
        files=dict(files(service)),
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


def _aliases(service: Service) -> Iterator[str]:
    """Names beside a service's own: of its container, its host, in its networks."""
    for key in ('container_name', 'hostname'):
        name = text(service.item, key)
        if name:
            yield name
    for network in (mapping(service.item, 'networks') or {}).values():
        yield from (node.value for node in items(network, 'aliases') if isinstance(node, Scalar)) if isinstance(network, Map) else ()


def _waiting(services: Mapping[str, Map], name: str, condition: str) -> tuple[str, ...]:
    """Services that start only after this one is healthy, or has ended well."""
    return tuple(other for other, item in services.items() if text(item, 'depends_on', name, 'condition') == condition)
