"""Rules for nginx: connections to upstreams, HTTP/2 towards clients, and its own limits."""

from collections.abc import Iterator

from configaudit.knowledge.proxy_kinds import is_loopback
from configaudit.knowledge.versions import release, satisfies
from configaudit.model import Component, Fix, NotApplicable, Problem, Setting, rule

from .http import closing_sides

REUSES = '>=1.29.7'
"""The releases that reuse upstream connections by default (nginx CHANGES 1.29.7)."""
UPSTREAM_DOCS = 'nginx docs, ngx_http_upstream_module, keepalive; nginx CHANGES 1.29.7'
KEPT_S = 60
"""How long nginx keeps an idle connection to a server (ngx_http_upstream_module, keepalive_timeout)."""
EFFECT = 'connections from the gateway 500 -> 8 in the July checklist; no TIME_WAIT pile'
SIDE_EFFECT = 'idle connections stay open at the servers behind: their keep-alive timeout must be above 60 s'


def _reuses(nginx: Component) -> bool:
    return nginx.version is not None and satisfies(nginx.version, REUSES)


def _http_routes(upstream: Component) -> list[Component]:
    """The routes to an nginx upstream, but not those that only carry WebSockets."""
    if upstream['product'].value != 'nginx':
        raise NotApplicable('not an nginx upstream')
    routes = [route for route in upstream.peers('proxy-route').some() if not route['websocket'].value]
    if not routes or all(host.startswith('unix:') for host, _ in upstream['targets'].value):
        raise NotApplicable('nothing but WebSockets, or a socket of this machine')
    return routes


def _closing(upstream: Component, routes: list[Component]) -> list[Setting]:
    """What makes nginx close a connection after each request: HTTP/1.0, and the Connection header that it sends by default."""
    if upstream['grpc'].value:
        return []
    found = [setting for route in routes for setting in (route['protocol_http'], route['connection'])]
    closing = [setting for setting in found if setting.value in ('1.0', 'close')]
    return [setting for setting in closing if setting.is_set or not _reuses(upstream)]


def _keep_open(settings: list[Setting]) -> tuple[Fix, ...]:
    wanted = {'protocol_http': '1.1', 'keepalive': 64}
    fixes = []
    for setting in settings:
        value: object = wanted.get(setting.name)
        if setting.name == 'connection':
            # A replaced value stands alone or in quotes; an added header needs its own.
            value = 'Connection ""' if setting.slot is not None and setting.slot.path else '""'
        fixes.append(setting.set(value))
    return tuple(fixes)


def _beside(upstream: Component) -> str:
    """What must stand beside `keepalive` where a server closes idle connections before nginx does; then the tool adds none."""
    kept = upstream['idle_timeout_s'].value or KEPT_S
    early = next(((server, closes) for server, closes, *_ in closing_sides(upstream) if closes <= kept), None)
    return f'; it needs keepalive_timeout under the {early[1]:g} s after which {early[0].name} closes them' if early is not None else ''


@rule('nginx-upstream-without-keepalive', on='proxy-upstream', severity='warning', checklist='july-5', source=UPSTREAM_DOCS, effect=EFFECT, side_effect=SIDE_EFFECT)
def upstream_without_keepalive(upstream: Component) -> Iterator[Problem]:
    """nginx before 1.29.7 opens a new connection to the server behind for every request, and leaves a port in TIME_WAIT for it.

    Reuse needs three things: `keepalive N` in the upstream, `proxy_http_version 1.1`, and an empty Connection header.
    The number is idle connections per worker, not a limit. A `proxy_pass` to a host without an upstream block cannot reuse any.
    """
    routes = _http_routes(upstream)
    keepalive = upstream['keepalive']
    if upstream['direct'].value:
        if not _reuses(upstream) and not is_loopback(upstream['targets'].value[0][0]):
            yield Problem(upstream.place, 'every request opens a new connection to {host}: nginx before 1.29.7 keeps connections only in an upstream block with keepalive', host=upstream.name, severity='advice', detail='direct')
        return
    if keepalive.value == 0 and (keepalive.is_set or not _reuses(upstream)):
        fix = Fix(tuple(change for part in _keep_open([keepalive, *_closing(upstream, routes)]) for change in part.changes))
        message = 'upstream {name} has no keepalive: nginx before 1.29.7 opens a new connection for every request{beside}'
        beside = _beside(upstream)
        yield Problem(keepalive, message, name=upstream.name, beside=beside, fix=None if beside else fix)


@rule('nginx-upstream-keepalive-void', on='proxy-upstream', severity='warning', checklist='july-5', source=UPSTREAM_DOCS, effect=EFFECT, side_effect=SIDE_EFFECT)
def upstream_keepalive_void(upstream: Component) -> Iterator[Problem]:
    """The upstream asks for kept connections, and the location closes each one: it speaks HTTP/1.0 or sends `Connection: close`.

    Both are the defaults before nginx 1.29.7, so `keepalive` alone does nothing.
    """
    routes = _http_routes(upstream)
    keepalive = upstream['keepalive']
    if upstream['direct'].value or not keepalive.is_set or not keepalive.value:
        raise NotApplicable('no keepalive is asked for')
    beside = _beside(upstream)
    for route in routes:
        closing = _closing(upstream, [route])
        if not closing:
            continue
        missing = ' and '.join('proxy_http_version 1.1' if setting.name == 'protocol_http' else 'proxy_set_header Connection ""' for setting in closing)
        fix = Fix(tuple(change for part in _keep_open(closing) for change in part.changes))
        yield Problem(
            closing[0], 'keepalive {count} of upstream {name} does nothing here without {missing}{beside}', count=keepalive.value, beside=beside,
            name=upstream.name, missing=missing, see=[('keepalive', keepalive)], fix=None if beside else fix, detail=route.name,
        )  # fmt: skip


@rule('http2-listener-off', on='proxy-listener', severity='advice', checklist='july-5', side_effect='one lost packet stalls every stream of its connection', source='nginx docs, ngx_http_v2_module')
def http2_listener_off(listener: Component) -> Iterator[Problem]:
    """A browser or SDK opens a TLS connection for every request that runs at the same time; with HTTP/2 they share one."""
    if not listener['tls'].value or not listener['proxies'].value:
        raise NotApplicable('no TLS, or nothing is proxied')
    http2 = listener['http2']
    if http2.value:
        return
    modern = listener.version is not None and listener.version >= release('1.25.1')
    fix = http2.set('on') if http2.is_set else None
    if not http2.is_set and http2.slot is not None:
        own = http2._replace(slot=listener.slots._replace(path=('http2',)) if listener.slots else None)
        # Before 1.25.1 `http2 on` is an unknown directive; the older parameter is read by every release.
        fix = own.set('on') if modern else http2.set('ssl http2')
    yield Problem(listener['address'], 'TLS on {value} without HTTP/2: clients open a connection for every request in flight', fix=fix)


def _clients(nginx: Component) -> float:
    """Clients at once that the worker connections allow: a proxied one takes two."""
    workers = nginx['workers'].value
    count = int(workers) if str(workers).isdigit() else 1
    return float(nginx['worker_connections'].value) * count / 2


@rule('nginx-worker-connections-low', on='nginx', severity='warning', checklist='july-10', side_effect='memory for every connection, before its buffers', source='nginx docs, ngx_core_module, worker_connections')
def worker_connections_low(nginx: Component, *, clients: int = 1024, connections: int = 8192) -> Iterator[Problem]:
    """A stream holds its connections for as long as it generates, so a proxy runs out of them long before its CPU: nginx then refuses clients.

    A proxied client takes two connections. The number is per worker; `worker_processes` is 1 unless set. Judged where a route to
    generated text, or a `limit_conn` above it, shows that it is reached.
    """
    own, limit, workers = nginx['worker_connections'], nginx['client_limit'], nginx['workers']
    if not nginx['proxies'].value:
        raise NotApplicable('nothing is proxied in this file')
    held = _clients(nginx)
    expected = limit.is_set and limit.value > held
    if not expected and not nginx['streams'].value:
        raise NotApplicable('nothing shows that long answers pass through it')
    if held >= clients and not expected:
        return
    each = 'each worker serves' if not str(workers.value).isdigit() else f'{workers.value} worker(s) serve'
    words = 'the file itself allows {allowed}' if expected else 'long streams fill that quickly'
    fixes = [own.set(connections)]
    if not nginx['worker_nofile'].is_set:
        fixes.append(nginx['worker_nofile'].set(2 * connections))
    fix = Fix(tuple(change for part in fixes for change in part.changes))
    yield Problem(
        own, '{value} worker_connections: {each} {held} proxied clients, ' + words, each=each, held=held, allowed=limit.known_value,
        severity='warning' if expected else 'advice', see=[('allowed', limit)] if expected else [], fix=fix,
    )  # fmt: skip


@rule('nginx-worker-rlimit-unset', on='nginx', severity='warning', checklist='july-10', source='nginx docs, ngx_core_module, worker_rlimit_nofile')
def worker_rlimit_unset(nginx: Component, *, soft_limit: int = 1024, limit: int = 65536) -> Iterator[Problem]:
    """nginx does not raise its open-file limit by itself: the workers keep the soft limit they are started with, which is 1024 in many places.

    Every connection is a file, to clients and to servers behind alike, and logs and buffered answers are more: above the limit nginx logs
    "too many open files" and drops connections that `worker_connections` allows.
    """
    own, connections, clients = nginx['worker_nofile'], nginx['worker_connections'], nginx['client_limit']
    if own.is_set:
        raise NotApplicable('it is set')
    count = connections.value
    if count < soft_limit:
        return
    # At exactly the soft limit both ceilings are the same, unless the file itself allows more clients.
    reached = count > soft_limit or (clients.is_set and nginx['proxies'].value and clients.value > _clients(nginx))
    yield Problem(
        own, 'worker_rlimit_nofile is not set: {count} worker_connections are as many open files and more, the usual soft limit is {soft}',
        count=count, soft=soft_limit, severity=None if reached else 'advice', see=[('worker_connections', connections)], fix=own.set(max(limit, 2 * count)),
    )  # fmt: skip
