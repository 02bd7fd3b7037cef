"""Rules for how an SGLang engine starts and serves: parallel sizes, its watchdog, its queue, prefill and prefix cache."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .releases import is_among, release

ARGS = 'sglang/srt/server_args.py'


def _disaggregated(engine: Component, role: str) -> bool:
    """Whether it is that half ('prefill', 'decode') of a pair that shares the work."""
    mode = engine['disaggregation_mode']
    return mode.is_set and (not mode.is_known or mode.value == role)


@rule('sglang-parallel-sizes-contradict', on='sglang', severity='error', source=f'{ARGS} check_server_args 0.4.3, 0.4.6.post5, 0.5.9, 0.5.14; arg_groups/validation_hook.py 0.5.23')
def parallel_sizes_contradict(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: its nodes do not divide tensor x pipeline parallel size, or its ranks do not divide its tensors.

    Data parallel ranks over several nodes need --enable-dp-attention, and with it they must divide the tensor parallel size.
    """
    nodes, ranks, world = engine['nnodes'], engine['dp_size'], engine['world_size']
    attention = engine['enable_dp_attention']
    if nodes.is_set and nodes.value > 1 and world.value % nodes.value:
        message = 'tensor x pipeline parallel size is {size}, which {value} nodes do not divide: {engine} stops at start'
        yield Problem(nodes, message, size=world.value, engine=release(engine), see=[('the parallel size', world)], detail='nodes')
    if not ranks.is_set or ranks.value <= 1:
        return
    if attention.is_set and attention.value and engine['tp_size'].value % ranks.value:
        message = '{value} data parallel ranks do not divide a tensor parallel size of {size}, as --enable-dp-attention needs: {engine} stops at start'
        yield Problem(ranks, message, size=engine['tp_size'].value, engine=release(engine), see=[('the tensor parallel size', engine['tp_size'])], detail='ranks')
    elif nodes.is_set and nodes.value > 1 and not attention.value:
        message = '{value} data parallel ranks over {nodes} nodes need --enable-dp-attention: {engine} stops at start'
        yield Problem(ranks, message, nodes=nodes.value, engine=release(engine), see=[('the nodes', nodes)], detail='attention')


@rule('sglang-service-link-clash', on='sglang', severity='error', side_effect='the variables of Services are gone: programs have to use DNS names', source='sglang/srt/utils.py get_open_port, distributed/parallel_state.py 0.4.3, 0.4.6.post5, 0.5.2, 0.5.9, 0.5.14')
def service_link_clash(engine: Component) -> Iterator[Problem]:
    """A Service named sglang makes Kubernetes set SGLANG_PORT=tcp://..., which an engine on several GPUs reads as a number and stops.

    Kubernetes adds variables named after every Service of the namespace to each pod unless enableServiceLinks is false. Later releases
    (0.5.23) warn and go on.
    """
    if engine['tp_size'].value <= 1 or 'SGLANG_PORT' in engine['environment'].value:
        return
    for pod in engine.peers('pod'):
        links = pod['service_links']
        for service in pod.peers('scope-service'):
            headless = service['cluster_ip'].known_value == 'None' or service['type'].known_value == 'ExternalName'
            if service.name == 'sglang' and not headless and links.value and is_among(engine, '0.4.3', '0.5.15'):
                message = 'Service {service} makes Kubernetes set SGLANG_PORT=tcp://..., which {engine} reads as a port number and stops; set enableServiceLinks: false'
                yield Problem(links, message, service=service.name, engine=release(engine), see=[('the Service', service.place)], fix=links.set(False))


@rule('sglang-watchdog-short', on='sglang', severity='warning', source=f'{ARGS}: watchdog_timeout 300, "if a forward batch takes longer than this, the server will crash"', side_effect='a server that really hangs is restarted later')
def watchdog_short(engine: Component, *, least: float = 60) -> Iterator[Problem]:
    """A step that takes longer than the watchdog's time ends the server: a long prefill or the first compilation of a kernel is enough."""
    timeout = engine['watchdog_timeout']
    if timeout.is_set and 0 < timeout.value < least:
        yield Problem(timeout, 'the watchdog ends the server after a step of {value} s, under {least} s: the default is 300 s', least=least, fix=timeout.set(300))


@rule('sglang-queue-unbounded', on='sglang', severity='advice', source=f'{ARGS} 0.4.10: max_queued_requests')
def queue_unbounded(engine: Component) -> Iterator[Problem]:
    """Nothing limits the queue: under overload every request waits longer than its client does, and none is refused in time.

    When it is wrong: a gateway in front limits concurrency.
    """
    queue, running = engine['max_queued_requests'], engine['max_running_requests']
    if queue.is_set or _disaggregated(engine, 'prefill') or _disaggregated(engine, 'decode'):
        raise NotApplicable('its queue has a limit, or the release knows none')
    rank = engine['node_rank']
    if engine['command'].known_value == 'library' or (rank.is_set and (not rank.is_known or rank.value != 0)):
        raise NotApplicable('it is a worker, or part of a program, that answers nobody')
    if is_among(engine, '0.4.10') and queue.value is None:
        times = int(running.value) * 4 if running.is_set and running.is_known else 256
        yield Problem(queue, '--max-queued-requests is not set: {engine} queues without limit', engine=release(engine), fix=queue.set(times))


@rule('sglang-chunked-prefill-off', on='sglang', severity='warning', source=f'{ARGS}: chunked_prefill_size, -1 disables', effect='no stalls of running streams behind a long prompt', side_effect='the first token of a long prompt comes a little later')
def chunked_prefill_off(engine: Component) -> Iterator[Problem]:
    """Without chunked prefill a long prompt stalls every running stream for one whole prefill, and takes the memory of one."""
    size = engine['chunked_prefill_size']
    if size.is_set and size.value <= 0 and not _disaggregated(engine, 'prefill') and not _disaggregated(engine, 'decode') and not _required(engine):
        yield Problem(size, 'chunked prefill is switched off ({value}): a long prompt stalls all running streams', fix=size.remove())


def _required(engine: Component) -> bool:
    """Whether a feature demands that chunked prefill is off."""
    names = ('--enable-pdmux', '--multi-item-scoring-delimiter', '--is-embedding', '--enable-hierarchical-cache')
    return any(option.name in names for option in engine['options'].value)


@rule('sglang-prefix-cache-off', on='sglang', severity='advice', source='sglang docs, advanced_features/server_arguments: disable_radix_cache', side_effect='latency tells whether a prefix was asked before')
def prefix_cache_off(engine: Component) -> Iterator[Problem]:
    """Shared prompt beginnings (system prompts, chat history) are computed again for every request.

    When it is wrong: a benchmark, or prompts that share nothing.
    """
    if engine['command'].known_value == 'library':
        raise NotApplicable('a program makes the engine and knows whether its prompts share anything')
    off = engine['disable_radix_cache']
    if off.is_set and off.value and not _disaggregated(engine, 'decode') and not _required(engine):
        yield Problem(off, 'the prefix cache is switched off: every shared beginning of a prompt is computed again', fix=off.remove())
