"""Connection pools in Python source: SQLAlchemy engines, psycopg_pool and asyncpg."""

import ast
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from configaudit.extract.process import Reading
from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.python_values import LOCKED, decided_by, keywords, read_from, setting_at
from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import LIBRARIES, squash
from configaudit.model import Component, Setting
from configaudit.parse.python import Source, Unfolded
from configaudit.patterns import regex
from configaudit.places import Place

_ENGINES = frozenset((
    'sqlalchemy.create_engine', 'sqlalchemy.engine.create_engine', 'sqlalchemy.ext.asyncio.create_async_engine', 'sqlmodel.create_engine',
))  # fmt: skip
_POOLS = {
    'psycopg_pool.ConnectionPool': 'psycopg_pool', 'psycopg_pool.AsyncConnectionPool': 'psycopg_pool', 'asyncpg.create_pool': 'asyncpg',
    'aiomysql.create_pool': 'aiomysql', 'databases.Database': 'databases', 'mysql.connector.pooling.MySQLConnectionPool': 'mysql_connector',
    'psycopg2.pool.ThreadedConnectionPool': 'psycopg2', 'psycopg2.pool.SimpleConnectionPool': 'psycopg2',
    'playhouse.pool.PooledPostgresqlDatabase': 'peewee', 'playhouse.pool.PooledPostgresqlExtDatabase': 'peewee', 'playhouse.pool.PooledMySQLDatabase': 'peewee',
}  # fmt: skip
_QUEUES = ('sqlalchemy.pool.QueuePool', 'sqlalchemy.QueuePool', 'sqlalchemy.pool.AsyncAdaptedQueuePool', 'sqlalchemy.AsyncAdaptedQueuePool')
_PRODUCTS = {'aiomysql': 'mysql', 'mysql_connector': 'mysql', 'psycopg2': 'postgres', 'psycopg_pool': 'postgres', 'asyncpg': 'postgres'}
"""Of libraries that speak to one."""
_STATEMENTS = {'asyncpg': (100, 'asyncpg default'), 'psycopg': (5, 'psycopg, prepare_threshold 5'), 'psycopg2': (0, 'psycopg2 prepares none')}
_FILE = regex(r'sqlite|duckdb|:memory:', 2)
_THREADED = ('gthread', 'sync')


class _Scope(NamedTuple):
    """A function's lines, to see what else happens to a pool there."""

    first: int
    last: int
    disposes: bool


def pools_of(source: Source) -> Iterator[Component]:
    """The pools that a file makes for the life of a process."""
    found = [(library, call) for name, call in source.calls() if (library := 'sqlalchemy' if name in _ENGINES else _POOLS.get(name, ''))]
    short = [scope for scope in _around(source, [call.lineno for _, call in found]) if scope.disposes]
    number = 0
    for library, call in found:
        if any(scope.first <= call.lineno <= scope.last for scope in short):
            continue
        pool = _pool(source, call, library, number)
        if pool is not None:
            number += 1
            yield pool


def _around(source: Source, lines: list[int]) -> Iterator[_Scope]:
    """The functions in which something stands on these lines."""
    for node in source.nodes if lines else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(node.lineno <= line <= (node.end_lineno or line) for line in lines):
            disposes = any(isinstance(item, ast.Attribute) and item.attr in ('dispose', 'close') for item in ast.walk(node))
            yield _Scope(node.lineno, node.end_lineno or node.lineno, disposes)


def _pool(source: Source, call: ast.Call, library: str, number: int) -> Component | None:
    given, unseen = keywords(source, call)
    poolclass = given.get('poolclass')
    address = call.args[0] if call.args else given.get('url') or given.get('conninfo') or given.get('dsn')
    if library == 'sqlalchemy' and ((poolclass is not None and source.name_of(poolclass) not in _QUEUES) or _is_file(source, address)):
        return None
    place = source.place(call.func)
    settings: dict[str, Setting] = {}
    known = LIBRARIES[library]
    for name, node in given.items():
        found = known.keys.get(squash(name))
        if found is not None:
            settings[found[0]] = _limit(setting_at(source, found[0], node, found[1]), known.unlimited)
    if library == 'sqlalchemy':
        settings.setdefault('max_lifetime_s', Setting('max_lifetime_s', math.inf, place, 'default', source='SQLAlchemy default'))
        if 'pool_pre_ping' in given:
            settings['pre_ping'] = setting_at(source, 'pre_ping', given['pool_pre_ping'])
    elif 'max_open' not in settings and 'min_idle' in settings and library == 'psycopg_pool':
        settings['max_open'] = settings['min_idle']._replace(name='max_open')
    if library == 'psycopg2':
        most = given.get('maxconn') or (call.args[1] if len(call.args) > 1 else None)
        settings['max_open'] = setting_at(source, 'max_open', most, 'count') if most is not None else Setting('max_open', None, place, reason='keywords come from a mapping that is not shown')
    if library in _PRODUCTS:
        settings['product'] = Setting('product', _PRODUCTS[library], place, 'default')
    dsn = _dsn(source, address)
    if dsn is not None:
        settings['product'] = Setting('product', dsn.product, place)
        if dsn.host:
            settings['host'] = Setting('host', dsn.host, place)
        statements = _statements(source, dsn.driver, given.get('connect_args'), place) if library == 'sqlalchemy' else None
        if statements is not None and not dsn.open and not any('statement' in name or 'prepare' in name for name in dsn.parameters):
            settings['statement_cache'] = statements
    variable = read_from(source, address)
    if variable is not None:
        settings['variable'] = variable
    settings = decided_by(settings, place)
    settings['written_in'] = Setting('written_in', 'Python', place)
    path = source.document.path
    return component_of(Draft('code', library, settings, place), path.rpartition('/')[2], f'python/{path}/pool/{number}', path, unseen)


def _is_file(source: Source, address: ast.expr | None) -> bool:
    """Whether an engine may be one of a file: its URL says so, or the program speaks of SQLite."""
    try:
        text = source.value(address) if address is not None else ''
    except Unfolded:
        return _FILE.search(source.text) is not None
    return not isinstance(text, str) or _FILE.search(text) is not None


def _dsn(source: Source, address: ast.expr | None) -> Any:
    try:
        text = source.value(address) if address is not None else None
    except Unfolded:
        text = source.outline(address) if address is not None else None
    return parse_dsn(Word(text, source.place(address), False, locked=LOCKED)) if isinstance(text, str) and address is not None else None


def _statements(source: Source, driver: str, connect: ast.expr | None, place: Place) -> Setting | None:
    """Whether the driver behind SQLAlchemy keeps prepared statements; None where its own arguments, or the driver, may be anything."""
    if driver not in _STATEMENTS:
        return None
    given = source.pairs(connect) if connect is not None else {}
    if given is None or any('statement' in name or 'prepare' in name for name in given):
        return None
    value, said = _STATEMENTS[driver]
    return Setting('statement_cache', value, place, 'default', source=said)


def _limit(setting: Setting, unlimited: Mapping[str, tuple[float, ...]]) -> Setting:
    return setting._replace(known_value=math.inf) if setting.is_known and setting.known_value in unlimited.get(setting.name, ()) else setting


def join_servers(reading: Reading) -> None:
    """What the nearest gunicorn.conf.py says of workers and threads belongs to the pools of the programs in its folder and below."""
    servers = {data.name.rpartition('/')[0]: _processes(data.values) for data in reading.data if data.kind == 'gunicorn'}
    for pool in reading.components:
        if pool.kind.name != 'pool' or pool['written_in'].known_value != 'Python':
            continue
        folder = pool.place.outermost().document.path.rpartition('/')[0]
        while folder not in servers and folder:
            folder = folder.rpartition('/')[0]
        for name, word in servers.get(folder, {}).items():
            if word.known and word.value.isdigit():
                pool.settings[name] = Setting(name, int(word.value), word.place)
        if pool['library'].known_value == 'django' and folder in servers and 'threads' in pool.settings:
            pool.settings['max_open'] = pool.settings['threads']._replace(name='max_open', origin='inherited', source='Django: one connection a thread')


def _processes(words: Mapping[str, Word]) -> dict[str, Word]:
    """Processes and threads that use a pool; threads only where the workers have any."""
    kind = words.get('worker_class')
    names = {'workers': 'processes', 'threads': 'threads'} if kind is None or kind.value in _THREADED else {'workers': 'processes'}
    return {setting: words[name] for name, setting in names.items() if name in words}
