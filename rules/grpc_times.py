"""Rules for the numbers of gRPC keepalive that one end alone shows to be wrong."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

_FLOOR = 'grpc-go dialoptions.go and grpc-java KeepAliveManager: a keepalive time under 10 s is raised to 10 s'


@rule('grpc-keepalive-too-fast', on='grpc-client', severity='advice', checklist='july-6', source=_FLOOR, effect='the time that stands there is the one in force', side_effect='a dead connection is noticed some seconds later')
def keepalive_too_fast(client: Component, *, floor_s: float = 10, advised_s: float = 30) -> Iterator[Problem]:
    """Pings more often than every 10 s: Go and Java raise the time to 10 s, other libraries send them, and every server at its defaults punishes them.

    In Go, keepalive parameters without a Time mean 10 s as well, not the default of none.
    """
    asked = client['time_asked_s']
    time = asked if asked.is_set else client['time_s']
    if not time.is_set or time.value >= floor_s:
        raise NotApplicable('no pings, or not that many')
    fix = client['time_s'].set(int(advised_s)) if client['time_s'].slot is not None else None
    if asked.is_set and not time.value:
        yield Problem(time, 'keepalive parameters without a Time: the client pings every {floor} s, not never', floor=floor_s, severity='advice')
        return
    words = f', which the library raises to {floor_s:g} s' if asked.is_set else f': no server allows more than one in {floor_s:g} s without being told'
    yield Problem(time, 'a keepalive time of {value} s{words}', words=words, fix=fix)


@rule(
    'grpc-keepalive-timeout-short', on='grpc-end', severity='advice', checklist='july-6', source='gRPC proposal A8: the timeout is 20 s by default; TCP needs a second and more to send a lost packet again',
    effect='a pause of the other end (garbage collection, a lost packet) does not cut its calls', side_effect='a dead connection is noticed some seconds later',
)  # fmt: skip
def keepalive_timeout_short(end: Component, *, least_s: float = 5, advised_s: float = 20) -> Iterator[Problem]:
    """The other end must answer a ping within this time, or the connection is closed with every call on it: a collection pause or two lost packets are enough."""
    time, timeout = end['time_s'], end['timeout_s']
    if not timeout.is_set or time.value == math.inf:
        raise NotApplicable('the timeout is the default, or no pings are sent')
    if 0 < timeout.value < least_s:
        yield Problem(
            timeout, 'a ping that is not answered within {value} s closes the connection with all calls on it: {advised} s outlasts a pause', advised=advised_s,
            fix=timeout.set(int(advised_s)) if timeout.slot is not None else None,
        )  # fmt: skip
