"""Which of vLLM's two engines runs, and what an fp8 KV cache does to that.

Source: vllm/engine/arg_utils.py (EngineArgs._is_v1_supported_oracle and its callers) and the attention backends of
the releases named below.
"""

from collections.abc import Mapping
from typing import NamedTuple

from configaudit.knowledge.defaults import Default, certain
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, release

ARGS = 'vllm/engine/arg_utils.py'
BACKENDS = 'vllm 0.16.0 attention backends'
V1_OPT_IN, V1_DEFAULT, V0_GONE = release('0.6.4'), release('0.8.0'), release('0.11.0')


def engine_generation(version: Version | None, settings: Mapping[str, object], gpu: Gpu | None = None) -> Default:
    """'V0' or 'V1' after the fallbacks.

    `settings` may hold VLLM_USE_V1 ('0' or '1'), pipeline_parallel_size, distributed_executor_backend and
    kv_cache_dtype.
    """
    forced = str(settings.get('VLLM_USE_V1', ''))
    if version is None:
        return Default(None, ('V0', 'V1'), ARGS, 'depends on the vLLM version')
    if version >= V0_GONE:
        return certain('V1', ARGS, 'V0 is gone in 0.11.0')
    if version < V1_DEFAULT:
        opted = forced == '1' and version >= V1_OPT_IN
        return certain('V1' if opted else 'V0', ARGS, 'V1 only with VLLM_USE_V1=1 before 0.8.0')
    if forced == '0':
        return certain('V0', ARGS, 'VLLM_USE_V1=0')
    stages = settings.get('pipeline_parallel_size', 1)
    staged = isinstance(stages, int) and stages > 1 and settings.get('distributed_executor_backend') != 'ray'
    if staged and version < release('0.9.0') and forced != '1':
        return certain(
            'V0', ARGS, 'pipeline parallelism without --distributed-executor-backend ray falls back to V0 in 0.8'
        )
    if str(settings.get('kv_cache_dtype', 'auto')).startswith('fp8') and forced != '1':
        support = fp8_kv_support(version, gpu)
        if support.state == 'fallback-v0':
            return certain('V0', support.source, support.why)
        if support.state == 'unknown':
            return Default(None, ('V0', 'V1'), support.source, support.why)
    return certain('V1', ARGS, 'V1 is the default from 0.8.0')


class Fp8Support(NamedTuple):
    """`state`: native (works), fallback-v0 (starts with the older engine), error (does not start), unknown."""

    state: str
    why: str
    source: str


def fp8_kv_support(version: Version | None, gpu: Gpu | None, *, backend: str = '', use_v1: bool = False) -> Fp8Support:
    """What `--kv-cache-dtype fp8` (e4m3) does.

    `backend`: the attention backend asked for; `use_v1`: VLLM_USE_V1=1 is set.
    """
    if version is None or gpu is None:
        missing = 'vLLM version' if version is None else 'GPU'
        return Fp8Support('unknown', f'depends on the {missing}', ARGS)
    if version < V1_DEFAULT:
        why = 'V0 stores fp8 and up-casts it: CUDA 11.8 is all it needs'
        return Fp8Support('native', why, 'vllm 0.4.2 vllm/config.py; vllm#3965')
    if gpu.capability is None:
        return Fp8Support('unknown', 'not an NVIDIA GPU of known compute capability', ARGS)
    if version < V0_GONE:
        return _fp8_beside_v0(gpu.capability, use_v1)
    if backend.upper().startswith('FLASHINFER'):
        state = 'native' if (7, 5) <= gpu.capability <= (12, 1) else 'error'
        return Fp8Support(state, 'FlashInfer takes compute capability 7.5 to 12.1', BACKENDS)
    if gpu.capability >= (8, 9):
        return Fp8Support('native', f'compute capability {_dotted(gpu.capability)} has fp8', BACKENDS)
    limit = 'Triton stops with "fp8e4nv not supported" below compute capability 8.9'
    why = f'{limit}, this GPU has {_dotted(gpu.capability)}; FlashInfer takes it'
    return Fp8Support('error', why, 'vllm#26431, vllm#18182')


def _fp8_beside_v0(capability: tuple[int, int], use_v1: bool) -> Fp8Support:
    """0.8.0 to 0.10.2: V1 is the default and V0 the way out."""
    source = 'vllm 0.8.5 and 0.10.2 engine/arg_utils.py'
    if capability[0] == 9:
        return Fp8Support('native', 'FlashAttention 3 on Hopper', source)
    why = f'V1 needs FlashAttention 3 and a Hopper GPU for fp8, this one has compute capability {_dotted(capability)}'
    return Fp8Support('error' if use_v1 else 'fallback-v0', why, source)


def _dotted(capability: tuple[int, int]) -> str:
    return '.'.join(map(str, capability))
