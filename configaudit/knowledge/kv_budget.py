"""How many tokens of KV cache fit beside a model's weights.

vLLM profiles a run at start and gives the cache what is left of its share of the GPU (vllm/v1/worker/gpu_worker.py,
determine_available_memory); the estimate here leaves out the activations but for a fixed reserve.
"""

from typing import NamedTuple

from configaudit.knowledge.models import Model, lookup, weight_bytes

GIB = 2.0**30
LEAST_RESERVE_GIB = 0.5
"""What CUDA and the smallest profiling run take of a GPU at the least."""
RESERVE_GIB = 2.0
"""A GPU's activations, CUDA graphs and context: 1 to 4 GiB in practice, taken low so that the cache is not understated."""


class Budget(NamedTuple):
    """Memory in GiB over all GPUs of one replica, and the tokens that fit (0 when not even the weights do)."""

    total: float
    weights: float
    cache: float
    tokens: int
    model: Model


def kv_budget(
    model_id: str, gpu_memory_gib: float, gpus: int, share: float, *, quantization: str = '', dtype: str = 'auto', cache_bytes: float = 2.0,
    model: Model | None = None, tensor: int = 0,
) -> Budget | None:
    """The budget of a well-known model, or of one whose config.json was read; None for any other.

    `cache_bytes`: of one cached number. `tensor`: GPUs of a tensor parallel group, all of them by default.
    """
    own = model.parameters * 1e9 * model.bytes_per_parameter if model is not None else None
    model = model or lookup(model_id)
    weights = own or weight_bytes(model_id, quantization, dtype)
    if model is None or weights is None:
        return None
    total = gpu_memory_gib * gpus * share
    cache = total - weights / GIB - RESERVE_GIB * gpus
    ranks = tensor or gpus
    copies = max(ranks / model.kv_heads, 1) if not model.mla else ranks
    tokens = int(max(cache, 0) * GIB / (model.kv_bytes_per_token(cache_bytes) * copies))
    return Budget(total, weights / GIB, cache, tokens, model)


class Most(NamedTuple):
    """The most that can be left for the KV cache, in GiB over all GPUs of a replica, and the least that one sequence needs."""

    share: float
    """The engine's share of all GPUs."""
    weights: float
    left: float
    needed: float
    bytes_per_token: float
    """Of KV cache over all GPUs, copies on each rank of a tensor parallel group counted."""


def most(
    model: Model, tokens: int, gpu_memory_gib: float, share: float, *, weights: float, tensor: int = 1, pipeline: int = 1, cache_bytes: float = 2.0
) -> Most:
    """What is left at best: when even that is too little, the engine stops at start. `weights`: their least bytes.

    vLLM compares both on every rank (check_enough_kv_cache_memory in vllm/v1/core/kv_cache_utils.py); over all ranks the sums compare alike.
    """
    gpus = tensor * pipeline
    copies = tensor if model.mla else max(tensor / model.kv_heads, 1)
    whole = gpu_memory_gib * gpus * share
    left = whole - weights / GIB - LEAST_RESERVE_GIB * gpus
    needed = model.kv_bytes(tokens, cache_bytes) * copies
    return Most(whole, weights / GIB, left, needed / GIB, needed / tokens if tokens else 0.0)
