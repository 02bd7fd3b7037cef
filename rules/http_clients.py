"""Rules for HTTP clients that programs make: clocks that run over a whole answer."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule


@rule(
    'http-timeout-cuts-streams', on='http-client', severity='warning',
    source='Go net/http, Client.Timeout: it includes reading the response body; measured: 200, then "context deadline exceeded" in the body',
    effect='long answers end when they are complete',
    side_effect='without any limit a dead server holds the request: bound the wait for headers (ResponseHeaderTimeout) and each gap instead',
)  # fmt: skip
def timeout_cuts_streams(client: Component) -> Iterator[Problem]:
    """The client's timeout counts until the last byte: an answer that streams for longer is cut off in the middle, after status 200."""
    timeout, streams = client['timeout_s'], client['streams']
    if not streams.value:
        raise NotApplicable('nothing shows that answers are streamed')
    if timeout.value != math.inf:
        yield Problem(timeout, 'this timeout ends every answer after {value} s, however much of it still comes', see=[('the stream', streams)])


@rule(
    'go-http2-silently-off', on='http-transport', severity='advice', checklist='july-5',
    source='Go net/http, Transport.ForceAttemptHTTP2: with a TLSClientConfig of its own a transport speaks HTTP/1.1 only; measured',
    effect='one connection carries many requests', side_effect='all requests share a connection: one that is lost takes more of them with it',
)  # fmt: skip
def http2_silently_off(transport: Component) -> Iterator[Problem]:
    """A transport with its own TLS configuration drops HTTP/2 without a word, and opens a connection for every request at once.

    Set ForceAttemptHTTP2, or clone http.DefaultTransport and change the copy. Where HTTP/1.1 is meant, raise MaxIdleConnsPerHost from 2.
    """
    own, decided = transport['own_tls'], transport['http2_decided']
    if decided.value:
        raise NotApplicable('the file says which protocol it wants')
    if own.value:
        yield Problem(own, 'this TLS configuration turns HTTP/2 off: the transport has no ForceAttemptHTTP2')
