"""nginx.conf, whole or in part: groups of servers, routes to them, listeners, and nginx's own limits.

`include` is not followed: inside a server or location it makes unknown what is not written there.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit import units
from configaudit.extract.process import Reading, nothing
from configaudit.knowledge.proxy_kinds import LISTENER, NGINX, ROUTE, UPSTREAM
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse import nginx
from configaudit.parse.nginx import Directive
from configaudit.places import Document, Place
from configaudit.units import HOLE

_URL = re.compile(r'(https?|grpcs?)://([^/:]+|\[[^\]]*\])(?::([^/]+))?(/.*)?$')
_PASSES = ('proxy_pass', 'grpc_pass')
_HARMLESS = re.compile(r'(?:^|/)(?:mime\.types|(?:fastcgi|uwsgi|scgi)_params|[\w.-]*(?:ssl|tls|cert|gzip|types)[\w.-]*)$')
_ROUTE_DIRECTIVES = {
    'protocol_http': ('proxy_http_version', 'text'), 'read_timeout_s': ('proxy_read_timeout', 's'),
    'send_timeout_s': ('proxy_send_timeout', 's'), 'connect_timeout_s': ('proxy_connect_timeout', 's'), 'buffering': ('proxy_buffering', 'bool'),
    'gzip': ('gzip', 'bool'), 'next_upstream': ('proxy_next_upstream', 'words'), 'body_size': ('client_max_body_size', 'text'),
    'ignore_client_abort': ('proxy_ignore_client_abort', 'bool'),
}  # fmt: skip


class Level(NamedTuple):
    """The directives of one block; `at` is the offset of its content."""

    at: int
    directives: tuple[Directive, ...]
    name: str


class Pass(NamedTuple):
    """A place that passes requests on: the directive, and the blocks around it from the outermost."""

    directive: Directive
    levels: tuple[Level, ...]


def read(document: Document) -> Reading:
    """Every component of a file."""
    tree = nginx.read(document.text)
    reading = nothing()
    http = [directive for directive in tree.directives if directive.name == 'http']
    root = Level(0, tree.directives, 'main')
    tops = [(Level(block.inner.start, block.block or (), 'http'),) for block in http] or [(root,)]
    for levels in tops:
        passes = list(_passes(levels))
        routes = [_route(document, found) for found in passes]
        reading.components.extend(_upstreams(document, levels[-1], routes))
        reading.components.extend(route for route in routes)
        reading.components.extend(_listeners(document, levels[-1]))
    if http or any(directive.name == 'events' for directive in tree.directives):
        proxies = any(True for levels in tops for _ in _passes(levels))
        reading.components.append(_process(document, root, proxies))
    return reading


def _blocks(directive: Directive) -> tuple[Directive, ...]:
    return directive.block or ()


def _passes(levels: tuple[Level, ...]) -> Iterator[Pass]:
    for directive in levels[-1].directives:
        if directive.name in _PASSES and directive.args:
            yield Pass(directive, levels)
        elif directive.block and directive.name in ('server', 'location', 'if', 'limit_except'):
            name = ' '.join([directive.name, *(arg.text for arg in directive.args)])
            yield from _passes((*levels, Level(directive.inner.start, directive.block, name)))


def _setting(name: str, document: Document, directive: Directive, unit: str, spec_unit: str = '') -> Setting:
    """The first argument of a directive as a setting; `words` is all of them."""
    arg = directive.args[0] if directive.args else None
    place = Place(document, arg.start, arg.end) if arg else Place(document, directive.start, directive.end)
    raw = ' '.join(word.text for word in directive.args) if unit == 'words' else arg.text if arg else ''
    slot = Slot('nginx', place)
    if HOLE in raw or raw.startswith('$'):
        return Setting(name, None, place, 'inherited', 'a variable or template decides', slot=slot)
    convert: dict[str, Any] = {'s': units.seconds, 'count': units.integer, 'bool': units.boolean}
    value = convert[unit](raw) if unit in convert else raw
    reason = '' if value is not None else f'{raw!r} is not a value of {directive.name}'
    return Setting(name, value, place, reason=reason, slot=slot, unit=spec_unit or unit)


def _place_of_name(document: Document, directive: Directive) -> Place:
    return Place(document, directive.start, directive.start + len(directive.name))


def _find(levels: tuple[Level, ...], name: str) -> tuple[Directive | None, bool]:
    """The directive that holds in the innermost level, and whether an unread `include` may set it."""
    for level in reversed(levels):
        found = [directive for directive in level.directives if directive.name == name]
        if found:
            return found[-1], False
        if level.name not in ('http', 'main') and _has_include(level):
            return None, True
    return None, False


def _has_include(level: Level) -> bool:
    return any(
        directive.name == 'include' and not (directive.args and _HARMLESS.search(directive.args[0].text)) for directive in level.directives
    )


def _route(document: Document, found: Pass) -> Component:
    """A proxy_pass or grpc_pass with the settings that hold there."""
    directive, levels = found
    target = _setting('target', document, directive, 'text')
    if target.is_known and '$' in str(target.known_value):
        target = target._replace(known_value=None, reason='a variable decides where requests go')
    settings = {'target': target, 'product': Setting('product', 'nginx', target.place)}
    innermost = levels[-1]
    settings['path'] = Setting('path', innermost.name, target.place)
    for name, (key, unit) in _ROUTE_DIRECTIVES.items():
        own, hidden = _find(levels, key)
        if own is not None:
            settings[name] = _setting(name, document, own, unit)
        elif hidden:
            settings[name] = Setting(name, None, target.place, 'inherited', 'an included file may set it')
    if directive.name == 'grpc_pass':
        settings['protocol_http'] = Setting('protocol_http', '2', target.place)
    settings.update(_headers(document, levels, target.place))
    path = '/'.join(level.name for level in levels[1:]) or 'main'
    file = document.path.rpartition('/')[2]
    slot = Slot('nginx', Place(document, innermost.at, innermost.at))
    return Component(ROUTE, path, f'{file}/{path}', _place_of_name(document, directive), settings, slot=slot)


def _headers(document: Document, levels: tuple[Level, ...], place: Place) -> dict[str, Setting]:
    """The Connection header: of several levels, only the innermost that sets any header counts."""
    for level in reversed(levels):
        headers = {item.args[0].text.lower(): item for item in level.directives if item.name == 'proxy_set_header' and item.args}
        if not headers and level.name not in ('http', 'main') and _has_include(level):
            return {'connection': Setting('connection', None, place, 'inherited', 'an included file may set it')}
        if headers:
            break
    else:
        level, headers = levels[-1], {}
    slot = Slot('nginx', Place(document, level.at, level.at), ('proxy_set_header',))
    own = headers.get('connection')
    if own is None:
        reason = 'an included file may set it' if level.name not in ('http', 'main') and _has_include(level) else ''
        return {'connection': Setting('connection', 'close', place, 'default', reason, slot=slot, source='nginx docs, ngx_http_proxy_module: before 1.29.7')}
    if len(own.args) < 2:
        return {}
    value = own.args[1]
    at = Place(document, value.start, value.end)
    websocket = value.text.lower() == 'upgrade' and 'upgrade' in headers and _is_websocket_path(levels[-1].name)
    return {
        'connection': Setting('connection', value.text.lower(), at, slot=Slot('nginx', at)),
        'websocket': Setting('websocket', websocket, at),
    }  # fmt: skip


def _is_websocket_path(name: str) -> bool:
    return re.search(r'ws\b|socket|queue/join|hmr|_stcore/stream|kernels|terminals', name) is not None


def _upstreams(document: Document, top: Level, routes: list[Component]) -> Iterator[Component]:
    """`upstream` blocks, and hosts that routes pass to without one."""
    file = document.path.rpartition('/')[2]
    groups: dict[str, list[Component]] = {}
    for route in routes:
        match = _URL.match(str(route['target'].known_value or ''))
        if match is not None and HOLE not in match[0]:
            groups.setdefault(match[2] if match[3] is None else f'{match[2]}:{match[3]}', []).append(route)
    for block in top.directives:
        if block.name == 'upstream' and block.args:
            name = block.args[0]
            place = Place(document, name.start, name.end)
            users = groups.pop(name.text, [])
            yield _group(document, block, name.text, f'{file}/upstream/{name.text}', place, users)
    whole = top.name == 'http' and not _has_include(top)
    for host, users in groups.items():
        if whole or ':' in host or '.' in host:
            yield _direct(host, f'{file}/proxy/{host}', users)


def _group(document: Document, block: Directive, name: str, identity: str, place: Place, users: list[Component]) -> Component:
    servers = [item.args[0].text for item in _blocks(block) if item.name == 'server' and item.args]
    settings = {'targets': Setting('targets', tuple(map(_host_port, servers)), place)}
    keepalive = next((item for item in _blocks(block) if item.name == 'keepalive'), None)
    if keepalive is not None:
        settings['keepalive'] = _setting('keepalive', document, keepalive, 'count')
    elif _has_include(Level(0, _blocks(block), name)):
        settings['keepalive'] = Setting('keepalive', None, place, 'inherited', 'an included file may set it')
    slot = Slot('nginx', Place(document, block.inner.start, block.inner.start))
    return _acquainted(Component(UPSTREAM, name, identity, place, settings, slot=slot), users)


def _direct(host: str, identity: str, users: list[Component]) -> Component:
    place = users[0]['target'].place
    settings = {'targets': Setting('targets', (_host_port(host),), place), 'direct': Setting('direct', True, place)}
    return _acquainted(Component(UPSTREAM, host, identity, place, settings), users)


def _host_port(server: str) -> tuple[str, str]:
    if server.startswith('unix:'):
        return server, ''
    host, colon, port = server.rpartition(':')
    return (host, port) if colon and ']' not in port else (server, '')


def _acquainted(upstream: Component, users: list[Component]) -> Component:
    """The group with its routes, their scheme and HTTP version."""
    settings = upstream.settings
    settings['product'] = Setting('product', 'nginx', upstream.place)
    for route in users:
        target = route['target']
        scheme = str(target.known_value).partition(':')[0]
        settings['tls'] = Setting('tls', scheme in ('https', 'grpcs'), target.place)
        if scheme in ('grpc', 'grpcs'):
            settings['grpc'] = Setting('grpc', 'grpc_pass', target.place)
        version = route['protocol_http']
        if version.is_set:
            settings['protocol_http'] = version
        route.peer_map['proxy-upstream'] = Peers.of([upstream], True)
    upstream.peer_map['proxy-route'] = Peers.of(users, bool(users), 'the locations that use it are not in its file')
    return upstream


def _listeners(document: Document, top: Level) -> Iterator[Component]:
    """`listen` directives with TLS. HTTP/2 belongs to the address: one server that turns it on does so for all (before 1.25.1)."""
    servers = [item for item in top.directives if item.name == 'server' and item.block]
    listens = [(server, item) for server in servers for item in _blocks(server) if item.name == 'listen' and item.args]
    shared = {item.args[0].text for _, item in listens if any(arg.text == 'http2' for arg in item.args)}
    file = document.path.rpartition('/')[2]
    for server, item in listens:
        words = [arg.text for arg in item.args]
        if 'ssl' not in words or 'quic' in words:
            continue
        level = Level(server.inner.start, _blocks(server), 'server')
        switch, hidden = _find((top, level), 'http2')
        place = Place(document, item.args[0].start, item.args[-1].end)
        names = next((other.args[0].text for other in _blocks(server) if other.name == 'server_name' and other.args), '')
        proxies = any(True for _ in _passes((level,)))
        ssl = item.args[words.index('ssl')]
        slot = Slot('nginx', Place(document, ssl.start, ssl.end))
        settings = {
            'product': Setting('product', 'nginx', place), 'address': Setting('address', words[0], place),
            'tls': Setting('tls', True, place), 'proxies': Setting('proxies', proxies, place),
            'http2': Setting('http2', words[0] in shared, place, 'default', 'an included file may set it' if hidden else '', slot=slot),
        }  # fmt: skip
        if switch is not None:
            settings['http2'] = _setting('http2', document, switch, 'bool')
        label = f'{names} {words[0]}'.strip()
        yield Component(LISTENER, label, f'{file}/listen/{label}', place, settings, slot=Slot('nginx', Place(document, level.at, level.at)))


def _process(document: Document, root: Level, proxies: bool) -> Component:
    """nginx as a process: workers, connections, open files."""
    events = next((item for item in root.directives if item.name == 'events'), None)
    place = _place_of_name(document, events) if events is not None else Place(document, 0, 1)
    levels = (root,) if events is None else (root, Level(events.inner.start, _blocks(events), 'events'))
    settings = {'proxies': Setting('proxies', proxies, place)}
    for name, key, unit in (('workers', 'worker_processes', 'text'), ('worker_connections', 'worker_connections', 'count'), ('worker_nofile', 'worker_rlimit_nofile', 'count')):
        found, _ = _find(levels, key)
        if found is not None:
            settings[name] = _setting(name, document, found, unit)
    settings.setdefault('worker_connections', Setting(
        'worker_connections', 512, place, 'default', slot=Slot('nginx', Place(document, levels[-1].at, levels[-1].at), ('worker_connections',)),
        source='nginx docs, ngx_core_module',
    ))  # fmt: skip
    limit = _client_limit(document, root)
    if limit is not None:
        settings['client_limit'] = limit
    file = document.path.rpartition('/')[2]
    return Component(NGINX, file, f'{file}/nginx', place, settings, slot=Slot('nginx', Place(document, len(document.text), len(document.text))))


def _client_limit(document: Document, root: Level) -> Setting | None:
    """The largest `limit_conn` whose zone counts no single client's address."""
    zones: set[str] = set()
    limits: list[Directive] = []
    waiting = list(root.directives)
    while waiting:
        item = waiting.pop()
        waiting.extend(_blocks(item))
        words = [arg.text for arg in item.args]
        if item.name == 'limit_conn_zone' and words and 'remote_addr' not in words[0]:
            zones.update(word[5:].partition(':')[0] for word in words if word.startswith('zone='))
        elif item.name == 'limit_conn' and len(words) == 2:
            limits.append(item)
    found = [(units.integer(item.args[1].text) or 0, item) for item in limits if item.args[0].text in zones]
    if not found:
        return None
    value, item = max(found, key=lambda pair: (pair[0], pair[1].start))
    return Setting('client_limit', value, Place(document, item.args[1].start, item.args[1].end))
