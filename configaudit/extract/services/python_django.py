"""Django's DATABASES: persistent connections, the pool of Django 5.1, what later lines of the settings change.

Sources: Django docs, Databases: CONN_MAX_AGE 0 by default, None for ever, one connection a thread; `pool` in OPTIONS since 5.1.
"""

import ast
import math
from collections.abc import Iterable, Iterator

from configaudit.extract.process import Data
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.python_values import LOCKED, WORKED_OUT, keywords, setting_at
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import LIBRARIES, squash
from configaudit.model import Component, Setting
from configaudit.parse.python import Source, Unfolded
from configaudit.patterns import regex
from configaudit.units import HOLE

ONE_A_THREAD = 'Django opens one connection for each thread of its server, and how many these are is not among the files read'
_NOT_SERVED = regex(r'(?:^|[/_.-])(?:dev|devel|develop|development|local|test|tests|testing|ci|debug|build|docs|sqlite|mocks?|e2e|example|sample|template)(?:[/_.-]|$)', 2)
_CONDITION = 'it is set under a condition'
_SEVERAL = 'several modules of settings set it, each to something else'
_CHANGED = {'CONN_MAX_AGE': 'persistent_s', 'CONN_HEALTH_CHECKS': 'pre_ping'}
_URL_READERS = ('dj_database_url.config', 'dj_database_url.parse')
_PRODUCTS = (('postg', 'postgres'), ('mysql', 'mysql'), ('mariadb', 'mysql'), ('mssql', 'mssql'), ('oracle', 'oracle'))


def pools_of(source: Source) -> Iterator[Component]:
    """The databases that settings for production name."""
    if _is_left_out(source.document.path):
        return
    number = 0
    for made in _assigned(source.tree.body):
        for alias, node in _aliases(source, made):
            pool = _pool(source, alias, node, number)
            if pool is not None:
                number += 1
                yield pool


def changes_of(source: Source) -> Data | None:
    """What a module of settings for production changes of the databases that the module it starts from names: `from .base import *`."""
    path, bases = source.document.path, [base for node in source.tree.body if (base := _base(source.document.path, node))]
    if len(bases) != 1 or _is_left_out(path) or any(_assigned(source.tree.body)):
        return None
    found: dict[str, Word] = {}
    aliases = {names[1]: None for node in source.nodes if isinstance(node, ast.Assign) and (names := _subscripts(node.targets[0]))[:1] == ['DATABASES'] and len(names) == 3}
    for alias in aliases:
        plain, conditional = _changes(source, alias)
        for key in _CHANGED:
            if key in plain:
                found[f'{alias}/{key}'] = _word(_seconds(source, plain[key]) if key == 'CONN_MAX_AGE' else setting_at(source, 'pre_ping', plain[key]))
            if key in conditional:
                found[f'{alias}/{key}'] = Word(HOLE, source.place(conditional[key]), False, _CONDITION, LOCKED)
    return Data('django-settings', bases[0], path, found) if found else None


def _base(path: str, node: ast.stmt) -> str:
    """The end of the path of a module whose every name is imported."""
    if not isinstance(node, ast.ImportFrom) or not node.module or [alias.name for alias in node.names] != ['*']:
        return ''
    folder = '/'.join(path.split('/')[: -node.level]) if node.level else ''
    return '/'.join(filter(None, (folder, *node.module.split('.')))) + '.py'


def _word(setting: Setting) -> Word:
    return Word(str(setting.known_value) if setting.is_known else HOLE, setting.place, False, setting.reason, LOCKED)


def join(components: Iterable[Component], data: Iterable[Data]) -> None:
    """Bring the changes of other modules to the databases they change; several modules that do not agree leave them unknown."""
    files = [item for item in data if item.kind == 'django-settings']
    for pool in components if files else ():
        path, _, alias = pool.identity.removeprefix('python/').rpartition('/databases/')
        mine = [item for item in files if path and f'/{path}'.endswith(f'/{item.scope}')]
        for key, name in _CHANGED.items():
            words = [word for item in mine if (word := item.values.get(f'{alias.partition("/")[0]}/{key}')) is not None]
            if words:
                pool.settings[name] = _read(name, words[0]) if len({word.value for word in words}) == 1 else Setting(name, None, words[0].place, reason=_SEVERAL)


def _read(name: str, word: Word) -> Setting:
    value = {'inf': math.inf, 'True': True, 'False': False}.get(word.value)
    return setting_of(name, word, 's') if value is None else Setting(name, value, word.place, locked=LOCKED)


def _is_left_out(path: str) -> bool:
    return any(_NOT_SERVED.search(part) is not None for part in path.split('/')[-2:])


def _assigned(body: list[ast.stmt], depth: int = 4) -> Iterator[ast.Dict]:
    """The mappings that a module binds DATABASES to, also under a condition."""
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if isinstance(node.value, ast.Dict) and any(isinstance(target, ast.Name) and target.id == 'DATABASES' for target in targets):
                yield node.value
        elif isinstance(node, (ast.If, ast.Try)) and depth:
            for part in (node.body, node.orelse):
                yield from _assigned(part, depth - 1)


def _aliases(source: Source, made: ast.Dict) -> Iterator[tuple[str, ast.expr]]:
    for key, value in zip(made.keys, made.values, strict=True):
        alias = _text(source, key)
        if alias:
            yield alias, value


def _pool(source: Source, alias: str, node: ast.expr, number: int) -> Component | None:
    place = source.place(node)
    given, partial = _entry(source, node)
    if given is None:
        return None
    changes, conditional = _changes(source, alias)
    given = {**given, **changes}
    engine = _text(source, given.get('ENGINE'))
    if 'sqlite' in engine or 'dummy' in engine or _is_file(source, node):
        return None
    settings: dict[str, Setting] = {}
    settings['persistent_s'] = Setting('persistent_s', 0, place, 'default', source='Django docs, CONN_MAX_AGE')
    if 'CONN_MAX_AGE' in given:
        settings['persistent_s'] = _seconds(source, given['CONN_MAX_AGE'])
    if 'CONN_MAX_AGE' in conditional:
        settings['persistent_s'] = Setting('persistent_s', None, source.place(conditional['CONN_MAX_AGE']), reason=_CONDITION)
    if 'CONN_HEALTH_CHECKS' in given:
        settings['pre_ping'] = setting_at(source, 'pre_ping', given['CONN_HEALTH_CHECKS'])
    options = source.pairs(given['OPTIONS']) if 'OPTIONS' in given else {}
    _sizes(source, settings, options, place_node=node)
    product = next((found for word, found in _PRODUCTS if word in engine), None)
    if product:
        settings['product'] = Setting('product', product, place)
    host = _text(source, given.get('HOST'))
    if host:
        settings['host'] = Setting('host', host.lower(), source.place(given['HOST']))
    settings['written_in'] = Setting('written_in', 'Python', place)
    path = source.document.path
    library = 'psycopg_pool' if 'pooled' in settings else 'django'
    return component_of(Draft(alias, library, settings, place), path.rpartition('/')[2], f'python/{path}/databases/{alias}/{number}', path, partial)


def _entry(source: Source, node: ast.expr) -> tuple[dict[str, ast.expr] | None, str]:
    """The keys of one database; of `dj_database_url.config(conn_max_age=600)` those that its keywords stand for."""
    shown = source.settled(node)
    pairs = source.pairs(shown)
    if pairs is not None:
        return pairs, ''
    if isinstance(shown, ast.Dict):
        known = {str(key.value): value for key, value in zip(shown.keys, shown.values, strict=True) if isinstance(key, ast.Constant)}
        return known, 'entries come from a mapping that is not shown'
    if isinstance(shown, ast.Call) and source.name_of(shown.func) in _URL_READERS:
        words, unseen = keywords(source, shown)
        return {key.upper(): value for key, value in words.items() if key in ('conn_max_age', 'conn_health_checks', 'engine')}, unseen
    if isinstance(shown, ast.Call) and isinstance(shown.func, ast.Attribute) and shown.func.attr in ('db', 'db_url', 'dj_db_url'):
        return {}, ''
    return None, ''


def _changes(source: Source, alias: str) -> tuple[dict[str, ast.expr], dict[str, ast.expr]]:
    """What later lines set: `DATABASES['default']['CONN_MAX_AGE'] = 60`; apart, what they set under a condition."""
    plain: dict[str, ast.expr] = {}
    conditional: dict[str, ast.expr] = {}
    top = set(map(id, source.tree.body))
    for node in source.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            names = _subscripts(node.targets[0])
            if names[:2] == ['DATABASES', alias] and len(names) == 3:
                (plain if id(node) in top else conditional)[names[2]] = node.value
    return plain, conditional


def _subscripts(node: ast.expr) -> list[str]:
    """`DATABASES['default']['HOST']` as its three names."""
    names: list[str] = []
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        names.insert(0, str(node.slice.value))
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def _sizes(source: Source, settings: dict[str, Setting], options: dict[str, ast.expr] | None, *, place_node: ast.expr) -> None:
    """How many connections one process opens: the pool's, or one a thread."""
    place = source.place(place_node)
    if options is None:
        settings['max_open'] = Setting('max_open', None, place, 'inherited', 'OPTIONS come from a mapping that is not shown')
        return
    pool = options.get('pool')
    if pool is None or (isinstance(pool, ast.Constant) and not pool.value) or (isinstance(pool, ast.Dict) and not pool.keys):
        settings['max_open'] = Setting('max_open', None, place, 'inherited', ONE_A_THREAD)
        settings['max_lifetime_s'] = settings['persistent_s']._replace(name='max_lifetime_s')
        return
    own = source.pairs(pool)
    settings['pooled'] = setting_at(source, 'pooled', pool) if own is None else Setting('pooled', True, source.place(pool))
    for key, value in (own or {}).items():
        found = LIBRARIES['psycopg_pool'].keys.get(squash(key))
        if found is not None:
            settings[found[0]] = setting_at(source, found[0], value, found[1])
    if 'max_open' not in settings and 'min_idle' in settings:
        settings['max_open'] = settings['min_idle']._replace(name='max_open')


def _seconds(source: Source, node: ast.expr) -> Setting:
    found = setting_at(source, 'persistent_s', node, 's')
    if found.is_known and found.known_value is None:
        return found._replace(known_value=math.inf)
    if found.is_known and not isinstance(found.known_value, (int, float)):
        return found._replace(known_value=None, reason=WORKED_OUT)
    return found


def _is_file(source: Source, node: ast.expr) -> bool:
    """Whether a database that a URL names may be a file: its default says so."""
    return any(isinstance(item, ast.Constant) and isinstance(item.value, str) and 'sqlite' in item.value for item in ast.walk(source.settled(node)))


def _text(source: Source, node: ast.expr | None) -> str:
    if node is None:
        return ''
    try:
        found = source.value(node)
    except Unfolded:
        return ''
    return found if isinstance(found, str) else ''
