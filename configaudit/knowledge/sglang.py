"""What SGLang's unset settings become, by release and GPU.

Source: sglang/srt/server_args.py of the release (arg_groups/ from 0.5.19). `version` or `gpu` may be None: the result
then holds every value that is possible.
"""

from configaudit.knowledge.defaults import Default, certain, derived, one_of
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, satisfies

ARGS = 'sglang/srt/server_args.py'

# 0.4.3 ServerArgs.__post_init__: tensor parallel size -> share of GPU memory.
STATIC_FRACTION_0_4_3 = {1: 0.88, 2: 0.87, 4: 0.85, 8: 0.81, 16: 0.79}


def mem_fraction_static(version: Version | None, gpu: Gpu | None, *, tensor_parallel: int = 1) -> Default:
    """(weights + KV cache) / GPU memory. A formula over the other settings since it left the fixed table of 0.4.3."""
    if version is not None and satisfies(version, '==0.4.3') and tensor_parallel in STATIC_FRACTION_0_4_3:
        return certain(STATIC_FRACTION_0_4_3[tensor_parallel], f'{ARGS} 0.4.3')
    return derived(
        f'{ARGS} 0.5.9 _handle_gpu_memory_settings', 'from GPU memory, chunk size, CUDA graphs and parallelism'
    )


def chunked_prefill_size(version: Version | None, gpu: Gpu | None) -> Default:
    """Tokens in a prefill chunk. The steps were read in 0.5.9 and 0.5.23; releases between them may follow either."""
    if version is not None and version < Version((0, 4, 1, 0)):
        return certain(8192, f'{ARGS} 0.3.6')
    if gpu is None:
        return one_of({2048, 4096, 8192, 16384}, ARGS, 'depends on the GPU')
    memory = gpu.memory_gib
    if memory < 20:
        return certain(2048, ARGS)
    if memory < 35:
        if version is not None and satisfies(version, '<=0.5.9'):
            return certain(2048, f'{ARGS} 0.5.9')
        if version is not None and satisfies(version, '>=0.5.23'):
            return certain(4096, f'{ARGS} 0.5.23')
        return one_of({2048, 4096}, ARGS, '2048 in 0.5.9, 4096 in 0.5.23')
    return certain(4096 if memory < 60 else 8192 if memory < 160 else 16384, ARGS)


def cuda_graph_max_bs(version: Version | None, gpu: Gpu | None, *, tensor_parallel: int = 1) -> Default:
    """Largest batch that runs from a CUDA graph; named cuda_graph_max_bs_decode from 0.5.14."""
    if version is not None and version < Version((0, 4, 1, 0)):
        return certain(160, f'{ARGS} 0.3.6')
    if gpu is None:
        return one_of({8, 24, 32, 80, 160, 256, 512}, ARGS, 'depends on the GPU and the tensor parallel size')
    few = tensor_parallel < 4
    if gpu.memory_gib < 20:
        return certain(8, ARGS)
    if gpu.memory_gib < 35:
        return certain(24 if few else 80, ARGS)
    if gpu.memory_gib < 60:
        return certain(32 if few else 160, ARGS)
    return certain(256 if few and gpu.memory_gib < 160 else 512, ARGS)


def schedule_policy(version: Version | None) -> Default:
    """'lpm' until 0.4.3, 'fcfs' from 0.4.6; the releases between were not examined."""
    if version is not None and version <= Version((0, 4, 3, 0)):
        return certain('lpm', f'{ARGS} 0.4.3')
    if version is not None and version >= Version((0, 4, 6, 0)):
        return certain('fcfs', f'{ARGS} 0.4.6')
    return one_of({'fcfs', 'lpm'}, ARGS, 'changed between 0.4.3 and 0.4.6')


def max_running_requests(version: Version | None) -> Default:
    return derived(ARGS, 'from the KV cache that fits')


def max_total_tokens(version: Version | None) -> Default:
    return derived(ARGS, 'from the KV cache that fits')


def context_length(version: Version | None) -> Default:
    return derived(ARGS, "the model configuration's context length")


def max_prefill_tokens(version: Version | None) -> Default:
    return certain(16384, ARGS)


def kv_cache_dtype(version: Version | None) -> Default:
    return certain('auto', ARGS)


def watchdog_timeout(version: Version | None) -> Default:
    """Seconds; a forward batch that takes longer crashes the server."""
    return certain(300, ARGS)


def enable_metrics(version: Version | None) -> Default:
    return certain(False, ARGS)


def host(version: Version | None) -> Default:
    return certain('127.0.0.1', ARGS, 'unreachable from outside the container')


def port(version: Version | None) -> Default:
    return certain(30000, ARGS)


def tp_size(version: Version | None) -> Default:
    return certain(1, ARGS)
