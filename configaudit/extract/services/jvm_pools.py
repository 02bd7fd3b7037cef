"""Connection pools in Java and Kotlin source: HikariCP, Druid, Tomcat JDBC, DBCP2, and those of Redis clients."""

from collections.abc import Iterator

from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.jvm_objects import Call, Made, objects_of
from configaudit.extract.services.jvm_values import LOCKED, component, last, text_of, variable_of
from configaudit.extract.services.pool_drafts import Draft, add_url, component_of
from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import LIBRARIES, squash
from configaudit.knowledge.service_kinds import POOL
from configaudit.model import Component, Setting
from configaudit.parse.jvm import Expr, Source
from configaudit.patterns import regex

_CLASSES = {
    'HikariConfig': ('hikari', 'com.zaxxer.hikari'), 'HikariDataSource': ('hikari', 'com.zaxxer.hikari'), 'DruidDataSource': ('druid', 'com.alibaba'),
    'BasicDataSource': ('dbcp2', 'org.apache.commons.dbcp2'), 'PoolProperties': ('tomcat', 'org.apache.tomcat.jdbc'),
    'DataSource': ('tomcat', 'org.apache.tomcat.jdbc'), 'JedisPoolConfig': ('jedis', 'redis.clients.jedis'),
}  # fmt: skip
"""Class -> its library and its package."""
_ADDRESS = ('jdbcurl', 'url')
_WORTH = ('max_open', 'max_idle', 'min_idle', 'max_lifetime_s', 'idle_timeout_s', 'wait_timeout_s', 'url')
_ELSEWHERE = 'the rest of its configuration comes from elsewhere'
_BOUND = regex(rb'@ConfigurationProperties\b|\bBinder\.get\b')
"""Spring's configuration is written over what the program sets."""


def pools_of(source: Source) -> Iterator[Component]:
    """The pools that a file sets up itself; one that Spring's configuration fills is read there."""
    number = 0
    found = objects_of(source, _kind, builders=False)
    templates = {id(made) for made in found if made.called('copyStateTo')}
    for made in found:
        if id(made) in templates:
            continue
        library = LIBRARIES[made.kind]
        settings: dict[str, Setting] = {}
        decided: list[tuple[str, str, float]] = []
        for call in made.calls:
            key = squash(call.name.removeprefix('set'))
            if key == 'adddatasourceproperty' and len(call.arguments) == 2:
                key = 'datasourceproperties' + squash(text_of(call.arguments[0], call.scope) or '')
                call = call._replace(arguments=call.arguments[1:])
            if key in library.keys and call.arguments:
                name, unit = library.keys[key]
                same = [other for other in made.calls if squash(other.name.removeprefix('set')) == key]
                setting = last(source, name, same if len(same) > 1 else [call], 'ms' if unit == 'ms' else '')
                if setting is not None:
                    settings[name] = _limit(setting, library.unlimited.get(name, ()))
                if variable := variable_of(call.arguments[0], call.scope):
                    decided.append((name, variable, 0.001 if unit == 'ms' else 1))
            elif key in _ADDRESS and call.arguments:
                _address(source, call, settings)
        if decided:
            settings['decided_by'] = Setting('decided_by', tuple(decided), source.place(made.birth.node))
        if any(name in settings for name in _WORTH) and (made.kind != 'jedis' or 'max_open' in settings):
            yield _pool(source, made, settings, number, bool(templates))
            number += 1


def _kind(source: Source, expr: Expr) -> str:
    """The library whose pool or configuration is made."""
    if expr.kind not in ('new', 'parameter'):
        return ''
    name = expr.name.rpartition('.')[2]
    library, package = _CLASSES.get(name, ('', ''))
    return library if library and source.comes_from(expr.name, package) else ''


def _limit(setting: Setting, unlimited: tuple[float, ...]) -> Setting:
    return setting._replace(known_value=float('inf')) if setting.is_known and setting.known_value in unlimited else setting


def _address(source: Source, call: Call, settings: dict[str, Setting]) -> None:
    text = text_of(call.arguments[0], call.scope)
    dsn = parse_dsn(Word(text, source.place(call.arguments[0].node), False, locked=LOCKED)) if text else None
    if dsn is not None:
        add_url(settings, dsn)
    else:
        variable = variable_of(call.arguments[0], call.scope)
        if variable:
            settings['variable'] = Setting('variable', variable, source.place(call.arguments[0].node))
        settings.setdefault('host', Setting('host', None, source.place(call.arguments[0].node), reason='the program works it out'))


def _pool(source: Source, made: Made, settings: dict[str, Setting], number: int, copied: bool) -> Component:
    """With the defaults of its library; what a properties file, a binding or a copied configuration may add stays open."""
    filled = copied or made.birth.kind == 'parameter' or bool(made.birth.arguments) or _BOUND.search(source.data) is not None
    loose = component(POOL, source, made, settings, number)
    if made.kind == 'jedis':
        settings['product'] = Setting('product', 'redis', loose.place)
    draft = Draft('code', made.kind, settings, loose.place)
    return component_of(draft, loose.name, loose.identity, source.document.path, _ELSEWHERE if filled else '')
