"""Rules for engines that span several nodes: how their processes find one another."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Unknown, rule

from .engines import container_of


def _nodes(engine: Component) -> int:
    """Over how many pods the engine is spread."""
    nodes = engine['nodes']
    if nodes.is_set:
        return int(nodes.value or 1)
    return max((int(workload['group_size'].value or 1) for workload in engine.peers('workload') if workload['group_size'].is_set), default=1)


@rule('engine-network-interface-unset', on=('vllm', 'sglang'), severity='warning', source='PyTorch docs, distributed: GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME; vllm#7074, vllm#8447, aws-do-eks#50', side_effect='the name differs between kinds of nodes')
def network_interface_unset(engine: Component) -> Iterator[Problem]:
    """With hostNetwork a node has several interfaces: Gloo and NCCL may choose loopback or a bridge, and the engine hangs at start.

    Set GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME to the interface that the nodes share.
    """
    container = container_of(engine)
    if _nodes(engine) <= 1:
        raise NotApplicable('it runs on one node')
    network = container.peer('pod')['host_network']
    if not network.value:
        raise NotApplicable('a pod network has one interface')
    named = any('SOCKET_IFNAME' in name for name in engine['environment'].value)
    if named or any('SOCKET_IFNAME' in word.value for word in container['words'].value):
        return
    if container['imported'].value:
        raise Unknown('variables come from a ConfigMap or Secret')
    message = 'the engine spans {nodes} nodes with hostNetwork, and neither GLOO_SOCKET_IFNAME nor NCCL_SOCKET_IFNAME says which interface they share'
    yield Problem(network, message, nodes=_nodes(engine), see=[('the engine', engine.place)])
