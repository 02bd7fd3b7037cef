"""Rules for the channel arguments of gRPC's C core, which ignores every name that it does not know."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

MEANT = {
    'grpc.http2.min_recv_ping_interval_without_data_ms': 'grpc.http2.min_ping_interval_without_data_ms',
    'grpc.http2.keepalive_time_ms': 'grpc.keepalive_time_ms', 'grpc.http2.keepalive_timeout_ms': 'grpc.keepalive_timeout_ms',
    'grpc.http2.keepalive_permit_without_calls': 'grpc.keepalive_permit_without_calls', 'grpc.max_pings_without_data': 'grpc.http2.max_pings_without_data',
    'grpc.keepalive_permit_without_stream': 'grpc.keepalive_permit_without_calls', 'grpc.keepalive_time': 'grpc.keepalive_time_ms',
    'grpc.keepalive_timeout': 'grpc.keepalive_timeout_ms', 'grpc.http2.max_ping_strike': 'grpc.http2.max_ping_strikes',
}  # fmt: skip


@rule(
    'grpc-argument-unread', on='grpc-end', severity='warning', checklist='july-6',
    source='gRPC core, include/grpc/impl/channel_arg_names.h; measured with grpcio 1.85.3: a misspelt minimum changes nothing, the call dies after 120 s',
    effect='the keepalive policy that was meant is in force',
)  # fmt: skip
def argument_unread(end: Component) -> Iterator[Problem]:
    """A channel argument of this name does not exist: gRPC ignores it without a word, and the default stays."""
    names = end['unread'].value
    if not names:
        raise NotApplicable('no keepalive argument with an unknown name')
    for name, place in names:
        meant = MEANT.get(name, '')
        yield Problem(place, '{name}: gRPC knows no such channel argument{meant}', name=name, meant=f', it is called {meant}' if meant else '', detail=name)
