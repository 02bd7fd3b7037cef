"""Caddyfile: what `reverse_proxy` passes on, and the limits of Caddy's own servers.

Sources: Caddy documentation (reverse_proxy, Global options); measured with Caddy 2.11.7: `response_buffers` holds events until the end,
`read_timeout` is a GAP that also counts before the first byte, `timeouts { write }` is a TOTAL, `encode` passes events as they come (before
2.9 it kept them until the end: caddyserver/caddy#6471).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from configaudit import units
from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.caddy_scope import Scope, called, children, inlined, path_of
from configaudit.knowledge.proxy_kinds import ROUTE, UPSTREAM
from configaudit.knowledge.service_kinds import HTTP_SERVER
from configaudit.model import Component, Peers, Setting
from configaudit.parse import caddyfile
from configaudit.parse.caddyfile import Directive
from configaudit.parse.entries import Word
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_DOCS = 'Caddy documentation, reverse_proxy'
_ENV = regex(r'\{\$([^}:]+)(?::([^}]*))?\}|\{env\.[^}]+\}')
_ADDRESS = regex(r'(?:(https?|h2c|fastcgi)://)?(\[[^\]]*\]|[^:/]*)(?::([^/]+))?')
_SITE = regex(r'(?:https?://)?([^:/]*)')
_HANDLERS = ('handle', 'handle_path', 'handle_errors', 'route')
_KEEPS_S = 120


class _Pass(NamedTuple):
    """A `reverse_proxy`, the path that it serves, the site around it."""

    directive: Directive
    path: str
    site: str
    encode: Directive | None
    """The `encode` that compresses what passes, event streams too."""


def read(document: Document) -> Reading:
    """A route and a group of servers for every `reverse_proxy`; a server for global options that limit it."""
    reading = nothing()
    tree = caddyfile.read(document.text)
    scope = Scope(document, {called(item): item for item in tree.directives if called(item)})
    for item in tree.directives:
        if item.block is None or called(item):
            continue
        if not item.words:
            reading.components.extend(_servers(document, item))
            continue
        site = _hosts(item)
        for at, found in enumerate(_passes(scope, item, '', site)):
            reading.components.extend(_proxied(scope, found, at))
    if tree.directives and all(item.block is None or item.words[:1] for item in tree.directives) and tree.directives[0].block is None and not called(tree.directives[0]):
        whole = Directive(tree.directives[0].words, tree.directives[1:], 0, len(document.text))  # one site without braces
        for at, found in enumerate(_passes(scope, whole, '', _hosts(whole))):
            reading.components.extend(_proxied(scope, found, at))
    return reading


def _text(word: Word) -> str:
    """A word with the defaults of its variables; a variable without one is a hole."""
    return _ENV.sub(lambda found: found[2] if found[2] is not None else HOLE, word.text)


def _hosts(site: Directive) -> str:
    """The names of a site, without scheme, port and path; '' for one that takes every name."""
    found = (_SITE.match(part) for word in site.words for part in _text(word).split(','))
    return ' '.join(match[1] for match in found if match is not None and match[1])


def _passes(scope: Scope, holder: Directive, path: str, site: str, encode: Directive | None = None) -> Iterator[_Pass]:
    matchers = {item.name: item for item in children(scope, holder) if item.name.startswith('@')}
    encode = next((item for item in children(scope, holder) if item.name == 'encode' and _packs_events(item)), encode)
    for item in children(scope, holder):
        own = path_of(item, matchers, path)
        if item.name == 'reverse_proxy':
            yield _Pass(item, own, site, encode)
        elif item.name in _HANDLERS and item.block is not None:
            yield from _passes(scope, item, own, site, encode)


def _packs_events(encode: Directive) -> bool:
    """Whether `encode` compresses event streams: by default all `text/*`, for every path, unless it names other types or a matcher."""
    if any(word.text.startswith(('@', '/')) for word in encode.args):
        return False
    matches = [item for item in encode.block or () if item.name == 'match']
    lines = [line for match in matches for line in (match._replace(words=match.args), *(match.block or ()))]
    kinds = [word.text for line in lines if line.words and line.name == 'header' for word in line.args[1:]]
    return not matches or any(kind in ('*', 'text/*', 'text*') or kind.startswith('text/event-stream') for kind in kinds)


def _proxied(scope: Scope, found: _Pass, at: int) -> Iterator[Component]:
    document, directive = scope.document, found.directive
    words = [word for word in directive.args if not word.text.startswith(('@', '/', '*'))]
    options = {item.name: item for item in inlined(scope, directive)}
    if 'to' in options:
        words.extend(options['to'].args)
    if not words:
        return
    addresses = [_ADDRESS.match(_text(word)) for word in words]
    place = Place(document, words[0].start, words[-1].end)
    hidden = 'an imported file may set it' if 'import' in options else ''
    targets = tuple((match[2], match[3] or ('443' if match[1] == 'https' else '80')) for match in addresses if match is not None and match[1] != 'fastcgi')
    target = _text(words[0])
    file = document.path.rpartition('/')[2]
    path = ' '.join(part.rstrip('*') for part in found.path.split()) or '/'
    name = f'{path} to {target}'
    settings = {
        'product': Setting('product', 'caddy', place), 'path': Setting('path', path, place), 'targets': Setting('targets', targets, place),
        'target': Setting('target', target, place, reason='a variable decides where requests go' if HOLE in target else ''),
        'server_name': Setting('server_name', found.site, place), 'hosts': Setting('hosts', tuple(found.site.split()), place),
    }  # fmt: skip
    if found.encode is not None:
        settings['gzip'] = Setting('gzip', True, Place(document, found.encode.start, found.encode.words[0].end))
    _options(document, options, settings, place, hidden)
    transport = _transport(scope, options)
    _transport_settings(document, transport, settings, place, hidden)
    route = Component(ROUTE, name, f'{file}/{found.site}/{at}/{name}', Place(document, directive.start, directive.words[0].end), settings)
    schemes = {match[1] for match in addresses if match is not None}
    upstream = Component(UPSTREAM, target, f'{route.identity}/servers', place, _upstream(document, transport, settings, schemes, place, hidden))
    route.peer_map['proxy-upstream'] = Peers.of([upstream], True)
    upstream.peer_map['proxy-route'] = Peers.of([route], True)
    yield from (route, upstream)


def _options(document: Document, options: dict[str, Directive], settings: dict[str, Setting], place: Place, hidden: str) -> None:
    settings['buffering'] = Setting('buffering', False, place, 'default', hidden, source=_DOCS)
    if 'response_buffers' in options and options['response_buffers'].args:
        settings['buffering'] = _setting('buffering', document, options['response_buffers'], 'text')._replace(known_value=True)
    interval = options.get('flush_interval')
    settings['ignore_client_abort'] = Setting('ignore_client_abort', False, place, 'default', hidden, source=_DOCS)
    if interval is not None and interval.args and _text(interval.args[0]) == '-1':
        settings['ignore_client_abort'] = _setting('ignore_client_abort', document, interval, 'text')._replace(known_value=True)
    tries = options.get('lb_retries')
    if tries is not None:
        settings['attempts'] = _setting('attempts', document, tries, 'count')
    again = options.get('lb_retry_match')
    if again is not None and _takes_post(again) and (tries is not None or 'lb_try_duration' in options):
        settings['retry_on'] = Setting('retry_on', 'lb_retry_match', Place(document, again.start, again.start + len('lb_retry_match')))


def _takes_post(match: Directive) -> bool:
    """Whether `lb_retry_match` lets a POST be sent again: it names POST, or no method at all."""
    lines = [match._replace(words=match.args), *(match.block or ())]
    methods = [word.text for line in lines if line.name in ('method', 'expression') for word in line.args]
    return not methods or 'POST' in ' '.join(methods)


def _transport(scope: Scope, options: dict[str, Directive]) -> dict[str, Directive]:
    holder = options.get('transport')
    if holder is None or not holder.args or holder.args[0].text != 'http':
        return {}
    return {item.name: item for item in inlined(scope, holder)}


def _transport_settings(document: Document, transport: dict[str, Directive], settings: dict[str, Setting], place: Place, hidden: str) -> None:
    for name, key in (('read_timeout_s', 'read_timeout'), ('first_byte_timeout_s', 'response_header_timeout'), ('connect_timeout_s', 'dial_timeout')):
        default = 3 if name == 'connect_timeout_s' else math.inf
        settings[name] = Setting(name, default, place, 'default', hidden, source=_DOCS)
        if key in transport:
            settings[name] = _limit(_setting(name, document, transport[key], 's'))


def _upstream(document: Document, transport: dict[str, Directive], route: dict[str, Setting], schemes: set[str | None], place: Place, hidden: str) -> dict[str, Setting]:
    """The same servers as a pool of connections: two minutes idle unless `keepalive` says otherwise."""
    settings = {name: route[name] for name in ('product', 'targets')}
    settings['tls'] = Setting('tls', 'https' in schemes or 'tls' in transport, place)
    settings['idle_timeout_s'] = Setting('idle_timeout_s', _KEEPS_S, place, 'default', hidden, source=_DOCS)
    alive = transport.get('keepalive')
    if alive is not None:
        off = bool(alive.args) and alive.args[0].text == 'off'
        given = _setting('idle_timeout_s', document, alive, 'text' if off else 's')
        settings['idle_timeout_s'] = given._replace(known_value=0) if off else given
    settings['protocol_http'] = Setting('protocol_http', '1.1', place, 'default', hidden, source=_DOCS)
    versions = transport.get('versions')
    spoken = {word.text for word in versions.args} if versions is not None else set()
    if 'h2c' in schemes:
        settings['protocol_http'] = Setting('protocol_http', '2', place)
    elif versions is not None and spoken <= {'2', 'h2c'}:
        settings['protocol_http'] = _setting('protocol_http', document, versions, 'text')._replace(known_value='2')
    return settings


def _setting(name: str, document: Document, directive: Directive, unit: str) -> Setting:
    word = directive.args[0] if directive.args else directive.words[0]
    place = Place(document, word.start, word.end)
    text = _text(word)
    if HOLE in text or _is_placeholder(text):
        return Setting(name, None, place, 'inherited', 'a variable decides', unit=unit)
    value: object = units.seconds(text) if unit == 's' else units.integer(text) if unit == 'count' else text
    return Setting(name, value, place, reason='' if value is not None else f'{text!r} is no value of {directive.name}', unit=unit)


def _is_placeholder(text: str) -> bool:
    return text.startswith('{') and text.endswith('}')


def _limit(given: Setting) -> Setting:
    """A timeout in which 0 means none."""
    return given._replace(known_value=math.inf) if given.known_value == 0 else given


def _servers(document: Document, options: Directive) -> Iterator[Component]:
    """`servers { timeouts { ... } }` and `grace_period` of the global options."""
    inside = options.block or ()
    grace = next((item for item in inside if item.name == 'grace_period' and item.args), None)
    servers = [item for item in inside if item.name == 'servers' and item.block is not None]
    file = document.path.rpartition('/')[2]
    for item in servers or ([options] if grace is not None else []):
        settings: dict[str, Setting] = {}
        limits = next((inner for inner in item.block or () if inner.name == 'timeouts' and inner.block is not None), None)
        for inner in (limits.block or ()) if limits is not None else ():
            name = {'write': 'write_timeout_s', 'idle': 'idle_timeout_s', 'read_header': 'read_header_timeout_s'}.get(inner.name)
            if name is not None and inner.args:
                settings[name] = _limit(_setting(name, document, inner, 's'))
        if grace is not None:
            settings['graceful_s'] = _limit(_setting('graceful_s', document, grace, 's'))
        if settings:
            place = Place(document, item.start, item.start + len(item.name or '{'))
            settings['product'] = Setting('product', 'caddy', place)
            name = ' '.join(word.text for word in item.args) if item is not options else ''
            yield Component(HTTP_SERVER, name or 'caddy', f'{file}/servers/{name}', place, settings)
