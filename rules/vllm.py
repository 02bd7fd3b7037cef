"""Rules for vLLM engines: the first three changes of the July checklist."""

import re
from collections.abc import Iterator

from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.kv_budget import Budget, kv_budget
from configaudit.knowledge.models import Model, lookup
from configaudit.knowledge.vllm import fp8_kv_support
from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule
from configaudit.patterns import regex
from configaudit.units import show

from .releases import release
from .serving import generates

DOCS = 'vLLM docs, configuration/optimization'
WIDEST_DEFAULT = 1024
ASSUMED_GPU_GIB = 80.0
_OTHER_DEVICES = regex(r'(?:^|[-_.:])(?:neuron|neuronx|tpu|hpu|gaudi|ascend|npu|spyre|openvino|xpu)(?=[-_.:>]|$)', re.IGNORECASE)
"""In an image's name or tag."""
_OF_OTHER_DEVICES = regex(r'(?:HCCL|ASCEND|VLLM_ASCEND|PT_HPU|HABANA|NEURON|CCL_ZE|TPU)_')
"""Variables of Ascend, Gaudi, Neuron, Intel's GPUs and TPUs."""
LARGE_WEIGHTS_GIB = 60.0


def default_of(setting: Setting) -> str:
    """What an unset value comes to: the value, or the possible ones and what they depend on."""
    if setting.is_known:
        return show(setting.known_value)
    if setting.candidates:
        return f'{" or ".join(show(value) for value in setting.candidates)} ({setting.reason})'
    return setting.reason


def budget_of(engine: Component, memory_gib: float) -> Budget | None:
    """What fits on GPUs of that memory with the settings given; None when the model's shape is not known."""
    model, share = engine['model'], engine['gpu_memory_utilization']
    if not model.is_known or not model.known_value or not engine['world_size'].is_known or _spreads_experts(engine):
        return None
    used = share.known_value if share.is_known else max(share.candidates, default=0.92)
    cache = 1.0 if str(engine['kv_cache_dtype'].known_value).startswith('fp8') else 2.0
    read, tensor = engine['model_config'].known_value, engine['tensor_parallel_size']
    return kv_budget(
        str(model.known_value), memory_gib, int(engine['world_size'].value), float(used),  # type: ignore[arg-type]
        quantization=str(engine['quantization'].known_value or ''), dtype=str(engine['dtype'].known_value or 'auto'), cache_bytes=cache,
        model=read if isinstance(read, Model) else None, tensor=int(tensor.value or 1) if tensor.is_known else 0,
    )  # fmt: skip


def _spreads_experts(engine: Component) -> bool:
    """Whether the weights are shared out over data parallel ranks, some of them on other pods."""
    copies = engine['data_parallel_size']
    spread = any(option.name == '--enable-expert-parallel' for option in engine['options'].value)
    return spread and copies.is_set and copies.known_value != 1


def serves(engine: Component) -> None:
    """NotApplicable for an engine in a program that works through a list of prompts: nobody waits for an answer."""
    if engine['command'].known_value == 'offline':
        raise NotApplicable('a program works through its prompts with it, and nobody waits')


def built_for_another_device(engine: Component) -> bool:
    """Whether the image's name says that it is for another kind of device than a GPU."""
    return _OTHER_DEVICES.search(str(engine['image'].known_value or '').rpartition('/')[2]) is not None


def on_gpu(engine: Component) -> None:
    """NotApplicable for CPUs, TPUs, Neuron and the like: batch, memory and graphs work otherwise there."""
    if engine.kind.name == 'vllm' and engine['cpu'].value:
        raise NotApplicable('it runs on a CPU')
    if engine.kind.name == 'vllm' and engine['quantization'].known_value == 'ascend':
        raise NotApplicable('its weights are quantised for Ascend')
    if any(_OF_OTHER_DEVICES.match(name) for name in engine['environment'].value):
        raise NotApplicable('its variables are those of another kind of device')
    if built_for_another_device(engine):
        raise NotApplicable('its image is built for another kind of device')
    for container in engine.peers('container'):
        resource = str(container['gpu_resource'].known_value or 'nvidia.com/')
        if not resource.startswith(('nvidia.com/', 'amd.com/')):
            raise NotApplicable(f'{resource} is no GPU')


@rule(
    'vllm-batch-unset', on='vllm', severity='advice', checklist='july-1', source=f'July tuning checklist, change 1; {DOCS}',
    effect='P99 -35 % (256 -> 128, one A100-80G)', side_effect='peak throughput about -15 %',
)  # fmt: skip
def batch_unset(engine: Component, *, advised: int = 128) -> Iterator[Problem]:
    """The widest batch is left to a default that changes with the release and the GPU.

    Until 0.6.4 it was 256 everywhere; since 0.8.0 it is 256 or 1024, chosen by release and GPU memory, so an upgrade
    or another node moves P99 without a change in this file. Sweep 64-256 under your own load and write the result down.
    """
    generates(engine)
    serves(engine)
    seqs = engine['max_num_seqs']
    on_gpu(engine)
    if not seqs.is_set:
        message = '--max-num-seqs is not set: {engine} runs {default} sequences a batch; measure 64-256 and pin one'
        yield Problem(seqs, message, engine=release(engine), default=default_of(seqs), advised=advised, fix=seqs.set(advised))


@rule(
    'vllm-batch-too-wide', on='vllm', severity='warning', checklist='july-1', source=f'July tuning checklist, change 1; {DOCS}',
    effect='P99 -35 % (256 -> 128, one A100-80G)', side_effect='peak throughput about -15 %',
)  # fmt: skip
def batch_too_wide(engine: Component, *, limit: int = 128, tokens_each: int = 256) -> Iterator[Problem]:
    """A wide batch makes sequences compete for memory bandwidth and KV cache.

    256 -> 128 cut P99 by 35 % on an A100-80G and cost 15 % of peak throughput:
    sweep 64-256 under your own load, then set `limit`. It is a warning when the KV cache cannot hold `tokens_each`
    tokens for every sequence, so that most of the batch is preempted and computed again, or when the value is above
    every default that vLLM ever had.
    """
    seqs = engine['max_num_seqs']
    if not seqs.is_set or seqs.value <= limit:
        return
    serves(engine)
    on_gpu(engine)
    fix = seqs.set(limit)
    gpu: Gpu | None = engine['gpu'].known_value  # type: ignore[assignment]
    memory = gpu.memory_gib if gpu is not None else ASSUMED_GPU_GIB
    budget = budget_of(engine, memory)
    if budget is not None and budget.tokens < seqs.value * tokens_each:
        message = '{value} sequences a batch, over {limit}: on {gpu} about {tokens} tokens of KV cache are left beside {weights} GiB of weights, {each} a sequence'
        named = f'{engine["world_size"].value} x ' + (f'{gpu.name} ({memory:.0f} GiB)' if gpu else f'an assumed GPU of {memory:.0f} GiB')
        yield Problem(seqs, message, limit=limit, gpu=named, tokens=budget.tokens, weights=round(budget.weights, 1), each=budget.tokens // seqs.value, fix=fix)
    elif seqs.value > WIDEST_DEFAULT:
        yield Problem(seqs, '{value} sequences a batch, over {limit} and over every default of vLLM ({widest})', limit=limit, widest=WIDEST_DEFAULT, fix=fix)
    else:
        yield Problem(seqs, '{value} sequences a batch, over {limit}', limit=limit, fix=fix, severity='advice')


@rule(
    'vllm-batch-too-narrow', on='vllm', severity='advice', checklist='july-1', source=f'July tuning checklist, change 1; {DOCS}',
    effect='the GPU is used: decoding is bound by memory bandwidth, which a batch shares', side_effect='more KV cache is used at once',
)  # fmt: skip
def batch_too_narrow(engine: Component, *, least: int = 16) -> Iterator[Problem]:
    """Requests queue while the GPU idles: a decode step costs nearly the same for 4 sequences as for 32."""
    on_gpu(engine)
    serves(engine)
    seqs = engine['max_num_seqs']
    if seqs.is_set and seqs.value < least:
        yield Problem(seqs, '{value} sequences a batch, under {least}: others wait in the queue while the GPU has room', least=least, fix=seqs.set(64))


def _shares_memory(engine: Component) -> Setting:
    """The setting of the memory share, where it has a meaning."""
    if engine['kv_cache_memory_bytes'].is_set:
        raise NotApplicable('--kv-cache-memory-bytes sets the cache directly')
    on_gpu(engine)
    return engine['gpu_memory_utilization']


@rule(
    'vllm-memory-share-unset', on='vllm', severity='advice', checklist='july-2',
    source='July tuning checklist, change 2; vllm/config/cache.py 0.17.1, 0.20.2',
    effect='room for CUDA graphs and activation peaks', side_effect='fewer KV cache blocks: about 6 % of the GPU for 0.05',
)  # fmt: skip
def memory_share_unset(engine: Component, *, advised: float = 0.85) -> Iterator[Problem]:
    """The share of GPU memory is left to a default that rose from 0.9 to 0.92 in 0.20.0.

    The share covers weights, activations and KV cache together. Raise it again when the engine preempts requests and the GPU has room.
    """
    serves(engine)
    share = _shares_memory(engine)
    if not share.is_set:
        message = '--gpu-memory-utilization is not set: {engine} takes {default} of the GPU; the checklist moved to {advised}'
        yield Problem(share, message, engine=release(engine), default=default_of(share), advised=advised, fix=share.set(advised))


@rule(
    'vllm-memory-share-high', on='vllm', severity='warning', checklist='july-2',
    source='July tuning checklist, change 2; vllm#9290, vllm#19186', effect='no CUDA out-of-memory under load', side_effect='fewer KV cache blocks',
)  # fmt: skip
def memory_share_high(engine: Component, *, limit: float = 0.85, crash: float = 0.94) -> Iterator[Problem]:
    """A high share of GPU memory leaves no room for peaks outside vLLM's accounting: CUDA graphs, NCCL buffers, other processes.

    Crashes under load were reported at 0.941 (vllm#9290). Between `limit` and `crash` it is advice: the share is also what the KV
    cache lives on, and preemptions are a reason to raise it.
    """
    share = _shares_memory(engine)
    if not share.is_set or not limit < share.value <= 1:
        return
    if share.value >= crash:
        message = '{value} of the GPU: crashes under load are reported at 0.941; the checklist moved to {limit}'
        yield Problem(share, message, limit=limit, fix=share.set(limit))
    else:
        serves(engine)
        message = '{value} of the GPU, over {limit} that the checklist moved to'
        yield Problem(share, message, limit=limit, severity='advice', fix=share.set(limit))


@rule('vllm-memory-share-out-of-range', on='vllm', severity='error', checklist='july-2', source='vllm/config/cache.py: gt 0, le 1')
def memory_share_out_of_range(engine: Component) -> Iterator[Problem]:
    """The share of GPU memory is a number above 0 and up to 1; the engine stops at start with any other."""
    share = engine['gpu_memory_utilization']
    if share.is_set and not 0 < share.value <= 1:
        fix = share.set(share.value / 100) if 1 < share.value <= 100 else None
        yield Problem(share, '{value} is not a share of the GPU: it must be above 0 and at most 1', fix=fix)


def _backend(engine: Component) -> str:
    word = engine['environment'].value.get('VLLM_ATTENTION_BACKEND')
    return str(engine['attention_backend'].known_value or (word.value if word is not None else ''))


@rule(
    'vllm-kv-cache-full-precision', on='vllm', severity='advice', checklist='july-3',
    source='July tuning checklist, change 3; vLLM docs, features/quantization/quantized_kvcache',
    effect='twice the tokens in the KV cache, P99 -22 % on a long-context service', side_effect='some accuracy, more where the checkpoint has no calibrated scales, and on some backends speed (vllm#7798)',
)  # fmt: skip
def kv_cache_full_precision(engine: Component, *, long_context: int = 32768) -> Iterator[Problem]:
    """A 16-bit KV cache holds half the tokens that an 8-bit one would.

    Said only where it pays and works: a GPU with 8-bit floats (compute capability 8.9 or more), a release that computes with them
    natively, and a context or a model that makes the cache scarce. Measure quality with a calibrated checkpoint before you keep it.

    When it is wrong: on an A100, where it does not run natively; for short contexts; when answers get worse.
    """
    generates(engine)
    dtype, gpu = engine['kv_cache_dtype'], engine['gpu'].value
    if dtype.value != 'auto' or gpu.capability is None or gpu.capability < (8, 9):
        return
    support = fp8_kv_support(engine.version, gpu, backend=_backend(engine))
    if support.state == 'unknown':
        raise Unknown(support.why)
    model = lookup(str(engine['model'].known_value or ''))
    length = engine['max_model_len'].known_value or (model.context if model else 0)
    budget = budget_of(engine, gpu.memory_gib)
    large = budget is not None and budget.weights >= LARGE_WEIGHTS_GIB
    if support.state != 'native' or (model is not None and model.mla) or not (large or int(length) >= long_context):  # type: ignore[call-overload]
        return
    message = 'the KV cache is kept in 16 bits: fp8 would hold twice the tokens on {gpu} with {engine} at a context of {length}'
    yield Problem(dtype, message, gpu=gpu.name, engine=release(engine), length=length or 'unknown length', fix=dtype.set('fp8'))


@rule(
    'vllm-kv-cache-fp8-unsupported', on='vllm', severity='error', checklist='july-3',
    side_effect='the KV cache takes twice the memory of the 8-bit one', source='vllm 0.8.5, 0.10.2, 0.16.0 attention backends; vllm#26431, vllm#18182',
)  # fmt: skip
def kv_cache_fp8_unsupported(engine: Component) -> Iterator[Problem]:
    """An 8-bit KV cache does not run on this GPU with this release: the engine stops, or falls back to the older V0 engine."""
    dtype = engine['kv_cache_dtype']
    if not dtype.is_set or not dtype.value.startswith('fp8') or dtype.value in ('fp8_inc', 'fp8_ds_mla'):
        return
    v1 = engine['environment'].value.get('VLLM_USE_V1')
    gpus: tuple[Gpu, ...] = engine['gpu'].candidates or (engine['gpu'].value,)
    found = [fp8_kv_support(engine.version, gpu, backend=_backend(engine), use_v1=v1 is not None and v1.value == '1') for gpu in gpus]
    support, gpu = found[0], gpus[0]
    if len({each.state for each in found}) > 1 or support.state == 'unknown':
        raise Unknown(next((each.why for each in found if each.state == 'unknown'), 'it depends on the GPU'))
    if support.state == 'error':
        yield Problem(dtype, '{value} does not start on {gpu} with {engine}: {why}', gpu=gpu.name, engine=release(engine), why=support.why, fix=dtype.set('auto'))
    elif support.state == 'fallback-v0':
        message = '{value} on {gpu} makes {engine} fall back to the V0 engine: {why}'
        yield Problem(dtype, message, gpu=gpu.name, engine=release(engine), why=support.why, severity='warning', fix=dtype.set('auto'))


@rule(
    'vllm-kv-cache-fp8-uncalibrated', on='vllm', severity='advice', checklist='july-3',
    source='vLLM docs, features/quantization/quantized_kvcache', side_effect='calibration needs a data set and a run',
)  # fmt: skip
def kv_cache_fp8_uncalibrated(engine: Component) -> Iterator[Problem]:
    """Without calibrated scales in the checkpoint, an 8-bit KV cache scales by 1.0 and loses accuracy on some models.

    Evaluate the answers of your own task, or use a checkpoint that carries KV scales.
    """
    dtype, model = engine['kv_cache_dtype'], str(engine['model'].known_value or '').lower().rpartition('/')[2]
    if not dtype.is_set or not dtype.value.startswith('fp8') or dtype.value in ('fp8_inc', 'fp8_ds_mla'):
        return
    if engine['calculate_kv_scales'].known_value or 'kv' in model:
        return
    yield Problem(dtype, '{value} KV cache: unless the checkpoint carries KV scales they are 1.0; compare answers with a 16-bit cache')
