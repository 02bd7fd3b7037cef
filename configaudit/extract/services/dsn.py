"""Database URLs: 'postgres://user:pw@host:5432/db?sslmode=require', 'jdbc:mysql://host/db', ADO.NET key=value strings."""

import re
from typing import NamedTuple

from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import squash
from configaudit.patterns import regex
from configaudit.units import HOLE

_PRODUCTS = {
    'postgres': 'postgres', 'postgresql': 'postgres', 'ecto': 'postgres', 'mysql': 'mysql', 'mysql2': 'mysql', 'mariadb': 'mysql',
    'sqlserver': 'mssql', 'mssql': 'mssql', 'trilogy': 'mysql', 'redis': 'redis', 'rediss': 'redis',
}  # fmt: skip
_REDIS_SIZES = {'maxconnections', 'poolsize', 'poolmaxsize'}
_SCHEME = regex(r'(jdbc:)?([a-z0-9]+)(?:\+([a-z0-9_]+))?:(?:[a-z]+:)*//', re.IGNORECASE)
_VARIABLE = regex(r'\$\{[^{}]*\}|\$\([^()]*\)|%\w')
_DEFAULT = regex(r'\$\{[^:{}]+:([^{}]+)\}(?=[:/?]|$)')
_ADO = regex(r'(?:^|;)\s*(host|server|data source|address|addr)\s*=\s*(?:tcp:)?([^;,:\\]*)', re.IGNORECASE)
_ADO_USER = regex(r'(?:^|;)\s*(?:user id|uid|username|user|integrated security|trusted_connection|database|initial catalog)\s*=', re.IGNORECASE)


class Dsn(NamedTuple):
    """What a database URL says."""

    word: Word
    product: str
    driver: str
    """'asyncpg' of 'postgresql+asyncpg://', or ''."""
    jdbc: bool
    host: str
    """The first host; '' when it is not known."""
    parameters: dict[str, Word]
    """By squashed name."""
    open: bool
    """Parameters may stand in a part that is not known."""
    mariadb: bool = False
    user: str = ''
    """'' when it is not known."""


def parse_dsn(word: Word) -> Dsn | None:
    """The parts of a database URL; None when the word is none, or names a database that opens no connections (SQLite, H2), or a Redis without a pool's size."""
    text = _VARIABLE.sub(lambda found: HOLE * len(found[0]), word.value)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return None
    product = _PRODUCTS.get(scheme[2].lower())
    if product is None:
        return None
    start = scheme.end()
    separator = ';' if product == 'mssql' and scheme[1] else '?'
    query_at = text.find(separator, start)
    head = text[start : query_at if query_at >= 0 else len(text)]
    authority = head.partition('/')[0] if '@' not in head else head[: head.rfind('@')] + head[head.rfind('@') :].partition('/')[0]
    host = re.sub(r'^\w+\((.*?)\)?$', r'\1', authority.rpartition('@')[2]).split(',')[0]
    host = _host(word.value, host, text)
    query = text[query_at + 1 :] if query_at >= 0 else ''
    parameters = _parameters(word, query_at + 1, query, ';' if separator == ';' else '&') if query else {}
    if product == 'redis' and not parameters.keys() & _REDIS_SIZES:
        return None  # what a client of Redis opens by itself differs from library to library
    return Dsn(
        word, product, (scheme[3] or '').lower(), bool(scheme[1]), '' if HOLE in host else host.lower(), parameters,
        HOLE in re.sub(rf'=[^&;]*{HOLE}[^&;]*', '=', query) or (query_at < 0 and '/' not in head and text.endswith(HOLE)),
        scheme[2].lower() == 'mariadb', _user(head, parameters),
    )  # fmt: skip


def _user(head: str, parameters: dict[str, Word]) -> str:
    """Who connects: before the @, or a parameter."""
    name = head.rpartition('@')[0].partition(':')[0] if '@' in head else parameters['user'].value if 'user' in parameters else ''
    return '' if HOLE in name or '$' in name else name


def _host(written: str, host: str, text: str) -> str:
    """A host without its port; of Spring's `${NAME:default}` the default."""
    at = text.find(host)
    default = _DEFAULT.match(written, at) if host.startswith(HOLE) and at >= 0 else None
    return default[1] if default is not None else host.partition(':')[0]


def _parameters(word: Word, start: int, query: str, separator: str) -> dict[str, Word]:
    found: dict[str, Word] = {}
    at = start
    for pair in query.split(separator):
        name, equals, value = pair.partition('=')
        if equals:
            begin = at + len(name) + 1
            place = word.place.part(begin, begin + len(value)) if word.pure else word.place
            reason = 'it is filled from a variable' if HOLE in value else ''
            found[squash(name)] = Word(value, place, word.pure, reason, word.locked, word.use)
        at += len(pair) + 1
    return found


def parse_ado(word: Word) -> Dsn | None:
    """An ADO.NET connection string: 'Host=db;Database=x;Username=y;Maximum Pool Size=50'."""
    server = _ADO.search(word.value)
    if server is None or _ADO_USER.search(word.value) is None or 'AccountEndpoint' in word.value:
        return None
    product = 'postgres' if server[1].lower() == 'host' else 'mssql' if re.search(r'data source|initial catalog|trusted', word.value, re.IGNORECASE) else ''
    host = server[2].strip().lower()
    parameters = _parameters(word, 0, word.value, ';')
    return Dsn(word, product, 'ado', False, '' if HOLE in host or '$' in host else host, parameters, word.value.endswith(HOLE))
