"""Spring's configuration beside its data sources: the web server's end, R2DBC and Redis pools, the client of its gateway.

Defaults: Spring Boot reference, common application properties (timeout-per-shutdown-phase 30 s; graceful since 3.4, immediate before); r2dbc-pool
ConnectionPoolConfiguration; Spring Cloud Gateway, HTTP timeouts (the response timeout runs until the head of the answer).
A bare number is milliseconds, as Spring binds a Duration.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from configaudit.extract.commands import Invocation, environment_seen
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.pool_drafts import Draft, add_url
from configaudit.extract.services.pool_files import Entry
from configaudit.extract.services.values import setting_of, settled
from configaudit.extract.words import Word
from configaudit.knowledge.pool_libraries import LIBRARIES, squash
from configaudit.knowledge.service_kinds import HTTP_CLIENT, HTTP_SERVER
from configaudit.model import Component, Peers, Setting
from configaudit.patterns import regex

_IDLE = {
    'server.tomcat.keepalivetimeout': 'Tomcat', 'server.netty.idletimeout': 'Reactor Netty', 'server.jetty.connectionidletimeout': 'Jetty',
    'server.undertow.norequesttimeout': 'Undertow',
}  # fmt: skip
"""How long an embedded server keeps an idle connection."""
_PHASE, _SHUTDOWN = 'spring.lifecycle.timeoutpershutdownphase', 'server.shutdown'
_PHASE_S = 30
_VERSION = 'whether it finishes requests depends on the version: Spring Boot before 3.4 stops at once unless server.shutdown is graceful'
_GATEWAY = regex(r'spring\.cloud\.gateway\.(?:server\.webflux\.)?httpclient\.responsetimeout$')
_REDIS = regex(r'(spring\.(?:data\.)?redis)\.(?:(?:lettuce|jedis)\.pool\.(\w+)|(host))$')
_R2DBC = regex(r'(spring\.r2dbc)\.(?:pool\.(\w+)|(url))$')
_VARIABLE = regex(r'^SPRING_(R2DBC|DATA_REDIS|REDIS)_(?:(LETTUCE|JEDIS)_)?(?:(POOL)_)?(\w+)$')
_R2DBC_SCHEME = regex(r'r2dbc:(?:pool:)?')
_ENVIRONMENT = {key.replace('.', ''): key for key in (_PHASE, _SHUTDOWN, *_IDLE)}


def spring_pools(entries: Sequence[Entry], writer: str) -> list[Draft]:
    """The pools of R2DBC and Redis that somebody sized or gave an address."""
    drafts: dict[str, Draft] = {}
    for path, word in entries:
        for pattern, library in ((_R2DBC, 'r2dbc'), (_REDIS, 'spring-redis')):
            found = pattern.match('.'.join(map(squash, path)))
            if found is not None:
                draft = drafts.setdefault(found[1], Draft(found[1], library, {}, word.place))
                _take(draft, found[2] or '', word, writer) if found[2] else _reach(draft, settled(word), writer)
    return [_placed(draft) for draft in drafts.values() if 'max_open' in draft.settings or ('url' in draft.settings and draft.library == 'r2dbc')]


def environment_entries(environment: Mapping[str, Word]) -> list[Entry]:
    """The variables of those pools as the keys that Spring binds them to."""
    found = []
    for name, word in environment.items():
        match = _VARIABLE.match(name)
        if match is not None:
            path = ['spring', *match[1].lower().split('_'), *(part.lower() for part in match.groups()[1:3] if part), match[4].lower()]
            found.append((tuple(path), word))
    return found


def _take(draft: Draft, key: str, word: Word, writer: str) -> None:
    found = LIBRARIES[draft.library].keys.get(key)
    if found is not None:
        setting = setting_of(found[0], settled(word), found[1], LIBRARIES[draft.library].unlimited, writer)
        # A fix writes '5s', not a bare number of milliseconds.
        draft.settings[found[0]] = setting._replace(unit='duration') if found[1] == 'spring' else setting


def _reach(draft: Draft, word: Word, writer: str) -> None:
    """The address of a pool's server."""
    if draft.library == 'spring-redis':
        draft.settings['host'] = setting_of('host', word, 'text')
        draft.settings['product'] = Setting('product', 'redis', word.place)
        return
    scheme = _R2DBC_SCHEME.match(word.value)
    cut = scheme.end() if scheme is not None else 0
    place = word.place.part(cut, len(word.value)) if word.pure else word.place
    dsn = parse_dsn(word._replace(value=word.value[cut:], place=place))
    if dsn is not None and cut:
        add_url(draft.settings, dsn, writer)


def _placed(draft: Draft) -> Draft:
    size = draft.settings.get('max_open')
    return draft if size is None else draft._replace(place=size.place)


def spring_services(entries: Sequence[Entry], name: str, identity: str, partial: str, writer: str) -> Iterator[Component]:
    """The web server, where a file says how it ends or keeps connections, and the gateway's client, where it has a limit."""
    words = {'.'.join(map(squash, path)): settled(word) for path, word in entries}
    server = _server(words, name, f'{identity}/server', partial, writer)
    if server is not None:
        yield server
    for key, word in words.items():
        if _GATEWAY.match(key):
            limit = setting_of('first_byte_timeout_s', word, 'spring', writer=writer)._replace(unit='duration')
            product = Setting('product', 'Spring Cloud Gateway', word.place)
            yield Component(HTTP_CLIENT, name, f'{identity}/gateway', word.place, {'first_byte_timeout_s': limit, 'product': product}, partial=partial)


def _server(words: Mapping[str, Word], name: str, identity: str, partial: str, writer: str, scope: str = '') -> Component | None:
    idle = next((key for key in _IDLE if key in words), None)
    first = next((words[key] for key in (_PHASE, _SHUTDOWN, idle or '') if key in words), None)
    if first is None:
        return None
    settings = {'product': Setting('product', 'Spring Boot', first.place), 'graceful_s': _graceful(words, first, writer)}
    if idle is not None:
        kept = setting_of('idle_timeout_s', words[idle], 'spring', {'idle_timeout_s': (-0.001, -1)}, writer)
        settings['idle_timeout_s'] = kept._replace(unit='duration')
        settings['product'] = Setting('product', _IDLE[idle], words[idle].place)
    else:
        settings['idle_timeout_s'] = Setting('idle_timeout_s', None, first.place, 'default', 'which server is embedded is not in the file')
    return Component(HTTP_SERVER, name, identity, first.place, settings, partial=partial, scope=scope)


def _graceful(words: Mapping[str, Word], first: Word, writer: str) -> Setting:
    """How long requests may finish after SIGTERM."""
    shutdown, phase = words.get(_SHUTDOWN), words.get(_PHASE)
    mode = shutdown.value.strip().lower() if shutdown is not None and shutdown.known else ''
    if mode == 'immediate' and shutdown is not None:
        return Setting('graceful_s', 0, shutdown.place)
    if phase is not None:
        found = setting_of('graceful_s', phase, 'spring', writer=writer)._replace(unit='duration')
        if mode == 'graceful' or not found.is_known:
            return found
        return found._replace(known_value=None, reason=_VERSION, candidates=(0, found.known_value))
    if mode == 'graceful' and shutdown is not None:
        return Setting('graceful_s', _PHASE_S, shutdown.place, 'default', source='Spring Boot default')
    return Setting('graceful_s', None, (shutdown or first).place, 'default', shutdown.reason or _VERSION if shutdown is not None else _VERSION)


def application_of(entries: Sequence[Entry]) -> str:
    """Spring's name of the application, or ''."""
    return next((word.value for path, word in entries if path == ('spring', 'application', 'name') and word.known and '${' not in word.value), '')


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The web server of a process whose environment says how it ends: SERVER_SHUTDOWN, SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE and the like."""
    carrier = process.component
    environment = environment_seen(process, invocations, stores)
    words = {_ENVIRONMENT[short]: word for name, word in environment.items() if (short := re.sub('[_.]', '', name).lower()) in _ENVIRONMENT}
    server = _server(words, carrier.name, f'{carrier.identity}/spring', process.partial, 'argument', carrier.scope)
    if server is None:
        return []
    server.peer_map['carrier'] = Peers.of([carrier], True)
    for owner in (carrier, *carrier.peers('pod')):
        owner.peer_map['http-server'] = Peers.of([*owner.peers('http-server'), server], True)
    return [server]
