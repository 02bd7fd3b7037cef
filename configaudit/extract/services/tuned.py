"""Profiles of tuned, which one is active, and tuned-main.conf.

Source: tuned.conf(5), tuned-main.conf(5): `=>` raises only, `=<` lowers only, a section's plugin is its name or its `type`.
"""

from collections.abc import Iterator

from configaudit.extract.process import Reading
from configaudit.extract.services.boot import spelled_parameters
from configaudit.extract.services.sysctl import is_node, sysctl_component
from configaudit.extract.services.udev import scheduler_component
from configaudit.extract.words import Word
from configaudit.knowledge.tuned_kinds import HUGE_PAGE_MODE, TUNED
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse.entries import Entry
from configaudit.parse.ini import read_ini
from configaudit.parse.sysctl import normalised
from configaudit.patterns import regex
from configaudit.places import Document, Place

_SEPARATOR = regex(r'[,;]')
_VARIABLE = regex(r'\$\{([\w-]+)\}')
_CONDITIONS = ('uname_regex', 'cpuinfo_regex')
_OFF = ('0', 'false', 'no', 'off')


def read(document: Document) -> Reading:
    """One component for the file, and those of what its sections set."""
    name = document.called.rpartition('/')[2]
    place = Place(document, 0, min(len(document.text), 1))
    if name == 'active_profile':
        return Reading([_file(document, 'active', place, {'active': tuple(document.text.split())})], [], [], [])
    entries = read_ini(document.text).entries
    values = {(entry.section, entry.key): entry.value for entry in entries}
    if name == 'tuned-main.conf':
        return Reading([_file(document, 'main', place, {'reapply': values.get(('', 'reapply_sysctl'), '1').lower() not in _OFF})], [], [], [])
    includes = tuple(part.strip().lstrip('-') for part in _SEPARATOR.split(values.get(('main', 'include'), '')) if part.strip())
    profile = _file(document, 'profile', place, {'includes': includes})
    found = [component for entry in entries for component in _set(document, entry, values)]
    kernel = Peers.of([component for component in found if component.kind.name == 'sysctl'], True)
    for component in found:
        component.peer_map['tuned'] = Peers.of([profile], True)
        if component.kind.name == 'sysctl':
            component.peer_map['sysctl'] = kernel
    profile.peer_map['set'] = Peers.of(found, True)
    return Reading([profile, *found], [], [], [])


def _file(document: Document, role: str, place: Place, values: dict[str, object]) -> Component:
    folder, _, name = document.called.rpartition('/')
    settings = {key: Setting(key, value, place) for key, value in {'role': role, **values}.items()}
    return Component(TUNED, folder.rpartition('/')[2] if role == 'profile' else name, f'tuned/{document.called}', place, settings)


def _set(document: Document, entry: Entry, values: dict[tuple[str, str], str]) -> Iterator[Component]:
    """What one option of a profile sets."""
    plugin = values.get((entry.section, 'type'), entry.section)
    if values.get((entry.section, 'enabled'), '1').lower() in _OFF or entry.key in ('type', 'enabled', 'replace', 'devices', 'priority', *_CONDITIONS):
        return
    floor = entry.value[:1] in ('>', '<')
    place = Place(document, entry.start + floor, entry.end)
    value = _filled(entry.value[floor:], values).strip()
    reason = 'a variable of tuned' if '${' in value else 'it only goes one way: what holds depends on the host' if floor else ''
    if any((entry.section, key) in values for key in _CONDITIONS):
        reason = 'it holds on some machines only'
    owner = '/'.join(document.called.split('/')[-2:])
    if plugin == 'sysctl':
        slot = Slot('ini', place) if value == place.text.strip() else None
        name = Place(document, entry.key_start, entry.key_end)
        yield sysctl_component(normalised(entry.key), value, place, name, owner, node=is_node(document), slot=slot, reason=reason)
    elif plugin == 'vm' and entry.key in ('transparent_hugepages', 'transparent_hugepage', 'transparent_hugepage.defrag'):
        file = 'defrag' if entry.key.endswith('defrag') else 'enabled'
        yield huge_page_mode(value, file, place, owner, reason)
    elif plugin == 'disk' and entry.key == 'elevator' and not reason:
        devices = values.get((entry.section, 'devices'), '')
        pattern = '' if '!' in devices else '|'.join(part.strip() for part in _SEPARATOR.split(devices))
        yield scheduler_component(value, pattern, place, owner, Slot('ini', place))
    elif plugin == 'bootloader' and entry.key.startswith('cmdline') and not reason:
        start = 1 if value[:1] in '+-' else 0
        if value[:1] != '-':
            yield from spelled_parameters(Word(place.text[start:], place.part(start, place.end - place.start)), owner, is_node(document))


def huge_page_mode(mode: str, file: str, place: Place, owner: str, reason: str = '') -> Component:
    """A mode of transparent huge pages that a file sets."""
    settings = {'mode': Setting('mode', mode, place, reason=reason), 'file': Setting('file', file, place)}
    return Component(HUGE_PAGE_MODE, file, f'{owner}/huge pages {file}', place, settings)


def _filled(value: str, values: dict[tuple[str, str], str]) -> str:
    """A value with the variables that its own file gives a literal."""
    return _VARIABLE.sub(lambda match: values.get(('variables', match[1]), match[0]), value)
