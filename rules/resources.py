"""Rules for what an inference container asks of its node: CPU, memory, GPUs, and a place for its weights."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .serving import (
    AS_WRITTEN,
    cache_path,
    downloads_at_start,
    hub_model,
    idles,
    is_gateway,
    is_small,
    is_upstream,
    object_kind,
    runs_for_long,
    serving_engine,
    stated_cache_path,
)

_DOC = 'Kubernetes documentation, concepts/configuration/manage-resources-containers'
_GPU_DOC = 'Kubernetes documentation, tasks/manage-gpus/scheduling-gpus'
_DEFAULTED = ('InferenceService', 'ServingRuntime', 'ClusterServingRuntime', 'LLMInferenceService', 'LLMInferenceServiceConfig', 'InferenceGraph')
"""Kinds whose operator fills in CPU and memory."""


@rule(
    'requests-missing', on='container', severity='warning', source=_DOC,
    effect='the scheduler keeps CPU and memory for the server', side_effect='fewer pods fit on a node',
)  # fmt: skip
def requests_missing(container: Component) -> Iterator[Problem]:
    """Without requests the scheduler packs the server onto a full node, where it starves or is the first to be evicted.

    A limit counts as a request.
    """
    runs_for_long(container)
    serves = container.peers('engine') or is_gateway(container)
    if not serves and (not container['gpu_limit'].is_set or object_kind(container) not in AS_WRITTEN or idles(container)):
        raise NotApplicable('no inference server runs in it')
    if object_kind(container) in _DEFAULTED:
        raise NotApplicable('the operator fills requests in')
    missing = [
        what for what in ('cpu', 'memory')
        if container[f'{what}_request'].value is None and container[f'{what}_limit'].value is None
    ]  # fmt: skip
    if missing:
        at = container['resources']
        yield Problem(at, '{name} requests no {what}: a busy node starves it', name=container.name, what=' and no '.join(missing), detail='requests')


@rule('gpu-request-without-limit', on='container', severity='error', source=f'{_GPU_DOC}: limits and requests must be equal', effect='the pod is accepted')
def gpu_request_without_limit(container: Component) -> Iterator[Problem]:
    """GPUs cannot be overcommitted: a request needs an equal limit, or the API server rejects the pod."""
    request, limit = container['gpu_request'], container['gpu_limit']
    if not request.is_set or not request.value:
        raise NotApplicable('it requests no GPU')
    if not limit.is_set:
        if limit.value is not None and not container.partial:
            yield Problem(request, '{value} GPU(s) requested without a limit: the pod is rejected, give limits the same number')
    elif limit.value != request.value:
        yield Problem(request, '{value} GPU(s) requested and a limit of {limit}: the pod is rejected, both must be equal', limit=limit.value, see=[('the limit', limit)], fix=request.set(limit.value))


@rule(
    'cpu-limit-low', on='container', severity='advice', source='vLLM docs, configuration/optimization: CPU resources for GPU deployments',
    effect='the GPU does not wait for the scheduler process', side_effect='fewer pods fit on a node',
)  # fmt: skip
def cpu_limit_low(container: Component) -> Iterator[Problem]:
    """vLLM runs an API process, an engine core and one worker for each GPU; with fewer cores they take turns and the GPU waits."""
    engine, limit = serving_engine(container), container['cpu_limit']
    if engine.kind.name != 'vllm' or not limit.is_set or not container['gpu_limit'].is_set:
        raise NotApplicable('no CPU limit on a vLLM server with GPUs')
    gpus = int(container['gpu_limit'].value)
    if gpus and limit.value < 2 + gpus:
        message = '{value} cores for an API process, an engine core and {gpus} worker(s): at least 2 + {gpus} = {needed}'
        yield Problem(limit, message, gpus=gpus, needed=2 + gpus)


@rule(
    'model-cache-missing', on='container', severity='warning', source='vLLM and Hugging Face hub cache folders; worker-vllm#46, aicr#1116',
    effect='a restart takes the time to load, not to download', side_effect='a volume to pay for and to keep clean',
)  # fmt: skip
def model_cache_missing(container: Component) -> Iterator[Problem]:
    """Every start downloads the whole model again: slow scale-out, rate limits of the hub, and no start while the hub is down.

    Mount a volume where the engine keeps its downloads, or set HF_HOME to one that is mounted.
    """
    engine = serving_engine(container)
    if not downloads_at_start(container, engine):
        return
    severity = 'advice' if is_small(hub_model(engine)) else None
    elsewhere = sorted(path for path, mount in container['mounts'].value.items() if mount['source'] in ('emptyDir', 'persistentVolumeClaim', 'hostPath') and not path.startswith('/dev/'))
    message = 'no volume covers {path}, where {model} is kept: every start downloads it again'
    if elsewhere:
        message = 'no volume covers {path}, where {model} is kept (HF_HOME does not point to {elsewhere}): every start downloads it again'
    at = container['mounts']
    path = stated_cache_path(engine) or (cache_path(engine) if is_upstream(container) else "the image's download folder")
    yield Problem(at, message, path=path, model=hub_model(engine), elsewhere=', '.join(elsewhere), severity=severity, detail='cache')  # type: ignore[arg-type]
