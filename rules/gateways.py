"""Rules for general-purpose proxies through which generated text streams (Caddy, Traefik, HAProxy): what they hold back, how long they wait."""

from collections.abc import Iterator

from configaudit.knowledge.versions import release
from configaudit.model import Component, NotApplicable, Problem, Unknown, rule

from .streaming import carries, shown_by

_HOLDERS = {
    'caddy': 'response_buffers holds answers',
    'traefik': 'the buffering middleware holds every answer',
}


@rule(
    'gateway-holds-stream', on='proxy-route', severity='warning',
    source='measured with Caddy 2.11.7: with response_buffers all events come together at the end; Traefik documentation, Buffering; caddyserver/caddy#6471, Wei-Shaw/sub2api#4691',
    effect='tokens reach the client as they are generated', side_effect='a slow client holds its connection to the server',
)  # fmt: skip
def gateway_holds_stream(route: Component) -> Iterator[Problem]:
    """The proxy is told to collect answers before it sends them: a streamed answer arrives in one piece when it is complete.

    Caddy before 2.9 does so too with what `encode` compresses, by default every `text/*`: leave text/event-stream out, or take a newer release.
    """
    product, buffering = str(route['product'].value), route['buffering']
    packed = product == 'caddy' and route['gzip'].is_set and (route.version is None or route.version < release('2.9'))
    if product not in _HOLDERS or not (buffering.is_set or packed):
        raise NotApplicable('it passes answers on as they come')
    why = carries(route)
    if buffering.value:
        how = _HOLDERS[product]
        yield Problem(buffering, '{how}: streamed tokens arrive together at the end', how=how, why=why, see=shown_by(route))
    elif packed and route.version is None:
        raise Unknown('encode compresses event streams, which Caddy before 2.9 holds until the end, and the release of Caddy is not among the files read')
    elif packed:
        message = 'encode compresses event streams, and Caddy {version}, as every release before 2.9, keeps them in the encoder: streamed tokens arrive together at the end'
        yield Problem(route['gzip'], message, version=str(route.version), why=why, see=shown_by(route))


@rule(
    'answer-head-timeout-short', on='proxy-route', severity='warning', confidence='medium',
    source='Go net/http, Transport.ResponseHeaderTimeout (Caddy response_header_timeout, Traefik forwardingTimeouts.responseHeaderTimeout); measured with Caddy 2.11.7: 504',
    effect='a request that waits in the queue is answered', side_effect='a server that is stuck is noticed later',
)  # fmt: skip
def answer_head_timeout_short(route: Component, *, max_ttft_s: float = 0, longest_generation_s: float = 0) -> Iterator[Problem]:
    """The proxy waits only so long for the head of an answer: one that is not streamed sends it when it is complete, and a busy engine
    sends it late.

    Declare `service: {max_ttft_s: ..., longest_generation_s: ...}` to have it judged; without them a limit of a minute or less is shown.
    """
    limit = route['first_byte_timeout_s']
    if not limit.is_set:
        raise NotApplicable('it waits for ever')
    why = carries(route)
    if max_ttft_s and max_ttft_s > limit.value:
        yield Problem(limit, 'the head of an answer must come within {value} s, and the first token may take {ttft} s: a 504', ttft=max_ttft_s, why=why, see=shown_by(route))
    elif longest_generation_s > limit.value:
        message = 'the head of an answer must come within {value} s: one of up to {longest} s that is not streamed ends in a 504'
        yield Problem(limit, message, longest=longest_generation_s, why=why, severity='advice', see=shown_by(route))
    elif not max_ttft_s and limit.value <= 60:
        message = 'the head of an answer must come within {value} s: a request that is not streamed, or waits for longer, ends in a 504'
        yield Problem(limit, message, why=why, severity='advice', see=shown_by(route))


@rule(
    'haproxy-queue-gives-up', on='proxy-route', severity='warning',
    source='HAProxy manual, timeout queue: unset it is timeout connect; measured with HAProxy 2.6: 503 after timeout connect',
    effect='a burst waits for a free server', side_effect='clients that gave up wait in the queue as well, unless option abortonclose is set',
)  # fmt: skip
def haproxy_queue_gives_up(route: Component, *, limit_s: float = 15, max_ttft_s: float = 0) -> Iterator[Problem]:
    """`maxconn` of a server makes requests wait in HAProxy, and one that waits for longer than the queue timeout gets a 503.

    An answer that is generated holds its place for as long as it takes, so a queue of a few seconds turns every burst into errors; without
    `timeout queue` the wait is as short as `timeout connect`.
    """
    requests, wait = route['server_requests'], route['queue_timeout_s']
    if route['product'].value != 'haproxy' or not requests.is_set:
        raise NotApplicable('no server has a maxconn')
    why = carries(route)
    if requests.value and wait.value < (max_ttft_s or limit_s):
        unset = '' if wait.is_set else ' (unset: timeout connect)'
        message = 'timeout queue{unset}: beyond {requests} requests at a server the next ones get a 503 after {value} s'
        yield Problem(wait, message, unset=unset, requests=requests.value, why=why, see=[('maxconn', requests), *shown_by(route)])


@rule(
    'traefik-transport-keeps-two', on='proxy-transport', severity='warning', confidence='medium', checklist='july-5',
    source='Traefik v3.7, cmd/configuration.go: maxIdleConnsPerHost 200 for the transport of all services; dynamic ServersTransport: 0, which is Go\'s DefaultMaxIdleConnsPerHost, 2; measured: 175 connections instead of 50 for 50 clients',
    effect='requests under load find an open connection', side_effect='idle connections stay open at the servers',
)  # fmt: skip
def traefik_transport_keeps_two(transport: Component, *, limit: int = 8) -> Iterator[Problem]:
    """A ServersTransport of its own keeps two idle connections per server, where Traefik's usual one keeps 200: under load every other
    request opens a new connection, and leaves a port in TIME_WAIT. Servers behind TLS may share one HTTP/2 connection instead.
    """
    keeps = transport['max_idle_per_host']
    if not transport.name and not keeps.is_set:
        raise NotApplicable('the transport of all services keeps 200')
    plain = [route for route in transport.peers('proxy-route') if not all(upstream['tls'].value for upstream in route.peers('proxy-upstream'))]
    if transport.peers('proxy-route') and not plain:
        raise NotApplicable('its servers speak TLS, and HTTP/2 where they can')
    if 0 <= keeps.value < limit:
        severity = None if any(route['answers'].value for route in plain) else 'advice'
        unset = '' if keeps.is_set else ' (unset)'
        yield Problem(keeps, 'maxIdleConnsPerHost{unset} keeps {value} idle connections per server; Traefik\'s usual transport keeps 200', unset=unset, severity=severity)  # type: ignore[arg-type]
