"""What connection-pool libraries call their settings, what they do when nothing is set, and which value means no limit.

Keys are squashed (lower case, no dots, dashes or underscores), because Spring's relaxed binding, environment
variables and ADO.NET spell one name in many ways. Sources: HikariCP, Druid, Tomcat JDBC, DBCP2, Go database/sql,
pgxpool, SQLAlchemy, Prisma 6, Npgsql and LiteLLM documentation.
"""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Key = tuple[str, str]
"""A setting of the kind `pool`, and the unit a file writes it in."""
_NONE: Mapping[str, tuple[float, ...]] = MappingProxyType({})


class Library(NamedTuple):
    """One pool implementation."""

    title: str
    keys: dict[str, Key]
    default_open: int | None
    """Connections it opens when nobody says; None when that depends on the machine or the version."""
    default_overflow: int = 0
    unlimited: Mapping[str, tuple[float, ...]] = _NONE
    """Setting -> numbers that mean no limit."""
    default_lifetime_s: float | None = None
    default_wait_s: float | None = None
    default_idle_s: float | None = None


_GO_KEYS: dict[str, Key] = {
    'maxopenconns': ('max_open', 'count'), 'maxopenconnections': ('max_open', 'count'), 'maxopenconn': ('max_open', 'count'),
    'maxopen': ('max_open', 'count'), 'maxconns': ('max_open', 'count'), 'maxidleconns': ('max_idle', 'count'),
    'maxidleconnections': ('max_idle', 'count'), 'maxidleconn': ('max_idle', 'count'), 'maxidle': ('max_idle', 'count'),
    'connmaxlifetime': ('max_lifetime_s', 'duration'), 'maxconnlifetime': ('max_lifetime_s', 'duration'),
    'connmaxidletime': ('idle_timeout_s', 'duration'), 'maxconnidletime': ('idle_timeout_s', 'duration'),
}  # fmt: skip
LIBRARIES: dict[str, Library] = {
    'hikari': Library('HikariCP', {
        'maximumpoolsize': ('max_open', 'count'), 'maxpoolsize': ('max_open', 'count'), 'minimumidle': ('min_idle', 'count'),
        'maxlifetime': ('max_lifetime_s', 'ms'), 'idletimeout': ('idle_timeout_s', 'ms'), 'keepalivetime': ('keepalive_s', 'ms'),
        'connectiontimeout': ('wait_timeout_s', 'ms'), 'datasourcepropertiespreparethreshold': ('statement_cache', 'count'),
        'datasourcepropertiesconnecttimeout': ('connect_timeout_s', 'ms'),
        'datasourcepropertiessockettimeout': ('socket_timeout_s', 'ms'),
    }, 10, 0, {'max_lifetime_s': (0,), 'wait_timeout_s': (0,)}, 1800, 30, 600),
    'druid': Library('Druid', {
        'maxactive': ('max_open', 'count'), 'minidle': ('min_idle', 'count'), 'maxwait': ('wait_timeout_s', 'ms'),
        'maxevictableidletimemillis': ('idle_timeout_s', 'ms'), 'phytimeoutmillis': ('max_lifetime_s', 'ms'),
        'testonborrow': ('test_on_borrow', 'bool'), 'testwhileidle': ('test_while_idle', 'bool'),
        'connecttimeout': ('connect_timeout_s', 'ms'), 'sockettimeout': ('socket_timeout_s', 'ms'),
    }, 8, 0, {'wait_timeout_s': (0, -0.001), 'max_lifetime_s': (0, -0.001)}, None, math.inf),
    'tomcat': Library('Tomcat JDBC', {
        'maxactive': ('max_open', 'count'), 'maxidle': ('max_idle', 'count'), 'minidle': ('min_idle', 'count'),
        'maxwait': ('wait_timeout_s', 'ms'), 'maxage': ('max_lifetime_s', 'ms'), 'testonborrow': ('test_on_borrow', 'bool'),
        'testwhileidle': ('test_while_idle', 'bool'),
    }, 100, 0, {'wait_timeout_s': (0, -0.001), 'max_lifetime_s': (0,)}, None, 30),
    'dbcp2': Library('DBCP2', {
        'maxtotal': ('max_open', 'count'), 'maxidle': ('max_idle', 'count'), 'minidle': ('min_idle', 'count'),
        'maxwaitmillis': ('wait_timeout_s', 'ms'), 'maxconnlifetimemillis': ('max_lifetime_s', 'ms'),
    }, 8, 0, {'max_open': (-1,), 'wait_timeout_s': (0, -0.001), 'max_lifetime_s': (0, -0.001)}),
    'jedis': Library('Jedis', {
        'maxtotal': ('max_open', 'count'), 'maxidle': ('max_idle', 'count'), 'minidle': ('min_idle', 'count'), 'maxwaitmillis': ('wait_timeout_s', 'ms'),
        'maxwait': ('wait_timeout_s', 'ms'), 'testonborrow': ('test_on_borrow', 'bool'), 'testwhileidle': ('test_while_idle', 'bool'),
    }, 8, 0, {'max_open': (-1,), 'wait_timeout_s': (-0.001, -1)}),
    'r2dbc': Library('R2DBC pool', {
        'maxsize': ('max_open', 'count'), 'minidle': ('min_idle', 'count'), 'maxidletime': ('idle_timeout_s', 'spring'), 'maxlifetime': ('max_lifetime_s', 'spring'),
        'maxacquiretime': ('wait_timeout_s', 'spring'),
    }, 10, 0, {'max_lifetime_s': (-0.001, -1), 'wait_timeout_s': (-0.001, -1), 'idle_timeout_s': (-0.001, -1)}, None, None, 1800),
    'spring-redis': Library('Spring Data Redis', {
        'maxactive': ('max_open', 'count'), 'maxidle': ('max_idle', 'count'), 'minidle': ('min_idle', 'count'), 'maxwait': ('wait_timeout_s', 'spring'),
    }, 8, 0, {'max_open': (-1,), 'wait_timeout_s': (-0.001, -1)}),
    'go': Library('Go database/sql', _GO_KEYS, None, 0, {
        'max_open': (0, -1), 'max_lifetime_s': (0, -1), 'idle_timeout_s': (0, -1),
    }),
    'pgxpool': Library('pgxpool', {
        'poolmaxconns': ('max_open', 'count'), 'poolminconns': ('min_idle', 'count'),
        'poolmaxconnlifetime': ('max_lifetime_s', 'duration'), 'poolmaxconnidletime': ('idle_timeout_s', 'duration'),
    }, None, 0, {}, 3600, None, 1800),
    'sqlalchemy': Library('SQLAlchemy', {
        'poolsize': ('max_open', 'count'), 'maxoverflow': ('overflow', 'count'), 'poolmaxoverflow': ('overflow', 'count'),
        'poolrecycle': ('max_lifetime_s', 's'), 'pooltimeout': ('wait_timeout_s', 's'),
    }, 5, 10, {'max_open': (0,), 'overflow': (-1,), 'max_lifetime_s': (-1,)}, None, 30),
    'psycopg_pool': Library('psycopg_pool', {
        'minsize': ('min_idle', 'count'), 'maxsize': ('max_open', 'count'), 'maxlifetime': ('max_lifetime_s', 's'), 'maxidle': ('idle_timeout_s', 's'),
        'timeout': ('wait_timeout_s', 's'),
    }, 4, 0, {}, 3600, 30, 600),
    'asyncpg': Library('asyncpg', {
        'minsize': ('min_idle', 'count'), 'maxsize': ('max_open', 'count'), 'maxinactiveconnectionlifetime': ('idle_timeout_s', 's'),
        'statementcachesize': ('statement_cache', 'count'),
    }, 10, 0, {'idle_timeout_s': (0,)}, None, None, 300),
    'django': Library('Django', {}, None),
    'aiomysql': Library('aiomysql', {'maxsize': ('max_open', 'count'), 'minsize': ('min_idle', 'count'), 'poolrecycle': ('max_lifetime_s', 's')}, 10, 0, {'max_lifetime_s': (-1,)}),
    'databases': Library('databases', {'maxsize': ('max_open', 'count'), 'minsize': ('min_idle', 'count')}, 10),
    'peewee': Library('peewee', {'maxconnections': ('max_open', 'count'), 'staletimeout': ('idle_timeout_s', 's'), 'timeout': ('wait_timeout_s', 's')}, 20),
    'psycopg2': Library('psycopg2.pool', {'maxconn': ('max_open', 'count'), 'minconn': ('min_idle', 'count')}, None),
    'mysql_connector': Library('MySQL Connector/Python', {'poolsize': ('max_open', 'count')}, 5),
    'prisma': Library('Prisma', {
        'connectionlimit': ('max_open', 'count'), 'pooltimeout': ('wait_timeout_s', 's'),
        'sockettimeout': ('socket_timeout_s', 's'),
    }, None, 0, {'wait_timeout_s': (0,)}, None, 10),
    'sqlx': Library('sqlx', {'maxconnections': ('max_open', 'count')}, 10, 0, {}, 1800, 30, 600),
    'r2d2': Library('r2d2', {'maxsize': ('max_open', 'count')}, 10, 0, {}, 1800, 30, 600),
    'bb8': Library('bb8', {'maxsize': ('max_open', 'count')}, 10, 0, {}, 1800, 30, 600),
    'node-postgres': Library('node-postgres', {'max': ('max_open', 'count')}, 10, 0, {}, math.inf, math.inf, 10),
    'mysql2': Library('mysql2', {'connectionlimit': ('max_open', 'count')}, 10, 0, {}, None, None, 60),
    'mariadb': Library('MariaDB Connector/Node.js', {'connectionlimit': ('max_open', 'count')}, 10, 0, {}, None, 10, 1800),
    'sequelize': Library('Sequelize', {'max': ('max_open', 'count')}, 5, 0, {}, None, 60, 10),
    'knex': Library('Knex', {'max': ('max_open', 'count')}, 10, 0, {}, None, 60, 30),
    'postgres.js': Library('postgres.js', {'max': ('max_open', 'count')}, 10, 0, {}, 1800),
    'litellm': Library('LiteLLM', {'databaseconnectionpoollimit': ('max_open', 'count')}, None),
    'adonet': Library('ADO.NET', {
        'maxpoolsize': ('max_open', 'count'), 'maximumpoolsize': ('max_open', 'count'), 'minpoolsize': ('min_idle', 'count'),
        'minimumpoolsize': ('min_idle', 'count'), 'maxautoprepare': ('statement_cache', 'count'), 'connectionidlelifetime': ('idle_timeout_s', 's'),
        'connectionlifetime': ('max_lifetime_s', 's'), 'loadbalancetimeout': ('max_lifetime_s', 's'), 'timeout': ('wait_timeout_s', 's'),
        'connecttimeout': ('wait_timeout_s', 's'), 'connectiontimeout': ('wait_timeout_s', 's'),
    }, 100, 0, {'max_lifetime_s': (0,), 'wait_timeout_s': (0,)}, None, 15),
    'pgbouncer': Library('PgBouncer', {}, 20),
    'pooler': Library('the pooler', {}, None),
    'rails': Library('Active Record', {'pool': ('max_open', 'count'), 'maxconnections': ('max_open', 'count'), 'preparedstatements': ('statement_cache', 'bool')}, 5, 0, {}, None, 5),
    '': Library('the library', {
        'poolsize': ('max_open', 'count'), 'poolmax': ('max_open', 'count'), 'poolmaxsize': ('max_open', 'count'),
        'maxpoolsize': ('max_open', 'count'), 'maxconnections': ('max_open', 'count'), 'connectionpoolsize': ('max_open', 'count'),
        'connectionlimit': ('max_open', 'count'), 'maxsize': ('max_open', 'count'), 'poolmaxconnections': ('max_open', 'count'),
    }, None),
}  # fmt: skip

QUERY: dict[str, tuple[str, str]] = {
    'connectionlimit': ('prisma', 'connectionlimit'), 'poolmaxconns': ('pgxpool', 'poolmaxconns'),
    'poolmaxconnlifetime': ('pgxpool', 'poolmaxconnlifetime'), 'poolmaxconnidletime': ('pgxpool', 'poolmaxconnidletime'),
    'poolsize': ('', 'poolsize'), 'pool': ('rails', 'pool'), 'maxconnections': ('', 'maxconnections'),
    'maxpoolsize': ('', 'maxpoolsize'), 'maxsize': ('', 'maxsize'),
}  # fmt: skip
"""Parameter of a database URL -> the library that reads it and the library's name for it."""

_GROUP = (
    r'(?:DB|DATABASE|RDB|SQL|MYSQL|MARIADB|POSTGRES|POSTGRESQL|POSTGRESDB|PG|PSQL|DATASTORE|SQLALCHEMY|SQL_ALCHEMY|SQLALCHEMYSTORE)'
)
ENVIRONMENT: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(rf'^(?:[A-Z0-9]+_+)*?{group}_+{suffix}$', re.IGNORECASE), library, key)
    for group, suffix, library, key in (
        (r'(?:SQLALCHEMY|SQL_ALCHEMY|SQLALCHEMYSTORE)', r'POOL_SIZE', 'sqlalchemy', 'poolsize'),
        (r'(?:SQLALCHEMY|SQL_ALCHEMY|SQLALCHEMYSTORE)', r'(?:POOL_)?MAX_OVERFLOW', 'sqlalchemy', 'maxoverflow'),
        (r'(?:SQLALCHEMY|SQL_ALCHEMY|SQLALCHEMYSTORE)', r'POOL_RECYCLE', 'sqlalchemy', 'poolrecycle'),
        (_GROUP, r'(?:POOL_)?MAX_OVERFLOW', 'sqlalchemy', 'maxoverflow'),
        (_GROUP, r'(?:CONN_|CONNECTIONS?_)?MAX_OPEN(?:_CONNS?|_CONNECTIONS)?', 'go', 'maxopenconns'),
        (_GROUP, r'(?:CONN_|CONNECTIONS?_)?MAX_IDLE(?:_CONNS?|_CONNECTIONS)?', 'go', 'maxidleconns'),
        (_GROUP, r'(?:CONN_MAX_LIFETIME|MAX_CONN_LIFETIME)', 'go', 'connmaxlifetime'),
        (_GROUP, r'(?:POOL|POOL_SIZE|POOL_MAX|POOL_MAX_SIZE|MAX_POOL_SIZE|CONNECTION_POOL_SIZE|CONNECTION_POOL_MAX|POOL_MAX_CONNECTIONS|'
                 r'CONNECTION_LIMIT|MAX_CONNECTIONS|MAX_CONNS)', '', 'poolsize'),
        (r'HIKARI', r'MAX(?:IMUM)?_?POOL_?SIZE', 'hikari', 'maximumpoolsize'),
    )
)  # fmt: skip
"""Names of environment variables that say a pool's size, the library where the name tells it, and its key."""

HOST_NAMES = ('DB_HOST', 'DATABASE_HOST', 'POSTGRES_HOST', 'POSTGRESQL_HOST', 'PGHOST', 'MYSQL_HOST', 'MARIADB_HOST', 'DB_HOSTNAME', 'DB_ADDR')
"""Environment variables that name the host of a database."""


def squash(name: str) -> str:
    """A key as every spelling of it compares: 'max-open_Conns' is 'maxopenconns'."""
    return name.replace('-', '').replace('_', '').replace('.', '').replace(' ', '').lower()
