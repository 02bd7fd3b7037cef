"""Rules for how gRPC clients spread their calls over the pods of a server."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, rule


@rule(
    'grpc-client-pins-one-pod', on='grpc-client', severity='warning', checklist='july-6',
    source='gRPC proposal A9; grpc-go: pick_first is the default policy; kube-proxy balances connections, a channel is one connection',
    effect='calls spread over all pods', side_effect='a headless Service, the target `dns:///`, and a maximum connection age on the server belong together',
)  # fmt: skip
def client_pins_one_pod(client: Component) -> Iterator[Problem]:
    """The channel goes to a Service address with several pods behind it and holds one connection: one pod gets all calls of this client.

    A mesh or an L7 proxy in between balances calls and makes this harmless: suppress it there.
    """
    if client['written_in'].value is None:
        raise NotApplicable('Spring gRPC balances by itself')
    if client['round_robin'].value or client['custom'].value:
        raise NotApplicable('the client balances by itself, or dials in its own way')
    for service in client.peers('service').some():
        if service['type'].value != 'ClusterIP' or service['cluster_ip'].value == 'None':
            raise NotApplicable('not a cluster address')
        replicas = _replicas(service)
        if replicas is not None and replicas.value > 1:
            yield Problem(
                client['target'], 'one connection through the address of Service {service}: all calls of this client go to one of {replicas} pods',
                service=service.name, replicas=replicas.value, see=[('the Service', service.place), ('the pods behind it', replicas)],
            )  # fmt: skip


def _replicas(service: Component) -> Setting | None:
    for workload in dict.fromkeys(workload for pod in service.peers('pod') for workload in pod.peers('workload')):
        scalers = [scaler['max_replicas'] for scaler in workload.peers('autoscaler')]
        found = next((setting for setting in (*scalers, workload['replicas']) if setting.is_set), None)
        if found is not None:
            return found
    return None
