"""Poolers beside PgBouncer: Odyssey, pgpool-II, ProxySQL. Each is a server to its clients and opens connections itself.

Sources: Odyssey docs/configuration (client_max, pool_size: 0 is unlimited), pgpool-II documentation (num_init_children 32, max_pool 4, each
child serves one client and keeps a connection for each pair of user and database), ProxySQL global variables (mysql-max_connections
2048, mysql-wait_timeout 28800000 ms) and mysql_servers (max_connections 1000).
"""

import math
import os.path
from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit import units
from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.knowledge.service_kinds import DATABASE
from configaudit.model import Component, Setting, Slot
from configaudit.parse.braces import Group, Value, groups, pairs
from configaudit.parse.braces import read as read_braces
from configaudit.parse.ini import read_postgresql
from configaudit.places import Document, Place

_PAIRS = 'each child keeps a connection for each pair of user and database, and the files do not say how many there are'


class _File(NamedTuple):
    """A pooler's file: where it is one of, and what it is called."""

    document: Document
    product: str
    name: str

    @property
    def start(self) -> Place:
        return Place(self.document, 0, 0)


def read(document: Document) -> Reading:
    """odyssey.conf, pgpool.conf or proxysql.cnf."""
    reading = nothing()
    if document.format == 'pgpool':
        reading.components.extend(_pgpool(_File(document, 'postgres', 'pgpool')))
    elif document.format == 'odyssey':
        reading.components.extend(_odyssey(_File(document, 'postgres', 'odyssey')))
    else:
        reading.components.extend(_proxysql(_File(document, 'mysql', 'proxysql')))
    return reading


def _count(file: _File, name: str, value: Value | None, default: float, scale: float = 1, unlimited: float = -1) -> Setting:
    """A number of the file; its default where it is not there."""
    if value is None:
        return Setting(name, default, file.start, 'default', source=f'{file.name} default')
    place = Place(file.document, value.start, value.end)
    number = units.number(value.text)
    if number is None:
        return Setting(name, None, place, reason=f'{value.text!r} says no number that is certain')
    return Setting(name, math.inf if number == unlimited else number * scale if scale != 1 else int(number), place, slot=Slot('properties', place), unit='count')


def _server(file: _File, limit: Setting, mode: Setting, idle: Setting) -> Component:
    place = limit.place
    settings = {
        'product': Setting('product', file.product, place), 'names': Setting('names', (file.name,), place), 'pooler': Setting('pooler', True, place),
        'reserved': Setting('reserved', 0, place), 'max_connections': limit, 'pool_mode': mode, 'wait_timeout_s': idle,
        'max_prepared': Setting('max_prepared', None, place, 'default', f'whether {file.name} follows prepared statements depends on its configuration'),
    }  # fmt: skip
    return Component(DATABASE, file.name, f'{os.path.basename(file.document.path)}/pooler', place, settings)


def _pool(file: _File, key: str, host: str, settings: dict[str, Setting]) -> Component:
    place = settings['max_open'].place
    settings['product'] = Setting('product', file.product, place)
    settings['host'] = Setting('host', host.lower() or None, place, reason='' if host else 'it names no host')
    name = f'{file.name} {key}' if key else file.name
    return component_of(Draft(key, 'pooler', settings, place), name, f'{os.path.basename(file.document.path)}/{key or "pool"}', '', '')


def _pgpool(file: _File) -> Iterator[Component]:
    entries = {entry.key: Value(entry.value, entry.start, entry.end) for entry in read_postgresql(file.document.text).entries}
    children, kept = _count(file, 'max_connections', entries.get('num_init_children'), 32), _count(file, 'most', entries.get('max_pool'), 4)
    yield _server(file, children, Setting('pool_mode', 'session', file.start), _count(file, 'wait_timeout_s', entries.get('client_idle_limit'), math.inf, 1, 0))
    for key, value in entries.items():
        if key.startswith('backend_hostname') and value.text:
            settings = {'max_open': children._replace(name='max_open'), 'users': Setting('users', None, file.start, reason=_PAIRS)}
            if isinstance(children.known_value, int) and isinstance(kept.known_value, int):
                settings['most'] = Setting('most', children.known_value * kept.known_value, kept.place)
            yield _pool(file, key, value.text, settings)


def _odyssey(file: _File) -> Iterator[Component]:
    root = read_braces(file.document.text)
    hosts = {group.head[1].text: pairs(group).get('host') for group in groups(root, 'storage') if len(group.head) > 1}
    routes = [(database, user) for database in groups(root, 'database') for user in groups(database, 'user')]
    modes = [value for _, user in routes if (value := pairs(user).get('pool')) is not None]
    mode = Setting('pool_mode', modes[0].text, Place(file.document, modes[0].start, modes[0].end)) if modes else Setting('pool_mode', 'session', file.start, 'default')
    if len({value.text for value in modes}) > 1:
        mode = mode._replace(known_value=None, reason='its routes have several modes')
    yield _server(file, _count(file, 'max_connections', pairs(root).get('client_max'), math.inf, 1, 0), mode, Setting('wait_timeout_s', math.inf, file.start, 'default'))
    for database, user in routes:
        given = pairs(user)
        storage = given['storage'].text if 'storage' in given else ''
        host = hosts.get(storage)
        key = '/'.join(part.text for part in (*database.head[1:], *user.head[1:]))
        size = _count(file, 'max_open', given.get('pool_size'), math.inf, 1, 0)
        yield _pool(file, key, host.text if host is not None else '', {'max_open': size if size.is_set else size._replace(place=_at(file, user)), 'user': _user(file, user)})


def _user(file: _File, group: Group) -> Setting:
    name = group.head[-1].text
    return Setting('user', None if name == 'default' else name, _at(file, group))


def _at(file: _File, group: Group) -> Place:
    words = group.head or tuple(item for item in group.items[:1] if isinstance(item, Value))
    return Place(file.document, words[0].start, words[-1].end) if words else file.start


def _proxysql(file: _File) -> Iterator[Component]:
    root = read_braces(file.document.text)
    variables: dict[str, Any] = {}
    for group in groups(root, 'mysql_variables'):
        variables.update(pairs(group))
    limit = _count(file, 'max_connections', variables.get('max_connections'), 2048)
    mode = Setting('pool_mode', 'transaction', file.start, 'default')
    yield _server(file, limit, mode, _count(file, 'wait_timeout_s', variables.get('wait_timeout'), 28800, 0.001))
    for servers in groups(root, 'mysql_servers'):
        for number, server in enumerate(item for item in servers.items if isinstance(item, Group)):
            given = pairs(server)
            host = given.get('address') or given.get('hostname')
            size = _count(file, 'max_open', given.get('max_connections'), 1000)
            yield _pool(file, str(number), host.text if host is not None else '', {'max_open': size if size.is_set else size._replace(place=_at(file, server))})
