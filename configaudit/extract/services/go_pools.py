"""Connection pools in Go source: database/sql and what stands on it (sqlx, GORM), and pgxpool.

Defaults: Go database/sql (no limit of open connections, 2 idle ones, no lifetime); pgxpool (see knowledge.pool_libraries).
"""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from configaudit.extract.process import Reading
from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.go_values import LOCKED, NANOSECONDS, default, setting_at, text_of
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.words import Word
from configaudit.model import Component, Setting
from configaudit.parse.golang import Scope, Source
from configaudit.patterns import regex

_OPENERS = {
    'database/sql.Open': 0, 'github.com/jmoiron/sqlx.Open': 0, 'github.com/jmoiron/sqlx.Connect': 0, 'github.com/jmoiron/sqlx.MustConnect': 0,
    'github.com/jmoiron/sqlx.MustOpen': 0, 'github.com/jmoiron/sqlx.ConnectContext': 1, 'github.com/jinzhu/gorm.Open': 0, 'github.com/XSAM/otelsql.Open': 0,
}  # fmt: skip
"""Function -> where its driver's name stands; the data source follows."""
_CONNECTORS = {
    'github.com/uptrace/bun/driver/pgdriver.NewConnector': 'postgres', 'github.com/lib/pq.NewConnector': 'postgres', 'github.com/jackc/pgx/v5/stdlib.GetConnector': 'postgres',
    'github.com/go-sql-driver/mysql.NewConnector': 'mysql', 'github.com/microsoft/go-mssqldb.NewConnector': 'mssql',
}  # fmt: skip
"""What sql.OpenDB is given -> the product."""
_GORM = 'gorm.io/gorm.Open'
_DIALECTS = {'gorm.io/driver/mysql': 'mysql', 'gorm.io/driver/postgres': 'postgres', 'gorm.io/driver/sqlserver': 'mssql'}
_DRIVERS = {
    'mysql': 'mysql', 'nrmysql': 'mysql', 'postgres': 'postgres', 'pgx': 'postgres', 'pgx/v5': 'postgres', 'nrpostgres': 'postgres', 'nrpgx': 'postgres',
    'cloudsqlpostgres': 'postgres', 'sqlserver': 'mssql', 'mssql': 'mssql',
}  # fmt: skip
_PGXPOOL = regex(r'github\.com/jackc/pgx/v[45]/pgxpool\.(New|NewWithConfig|Connect|ConnectConfig)$')
_SETTERS = {
    'SetMaxOpenConns': ('max_open', 1), 'SetMaxIdleConns': ('max_idle', 1), 'SetConnMaxLifetime': ('max_lifetime_s', NANOSECONDS),
    'SetConnMaxIdleTime': ('idle_timeout_s', NANOSECONDS),
}  # fmt: skip
_FIELDS = {
    'MaxConns': ('max_open', 1), 'MinConns': ('min_idle', 1), 'MaxConnLifetime': ('max_lifetime_s', NANOSECONDS),
    'MaxConnIdleTime': ('idle_timeout_s', NANOSECONDS),
}  # fmt: skip
_BRANCHES = ('if_statement', 'expression_case', 'default_case', 'type_case', 'communication_case')
_CONDITION = 'the program sets it under a condition'
_ELSEWHERE = 'another function sets the limits of a pool'
_TCP = regex(r'@tcp[46]?\(([\w.-]+)(?::\d+)?\)/')
"""The address in a URL of go-sql-driver/mysql: `user:password@tcp(host:3306)/database`."""
_SOURCE = 'Go database/sql default'
_MOST = 50
"""Of a function's pools: no program opens as many."""
_SHORT = regex(r'^(?:main|run|serve|start)', 2)


class _Opened(NamedTuple):
    """A pool that a function opens."""

    call: Any
    name: str
    """The variable or field that holds it; '' when it is returned or handed on."""
    product: str
    """'' where a condition decides: what is left at its default there may be meant for another product."""
    address: Any
    """The expression of its data source, or None."""


def pools_of(source: Source) -> tuple[list[Component], bool]:
    """The pools of a file, and whether it sets limits of pools that are opened elsewhere."""
    pools: list[Component] = []
    loose = False
    for scope in source.scopes:
        opened = [item for item in islice(_opened(source, scope), _MOST) if not _is_short(source, scope, item)]
        setters = _setters(source, scope)
        limited = [(item, {name: found for receiver, name, found in setters if len(opened) == 1 or receiver == item.name}) for item in opened]
        limited = [(item, own) for item, own in limited if item.product or ('max_open' in own and own['max_open'].is_known)]
        pools.extend(_pool(source, scope, item, own, number) for number, (item, own) in enumerate(limited, len(pools)))
        if not limited and setters:
            loose = True
        pools.extend(_pgx_pools(source, scope, len(pools)))
    return pools, loose


def settle(reading: Reading) -> None:
    """Pools without a limit of their own are not judged when some other function sets limits."""
    for component in reading.components:
        if component.kind.name == 'pool' and component.settings.get('library') and component['written_in'].known_value == 'Go':
            if not any(component[name].is_set for name, _ in _SETTERS.values()):
                component.partial = _ELSEWHERE
                for name in ('max_open', 'max_idle', 'max_lifetime_s', 'idle_timeout_s'):
                    component.settings.pop(name, None)


def _opened(source: Source, scope: Scope) -> Iterator[_Opened]:
    for call in scope.calls:
        name = source.called(call)
        arguments = source.arguments(call)
        if name in _OPENERS and len(arguments) > _OPENERS[name]:
            at = _OPENERS[name]
            product = _DRIVERS.get(text_of(source, scope, arguments[at]) or '')
            if product:
                yield _Opened(call, _holder(source, scope, call), product, arguments[at + 1] if len(arguments) > at + 1 else None)
        elif name == 'database/sql.OpenDB' and arguments:
            connector = source.settled(arguments[0], scope)
            product = _CONNECTORS.get(source.called(connector), '') if connector.type == 'call_expression' else ''
            if product:
                yield _Opened(call, _holder(source, scope, call), product, None)
        elif name == _GORM and arguments:
            dialects = list(_dialects(source, scope, arguments[0]))
            if dialects:
                chosen = source.settled(arguments[0], scope).type != 'call_expression'
                yield _Opened(call, _holder(source, scope, call), '' if chosen else dialects[0][0], None if chosen else dialects[0][1])


def _dialects(source: Source, scope: Scope, node: Any) -> Iterator[tuple[str, Any]]:
    """Product and data source of GORM's dialects: `postgres.Open(dsn)`, `postgres.New(postgres.Config{DSN: dsn})`, or one of several that a variable holds."""
    settled = source.settled(node, scope)
    for made in [settled] if settled.type == 'call_expression' else scope.values(source.text(node)):
        package, _, function = (source.called(made) if made is not None and made.type == 'call_expression' else '').rpartition('.')
        arguments = source.arguments(made) if package in _DIALECTS else []
        if arguments and function == 'Open':
            yield _DIALECTS[package], arguments[0]
        elif arguments and function == 'New':
            config = source.settled(arguments[0], scope)
            fields = source.fields(config) if config.type == 'composite_literal' else None
            if fields is not None and 'Conn' not in fields:
                yield _DIALECTS[package], fields.get('DSN')


def _holder(source: Source, scope: Scope, call: Any) -> str:
    for name, values in scope.bound.items():
        if any(value is not None and value.id == call.id for value in values):
            return name
    return ''


def _is_short(source: Source, scope: Scope, opened: _Opened) -> bool:
    """Whether the function closes the pool before it returns, and is not the program itself."""
    node = scope.node.child_by_field_name('name')
    if not opened.name or node is None or _SHORT.match(source.text(node)):
        return False
    return any(method == 'Close' and opened.name in _origins(source, scope, receiver) and _is_deferred(call) for call in scope.calls for receiver, method in [source.method(call)])


def _is_deferred(call: Any) -> bool:
    """Whether a call runs when the function returns, by itself or inside `defer func() { ... }()`."""
    node = call.parent
    while node is not None and node.type not in ('function_declaration', 'method_declaration'):
        if node.type == 'defer_statement':
            return True
        node = node.parent
    return False


def _setters(source: Source, scope: Scope) -> list[tuple[str, str, Setting]]:
    """(what holds the pool, setting, value) of every call that sets a limit."""
    found = []
    for call in scope.calls:
        receiver, method = source.method(call)
        arguments = source.arguments(call)
        if method in _SETTERS and len(arguments) == 1:
            name, scale = _SETTERS[method]
            setting = _limit(setting_at(source, scope, name, arguments[0], scale, 'duration' if scale > 1 else ''))
            found.append((_origin(source, scope, receiver), name, _sure(setting, call, scope)))
    twice = {key for key, times in Counter((receiver, name) for receiver, name, _ in found).items() if times > 1}
    return [(receiver, name, _open(setting) if (receiver, name) in twice else setting) for receiver, name, setting in found]


def _sure(setting: Setting, call: Any, scope: Scope) -> Setting:
    """A limit that is set under a condition may not be set."""
    node = call.parent
    while node is not None and node.id != scope.node.id:
        if node.type in _BRANCHES:
            return _open(setting)
        node = node.parent
    return setting


def _open(setting: Setting) -> Setting:
    return setting._replace(known_value=None, reason=_CONDITION)


def _origin(source: Source, scope: Scope, receiver: str) -> str:
    """What `sqlDB` is a view of after `sqlDB, err := db.DB()`."""
    found = _origins(source, scope, receiver)
    return found[0] if len(found) == 1 else receiver.removesuffix('.DB()')


def _origins(source: Source, scope: Scope, receiver: str) -> list[str]:
    """What a variable is a view of in turn: it may be bound again, to nil after it is closed."""
    made = [source.method(value) for value in scope.values(receiver) if value is not None and value.type == 'call_expression']
    return [holder for holder, method in made if method == 'DB'] or [receiver.removesuffix('.DB()')]


def _limit(setting: Setting) -> Setting:
    """0 and less mean no limit, except of idle connections."""
    value = setting.known_value
    no_limit = setting.name != 'max_idle' and setting.is_known and isinstance(value, (int, float)) and value <= 0
    return setting._replace(known_value=math.inf) if no_limit else setting


def _pool(source: Source, scope: Scope, opened: _Opened, settings: dict[str, Setting], number: int) -> Component:
    place = source.place(opened.call.child_by_field_name('function'))
    settings = dict(settings)
    last = max((setting.place for setting in settings.values()), default=place, key=lambda at: at.start)
    for name, known in (('max_open', math.inf), ('max_idle', 2), ('max_lifetime_s', math.inf), ('idle_timeout_s', math.inf)):
        settings.setdefault(name, default(name, known, last, _SOURCE))
    settings['product'] = Setting('product', opened.product or None, place, reason='' if opened.product else _CONDITION)
    return _component(source, scope, 'go', opened.address, settings, place, number)


def _component(source: Source, scope: Scope, library: str, address: Any, settings: dict[str, Setting], place: Any, number: int) -> Component:
    text = text_of(source, scope, address) if address is not None else None
    dsn = parse_dsn(Word(text, source.place(address), False, locked=LOCKED)) if text else None
    tcp = _TCP.search(text) if text and dsn is None else None
    host = dsn.host if dsn is not None else tcp[1].lower() if tcp is not None else ''
    if host:
        settings['host'] = Setting('host', host, source.place(address))
    settings['written_in'] = Setting('written_in', 'Go', place)
    path = source.document.path
    return component_of(Draft('code', library, settings, place), path.rpartition('/')[2], f'go/{path}/pool/{number}', path, '')


def _pgx_pools(source: Source, scope: Scope, number: int) -> Iterator[Component]:
    """Pools of pgxpool; what a function assigns to the fields of their configuration is theirs."""
    for call in scope.calls:
        found = _PGXPOOL.match(source.called(call))
        arguments = source.arguments(call)
        if found is None or len(arguments) < 2:
            continue
        settings: dict[str, Setting] = {}
        config = arguments[1] if found[1].endswith('Config') else None
        place = source.place(call.child_by_field_name('function'))
        if config is not None:
            for field, (name, scale) in _FIELDS.items():
                values = scope.values(f'{source.text(config)}.{field}')
                if values and values[-1] is not None:
                    setting = setting_at(source, scope, name, values[-1], scale, 'duration' if scale > 1 else '')
                    settings[name] = setting if len(values) == 1 else _open(setting)
            if not any(name in settings for name, _ in _FIELDS.values()):
                continue
        settings['product'] = Setting('product', 'postgres', place)
        if 'max_open' not in settings:
            reason = 'the number of connections may stand in the database URL'
            settings['max_open'] = Setting('max_open', None, place, 'inherited', reason)
        yield _component(source, scope, 'pgxpool', None if config is not None else arguments[1], settings, place, number)
        number += 1
