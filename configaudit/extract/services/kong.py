"""Kong's declarative configuration: services with their clocks, and the paths that lead to them.

Source: Kong Gateway documentation, Service object: connect_timeout, read_timeout and write_timeout are 60000 ms unless set; read_timeout is
the longest time between two reads.
"""

from collections.abc import Iterator

from configaudit import units
from configaudit.extract.process import Reading, nothing
from configaudit.extract.words import is_open, word_of
from configaudit.knowledge.proxy_kinds import ROUTE
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, items, key_place, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_URL = regex(r'(?:https?|grpcs?)://([^/:]+)(?::(\d+))?')
_DOCS = 'Kong Gateway documentation, Service object: 60000 ms'


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """A route for every service that has an address; one that leads to a Kong upstream by name too."""
    reading = nothing()
    file = document.path.rpartition('/')[2]
    for service in maps(root, 'services'):
        url = _URL.match(text(service, 'url') or '')
        host = url[1] if url is not None else text(service, 'host')
        if not host:
            continue
        key = 'url' if 'url' in service else 'host'
        place = key_place(document, service, key)
        hidden = partial or ('filled by a template' if is_open(document, service) else '')
        name = text(service, 'name') or host
        paths, hosts = list(_listed(service, 'paths')), list(_listed(service, 'hosts'))
        settings = {
            'product': Setting('product', 'kong', place), 'path': Setting('path', ' '.join(paths) or '/', place),
            'target': Setting('target', text(service, key), place, reason='a template decides where requests go' if HOLE in host else ''), 'targets': Setting('targets', ((host, (url[2] or '') if url is not None else text(service, 'port') or ''),), place),
            'server_name': Setting('server_name', ' '.join([name, *hosts]), place), 'hosts': Setting('hosts', tuple(hosts), place),
            'read_timeout_s': _read_timeout(document, service, place, hidden),
        }  # fmt: skip
        reading.components.append(Component(ROUTE, name, f'{file}/services/{name}', place, settings, partial=hidden))
    return reading


def _listed(service: Map, key: str) -> Iterator[str]:
    for route in maps(service, 'routes'):
        yield from filter(None, (text(node) for node in items(route, key)))


def _read_timeout(document: Document, service: Map, place: Place, hidden: str) -> Setting:
    """Milliseconds in the file, seconds here."""
    slot = Slot('yaml_edit', Place(document, service.start, service.start), ('read_timeout',))
    word = word_of(document, service.get('read_timeout'))
    if word is None:
        return Setting('read_timeout_s', 60, place, 'default', hidden, slot=slot, unit='ms', source=_DOCS)
    count = units.integer(word.value) if word.known else None
    reason = word.reason if not word.known else '' if count is not None else f'{word.value!r} is no number of milliseconds'
    at = Slot('yaml_edit', place_of(document, service['read_timeout']))
    return Setting('read_timeout_s', None if count is None else count / 1000, word.place, reason=reason, slot=at, unit='ms')
