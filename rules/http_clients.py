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
