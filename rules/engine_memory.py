"""Rules on the host memory of inference engines."""

from collections.abc import Iterator

from configaudit.knowledge.models import weight_bytes
from configaudit.knowledge.versions import release
from configaudit.model import Component, NotApplicable, Problem, rule
from configaudit.units import show_bytes

from .engines import container_of

GIB = 2**30
SERVER_GIB = 4.0
"""Python, PyTorch and the CUDA context of the server and its engine process: 3 to 6 GiB resident in practice."""
WORKER_GIB = 2.0
"""Each further GPU's worker process."""


def _swap_gib(engine: Component) -> float:
    """Pinned host memory for swapping, GiB a GPU: V0 only, 4 by default."""
    if engine.kind.name != 'vllm' or engine.version is None or engine.version >= release('0.8.0'):
        return 0.0
    swap = engine['swap_space']
    return float(swap.value or 0) if swap.is_known else 0.0


@rule('memory-below-weights', on=('vllm', 'sglang', 'tgi'), severity='warning', source='vllm#20558, vllm#188; Kubernetes docs, configure-pod-container/assign-memory-resource')
def memory_below_weights(engine: Component) -> Iterator[Problem]:
    """The container's memory limit is below what the server itself needs, so the kernel kills it while it loads.

    Counted: 4 GiB for the server and its engine process, 2 GiB for each further GPU, and the pinned swap space of vLLM's V0 engine.
    Weights pass through the page cache on their way to the GPU: a limit below their size works, slowly, with safetensors files, and
    fails with others; that is advice.
    """
    container, size = container_of(engine), engine['world_size']
    limit = container['memory_limit']
    if not limit.is_set:
        raise NotApplicable('no memory limit')
    gpus = int(size.value) if size.is_known else 1
    here = min(gpus, container['gpu_limit'].value or gpus) if container['gpu_limit'].is_known else 1
    swap = _swap_gib(engine)
    needed = (SERVER_GIB + WORKER_GIB * (here - 1) + swap * here) * GIB
    if limit.value < needed:
        parts = (f'{here - 1} x {WORKER_GIB:g}' if here > 1 else '', f'{here} x {swap:g} of swap' if swap else '')
        more = ''.join(f' + {part}' for part in parts if part)
        words = f' ({SERVER_GIB:g}{more} GiB)' if more else ''
        yield Problem(limit, '{limit} of memory for an inference server that needs about {needed}{words} before any weights pass through', limit=show_bytes(limit.value), needed=show_bytes(needed), words=words)
        return
    model = engine['model']
    if not model.is_known or not model.known_value or here < gpus:
        return
    weights = weight_bytes(str(model.value), str(engine[_quantization(engine)].known_value or ''), str(engine['dtype'].known_value or 'auto'))
    if weights is not None and limit.value < weights:
        message = '{limit} of memory for {weights} of weights: loading works only by dropping them from the page cache again and again'
        yield Problem(limit, message, limit=show_bytes(limit.value), weights=show_bytes(weights), severity='advice', confidence='medium', see=[('the model', model)])


def _quantization(engine: Component) -> str:
    return 'quantize' if engine.kind.name == 'tgi' else 'quantization'
