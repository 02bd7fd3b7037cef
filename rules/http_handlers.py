"""Rules for functions that answer HTTP requests by asking another server."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule


@rule(
    'http-cancel-not-propagated', on='http-handler', severity='warning', source='Go net/http, Request.Context: done when the client\'s connection closes; vLLM and SGLang abort a request when its connection closes; measured: without it the server works to the end',
    effect='the engine stops when nobody reads', side_effect='work that must finish (billing, logs) needs context.WithoutCancel of its own',
)  # fmt: skip
def cancel_not_propagated(handler: Component) -> Iterator[Problem]:
    """The call to the other server does not end when the client goes away: the GPU generates an answer that nobody reads, and a retry makes it two.

    Build the request with the context of the one that is answered: http.NewRequestWithContext(r.Context(), ...).
    """
    calls = handler['detached'].value
    if not calls:
        raise NotApplicable('its calls end with the request, as far as is seen')
    shown = handler['generates']
    for words, place in calls:
        yield Problem(
            place, '{call}: this call goes on when the client has gone', call=words, detail=words.partition(' ')[0], severity=None if shown.value else 'advice',
            see=[('text is generated', shown)] if shown.value else [],
        )  # fmt: skip


@rule(
    'http-answer-headers-lost', on='http-handler', severity='warning', confidence='medium',
    source='Go net/http, ResponseWriter.Write: without a Content-Type it is guessed from the first bytes; measured: events and JSON arrive as text/plain',
    effect='clients see what the server sent',
)  # fmt: skip
def answer_headers_lost(handler: Component) -> Iterator[Problem]:
    """The status of the other server's answer is sent without its headers: a stream of events arrives as text/plain, which browsers' EventSource and some SDKs refuse.

    Copy Content-Type (and Content-Encoding, Retry-After, x-request-id) before WriteHeader.
    """
    lost = handler['headers_lost']
    if lost.value:
        yield Problem(lost, 'the status is handed on without any header: the Content-Type of the stream is lost')


@rule(
    'http-hop-headers-forwarded', on='http-handler', severity='advice', source='RFC 9110, 7.6.1: Connection and what it names end at each hop; Go net/http, Transport: an explicit Accept-Encoding turns decompression off; both measured',
    effect='a client\'s headers for its own connection do not reach the next one',
)  # fmt: skip
def hop_headers_forwarded(handler: Component) -> Iterator[Problem]:
    """All headers of the request go on to the next server: `Connection: close` of one client closes the shared connection, and its
    Accept-Encoding brings compressed answers that net/http then leaves packed.

    httputil.ReverseProxy takes the hop-by-hop headers out.
    """
    whole = handler['headers_whole']
    if whole.value:
        yield Problem(whole, 'every header of the request is handed on, Connection and Accept-Encoding too')


@rule(
    'http-timeout-handler-holds-streams', on='http-handler', severity='warning', source='Go net/http, TimeoutHandler: it keeps the whole answer in memory and its ResponseWriter is no Flusher; measured',
    effect='tokens reach the client as they are generated', side_effect='bound the wait with a context deadline inside the handler instead',
)  # fmt: skip
def timeout_handler_holds_streams(handler: Component) -> Iterator[Problem]:
    """http.TimeoutHandler holds the whole answer back until it is complete, and answers 503 when that takes too long: nothing streams through it."""
    limited = handler['time_limited']
    if limited.value:
        yield Problem(limited, 'http.TimeoutHandler gives this handler a writer that cannot flush: its stream is held back', see=[('the stream', handler['streams'])])
