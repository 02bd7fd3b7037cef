"""Routes of nginx.conf and the groups of servers behind them."""

import re
from collections.abc import Iterator

from configaudit.extract.services.nginx_scope import (
    OUTER,
    Level,
    Pass,
    blocks,
    find,
    has_include,
    here,
    name_place,
    setting,
)
from configaudit.knowledge.proxy_kinds import ROUTE, UPSTREAM
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse.nginx import Directive
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_URL = regex(r'(https?|grpcs?)://([^/:]+|\[[^\]]*\])(?::([^/]+))?(/.*)?$')
_ROUTE_DIRECTIVES = {
    'protocol_http': ('proxy_http_version', 'text'), 'read_timeout_s': ('proxy_read_timeout', 's'),
    'send_timeout_s': ('proxy_send_timeout', 's'), 'connect_timeout_s': ('proxy_connect_timeout', 's'), 'buffering': ('proxy_buffering', 'bool'),
    'gzip': ('gzip', 'bool'), 'gzip_types': ('gzip_types', 'words'), 'next_upstream': ('proxy_next_upstream', 'words'), 'body_size': ('client_max_body_size', 'text'),
    'ignore_client_abort': ('proxy_ignore_client_abort', 'bool'),
}  # fmt: skip


def route_of(found: Pass) -> Component:
    """A proxy_pass or grpc_pass with the settings that hold there."""
    directive, levels, document = found
    target = setting('target', document, directive, 'text')
    if target.is_known and '$' in str(target.known_value):
        target = target._replace(known_value=None, reason='a variable decides where requests go')
    settings = {'target': target, 'product': Setting('product', 'nginx', target.place)}
    innermost = levels[-1]
    settings['path'] = Setting('path', innermost.name, target.place)
    settings.update(_surroundings(levels, target.place))
    for name, (key, unit) in _ROUTE_DIRECTIVES.items():
        own = find(levels, key.replace('proxy_', 'grpc_') if directive.name == 'grpc_pass' else key)
        if own.directive is not None:
            settings[name] = setting(name, own.document, own.directive, unit)
        elif own.hidden:
            settings[name] = Setting(name, None, target.place, 'inherited', 'an included file may set it')
    if 'buffering' not in settings:
        settings['buffering'] = _unbuffered(innermost, target.place)
    if directive.name == 'grpc_pass':
        settings['protocol_http'] = Setting('protocol_http', '2', target.place)
        if 'read_timeout_s' not in settings:
            inside = Slot('nginx', Place(innermost.document, innermost.at, innermost.at), ('grpc_read_timeout',))
            settings['read_timeout_s'] = Setting('read_timeout_s', 60, target.place, 'default', slot=inside, source='nginx docs, ngx_http_grpc_module')
    settings.update(_headers(levels, target.place))
    path = '/'.join({level.depth: level.name for level in levels if level.depth}.values()) or 'main'
    file = document.path.rpartition('/')[2]
    slot = Slot('nginx', Place(innermost.document, innermost.at, innermost.at))
    return Component(ROUTE, path, f'{file}/{path}', name_place(document, directive), settings, slot=slot)


def _unbuffered(block: Level, place: Place) -> Setting:
    """The default of proxy_buffering, which is said of the whole block."""
    inside = Slot('nginx', Place(block.document, block.at, block.at), ('proxy_buffering',))
    at = Place(block.document, block.head.start, block.head.end) if block.head.end else place
    return Setting('buffering', True, at, 'default', slot=inside, source='nginx docs, ngx_http_proxy_module')


def _surroundings(levels: tuple[Level, ...], place: Place) -> dict[str, Setting]:
    """What a server calls itself, and the map that would set the Connection header only for upgrades."""
    found: dict[str, Setting] = {}
    for level in levels:
        for item in level.directives:
            if item.name == 'server_name' and item.args:
                found['server_name'] = Setting('server_name', item.args[0].text, place)
            elif item.name == 'map' and [arg.text for arg in item.args] == ['$http_upgrade', '$connection_upgrade']:
                found['upgrade_map'] = Setting('upgrade_map', True, name_place(level.document, item))
    return found


def _headers(levels: tuple[Level, ...], place: Place) -> dict[str, Setting]:
    """The Connection header: of several blocks, only the innermost that sets any header counts."""
    for depth in range(levels[-1].depth, -1, -1):
        own = [level for level in levels if level.depth == depth]
        headers = {item.args[0].text.lower(): (level.document, item) for level in own for item in level.directives if item.name == 'proxy_set_header' and item.args}
        unseen = own[-1].unseen and own[-1].name not in OUTER
        if not headers and unseen:
            return {'connection': Setting('connection', None, place, 'inherited', 'an included file may set it')}
        if headers:
            break
    else:
        own, headers, unseen = list(here(levels)), {}, False
    slot = Slot('nginx', Place(own[-1].document, own[-1].at, own[-1].at), ('proxy_set_header',))
    if 'connection' not in headers:
        reason = 'an included file may set it' if unseen else ''
        return {'connection': Setting('connection', 'close', place, 'default', reason, slot=slot, source='nginx docs, ngx_http_proxy_module: before 1.29.7')}
    document, directive = headers['connection']
    if len(directive.args) < 2:
        return {}
    value = directive.args[1]
    at = Place(document, value.start, value.end)
    websocket = value.text.lower() == 'upgrade' and 'upgrade' in headers and _is_websocket_path(levels[-1].name)
    return {
        'connection': Setting('connection', value.text.lower(), at, slot=Slot('nginx', at)),
        'websocket': Setting('websocket', websocket, at),
    }  # fmt: skip


def _is_websocket_path(name: str) -> bool:
    return re.search(r'ws\b|socket|queue/join|hmr|_stcore/stream|kernels|terminals', name) is not None


def upstreams(top: tuple[Level, ...], routes: list[Component]) -> Iterator[Component]:
    """`upstream` blocks, and hosts that routes pass to without one."""
    file = top[-1].document.path.rpartition('/')[2]
    groups: dict[str, list[Component]] = {}
    for route in routes:
        match = _URL.match(str(route['target'].known_value or ''))
        if match is not None and HOLE not in match[0]:
            groups.setdefault(match[2] if match[3] is None else f'{match[2]}:{match[3]}', []).append(route)
    for level in top:
        own = level.document.path.rpartition('/')[2]
        for block in level.directives:
            if block.name == 'upstream' and block.args:
                name = block.args[0]
                users = groups.pop(name.text, [])
                yield _group(level.document, block, name.text, f'{own}/upstream/{name.text}', Place(level.document, name.start, name.end), users)
    whole = top[-1].name == 'http' and not any(level.unseen for level in top)
    for host, users in groups.items():
        if whole or ':' in host or '.' in host:
            yield _direct(host, f'{file}/proxy/{host}', users)


def _group(document: Document, block: Directive, name: str, identity: str, place: Place, users: list[Component]) -> Component:
    servers = [item.args[0].text for item in blocks(block) if item.name == 'server' and item.args]
    settings = {'targets': Setting('targets', tuple(map(_host_port, servers)), place)}
    keepalive = next((item for item in blocks(block) if item.name == 'keepalive'), None)
    if keepalive is not None:
        settings['keepalive'] = setting('keepalive', document, keepalive, 'count')
    elif has_include(blocks(block)):
        settings['keepalive'] = Setting('keepalive', None, place, 'inherited', 'an included file may set it')
    idle = next((item for item in blocks(block) if item.name == 'keepalive_timeout'), None)
    if idle is not None:
        settings['idle_timeout_s'] = setting('idle_timeout_s', document, idle, 's')
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
