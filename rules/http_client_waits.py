"""Rules for HTTP clients that wait for generated text: the silence they allow, the connections they have."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule


def generated(client: Component) -> list[tuple[str, Setting]]:
    """What shows that generated text comes through a client; NotApplicable where nothing does."""
    answers = client['answers']
    if not answers.value:
        raise NotApplicable('nothing shows that generated text comes through it')
    return [(f'generated text is asked for: {answers.value}', answers)]


def _words(client: Component, setting: Setting) -> str:
    unset = '' if setting.is_set else f', the default of {client["product"].known_value}'
    return f'it {"allows a silence (GAP) of" if setting.name == "gap_timeout_s" else "waits for the head of the answer"} {setting.value:g} s{unset}'


@rule(
    'first-token-after-client-timeout', on='http-client', severity='warning', confidence='medium',
    source='httpx docs, Timeouts: read is the longest wait for a chunk of data, 5 s by default; requests docs: the timeout is no limit on the whole download',
    effect='a request that waits in the queue of the engine is answered', side_effect='a server that is stuck is noticed later',
)  # fmt: skip
def first_token_after_client_timeout(client: Component, *, max_ttft_s: float = 0, longest_generation_s: float = 0) -> Iterator[Problem]:
    """The client gives up when the server is silent for too long (a GAP, not a total): a request in the queue, in a long prefill, or one that
    is not streamed at all ends in a read timeout, the GPU has worked for nothing, and most clients send it again.

    Declare `service: {max_ttft_s: ..., longest_generation_s: ...}` to have the limit judged by them; without them a limit of half a
    minute or less is shown for review.
    """
    see = generated(client)
    waits = [setting for setting in (client['gap_timeout_s'], client['first_byte_timeout_s']) if setting.value != math.inf]
    if not waits:
        raise NotApplicable('it waits for ever')
    least = min(waits, key=lambda setting: float(setting.value))
    shown = {'words': _words(client, least), 'see': see}
    if max_ttft_s > least.value:
        message = '{words}: the first token may take {ttft} s, which ends in a read timeout'
        yield Problem(least, message, ttft=max_ttft_s, severity=None if least.is_set else 'advice', **shown)  # type: ignore[arg-type]
    elif not client['streams'].value and longest_generation_s > least.value:
        message = '{words}: an answer of up to {longest} s that is not streamed ends in a read timeout'
        yield Problem(least, message, longest=longest_generation_s, severity='advice', **shown)  # type: ignore[arg-type]
    elif not max_ttft_s and least.value <= 30:
        message = '{words}: a request that waits longer for its first token, or is not streamed, ends in a read timeout'
        yield Problem(least, message, severity='advice', **shown)  # type: ignore[arg-type]


@rule(
    'http-client-pool-below-load', on='http-client', severity='warning', confidence='medium',
    source='httpx docs, Resource limits: 100 connections; aiohttp TCPConnector: limit 100; OkHttp Dispatcher.maxRequestsPerHost: 5; a generation holds its connection until it ends',
    effect='the engine gets as many requests at once as it can work on', side_effect='more sockets on both sides',
)  # fmt: skip
def pool_below_load(client: Component, *, target_rps: float = 0, longest_generation_s: float = 0) -> Iterator[Problem]:
    """Every answer that still generates holds a connection: over HTTP/1.1 a client with N connections keeps at most N answers going, and the
    next request waits inside the client (httpx fails it with PoolTimeout) while the GPU has room.

    Held against the requests that the engine it calls works on at once (`max_num_seqs`), where the files show the engine, or against
    `service: {target_rps: ..., longest_generation_s: ...}`, whose product is the number of answers in flight at worst.
    """
    see = generated(client)
    connections = client['connections']
    if connections.value == math.inf:
        raise NotApplicable('it opens as many connections as it needs')
    if target_rps and longest_generation_s:
        needed = math.ceil(target_rps * longest_generation_s)
        message = f'{{value}} connections carry {{value}} answers at once, and {target_rps:g} requests/s of up to {longest_generation_s:g} s are {{needed}}'
    else:
        seqs = _batch(client, connections)
        needed, message = int(seqs.value), '{value} connections carry {value} answers at once, and the engine works on {needed} (max_num_seqs)'
        see = [*see, ('the engine', seqs)]
    if connections.value < needed:
        yield Problem(connections, message, needed=needed, see=see, severity=None if connections.is_set and target_rps else 'advice')


def _batch(client: Component, connections: Setting) -> Setting:
    """The requests that the engine behind a client works on at once."""
    found = [engine['max_num_seqs'] for engine in client.peers('engine') if 'max_num_seqs' in engine.kind.settings]
    if not found and connections.is_set:
        raise Unknown('the load is not known: declare service.target_rps and service.longest_generation_s')
    if not found:
        raise NotApplicable('no engine is seen behind it, and no load is declared')
    return min(found, key=lambda setting: float(setting.value))
