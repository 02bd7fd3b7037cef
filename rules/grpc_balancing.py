"""Rules for how gRPC clients spread their calls over the pods of a server, and how servers let them."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, rule

_A9 = 'gRPC proposal A9: a maximum connection age lets load balancing behind an L4 balancer recover; default: infinite'


@rule(
    'grpc-client-pins-one-pod', on='grpc-client', severity='warning', checklist='july-6',
    source='gRPC proposal A9; grpc-go: pick_first is the default policy; kube-proxy balances connections, a channel is one connection',
    effect='calls spread over all pods', side_effect='a headless Service, the target `dns:///`, and a maximum connection age on the server belong together',
)  # fmt: skip
def client_pins_one_pod(client: Component) -> Iterator[Problem]:
    """The channel goes to a Service with several pods behind it and holds one connection: one pod gets all calls of this client.

    round_robin helps when the name resolves to every pod: a headless Service, and a resolver that asks DNS (grpc.Dial of Go
    does not without `dns:///`). A mesh or an L7 proxy in between balances calls and makes this harmless: suppress it there.
    """
    if client['written_in'].value is None:
        raise NotApplicable('Spring gRPC balances by itself')
    if client['custom'].value:
        raise NotApplicable('the client dials in its own way')
    for service in client.peers('service').some():
        why = _pins(client, service)
        replicas = _replicas(service)
        if why and replicas is not None and replicas.value > 1:
            yield Problem(
                client['target'], f'{why}: all calls of this client go to one of {{replicas}} pods',
                service=service.name, replicas=replicas.value, see=[('the Service', service.place), ('the pods behind it', replicas)],
            )  # fmt: skip


def _pins(client: Component, service: Component) -> str:
    """Why a channel to a Service has one connection; '' when it has one for every pod."""
    scheme, _, rest = str(client['target'].value).partition(':')
    scheme = scheme if rest.startswith('/') else str(client['resolver'].value)
    if service['type'].value != 'ClusterIP' or scheme not in ('dns', 'passthrough'):
        raise NotApplicable('no cluster address, or a resolver of its own')
    balances = client['round_robin'].value
    if service['cluster_ip'].value != 'None':
        return 'round_robin has one address to choose from, that of Service {service}' if balances else 'one connection through the address of Service {service}'
    if scheme == 'passthrough':
        return 'the name of the headless Service {service} is not resolved to its pods (no dns:///)'
    return '' if balances else 'of the pods of the headless Service {service} the channel takes the first (pick_first)'


@rule('grpc-connection-age-unbounded', on='grpc-server', severity='advice', checklist='july-6', source=_A9, effect='clients find new pods after a scale-out', side_effect='clients reconnect now and then: set the grace above the longest call')
def connection_age_unbounded(server: Component, *, advised_s: float = 600) -> Iterator[Problem]:
    """Connections to this server never end by themselves: after a rollout or a scale-out clients stay on the pods they have, and new pods stay idle.

    A maximum age of 5 to 30 minutes with a grace period makes clients look the addresses up again.
    """
    _has_options(server)
    age = server['max_connection_age_s']
    if age.value != math.inf:
        raise NotApplicable('connections have a maximum age')
    for service in server.peers('service').some():
        replicas = _replicas(service)
        if replicas is not None and replicas.value > 1:
            yield Problem(
                age, 'connections have no maximum age: clients of Service {service} stay on the pods they have, of {replicas}', service=service.name, replicas=replicas.value,
                see=[('the Service', service.place), ('the pods behind it', replicas)], fix=age.set(int(advised_s)) if age.slot is not None else None,
            )  # fmt: skip


@rule('grpc-connection-age-cuts-calls', on='grpc-server', severity='warning', checklist='july-6', source='gRPC proposal A9: after the grace period the connection is closed with the calls on it', effect='long calls end when they are complete', side_effect='a connection lives longer past its age')
def connection_age_cuts_calls(server: Component, *, longest_generation_s: float = 0, roomy_s: float = 60) -> Iterator[Problem]:
    """A connection that reached its maximum age is closed when the grace period is over, with every call that still runs on it.

    Declare `service: {longest_generation_s: ...}` to have the grace judged by it; without it a grace under `roomy_s` is shown for review.
    """
    _has_options(server)
    age, grace = server['max_connection_age_s'], server['max_connection_age_grace_s']
    if age.value == math.inf or grace.value == math.inf:
        raise NotApplicable('connections have no maximum age, or an unlimited grace')
    if grace.value < (longest_generation_s or roomy_s):
        longest = f'the longest call takes {longest_generation_s:g} s' if longest_generation_s else 'declare service.longest_generation_s to have it judged'
        yield Problem(
            grace, 'calls that still run {value} s after the connection reached its age of {age} s are cut: {longest}', age=age.value, longest=longest, see=[('the age', age)],
            severity=None if longest_generation_s else 'advice',
        )  # fmt: skip


@rule('grpc-streams-few', on='grpc-server', severity='advice', checklist='july-6', source='RFC 9113, SETTINGS_MAX_CONCURRENT_STREAMS; gRPC performance guide: calls over the limit wait in the client', effect='calls are sent when they are made')
def streams_few(server: Component, *, enough: int = 100) -> Iterator[Problem]:
    """A client has one connection, and calls beyond its streams wait inside the client without an error or a metric of the server.

    RFC 9113 advises 100 at least; a gateway with more requests at once needs as many, or several channels.
    """
    _has_options(server)
    streams = server['max_concurrent_streams']
    if not streams.is_set:
        raise NotApplicable('the number of streams is not limited here')
    if 0 < streams.value < enough:
        yield Problem(streams, 'a client has at most {value} calls at once on its connection: others wait inside it', fix=streams.set(enough) if streams.slot is not None else None)


def _has_options(server: Component) -> None:
    if server.kind.name != 'grpc-server':
        raise NotApplicable('these options are not read of it')


def _replicas(service: Component) -> Setting | None:
    for workload in dict.fromkeys(workload for pod in service.peers('pod') for workload in pod.peers('workload')):
        scalers = [scaler['max_replicas'] for scaler in workload.peers('autoscaler')]
        found = next((setting for setting in (*scalers, workload['replicas']) if setting.is_set), None)
        if found is not None:
            return found
    return None
