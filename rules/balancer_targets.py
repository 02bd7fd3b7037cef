"""Rules for a cloud's load balancer and what stands behind it: targets that leave, connections that rest."""

import math
from collections.abc import Iterator

from configaudit.model import Component, Fix, NotApplicable, Problem, Setting, Unknown, rule

from .streaming import carries


@rule(
    'deregistration-shorter-than-generation', on=('proxy-route', 'service', 'load-balancer'), severity='warning', confidence='medium',
    source='AWS, target groups: deregistration delay (300 s unless set), then the balancer closes what still runs; Google Cloud, connection draining timeout',
    effect='no stream is cut when a pod leaves its load balancer', side_effect='a rollout waits longer for old targets',
)  # fmt: skip
def deregistration_shorter(balancer: Component, *, longest_generation_s: float = 0) -> Iterator[Problem]:
    """The load balancer lets requests on a leaving target finish for less time than they take: it closes the connection under a running answer.

    Judged by `service: {longest_generation_s: ...}`, or by the grace period of the pods behind it: who gave them ten minutes to finish wants them to
    have these. Where the targets are nodes a pod that ends leaves no target group: advice.
    """
    delay, pods = balancer['deregistration_delay_s'], _pods(balancer)
    _sends_generations(balancer)
    severity = None if balancer.kind.name != 'load-balancer' and balancer['pods_are_targets'].known_value else 'advice'
    periods = [pod['grace_s'] for pod in pods if pod['grace_s'].is_set and pod['grace_s'].is_known]
    longest = max(periods, key=lambda grace: float(grace.value), default=None)
    unset, need = '' if delay.is_set else ' (the default)', max(longest_generation_s, longest.value if longest is not None else 0)
    fix = delay.set(math.ceil(need)) if delay.slot is not None and need <= _MOST else None
    if longest_generation_s and delay.value < longest_generation_s:
        message = 'a target that leaves may finish requests for {value} s{unset}, the longest answer takes {longest} s: the balancer cuts it'
        yield Problem(delay, message, unset=unset, longest=longest_generation_s, severity=severity, see=_grace(longest), fix=fix)  # type: ignore[arg-type]
    elif not longest_generation_s and longest is not None and delay.value < longest.value:
        message = 'a target that leaves may finish requests for {value} s{unset}, its pod for {grace} s: the balancer cuts what the pod would finish'
        yield Problem(delay, message, unset=unset, grace=longest.value, severity=severity, see=_grace(longest), fix=fix)  # type: ignore[arg-type]
    elif not longest_generation_s and longest is None and delay.is_set:
        raise Unknown('how long the longest answer takes is not said: declare service.longest_generation_s')


def _sends_generations(balancer: Component) -> None:
    """Raise NotApplicable where nothing shows that answers of an inference server pass a balancer with a delay that is known."""
    delay = balancer['deregistration_delay_s']
    if delay.is_known and delay.known_value is None:
        raise NotApplicable('no delay of a load balancer is known')
    if balancer.kind.name == 'proxy-route':
        carries(balancer)
    elif balancer.kind.name == 'service' and not balancer.peers('engine'):
        raise NotApplicable('no inference server behind it is seen')
    elif balancer.kind.name == 'load-balancer' and balancer['protocol'].known_value not in ('HTTP', 'HTTPS'):
        raise NotApplicable('it balances connections, not requests')


_MOST = 3600
"""Seconds that both clouds allow at most."""


def _pods(balancer: Component) -> list[Component]:
    services = [balancer] if balancer.kind.name == 'service' else balancer.peers('service')
    return [pod for service in services for pod in service.peers('pod')]


def _grace(longest: Setting | None) -> list[tuple[str, Setting]]:
    return [('the grace period of its pods', longest)] if longest is not None else []


@rule(
    'grpc-idle-beyond-balancer', on=('service', 'grpc-client'), severity='advice', confidence='medium', checklist='july-6',
    source='AWS, Network Load Balancers: TCP idle timeout 350 s, then RST on the next packet; Triton server, --grpc-keepalive-time 7200000',
    effect='the first call after a pause does not fail', side_effect='a ping on every idle connection',
)  # fmt: skip
def grpc_idle_beyond_balancer(end: Component) -> Iterator[Problem]:
    """The load balancer forgets a connection that rests longer than its idle timeout, and the gRPC server pings it only later: the next call on it fails.

    A keepalive of the server below the balancer's timeout keeps it, whatever its clients do; a client's own helps this client only.
    """
    if end.kind.name == 'grpc-client':
        yield from _client_beyond(end)
        return
    service, idle = end, end['balancer_idle_s']
    if idle.known_value is None and idle.is_known:
        raise NotApplicable('no load balancer whose idle timeout is known')
    for server in service.peers('grpc-server'):
        if server['time_s'].value >= idle.value != math.inf:
            yield _beyond(server, server['time_s'], service, server['time_s'].set(int(idle.value * 6 // 7)) if server['time_s'].slot is not None else None)
    for server in service.peers('engine'):
        if server.kind.name != 'triton' or str(server['grpc_port'].value) not in {str(port['target']) for port in service['ports'].value} | _named(service, server):
            continue
        time = server['grpc_keepalive_time']
        if time.value / 1000 >= idle.value and idle.value != math.inf:
            yield _beyond(server, time, service, time.set(int(idle.value * 1000 * 6 // 7)), time.value / 1000)


def _client_beyond(client: Component) -> Iterator[Problem]:
    time = client['time_s']
    for service in client.peers('balancer'):
        idle = service['balancer_idle_s']
        if time.is_set and idle.known_value is not None and idle.value <= time.value < math.inf:
            yield Problem(
                time, 'the client pings after {value} s, the load balancer of Service {service} drops a connection that rests for {idle} s', service=service.name, idle=idle.value,
                see=[('the load balancer', idle if idle.is_set else service.place)],
            )  # fmt: skip


def _beyond(server: Component, time: Setting, service: Component, fix: Fix | None, seconds: float | None = None) -> Problem:
    idle = service['balancer_idle_s']
    pings = 'never pings its clients' if time.value == math.inf else 'pings its clients after {time} s'
    return Problem(
        time, '{server} ' + pings + ', the load balancer of Service {service} drops a connection that rests for {idle} s',
        server=server.name, time=time.value if seconds is None else seconds, service=service.name, idle=idle.value, see=[('the load balancer', idle)], fix=fix,
    )  # fmt: skip


def _named(service: Component, server: Component) -> set[str]:
    """The numbers of the container's ports that the Service names."""
    wanted = {str(port['target']) for port in service['ports'].value}
    return {str(number) for container in server.peers('container') for name, number in (container['ports'].known_value or {}).items() if name in wanted}  # type: ignore[attr-defined]
