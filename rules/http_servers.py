"""Rules for HTTP servers that programs make: clocks over whole answers, and requests that never end."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule


@rule(
    'http-write-timeout-cuts-streams', on='http-server', severity='warning',
    source='Go net/http, Server.WriteTimeout: from the end of the request\'s header to the end of the answer; measured',
    effect='long answers end when they are complete', side_effect='a client that reads nothing holds its connection: set a write deadline for each piece (http.ResponseController)',
)  # fmt: skip
def write_timeout_cuts_streams(server: Component, *, longest_generation_s: float = 0) -> Iterator[Problem]:
    """The server's write timeout counts from the request to the last byte: a stream that takes longer is cut off in the middle.

    Declare `service: {longest_generation_s: ...}` to have the limit judged by it.
    """
    timeout, streams = server['write_timeout_s'], server['streams']
    if not streams.value:
        raise NotApplicable('nothing shows that it streams')
    if timeout.value != math.inf and not 0 < longest_generation_s <= timeout.value:
        elsewhere = streams.origin == 'inherited'
        yield Problem(
            timeout, 'this timeout ends every answer {value} s after its request, streams too', see=[('the stream', streams)],
            severity='advice' if elsewhere else None, confidence='medium' if elsewhere else None,
        )  # fmt: skip


@rule(
    'http-header-timeout-unset', on='http-server', severity='advice', source='gosec G112 and G114; Go net/http, Server.ReadHeaderTimeout: 0 and no ReadTimeout: no limit',
    effect='a client that sends its request byte by byte is dropped',
)  # fmt: skip
def header_timeout_unset(server: Component) -> Iterator[Problem]:
    """Without a limit on reading the header, clients that send a byte now and then hold a connection and a goroutine each (Slowloris).

    ReadHeaderTimeout: 5 to 10 s is safe for streams; ReadTimeout and WriteTimeout are not. Behind a proxy that reads whole requests it matters less.
    """
    limit = server['read_header_timeout_s']
    if server['written_in'].value != 'Go':
        raise NotApplicable('no net/http server')
    if limit.value == math.inf:
        yield Problem(limit, 'no ReadHeaderTimeout: a client that never finishes its request holds a connection for ever')
