"""vLLM's batch limits when they are not set: they depend on the release, the GPU, the usage and the engine that runs.

Source: vllm/engine/arg_utils.py of the release: __post_init__ and _override_v1_engine_args (0.6.5 to 0.7.3),
_set_default_args_v1 (0.8.0 to 0.11.0), get_batch_defaults (from 0.11.1); vllm/config.py SchedulerConfig for V0.
"""

from typing import NamedTuple

from configaudit.knowledge.defaults import Default, derived, one_of
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, release
from configaudit.knowledge.vllm_generation import ARGS, V0_GONE, engine_generation

# First releases of each way to choose the batch limits.
ERAS = tuple(map(release, ('0.2.7', '0.6.5', '0.7.3', '0.8.0', '0.8.4', '0.8.5', '0.9.0', '0.28.0', '0.33.0')))
V0_ONLY, OPT_IN, OPT_IN_BY_NAME, ALL_GPUS, BY_NAME, BY_MEMORY, NOT_A100, HUGE, GB10 = range(len(ERAS))
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
    }
    return set(engine_generation(at, settings, gpu).candidates)


def _versions(version: Version | None) -> tuple[Version, ...]:
    """The version, or one of each era when it is unknown (and 0.10.2, where the CPU defaults change)."""
    return (version,) if version else (*ERAS, release('0.10.2'))


def max_num_seqs(
    version: Version | None, gpu: Gpu | None, serving: Serving = SERVER, *, max_num_batched_tokens: int | None = None
) -> Default:
    """Sequences in a batch when --max-num-seqs is not set. From 0.10.1 never above the token budget."""
    found: set[int] = set()
    for at in _versions(version):
        for generation in _generations(at, gpu, serving):
            values = {256} if generation == 'V0' else _v1_seqs(at, gpu, serving)
            if serving.throughput_mode and at >= release('0.17.0'):
                values = {2 * value for value in values}
            if max_num_batched_tokens and at >= release('0.10.1'):
                values = {min(value, max_num_batched_tokens) for value in values}
            found |= values
    return one_of(found, ARGS, _depends(found, version))


def _v1_seqs(at: Version, gpu: Gpu | None, serving: Serving) -> set[int]:
    if serving.cpu:
        world = serving.pipeline_parallel * serving.tensor_parallel
        if at >= release('0.10.2'):
            return {(256 if serving.usage == 'library' else 128) * world}
        return {128 if serving.usage == 'library' else 32} if at >= release('0.9.2') else {256}
    if serving.usage == 'none' and at >= V1_CONFIG_DEFAULTS:
        return {128}
    stage = era(at)
    if stage <= ALL_GPUS:
        return {1024}
    return {256 if tier == 'small' else 1024 for tier in _tiers(stage, gpu)}


def max_num_batched_tokens(version: Version | None, gpu: Gpu | None, serving: Serving = SERVER) -> Default:
    """Tokens in a batch when --max-num-batched-tokens is not set. Open when it depends on an unknown context length."""
    found: set[int] = set()
    for at in _versions(version):
        for generation in _generations(at, gpu, serving):
            values = _v0_tokens(at, serving) if generation == 'V0' else _v1_tokens(at, gpu, serving)
            if not values:
                return derived(ARGS, 'max(context length, 2048) without chunked prefill: the context length is unknown')
            found |= {2 * value for value in values} if serving.throughput_mode and at >= release('0.17.0') else values
    return one_of(found, ARGS, _depends(found, version))


def _v0_tokens(at: Version, serving: Serving) -> set[int]:
    chunked = serving.chunked_prefill
    if chunked is None and serving.max_model_len is not None:
        chunked = at >= release('0.5.3') and serving.max_model_len > 32768
    whole = {max(serving.max_model_len, 2048)} if serving.max_model_len is not None else set()
    return {2048 if at >= release('0.6.5') else 512} if chunked else whole


def _v1_tokens(at: Version, gpu: Gpu | None, serving: Serving) -> set[int]:
    if serving.cpu:
        world = serving.pipeline_parallel * serving.tensor_parallel if at >= release('0.10.2') else 1
        return {(4096 if serving.usage == 'library' else 2048) * world}
    if serving.usage == 'none' and at >= V1_CONFIG_DEFAULTS:
        return {2048}
    stage = era(at)
    tiers = {'small'} if stage < OPT_IN_BY_NAME else _tiers(stage, gpu)
    server = {'small': 2048, 'large': 8192, 'huge': 16384}
    library = {'small': 8192, 'large': 16384, 'huge': 16384}
    values = {(library if serving.usage == 'library' else server)[tier] for tier in tiers}
    if serving.chunked_prefill is False and at >= V1_CONFIG_DEFAULTS and serving.max_model_len:
        return {max(value, serving.max_model_len) for value in values}
    return values


def _depends(found: set[int], version: Version | None) -> str:
    if len(found) == 1:
        return ''
    return 'depends on the vLLM version and the GPU' if version is None else 'depends on the GPU'
