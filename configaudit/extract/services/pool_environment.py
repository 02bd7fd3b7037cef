"""Pools that a process's environment describes: database URLs, pool sizes by name, Spring's relaxed names."""

from collections.abc import Iterable, Mapping

from configaudit.extract.commands import Invocation
from configaudit.extract.process import Process
from configaudit.extract.services.dsn import Dsn, parse_ado, parse_dsn
from configaudit.extract.services.pool_drafts import Draft, add_option, add_url
from configaudit.extract.services.pool_files import spring_drafts
from configaudit.extract.words import Word
from configaudit.knowledge.images import name_and_tag
from configaudit.knowledge.pool_libraries import ENVIRONMENT, HOST_NAMES
from configaudit.model import Setting
from configaudit.patterns import regex

_URL_NAME = regex(
    r'^(?:[A-Z0-9]+_)*?(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|SQLALCHEMY_DATABASE|SQLALCHEMY)_?(?:URL|URI|DSN|CONNECTION_STRING)$'
)
_OTHER_URLS = regex(r'SHADOW|DIRECT|MIGRAT|LIQUIBASE|FLYWAY|TEST|REPLICA_LAG|BACKUP|ADMIN|EXPORTER|DATA_SOURCE_NAME')
_NO_POOL = regex(
    r'(?:exporter|migrat|flyway|liquibase|pgadmin|phpmyadmin|adminer|backup|dump|wait-for|busybox|alpine|psql|pgbouncer|pgcat|odyssey|'
    r'proxysql|debezium|sql-tools|/(?:postgres(?:ql)?|postgis|pgvector|timescaledb(?:-ha)?|mysql(?:-server)?|mariadb|percona(?:-server)?|redis|valkey)$)'
)
_SPRING = regex(r'^SPRING_DATASOURCE_(?:([A-Z0-9]+)_)??(?:(HIKARI|DRUID|TOMCAT|DBCP2)_)?(\w+)$')
_TUNES_SERVER = regex(r'SHARED_BUFFERS|EFFECTIVE_CACHE|MAINTENANCE_WORK_MEM|WAL_BUFFERS|INNODB_', 2)
_SERVERS_LIMIT = regex(r'(?:PG|POSTGRES|POSTGRESQL|MYSQL|MARIADB)_MAX_CONN', 2)
"""In an environment that also tunes the database server, its own limit."""


def environment_drafts(process: Process, invocations: Iterable[Invocation], environment: Mapping[str, Word]) -> list[Draft]:
    """The pools of one process, as far as its environment shows them."""
    image = name_and_tag(process.image.value)[0] if process.image is not None else ''
    if _NO_POOL.search('/' + image.lower()):
        return []
    drafts = spring_drafts(_spring_entries(environment))
    litellm = 'litellm' in image or any(item.argv and item.argv[0].value.endswith('litellm') for item in invocations)
    sizes, library = _sizes(environment)
    urls = _urls(environment)
    for name, word, dsn in urls:
        settings: dict[str, Setting] = {}
        found = add_url(settings, dsn) if dsn is not None else ''
        if dsn is None:
            settings['max_open'] = Setting('max_open', None, word.place, 'inherited', word.reason or f'{name} is not known')
            settings['host'] = Setting('host', None, word.place, 'inherited', word.reason)
        settings['variable'] = Setting('variable', name, word.place)
        settings.update({key: value for key, value in sizes.items() if len(urls) == 1})
        chosen = 'litellm' if litellm else found or library
        drafts.append(Draft(settings['host'].known_value or name, chosen, settings, word.place))  # type: ignore[arg-type]
    if not drafts and 'max_open' in sizes:
        _host(sizes, environment)
        drafts.append(Draft('environment', library, sizes, sizes['max_open'].place))
    return drafts


def _urls(environment: Mapping[str, Word]) -> list[tuple[str, Word, Dsn | None]]:
    """Database URLs, one for each server; a URL whose value is not in the files counts by its name."""
    found: dict[tuple[str, str], tuple[str, Word, Dsn | None]] = {}
    for name, word in environment.items():
        if _OTHER_URLS.search(name.upper()) or name.upper().startswith('SPRING_DATASOURCE'):
            continue
        if name.startswith('ConnectionStrings__'):
            dsn = parse_ado(word)
        else:
            dsn = parse_dsn(word)
        if dsn is not None:
            found.setdefault((dsn.product, dsn.host), (name, word, dsn))
        elif not word.known and word.value.strip('\ufffc') == '' and _URL_NAME.match(name):
            found.setdefault(('', name), (name, word, None))
    known = [item for key, item in found.items() if key[0]]
    return known or list(found.values())[:1]


def _sizes(environment: Mapping[str, Word]) -> tuple[dict[str, Setting], str]:
    settings: dict[str, Setting] = {}
    chosen = ''
    served = any(_TUNES_SERVER.search(name) for name in environment)
    for name, word in sorted(environment.items(), key=lambda item: 'POOL' not in item[0].upper()):
        if served and _SERVERS_LIMIT.match(name):
            continue
        for pattern, library, key in ENVIRONMENT:
            if not pattern.match(name):
                continue
            draft: dict[str, Setting] = {}
            add_option(draft, library, key, word)
            for setting, value in draft.items():
                if word.known and not value.is_known:
                    continue
                settings.setdefault(setting, value._replace(name=setting))
                chosen = chosen or library
            break
    if 'max_open' not in settings and 'RAILS_MAX_THREADS' in environment and any('DATABASE_URL' in name for name in environment):
        add_option(settings, 'rails', 'pool', environment['RAILS_MAX_THREADS'])
        chosen = 'rails'
    return settings, chosen


def _host(settings: dict[str, Setting], environment: Mapping[str, Word]) -> None:
    for name in HOST_NAMES:
        word = environment.get(name)
        if word is not None and word.known:
            settings['host'] = Setting('host', word.value.partition(':')[0].lower(), word.place)
            product = 'mysql' if name[0] == 'M' else 'postgres' if name[0] == 'P' else None
            settings['product'] = Setting('product', product, word.place)
            return


def _spring_entries(environment: Mapping[str, Word]) -> list[tuple[tuple[str, ...], Word]]:
    found = []
    for name, word in environment.items():
        match = _SPRING.match(name)
        if match is not None:
            path = ['spring', 'datasource', *(part.lower() for part in match.groups()[:2] if part), match[3].lower()]
            found.append((tuple(path), word))
    return found
