"""vLLM's batch limits when they are not set: they depend on the release, the GPU, the usage and the engine that runs.

Source: vllm/engine/arg_utils.py of the release: __post_init__ and _override_v1_engine_args (0.6.5 to 0.7.3),
_set_default_args_v1 (0.8.0 to 0.11.0), get_batch_defaults (from 0.11.1); vllm/config.py SchedulerConfig for V0.
"""

from collections.abc import Mapping
from typing import NamedTuple

from configaudit.knowledge.defaults import Default, derived, one_of
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, release
from configaudit.knowledge.vllm_generation import ARGS, V0_GONE, engine_generation

# First releases of each way to choose the batch limits.
ERAS = tuple(map(release, ('0.2.7', '0.6.5', '0.7.0', '0.8.0', '0.8.4', '0.8.5', '0.9.0', '0.28.0', '0.33.0')))
V0_ONLY, OPT_IN, OPT_IN_BY_NAME, ALL_GPUS, BY_NAME, BY_MEMORY, NOT_A100, HUGE, GB10 = range(len(ERAS))
CPU_DEFAULTS = release('0.9.2')  # before, V1 ranks the host's memory like a GPU's
THROUGHPUT_MODE, BATCHED_EXPERTS = release('0.17.0'), release('0.20.0')
CPU_WORLD = release('0.10.0')  # CPU defaults grow with the number of workers
SEQUENCES_BOUND = release('0.11.1')  # tokens are at most sequences times context length
V1_CONFIG_DEFAULTS = release('0.11.1')  # without a usage context: SchedulerConfig.DEFAULT_MAX_NUM_SEQS


class Serving(NamedTuple):
    """What else the batch limits depend on.

    `usage`: server, library (the LLM class) or none; `cpu`: the CPU backend.
    """

    usage: str = 'server'
    v0_forced: bool = False
    use_v1: bool = False  # VLLM_USE_V1=1 is set
    pipeline_parallel: int = 1
    tensor_parallel: int = 1
    ray_executor: bool = False
    kv_cache_dtype: str = 'auto'
    max_model_len: int | None = None
    chunked_prefill: bool | None = None
    cpu: bool = False
    throughput_mode: bool = False  # --performance-mode throughput
    max_num_seqs: int | None = None
    given: Mapping[str, str] = {}  # flag -> its value, '' for a switch: some make V0 run


SERVER = Serving()


def era(version: Version) -> int:
    """Which of the ERAS a release belongs to."""
    return max(sum(version >= first for first in ERAS) - 1, 0)


def _tier(at: int, gpu: Gpu) -> str:
    """small, large or huge: how a release ranks a GPU for its batch defaults."""
    name = gpu.name.lower()
    if at < BY_MEMORY:
        return 'large' if name.startswith(('h100', 'h200')) else 'small'
    if gpu.memory_gib < 70 or (at >= NOT_A100 and 'a100' in name) or (at >= GB10 and gpu.capability == (12, 1)):
        return 'small'
    return 'huge' if at >= HUGE and gpu.memory_gib >= 160 else 'large'


def _tiers(at: int, gpu: Gpu | None) -> set[str]:
    if gpu is not None and gpu.name:
        return {_tier(at, gpu)}
    if gpu is not None and gpu.memory_gib < 70:  # a MIG slice reports its own memory
        return {'small'} if at >= BY_MEMORY else {'small', 'large'}
    return {'small', 'large', 'huge'} if at >= HUGE else {'small', 'large'}


def _generations(at: Version, gpu: Gpu | None, serving: Serving) -> set[object]:
    if serving.v0_forced and at < V0_GONE:
        return {'V0'}
    settings = {
        'VLLM_USE_V1': '1' if serving.use_v1 else '',
        'pipeline_parallel_size': serving.pipeline_parallel,
        'distributed_executor_backend': 'ray' if serving.ray_executor else None,
        'kv_cache_dtype': serving.kv_cache_dtype,
        'cpu': serving.cpu,
    }
    return set(engine_generation(at, settings, gpu, given=serving.given).candidates)


def _versions(version: Version | None) -> tuple[Version, ...]:
    """The version, or one of each era when it is unknown (and 0.10.0, where the CPU defaults change)."""
    return (version,) if version else (*ERAS, CPU_WORLD)


def max_num_seqs(
    version: Version | None, gpu: Gpu | None, serving: Serving = SERVER, *, max_num_batched_tokens: int | None = None
) -> Default:
    """Sequences in a batch when --max-num-seqs is not set. From 0.10.1 never above the token budget."""
    found: set[int] = set()
    for at in _versions(version):
        for generation in _generations(at, gpu, serving):
            values = {256} if generation == 'V0' else _v1_seqs(at, gpu, serving)
            if serving.throughput_mode and at >= THROUGHPUT_MODE:
                values = {2 * value for value in values}
            budget = max_num_batched_tokens or (256 if _batched_experts(at, serving) else None)
            if budget and at >= release('0.10.1'):
                values = {min(value, budget) for value in values}
            found |= values
    return one_of(found, ARGS, _depends(found, version))


def _v1_seqs(at: Version, gpu: Gpu | None, serving: Serving) -> set[int]:
    if serving.cpu:
        world = serving.pipeline_parallel * serving.tensor_parallel
        if at >= CPU_WORLD:
            return {(256 if serving.usage == 'library' else 128) * world}
        return {128 if serving.usage == 'library' else 32} if at >= CPU_DEFAULTS else {256, 1024}
    if serving.usage == 'none' and at >= V1_CONFIG_DEFAULTS:
        return {128}
    stage = era(at)
    if stage <= ALL_GPUS:
        return {256} if stage == V0_ONLY else {1024}  # 0.6.4 runs V1 when asked to, with the defaults of V0
    return {256 if tier == 'small' else 1024 for tier in _tiers(stage, gpu)}


def max_num_batched_tokens(version: Version | None, gpu: Gpu | None, serving: Serving = SERVER) -> Default:
    """Tokens in a batch when --max-num-batched-tokens is not set. Open when it depends on an unknown context length."""
    found: set[int] = set()
    for at in _versions(version):
        for generation in _generations(at, gpu, serving):
            values = _v0_tokens(at, serving) if generation == 'V0' else _v1_tokens(at, gpu, serving)
            if not values:
                return derived(ARGS, 'max(context length, 2048) without chunked prefill: the context length is unknown')
            found |= {_bounded(value, at, serving) for value in values}
    return one_of(found, ARGS, _depends(found, version))


def _bounded(tokens: int, at: Version, serving: Serving) -> int:
    """No more tokens than the sequences of a batch can hold, where both are known."""
    if at < SEQUENCES_BOUND or not serving.max_num_seqs or not serving.max_model_len:
        return tokens
    return min(tokens, serving.max_num_seqs * serving.max_model_len)


def _v0_tokens(at: Version, serving: Serving) -> set[int]:
    chunked = serving.chunked_prefill
    if chunked is None and serving.max_model_len is not None:
        chunked = at >= release('0.5.3') and serving.max_model_len > 32768
    whole = {max(serving.max_model_len, 2048)} if serving.max_model_len is not None else set()
    return {2048 if at >= release('0.6.5') else 512} if chunked else whole


def _v1_tokens(at: Version, gpu: Gpu | None, serving: Serving) -> set[int]:
    if serving.cpu:
        world = serving.pipeline_parallel * serving.tensor_parallel if at >= CPU_WORLD else 1
        one = {4096 if serving.usage == 'library' else 2048} if at >= CPU_DEFAULTS else {2048, 8192}
        values = {tokens * world for tokens in one}
    elif serving.usage == 'none' and at >= V1_CONFIG_DEFAULTS:
        values = {2048}
    elif _batched_experts(at, serving):
        values = {256}
    else:
        values = _tokens_by_gpu(era(at), gpu, serving)
    if serving.throughput_mode and at >= THROUGHPUT_MODE:
        values = {2 * value for value in values}
    if serving.chunked_prefill is False and at >= V1_CONFIG_DEFAULTS and serving.max_model_len:
        return {max(value, serving.max_model_len) for value in values}
    return values


def _batched_experts(at: Version, serving: Serving) -> bool:
    """ParallelConfig.use_batched_dp_moe: experts whose kernels take one batch from all data-parallel ranks."""
    size = serving.given.get('--data-parallel-size', '1')
    spread = '--enable-expert-parallel' in serving.given and size.isdigit() and int(size) > 1
    return at >= BATCHED_EXPERTS and spread and serving.given.get('--all2all-backend') in ('deepep_low_latency', 'nixl_ep')


def _tokens_by_gpu(stage: int, gpu: Gpu | None, serving: Serving) -> set[int]:
    tiers = {'small'} if stage < OPT_IN_BY_NAME else _tiers(stage, gpu)
    server = {'small': 2048, 'large': 8192, 'huge': 16384}
    library = {'small': 8192, 'large': 16384, 'huge': 16384}
    return {(library if serving.usage == 'library' else server)[tier] for tier in tiers}


def _depends(found: set[int], version: Version | None) -> str:
    if len(found) == 1:
        return ''
    return 'depends on the vLLM version and the GPU' if version is None else 'depends on the GPU'
