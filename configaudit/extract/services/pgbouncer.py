"""PgBouncer, which is a server to its clients and a client to every database it names: its file, its containers, its operators.

Source: pgbouncer(5); NEWS: 1.21 can follow prepared statements (max_prepared_statements, 0 by default), 1.24 made 200 the default.
"""

import math
import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores, environment_of
from configaudit.extract.process import Process
from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.knowledge.images import name_and_tag
from configaudit.knowledge.service_kinds import DATABASE
from configaudit.model import Component, Peers, Setting
from configaudit.parse.entries import Entry
from configaudit.parse.ini import read_ini
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

IMAGE = regex(r'(?:^|/)(?:[\w.-]*-)?pgbouncer(?:-[\w.-]*)?$')
_TEMPLATE = regex(r'\{\{|\$\{?\w|\{%|<%')
_NOT_IT = regex(r'exporter|operator')
_HOSTS = ('DB_HOST', 'POSTGRESQL_HOST', 'PGBOUNCER_HOST', 'POSTGRES_HOST')
_FOLLOWS, _BY_DEFAULT = (1, 21), (1, 24)
_PARAMETERS = frozenset((
    'max_client_conn', 'default_pool_size', 'reserve_pool_size', 'max_db_connections', 'max_user_connections', 'pool_mode', 'max_prepared_statements',
    'client_idle_timeout', 'server_lifetime', 'server_idle_timeout',
))  # fmt: skip
EVERY_USER = 'it opens a pool for each user that connects, and the files do not say how many there are'


class Pooler(NamedTuple):
    """One PgBouncer as something describes it."""

    name: str
    identity: str
    scope: str
    place: Place
    parameters: Mapping[str, Word]
    names: tuple[str, ...]
    partial: str = ''
    version: str = ''
    """'' where nothing tells it."""
    writer: str = 'argument'
    instances: Setting | None = None


class Behind(NamedTuple):
    """A database behind a pooler."""

    key: str
    host: str
    place: Place
    own: Mapping[str, Word] = {}
    """What is set for this database alone."""
    user: str = ''
    reason: str = ''


def server_of(pooler: Pooler) -> Component:
    """What its clients meet."""
    place = pooler.place
    settings = {
        'product': Setting('product', 'postgres', place), 'names': Setting('names', pooler.names, place), 'pooler': Setting('pooler', True, place),
        'reserved': Setting('reserved', 0, place), 'reserved_role': Setting('reserved_role', 0, place),
        'max_prepared': _prepared(pooler), 'instances': pooler.instances or Setting('instances', 1, place, 'default'),
    }  # fmt: skip
    for name, key, unit, default in (
        ('max_connections', 'max_client_conn', 'count', 100), ('pool_mode', 'pool_mode', 'text', 'session'), ('wait_timeout_s', 'client_idle_timeout', 's', 0),
    ):  # fmt: skip
        settings[name] = _read(pooler, name, key, unit, default)
    if settings['wait_timeout_s'].known_value == 0:
        settings['wait_timeout_s'] = settings['wait_timeout_s']._replace(known_value=math.inf)
    return Component(DATABASE, pooler.name, f'{pooler.identity}/pooler', place, settings, partial=pooler.partial, scope=pooler.scope)


def _read(pooler: Pooler, name: str, key: str, unit: str, default: object) -> Setting:
    word = pooler.parameters.get(key)
    if word is not None:
        return setting_of(name, word, unit, writer=pooler.writer)
    return Setting(name, default, pooler.place, 'default', pooler.partial, source='PgBouncer default')


def _prepared(pooler: Pooler) -> Setting:
    """Named prepared statements that it follows across server connections; 0: none."""
    found = re.match(r'v?(\d+)\.(\d+)', pooler.version)
    numbers = (int(found[1]), int(found[2])) if found is not None else ()
    if numbers and numbers < _FOLLOWS:
        return Setting('max_prepared', 0, pooler.place, 'default', source=f'PgBouncer {pooler.version} follows none')
    if 'max_prepared_statements' in pooler.parameters:
        return setting_of('max_prepared', pooler.parameters['max_prepared_statements'], 'count', writer=pooler.writer)
    if numbers:
        number = 200 if numbers >= _BY_DEFAULT else 0
        return Setting('max_prepared', number, pooler.place, 'default', pooler.partial, source=f'PgBouncer {pooler.version} default')
    return Setting('max_prepared', None, pooler.place, 'default', 'the version of PgBouncer is not known: 0 before 1.24, 200 from 1.24 on', (0, 200))


def pool_of(pooler: Pooler, behind: Behind) -> Component:
    """What it opens to one database: a pool for every pair of user and database."""
    place = behind.place
    settings = {
        'product': Setting('product', 'postgres', place), 'host': Setting('host', behind.host or None, place, reason='' if behind.host else behind.reason),
        'users': Setting('users', 1 if behind.user else None, place, reason='' if behind.user else EVERY_USER),
    }  # fmt: skip
    for name, key, general, default in (
        ('max_open', 'pool_size', 'default_pool_size', 20), ('overflow', 'reserve_pool_size', 'reserve_pool_size', 0),
        ('most', 'max_db_connections', 'max_db_connections', 0),
    ):  # fmt: skip
        word = behind.own.get(key) or (behind.own.get('reserve_pool') if name == 'overflow' else None)
        settings[name] = setting_of(name, word, 'count', writer=pooler.writer) if word is not None else _read(pooler, name, general, 'count', default)
    for name, key, default in (('max_lifetime_s', 'server_lifetime', 3600), ('idle_timeout_s', 'server_idle_timeout', 600)):
        settings[name] = _read(pooler, name, key, 's', default)
    if pooler.instances is not None:
        settings['pods'] = pooler.instances._replace(name='pods', origin='explicit')
    name = pooler.name if behind.key == '*' else f'{pooler.name} {behind.key}'
    if behind.user:
        settings['user'] = Setting('user', behind.user, place)
    return component_of(Draft(behind.key, 'pgbouncer', settings, place), name, f'{pooler.identity}/pool/{behind.key}', pooler.scope, pooler.partial)


def read_file(document: Document) -> Iterator[Component]:
    """A pgbouncer.ini by itself."""
    name = os.path.basename(document.path)
    yield from _of_file(document, Pooler('pgbouncer', name, '', Place(document, 0, 0), {}, ('pgbouncer',), writer='ini'))


def _of_file(document: Document, base: Pooler) -> Iterator[Component]:
    entries = read_ini(document.text, inline_comments=False).entries
    own = {entry.key.lower(): _word(document, entry) for entry in entries if entry.section == 'pgbouncer'}
    place = next(iter(own.values())).place if own else base.place
    included = any(entry.key == '%include' for entry in entries)
    pooler = base._replace(parameters=own, place=place, partial=base.partial or ('another file is included' if included else ''))
    yield server_of(pooler)
    named = (entry for entry in entries if entry.section == 'databases' and entry.value and not entry.key.startswith(('%', '{')))
    yield from (pool_of(pooler, _behind(document, entry)) for entry in named)


def _word(document: Document, entry: Entry) -> Word:
    return _filled(Word(entry.value, Place(document, entry.start, entry.end)))


def _filled(word: Word) -> Word:
    return word._replace(value=HOLE, pure=False, reason='filled by a template') if _TEMPLATE.search(word.value) else word


def _behind(document: Document, entry: Entry) -> Behind:
    own: dict[str, Word] = {}
    for pair in re.finditer(r'(\w+)\s*=\s*(\'[^\']*\'|\S+)', entry.value):
        value = pair[2].strip("'")
        own[pair[1].lower()] = _filled(Word(value, Place(document, entry.start + pair.start(2), entry.start + pair.end(2)), pair[2] == value))
    host = own['host'].value.split(',')[0].lower() if 'host' in own else ''
    place = Place(document, entry.key_start, entry.key_end)
    user = own['user'].value if 'user' in own else ''
    return Behind(entry.key, '' if host.startswith('/') or HOLE in host else host, place, own, user, 'the entry names no host')


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The PgBouncer that a container runs: from its environment or the pgbouncer.ini that is mounted into it."""
    from configaudit.extract.services.database import mounted_files, names_of

    repository, tag = name_and_tag(process.image.value) if process.image is not None else ('', '')
    if not IMAGE.search(repository) or _NOT_IT.search(repository):
        return []
    carrier = process.component
    environment = invocations[0].environment if invocations else environment_of(process, stores)
    place = process.image.place if process.image is not None else carrier.place
    version = tag if re.match(r'v?1\.\d+', tag or '') else ''
    base = Pooler(carrier.name, carrier.identity, carrier.scope, place, {}, tuple(names_of(carrier)), process.partial, version)
    found: list[Component] = []
    files, unread = mounted_files(process, stores)
    for path, document in files:
        if path.endswith('.ini') or '[pgbouncer]' in document.text:
            found.extend(_of_file(document, base._replace(writer='ini')))
    if not found:
        parameters = {short: word for name, word in environment.items() if (short := name.lower().removeprefix('pgbouncer_')) in _PARAMETERS}
        pooler = base._replace(parameters=parameters, partial=base.partial or unread)
        found = [server_of(pooler), *_behind_environment(pooler, environment)]
    for component in found:
        component.peer_map['carrier'] = Peers.of([carrier], True)
        component.peer_map.update({kind: carrier.peer_map[kind] for kind in ('pod', 'workload') if kind in carrier.peer_map})
    return found


def _behind_environment(pooler: Pooler, environment: Mapping[str, Word]) -> Iterator[Component]:
    urls = [(word, dsn) for name, word in environment.items() if name.startswith('DATABASE_URL') and (dsn := parse_dsn(word)) is not None]
    if urls:
        word, dsn = urls[0]
        yield pool_of(pooler, Behind('*', dsn.host, word.place, reason='the host is filled from a variable'))
        return
    host = next((environment[name] for name in _HOSTS if name in environment), None)
    if host is not None:
        name = host.value.partition(':')[0].split(',')[0].lower() if host.known else ''
        yield pool_of(pooler, Behind('*', name, host.place, reason=host.reason))

