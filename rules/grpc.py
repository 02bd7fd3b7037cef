"""Rules for gRPC keepalive on both ends: item 6 of the July checklist."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from configaudit.model import Component, Confidence, NotApplicable, Problem, Setting, Severity, Unknown, rule

_A8 = 'gRPC proposal A8; doc/keepalive.md: a third ping within the server\'s minimum ends in GOAWAY too_many_pings'


def minimum(server: Component) -> tuple[float, Setting]:
    """Seconds between pings that a server allows, and the setting that says so."""
    if server.kind.name == 'triton':
        setting = server['grpc_http2_min_recv_ping_interval_without_data']
        return (300 if not setting.is_set and setting.is_known else setting.value / 1000), setting
    return server['min_time_s'].value, server['min_time_s']


def permits(server: Component) -> tuple[bool, Setting]:
    """Whether a server allows pings on a connection without calls, and the setting that says so."""
    setting = server['grpc_keepalive_permit_without_calls' if server.kind.name == 'triton' else 'permit_without_stream']
    return bool(setting.value), setting


def _strikes(server: Component) -> Setting:
    return server['grpc_http2_max_ping_strikes' if server.kind.name == 'triton' else 'max_ping_strikes']


@rule(
    'grpc-keepalive-punished', on='grpc-client', severity='error', checklist='july-6', source=_A8,
    effect='calls are not cut while the server is silent (prefill, queue)', side_effect='a dead connection is noticed later',
)  # fmt: skip
def keepalive_punished(client: Component) -> Iterator[Problem]:
    """The client pings more often than the server allows, and the server closes the connection with the calls on it.

    Measured: 30 s pings against a default server (one ping in 300 s) cut a silent call after 90 s. Safe is a server
    minimum at or below the client's time and the same permission for idle connections, or a client time of 5 minutes.
    """
    time = client['time_s']
    if time.value == math.inf:
        raise NotApplicable('the client sends no keepalive pings')
    pair = client['server_from'].value
    likely: Severity | None = None if pair in ('name', 'package') else 'warning'
    for server in client.peers('grpc-server').some():
        if _strikes(server).value == 0:
            continue
        allowed, place = minimum(server)
        if time.value < allowed and client['max_pings'].value == 0:
            yield _cut(time, server, allowed, place, likely, None if pair == 'name' else 'medium')
        asked = client['permit_without_stream']
        allows, setting = permits(server)
        if asked.value and not allows and time.value < 7200:
            yield Problem(
                asked, 'the client pings idle connections, the server {server} does not permit that: it closes them after three pings',
                server=server.name, see=[('the server\'s permission', setting if setting.is_set else server.place)], detail='permit',
                severity='warning', fix=asked.set('false'),
            )  # fmt: skip


def _cut(time: Setting, server: Component, allowed: float, minimum: Setting, severity: Severity | None, confidence: Confidence | None) -> Problem:
    """Shown where it is mended: at a server in source code that sets no policy, else at the client."""
    if server.kind.name == 'grpc-server' and server['written_in'].value and not minimum.is_set:
        message = 'without an enforcement policy this server allows one ping in {limit} s, and {client} pings every {time} s: calls are cut by GOAWAY too_many_pings'
        client = time.place.outermost().document.path.rpartition('/')[2]
        return Problem(minimum, message, limit=allowed, client=client, time=time.value, see=[('the client\'s pings', time)], severity=severity, confidence=confidence)
    message = 'the client pings every {value} s, the server {server} allows one in {limit} s: calls are cut by GOAWAY too_many_pings'
    see = [('the server\'s minimum', minimum if minimum.is_set else server.place)]
    return Problem(time, message, server=server.name, limit=allowed, see=see, fix=time.set(int(allowed)), severity=severity, confidence=confidence)


@rule(
    'grpc-keepalive-unmatched', on='grpc-client', severity='warning', confidence='medium', checklist='july-6', source=_A8,
    effect='the pair of client and server settings is known to fit',
)  # fmt: skip
def keepalive_unmatched(client: Component, *, server_default_s: float = 300) -> Iterator[Problem]:
    """A client that pings more often than a default server allows needs a server that was told so; none is seen."""
    time = client['time_s']
    if client.peers('grpc-server') or time.value == math.inf:
        raise NotApplicable('the server is seen, or the client sends no pings')
    if client['max_pings'].value and not client['permit_without_stream'].value:
        raise NotApplicable('the client stops after a few pings without data, too few to be punished')
    if time.value < server_default_s:
        yield Problem(
            time, 'the client pings every {value} s; a server at its defaults allows one in {limit} s, and this server\'s policy is not among the files read: audit them together, or name the server under `links:`',
            limit=server_default_s,
        )  # fmt: skip


@rule(
    'grpc-keepalive-off', on='grpc-client', severity='advice', checklist='july-6',
    source='July tuning checklist, change 6; gRPC proposal A8: load balancers drop idle connections (NLB 350 s, GCP 600 s)',
    effect='a connection that a load balancer dropped is noticed before the next call hangs on it',
    side_effect='the server must permit the pings: set both ends together',
)  # fmt: skip
def keepalive_off(client: Component) -> Iterator[Problem]:
    """Without keepalive a connection that a load balancer or a dead node dropped is found only by a hanging call."""
    time = client['time_s']
    if client['written_in'].known_value and client['target'].known_value is None:
        raise NotApplicable('where the program dials is not in its file: it may be itself')
    if client['without_effect'].known_value or client['timeout_s'].is_set or client['permit_without_stream'].known_value:
        raise NotApplicable('it was meant to be on, which is another finding')
    if time.value == math.inf:
        yield Problem(time, 'gRPC keepalive is off: a dead connection is found only by a call that hangs')


@rule(
    'grpc-proxy-keepalive-punished', on='proxy-upstream', severity='error', checklist='july-6',
    source=_A8 + '; Envoy v3 API, KeepaliveSettings: a PING at every interval, with or without streams',
    effect='streams through the proxy are not cut while the server is silent', side_effect='a dead server is noticed later',
)  # fmt: skip
def proxy_keepalive_punished(upstream: Component) -> Iterator[Problem]:
    """The proxy pings its gRPC server more often than the server allows: the server ends the connection and every stream on it."""
    interval = upstream['ping_interval_s']
    if not interval.is_set:
        raise NotApplicable('the proxy sends no pings')
    for server in upstream.peers('engine'):
        if server.kind.name != 'triton' or _strikes(server).value == 0:
            continue
        allowed, place = minimum(server)
        if interval.value < allowed:
            yield Problem(
                interval, 'the proxy pings every {value} s, the server {server} allows one in {limit} s: streams are cut by GOAWAY too_many_pings',
                server=server.name, limit=allowed, see=[('the server\'s minimum', place if place.is_set else server.place)],
                fix=interval.set(f'{int(allowed)}s'),
            )  # fmt: skip


@rule(
    'triton-keepalive-punishes-clients', on='triton', severity='warning', confidence='medium', checklist='july-6',
    source=_A8 + '; Triton Inference Server, client guide: GRPC KeepAlive', effect='clients with the same keepalive time keep their connections',
)  # fmt: skip
def triton_punishes_clients(server: Component) -> Iterator[Problem]:
    """Triton's keepalive time is shortened, but the minimum it allows its clients is left above that.

    Clients are usually tuned to the same time; with more than two pings inside the minimum Triton ends their connection.
    """
    time, strikes = server['grpc_keepalive_time'], server['grpc_http2_max_ping_strikes']
    if not time.is_set:
        raise NotApplicable('the keepalive time is left at two hours')
    own = time.value / 1000
    if strikes.is_set and strikes.value == 0:
        return
    allowed, setting = minimum(server)
    if own < allowed:
        yield Problem(
            time, 'Triton pings every {own} s but allows its clients one ping in {limit} s: clients tuned alike are cut off',
            own=own, limit=allowed, see=[('the minimum for clients', setting)], fix=setting.set(int(time.value)),
        )  # fmt: skip


@rule(
    'grpc-keepalive-env-unread', on='grpc-environment', severity='warning', confidence='medium', checklist='july-6',
    source='gRPC doc/environment_variables.md and channel_arg_names.h: keepalive is a channel argument, no variable sets it',
    effect='the keepalive that was meant is set where the library reads it',
)  # fmt: skip
def keepalive_env_unread(process: Component) -> Iterator[Problem]:
    """A variable spelt like a gRPC channel argument: no gRPC library reads it, only the program's own code could."""
    names = process['unread'].value
    if not names:
        raise Unknown('no variable is seen')
    for name, place in names:
        yield Problem(place, '{name}: no gRPC library reads this variable; set the channel argument in code', name=name, detail=name)


@rule(
    'grpc-service-pins-connections', on='service', severity='advice', confidence='medium', checklist='july-6',
    source='gRPC proposal A9 and the gRPC blog on Kubernetes: kube-proxy balances connections, a channel is one connection',
    effect='calls spread over all pods, new ones included',
    side_effect='clients need `dns:///` and the round_robin policy; nothing changes behind a mesh or an L7 proxy',
)  # fmt: skip
def service_pins_connections(service: Component) -> Iterator[Problem]:
    """A gRPC channel is one connection, and a ClusterIP sends a connection to one pod: the others stay idle.

    A headless Service with round_robin clients spreads the calls, and so does a mesh or an L7 proxy in front, which
    the files may not show. Servers need a maximum connection age for clients to find new pods.
    """
    port = next((port for port in service['ports'].value if _speaks_grpc(port)), None)
    if port is None or service['type'].value != 'ClusterIP' or service['cluster_ip'].value == 'None':
        raise NotApplicable('no gRPC port behind a cluster address')
    if service.name == 'istiod' or service.name.startswith('istiod-'):
        raise NotApplicable('istiod ends its connections every 30 minutes (keepaliveMaxServerConnectionAge)')
    for workload in dict.fromkeys(workload for pod in service.peers('pod') for workload in pod.peers('workload')):
        scalers = [scaler['max_replicas'] for scaler in workload.peers('autoscaler')]
        replicas = next((setting for setting in (*scalers, workload['replicas']) if setting.is_set), None)
        if replicas is not None and replicas.value > 1:
            yield Problem(
                port['place'], 'gRPC over a ClusterIP: each client stays on one of {replicas} pods', replicas=replicas.value,
                see=[('the pods behind it', replicas)], detail='port',
            )  # fmt: skip
            return


def _speaks_grpc(port: Mapping[str, Any]) -> bool:
    name, protocol = str(port['name'] or ''), str(port['app_protocol'] or '')
    return name == 'grpc' or name.startswith('grpc-') or protocol == 'grpc'
