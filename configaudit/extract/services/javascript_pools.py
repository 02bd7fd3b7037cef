"""Connection pools in JavaScript source: node-postgres, mysql2, Sequelize, Knex, TypeORM, Prisma's adapters, postgres.js, MariaDB.

What each library calls its options and does without them: read in the packages of pg-pool 3.14, mysql2 3.24, sequelize 6.37, knex 3.3
with tarn 3.1, typeorm 1.1, postgres 3.4, mariadb 3.5.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.javascript_settings import (
    LOCKED,
    WRITTEN_IN,
    Option,
    Options,
    fold,
    head_of,
    in_handler,
    options_of,
    text_of,
    variable_of,
)
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.source_role import SHORT_LIVED
from configaudit.extract.words import Word
from configaudit.model import Component, Setting
from configaudit.parse.grammar import below
from configaudit.parse.javascript import Fields, Scope, Source
from configaudit.parse.javascript_values import Unfolded
from configaudit.patterns import regex

_MS = 1000
_PG = {
    'max': Option('max_open'), 'min': Option('min_idle'), 'idleTimeoutMillis': Option('idle_timeout_s', _MS, (0,)),
    'connectionTimeoutMillis': Option('wait_timeout_s', _MS, (0,)), 'maxLifetimeSeconds': Option('max_lifetime_s', 1, (0,)),
}  # fmt: skip
_MYSQL = {
    'connectionLimit': Option('max_open'), 'maxIdle': Option('max_idle'), 'idleTimeout': Option('idle_timeout_s', _MS),
    'connectTimeout': Option('connect_timeout_s', _MS),
}  # fmt: skip
_TARN = {
    'max': Option('max_open'), 'min': Option('min_idle'), 'acquireTimeoutMillis': Option('wait_timeout_s', _MS), 'idleTimeoutMillis': Option('idle_timeout_s', _MS),
}  # fmt: skip
_SEQUELIZE = {
    'max': Option('max_open'), 'min': Option('min_idle'), 'acquire': Option('wait_timeout_s', _MS), 'idle': Option('idle_timeout_s', _MS),
}  # fmt: skip
_POSTGRES_JS = {
    'max': Option('max_open'), 'idle_timeout': Option('idle_timeout_s'), 'max_lifetime': Option('max_lifetime_s'), 'connect_timeout': Option('connect_timeout_s'),
    'prepare': Option('statement_cache'),
}  # fmt: skip
_MARIADB = {
    'connectionLimit': Option('max_open'), 'minimumIdle': Option('min_idle'), 'acquireTimeout': Option('wait_timeout_s', _MS, (0,)), 'idleTimeout': Option('idle_timeout_s'),
}  # fmt: skip
_TYPEORM = {'poolSize': Option('max_open')}


class _Maker(NamedTuple):
    """A function or class that opens a pool."""

    library: str
    options: dict[str, Option]
    product: str = ''
    below: str = ''
    """The field that holds the pool's options."""
    kind: str = ''
    """The field that names the database."""
    made_by: str = ''
    """The field with the function that makes the options."""
    wraps: bool = False
    """Whether it may be given a pool instead."""


_MAKERS = {
    'pg.Pool': _Maker('node-postgres', _PG, 'postgres'), 'pg-pool': _Maker('node-postgres', _PG, 'postgres'),
    '@prisma/adapter-pg.PrismaPg': _Maker('node-postgres', _PG, 'postgres', wraps=True), 'drizzle-orm/node-postgres.drizzle': _Maker('node-postgres', _PG, 'postgres', 'connection'),
    'mysql2.createPool': _Maker('mysql2', _MYSQL, 'mysql'), 'mysql2/promise.createPool': _Maker('mysql2', _MYSQL, 'mysql'),
    'mysql.createPool': _Maker('mysql2', _MYSQL, 'mysql'), 'mariadb.createPool': _Maker('mariadb', _MARIADB, 'mysql'),
    '@prisma/adapter-mariadb.PrismaMariaDb': _Maker('mariadb', _MARIADB, 'mysql', wraps=True),
    'postgres': _Maker('postgres.js', _POSTGRES_JS, 'postgres'), 'drizzle-orm/postgres-js.drizzle': _Maker('postgres.js', _POSTGRES_JS, 'postgres', 'connection'),
    'sequelize.Sequelize': _Maker('sequelize', _SEQUELIZE, '', 'pool', 'dialect'), 'sequelize': _Maker('sequelize', _SEQUELIZE, '', 'pool', 'dialect'),
    'sequelize-typescript.Sequelize': _Maker('sequelize', _SEQUELIZE, '', 'pool', 'dialect'),
    '@nestjs/sequelize.SequelizeModule.forRoot': _Maker('sequelize', _SEQUELIZE, '', 'pool', 'dialect'),
    'knex': _Maker('knex', _TARN, '', 'pool', 'client'), 'knex.knex': _Maker('knex', _TARN, '', 'pool', 'client'), 'knex.Knex': _Maker('knex', _TARN, '', 'pool', 'client'),
    'typeorm.DataSource': _Maker('typeorm', _TYPEORM, '', 'extra', 'type'), 'typeorm.createConnection': _Maker('typeorm', _TYPEORM, '', 'extra', 'type'),
    '@nestjs/typeorm.TypeOrmModule.forRoot': _Maker('typeorm', _TYPEORM, '', 'extra', 'type'),
    '@nestjs/typeorm.TypeOrmModule.forRootAsync': _Maker('typeorm', _TYPEORM, '', 'extra', 'type', 'useFactory'),
    '@nestjs/sequelize.SequelizeModule.forRootAsync': _Maker('sequelize', _SEQUELIZE, '', 'pool', 'dialect', 'useFactory'),
}  # fmt: skip
"""Full name -> how its options are read."""
_PRODUCTS = {
    'postgres': 'postgres', 'postgresql': 'postgres', 'pg': 'postgres', 'pg-native': 'postgres', 'pgnative': 'postgres', 'aurora-postgres': 'postgres', 'redshift': '',
    'mysql': 'mysql', 'mysql2': 'mysql', 'mariadb': 'mysql', 'aurora-mysql': 'mysql', 'mssql': 'mssql',
}  # fmt: skip
_DRIVERS = {'postgres': ('node-postgres', _PG), 'mysql': ('mysql2', _MYSQL)}
"""What TypeORM opens its connections with: their defaults are the pool's."""
_KNEXFILE = regex(r'(?:^|/)knexfile\.[cm]?[jt]s$')
_FILE = regex(r'sqlite|:memory:|libsql', 2)
_URLS = ('connectionString', 'url', 'uri', 'connection', 'connectionUri')
_CLOSERS = ('end', 'destroy', 'close', 'drain')
_UNSEEN = 'its options come from elsewhere in the program'


def pools_of(source: Source) -> Iterator[Component]:
    """The pools that a file makes for the life of a process."""
    if _KNEXFILE.search(source.document.path):
        yield from _knexfile(source)
    for scope in source.scopes:
        for call in scope.calls:
            maker = _MAKERS.get(source.called(call, scope).removesuffix('.default'))
            if maker is not None and not _is_short(source, scope, call):
                pool = _pool(source, scope, call, maker)
                if pool is not None:
                    yield pool


def _pool(source: Source, scope: Scope, call: Any, maker: _Maker) -> Component | None:
    arguments = source.arguments(call)
    if maker.made_by:
        made = _product_of(source, scope, arguments, maker.made_by)
        if made is None:
            return None
        scope, arguments = made[0], [made[1]]
    given = next((source.fields(argument, scope) for argument in arguments if _is_object(source, scope, argument)), None)
    address = _address(source, scope, arguments, given)
    if arguments and address is not arguments[0] and not (_is_object(source, scope, arguments[0]) or maker.kind):
        return _worked_out(source, scope, call, maker)
    if given is None and address is None and maker.kind:
        return None
    fields = given or Fields({}, True)
    kind = fields.values.get(maker.kind) if maker.kind else None
    product = maker.product or (_PRODUCTS.get(_sure_text(source, scope, kind), '') if kind is not None else '')
    text = text_of(source, scope, address) if address is not None else None
    if maker.below and not product and (kind is not None or _FILE.search(text or '')):
        return None
    options, complete = _options(source, scope, fields, maker)
    library = maker.library
    if library == 'typeorm':
        if product not in _DRIVERS:
            return None
        library = _DRIVERS[product][0]
    options.settings.update(_host(source, scope, fields))
    return _component(source, scope, call, library, product, address, text, options, complete)


def _knexfile(source: Source) -> Iterator[Component]:
    """The pool of a knexfile.js: that of `production` where it tells environments apart."""
    found = [node for node in below(source.root) if node.type == 'object' and {'client', 'connection'} <= source.fields(node, source.file).values.keys()]
    named = [node for node in found if node.parent.type == 'pair' and source.text(node.parent.child_by_field_name('key')).strip('\'"') == 'production']
    for node in named[:1] or (found if len(found) == 1 else []):
        fields = source.fields(node, source.file)
        client = fields.values['client']
        product = _PRODUCTS.get(text_of(source, source.file, client) or '', '')
        options, complete = _options(source, source.file, fields, _MAKERS['knex'])
        options.settings.update(_host(source, source.file, fields))
        if product or client is None:
            address = fields.values.get('connection')
            yield _component(source, source.file, node, 'knex', product, address, text_of(source, source.file, address), options, complete)


def _product_of(source: Source, scope: Scope, arguments: list[Any], field: str) -> tuple[Scope, Any] | None:
    """The object that `useFactory: (config) => ({ ... })` makes, and the function that makes it."""
    made = source.fields(arguments[0], scope).values.get(field) if arguments else None
    function = source.settled(made, scope) if made is not None else None
    inner = next((found for found in source.scopes if function is not None and found.node.id == function.id), None)
    body = function.child_by_field_name('body') if inner is not None and function is not None else None
    if body is not None and body.type == 'statement_block':
        returned = [node.named_children[0] for node in body.named_children if node.type == 'return_statement' and node.named_children]
        body = returned[0] if len(returned) == 1 else None
    return (inner, body) if inner is not None and body is not None and _is_object(source, inner, body) else None


def _sure_text(source: Source, scope: Scope, node: Any) -> str:
    """The text of an expression that no variable decides, or ''."""
    try:
        found, asked = fold(source, scope, node)
    except Unfolded:
        return ''
    return found if isinstance(found, str) and not asked else ''


def _is_object(source: Source, scope: Scope, node: Any) -> bool:
    return bool(source.settled(node, scope).type == 'object')


def _address(source: Source, scope: Scope, arguments: list[Any], given: Fields | None) -> Any:
    """The expression of the database URL, or None."""
    first = arguments[0] if arguments else None
    if first is not None and not _is_object(source, scope, first) and (text_of(source, scope, first) is not None or variable_of(source, scope, first)):
        return first
    return next((node for name in _URLS if given is not None and (node := given.values.get(name)) is not None), None)


def _host(source: Source, scope: Scope, fields: Fields) -> dict[str, Setting]:
    """The host that a field names: of the options, or of the `connection` in them. A variable with a default may name any."""
    inner = fields.values.get('connection')
    below = source.fields(inner, scope) if inner is not None and _is_object(source, scope, inner) else fields
    node = below.values.get('host')
    host = _sure_text(source, scope, node) if node is not None else ''
    return {'host': Setting('host', host, source.place(node))} if host else {}


def _options(source: Source, scope: Scope, fields: Fields, maker: _Maker) -> tuple[Options, bool]:
    """The pool's own options, and whether that is all of them."""
    if not maker.below or maker.below == 'connection':
        inner = fields.values.get('connection')
        below = source.fields(inner, scope) if maker.below and inner is not None and _is_object(source, scope, inner) else fields
        return options_of(source, scope, below.values, maker.options), below.complete and fields.complete
    known, node = maker.options, fields.values.get(maker.below)
    outer = options_of(source, scope, fields.values, known if maker.library == 'typeorm' else {})
    if node is None:
        return outer, fields.complete and maker.below not in fields.values
    below = source.fields(node, scope)
    known = {**_PG, **_MYSQL} if maker.library == 'typeorm' else known
    found = options_of(source, scope, below.values, known)
    return Options({**outer.settings, **found.settings}, [*outer.variables, *found.variables]), fields.complete and below.complete


def _worked_out(source: Source, scope: Scope, call: Any, maker: _Maker) -> Component | None:
    """A pool whose options stand elsewhere: it is there, and nothing is known of it. What may be given a pool that is there already opens none."""
    if maker.kind or maker.below or maker.wraps:
        return None
    return _component(source, scope, call, maker.library, maker.product, None, None, Options({}, []), False)


def _component(
    source: Source, scope: Scope, call: Any, library: str, product: str, address: Any, text: str | None, options: Options, complete: bool
) -> Component:
    place = source.place(head_of(call))
    settings = dict(options.settings)
    dsn = parse_dsn(Word(text, source.place(address), False, locked=LOCKED)) if text else None
    if dsn is not None and dsn.host:
        settings['host'] = Setting('host', dsn.host, source.place(address))
    if product or dsn is not None:
        settings['product'] = Setting('product', product or dsn.product, place)  # type: ignore[union-attr]
    variable = variable_of(source, scope, address) if address is not None else ''
    if variable:
        settings['variable'] = Setting('variable', variable, source.place(address))
    if options.variables:
        settings['decided_by'] = Setting('decided_by', tuple(options.variables), place)
    if in_handler(source, scope) is not None:
        settings['per_request'] = Setting('per_request', True, place)
    settings['written_in'] = Setting('written_in', WRITTEN_IN, place)
    path = source.document.path
    return component_of(Draft('code', library, settings, place), path.rpartition('/')[2], f'node/{path}/pool/{call.start_byte}', path, '' if complete else _UNSEEN)


def _is_short(source: Source, scope: Scope, call: Any) -> bool:
    """Whether what opens the pool closes it again: `await pool.end()` in the same function, or in a script outside of functions."""
    made_in = scope.node.child_by_field_name('name')
    if made_in is not None and SHORT_LIVED.search(source.text(made_in)):
        return True
    holder = call.parent
    name = source.text(holder.child_by_field_name('name')) if holder is not None and holder.type == 'variable_declarator' else ''
    if not name:
        return False
    for other in scope.calls:
        function = other.child_by_field_name('function')
        if function is None or function.type != 'member_expression' or source.text(function.child_by_field_name('property')) not in _CLOSERS:
            continue
        if source.text(function.child_by_field_name('object')) == name:
            return True
    return False


