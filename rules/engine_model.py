"""Rules that need the model's shape: heads and tensor parallelism, weights, context and the KV cache that is left."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.knowledge.gpus import OTHER_DEVICES, Gpu
from configaudit.knowledge.kv_budget import RESERVE_GIB, Most, most
from configaudit.knowledge.models import Model, is_published, least_weight_bytes, lookup
from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule

from .serving import generates
from .vllm import on_gpu

OTHER_SHAPE = ('--hf-overrides', '--hf-config-path', '--json-model-override-args', '--config-format')
"""Options that change the shape that the model's own configuration gives."""
ELSEWHERE = ('--cpu-offload-gb', '--offload-backend', '--offload-group-size', '--num-gpu-blocks-override', '--decode-context-parallel-size', '--prefill-context-parallel-size')
"""Options that move weights or cache off the GPU, or share one sequence's cache among ranks."""
GIB = 2.0**30


class Subject(NamedTuple):
    """The model an engine serves, as far as it is known."""

    model: Model
    name: str
    certain: bool
    """Its config.json was read, or its id is that of the published repository."""


def subject(engine: Component) -> Subject:
    """The model by its config.json, else by its well-known name; Unknown for any other."""
    for name in OTHER_SHAPE:
        if engine['arguments'].value.last(name) is not None:
            raise Unknown(f'{name} changes the shape of the model')
    read, name = engine['model_config'], str(engine['model'].value or '')
    if isinstance(read.known_value, Model):
        return Subject(read.known_value, name, True)
    model = lookup(name)
    if model is None:
        raise Unknown(f'the shape of {name or "the model"} is not known: no config.json among the files')
    return Subject(model, name, is_published(name, model))


def gpus_of(engine: Component) -> tuple[Gpu, ...]:
    """The GPUs that it may run on; Unknown without one, NotApplicable for other devices."""
    on_gpu(engine)
    setting = engine['gpu']
    found: tuple[Gpu, ...] = setting.candidates or (setting.value,)
    if any(gpu.generation in OTHER_DEVICES for gpu in found):
        raise NotApplicable('it runs on another kind of device')
    return found


def _tensor(engine: Component) -> Setting:
    return engine[{'vllm': 'tensor_parallel_size', 'sglang': 'tp_size', 'tgi': 'num_shard'}[engine.kind.name]]


@rule('engine-heads-not-divisible', on=('vllm', 'sglang', 'tgi'), severity='error', source='vllm/config/model.py verify_with_parallel_config, model_executor/layers/linear.py QKVParallelLinear 0.8.5 to 0.33.0; sglang/srt/models 0.5.9; TGI, num_heads must be divisible by num_shards; vllm#414, vllm#2652')
def heads_not_divisible(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: every GPU of a tensor parallel group takes the same number of attention heads.

    Heads of keys and values must divide as well, or, where there are fewer of them than GPUs, be copied equally often.
    """
    size = _tensor(engine)
    if not size.is_set or size.value is None or size.value <= 1:
        raise NotApplicable('no tensor parallelism')
    ranks = size.value
    if engine.kind.name == 'sglang' and engine['enable_dp_attention'].value:
        ranks = max(ranks // max(engine['dp_size'].value or 1, 1), 1)
    model, name, certain = subject(engine)
    keys = 0 if model.mla or engine.kind.name == 'tgi' else model.kv_heads
    if _divides(model.heads, keys, ranks):
        return
    sizes = ', '.join(str(count) for count in range(1, min(model.heads, 64) + 1) if _divides(model.heads, keys, count))
    words = '{heads} attention heads of {model} over {ranks} GPUs leave {rest} over'
    if not model.heads % ranks:
        words = '{keys} heads of keys and values of {model} neither divide by {ranks} GPUs nor go into them'
    yield Problem(
        size, words + ': the engine stops at start; possible are {sizes}', heads=model.heads, keys=keys, model=name, ranks=ranks, rest=model.heads % ranks,
        sizes=sizes, severity=None if certain else 'warning', see=_see(engine),
    )  # fmt: skip


def _divides(heads: int, keys: int, ranks: int) -> bool:
    """Whether heads, and those of keys and values (0: not counted), go equally over so many GPUs."""
    return not heads % ranks and (not keys or not (keys % ranks if keys >= ranks else ranks % keys))


def _see(engine: Component) -> list[tuple[str, Setting]]:
    read = engine['model_config']
    return [('the shape of the model', read)] if read.known_value is not None else []


def _share(engine: Component) -> float:
    """The largest share of the GPUs' memory that the engine may take."""
    setting = engine[{'vllm': 'gpu_memory_utilization', 'sglang': 'mem_fraction_static', 'tgi': 'cuda_memory_fraction'}[engine.kind.name]]
    if setting.is_known and isinstance(setting.known_value, (int, float)):
        return float(setting.known_value)
    return float(max(setting.candidates, default=0.95))


def bounds(engine: Component, tokens: int) -> tuple[Subject, list[tuple[Gpu, Most]]]:
    """The best case on each GPU that the engine may run on, the smallest GPU first."""
    for name in ELSEWHERE:
        if engine['arguments'].value.last(name) is not None:
            raise NotApplicable(f'{name} is set')
    known = subject(engine)
    spread = [option for option in engine['options'].value if option.name in ('--enable-expert-parallel', '--ep-size', '--enable-ep-moe')]
    copies = engine['data_parallel_size' if engine.kind.name == 'vllm' else 'dp_size'] if engine.kind.name != 'tgi' else None
    if spread and copies is not None and copies.is_set and copies.value != 1:
        raise Unknown('its experts are spread over data parallel ranks')
    tensor, world = _tensor(engine), engine['world_size'].value
    ranks = tensor.value if tensor.is_set and tensor.value else 1
    if tensor.is_set and tensor.value is None:
        raise Unknown('the number of GPUs is not known')
    weights = least_weight_bytes(known.model, known.name, _quantization(engine))
    element = _element(engine, known)
    found = [
        (gpu, most(known.model, tokens, gpu.memory_gib, _share(engine), weights=weights, tensor=ranks, pipeline=max(world // ranks, 1), cache_bytes=element))
        for gpu in gpus_of(engine)
    ]
    return known, sorted(found, key=lambda item: item[0].memory_gib)


def _quantization(engine: Component) -> str:
    setting = engine['quantize' if engine.kind.name == 'tgi' else 'quantization']
    return str(setting.value or '') if setting.is_set else ''


def _element(engine: Component, known: Subject) -> float:
    """The least bytes of a cached number: checkpoints may bring an 8-bit cache of their own."""
    if engine.kind.name == 'tgi':
        return 1.0
    dtype = str(engine['kv_cache_dtype'].value or 'auto')
    narrow = dtype == 'auto' and (known.model.quantization or any(word in known.name.lower() for word in ('fp8', 'fp4', 'kv')))
    return 2.0 if dtype in ('auto', 'bfloat16', 'float16', 'bf16') and not narrow else 0.5 if 'fp4' in dtype or 'int4' in dtype else 1.0


def named(engine: Component, gpu: Gpu) -> str:
    """'2 x L4 (22 GiB)'."""
    return f'{engine["world_size"].value} x {gpu.name or gpu.slice or "GPU"} ({gpu.memory_gib:.0f} GiB)'


@rule('engine-weights-too-large', on=('vllm', 'sglang', 'tgi'), severity='error', source='vllm/v1/core/kv_cache_utils.py, "No available memory for the cache blocks"')
def weights_too_large(engine: Component) -> Iterator[Problem]:
    """The weights alone do not fit into the engine's share of its GPUs: it stops while it loads them, or with no room for a KV cache.

    Counted are the parameters at the narrowest width that the options and the name allow, and half a GiB a GPU.
    """
    known, found = bounds(engine, 0)
    gpu, best = found[-1]
    if best.weights and best.left <= 0:
        message = 'the weights of {model} take at least {weights} GiB, {gpus} at a share of {share} leave {room}: the engine stops at start'
        yield Problem(
            engine['model'], message, model=known.name, weights=round(best.weights, 1), gpus=named(engine, gpu), share=_share(engine),
            room=f'{best.left + best.weights:.1f}', severity=None if known.certain else 'warning', see=_see(engine),
        )  # fmt: skip


class Fit(NamedTuple):
    """How one sequence of some length fits into the KV cache."""

    state: str
    """'stops' (not even at best), 'tight' (not with the usual reserve), 'fits'."""
    known: Subject
    values: dict[str, Any]
    fitting: int
    """Tokens that fit with the usual reserve, in whole thousands of 1024."""


def fit(engine: Component, tokens: int) -> Fit:
    """How a sequence of that length fits; NotApplicable where the weights alone do not, or the cache is given directly."""
    generates(engine)
    if engine['kv_cache_memory_bytes'].is_set:
        raise NotApplicable('--kv-cache-memory-bytes sets the cache directly')
    known, found = bounds(engine, tokens)
    gpu, best = found[-1]
    if best.left <= 0 or not best.weights:
        raise NotApplicable('the weights alone do not fit' if best.weights else 'the size of the weights is not known')
    usual = best.left - (RESERVE_GIB - 0.5) * engine['world_size'].value
    fitting = int(max(usual, 0) * GIB / best.bytes_per_token) // 1024 * 1024 if best.bytes_per_token else tokens
    values: dict[str, Any] = {
        'tokens': tokens, 'model': known.name, 'needed': f'{best.needed:.1f}', 'each': round(best.bytes_per_token / 1024), 'gpus': named(engine, gpu),
        'share': _share(engine), 'left': f'{best.left:.1f}', 'weights': f'{best.weights:.1f}', 'room': f'{max(usual, 0):.1f}',
    }  # fmt: skip
    state = 'stops' if best.needed > best.left else 'tight' if best.needed > usual else 'fits'
    return Fit(state, known, values, fitting)
