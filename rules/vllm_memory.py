"""Rules for what a vLLM engine takes of a GPU's and a host's memory beside its share, and how it finds its GPU."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule
from configaudit.units import show_bytes

from .releases import is_among, release
from .serving import generates
from .vllm import on_gpu

GIB = 2**30


@rule('vllm-memory-share-overridden', on='vllm', severity='advice', source='vllm/config/cache.py 0.10.2 to 0.33.0: kv_cache_memory_bytes ignores gpu_memory_utilization')
def memory_share_overridden(engine: Component) -> Iterator[Problem]:
    """--kv-cache-memory-bytes sets the size of the KV cache, and --gpu-memory-utilization then changes nothing: keep one of the two."""
    size, share = engine['kv_cache_memory_bytes'], engine['gpu_memory_utilization']
    if size.is_set and share.is_set:
        yield Problem(share, '--gpu-memory-utilization {value} has no effect beside --kv-cache-memory-bytes', see=[('the size of the KV cache', size)], fix=share.remove())


@rule('vllm-swap-space-large', on='vllm', severity='warning', source='vllm 0.7.3 config.py verify_with_parallel_config; vllm#20558, vllm#188', effect='the container is not killed while it starts', side_effect='preempted sequences are computed again')
def swap_space_large(engine: Component, *, most: float = 0.4) -> Iterator[Problem]:
    """The V0 engine pins its swap space in host memory, GiB for each GPU: more than 40 % of the container's limit leaves too little for the rest.

    vLLM compares it with the memory of the whole node and warns at 40 %, stops at 70 %; it does not see the container's limit.
    """
    container = next(iter(engine.peers('container')), None)
    if engine['generation'].value != 'V0' or container is None or not container['memory_limit'].is_set:
        raise NotApplicable('V1 never swaps, or no memory limit is seen')
    swap, gpus, limit = engine['swap_space'], engine['tensor_parallel_size'], container['memory_limit']
    taken = float(swap.value or 0) * gpus.value * GIB
    if taken > most * limit.value:
        message = '{gpus} x {value} GiB of swap space is pinned out of the {limit} that the container may use, over {most} %'
        yield Problem(swap, message, gpus=gpus.value, limit=show_bytes(limit.value), most=round(100 * most), see=[('memory limit', limit)], fix=swap.set(0), severity=None if swap.is_set else 'advice')


@rule('vllm-batch-default-too-wide', on='vllm', severity='warning', source='vllm 0.8.0 to 0.8.3 engine/arg_utils.py: 1024 sequences on every GPU; vllm#15105, vllm#14452', side_effect='fewer sequences run at once')
def batch_default_too_wide(engine: Component, *, small_gib: float = 70) -> Iterator[Problem]:
    """These releases run 1024 sequences on every GPU, small ones too, and run out of memory while they warm up the sampler.

    0.8.4 went back to 256 on GPUs other than H100 and H200.
    """
    generates(engine)
    on_gpu(engine)
    seqs = engine['max_num_seqs']
    if seqs.is_set or engine.version is None or not is_among(engine, '0.8.0', '0.8.4'):
        raise NotApplicable('a width is given, or it is not known to be one of these four releases')
    gpu = engine['gpu'].value
    if gpu.memory_gib < small_gib and seqs.value >= 1024:
        message = '--max-num-seqs is not set: {engine} warms up {value} sequences on {gpu} with {memory} GiB; later releases take 256'
        yield Problem(seqs, message, engine=release(engine), gpu=gpu.name, memory=f'{gpu.memory_gib:.0f}', fix=seqs.set(128))


@rule('vllm-device-by-uuid', on='vllm', severity='error', source='vllm/platforms/interface.py and cuda.py 0.6.6 to 0.23.0: int(physical_device_id); vllm#41848, vllm#20939, vllm#6551')
def device_by_uuid(engine: Component) -> Iterator[Problem]:
    """CUDA_VISIBLE_DEVICES names a GPU or a MIG slice by its UUID, which these releases read as a number and stop.

    NVIDIA_VISIBLE_DEVICES, which the container runtime reads, may hold UUIDs.
    """
    word = engine['environment'].value.get('CUDA_VISIBLE_DEVICES')
    names = [part.strip() for part in word.value.split(',')] if word is not None and word.known else []
    if any(name.startswith(('MIG-', 'GPU-')) for name in names) and is_among(engine, '0.6.6', '0.24.0'):
        message = 'CUDA_VISIBLE_DEVICES={setting}: {engine} reads it as a number and stops at start; give the index'
        yield Problem(word.use or word.place, message, setting=word.value, engine=release(engine))


@rule('vllm-chunked-prefill-redundant', on='vllm', severity='advice', source='vllm/engine/arg_utils.py 0.8.5 to 0.33.0')
def chunked_prefill_redundant(engine: Component) -> Iterator[Problem]:
    """Chunked prefill is on for generative models since 0.8.0: the flag says nothing, and its way of taking a value changed twice."""
    generates(engine)
    chunked = engine['enable_chunked_prefill']
    if not chunked.is_set or not chunked.value or not is_among(engine, '0.8.0') or engine['generation'].value != 'V1' or engine['cpu'].value:
        return
    if engine['arguments'].value.last('--enable-chunked-prefill').value is None:
        yield Problem(chunked, '--enable-chunked-prefill changes nothing: {engine} has it on for generative models', engine=release(engine), fix=chunked.remove())


@rule('vllm-served-name-missing', on='vllm', severity='advice', source='vllm docs, serving/openai_compatible_server: --served-model-name; vllm#13150', side_effect='clients that ask for the path have to change')
def served_name_missing(engine: Component) -> Iterator[Problem]:
    """Clients have to ask for the path of a folder: without --served-model-name it is the model's name, in requests, metrics and logs.

    A move of the volume then changes the API.
    """
    model, name = engine['model'], engine['served_model_name']
    if not model.is_set or not str(model.value or '').startswith('/') or name.is_set:
        return
    if name.value is None:
        yield Problem(model, 'no --served-model-name is given: clients have to ask for the model {value}')
