"""Rules for the channel arguments of gRPC's C core, which ignores every name that it does not know."""

from collections.abc import Iterable, Iterator

from configaudit.model import Component, NotApplicable, Problem, rule
from configaudit.places import Place

MEANT = {
    'grpc.http2.min_recv_ping_interval_without_data_ms': 'grpc.http2.min_ping_interval_without_data_ms',
    'grpc.http2.keepalive_time_ms': 'grpc.keepalive_time_ms', 'grpc.http2.keepalive_timeout_ms': 'grpc.keepalive_timeout_ms',
    'grpc.http2.keepalive_permit_without_calls': 'grpc.keepalive_permit_without_calls', 'grpc.max_pings_without_data': 'grpc.http2.max_pings_without_data',
    'grpc.keepalive_permit_without_stream': 'grpc.keepalive_permit_without_calls', 'grpc.keepalive_time': 'grpc.keepalive_time_ms',
    'grpc.keepalive_timeout': 'grpc.keepalive_timeout_ms', 'grpc.http2.max_ping_strike': 'grpc.http2.max_ping_strikes',
}  # fmt: skip


KNOWN_TO_NODE = frozenset(('grpc.keepalive_time_ms', 'grpc.keepalive_timeout_ms', 'grpc.keepalive_permit_without_calls'))
_WITHOUT_LOSS = 'grpc.http2.'


@rule(
    'grpc-argument-unread', on='grpc-end', severity='warning', checklist='july-6',
    source='gRPC core, include/grpc/impl/channel_arg_names.h; grpc-js README, Supported Channel Options; measured with grpcio 1.85.3: a misspelt minimum changes nothing, the call dies after 120 s',
    effect='the keepalive policy that was meant is in force',
)  # fmt: skip
def argument_unread(end: Component) -> Iterator[Problem]:
    """A channel argument of this name does not exist: gRPC ignores it without a word, and the default stays."""
    names = end['unread'].value
    if not names:
        raise NotApplicable('no keepalive argument with an unknown name')
    if end['written_in'].known_value == 'Node.js':
        yield from _unread_by_node(names)
        return
    for name, place in names:
        meant = MEANT.get(name, '')
        yield Problem(place, '{name}: gRPC knows no such channel argument{meant}', name=name, meant=f', it is called {meant}' if meant else '', detail=name)


def _unread_by_node(names: Iterable[tuple[str, Place]]) -> Iterator[Problem]:
    """Names of the C core in options of grpc-js. Those of HTTP/2 and its pings change nothing there: it limits no pings, and its server polices none."""
    lost = [item for item in names if not item[0].startswith(_WITHOUT_LOSS) or MEANT.get(item[0]) in KNOWN_TO_NODE]
    harmless = [item for item in names if item not in lost]
    for name, place in lost:
        meant = MEANT.get(name, '')
        yield Problem(place, '{name}: grpc-js ignores this option{meant}', name=name, meant=f', it is called {meant}' if meant in KNOWN_TO_NODE else '', detail=name)
    if harmless:
        word = ', '.join(name for name, _ in harmless)
        yield Problem(harmless[0][1], '{name}: grpc-js ignores these options of the C core', name=word, detail='core', severity='advice')
