"""Rules for vLLM that need the model or the GPU: context length, types, quantisation."""

from collections.abc import Iterator
from typing import Any

from configaudit.knowledge.versions import release as version_of
from configaudit.model import Component, NotApplicable, Problem, Unknown, rule
from configaudit.patterns import regex

from .engine_model import Subject, fit, gpus_of, subject
from .releases import release

ROPE = ('--rope-scaling', '--rope-theta')
SHORT_TYPES = ('gemma', 'plamo2', 'glm-4')
"""Families that vLLM refuses to run in 16-bit floats."""
AUTO_FALLS_BACK = version_of('0.9.1')
"""_resolve_auto_dtype is in 0.9.2 and not in 0.9.0."""
_NAMED_FP8 = regex(r'[-_.](?:fp8|FP8)(?=[-_.]|$)')
"""In names of checkpoints; the engine looks into their configuration."""


def _allowed(engine: Component) -> object:
    """What VLLM_ALLOW_LONG_MAX_MODEL_LEN is set to, when it is switched on."""
    word = engine['environment'].value.get('VLLM_ALLOW_LONG_MAX_MODEL_LEN')
    return word if word is not None and word.known and word.value.strip().lower() in ('1', 'true') else None


@rule('vllm-max-model-len-over-cache', on='vllm', severity='error', source='vllm#2418; vllm/v1/core/kv_cache_utils.py check_enough_kv_cache_memory', side_effect='longer requests are refused')
def max_model_len_over_cache(engine: Component) -> Iterator[Problem]:
    """One sequence of the context length does not fit into the KV cache: the engine stops at start.

    It is an error when even the best case does not fit: the narrowest weights that the options allow and half a GiB of reserve on each GPU; advice
    when it does not fit beside the 2 GiB a GPU that activations and CUDA graphs take in practice.
    """
    length = engine['max_model_len']
    if not length.is_set or length.value is None or length.value <= 0:
        raise NotApplicable('--max-model-len is not set, or fitted by the engine')
    found = fit(engine, length.value)
    if found.state == 'fits':
        return
    smaller = length.set(found.fitting) if found.fitting else None
    if found.state == 'stops':
        message = 'one sequence of {tokens} tokens needs {needed} GiB of KV cache ({each} KiB a token), and {gpus} at a share of {share} leave at most {left} beside {weights} GiB of weights: the engine stops at start'
        yield Problem(length, message, **found.values, severity=None if found.known.certain else 'warning', fix=smaller)
    else:
        message = 'one sequence of {tokens} tokens needs {needed} GiB of KV cache ({each} KiB a token), and {gpus} at a share of {share} leave about {room} beside {weights} GiB of weights and 2 GiB a GPU for activations: it may not start'
        yield Problem(length, message, **found.values, severity='advice', fix=smaller)


def _context(engine: Component) -> Subject:
    """The model with its own context; NotApplicable where options stretch it."""
    for name in ROPE:
        if engine['arguments'].value.last(name) is not None:
            raise NotApplicable(f'{name} changes the context of the model')
    return subject(engine)


@rule('vllm-max-model-len-over-model', on='vllm', severity='error', source='vllm/config/model.py _get_and_verify_max_len')
def max_model_len_over_model(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: the context length is above what the model was made for, and nothing allows that.

    A longer context needs RoPE scaling (`--hf-overrides`, `--rope-scaling` until 0.11.0), which changes what the engine derives.
    """
    length = engine['max_model_len']
    if not length.is_set or length.value is None:
        raise NotApplicable('--max-model-len is not set')
    model, name, certain = _context(engine)
    if length.value <= model.context or not certain:
        return
    if _allowed(engine) is not None:
        raise NotApplicable('VLLM_ALLOW_LONG_MAX_MODEL_LEN allows it')
    message = 'a context of {value} tokens for {model}, which takes {context}: the engine stops at start'
    yield Problem(length, message, model=name, context=model.context, fix=length.set(model.context))


@rule('vllm-long-context-allowed', on='vllm', severity='error', source='vllm/config/model.py _get_and_verify_max_len')
def long_context_allowed(engine: Component) -> Iterator[Problem]:
    """The check of the context length is switched off: positions above it give NaN with rotary embeddings, and a CUDA error with absolute ones.

    It is an error where the context is above the model's own, advice where it is not and the switch has no effect, a warning where the model is not known.
    """
    word = _allowed(engine)
    if word is None:
        raise NotApplicable('VLLM_ALLOW_LONG_MAX_MODEL_LEN is not set')
    place, length = word.place, engine['max_model_len']  # type: ignore[attr-defined]
    try:
        model, name, certain = _context(engine)
    except Unknown:
        yield Problem(place, 'VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 lets the context exceed what the model was made for: answers become garbage beyond it', severity='warning', detail='unknown')
        return
    if length.is_set and length.value is not None and length.value > model.context:
        message = 'VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 with a context of {length} tokens for {model}, which takes {context}: positions beyond give NaN or a CUDA error'
        yield Problem(place, message, length=length.value, model=name, context=model.context, severity=None if certain else 'warning', see=[('the context length', length)])
    else:
        yield Problem(place, 'VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 has no effect: {model} takes {context} tokens', model=name, context=model.context, severity='advice', detail='no effect')


@rule('vllm-bfloat16-unsupported', on='vllm', severity='error', source='vllm/platforms/cuda.py check_if_supports_dtype; vllm#1157, vllm#946', side_effect='a smaller range of numbers: some models overflow in 16-bit floats')
def bfloat16_unsupported(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: bfloat16 needs compute capability 8.0, which V100 and T4 do not have.

    With `--dtype auto` releases until 0.9.0 take the type of the weights, mostly bfloat16; later ones fall back to half precision with a warning.
    """
    dtype = engine['dtype']
    given = str(dtype.value or 'auto').lower()
    if given not in ('auto', 'bfloat16') or (given == 'auto' and (engine.version is None or engine.version >= AUTO_FALLS_BACK)):
        raise NotApplicable(f'it computes in {given}' if given != 'auto' else 'it falls back to half precision where needed')
    gpus = gpus_of(engine)
    if any(gpu.capability is None for gpu in gpus):
        raise Unknown('the compute capability of the GPU is not known')
    if any(gpu.capability is not None and gpu.capability >= (8, 0) for gpu in gpus):
        return
    values: dict[str, Any] = {'gpu': ' or '.join(gpu.name for gpu in gpus), 'capability': '.'.join(map(str, gpus[0].capability or ())), 'engine': release(engine)}
    if given == 'bfloat16':
        keeps = any(word in str(engine['model'].known_value or '').lower() for word in SHORT_TYPES)
        message = 'bfloat16 on {gpu}, whose compute capability {capability} is below 8.0: the engine stops at start'
        yield Problem(dtype, message, fix=None if keeps else dtype.set('half'), **values)
        return
    model, name, certain = subject(engine)
    if certain and model.dtype == 'bfloat16' and not engine['quantization'].is_set and 'awq' not in name.lower() and 'gptq' not in name.lower():
        message = '{engine} takes bfloat16 for {model}, and {gpu} has compute capability {capability}, below 8.0: the engine stops at start; --dtype half runs'
        yield Problem(engine.place, message, model=name, detail='auto', **values)


@rule('vllm-quantization-unsupported', on='vllm', severity='error', source='vllm/model_executor/layers/quantization: get_min_capability, 0.8.5 to 0.20.2 and 0.33.0')
def quantization_unsupported(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: the kernels of this quantisation need a newer GPU."""
    given = engine['quantization']
    method, at, see = (str(given.value or ''), given, []) if given.is_set else ('', engine['model'], [])
    if not method:
        method = _of_weights(engine)
        see = [('its quantisation', engine['model_config'])] if engine['model_config'].known_value is not None else []
    if not method:
        raise NotApplicable('the weights are not quantised')
    from configaudit.knowledge.vllm_quantization import least_capability

    least = least_capability(method, engine.version)
    if least is None:
        raise NotApplicable(f'nothing is known against {method}')
    gpus = gpus_of(engine)
    if any(gpu.capability is None for gpu in gpus):
        raise Unknown('the compute capability of the GPU is not known')
    if all(gpu.capability is not None and gpu.capability < least for gpu in gpus):
        message = '{method} needs compute capability {least} in {engine}, {gpu} has {capability}: the engine stops at start'
        yield Problem(
            at, message, method=method, least='.'.join(map(str, least)), engine=release(engine), gpu=' or '.join(gpu.name for gpu in gpus),
            capability='.'.join(map(str, gpus[0].capability or ())), see=see,
        )  # fmt: skip


def _of_weights(engine: Component) -> str:
    """The quantisation of the weights where it is known for certain: by config.json, or as published; else ''."""
    known = _known(engine)
    if known is None:
        return ''
    read = engine['model_config'].known_value is not None
    return known.model.quantization if read or known.name.lower() == known.model.source.lower() else ''


def _known(engine: Component) -> Subject | None:
    try:
        return subject(engine)
    except Unknown:
        return None


@rule('vllm-kv-cache-e5m2-on-fp8-weights', on='vllm', severity='error', source='vllm/attention/layer.py 0.8.5 to 0.33.0, "fp8_e5m2 kv-cache is not supported with fp8 checkpoints"; vllm#8409')
def kv_cache_e5m2_on_fp8_weights(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: layers of an fp8 checkpoint keep scales for an e4m3 cache and refuse an e5m2 one."""
    cache, given = engine['kv_cache_dtype'], engine['quantization']
    if not cache.is_set or cache.value != 'fp8_e5m2':
        raise NotApplicable('the KV cache is not fp8_e5m2')
    method, certain = str(given.value or ''), True
    if not given.is_set:
        named, known = _NAMED_FP8.search(str(engine['model'].value or '')) is not None, _known(engine)
        method = _of_weights(engine) or ('fp8' if named else subject(engine).model.quantization)
        certain = known is not None and known.certain
    if method == 'fp8':
        message = '{value} KV cache with fp8 weights: the engine stops at start'
        yield Problem(cache, message, fix=cache.set('auto'), see=[('the weights', given if given.is_set else engine['model'])], severity=None if certain else 'warning')
