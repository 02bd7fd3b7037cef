"""Database servers: their configuration files, command lines, custom resources; PgBouncer, which is server and client."""

import math
import os.path
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from configaudit import units
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores, environment_of
from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word, is_open, word_of
from configaudit.knowledge.images import name_and_tag
from configaudit.knowledge.pool_libraries import squash
from configaudit.knowledge.service_kinds import DATABASE
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse.entries import Entry
from configaudit.parse.ini import read_ini, read_postgresql
from configaudit.parse.tree import Map, get, key_place, mapping, text
from configaudit.patterns import regex
from configaudit.places import Document, Place

_SERVER_IMAGE = regex(r'(?:^|/)(postgres|postgresql|postgis|pgvector|timescaledb|timescaledb-ha|mysql|mysql-server|mariadb|percona|percona-server)$')
_PROGRAMS = {'postgres': 'postgres', 'mysqld': 'mysql', 'mysqld_safe': 'mysql', 'mariadbd': 'mysql'}
_ENTRY = regex(r'(?:docker-entrypoint\.sh|entrypoint\.sh|run\.sh)$')
_ENVIRONMENT = {'POSTGRESQL_MAX_CONNECTIONS': 'postgres', 'POSTGRES_MAX_CONNECTIONS': 'postgres', 'MYSQL_MAX_CONNECTIONS': 'mysql'}
_KEYS = {
    'postgres': {'maxconnections': ('max_connections', 'count'), 'superuserreservedconnections': ('reserved', 'count')},
    'mysql': {'maxconnections': ('max_connections', 'count'), 'waittimeout': ('wait_timeout_s', 's')},
}
DEFAULTS = {'postgres': {'max_connections': 100, 'reserved': 3}, 'mysql': {'max_connections': 151, 'wait_timeout_s': 28800}}
"""PostgreSQL 15 sample file; MySQL 8.0 server system variables (MariaDB the same)."""
_SOURCE = {'postgres': 'PostgreSQL default', 'mysql': 'MySQL default'}
_MYSQL_SECTIONS = frozenset(('mysqld', 'mariadb', 'mariadbd', 'server', ''))


def read(document: Document) -> Reading:
    """my.cnf, postgresql.conf or pgbouncer.ini."""
    reading = nothing()
    if document.format == 'pgbouncer':
        reading.components.extend(_pgbouncer(document))
        return reading
    product = 'mysql' if document.format == 'mysql' else 'postgres'
    settings = _file_settings(document, product)
    sections = {header.name for header in read_ini(document.text).headers} if product == 'mysql' else set()
    if settings or 'mysqld' in sections or product == 'postgres':
        name = os.path.basename(document.path)
        partial = 'other files may be included' if 'include' in document.text else ''
        place = next(iter(settings.values())).place if settings else Place(document, 0, 0)
        reading.components.append(_server(product, name, name, '', place, settings, partial))
    return reading


def _file_settings(document: Document, product: str) -> dict[str, Setting]:
    entries = read_ini(document.text).entries if product == 'mysql' else read_postgresql(document.text).entries
    settings: dict[str, Setting] = {}
    writer = 'ini' if product == 'mysql' else 'postgresql'
    for entry in entries:
        if product == 'mysql' and not entry.section.startswith(tuple(_MYSQL_SECTIONS - {''})):
            continue
        found = _KEYS[product].get(squash(entry.key))
        if found is not None:
            settings[found[0]] = setting_of(found[0], _word(document, entry), found[1], writer=writer)
    return settings


def _word(document: Document, entry: Entry) -> Word:
    return Word(entry.value, Place(document, entry.start, entry.end))


def _server(product: str, name: str, identity: str, scope: str, place: Place, settings: dict[str, Setting], partial: str, names: Iterable[str] = ()) -> Component:
    """A database server with its product's defaults for what nobody set."""
    settings['product'] = Setting('product', product, place)
    settings['names'] = Setting('names', tuple(dict.fromkeys(names)), place)
    for key, value in DEFAULTS.get(product, {}).items():
        settings.setdefault(key, Setting(key, value, place, 'default', partial, source=_SOURCE[product]))
    return Component(DATABASE, name, f'{identity}/database', place, settings, partial=partial, scope=scope)


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The database server that a container runs."""
    carrier = process.component
    product = _product(process, invocations)
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
    partial = process.partial or next((item.unseen for item in invocations if item.unseen and any('\ufffc' in word.value for word in item.arguments)), '') or unread
    names = _names(carrier)
    server = _server(product, carrier.name, carrier.identity, carrier.scope, place, settings, partial, names)
    server.peer_map['carrier'] = Peers.of([carrier], True)
    for kind in ('pod', 'workload'):
        if kind in carrier.peer_map:
            server.peer_map[kind] = carrier.peer_map[kind]
    return [server]


def _names(carrier: Component) -> list[str]:
    """Host names that the carrier itself gives: a compose service's own, a StatefulSet's (its headless Service is often called so)."""
    workloads = carrier.peers('workload')
    if not workloads:
        return [carrier.name]
    return [workload.name for workload in workloads if workload['object_kind'].known_value == 'StatefulSet']


def _product(process: Process, invocations: Sequence[Invocation]) -> str:
    repository = name_and_tag(process.image.value)[0] if process.image is not None else ''
    found = _SERVER_IMAGE.search(repository)
    if found is None:
        return ''
    product = 'mysql' if found[1].startswith(('mysql', 'maria', 'percona')) else 'postgres'
    for invocation in invocations:
        words = invocation.argv or invocation.arguments
        first = os.path.basename(words[0].value) if words else ''
        if first and not first.startswith('-') and first not in _PROGRAMS and not _ENTRY.search(first) and first != '\ufffc':
            return ''
    return product


def _flags(product: str, invocation: Invocation) -> Iterator[tuple[str, Setting]]:
    """`-c max_connections=200`, `--max_connections=200`, `-N 200`, `--wait-timeout 600`."""
    words = invocation.argv or invocation.arguments
    for at, word in enumerate(words):
        value = word.value.removeprefix('-c').removeprefix('--')
        name, joined, given = value.partition('=')
        if word.value in ('-N', '--max-connections', '--max_connections', '--wait-timeout', '--wait_timeout') and at + 1 < len(words):
            name, target = ('max_connections' if word.value == '-N' else word.value[2:]), words[at + 1]
        elif joined:
            begin = len(word.value) - len(given)
            target = word.tail or word._replace(value=given, place=word.place.part(begin, len(word.value)) if word.pure else word.place)
        else:
            continue
        found = _KEYS[product].get(squash(name))
        if found is not None:
            yield found[0], setting_of(found[0], target, found[1])


def _mounted(process: Process, stores: Stores, product: str) -> tuple[dict[str, Setting], str]:
    """Settings from mounted configuration files, and why others may exist that were not read."""
    settings: dict[str, Setting] = {}
    unread = ''
    for path, (kind, name, *_) in process.files.items():
        data = stores.find(kind, process.component.scope, name) if kind == 'ConfigMap' else None
        if data is None and re.search(r'conf|\.cnf|/etc/', path) and kind == 'ConfigMap' and 'initdb' not in path:
            unread = f'{kind} {name} is not among the files read'
        for key, word in (data.values if data is not None else {}).items():
            if key.endswith(('.cnf', '.conf', '.ini')) or 'max_connections' in word.value:
                document = word.place.document
                if document.format != 'string':
                    document = Document(document.path, 'string', word.value.encode(), outer=word.place)
                settings.update(_file_settings(document, product))
    return settings, unread


def _pgbouncer(document: Document) -> Iterator[Component]:
    """PgBouncer: a server to its clients (max_client_conn), a client to every database it names (default_pool_size for each user)."""
    entries = read_ini(document.text, inline_comments=False).entries
    own = {entry.key.lower(): _word(document, entry) for entry in entries if entry.section == 'pgbouncer'}
    name = os.path.basename(document.path)
    place = next(iter(own.values())).place if own else Place(document, 0, 0)
    settings = {'max_connections': setting_of('max_connections', own['max_client_conn'], 'count', writer='ini')} if 'max_client_conn' in own else {}
    settings.setdefault('max_connections', Setting('max_connections', 100, place, 'default', source='PgBouncer default'))
    settings['reserved'] = Setting('reserved', 0, place)
    settings['wait_timeout_s'] = Setting('wait_timeout_s', math.inf, place)
    yield _server('postgres', 'pgbouncer', name, '', place, settings, '', ('pgbouncer',))
    for entry in entries:
        if entry.section == 'databases':
            yield _pgbouncer_pool(document, entry, own, name)


def _pgbouncer_pool(document: Document, entry: Entry, own: Mapping[str, Word], name: str) -> Component:
    pairs = {pair[1]: pair[2].strip("'") for pair in re.finditer(r'(\w+)\s*=\s*(\'[^\']*\'|\S+)', entry.value)}
    place = Place(document, entry.key_start, entry.key_end)
    host = pairs.get('host', '').split(',')[0].lower()
    settings = {
        'product': Setting('product', 'postgres', place),
        'host': Setting('host', host or None, place, reason='' if host else 'the entry names no host'),
    }
    if 'pool_size' in pairs:
        settings['max_open'] = Setting('max_open', units.integer(pairs['pool_size']), Place(document, entry.start, entry.end))
    elif 'default_pool_size' in own:
        settings['max_open'] = setting_of('max_open', own['default_pool_size'], 'count', writer='ini')
    else:
        settings['max_open'] = Setting('max_open', 20, place, 'default', source='PgBouncer default')
    if 'reserve_pool_size' in own:
        settings['overflow'] = setting_of('overflow', own['reserve_pool_size'], 'count', writer='ini')
    return component_of(Draft(entry.key, '', settings, place), f'pgbouncer {entry.key}', f'{name}/{entry.key}', '', '')


def read_cluster(owner: Owner, root: Map) -> Reading:
    """CloudNativePG `Cluster` and Zalando `postgresql` resources."""
    reading = nothing()
    api = text(root, 'apiVersion') or ''
    if not api.startswith(('postgresql.cnpg.io/', 'acid.zalan.do/')):
        return reading
    document = owner.document
    spec = mapping(root, 'spec')
    parameters = mapping(spec, 'postgresql', 'parameters')
    settings: dict[str, Setting] = {}
    for key, node in (parameters or {}).items():
        found = _KEYS['postgres'].get(squash(key))
        word = word_of(document, node)
        if found is not None and word is not None:
            settings[found[0]] = setting_of(found[0], word, found[1])
    place = key_place(document, spec, 'postgresql') if spec is not None and get(spec, 'postgresql') is not None else key_place(document, root, 'kind')
    partial = owner.partial or ('filled by a template' if is_open(document, root) else '')
    names = (owner.name, f'{owner.name}-rw', f'{owner.name}-r', f'{owner.name}-ro')
    if not parameters or 'max_connections' not in parameters:
        partial = partial or ('the operator sets max_connections' if api.startswith('acid') else '')
    server = _server('postgres', owner.name, owner.identity, owner.namespace, place, settings, partial, names)
    if 'max_connections' not in settings and spec is not None and not partial:
        slot = Slot('yaml_edit', Place(document, root.start, root.start), ('spec', 'postgresql', 'parameters', 'max_connections'))
        server.settings['max_connections'] = server.settings['max_connections']._replace(slot=slot)
    reading.components.append(server)
    return reading
