"""What vLLM's unset settings become, by release, GPU and usage.

Source, unless a function names another: vllm/engine/arg_utils.py of the release (EngineArgs and the functions that
resolve it). `version` or `gpu` may be None: the result then holds every value that is possible.
"""

import re

from configaudit.knowledge.defaults import Default, certain, derived, one_of
from configaudit.knowledge.versions import Version, release
from configaudit.knowledge.vllm_batch import SERVER, Serving, max_num_batched_tokens, max_num_seqs
from configaudit.knowledge.vllm_generation import (
    ARGS,
    V0_GONE,
    V1_DEFAULT,
    Fp8Support,
    engine_generation,
    fp8_kv_support,
)

__all__ = [
    'SERVER',
    'Fp8Support',
    'Serving',
    'engine_generation',
    'fp8_kv_support',
    'max_num_batched_tokens',
    'max_num_seqs',
]

CACHE = 'vllm/config/cache.py'


def human_integer(text: str) -> int | None:
    """An integer as vLLM's parser reads it: 8k is 8000, 8K is 8192, 25.6k is 25600; None for anything else.

    Source: human_readable_int in vllm/utils/argparse_utils.py.
    """
    match = re.fullmatch(r'(-?\d+)(\.\d+)?([kKmMgGtT]?)', text.strip())
    if match is None or (match[2] and match[3] not in tuple('kmgt')) or (match[3] and match[1].startswith('-')):
        return None
    power = ' kmgt'.index(match[3].lower() or ' ')
    return int(float(match[1] + (match[2] or '')) * 1000**power) if match[3].islower() else int(match[1]) * 1024**power


def gpu_memory_utilization(version: Version | None) -> Default:
    """Share of the GPU's memory for weights, activations and KV cache together."""
    values = {0.9, 0.92} if version is None else {0.92 if version >= release('0.20.0') else 0.9}
    return one_of(values, f'{CACHE} 0.17.1, 0.20.2', '0.9 until 0.19, 0.92 from 0.20.0')


def enable_chunked_prefill(
    version: Version | None, *, generation: str | None = None, max_model_len: int | None = None
) -> Default:
    """For generative models. `generation`: what `engine_generation` found, when it is certain."""
    if version is None:
        return one_of({False, True}, ARGS, 'depends on the vLLM version')
    if version < release('0.5.3'):
        return certain(False, ARGS, 'off unless asked for until 0.5.1')
    if generation == 'V0' or version < V1_DEFAULT:
        values = {False, True} if max_model_len is None else {max_model_len > 32768}
        return one_of(values, ARGS, 'V0 turns it on above a context length of 32768')
    if generation is None and version < V0_GONE:
        return one_of({False, True}, ARGS, 'V1 turns it on, V0 above a context length of 32768')
    return certain(True, ARGS, 'on for generative models')


def chunked_prefill_forced(version: Version) -> bool:
    """Whether V1 keeps chunked prefill on even with --no-enable-chunked-prefill (0.8.0 to 0.11.0, vllm#18547)."""
    return V1_DEFAULT <= version < release('0.11.1')


def enable_prefix_caching(version: Version | None, *, generation: str | None = None) -> Default:
    """For generative models."""
    if version is None or (generation is None and V1_DEFAULT <= version < V0_GONE):
        return one_of({False, True}, ARGS, 'V1 turns it on, V0 leaves it off')
    if generation == 'V0' or (version < V1_DEFAULT and generation != 'V1'):
        return certain(False, ARGS, 'off under V0')
    return certain(True, ARGS, 'on for generative models; from 0.11.1 where the model supports it')


def swap_space(version: Version | None) -> Default:
    """GiB of host memory for each GPU; None from 0.18.0, where the setting is gone."""
    if version is None:
        return Default(None, (4, None), CACHE, 'depends on the vLLM version')
    return certain(4 if version < release('0.18.0') else None, CACHE, 'V1 never uses it')


def block_size(version: Version | None, *, mla: bool = False) -> Default:
    """Tokens in a KV cache block on CUDA; `mla`: the model has multi-head latent attention."""
    if mla and (version is None or version >= release('0.6.5')):
        return one_of({16, 64, 128}, 'vllm 0.16.0 platforms/cuda.py', 'the attention backend decides')
    return certain(16, 'vllm 0.16.0 platforms/cuda.py', 'on CUDA')


def kv_cache_dtype(version: Version | None) -> Default:
    """'auto', the type of the model's weights, in every release."""
    return certain('auto', CACHE)


def max_model_len(version: Version | None) -> Default:
    """Derived from the model's configuration in every release."""
    return derived('vllm/config/model.py', "the model configuration's context length, often 131072 or more")


def tensor_parallel_size(version: Version | None) -> Default:
    return certain(1, ARGS)


def pipeline_parallel_size(version: Version | None) -> Default:
    return certain(1, ARGS)


def data_parallel_size(version: Version | None) -> Default:
    return certain(1, ARGS)


def log_requests(version: Version | None) -> Default:
    """Whether prompts are written to the log: on until 0.10.0, off from 0.10.1."""
    values = {False, True} if version is None else {version < release('0.10.1')}
    return one_of(values, 'vllm/entrypoints/openai/cli_args.py 0.10.0, 0.10.1')


def async_scheduling(version: Version | None) -> Default:
    """Flag from 0.10.0, off; from 0.14.0 on unless something else forbids it."""
    if version is None:
        return one_of({False, True}, 'vllm/config/vllm.py', 'depends on the vLLM version')
    if version < release('0.14.0'):
        return certain(False, 'vllm/config/vllm.py')
    return one_of(
        {False, True}, 'vllm/config/vllm.py', 'on unless pipeline parallelism, Ray or speculative decoding forbids it'
    )
