"""What SGLang's unset settings become, by release and GPU.

Source: sglang/srt/server_args.py of the release (arg_groups/ from 0.5.19). `version` or `gpu` may be None: the result
then holds every value that is possible.
"""

from typing import NamedTuple

from configaudit.knowledge.defaults import Default, certain, derived, one_of
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, release

ARGS = 'sglang/srt/server_args.py'
MIB = 1024  # to a GiB: SGLang compares what the driver tells in MiB
ALL = 10**9

# Tensor parallel size at least -> share of GPU memory, by the first release of each table. It ends where the GPU decides.
Shares = tuple[tuple[int, float], ...]
SHARES: tuple[tuple[Version, Shares], ...] = (
    (release('0.3.0'), ((16, 0.79), (8, 0.83), (4, 0.85), (2, 0.87), (1, 0.88))),
    (release('0.3.6'), ((16, 0.79), (8, 0.82), (4, 0.85), (2, 0.87), (1, 0.88))),
    (release('0.4.0'), ((16, 0.79), (8, 0.81), (4, 0.85), (2, 0.87), (1, 0.88))),
)
SHARES_OF_80_GB = release('0.4.5.post3')  # the table up to 81920 MiB, a formula above
FORMULA = release('0.4.6.post2')


class Step(NamedTuple):
    """Below `mib` of GPU memory: the value with less than 4 tensor parallel ranks, and with more; None: worked out later."""

    mib: int
    few: int | None
    many: int | None


# First release -> steps, each read in the releases on both sides.
CHUNKS: tuple[tuple[Version, tuple[Step, ...]], ...] = (
    (release('0.3.0'), (Step(ALL, 8192, 8192),)),
    (release('0.4.0'), (Step(25_000, 2048, 2048), Step(ALL, 8192, 8192))),
    (release('0.4.7'), (Step(25_000, 2048, 2048), Step(180_001, 8192, 8192), Step(ALL, 16384, 16384))),
    (release('0.4.7.post1'), (Step(35 * MIB, 2048, 2048), Step(160 * MIB, 8192, 8192), Step(ALL, 16384, 16384))),
    (release('0.5.3'), (Step(35 * MIB, 2048, 2048), Step(60 * MIB, 4096, 4096), Step(160 * MIB, 8192, 8192), Step(ALL, 16384, 16384))),
    (release('0.5.20'), (Step(20 * MIB, 2048, 2048), Step(60 * MIB, 4096, 4096), Step(160 * MIB, 8192, 8192), Step(ALL, 16384, 16384))),
)
_LARGE = (Step(60 * MIB, 32, 160), Step(160 * MIB, 256, 512), Step(ALL, 512, 512))
GRAPHS: tuple[tuple[Version, tuple[Step, ...]], ...] = (
    (release('0.3.0'), (Step(ALL, 160, 160),)),
    (release('0.3.5.post2'), (Step(25_000, 4, 4), Step(ALL, 160, 160))),
    (release('0.4.0'), (Step(25_000, 8, 8), Step(ALL, 160, 160))),
    (release('0.4.0.post1'), (Step(25_000, 8, 80), Step(ALL, 160, 160))),
    (release('0.4.5.post3'), (Step(25_000, 8, 80), Step(ALL, None, None))),
    (release('0.4.7.post1'), (Step(35 * MIB, 8, 80), Step(ALL, None, None))),
    (release('0.5.3'), (Step(20 * MIB, 8, 8), Step(35 * MIB, 16, 80), *_LARGE)),
    (release('0.5.4.post1'), (Step(20 * MIB, 8, 8), Step(35 * MIB, 24, 80), *_LARGE)),
    (release('0.5.20'), (Step(20 * MIB, 8, 8), Step(35 * MIB, 48, 160), *_LARGE)),
)


def _values(
    eras: tuple[tuple[Version, tuple[Step, ...]], ...], version: Version | None, gpu: Gpu | None, tensor_parallel: int | None
) -> set[int | None]:
    """Every value that the release, the GPU and the ranks leave possible."""
    known = [steps for first, steps in eras if version is None or version >= first] or [eras[0][1]]
    found: set[int | None] = set()
    for steps in known if version is None else known[-1:]:
        fitting = steps if gpu is None else [next(step for step in steps if gpu.memory_gib * MIB < step.mib)]
        for step in fitting:
            found |= {step.few, step.many} if tensor_parallel is None else {step.few if tensor_parallel < 4 else step.many}
    return found


def _default(values: set[int | None], condition: str) -> Default:
    certainly = {value for value in values if value is not None}
    if certainly != values:
        return derived(ARGS, 'from the batch sizes that are captured and the requests that fit')
    return one_of(certainly, ARGS, condition if len(certainly) > 1 else '')


def mem_fraction_static(version: Version | None, gpu: Gpu | None, *, tensor_parallel: int | None = None) -> Default:
    """(weights + KV cache) / GPU memory, for models of text: a table by ranks at first, a formula over the other settings later."""
    tables = [shares for first, shares in SHARES if version is not None and version >= first]
    fits = gpu is not None and gpu.memory_gib * MIB <= 81920
    if version is None or version >= FORMULA or (version >= SHARES_OF_80_GB and not fits) or not tables:
        return derived(f'{ARGS} 0.5.9 _handle_gpu_memory_settings', 'from GPU memory, chunk size, CUDA graphs and parallelism')
    if tensor_parallel is None:
        return one_of({share for _, share in tables[-1]}, ARGS, 'depends on the tensor parallel size')
    return certain(next(share for ranks, share in tables[-1] if tensor_parallel >= ranks), ARGS)


def chunked_prefill_size(version: Version | None, gpu: Gpu | None) -> Default:
    """Tokens in a prefill chunk of a server that both prefills and decodes; attention data parallelism divides it."""
    return _default(_values(CHUNKS, version, gpu, None), 'depends on the GPU' if version else 'depends on the release and the GPU')


def cuda_graph_max_bs(version: Version | None, gpu: Gpu | None, *, tensor_parallel: int | None = None) -> Default:
    """Largest batch that runs from a CUDA graph; named cuda_graph_max_bs_decode from 0.5.14. Never above --max-running-requests."""
    return _default(_values(GRAPHS, version, gpu, tensor_parallel), 'depends on the GPU and the tensor parallel size')


def max_running_requests(version: Version | None) -> Default:
    return derived(ARGS, 'from the KV cache that fits')


def max_total_tokens(version: Version | None) -> Default:
    return derived(ARGS, 'from the KV cache that fits')


def context_length(version: Version | None) -> Default:
    return derived(ARGS, "the model configuration's context length")


def kv_cache_dtype(version: Version | None) -> Default:
    return certain('auto', ARGS)


def enable_metrics(version: Version | None) -> Default:
    return certain(False, ARGS)


def host(version: Version | None) -> Default:
    return certain('127.0.0.1', ARGS, 'unreachable from outside the container')


def port(version: Version | None) -> Default:
    return certain(30000, ARGS)


def tp_size(version: Version | None) -> Default:
    return certain(1, ARGS)
