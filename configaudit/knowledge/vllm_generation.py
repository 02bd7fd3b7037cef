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
BACKENDS = 'vllm 0.11.2, 0.16.0, 0.33.0 platforms/cuda.py, v1/attention/backends'
V1_OPT_IN, V1_DEFAULT, V0_GONE = release('0.6.4'), release('0.8.0'), release('0.11.0')
PER_BACKEND = release('0.11.1')  # every backend says which cache types and GPUs it takes; FlashInfer comes before Triton
FLASHINFER_FLOOR = release('0.33.0')  # 7.5 in 0.20.2, 8.0 in 0.33.0: releases between were not read
NOTHING: Mapping[str, str] = {}
FP8_SINCE = release('0.8.2')  # V1 takes no other cache type than auto before
FLASH_ATTN_WIDER = release('0.21.0')  # Hopper only in 0.20.2, more in 0.33.0


def engine_generation(
    version: Version | None, settings: Mapping[str, object], gpu: Gpu | None = None, *, given: Mapping[str, str] = NOTHING
) -> Default:
    """'V0' or 'V1' after the fallbacks.

    `settings` may hold VLLM_USE_V1 ('0' or '1'), pipeline_parallel_size, distributed_executor_backend, kv_cache_dtype
    and cpu (the CPU build); `given`: flag -> its value, '' for a switch.
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
    from configaudit.knowledge.vllm_fallbacks import v0_reason  # for a dozen releases only

    reason = v0_reason(version, settings, gpu, given) if forced != '1' else ''
    if reason:
        return certain('V0', ARGS, reason)
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
    backend = backend.upper()
    if version < V0_GONE:
        return _fp8_beside_v0(version, gpu.capability, use_v1, backend)
    return _fp8_v1(version, gpu.capability, backend)


def _fp8_v1(version: Version, capability: tuple[int, int], backend: str) -> Fp8Support:
    """From 0.11.0: which attention backend runs decides; from 0.11.1 each says what it takes and FlashInfer is a dependency."""
    floor = (7, 5) if version < FLASHINFER_FLOOR else (8, 0)
    if backend.startswith('FLASHINFER'):
        state = 'native' if floor <= capability <= (12, 1) else 'error'
        return Fp8Support(state, f'FlashInfer takes compute capability {_dotted(floor)} to 12.1', BACKENDS)
    if capability >= (8, 9) and not backend.startswith('FLASH_ATTN'):
        return Fp8Support('native', f'compute capability {_dotted(capability)} has fp8', BACKENDS)
    if backend.startswith('FLASH_ATTN'):
        why = f'FlashAttention takes fp8 on Hopper only, this GPU has compute capability {_dotted(capability)}'
        state = 'native' if capability[0] == 9 else 'unknown' if version >= FLASH_ATTN_WIDER or capability[0] == 10 else 'error'
        return Fp8Support(state, why, BACKENDS)
    limit = 'Triton stops with "fp8e4nv not supported" below compute capability 8.9'
    why = f'{limit}, this GPU has {_dotted(capability)}; FlashInfer takes it'
    if backend.startswith('TRITON') or version < PER_BACKEND or capability < floor:
        return Fp8Support('error', why, 'vllm#26431, vllm#18182')
    return Fp8Support('unknown', 'FlashInfer takes it where the head size and the model allow, Triton does not', BACKENDS)


def _fp8_beside_v0(version: Version, capability: tuple[int, int], use_v1: bool, backend: str) -> Fp8Support:
    """0.8.0 to 0.10.2: V1 is the default and V0 the way out."""
    source = 'vllm 0.8.1, 0.8.5, 0.9.2, 0.10.0 and 0.10.2 engine/arg_utils.py, platforms/cuda.py'
    if version < FP8_SINCE:
        return Fp8Support('error' if use_v1 else 'fallback-v0', 'V1 takes no fp8 KV cache before 0.8.2', source)
    if capability[0] == 9 and backend in ('', 'FLASH_ATTN_VLLM_V1'):
        return Fp8Support('native', 'FlashAttention 3 on Hopper', source)
    if capability == (10, 0) and version >= release('0.10.0'):
        return Fp8Support('native', 'every backend on Blackwell', source)
    if version >= release('0.10.1') and (backend == 'FLASHINFER' or (backend.startswith('TRITON_ATTN') and capability >= (8, 9))):
        return Fp8Support('native', f'{backend} takes it', source)
    why = f'V1 needs FlashAttention 3 and a Hopper GPU for fp8, this one has compute capability {_dotted(capability)}'
    return Fp8Support('error' if use_v1 else 'fallback-v0', why, source)


def _dotted(capability: tuple[int, int]) -> str:
    return '.'.join(map(str, capability))
