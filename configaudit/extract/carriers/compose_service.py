"""One service of a compose file: its limits, devices, ports, mounts, words and variables.

Source: Compose Specification (compose-spec/compose-spec, 05-services.md, 08-deploy.md).
"""

from collections.abc import Iterator, Mapping
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
from configaudit.extract.process import Imported, Mount, Variable
from configaudit.extract.words import Word, word_of
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Scalar, Seq, get, items, key_place, mapping, maps, place_of, text
from configaudit.places import Document, Place
from configaudit.units import HOLE


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


def limits(service: Service) -> None:
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


def gpus(service: Service) -> None:
    """Which GPUs the container sees: a device reservation, `gpus:`, or the nvidia runtime with its variable."""
    item, settings = service.item, service.component.settings
    reservation = mapping(item, 'deploy', 'resources', 'reservations')
    key, holder = ('devices', reservation) if reservation is not None and 'devices' in reservation else ('gpus', item)
    if holder is None or key not in holder:
        if service.value('runtime') == 'nvidia':
            visible = next((v.value for v in environment(service) if v.name == 'NVIDIA_VISIBLE_DEVICES'), None)
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


def ports(service: Service) -> Iterator[Published]:
    """The ports on the host, in short and long syntax."""
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


def mounts(service: Service) -> Iterator[tuple[str, str]]:
    """(path in the container, source) of volumes and tmpfs."""
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


def files(service: Service) -> Iterator[tuple[str, Mount]]:
    """Path in the container -> the file or folder beside the compose file that is mounted there."""
    for path, source in mounts(service):
        if path and source.startswith('.') and HOLE not in source + path:
            yield path, Mount('path', normpath(join(dirname(service.document.path), source)))


def command_words(service: Service, key: str) -> tuple[Word, ...] | None:
    """The words of `entrypoint` or `command`: a list, or a string that Compose splits; None when it is not given."""
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


def environment(service: Service) -> Iterator[Variable]:
    """The variables of `environment`, a map or a list."""
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


def env_files(service: Service) -> Iterator[Imported]:
    """The files of `env_file` that must exist, by their path from where the run starts."""
    node = service.item.get('env_file')
    for child in node if isinstance(node, Seq) else [node]:
        word = service.word(get(child, 'path') if isinstance(child, Map) else child)
        if word is not None and text(child, 'required') != 'false':
            path = normpath(join(dirname(service.document.path), word.value))
            yield Imported('envfile', path, '', word.place)
