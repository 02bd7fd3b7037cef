"""Rules for inference engines of every kind: GPUs, shared memory, signals, debugging variables, words joined by mistake."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Setting, Slot, Unknown, rule
from configaudit.units import show_bytes

from .vllm import on_gpu

WHOLE_GPUS = ('nvidia.com/gpu', 'amd.com/gpu', 'habana.ai/gaudi', 'gpu.intel.com/xe', 'gpu.intel.com/i915')
BRING_SHM = (
    'DynamoGraphDeployment', 'DynamoComponentDeployment', 'LLMInferenceService', 'LLMInferenceServiceConfig', 'NIMService', 'Model', 'Workspace',
    'InferenceSet',
)  # fmt: skip
"""Kinds whose operator mounts memory at /dev/shm itself, beside all of Ray."""
ONE_POD = ('Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'Rollout', 'Service', 'InferenceService', 'VLLMRuntime')
"""Kinds whose pods know nothing of one another unless the command line says so."""
GIB = 2**30


class Need(NamedTuple):
    """GPUs that an engine needs on each of its pods."""

    total: int
    words: str
    copies: int
    """Engines side by side in one pod (data parallel ranks)."""


def container_of(engine: Component) -> Component:
    """The pod's container that runs the engine; compose, docker and units have rules of their own."""
    if not engine.peers('container'):
        raise NotApplicable('it does not run in a pod')
    return engine.peer('container')


def _need(engine: Component) -> Need:
    """GPUs of one replica, and how they come about."""
    if engine.kind.name != 'vllm':
        size = engine['world_size'].value
        copies = 1
        if engine.kind.name == 'sglang' and engine['dp_size'].is_set and not engine['enable_dp_attention'].known_value:
            copies = engine['dp_size'].value
        if engine.kind.name == 'lmdeploy' and engine['dp'].is_set and engine['dp'].value != 1:
            raise Unknown('its data parallel ranks may share GPUs')
        words = f'{size} shards' if engine.kind.name == 'tgi' else f'tensor x pipeline parallel {size}'
        return Need(size, words + (f' x data parallel {copies}' if copies != 1 else ''), copies)
    size = engine['world_size'].value
    words = f'tensor parallel {engine["tensor_parallel_size"].value} x pipeline parallel {engine["pipeline_parallel_size"].value}'
    local = engine['data_parallel_size_local']
    ranks = local if local.is_set else engine['data_parallel_size']
    spread = {'--data-parallel-address', '--data-parallel-start-rank', '--data-parallel-rank', '--data-parallel-external-lb', '--data-parallel-hybrid-lb', '--headless'}
    if not local.is_set and ranks.is_set and any(option.name in spread for option in engine['options'].value):
        raise Unknown('its data parallel ranks are spread over pods')
    copies = ranks.value if ranks.is_set else 1
    return Need(size, words + (f' x data parallel {copies}' if copies != 1 else ''), copies)


def _group(engine: Component, container: Component) -> tuple[int, str]:
    """GPUs that the engine's pods hold together, and in words."""
    own = container['gpu_limit'].value
    for workload in engine.peers('workload'):
        if workload['group_size'].is_set:
            size = workload['group_size'].value
            pods = {'workerTemplate' in pod.identity: pod['gpus'] for pod in workload.peers('pod')}
            leader, worker = pods.get(False, container['gpu_limit']), pods.get(True, container['gpu_limit'])
            return leader.value + (size - 1) * worker.value, f'a group of {size} pods'
    nodes = engine['nodes']
    if container.kind.name == 'sky-task':
        return own, 'each node of the task'
    return own * nodes.value, f'{nodes.value} pods' if nodes.is_set and nodes.value > 1 else 'the container'


def _stages(engine: Component) -> bool:
    """Whether the engine runs several models in stages, each on GPUs of its own (vllm-omni)."""
    return any(option.given in ('--omni', '--stage-configs-path') for option in engine['options'].value) or 'omni' in str(engine['image'].known_value)


@rule('engine-gpus-mismatch', on=('vllm', 'sglang', 'tgi', 'tensorrt-llm', 'lmdeploy'), severity='error', source='vllm#596; vllm/config/parallel.py; sglang/srt/server_args.py')
def gpus_mismatch(engine: Component) -> Iterator[Problem]:
    """The engine is told to use another number of GPUs than its pod is given: more and it stops at start, fewer and the rest idles.

    For a LeaderWorkerSet and for engines told of several nodes the GPUs of the whole group count, for a model of Ray Serve those of all
    worker groups at their largest.
    """
    if engine.peers('ray-model'):
        yield from _on_ray(engine, engine.peer('ray-model'))
        return
    container = engine.peer('sky-task') if engine.peers('sky-task') else container_of(engine)
    if not container['gpu_limit'].is_set:
        if engine['world_size'].is_known and engine['world_size'].value == 1:
            raise NotApplicable('it needs one GPU')
        raise Unknown('the files do not show how many GPUs it is given')
    if container['gpu_resource'].known_value not in WHOLE_GPUS:
        raise NotApplicable('it is given other accelerators or parts of GPUs')
    need = _need(engine)
    limit, size = container['gpu_limit'], engine['world_size']
    have, where = _group(engine, container)
    wanted = need.total * need.copies
    if wanted > have:
        kinds = [pod['object_kind'].known_value for pod in engine.peers('pod')]
        if where == 'the container' and (engine['ray_cluster'].value or any(kind not in ONE_POD for kind in kinds)):
            raise Unknown('how many pods work together is not shown')
        message = '{words} needs {wanted} GPUs, {where} is given {have}: the engine stops at start'
        yield Problem(size, message, words=need.words, wanted=wanted, have=have, where=where, see=[('GPUs it is given', limit)])
    elif wanted < limit.value and container.kind.name == 'container' and len(container.peers('engine')) == 1 and not engine['ray_cluster'].value and not _stages(engine):
        message = '{words} uses {wanted} of {have} GPUs: {idle} of them idle'
        yield Problem(
            limit, message, words=need.words, wanted=wanted, have=limit.value, idle=limit.value - wanted, severity='warning',
            see=[('the engine', engine.place)], detail='idle',
        )  # fmt: skip


def _on_ray(engine: Component, model: Component) -> Iterator[Problem]:
    """A model of Ray Serve: its replicas share what the cluster can grow to."""
    cluster, replicas, need = model['cluster_gpus'], model['replicas'], _need(engine)
    if not cluster.is_set:
        raise Unknown('how many GPUs its cluster has is not shown')
    each, wanted = need.total * need.copies, need.total * need.copies * max(replicas.value, 1)
    if wanted > cluster.value:
        fits = each <= cluster.value
        words = need.words + (f' x {replicas.value} replicas' if replicas.value > 1 else '')
        yield Problem(
            replicas if fits else engine['world_size'], '{words} needs {wanted} GPUs, the Ray cluster has at most {have}: {rest}', words=words,
            wanted=wanted, have=cluster.value, rest='some replicas wait for ever' if fits else 'not one replica can start',
            severity='warning' if fits else None, see=[('the cluster', cluster)],
        )  # fmt: skip


def _gpus_here(engine: Component, container: Component) -> int:
    """GPUs of one replica that lie in this pod."""
    size, limit = engine['world_size'], container['gpu_limit']
    if engine['ray_cluster'].value or engine['nodes'].is_set or any(workload['group_size'].is_set for workload in engine.peers('workload')):
        return min(size.value, limit.value) if limit.is_set else 1
    return int(min(size.value, limit.value) if limit.is_set and limit.is_known else size.value)


def _shared_memory(engine: Component, container: Component) -> Setting | None:
    """How /dev/shm is backed; None when something else than the pod decides."""
    for pod in engine.peers('pod'):
        kind = str(pod['object_kind'].known_value)
        if pod['host_ipc'].value or kind in BRING_SHM or 'Ray' in kind:
            return None
    return container['shm']


@rule(
    'engine-shm-default', on=('vllm', 'sglang', 'tgi', 'tensorrt-llm', 'lmdeploy'), severity='error', source='vllm#1710, sglang#4259, nccl#525; vLLM docs, deployment/k8s',
    side_effect='what is written there counts against the memory limit',
)  # fmt: skip
def shm_default(engine: Component) -> Iterator[Problem]:
    """NCCL cannot create its segments: GPUs of one pod talk through /dev/shm, and a container's default is 64 MiB.

    Mount an emptyDir of medium Memory at /dev/shm. Operators that mount one themselves (KubeRay, Dynamo) are left alone.
    """
    container, size = container_of(engine), engine['world_size']
    if (size.is_known and size.value == 1) or _gpus_here(engine, container) <= 1:
        return
    on_gpu(engine)
    shm = _shared_memory(engine, container)
    if shm is None:
        raise NotApplicable('an operator mounts /dev/shm, or it is the host\'s')
    disabled = engine['environment'].value.get('NCCL_SHM_DISABLE')
    if shm.value is None and not (disabled is not None and disabled.value == '1'):
        message = '{gpus} GPUs of one pod exchange data through /dev/shm, which is 64 MiB by default: NCCL stops at start'
        yield Problem(size, message, gpus=_gpus_here(engine, container), fix=_mount(engine, container), see=[('the container', container.place)])
    elif shm.value is not None and shm.value['source'] == 'emptyDir' and shm.value['medium'] != 'Memory':
        yield Problem(shm, '/dev/shm is an emptyDir on disk: {gpus} GPUs exchange data through it; give it medium: Memory', gpus=_gpus_here(engine, container), severity='warning')


def _mount(engine: Component, container: Component) -> Fix | None:
    pod, own = next(iter(engine.peers('pod')), None), container['shm']
    if own.slot is not None and own.unit:
        return own.set('8Gi')
    if pod is None or pod.slots is None or container.slots is None:
        return None
    limit = container['memory_limit'].known_value
    size = '8Gi' if limit is None or float(limit) >= 24 * GIB else '2Gi'  # type: ignore[arg-type]
    volume = [{'name': 'shm', 'emptyDir': {'medium': 'Memory', 'sizeLimit': size}}]
    mount = [{'name': 'shm', 'mountPath': '/dev/shm'}]
    return Fix((
        Change(container.slots._replace(path=('volumeMounts',)), mount, 'volumeMounts'),
        Change(pod.slots._replace(path=('volumes',)), volume, 'volumes'),
    ))  # fmt: skip


@rule('engine-shm-unsized', on='engine', severity='advice', source='Kubernetes docs, concepts/storage/volumes, emptyDir')
def shm_unsized(engine: Component) -> Iterator[Problem]:
    """Shared memory without a size limit is bounded by the container's memory limit only, and counts against it: filling it gets the engine killed."""
    container = container_of(engine)
    shm = container['shm']
    if not shm.is_set or shm.value['medium'] != 'Memory' or shm.value['size'] is not None:
        return
    limit = container['memory_limit']
    if limit.is_set and limit.is_known:
        yield Problem(shm, '/dev/shm has no sizeLimit: it may take all of the {limit} that the container may use', limit=show_bytes(limit.value), see=[('memory limit', limit)])
    else:
        yield Problem(shm, '/dev/shm has no sizeLimit: it may take the memory of the whole node')


@rule('engine-shell-swallows-signals', on='engine', severity='advice', source='Kubernetes docs, concepts/workloads/pods/pod-lifecycle, termination')
def shell_swallows_signals(engine: Component) -> Iterator[Problem]:
    """In a pipeline the shell stays process 1 and passes no SIGTERM on: the engine is killed at the end of the grace period, requests and all.

    Write the log to standard output, or `exec` the engine with `> >(tee file)`.
    """
    if engine['piped'].value and not engine.peers('sky-task'):
        yield Problem(engine.place, 'the engine runs in a pipeline: the shell is process 1 and SIGTERM never reaches the engine')


_DEBUG = (
    ('CUDA_LAUNCH_BLOCKING', r'1|true', 'warning', 'makes every kernel wait for the one before'),
    ('VLLM_TRACE_FUNCTION', r'1|true', 'warning', 'writes every function call to a file'),
    ('NCCL_DEBUG', r'info|trace', 'advice', 'logs every collective set-up'),
    ('VLLM_LOGGING_LEVEL', r'debug', 'advice', 'logs inside the decode loop'),
    ('TORCH_CPP_LOG_LEVEL', r'info', 'advice', 'logs inside the libraries'),
)


@rule('engine-debug-environment', on='engine', severity='warning', source='vLLM docs, usage/troubleshooting')
def debug_environment(engine: Component) -> Iterator[Problem]:
    """A variable for debugging was left in: the engine slows down or floods its log."""
    for name, pattern, severity, why in _DEBUG:
        word = engine['environment'].value.get(name)
        if word is not None and word.known and re.fullmatch(pattern, word.value.strip(), re.IGNORECASE):
            yield Problem(word.place, '{name}={setting} {why}', name=name, setting=word.value, why=why, severity=severity, detail=name)  # type: ignore[arg-type]


@rule('argument-flag-and-value-joined', on='engine', severity='error', source='Kubernetes docs, tasks/inject-data-application/define-command-argument-container')
def flag_and_value_joined(engine: Component) -> Iterator[Problem]:
    """One list item is one argument: a flag and its value in one item, with a space between, are a flag nobody knows.

    No shell splits the items of `args`. Write two items, or one with `=`.
    """
    for option in engine['options'].value:
        text = option.word.value
        if re.match(r'--?[A-Za-z][\w.-]*(\s+\S|=\S+\s+--[a-z])', text) is None:
            continue
        parts = text.split()
        fix = None
        if len(parts) == 2 and option.word.pure and parts[0].startswith('--'):
            fix = Fix((Change(Slot('argument', option.word.place), '='.join(parts), 'argument', option.word.locked),), (), True)
        yield Problem(option.word.place, '{argument} is one argument: no shell splits it, the engine stops with "unrecognized arguments"', argument=repr(text), fix=fix, detail=parts[0])
