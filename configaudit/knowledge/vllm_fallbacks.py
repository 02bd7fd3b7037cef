"""What makes vLLM 0.8.0 to 0.10.2 start its older engine, V0, when VLLM_USE_V1 is not set.

Source: EngineArgs._is_v1_supported_oracle in vllm/engine/arg_utils.py of every release from 0.8.0 to 0.10.2.
"""

from collections.abc import Mapping
from typing import NamedTuple

from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, release

OLD_GPU_ENDS = release('0.10.2')  # the first release that does not ask for compute capability 8.0
AMD_SINCE = release('0.9.2')  # V1 on other GPUs than NVIDIA's
CPU_SINCE = release('0.9.1')  # V1 on x86 CPUs
RAY_PIPELINE = release('0.8.3')  # V1 with pipeline stages that Ray runs
PIPELINE = release('0.9.0')
DEFAULT_PIPELINE = release('0.9.1')  # V1 with pipeline stages and the executor that is not chosen


class FlagFallback(NamedTuple):
    """A flag that V1 does not take before the release `until`, unless its value is one of `taken`."""

    flag: str
    until: Version
    taken: tuple[str, ...] = ()


FLAGS = (
    FlagFallback('--num-scheduler-steps', release('0.10.1'), ('1',)),
    FlagFallback('--scheduling-policy', release('0.9.2'), ('fcfs',)),
    FlagFallback('--scheduler-delay-factor', release('0.11.0'), ('0', '0.0')),
    FlagFallback('--preemption-mode', release('0.11.0')),
    FlagFallback('--disable-async-output-proc', release('0.11.0')),
    FlagFallback('--logits-processor-pattern', release('0.11.0')),
    FlagFallback('--otlp-traces-endpoint', release('0.10.2')),
    FlagFallback('--cpu-offload-gb', release('0.8.3'), ('0', '0.0')),
    FlagFallback('--enable-lora', release('0.8.3')),
    FlagFallback('--enable-prompt-adapter', release('0.10.0')),
    FlagFallback('--dtype', release('0.9.2'), ('auto', 'half', 'float16', 'bfloat16')),
    FlagFallback('--task', release('0.9.2'), ('auto', 'generate')),
)


def v0_reason(version: Version, settings: Mapping[str, object], gpu: Gpu | None, given: Mapping[str, str]) -> str:
    """Why V0 runs, '' where nothing that is seen asks for it. `given`: flag -> its value, '' for a switch."""
    if gpu is not None and gpu.capability is not None and gpu.capability[0] < 8 and version < OLD_GPU_ENDS:
        return 'V1 wants compute capability 8.0 before 0.10.2'
    if gpu is not None and gpu.capability is None and gpu.name and version < AMD_SINCE:
        return 'V1 runs on NVIDIA GPUs only before 0.9.2'
    if settings.get('cpu') and version < CPU_SINCE:
        return 'V1 does not run on CPUs before 0.9.1'
    stages = settings.get('pipeline_parallel_size', 1)
    if isinstance(stages, int) and stages > 1 and not _pipelined(version, settings.get('distributed_executor_backend')):
        return 'pipeline parallelism without an executor that V1 takes falls back to V0'
    for each in FLAGS:
        if version < each.until and each.flag in given and given[each.flag] not in each.taken:
            return f'{each.flag} falls back to V0 before {each.until}'
    return ''


def _pipelined(version: Version, executor: object) -> bool:
    """Whether V1 runs pipeline stages with this executor."""
    if version < RAY_PIPELINE:
        return False
    if version < PIPELINE:
        return executor == 'ray'
    return version >= DEFAULT_PIPELINE or executor in ('ray', 'mp', 'external_launcher')
