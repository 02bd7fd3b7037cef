"""Pools in application configuration: Spring, Temporal-like maps, LiteLLM, appsettings.json, database.yml."""

from collections.abc import Iterator

from configaudit.extract.services.dsn import Dsn, parse_ado, parse_dsn
from configaudit.extract.services.pool_drafts import Draft, add_option, add_url
from configaudit.extract.services.rails import erb_default, is_other_environment
from configaudit.extract.services.values import setting_of, settled
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.pool_libraries import LIBRARIES, squash
from configaudit.model import Setting
from configaudit.parse.tree import Map, Scalar, Seq, key_place, mapping, text
from configaudit.places import Document

Path = tuple[str, ...]
Entry = tuple[Path, Word]
_SPRING_LIBRARIES = ('hikari', 'druid', 'tomcat', 'dbcp2')
_DATABASE_KEYS = frozenset((
    'dsn', 'url', 'uri', 'host', 'hostname', 'addr', 'address', 'connectaddr', 'databasename', 'dbname', 'database', 'user', 'username', 'driver',
    'dialect', 'pluginname', 'drivername', 'datasource', 'sslmode', 'connectionstring',
))  # fmt: skip
_OPEN_KEYS = ('maxopenconns', 'maxopenconnections', 'maxopenconn')
_RAILS = {'postgresql': 'postgres', 'postgis': 'postgres', 'mysql2': 'mysql', 'trilogy': 'mysql', 'sqlserver': 'mssql'}


def entries(document: Document, node: Map, path: Path = ()) -> Iterator[Entry]:
    """Every scalar below a mapping with its path; a dotted key counts as several steps."""
    for key, value in node.items():
        below = (*path, *key.split('.'))
        if isinstance(value, Map) and len(below) < 24:
            yield from entries(document, value, below)
        elif isinstance(value, Scalar) and (word := word_of(document, value)) is not None:
            yield below, word


def tree_drafts(document: Document, root: Map) -> list[Draft]:
    """Every pool that a YAML or JSON root describes."""
    if 'general_settings' in root:
        return _litellm(document, root)
    if 'ConnectionStrings' in root:
        return _connection_strings(document, root)
    found = spring_drafts(list(entries(document, root)))
    seen = {draft.place for draft in found}
    found.extend(draft for draft in _maps(document, root, ()) if draft.place not in seen)
    return found


def spring_drafts(found: list[Entry], writer: str = 'argument') -> list[Draft]:
    """Data sources by relaxed binding: `<prefix>.hikari.maximum-pool-size`, `<prefix>.url` and the like.

    A data source below another one's prefix takes over what that one says of its pool (dynamic data sources).
    """
    groups: dict[Path, tuple[str, dict[str, Setting], list[Word]]] = {}
    for path, word in found:
        squashed = tuple(map(squash, path))
        if 'datasource' not in squashed and 'datasources' not in squashed:
            continue
        at = next((number for number, part in enumerate(squashed) if part in _SPRING_LIBRARIES), None)
        word = word if word.known else word._replace(pure=False)
        if squashed[-1] in ('url', 'jdbcurl') and 'jdbc:' in word.value:
            prefix = squashed[:-2] if squashed[-2] in _SPRING_LIBRARIES else squashed[:-1]
            dsn = parse_dsn(word)
            if dsn is not None:
                named = next((part for part in squashed if part in _SPRING_LIBRARIES), '')
                library, settings, words = groups.get(prefix, ('', {}, []))
                groups[prefix] = (library or named, settings, words)
                words.append(word)
                add_url(settings, dsn, writer)
        elif at is not None and at + 1 < len(path):
            library = squashed[at]
            group = groups.setdefault(squashed[:at], (library, {}, []))
            if not group[0]:
                groups[squashed[:at]] = group = (library, group[1], group[2])
            if add_option(group[1], library, ''.join(squashed[at + 1 :]), settled(word), writer):
                group[2].append(word)
    return _with_parents(groups)


def _with_parents(groups: dict[Path, tuple[str, dict[str, Setting], list[Word]]]) -> list[Draft]:
    drafts = []
    for prefix, (library, settings, words) in groups.items():
        parent = next((groups[prefix[:length]] for length in range(len(prefix) - 1, 0, -1) if prefix[:length] in groups), None)
        if parent is not None and words:
            settings = {**{name: value for name, value in parent[1].items() if name not in ('url', 'host', 'product')}, **settings}
            library = parent[0] or library
        has_child = any(other[: len(prefix)] == prefix and other != prefix for other in groups)
        if words and not (has_child and 'url' not in settings):
            place = settings['max_open'].place if 'max_open' in settings else words[0].place
            # Spring Boot 2 and later take HikariCP where the configuration names no pool.
            default = 'hikari' if prefix[:2] == ('spring', 'datasource') else ''
            drafts.append(Draft('.'.join(prefix), library or default, settings, place))
    return drafts


def _maps(document: Document, node: Map, path: Path) -> Iterator[Draft]:
    """Mappings that hold a pool's own keys beside those of a database."""
    squashed = {squash(key): key for key in node}
    opened = next((key for key in _OPEN_KEYS if key in squashed), None)
    beside = any(key in _DATABASE_KEYS for key in squashed)
    sized = next((key for key in ('maxconns', 'maxconnections', 'poolsize', 'pool') if key in squashed), None)
    if opened or (beside and sized):
        draft = _map_draft(document, node, squashed, path, opened is not None or sized == 'maxconns')
        if draft is not None:
            yield draft
    for key, value in node.items():
        if not path and is_other_environment(key, node):
            continue
        for item in (value if isinstance(value, Seq) else [value])[:100]:
            if isinstance(item, Map) and len(path) < 12:
                yield from _maps(document, item, (*path, key))


def _map_draft(document: Document, node: Map, squashed: dict[str, str], path: Path, is_go: bool) -> Draft | None:
    product = _product(node, squashed)
    rails = 'adapter' in squashed and 'pool' in squashed
    library = 'go' if is_go else 'rails' if rails else 'sqlalchemy' if 'maxoverflow' in squashed else ''
    if not is_go and not product:
        return None
    settings: dict[str, Setting] = {}
    for short, key in squashed.items():
        word = word_of(document, node[key])
        if word is None:
            continue
        word = erb_default(word)
        if LIBRARIES[library].keys.get(short, ('', ''))[0] not in settings:
            add_option(settings, library, short, settled(word))
        if short in ('dsn', 'url', 'uri', 'connectionstring') and (dsn := parse_dsn(word)) is not None:
            add_url(settings, dsn)
        if short in ('host', 'hostname', 'connectaddr', 'addr', 'address') and word.known:
            settings.setdefault('host', setting_of('host', word._replace(value=word.value.rpartition('@')[2].partition(':')[0]), 'text'))
    if 'max_open' not in settings:
        return None
    if product:
        settings.setdefault('product', Setting('product', product, settings['max_open'].place))
    return Draft('.'.join(path), library, settings, settings['max_open'].place)


def _product(node: Map, squashed: dict[str, str]) -> str:
    """The kind of database that a mapping names."""
    for short in ('driver', 'dialect', 'pluginname', 'adapter', 'type', 'drivername', 'dsn', 'url', 'uri'):
        value = (text(node, squashed[short]) or '').lower() if short in squashed else ''
        if value in _RAILS:
            return _RAILS[value]
        for word, product in (('postgres', 'postgres'), ('pgx', 'postgres'), ('mysql', 'mysql'), ('mariadb', 'mysql'), ('sqlserver', 'mssql')):
            if value.startswith(word):
                return product
    return ''


def _litellm(document: Document, root: Map) -> list[Draft]:
    general = mapping(root, 'general_settings')
    if general is None or not any(key in general for key in ('database_url', 'database_connection_pool_limit')):
        return []
    settings: dict[str, Setting] = {}
    limit = word_of(document, general.get('database_connection_pool_limit'))
    url = word_of(document, general.get('database_url'))
    dsn = parse_dsn(url) if url is not None else None
    if dsn is not None:
        add_url(settings, dsn)
    if limit is not None:
        add_option(settings, 'litellm', 'databaseconnectionpoollimit', limit)
    key = 'database_connection_pool_limit' if limit is not None else 'database_url'
    settings.setdefault('product', Setting('product', 'postgres', key_place(document, general, key)))
    place = settings['max_open'].place if 'max_open' in settings else key_place(document, general, key)
    return [Draft('general_settings', 'litellm', settings, place)]


def _unpooled(dsn: Dsn) -> bool:
    """`Pooling=false`: a connection for every use."""
    return 'pooling' in dsn.parameters and dsn.parameters['pooling'].value.strip().lower() in ('false', 'no', '0')


def _connection_strings(document: Document, root: Map) -> list[Draft]:
    """A pool for every distinct string."""
    drafts = []
    seen: set[str] = set()
    for name, node in (mapping(root, 'ConnectionStrings') or {}).items():
        word = word_of(document, node)
        dsn = parse_ado(word) if word is not None else None
        if dsn is not None and dsn.word.value and dsn.word.value not in seen and not _unpooled(dsn):
            seen.add(dsn.word.value)
            settings: dict[str, Setting] = {}
            add_url(settings, dsn)
            drafts.append(Draft(f'ConnectionStrings.{name}', 'adonet', settings, dsn.word.place))
    return drafts
