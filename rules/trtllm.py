"""Rules for TensorRT-LLM and LMDeploy: the share of the memory that is left after the weights, and who is paused when it is full."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .serving import scraped

DOCS = 'TensorRT-LLM docs, performance/performance-tuning-guide/useful-runtime-flags'


@rule('trtllm-scheduler-policy-pauses', on=('tensorrt-llm', 'triton-trtllm-model'), severity='advice', source=f'{DOCS}: Capacity Scheduler Policy', side_effect='smaller batches')
def scheduler_policy_pauses(engine: Component) -> Iterator[Problem]:
    """MAX_UTILIZATION starts more requests than the KV cache can finish, and pauses some in the middle of their answer when it is full.

    STATIC_BATCH (V1 in Triton's `gpt_model_type`) waits until a whole batch is done and is not meant for production. The default,
    GUARANTEED_NO_EVICT, finishes what it starts.
    """
    policy = engine['capacity_scheduler_policy']
    in_triton = engine.kind.name == 'triton-trtllm-model'
    safe = 'guaranteed_no_evict' if in_triton else 'GUARANTEED_NO_EVICT'
    if policy.is_set and str(policy.value).upper() == 'STATIC_BATCH':
        yield Problem(policy, '{value} keeps new requests waiting until the whole batch is done', fix=policy.set(safe))
    elif policy.is_set and str(policy.value).upper() == 'MAX_UTILIZATION':
        yield Problem(policy, '{value} pauses answers in the middle when the KV cache is full', fix=policy.set(safe))
    if in_triton and engine['batching_type'].is_set and str(engine['batching_type'].value).upper() == 'V1':
        batching = engine['batching_type']
        yield Problem(batching, 'gpt_model_type {value} is static batching: new requests wait until the whole batch is done', fix=batching.set('inflight_fused_batching'), detail='type')


@rule(
    'kv-share-of-free-memory-high', on=('tensorrt-llm', 'lmdeploy', 'triton-trtllm-model'), severity='advice', source='TensorRT-LLM commands/serve.py; lmdeploy lmdeploy/messages.py',
    side_effect='fewer tokens fit into the KV cache',
)  # fmt: skip
def share_of_free_memory_high(engine: Component, *, limit: float = 0.95) -> Iterator[Problem]:
    """The KV cache takes nearly all memory that the weights leave free: activations of long prompts and other processes find none.

    These engines count a share of what is *free* after loading, not of the whole GPU as vLLM does: two of them on one GPU take what
    the other has left.
    """
    share = engine['cache_max_entry_count' if engine.kind.name == 'lmdeploy' else 'free_gpu_memory_fraction']
    if share.is_set and limit < share.value <= 1:
        yield Problem(share, '{value} of the memory that is free after loading, over {limit}', limit=limit, fix=share.set(0.9))


@rule('trtllm-metrics-not-served', on='tensorrt-llm', severity='warning', source='TensorRT-LLM tensorrt_llm/serve/openai_server.py: register_routes, mount_metrics')
def metrics_not_served(engine: Component) -> Iterator[Problem]:
    """trtllm-serve answers /metrics with JSON that Prometheus cannot read: the target is down, and no alert on it ever fires.

    The metrics for Prometheus are under /prometheus/metrics, and only with `return_perf_metrics: true` in the file of --config.
    """
    scrape = scraped(engine) if engine['command'].value != 'dynamo' else None
    if scrape is None:
        raise NotApplicable('nothing is seen that scrapes it')
    if scrape.path != '/prometheus/metrics':
        yield Problem(scrape.place, 'Prometheus asks {path}, which trtllm-serve answers with JSON or not at all: the path is /prometheus/metrics', path=scrape.path, see=[('the engine', engine.place)])
    elif not engine['return_perf_metrics'].value:
        at = engine['return_perf_metrics']
        yield Problem(at, 'Prometheus scrapes it, and /prometheus/metrics is not there without return_perf_metrics: true', see=[('what scrapes it', scrape.place)], detail='option')
