"""Rules for HTTP between gateways and servers: protocol, connection reuse, pings (july-5, july-6)."""

import math
from collections.abc import Iterator

from configaudit import units
from configaudit.knowledge.proxy_kinds import engines_behind, is_loopback, looks_like_grpc, names_vllm
from configaudit.knowledge.versions import satisfies
from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule

HTTP1_ENGINES = ('vllm', 'sglang', 'tgi')
"""Engines whose HTTP servers speak HTTP/1.1 only (uvicorn; axum without h2c)."""
UVICORN = 'uvicorn protocols/http: h11 and httptools only; vLLM entrypoints/launcher.py'
ENVOY = 'Envoy v3 API, KeepaliveSettings'
CHECKLIST = 'July tuning checklist, change 5'


@rule('grpc-backend-over-http1', on='proxy-upstream', severity='error', checklist='july-5', source='gRPC over HTTP/2 specification; ingress-nginx, AWS Load Balancer Controller, Envoy and Traefik docs')
def grpc_backend_over_http1(upstream: Component) -> Iterator[Problem]:
    """gRPC exists on HTTP/2 only: a proxy that speaks HTTP/1.1 to a gRPC server gets no answer that it understands, and every call fails."""
    product = upstream['product'].value
    if product == 'envoy':
        yield from _envoy_grpc(upstream)
    elif product in ('ingress-nginx', 'alb'):
        yield from _ingress_grpc(upstream)
    elif product == 'traefik':
        yield from _traefik_grpc(upstream)
    else:
        raise NotApplicable('neither an Envoy cluster nor an Ingress backend')


def _traefik_grpc(backend: Component) -> Iterator[Problem]:
    why, protocol = _service_says_grpc(backend), backend['protocol_http']
    if not why or backend['tls'].value:
        raise NotApplicable('nothing shows that it speaks gRPC without TLS')
    if protocol.value != '2':
        yield Problem(backend['targets'], 'service {name} speaks gRPC ({why}) and Traefik speaks HTTP/1.1 to it: it needs the scheme h2c', name=backend.name, why=why)


def _envoy_grpc(cluster: Component) -> Iterator[Problem]:
    why, protocol = cluster['grpc'].value, cluster['protocol_http']
    if not why:
        raise NotApplicable('nothing shows that it speaks gRPC')
    if protocol.value == '1.1':
        at = protocol if protocol.is_set else cluster.place
        yield Problem(at, 'cluster {name} is called by gRPC ({why}) and speaks HTTP/1.1: it needs http2_protocol_options', name=cluster.name, why=why, detail='protocol_http')


def _ingress_grpc(backend: Component) -> Iterator[Problem]:
    protocol = backend['backend_protocol']
    why = backend['grpc'].value or _service_says_grpc(backend)
    if not why:
        raise NotApplicable('nothing shows that it speaks gRPC')
    if protocol.value in ('HTTP', 'HTTPS', 'AUTO_HTTP', 'HTTP1'):
        wanted = 'GRPCS' if protocol.value == 'HTTPS' else 'GRPC'
        place = backend['targets'].place
        yield Problem(
            protocol, 'backend {name} speaks gRPC ({why}) and the controller speaks {value} to it: it needs {wanted}', name=backend.name,
            why=why, wanted=wanted, see=[('the backend', place)], fix=protocol.set(wanted), detail=backend.name,
        )  # fmt: skip


def _service_says_grpc(backend: Component) -> str:
    """How the Service's own port says gRPC, or ''."""
    wanted = {port for _, port in backend['targets'].value}
    for service in backend.peers('service'):
        for port in service['ports'].value:
            names = (port['name'] or '', port['app_protocol'] or '')
            if str(port['port']) in wanted or port['name'] in wanted:
                return next((f'the Service calls it {name}' for name in names if looks_like_grpc(name)), '')
    return ''


@rule('engine-forced-http2', on=('proxy-upstream', 'service'), severity='error', checklist='july-5', source=UVICORN)
def engine_forced_http2(target: Component) -> Iterator[Problem]:
    """vLLM, SGLang and TGI speak HTTP/1.1 only: HTTP/2 forced on the connection to them is a protocol error for every request.

    Clients may speak HTTP/2 to the gateway; behind it, HTTP/1.1 with kept connections is right for these engines.
    """
    engines = [engine for engine in engines_behind(target) if engine.kind.name in HTTP1_ENGINES]
    forced = list(_forced(target))
    if not forced:
        raise NotApplicable('HTTP/2 is not forced')
    if not engines and not any(names_vllm(name) for name in _names(target)):
        if not target.peers('service') and not target.peers('pod') and not target.peers('engine').complete:
            raise Unknown('what answers there is not among the files read')
        raise NotApplicable('no engine of these behind it')
    name = engines[0].kind.name if engines else 'vllm'
    for setting, words, value in forced:
        if engines or not target['grpc'].value:
            yield Problem(
                setting, '{words} forces HTTP/2 to {name}, whose server speaks HTTP/1.1 only: every request fails', words=words, name=name,
                severity='error' if engines else 'warning', confidence='high' if engines else 'medium',
                see=[('the engine', engine.place) for engine in engines[:1]], fix=setting.set(value) if value and setting.slot else None,
            )  # fmt: skip


def _names(target: Component) -> list[str]:
    """Host names of an upstream, and its own name where that is not one of many."""
    if target.kind.name == 'service':
        return []
    return [target.name, *(host for host, _ in target['targets'].value)]


_HTTP2 = {'nginx': 'proxy_http_version 2', 'haproxy': 'proto h2', 'caddy': 'h2c', 'traefik': 'the scheme h2c'}


def _forced(target: Component) -> Iterator[tuple[Setting, str, str]]:
    """(setting, how a person calls it, the value that undoes it) of everything that forces HTTP/2."""
    if target.kind.name == 'service':
        for port in target['ports'].value:
            if port['app_protocol'] == 'kubernetes.io/h2c':
                yield Setting('app_protocol', 'kubernetes.io/h2c', port['place']), 'appProtocol kubernetes.io/h2c', ''
        return
    protocol, upgrade = target['protocol_http'], target['upgrade']
    if target['product'].value == 'istio':
        if upgrade.value == 'UPGRADE' and not target['follows_client'].value:
            yield upgrade, 'h2UpgradePolicy UPGRADE', 'DO_NOT_UPGRADE'
    elif protocol.is_set and protocol.value == '2' and not target['grpc'].value:
        words = _HTTP2.get(str(target['product'].value), 'http2_protocol_options')
        yield protocol, words, '1.1' if target['product'].value == 'nginx' else ''


@rule('istio-keepalive-disabled', on='proxy-upstream', severity='warning', checklist='july-5', side_effect='a client stays on one backend for longer', source='Istio DestinationRule reference, HTTPSettings.maxRequestsPerConnection')
def istio_keepalive_disabled(upstream: Component) -> Iterator[Problem]:
    """One request a connection turns keep-alive off: every request pays a new TCP and mTLS handshake between the sidecars."""
    limit = upstream['max_requests']
    if not limit.is_set:
        raise NotApplicable('no limit of requests per connection')
    if limit.value == 1:
        words = 'maxRequestsPerConnection' if upstream['product'].value == 'istio' else 'max_requests_per_connection'
        yield Problem(limit, '{words}: {value} closes every connection after one request', words=words, fix=limit.set(0))


@rule('gateway-http1-many-connections', on='proxy-upstream', severity='advice', checklist='july-5', source=f'{CHECKLIST}; Envoy v3 API, HttpProtocolOptions.auto_config', effect='connections 500 -> 8 in the July checklist', side_effect='fewer connections: one that is lost takes more requests with it')
def gateway_http1_many_connections(upstream: Component, *, limit: int = 256) -> Iterator[Problem]:
    """A pool of hundreds of HTTP/1.1 connections over TLS, where ALPN would let the server choose HTTP/2 and share a few."""
    protocol, connections = upstream['protocol_http'], upstream['max_connections']
    if upstream['product'].value != 'envoy' or not upstream['tls'].value or not connections.is_set or protocol.is_set:
        raise NotApplicable('no TLS to negotiate in, or the protocol is chosen')
    if protocol.value == '1.1' and connections.value > limit:
        yield Problem(connections, 'up to {value} HTTP/1.1 connections over TLS to {name}: auto_config lets the server choose HTTP/2', name=upstream.name)


def _pinged(cluster: Component) -> Setting:
    """The ping interval of an Envoy cluster that speaks gRPC over a network."""
    if cluster['product'].value != 'envoy' or not cluster['grpc'].value or cluster['protocol_http'].value != '2':
        raise NotApplicable('no gRPC cluster')
    return cluster['ping_interval_s']


@rule('envoy-grpc-keepalive-slow', on='proxy-upstream', severity='advice', checklist='july-6', source=f'{ENVOY}; gRPC A8')
def envoy_grpc_keepalive_slow(cluster: Component, *, limit_s: float = 120, timeout_s: float = 20) -> Iterator[Problem]:
    """A dead connection is found only after the interval and the timeout: until then every call on it hangs.

    A shorter timeout is always possible. A shorter interval needs a server that allows it: gRPC servers punish pings more often
    than every 5 minutes unless their enforcement policy says otherwise.
    """
    interval, timeout = _pinged(cluster), cluster['ping_timeout_s']
    if interval.value == math.inf:
        raise NotApplicable('no pings are configured')
    worst = interval.value + timeout.value
    if worst > limit_s and timeout.value > timeout_s:
        yield Problem(
            interval, 'pings every {value} s with a timeout of {timeout} s: a dead connection is found after up to {worst} s', timeout=timeout.value,
            worst=worst, see=[('timeout', timeout)], fix=timeout.set(f'{timeout_s:g}s'),
        )  # fmt: skip


@rule('envoy-grpc-keepalive-off', on='proxy-upstream', severity='advice', checklist='july-6', source=f'{ENVOY}; gRPC A8')
def envoy_grpc_keepalive_off(cluster: Component) -> Iterator[Problem]:
    """Without pings a connection that a firewall or a dead node dropped is used until TCP gives up, minutes later.

    Pings more often than every 5 minutes need an enforcement policy of the server that allows them. TCP keepalive
    (`upstream_connection_options.tcp_keepalive` with its times) and health checks find dead servers too.
    """
    interval = _pinged(cluster)
    if any(is_loopback(host) for host, _ in cluster['targets'].value):
        raise NotApplicable('it never leaves the machine')
    if interval.value == math.inf and cluster['probed'].value:
        raise NotApplicable('TCP keepalive or health checks find a dead server')
    if interval.value == math.inf:
        message = 'cluster {name} calls gRPC ({why}) without connection_keepalive: a dead connection is not noticed'
        fix = interval.set({'interval': '300s', 'timeout': '20s'}) if interval.origin == 'default' and interval.slot and len(interval.slot.path) == 2 else None
        yield Problem(cluster['protocol_http'], message, name=cluster.name, why=cluster['grpc'].value, fix=fix)


@rule('envoy-connect-timeout-long', on='proxy-upstream', severity='advice', source='Envoy v3 API, Cluster.connect_timeout: 5 s unless set', effect='a dead server is given up within seconds')
def envoy_connect_timeout_long(cluster: Component, *, limit_s: float = 30) -> Iterator[Problem]:
    """A server whose machine is gone answers nothing: every request waits for this long before Envoy tries another one.

    It covers the TCP and TLS handshakes only, however long the answer takes.
    """
    limit = cluster['connect_timeout_s']
    if cluster['product'].value != 'envoy' or not limit.is_set:
        raise NotApplicable('it is left at 5 s')
    if limit.value > limit_s:
        yield Problem(limit, 'connect_timeout of {value} s: a request waits that long for a server that is gone', fix=limit.set('5s'))


_POOL_IDLE = {'nginx': 60, 'ingress-nginx': 60, 'envoy': 3600, 'istio': 3600, 'caddy': 120, 'traefik': 90, 'alb': 60, 'gke': 600}
"""Seconds that a proxy keeps an idle connection to a server unless told otherwise."""
_KEEP_ALIVE = {'vllm': ('VLLM_HTTP_TIMEOUT_KEEP_ALIVE', '0.9.1'), 'sglang': ('SGLANG_TIMEOUT_KEEP_ALIVE', '0.5.10')}
"""The variable that says how long an engine keeps an idle connection (5 s unless set), and the first release that reads it."""
_SERVERS = {
    'uvicorn': '--timeout-keep-alive', 'gunicorn': '--keep-alive', 'hypercorn': '--keep-alive', 'fastapi': 'uvicorn\'s timeout_keep_alive',
    'net/http': 'IdleTimeout of http.Server',
}  # fmt: skip
"""Server -> what says how long it keeps idle connections."""


def _kept(route: Component, reuses: bool) -> bool:
    """Whether a connection to the server is left open after a request; `reuses`: the release does so by default."""
    version, header = route['protocol_http'], route['connection']
    return (version.value != '1.0' or (reuses and not version.is_set)) and (header.value not in ('close', 'upgrade') or (reuses and not header.is_set))


def _pool_idle(upstream: Component) -> tuple[float, Setting]:
    """How long the proxy keeps idle connections, and what says that it does; NotApplicable where it keeps none."""
    product = str(upstream['product'].value)
    if product not in _POOL_IDLE or (upstream.kind.name == 'proxy-route' and product not in ('alb', 'gke')):
        raise NotApplicable('how long it keeps connections is not known')
    if product in ('alb', 'gke'):
        # ALB's idle timeout holds on both sides; Google's 600 s cannot be changed.
        own = upstream['read_timeout_s'] if product == 'alb' and upstream.kind.name == 'proxy-route' else upstream['targets']
        if upstream.kind.name != 'proxy-route':
            raise NotApplicable('judged on its route')
        return (own.value if product == 'alb' else _POOL_IDLE['gke']), own._replace(origin='explicit' if product == 'alb' and own.is_set else 'default')
    own = upstream['idle_timeout_s']
    keepalive = upstream['keepalive'] if product == 'nginx' else own
    if product == 'nginx':
        reuses = upstream.version is not None and satisfies(upstream.version, '>=1.29.7') and not upstream['direct'].value
        if not (keepalive.value if keepalive.is_set else reuses) or not any(_kept(route, reuses) for route in upstream.peers('proxy-route')):
            raise NotApplicable('it keeps no connections')
    idle = own.value if own.value is not None else _POOL_IDLE[product]
    if not idle:
        raise NotApplicable('it keeps no connections')
    return idle, own if own.is_set else keepalive


def closing_sides(upstream: Component) -> Iterator[tuple[Component, float, str, Setting | None]]:
    """(server, seconds after which it closes an idle connection, what sets them, where they are set) of everything behind."""
    for engine in upstream.peers('engine'):
        if engine.kind.name in _KEEP_ALIVE:
            variable, since = _KEEP_ALIVE[engine.kind.name]
            word = engine['environment'].value.get(variable)
            closes = 5.0 if word is None else units.seconds(word.value) if word.known else None
            if closes is None:
                raise Unknown(f'{variable} is not known')
            yield engine, closes, f'{variable} above that ({since} and newer)', Setting(variable, closes, word.place) if word is not None else None
    for server in upstream.peers('http-server'):
        flag = 'server.keepAliveTimeout' if server['written_in'].known_value == 'Node.js' else _SERVERS.get(str(server['product'].value), '')
        keeps = server['idle_timeout_s']
        if flag and 0 < keeps.value < math.inf:
            yield server, float(keeps.value), f'{flag} above that', keeps


@rule(
    'server-keepalive-shorter-than-proxy', on=('proxy-upstream', 'proxy-route'), severity='warning', confidence='medium', checklist='july-5',
    source='vllm-project/vllm#18472, llm-d/llm-d#1564, kserve/kserve#5446, lsst-sqre/phalanx#5103; nginx docs, keepalive_timeout; Envoy v3 API, HttpProtocolOptions.idle_timeout; Caddy documentation, transport http keepalive 2m; Traefik, idleConnTimeout 90 s; AWS, ALB idle timeout; Google Cloud, backend keep-alive 600 s',
    effect='no 502 or 503 on the first request after a pause', side_effect='idle connections stay open longer at the engine',
)  # fmt: skip
def server_keepalive_shorter(upstream: Component) -> Iterator[Problem]:
    """The server closes an idle connection that the proxy still keeps: a POST that is sent on it just then is lost (502, 503).

    The side that opens connections must give them up first: the server's keep-alive must be above the proxy's idle time. It is rare under
    steady load and common after pauses of just that length.
    """
    idle, place = _pool_idle(upstream)
    for server, closes, remedy, given in closing_sides(upstream):
        if closes <= idle:
            kept = 'for ever' if idle == math.inf else f'for {idle:g} s'
            yield Problem(
                place, 'idle connections to {engine} are kept {kept}, and it closes them after {closes} s: a request in that moment is a 502; set {remedy}',
                engine=server.name, idle=idle, kept=kept, closes=closes, remedy=remedy, severity=None if place.is_set else 'advice',
                see=[('closes them', given if given is not None and given.is_set else server.place)], detail=server.name,
            )  # fmt: skip
