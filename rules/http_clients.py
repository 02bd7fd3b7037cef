"""Rules for HTTP clients that programs make: clocks that run over a whole answer, connections that are not kept."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

_NET_HTTP = 'Go net/http, DefaultMaxIdleConnsPerHost = 2; measured: 20 bursts of 50 requests opened 961 connections with 2, 50 with 50'


@rule(
    'http-timeout-cuts-streams', on='http-client', severity='warning',
    source='Go net/http, Client.Timeout: it includes reading the response body; measured: 200, then "context deadline exceeded" in the body',
    effect='long answers end when they are complete',
    side_effect='without any limit a dead server holds the request: bound the wait for headers (ResponseHeaderTimeout) and each gap instead',
)  # fmt: skip
def timeout_cuts_streams(client: Component, *, longest_generation_s: float = 0) -> Iterator[Problem]:
    """The client's timeout counts until the last byte: an answer that streams for longer is cut off in the middle, after status 200.

    Declare `service: {longest_generation_s: ...}` to have the limit judged by it.
    """
    timeout, streams = client['timeout_s'], client['streams']
    if not streams.value:
        raise NotApplicable('nothing shows that answers are streamed')
    if timeout.value != math.inf and not 0 < longest_generation_s <= timeout.value:
        unset = '' if timeout.is_set else f', the default of {client["product"].known_value},'
        message = 'this timeout{unset} ends every answer after {value} s, however much of it still comes'
        yield Problem(timeout, message, unset=unset, severity=None if timeout.is_set else 'advice', see=[('the stream', streams)])


@rule(
    'http-idle-connections-few', on='http-client', severity='warning', source=_NET_HTTP,
    effect='requests find an open connection instead of opening one', side_effect='more idle connections stay open at the server',
)  # fmt: skip
def idle_connections_few(client: Component, *, enough: int = 16) -> Iterator[Problem]:
    """A gateway that keeps two idle connections to its server closes all others after each answer and opens them again for the next request.

    Under load that is a handshake for most requests and thousands of sockets in TIME_WAIT. MaxIdleConns counts all hosts together and does
    not raise it: set MaxIdleConnsPerHost to the number of requests at once; a session of Python's requests keeps 10 unless its adapter is given a
    `pool_maxsize`. It counts for HTTP/1.1; over HTTP/2 one connection carries all.
    """
    idle, total, most, threads = client['idle_per_host'], client['idle_total'], client['connections'], client['threads']
    if threads.is_set and idle.value < threads.value:
        message = 'of the connections to a host only {value}{unset} are kept, and {threads} threads ask at once: the others open one for each request'
        yield Problem(idle, message, unset='' if idle.is_set else ' (the default)', threads=threads.value, see=[('the threads', threads)], severity='advice')
        return
    if not client['forwards'].value or (idle.is_known and idle.known_value is None):
        raise NotApplicable('nothing shows that it hands on the requests of many')
    if idle.value >= enough or idle.value >= most.value:
        return
    beside = most if most.is_set else total if total.is_set and total.value > 100 else None
    see = [('many are wanted here', beside)] if beside is not None else [('requests are handed on', client['forwards'])]
    unset = '' if idle.is_set else ' (the default)'
    yield Problem(
        idle, 'of the connections to a host only {value}{unset} are kept when idle: with more requests at once a gateway opens new ones for the rest', unset=unset, see=see,
        severity=None if beside is not None else 'advice',
    )  # fmt: skip


@rule(
    'http-client-per-request', on='http-client', severity='warning', source='Go net/http, Transport: "should be reused instead of created as needed"; httpx, aiohttp and requests say the same of clients and sessions',
    effect='requests share open connections', side_effect='none: clients are safe for concurrent use',
)  # fmt: skip
def client_per_request(client: Component) -> Iterator[Problem]:
    """A client that is made for each request opens a connection for each: a handshake every time, and what it leaves open stays open until the server closes it.

    Measured in Go: 50 requests with a transport each left 50 open connections and some 150 goroutines; with a new http.Client on the default transport, which is shared, they used one.
    Measured in Python: a new client of httpx or of the OpenAI SDK takes 20 ms of CPU, for it loads the CA certificates, and an event loop stands still for them. Where each is closed after
    its request it costs that and a handshake, and leaks nothing: an advice.
    """
    anew = client['per_request']
    if anew.value:
        yield Problem(anew, 'connections of its own are made for every request: none is used again', severity='advice' if client['closes'].value else None)


@rule(
    'go-http2-silently-off', on='http-transport', severity='advice', checklist='july-5',
    source='Go net/http, Transport.ForceAttemptHTTP2: with a TLSClientConfig, Dial or DialContext of its own a transport speaks HTTP/1.1 only; measured',
    effect='one connection carries many requests', side_effect='all requests share a connection: one that is lost takes more of them with it',
)  # fmt: skip
def http2_silently_off(transport: Component) -> Iterator[Problem]:
    """A transport with its own TLS configuration or dialer drops HTTP/2 without a word, and opens a connection for every request at once.

    Set ForceAttemptHTTP2, or clone http.DefaultTransport and change the copy. Where HTTP/1.1 is meant, raise MaxIdleConnsPerHost from 2.
    """
    own, decided = transport['turns_http2_off'], transport['http2_decided']
    if decided.value:
        raise NotApplicable('the file says which protocol it wants')
    if own.value:
        yield Problem(own, 'this {value} turns HTTP/2 off: the transport has no ForceAttemptHTTP2')


@rule(
    'http-keepalives-disabled', on='http-transport', severity='warning', source='Go net/http, Transport.DisableKeepAlives: each connection serves one request',
    effect='requests share open connections', side_effect='a connection that the server closes while idle shows as a retried request',
)  # fmt: skip
def keepalives_disabled(transport: Component) -> Iterator[Problem]:
    """A gateway without keep-alive opens a TCP, and perhaps a TLS, connection for every request it hands on."""
    off = transport['keepalives_off']
    if off.value:
        yield Problem(off, 'DisableKeepAlives: every request that is handed on opens a connection of its own')


@rule(
    'http2-health-ping-off', on='http-transport', severity='advice', checklist='july-6',
    source='golang.org/x/net/http2 Transport.ReadIdleTimeout: 0 sends no health check; PingTimeout 15 s', effect='a dead connection is closed instead of used again',
    side_effect='a ping on connections that are silent for that long: gRPC servers police pings, plain HTTP/2 servers do not',
)  # fmt: skip
def http2_health_ping_off(transport: Component) -> Iterator[Problem]:
    """An HTTP/2 connection whose other end vanished is used for every new request until TCP gives up, some 15 minutes later.

    ReadIdleTimeout: 30 s finds it by a ping.
    """
    ping = transport['health_ping_s']
    if transport['product'].value != 'x/net/http2':
        raise NotApplicable('no http2.Transport')
    if not ping.value:
        yield Problem(ping, 'no ReadIdleTimeout: a connection that died behind a load balancer keeps getting requests')


@rule(
    'go-http2-over-cleartext', on='http-transport', severity='warning', confidence='medium', checklist='july-5',
    source='Go net/http, Transport.Protocols: unencrypted HTTP/2 is used only when SetUnencryptedHTTP2 asks for it; x/net/http2 Transport.AllowHTTP; measured', effect='the protocol that is meant is spoken',
)  # fmt: skip
def http2_over_cleartext(transport: Component) -> Iterator[Problem]:
    """HTTP/2 is asked for, and the address is http://: net/http speaks HTTP/1.1 there, and http2.Transport without AllowHTTP refuses it.

    vLLM, SGLang and TGI speak HTTP/1.1 only: raise MaxIdleConnsPerHost for them. For an h2c server set Protocols.SetUnencryptedHTTP2(true).
    """
    wants, url = transport['wants_http2'], transport['cleartext_url']
    if not url.is_set or not wants.value:
        raise NotApplicable('no HTTP/2 is asked for on an http:// address')
    refuses = transport['product'].value == 'x/net/http2'
    words = 'http2.Transport refuses {url} without AllowHTTP' if refuses else 'ForceAttemptHTTP2 does nothing for {url}: HTTP/1.1 is spoken without TLS'
    yield Problem(wants, words, url=url.value, see=[('the address', url)], severity=None if refuses else 'advice')


@rule('go-http2-api-missing', on='http-transport', severity='error', checklist='july-5', source='golang.org/x/net/http2: ConfigureTransport, ConfigureTransports, ConfigureServer', effect='the program compiles')
def http2_api_missing(transport: Component) -> Iterator[Problem]:
    """golang.org/x/net/http2 has no WithTransport, whatever guides say: the program does not compile.

    ForceAttemptHTTP2 on the transport, or http2.ConfigureTransports, is what turns HTTP/2 on; over http:// neither does.
    """
    missing = transport['no_such_api']
    if missing.is_set:
        yield Problem(missing, '{value}: use ForceAttemptHTTP2 or http2.ConfigureTransports')
