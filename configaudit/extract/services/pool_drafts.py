"""A connection pool in the making: what one place says of it, completed by its URL and its library's defaults."""

from typing import NamedTuple

from configaudit.extract.services.dsn import Dsn
from configaudit.extract.services.statements import default_statements, url_statements
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import LIBRARIES, QUERY, squash
from configaudit.knowledge.service_kinds import POOL
from configaudit.model import Component, Setting
from configaudit.places import Place

_SQLALCHEMY_DRIVERS = frozenset((
    'asyncpg', 'psycopg2', 'psycopg', 'pg8000', 'pymysql', 'aiomysql', 'asyncmy', 'mysqldb', 'mysqlconnector', 'mariadbconnector', 'pyodbc',
))  # fmt: skip
_NOT_STATED = 'the number of connections is not stated in the files read'


class Draft(NamedTuple):
    """One pool as it was written."""

    key: str
    """What tells it from the other pools of the same process or file."""
    library: str
    settings: dict[str, Setting]
    place: Place


def library_of(dsn: Dsn) -> str:
    """The pool library that a database URL gives away, or ''."""
    if dsn.driver in _SQLALCHEMY_DRIVERS:
        return 'sqlalchemy'
    return 'adonet' if dsn.driver == 'ado' else ''


def add_option(settings: dict[str, Setting], library: str, key: str, word: Word, writer: str = 'argument') -> bool:
    """Take in one key of a library (any spelling); False when the library has no such key."""
    found = LIBRARIES[library].keys.get(squash(key))
    if found is None:
        return False
    name, unit = found
    settings[name] = setting_of(name, word, unit, LIBRARIES[library].unlimited, writer)
    return True


def add_url(settings: dict[str, Setting], dsn: Dsn, writer: str = 'argument') -> str:
    """Take in a database URL: product, host, pool parameters, timeouts. The library its parameters belong to, or ''."""
    word = dsn.word
    # Spliced as it is: what is added to a URL (&name=value) needs no quotes where the URL needs none.
    url = setting_of('url', word, 'text', writer='properties')
    settings['url'] = url._replace(known_value=word.value, reason='', secret=True)
    settings['product'] = Setting('product', dsn.product, word.place)
    settings['host'] = Setting('host', dsn.host or None, word.place, reason='' if dsn.host else 'the host is filled from a variable')
    if dsn.user:
        settings['user'] = Setting('user', dsn.user, word.place)
    library = library_of(dsn)
    for name, value in dsn.parameters.items():
        reader, key = QUERY.get(name, (library, name))
        if reader not in LIBRARIES or not (name in QUERY or reader):
            continue
        meant = LIBRARIES[reader].keys.get(squash(key), ('', ''))[0]
        if meant not in settings and add_option(settings, reader, key, value, writer):
            library = reader or library
    if dsn.open and 'max_open' not in settings:
        settings['max_open'] = Setting('max_open', None, word.place, 'inherited', 'the URL ends in a part that is not known')
    if dsn.jdbc:
        _jdbc_timeouts(settings, dsn)
    statements = url_statements(dsn.parameters, library, dsn.jdbc, dsn.open, word.place) if dsn.product == 'postgres' else None
    if statements is not None:
        settings.setdefault('statement_cache', statements)
    return library


def _jdbc_timeouts(settings: dict[str, Setting], dsn: Dsn) -> None:
    """Connect and socket timeouts of a JDBC URL; None where the driver waits for ever."""
    in_seconds = dsn.product == 'postgres'
    connect_name = 'logintimeout' if dsn.product == 'mssql' else 'connecttimeout'
    connect_default = {'postgres': 10, 'mssql': 30}.get(dsn.product, 30 if dsn.mariadb else None)
    for setting, parameter, default in (('connect_timeout_s', connect_name, connect_default), ('socket_timeout_s', 'sockettimeout', None)):
        word = dsn.parameters.get(parameter)
        if word is not None:
            unit = 's' if in_seconds or parameter == 'logintimeout' else 'ms'
            settings.setdefault(setting, setting_of(setting, word, unit))
        else:
            reason = 'the URL ends in a part that is not known' if dsn.open else ''
            settings.setdefault(setting, Setting(setting, default, dsn.word.place, 'default', reason))


def component_of(draft: Draft, name: str, identity: str, scope: str, partial: str) -> Component:
    """The pool itself; what nobody wrote comes from the library's defaults."""
    settings = draft.settings
    library = LIBRARIES[draft.library]
    place = draft.place
    settings['library'] = Setting('library', draft.library, place)
    if 'max_open' not in settings:
        settings['max_open'] = _unstated(draft.library, place, partial)
    source = f'{library.title} default' if library.default_overflow else ''
    settings.setdefault('overflow', Setting('overflow', library.default_overflow, place, 'default', partial if source else '', source=source))
    settings.setdefault('statement_cache', default_statements(draft.library, partial, place))
    settings.setdefault('serves', Setting('serves', True, place, 'default'))
    for setting, value in (('max_lifetime_s', library.default_lifetime_s), ('wait_timeout_s', library.default_wait_s), ('idle_timeout_s', library.default_idle_s)):
        if value is not None and not partial:
            settings.setdefault(setting, Setting(setting, value, place, 'default', source=f'{library.title} default'))
    return Component(POOL, name, identity, place, settings, partial=partial, scope=scope)


def _unstated(library: str, place: Place, partial: str) -> Setting:
    known = LIBRARIES[library]
    if partial:
        return Setting('max_open', None, place, 'inherited', partial)
    if library == 'litellm':
        return Setting('max_open', None, place, 'default', _NOT_STATED, (10, 100), source='LiteLLM default: 10 a worker, 100 in older releases')
    if known.default_open is not None:
        return Setting('max_open', known.default_open, place, 'default', source=f'{known.title} default')
    return Setting('max_open', None, place, 'default', _NOT_STATED)
