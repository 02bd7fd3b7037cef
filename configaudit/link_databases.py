"""Which pool opens connections to which database server or pooler."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from configaudit.context import Context, Declared
from configaudit.knowledge.service_kinds import DATABASE
from configaudit.link import NOT_SEEN, Index, declared, host_names, nearest
from configaudit.link_pools import run_by_host, run_in_code, size_in_code
from configaudit.model import Component, Peers, Setting
from configaudit.patterns import regex
from configaudit.places import Place

_LOCAL = ('localhost', '127.0.0.1', '::1')
_MANAGED = regex(r'\.(?:rds|cache)\.amazonaws\.com(?:\.cn)?$|\.database\.(?:azure|windows)\.(?:com|net)$|\.(?:neon\.tech|supabase\.com?|aivencloud\.com|ondigitalocean\.com|psdb\.cloud)$')
"""Hosts of databases that a provider runs: no configuration file of a server is theirs."""
_RESERVED = {'postgres': 3}
"""Connections that are kept for superusers where nobody says (PostgreSQL, superuser_reserved_connections)."""


def link_databases(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Peers `database` of pools and `pool` of servers: by declared link, host name, Secret, pod, or the only server there is."""
    pools = by_kind.get('pool', [])
    size_in_code(pools)
    run_in_code(pools, by_kind.get('compose-service', ()))
    databases = _once(by_kind.get('database', []))
    run_by_host(pools, {name for database in databases for name in host_names(database)}, by_kind.get('container', ()))
    named = Index(databases, lambda database: [('host', name) for name in host_names(database)])
    lone = _lone_servers(pools, databases)
    back: dict[Component, list[Component]] = {}
    for pool in pools:
        found = (
            declared(pool, databases, context) or _by_host(pool, named) or _in_pod(pool, databases) or _by_secret(pool, databases)
            or ([] if _value(pool, 'written_in') or _MANAGED.search(str(_value(pool, 'host') or '')) else lone.get(_value(pool, 'product'), []))
        )  # fmt: skip
        pool.peer_map['database'] = Peers.of(found, context.complete, NOT_SEEN['database'])
        for database in found:
            back.setdefault(database, []).append(pool)
    for database, users in back.items():
        database.peer_map['pool'] = Peers.of(_counted_once(users), context.complete)


def described(context: Context) -> Iterator[Component]:
    """The servers that no file shows, as the configuration describes them."""
    return map(_described, context.databases)


def _described(item: Declared) -> Component:
    place = item.place
    given = {'max_connections': item.max_connections, 'reserved': item.reserved, 'wait_timeout_s': item.idle_timeout_s, 'pool_mode': item.pool_mode}
    settings = {name: Setting(name, value, place) for name, value in given.items() if value is not None}
    settings.setdefault('reserved', Setting('reserved', _RESERVED.get(item.product, 0) if not item.pool_mode else 0, place, 'default'))
    settings.setdefault('max_connections', Setting('max_connections', None, place, 'default', 'the configuration does not say it'))
    settings['product'] = Setting('product', item.product, place)
    settings['names'] = Setting('names', (item.name, *item.hosts), place)
    settings['pooler'] = Setting('pooler', bool(item.pool_mode), place)
    settings['declared'] = Setting('declared', True, place)
    settings['max_prepared'] = Setting('max_prepared', None, place, 'default', 'the configuration does not say whether it follows prepared statements')
    return Component(DATABASE, item.name, f'{item.name}/declared', place, settings)


def _once(databases: list[Component]) -> list[Component]:
    """Without those of a file that is also read as mounted into a container."""
    mounted = {_spot(one['max_connections'].place) for one in databases if 'carrier' in one.peer_map and one['max_connections'].is_set}
    return [one for one in databases if 'carrier' in one.peer_map or not one['max_connections'].is_set or _spot(one['max_connections'].place) not in mounted]


def _spot(place: Place) -> tuple[str, int, int]:
    outer = place.outermost()
    return outer.document.path, outer.document.line, outer.start


def _value(component: Component, name: str) -> Any:
    setting = component.settings.get(name)
    return setting.known_value if setting is not None else None


def _by_host(pool: Component, named: Index) -> list[Component]:
    """The one server that a host name means: 'db', 'db.namespace', 'db.namespace.svc...'. An outside name means none that has not the whole name."""
    host = str(_value(pool, 'host') or '')
    parts, product = host.split('.'), _value(pool, 'product')
    whole = [server for server in named.find([('host', host)]) if len(parts) > 1 and _fits(server, product)] if host else []
    if whole:
        return whole[:1]
    # <identifier>.<account's own>.<region>.rds.amazonaws.com, <server>.postgres.database.azure.com
    managed = parts[-3:] == ['rds', 'amazonaws', 'com'] or parts[-3:] == ['database', 'azure', 'com']
    if not parts[0] or (len(parts) > 2 and parts[2] != 'svc' and not managed):
        return []
    scope = parts[1] if len(parts) > 1 and not managed else _namespace(pool)
    found = [
        server for server in named.find([('host', parts[0])])
        if (managed or server.scope == scope or (len(parts) < 3 and not server.scope) or not scope) and _fits(server, product)
    ]  # fmt: skip
    found = nearest(pool, found)
    return found if len(found) == 1 else []


def _namespace(pool: Component) -> str:
    """Where a short host name is looked up: beside the process; code by itself may run anywhere."""
    carriers = pool.peers('carrier')
    return carriers[0].scope if carriers else '' if _value(pool, 'written_in') else pool.scope


def _fits(server: Component, product: object) -> bool:
    return product in (_value(server, 'product'), None, '')


def _in_pod(pool: Component, databases: Iterable[Component]) -> list[Component]:
    """The server or pooler beside it in its pod, which it reaches as localhost."""
    if _value(pool, 'host') not in _LOCAL or not pool.peers('pod'):
        return []
    found = [server for server in databases if server.peers('pod') == pool.peers('pod') and _fits(server, _value(pool, 'product'))]
    return found if len(found) == 1 else []


def _by_secret(pool: Component, databases: Iterable[Component]) -> list[Component]:
    """The one server whose operator makes the Secret that the process takes its URL from."""
    names = _value(pool, 'secrets') or ()
    if _value(pool, 'host') or not names:
        return []
    found = [server for server in databases if (not server.scope or not pool.scope or server.scope == pool.scope) and _made(server, names)]
    found = nearest(pool, found)
    return found if len(found) == 1 else []


def _made(server: Component, names: Iterable[str]) -> bool:
    return any(name == part or (part[-1] in '.-' and part in name) for part in _value(server, 'secrets') or () for name in names)


def _lone_servers(pools: Iterable[Component], databases: Iterable[Component]) -> dict[str, list[Component]]:
    """Product -> the only server of it in the run, known by a configuration file alone, when all pools name one host."""
    hosts: dict[Any, set[Any]] = {}
    for pool in pools:
        hosts.setdefault(_value(pool, 'product'), set()).add(_value(pool, 'host'))
    servers: dict[str, list[Component]] = {}
    for database in databases:
        servers.setdefault(_value(database, 'product'), []).append(database)
    return {
        product: found for product, found in servers.items()
        if len(found) == 1 and 'carrier' not in found[0].peer_map and not any(host_names(found[0])) and len(hosts.get(product, set()) - {None}) < 2
    }  # fmt: skip


def _counted_once(pools: list[Component]) -> list[Component]:
    """Without what files say of a pool beside a process that has one: a mounted file, source code, an application's own configuration.

    The process tells how many there are; whether a file by itself is its own is not known.
    """
    if not any('carrier' in pool.peer_map for pool in pools):
        return pools
    return [pool for pool in pools if 'carrier' in pool.peer_map or pool['pods'].is_set or (_value(pool, 'library') == 'pgbouncer' and not _mounted(pool, pools))]


def _mounted(pool: Component, pools: Iterable[Component]) -> bool:
    own = _spot(pool['max_open'].place)
    return any('carrier' in other.peer_map and _spot(other['max_open'].place) == own for other in pools)
