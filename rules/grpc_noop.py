"""Rule for gRPC keepalive options that are set and do nothing."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule


@rule(
    'grpc-keepalive-without-effect', on='grpc-client', severity='warning', checklist='july-6',
    source='grpc-java NettyChannelBuilder, gRPC doc/keepalive.md, tonic Endpoint, grpc-js transport.ts: only the time turns keepalive on',
    effect='the keepalive that was meant is in force, or nobody relies on it', side_effect='the server must permit the pings: set both ends together',
)  # fmt: skip
def keepalive_without_effect(client: Component) -> Iterator[Problem]:
    """Somebody set a part of the keepalive, but not what turns it on: the client sends no pings, and no library says so.

    A timeout or a permission for idle connections means nothing without a time between pings. The starters for Spring
    also want `enable-keep-alive: true`, and gRPC for Node.js takes 1, not `true`.
    """
    ignored = client['without_effect'].value
    for name, place, why in ignored:
        yield Problem(place, '{name} does nothing: {why}', name=name, why=why, detail=name)
    time = client['time_s']
    if ignored or time.is_set or time.value != math.inf:
        raise NotApplicable('the time between pings is set')
    parts = [(setting, word) for setting, word in ((client['timeout_s'], 'a timeout'), (client['permit_without_stream'], 'pings without calls')) if setting.is_set and setting.known_value is not False]
    if parts:
        words = ' and '.join(word for _, word in parts)
        yield Problem(parts[0][0], '{words} for keepalive, but no time between pings: the client sends none', words=words, see=[(word, setting) for setting, word in parts[1:]])
