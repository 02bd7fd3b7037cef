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


_NCCL = 'NCCL documentation, environment variables'


@rule('nccl-peer-to-peer-off', on=('vllm', 'sglang'), severity='advice', source=f'{_NCCL}, NCCL_P2P_DISABLE', side_effect='GPUs whose driver or PCI switches do not do it hang at start')
def peer_to_peer_off(engine: Component) -> Iterator[Problem]:
    """With NCCL_P2P_DISABLE=1 GPUs exchange data through host memory, NVLink unused: tensor parallelism gets several times slower.

    It is a workaround of hosts with PCI access control (ACS) or consumer GPUs; on others take it out.

    When it is wrong: GPUs without peer-to-peer, such as GeForce, or a virtual machine that cannot switch ACS off.
    """
    word = engine['environment'].value.get('NCCL_P2P_DISABLE')
    if word is None:
        raise NotApplicable('NCCL chooses')
    if engine['world_size'].value < 2:
        raise NotApplicable('one GPU')
    if word.value == '1':
        yield Problem(word.use or word.place, 'NCCL_P2P_DISABLE={value}: the GPUs of the engine exchange data through host memory', value=word.value)


@rule('nccl-gid-index-fixed', on=('vllm', 'sglang'), severity='advice', source=f'{_NCCL}, NCCL_IB_GID_INDEX: chosen by NCCL itself since 2.21', side_effect='an older NCCL takes index 0')
def gid_index_fixed(engine: Component) -> Iterator[Problem]:
    """A fixed GID index is right for one kind of node: where the order of addresses differs, RoCE connections time out.

    NCCL since 2.21 (PyTorch since 2.5) chooses the index by address family and RoCE version.
    """
    word = engine['environment'].value.get('NCCL_IB_GID_INDEX')
    if word is None:
        raise NotApplicable('NCCL chooses')
    if word.value.isdigit():
        yield Problem(word.use or word.place, 'NCCL_IB_GID_INDEX={value} holds for nodes with that order of addresses only', value=word.value)
