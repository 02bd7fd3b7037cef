"""nginx.conf, whole or in part: groups of servers, routes to them, listeners, and nginx's own limits.

A file that includes others is read a second time, once all files are known (nginx_files). What an `include` names that is not among the
files makes unknown what is not written beside it, inside a server or location.
"""

from collections.abc import Iterator

from configaudit import units
from configaudit.extract.process import Data, Reading, nothing
from configaudit.extract.services.nginx_scope import (
    Includes,
    Level,
    blocks,
    find,
    has_include,
    name_place,
    opened,
    passes,
    setting,
    unread,
)
from configaudit.extract.services.nginx_upstreams import route_of, upstreams
from configaudit.extract.words import Word
from configaudit.knowledge.proxy_kinds import LISTENER, NGINX
from configaudit.model import Component, Setting, Slot
from configaudit.parse import nginx
from configaudit.parse.nginx import Directive
from configaudit.places import Document, Place


def read(document: Document) -> Reading:
    """Every component of a file."""
    reading = nothing()
    directives = nginx.read(document.text).directives
    reading.components.extend(components_of(document, directives, unread))
    if document.outer is None and _includes_anything(directives):
        reading.data.append(Data('nginx', '', document.path, {'text': Word(document.text, Place(document, 0, len(document.text)))}))
    return reading


def _includes_anything(directives: tuple[Directive, ...]) -> bool:
    return has_include(directives) or any(_includes_anything(item.block) for item in directives if item.block)


def components_of(document: Document, directives: tuple[Directive, ...], includes: Includes) -> Iterator[Component]:
    """Every component of a file and of the files that it includes."""
    http = [directive for directive in directives if directive.name == 'http']
    root = Level(0, directives, 'main', document)
    tops = [opened(document, block.inner.start, block.block or (), 'http', includes) for block in http] or [opened(document, 0, directives, 'main', includes)]
    proxies = False
    for levels in tops:
        routes = [route_of(item) for item in passes(levels, includes)]
        proxies = proxies or bool(routes)
        yield from upstreams(levels, routes)
        yield from routes
        yield from _listeners(levels, includes)
    if http or any(directive.name == 'events' for directive in directives):
        yield _process(document, root, proxies)


def _listeners(tops: tuple[Level, ...], includes: Includes) -> Iterator[Component]:
    """`listen` directives with TLS. HTTP/2 belongs to the address: one server that turns it on does so for all (before 1.25.1)."""
    servers = [(top, item) for top in tops for item in top.directives if item.name == 'server' and item.block]
    found = [(opened(top.document, server.inner.start, blocks(server), 'server', includes, 1), item) for top, server in servers for item in blocks(server) if item.name == 'listen' and item.args]
    shared = {item.args[0].text for _, item in found if any(arg.text == 'http2' for arg in item.args)}
    for levels, item in found:
        words = [arg.text for arg in item.args]
        if 'ssl' in words and 'quic' not in words:
            yield _listener(tops, levels, item, words, shared, includes)


def _listener(tops: tuple[Level, ...], levels: tuple[Level, ...], item: Directive, words: list[str], shared: set[str], includes: Includes) -> Component:
    level = levels[-1]
    document = level.document
    file = document.path.rpartition('/')[2]
    switch = find((*tops, *levels), 'http2')
    place = Place(document, item.args[0].start, item.args[-1].end)
    names = next((other.args[0].text for other in level.directives if other.name == 'server_name' and other.args), '')
    proxies = any(True for _ in passes(levels, includes))
    ssl = item.args[words.index('ssl')]
    slot = Slot('nginx', Place(document, ssl.start, ssl.end))
    settings = {
        'product': Setting('product', 'nginx', place), 'address': Setting('address', words[0], place),
        'tls': Setting('tls', True, place), 'proxies': Setting('proxies', proxies, place),
        'http2': Setting('http2', words[0] in shared, place, 'default', 'an included file may set it' if switch.hidden else '', slot=slot),
    }  # fmt: skip
    if switch.directive is not None:
        settings['http2'] = setting('http2', switch.document, switch.directive, 'bool')
    label = f'{names} {words[0]}'.strip()
    return Component(LISTENER, label, f'{file}/listen/{label}', place, settings, slot=Slot('nginx', Place(document, level.at, level.at)))


def _process(document: Document, root: Level, proxies: bool) -> Component:
    """nginx as a process: workers, connections, open files."""
    events = next((item for item in root.directives if item.name == 'events'), None)
    place = name_place(document, events) if events is not None else Place(document, 0, 1)
    first = next((item for item in root.directives if item.name == 'worker_processes'), None)
    home = name_place(document, first) if first is not None else place
    levels = (root,) if events is None else (root, Level(events.inner.start, blocks(events), 'events', document, 1))
    settings = {'proxies': Setting('proxies', proxies, place)}
    for name, key, unit in (('workers', 'worker_processes', 'text'), ('worker_connections', 'worker_connections', 'count'), ('worker_nofile', 'worker_rlimit_nofile', 'count')):
        found = find(levels, key).directive
        if found is not None:
            settings[name] = setting(name, document, found, unit)
    settings.setdefault('worker_connections', Setting(
        'worker_connections', 512, place, 'default', slot=Slot('nginx', Place(document, levels[-1].at, levels[-1].at), ('worker_connections',)),
        source='nginx docs, ngx_core_module',
    ))  # fmt: skip
    limit = _client_limit(document, root)
    if limit is not None:
        settings['client_limit'] = limit
    file = document.path.rpartition('/')[2]
    return Component(NGINX, file, f'{file}/nginx', home, settings, slot=Slot('nginx', Place(document, len(document.text), len(document.text))))


def _client_limit(document: Document, root: Level) -> Setting | None:
    """The largest `limit_conn` whose zone counts no single client's address."""
    zones: set[str] = set()
    limits: list[Directive] = []
    waiting = list(root.directives)
    while waiting:
        item = waiting.pop()
        waiting.extend(blocks(item))
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
