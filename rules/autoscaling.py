"""Rules for autoscalers of inference services: what they look at, and how fast they take replicas away."""

import re
from collections.abc import Iterator
from typing import Any

from configaudit import units
from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Slot, Unknown, rule
from configaudit.patterns import regex

from .serving import needs_gpu

_HPA = 'Kubernetes documentation, tasks/run-application/horizontal-pod-autoscale'
_KEDA = 'KEDA documentation, concepts/scaling-deployments'
_RESOURCES = ('resource', 'containerresource', 'cpu', 'memory')
_ENGINE_METRIC = regex(r'\b(?:vllm|sglang)[:_][a-z]|\btgi_[a-z]|\bnv_(?:inference|gpu)_|\bDCGM_FI_')
"""Metrics that every pod (or GPU) exports for itself."""
_AGGREGATES = regex(
    r'\b(?:sum|min|max|avg|group|stddev|stdvar|count|count_values|bottomk|topk|quantile|scalar|vector|absent|histogram_quantile)\s*(?:\(|by\b|without\b)',
    re.IGNORECASE,
)
"""PromQL operators and functions after which the number of series is no longer one for each pod."""
_ONE_POD = regex(r'[{,]\s*(?:pod|pod_name|instance|gpu|UUID)\s*=\s*"')
_TEXTS = regex(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')


def target_of(scaler: Component) -> Component:
    """The workload that is scaled, when it runs an inference engine or holds GPUs; NotApplicable for others."""
    workloads = scaler.peers('workload').some()
    held = [workload for workload in workloads if any(map(needs_gpu, workload.peers('engine'))) or any(pod['gpus'].is_set for pod in workload.peers('pod'))]
    if len(held) < len(workloads):
        raise NotApplicable('its target holds no GPU')
    return held[0]


def serves_inference(scaler: Component) -> bool:
    """Whether the target runs an engine, or the metrics are an engine's own."""
    named = any(_ENGINE_METRIC.search(_text(metric)) for metric in scaler['metrics'].value)
    return named or bool(target_of(scaler))


def _text(metric: dict[str, Any]) -> str:
    query = metric.get('query')
    return f'{metric["name"] or ""} {query.value if query is not None else ""}'


@rule(
    'hpa-on-cpu-for-gpu', on='autoscaler', severity='warning', source=f'{_HPA}; vLLM metrics num_requests_waiting, kv_cache_usage_perc',
    effect='replicas follow the queue', side_effect='the metric has to reach the autoscaler (Prometheus adapter, KEDA)',
)  # fmt: skip
def hpa_on_cpu_for_gpu(scaler: Component) -> Iterator[Problem]:
    """CPU and memory do not follow the load of a GPU server: it is full of waiting requests at a few percent of CPU.

    Scale on the queue (`vllm:num_requests_waiting`, `sglang:num_queue_reqs`) or on the KV cache.
    """
    metrics = scaler['metrics'].value
    if scaler.partial or any(metric['type'] not in _RESOURCES for metric in metrics):
        return
    workload = target_of(scaler)
    named = ' and '.join(dict.fromkeys(metric['name'] or metric['type'] for metric in metrics)) or 'the default, 80 % of CPU'
    message = 'it scales {target} on {metrics}, and the load of a GPU server does not show there'
    place = metrics[0]['place'] if metrics else scaler.place
    yield Problem(place, message, target=workload.identity, metrics=named, see=[('its target', workload.place)])


@rule(
    'hpa-scale-down-fast', on='autoscaler', severity='warning', source=_HPA,
    effect='a replica that took minutes to load survives a pause', side_effect='idle GPUs are kept a few minutes longer',
)  # fmt: skip
def hpa_scale_down_fast(scaler: Component, *, least_s: float = 120, advised_s: int = 300) -> Iterator[Problem]:
    """Replicas go after a short dip in load although a new one needs minutes to load its model.

    The default window of 300 s fits slow starts.
    """
    window = scaler['scale_down_window_s']
    if not window.is_set or window.value >= least_s or not serves_inference(scaler):
        return
    message = 'replicas are taken away after {value} s of less load, and a new one needs minutes to load: keep at least {least} s'
    yield Problem(window, message, least=least_s, fix=window.set(advised_s))


@rule('hpa-target-low', on='autoscaler', severity='advice', source='vLLM scheduler: max_num_seqs requests run at once')
def hpa_target_low(scaler: Component, *, share: float = 0.25) -> Iterator[Problem]:
    """The target of running requests is a small part of what one replica runs at once: most of every GPU stays idle."""
    running = [metric for metric in scaler['metrics'].value if 'num_requests_running' in _text(metric)]
    for metric in running:
        workload, target = target_of(scaler), _average(metric)
        if target is None:
            continue
        seqs = workload.peer('engine')['max_num_seqs'] if workload.peer('engine').kind.name == 'vllm' else None
        if seqs is not None and target < share * seqs.value:
            message = '{target} running requests per replica of at most {seqs}: it scales out at {percent} % of the batch'
            percent = round(100 * target / seqs.value)
            yield Problem(metric['target_place'], message, target=target, seqs=seqs.value, percent=percent, see=[('the batch', seqs)])


def _average(metric: dict[str, Any]) -> float | None:
    target = metric['target']
    return units.quantity(str(target.get('averageValue') or target.get('threshold') or ''))


@rule(
    'keda-query-multi-series', on='autoscaler', severity='error', source='kedacore/keda pkg/scalers/prometheus_scaler.go; keda#5665, keda#252',
    effect='scaling goes on with more than one pod', side_effect='none',
)  # fmt: skip
def keda_query_multi_series(scaler: Component) -> Iterator[Problem]:
    """The query gives one series for each pod: from the second pod on the scaler fails and scaling stops, just under load."""
    if not any('query' in metric for metric in scaler['metrics'].value) or scaler['max_replicas'].value <= 1:
        raise NotApplicable('it asks no query, or there is never more than one replica')
    for metric in scaler['metrics'].value:
        query = metric.get('query')
        if metric['type'] != 'prometheus' or query is None:
            continue
        if not query.known:
            raise Unknown(f'its query: {query.reason}')
        if returns_a_series_each(query.value):
            text = query.value.strip()
            fix = Fix((Change(Slot('yaml_edit', query.place) if query.pure else None, f'sum({text})', 'query', query.locked),), (), True)
            message = 'the query gives one series per pod, and the scaler accepts one in all: with up to {maximum} replicas it fails from the second on; use sum(...)'
            yield Problem(query.place, message, maximum=scaler['max_replicas'].value, fix=fix, detail=text)


def returns_a_series_each(query: str) -> bool:
    """Whether a PromQL expression certainly has a result for every pod: an engine's metric that nothing aggregates."""
    bare = _TEXTS.sub('""', query)
    return bool(_ENGINE_METRIC.search(bare)) and not _AGGREGATES.search(bare) and not _ONE_POD.search(query)


@rule('keda-cooldown-without-zero', on='autoscaler', severity='advice', source=f'{_KEDA}: cooldownPeriod')
def keda_cooldown_without_zero(scaler: Component) -> Iterator[Problem]:
    """The cooldown period only counts on the way to zero replicas, and this scaler never goes there.

    How fast it scales in is decided by `advanced.horizontalPodAutoscalerConfig.behavior`.
    """
    cooldown, least = scaler['cooldown_s'], scaler['min_replicas']
    if not cooldown.is_set or scaler['idle_replicas'].is_set:
        return
    if least.value is not None and least.value >= 1:
        message = 'cooldownPeriod {value} s has no effect: minReplicaCount is {least}, and it only counts on the way to 0'
        yield Problem(cooldown, message, least=least.value, see=[('never 0', least)], fix=cooldown.remove(safe=True))


@rule('keda-fallback-missing', on='autoscaler', severity='advice', source=f'{_KEDA}: fallback')
def keda_fallback_missing(scaler: Component) -> Iterator[Problem]:
    """When the metric's source fails, the number of replicas stays where it happens to be; a fallback says how many there should be."""
    outside = [metric for metric in scaler['metrics'].value if 'query' in metric and metric['type'] == 'prometheus']
    if outside and scaler['fallback'].value is None and serves_inference(scaler):
        yield Problem(outside[0]['place'], 'no fallback: while Prometheus does not answer, the number of replicas stays where it is', detail='fallback')


@rule('scaler-target-shared', on='workload', severity='error', source=f'{_HPA}: AmbiguousSelector')
def scaler_target_shared(workload: Component) -> Iterator[Problem]:
    """Two autoscalers change the replicas of one workload: each undoes what the other did, or both stop."""
    scalers = workload.peers('autoscaler')
    for scaler in scalers[1:]:
        first = scalers[0]
        if scaler.name != first.name and scaler.place.document.path == first.place.document.path and not scaler.partial:
            message = '{name} and {other} both scale {target}'
            yield Problem(scaler.place, message, name=scaler.name, other=first.name, target=workload.identity, see=[('the other', first.place)], detail=scaler.name)
