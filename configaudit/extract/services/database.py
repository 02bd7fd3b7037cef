"""Database servers: their configuration files, and the containers that run them."""

import math
import os.path
import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import join

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores, environment_of
from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.knowledge.images import name_and_tag
from configaudit.knowledge.pool_libraries import squash
from configaudit.knowledge.service_kinds import DATABASE
from configaudit.model import Component, Peers, Setting
from configaudit.parse.entries import Entry
from configaudit.parse.ini import read_ini, read_postgresql, read_redis
from configaudit.patterns import regex
from configaudit.places import Document, Place

_SERVER_IMAGE = regex(r'(?:^|/)(postgres|postgresql|postgis|pgvector|timescaledb|timescaledb-ha|mysql|mysql-server|mariadb|percona|percona-server|redis|valkey|keydb)$')
_PROGRAMS = {'postgres': 'postgres', 'mysqld': 'mysql', 'mysqld_safe': 'mysql', 'mariadbd': 'mysql', 'redis-server': 'redis', 'valkey-server': 'redis', 'keydb-server': 'redis'}
_ENTRY = regex(r'(?:docker-entrypoint\.sh|entrypoint\.sh|run\.sh)$')
_ENVIRONMENT = {'POSTGRESQL_MAX_CONNECTIONS': 'postgres', 'POSTGRES_MAX_CONNECTIONS': 'postgres', 'MYSQL_MAX_CONNECTIONS': 'mysql'}
_KEYS = {
    'postgres': {
        'maxconnections': ('max_connections', 'count'), 'superuserreservedconnections': ('reserved', 'count'),
        'reservedconnections': ('reserved_role', 'count'), 'idlesessiontimeout': ('wait_timeout_s', 'pg'),
    },
    'mysql': {'maxconnections': ('max_connections', 'count'), 'waittimeout': ('wait_timeout_s', 's')},
    'redis': {'maxclients': ('max_connections', 'count'), 'timeout': ('wait_timeout_s', 's')},
}  # fmt: skip
DEFAULTS: dict[str, dict[str, int]] = {'postgres': {'max_connections': 100, 'reserved': 3}, 'mysql': {'max_connections': 151, 'wait_timeout_s': 28800}, 'redis': {'max_connections': 10000}}
"""PostgreSQL 15 sample file; MySQL 8.0 server system variables (MariaDB the same); redis.conf (maxclients)."""
_SOURCE = {'postgres': 'PostgreSQL default', 'mysql': 'MySQL default', 'redis': 'Redis default'}
_MYSQL_SECTIONS = frozenset(('mysqld', 'mariadb', 'mariadbd', 'server', ''))


def read(document: Document) -> Reading:
    """my.cnf, postgresql.conf or pgbouncer.ini."""
    reading = nothing()
    if document.format == 'pgbouncer':
        from configaudit.extract.services.pgbouncer import read_file

        reading.components.extend(read_file(document))
        return reading
    product = document.format if document.format in ('mysql', 'redis') else 'postgres'
    settings = file_settings(document, product)
    sections = {header.name for header in read_ini(document.text).headers} if product == 'mysql' else set()
    if settings or 'mysqld' in sections or product != 'mysql':
        name = os.path.basename(document.path)
        partial = 'other files are included' if any(_is_include(entry) for entry in _entries(document, product)) else ''
        place = next(iter(settings.values())).place if settings else Place(document, 0, 0)
        reading.components.append(server_of(product, name, name, '', place, settings, partial))
    return reading


def file_settings(document: Document, product: str) -> dict[str, Setting]:
    """What a my.cnf or postgresql.conf says; the last of several values holds."""
    settings: dict[str, Setting] = {}
    writer = {'mysql': 'ini', 'redis': 'redis'}.get(product, 'postgresql')
    for entry in _entries(document, product):
        if product == 'mysql' and not entry.section.startswith(tuple(_MYSQL_SECTIONS - {''})):
            continue
        found = _KEYS[product].get(squash(entry.key))
        if found is not None:
            settings[found[0]] = parameter(found, _word(document, entry), writer)
    return settings


def _entries(document: Document, product: str) -> tuple[Entry, ...]:
    if product == 'mysql':
        return read_ini(document.text).entries
    return (read_redis if product == 'redis' else read_postgresql)(document.text).entries


def _is_include(entry: Entry) -> bool:
    return entry.key.lstrip('!').startswith('include')


def _word(document: Document, entry: Entry) -> Word:
    return Word(entry.value, Place(document, entry.start, entry.end))


_PG_UNITS = {'ms': 0.001, 's': 1, 'min': 60, 'h': 3600, 'd': 86400, '': 0.001, 'us': 0.000001}
"""PostgreSQL's units of time; idle_session_timeout without one is milliseconds."""


def parameter(found: tuple[str, str], word: Word, writer: str = 'argument') -> Setting:
    """A server's parameter, durations in seconds."""
    name, unit = found
    if unit != 'pg':
        setting = setting_of(name, word, unit, writer=writer)
        return setting._replace(known_value=math.inf) if name == 'wait_timeout_s' and setting.known_value == 0 else setting
    spelled = re.fullmatch(r'\s*([\d.]+)\s*(us|ms|s|min|h|d|)\s*', word.value)
    setting = setting_of(name, word, 'text', writer=writer)
    if spelled is None or not setting.is_known:
        return setting._replace(known_value=None, reason=setting.reason or f'{word.value!r} says no time that is certain')
    return setting._replace(known_value=float(spelled[1]) * _PG_UNITS[spelled[2]] or math.inf)


def known_keys(product: str) -> dict[str, tuple[str, str]]:
    """Squashed name of a parameter -> setting and unit."""
    return _KEYS[product]


def server_of(
    product: str, name: str, identity: str, scope: str, place: Place, settings: dict[str, Setting], partial: str, names: Iterable[str] = ()
) -> Component:
    """A database server with its product's defaults for what nobody set."""
    settings['product'] = Setting('product', product, place)
    settings['names'] = Setting('names', tuple(dict.fromkeys(names)), place)
    for key, value in DEFAULTS.get(product, {}).items():
        settings.setdefault(key, Setting(key, value, place, 'default', partial, source=_SOURCE[product]))
    return Component(DATABASE, name, f'{identity}/database', place, settings, partial=partial, scope=scope)


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The database server that a container runs, or the pooler in front of one."""
    carrier = process.component
    if process.image is not None and 'pgbouncer' in process.image.value:
        from configaudit.extract.services import pgbouncer

        return pgbouncer.read_process(process, invocations, stores)
    product = product_of(process, invocations)
    if not product or ('init' in carrier.kind.settings and carrier['init'].known_value):
        return []
    place = process.image.place if process.image is not None else carrier.place
    settings, unread = _mounted(process, stores, product)
    environment = invocations[0].environment if invocations else environment_of(process, stores)
    for name, owner in _ENVIRONMENT.items():
        if owner == product and name in environment:
            settings['max_connections'] = setting_of('max_connections', environment[name], 'count')
    for invocation in invocations:
        settings.update(_flags(product, invocation))
    named = environment.get('POSTGRES_USER')
    superusers = ('postgres', *([named.value] if named is not None and named.known else []))
    settings['superusers'] = Setting('superusers', superusers if product == 'postgres' else (), place)
    partial = process.partial or next((item.unseen for item in invocations if item.unseen and any('\ufffc' in word.value for word in item.arguments)), '') or unread
    names = names_of(carrier)
    server = server_of(product, carrier.name, carrier.identity, carrier.scope, place, settings, partial, names)
    server.peer_map['carrier'] = Peers.of([carrier], True)
    for kind in ('pod', 'workload'):
        if kind in carrier.peer_map:
            server.peer_map[kind] = carrier.peer_map[kind]
    return [server]


def names_of(carrier: Component) -> list[str]:
    """Host names that the carrier itself gives: a compose service's own, a StatefulSet's (its headless Service is often called so)."""
    workloads = carrier.peers('workload')
    if not workloads:
        return [carrier.name, *(carrier['aliases'].known_value or () if 'aliases' in carrier.kind.settings else ())]  # type: ignore[misc]
    return [workload.name for workload in workloads if workload['object_kind'].known_value == 'StatefulSet']


def product_of(process: Process, invocations: Sequence[Invocation]) -> str:
    """The database server that a process is; '' for any other program."""
    repository = name_and_tag(process.image.value)[0] if process.image is not None else ''
    found = _SERVER_IMAGE.search(repository)
    if found is None:
        return ''
    product = 'mysql' if found[1].startswith(('mysql', 'maria', 'percona')) else 'redis' if found[1] in ('redis', 'valkey', 'keydb') else 'postgres'
    for invocation in invocations:
        words = invocation.argv or invocation.arguments
        first = os.path.basename(words[0].value) if words else ''
        if first and not first.startswith('-') and first not in _PROGRAMS and not _ENTRY.search(first) and first != '\ufffc':
            return ''
    return product


def _flags(product: str, invocation: Invocation) -> Iterator[tuple[str, Setting]]:
    """`-c max_connections=200`, `--max_connections=200`, `-N 200`, `--wait-timeout 600`, `--maxclients 500`."""
    words = invocation.argv or invocation.arguments
    for at, word in enumerate(words):
        value = word.value.removeprefix('-c').removeprefix('--')
        name, joined, given = value.partition('=')
        if word.value in ('-N', '--max-connections', '--max_connections', '--wait-timeout', '--wait_timeout', '--maxclients', '--timeout') and at + 1 < len(words):
            name, target = ('max_connections' if word.value == '-N' else word.value[2:]), words[at + 1]
        elif joined:
            begin = len(word.value) - len(given)
            target = word.tail or word._replace(value=given, place=word.place.part(begin, len(word.value)) if word.pure else word.place)
        else:
            continue
        found = _KEYS[product].get(squash(name))
        if found is not None:
            yield found[0], parameter(found, target)


def _mounted(process: Process, stores: Stores, product: str) -> tuple[dict[str, Setting], str]:
    """Settings from mounted configuration files, and why others may exist that were not read."""
    settings: dict[str, Setting] = {}
    files, unread = mounted_files(process, stores)
    for path, document in files:
        if path.endswith(('.cnf', '.conf', '.ini')) or 'max_connections' in document.text:
            settings.update(file_settings(document, product))
    return settings, unread


_CONFIGURATION = regex(r'conf|\.cnf|\.ini|/etc/|bouncer')
_USUAL = ('postgresql.conf', 'my.cnf', 'pgbouncer.ini', 'redis.conf')


def mounted_files(process: Process, stores: Stores) -> tuple[list[tuple[str, Document]], str]:
    """(name, document) of the configuration files that are mounted into a process, and why others may exist that were not read."""
    found: list[tuple[str, Document]] = []
    unread = ''
    for path, (kind, name, key, *_) in process.files.items():
        if kind == 'ConfigMap':
            data = stores.find(kind, process.component.scope, name)
            if data is None and _CONFIGURATION.search(path) and 'initdb' not in path:
                unread = f'{kind} {name} is not among the files read'
            values = data.values if data is not None else {}
            found.extend((own, _document(word)) for own, word in values.items() if not key or own == key)
        elif kind == 'path' and _CONFIGURATION.search(path + name) and 'initdb' not in path:
            words = [(item, stores.files.at(item)) for item in (name, *(join(name, usual) for usual in _USUAL))]
            opened = [(item, _document(word)) for item, word in words if word is not None]
            found.extend(opened)
            if not opened and path.endswith(('.cnf', '.conf', '.ini')):
                unread = f'{name} is not among the files read'
    return found, unread


def _document(word: Word) -> Document:
    document = word.place.document
    if document.format == 'string':
        return document
    return Document(document.path, 'string', word.value.encode(), outer=word.place)
