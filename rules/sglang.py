"""Rules for SGLang engines."""

from collections.abc import Iterator

from configaudit.knowledge.models import lookup
from configaudit.model import Component, NotApplicable, Problem, Unknown, rule

from .serving import scraped

LOOPBACK = ('127.0.0.1', 'localhost', '::1')


@rule('sglang-host-loopback', on='sglang', severity='error', side_effect='whoever reaches the network of the container reaches the port', source='sglang/srt/server_args.py: host 127.0.0.1')
def host_loopback(engine: Component) -> Iterator[Problem]:
    """SGLang listens on 127.0.0.1 unless told otherwise: no Service, probe or other container of the network reaches it.

    When it is wrong: a proxy in the same pod is the only client; with a second container in the pod it is a warning.
    """
    host, rank = engine['host'], engine['node_rank']
    pods = engine.peers('pod')
    if not pods or engine['command'].known_value == 'dynamo' or (rank.is_set and rank.is_known and rank.value != 0) or (rank.is_set and not rank.is_known):
        raise NotApplicable('it does not serve a pod network')
    if host.value not in LOOPBACK:
        return
    beside = any(len([c for c in pod.peers('container') if not c['init'].known_value]) > 1 for pod in pods)
    word = 'listens on' if host.is_set else 'is not given --host and listens on'
    yield Problem(host, 'SGLang {word} {value}: nothing outside the container reaches it', word=word, severity='warning' if beside else None, fix=host.set('0.0.0.0'))


@rule('sglang-metrics-off', on='sglang', severity='warning', side_effect='a little work on every request for the counters', source='sglang/srt/server_args.py: enable_metrics False')
def metrics_off(engine: Component) -> Iterator[Problem]:
    """Without --enable-metrics there is no /metrics: nothing to alert on or to scale by.

    It is a warning where a ServiceMonitor, PodMonitor or annotation has Prometheus scrape the engine: the target is down, and alerts
    on its metrics never fire. Elsewhere it is advice.
    """
    metrics, rank = engine['enable_metrics'], engine['node_rank']
    if engine['command'].known_value in ('dynamo', 'library') or (rank.is_set and (not rank.is_known or rank.value != 0)):
        return
    if engine['command'].value == 'serve' and not metrics.is_set and lookup(str(engine['model'].known_value or '')) is None:
        raise Unknown('`sglang serve` also starts the diffusion server, which has no such flag: the model tells which')
    if metrics.value:
        return
    scraper = scraped(engine)
    if scraper is not None:
        message = '--enable-metrics is not given, and Prometheus scrapes the engine: there is no /metrics'
        yield Problem(metrics, message, see=[('what scrapes it', scraper.place)], fix=metrics.set(True))
    else:
        yield Problem(metrics, '--enable-metrics is not given: /metrics has no queue depth or cache usage', severity='advice', fix=metrics.set(True))


@rule('sglang-compile-without-graph', on='sglang', severity='warning', source='sglang/srt/model_executor/cuda_graph_runner.py')
def compile_without_graph(engine: Component) -> Iterator[Problem]:
    """torch.compile is applied while CUDA graphs are captured: with graphs off it does nothing, and decode steps pay every kernel launch."""
    compiled, off = engine['enable_torch_compile'], engine['disable_cuda_graph']
    if compiled.is_set and off.is_set and compiled.value and off.value:
        yield Problem(off, '--disable-cuda-graph makes --enable-torch-compile do nothing', see=[('torch.compile', compiled)], fix=off.remove())


@rule('sglang-memory-share-high', on='sglang', severity='advice', side_effect='fewer tokens fit into the KV cache', source='sglang docs, advanced_features/hyperparameter_tuning; sglang#322')
def memory_share_high(engine: Component, *, limit: float = 0.93) -> Iterator[Problem]:
    """Weights and KV cache take nearly the whole GPU: activations and CUDA graphs run out of memory under load."""
    share = engine['mem_fraction_static']
    if share.is_set and share.value > limit:
        yield Problem(share, '{value} of the GPU for weights and KV cache, over {limit}: lower it when it runs out of memory under load', limit=limit, fix=share.set(0.88))
