"""Traefik: entry points, routers, middlewares and transports, in files, on the command line and in labels.

All forms spell the same options: their paths are compared in lower case ('entrypoints.web.transport.respondingtimeouts.writetimeout').
Sources: Traefik documentation and source (static_config.go, http_config.go, cmd/configuration.go): graceTimeOut 10 s, readTimeout 60 s from
2.11.2 on (it covers the request only), idleConnTimeout 90 s; the transport of all services keeps 200 idle connections per server, one
that is named keeps Go's 2 unless it says otherwise.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.services.traefik_options import Options, flat_toml, flat_tree, flat_words, names_below, under
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.knowledge.proxy_kinds import MIDDLEWARE, ROUTE, TRANSPORT, UPSTREAM
from configaudit.knowledge.service_kinds import HTTP_SERVER
from configaudit.model import Component, Peers, Setting
from configaudit.parse.tree import Map
from configaudit.patterns import regex
from configaudit.places import Document

_URL = regex(r'(?:(https?|h2c)://)?(\[[^\]]*\]|[^:/]*)(?::(\d+))?')
_PATHS = regex(r'(?:Path|PathPrefix|PathRegexp)\(([^)]*)\)')
_HOSTS = regex(r'Host(?:SNI|Regexp)?\(([^)]*)\)')
_QUOTED = regex(r'[`"\']([^`"\']*)[`"\']')
GRACE_S = 10


class Origin(NamedTuple):
    """Where options come from: the name under which components are known, and their namespace or project."""

    identity: str
    scope: str = ''
    partial: str = ''


def read(document: Document) -> Reading:
    """A traefik.toml, or a file of its file provider in TOML."""
    return _reading(flat_toml(document), Origin(document.path.rpartition('/')[2]))


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """The same in YAML."""
    return _reading(flat_tree(document, root), Origin(document.path.rpartition('/')[2], partial=partial))


def _reading(options: Options, origin: Origin) -> Reading:
    reading = nothing()
    reading.components.extend(static_components(options, origin))
    reading.components.extend(dynamic_components(options, origin))
    return reading


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """What the command line of a Traefik container sets."""
    found: list[Component] = []
    for invocation in invocations:
        options = flat_words(invocation.argv or invocation.arguments)
        if not names_below(options, 'entrypoints') and not names_below(options, 'serverstransport'):
            continue
        carrier = process.component
        components = list(static_components(options, Origin(carrier.identity, carrier.scope, process.partial)))
        for component in components:
            component.peer_map['carrier'] = Peers.of([carrier], True)
            if component.kind is HTTP_SERVER:
                for owner in carrier.peers('pod'):
                    owner.peer_map['http-server'] = Peers.of([*owner.peers('http-server'), component], True)
        found.extend(components)
    return found


def static_components(options: Options, origin: Origin) -> Iterator[Component]:
    """Entry points as servers, and the transport of all services that name none."""
    for name in names_below(options, 'entrypoints'):
        own = under(options, f'entrypoints.{name}')
        if not own:
            continue
        first = next(iter(own.values()))
        if (own['address'].value if 'address' in own else '').endswith('/udp'):
            continue
        settings = {
            'product': Setting('product', 'traefik', first.place),
            'graceful_s': Setting('graceful_s', GRACE_S, first.place, 'default', source='Traefik documentation, lifeCycle.graceTimeOut'),
        }  # fmt: skip
        for setting, key in (('write_timeout_s', 'transport.respondingtimeouts.writetimeout'), ('idle_timeout_s', 'transport.respondingtimeouts.idletimeout'), ('graceful_s', 'transport.lifecycle.gracetimeout')):
            if key in own:
                settings[setting] = limit(setting, own[key], zero=0 if setting == 'graceful_s' else math.inf)
        yield Component(HTTP_SERVER, name, f'{origin.identity}/entryPoints/{name}', first.place, settings, partial=origin.partial, scope=origin.scope)
    shared = under(options, 'serverstransport')
    if shared:
        yield transport('', shared, origin)


def dynamic_components(options: Options, origin: Origin) -> Iterator[Component]:
    """Routers with the servers behind them, middlewares, and named transports."""
    for name in names_below(options, 'http.middlewares'):
        if inner := under(options, f'http.middlewares.{name}'):
            yield middleware(name, inner, origin)
    for name in names_below(options, 'http.serverstransports'):
        if inner := under(options, f'http.serverstransports.{name}'):
            yield transport(name, inner, origin)
    pools: dict[object, Component] = {}
    for name in names_below(options, 'http.routers'):
        router = under(options, f'http.routers.{name}')
        service = plain_name(router['service'].value) if 'service' in router else name
        own = under(options, f'http.services.{service}.loadbalancer')
        if 'rule' in router:
            yield from routed(name, router, service, own, origin, pools)


def routed(name: str, router: Options, service: str, server: Options, origin: Origin, pools: dict[object, Component]) -> Iterator[Component]:
    """A router and its servers, which know each other; routers to the same servers share them (`pools`)."""
    rule = router['rule']
    urls = [word for key, word in server.items() if key.startswith('servers[') and key.endswith(('.url', '.server.url'))]
    target = urls[0] if urls else rule
    found = [match for word in urls if (match := _URL.match(word.value)) is not None and match[2]]
    paths = [text for match in _PATHS.finditer(rule.value) for text in _QUOTED.findall(match[1])]
    hosts = [text for match in _HOSTS.finditer(rule.value) for text in _QUOTED.findall(match[1])]
    targets = tuple((match[2], match[3] or ('443' if match[1] == 'https' else '80')) for match in found)
    place = rule.place
    settings = {
        'product': Setting('product', 'traefik', place), 'path': Setting('path', ' '.join(paths) or '/', place),
        'target': Setting('target', urls[0].value if urls else service, target.place), 'targets': Setting('targets', targets, target.place),
        'server_name': Setting('server_name', ' '.join(hosts), place), 'hosts': Setting('hosts', tuple(hosts), place),
        'middlewares': Setting('middlewares', tuple(_listed(router, 'middlewares')), place),
        'transport': Setting('transport', plain_name(server['serverstransport'].value) if 'serverstransport' in server else '', place),
        'buffering': Setting('buffering', False, place, 'default', origin.partial),
    }  # fmt: skip
    route = Component(ROUTE, name, f'{origin.identity}/routers/{name}', place, settings, partial=origin.partial, scope=origin.scope)
    pool = {
        'product': settings['product'], 'targets': settings['targets'], 'tls': Setting('tls', any(match[1] == 'https' for match in found), place),
        'idle_timeout_s': Setting('idle_timeout_s', 90, place, 'default', source='Traefik documentation, idleConnTimeout'),
        'protocol_http': Setting('protocol_http', '1.1', place, 'default'),
    }  # fmt: skip
    if any(match[1] == 'h2c' for match in found) or ('server.scheme' in server and server['server.scheme'].value == 'h2c'):
        pool['protocol_http'] = Setting('protocol_http', '2', target.place)
    key = (targets or service, settings['transport'].known_value, 'protocol_http' in pool and pool['protocol_http'].known_value)
    known = pools.get(key)
    upstream = known or Component(UPSTREAM, service, f'{origin.identity}/services/{service}', target.place, pool, partial=origin.partial, scope=origin.scope)
    pools[key] = upstream
    route.peer_map['proxy-upstream'] = Peers.of([upstream], True)
    upstream.peer_map['proxy-route'] = Peers.of([*upstream.peers('proxy-route'), route], True)
    yield from (route,) if known is not None else (route, upstream)


def middleware(name: str, options: Options, origin: Origin) -> Component:
    """What a middleware does to answers and to requests that failed."""
    first = next(iter(options.values()))
    settings = {'product': Setting('product', 'traefik', first.place)}
    held = next((word for key, word in options.items() if key.startswith('buffering')), None)
    if held is not None:
        settings['buffering'] = Setting('buffering', True, held.place)
    again = options.get('buffering.retryexpression')
    if again is not None:
        settings['retry_on'] = Setting('retry_on', 'retryExpression', again.place)
    statuses, posts = _listed(options, 'retry.status'), options.get('retry.retrynonidempotentmethod')
    if statuses and posts is not None and posts.value.lower() == 'true':
        settings['retry_on'] = Setting('retry_on', f'retryNonIdempotentMethod, status {" ".join(statuses)}', posts.place)
    if 'retry.attempts' in options:
        settings['attempts'] = setting_of('attempts', options['retry.attempts'], 'count')
    settings['members'] = Setting('members', tuple(_listed(options, 'chain.middlewares')), first.place)
    return Component(MIDDLEWARE, name, f'{origin.identity}/middlewares/{name}', first.place, settings, partial=origin.partial, scope=origin.scope)


def transport(name: str, options: Options, origin: Origin) -> Component:
    """How Traefik speaks to servers: how long it waits, how many idle connections it keeps and for how long."""
    first = next(iter(options.values()))
    keeps = 2 if name else 200
    settings = {
        'product': Setting('product', 'traefik', first.place),
        'max_idle_per_host': Setting('max_idle_per_host', keeps, first.place, 'default', origin.partial, source='Traefik, cmd/configuration.go: 200; Go net/http, DefaultMaxIdleConnsPerHost: 2'),
    }  # fmt: skip
    if 'maxidleconnsperhost' in options:
        given = setting_of('max_idle_per_host', options['maxidleconnsperhost'], 'count')
        settings['max_idle_per_host'] = given._replace(known_value=2) if given.known_value == 0 else given
    for setting, key in (('first_byte_timeout_s', 'forwardingtimeouts.responseheadertimeout'), ('idle_timeout_s', 'forwardingtimeouts.idleconntimeout')):
        if key in options:
            settings[setting] = limit(setting, options[key])
    return Component(TRANSPORT, name, f'{origin.identity}/serversTransports/{name}', first.place, settings, partial=origin.partial, scope=origin.scope)


def limit(name: str, word: Word, zero: float = math.inf) -> Setting:
    """A duration in which 0 means none; a bare number is seconds."""
    return setting_of(name, word, 's', {name: (0,)} if zero == math.inf else None)


def plain_name(reference: str) -> str:
    """A reference without its provider: 'chat@file' is 'chat'. Names are compared in lower case."""
    return reference.partition('@')[0].lower()


def _listed(options: Mapping[str, Word], key: str) -> Iterable[str]:
    """A list of names: written as one ('a,b'), or item by item."""
    found: list[str] = []
    for path, word in options.items():
        if path == key or path.startswith(f'{key}['):
            found.extend(plain_name(part.strip()) for part in word.value.split(',') if part.strip())
    return found
