"""Rules for replacing pods of an inference service: rollouts, evictions, the end of a pod's life."""

import math
import re
from collections.abc import Iterator
from typing import Any

from configaudit.model import Component, Fix, NotApplicable, Problem, Setting, Unknown, rule
from configaudit.patterns import regex

from .ports import texts
from .probes import arithmetic, budget, deadline_after
from .serving import AS_WRITTEN, SHORT_ANSWERS, generates, idles, is_gateway, serving_engine

_DEPLOYMENT = 'Kubernetes documentation, concepts/workloads/controllers/deployment'
_LIFECYCLE = 'Kubernetes documentation, concepts/workloads/pods/pod-lifecycle, termination of pods'
_SLEEP = regex(r'\bsleep\s+(\d+(?:\.\d+)?)(?![\d.]*[mhd\w])')


def share(value: Any, of: int, up: bool) -> int:
    """A number or a percentage of replicas, rounded as the Deployment controller does: surge up, unavailable down."""
    if isinstance(value, str) and value.endswith('%'):
        part = of * float(value[:-1]) / 100
        return math.ceil(part) if up else math.floor(part)
    return int(value)


def counted(number: int, noun: str) -> str:
    """'1 GPU', '2 GPUs', '2 of google.com/tpu'."""
    return f'{number} of {noun}' if '/' in noun else f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def _device(workload: Component) -> str:
    """'GPU', or the name of the resource where it is another device."""
    names = {str(container['gpu_resource'].known_value) for pod in workload.peers('pod') for container in pod.peers('container') if container['gpu_resource'].is_set}
    others = sorted(name for name in names if not name.startswith(('nvidia.com/', 'amd.com/', 'gpu.intel.com/')))
    return others[0] if len(names) == 1 and others else 'GPU'


@rule(
    'gpu-rollout-needs-spare-gpus', on='workload', severity='warning', source=f'{_DEPLOYMENT}; LLMKube#192, airunway#400',
    effect='a rollout finishes without spare GPUs', side_effect='one replica fewer serves while it is replaced: of a single replica, none until the new pod has loaded',
)  # fmt: skip
def gpu_rollout_needs_spare_gpus(workload: Component) -> Iterator[Problem]:
    """The rollout starts a new GPU pod before it stops an old one, and hangs where all GPUs are in use.

    One new pod must find its GPUs before the first old one goes. maxSurge is rounded up and maxUnavailable down: the default 25 % of each
    is 1 and 0 up to three replicas. A ReadWriteOnce volume
    holds the new pod back in the same way.

    When it is wrong: the cluster always has that many GPUs free, or adds nodes in time.
    """
    held = [pod['gpus'] for pod in workload.peers('pod') if pod['gpus'].is_set]
    if workload['object_kind'].value != 'Deployment' or not held:
        raise NotApplicable('it rolls no pods with GPUs')
    if all(idles(container) for pod in workload.peers('pod') for container in pod.peers('container')):
        raise NotApplicable('its pods only wait for somebody to open a shell')
    gpus, replicas = sum(gpu.value for gpu in held), int(workload['replicas'].value)
    if workload['strategy'].value != 'RollingUpdate' or not gpus or not replicas:
        return
    surge, unavailable = workload['max_surge'], workload['max_unavailable']
    more, fewer = share(surge.value, replicas, True), share(unavailable.value, replicas, False)
    if fewer or not more:
        return
    at = next((found for found in (unavailable, surge, workload['strategy'], workload['replicas']) if found.is_set), surge)
    message = 'the rollout starts {more} before it stops one of {replicas}: maxUnavailable {zero} 0, so it hangs unless {spare} more can be had'
    see = [('the strategy belongs here', workload.place)] if at.name == 'replicas' else []
    see += [('its volume', pod['rwo_claims'].place) for pod in workload.peers('pod') if pod['rwo_claims'].is_set]
    yield Problem(at, message, more=counted(more, 'pod'), replicas=replicas, zero=f'{unavailable.value} rounds to' if isinstance(unavailable.value, str) else 'is', spare=counted(gpus, _device(workload)), see=see, fix=_without_surge(surge, unavailable), detail='strategy')


def _without_surge(surge: Setting, unavailable: Setting) -> Fix:
    """No surge; one pod may be missing. A percentage that rounds to 0 counts as 1 once there is no surge."""
    changes = surge.set(0).changes
    if not isinstance(unavailable.value, str):
        changes += unavailable.set(1).changes
    return Fix(changes, (), False, 'replace pods one by one')


@rule('progress-deadline-shorter-than-startup', on='workload', severity='warning', side_effect='a rollout that really hangs is reported later', source=f'{_DEPLOYMENT}#progress-deadline-seconds')
def progress_deadline_shorter_than_startup(workload: Component) -> Iterator[Problem]:
    """The rollout is declared failed while a pod may still start: pipelines that wait for it stop or roll back.

    The deadline only sets a condition; the pods go on.
    """
    if workload['object_kind'].value != 'Deployment' or not (workload.peers('engine') or _fronts(workload)):
        raise NotApplicable('no inference server runs in it, or it has no progress deadline')
    deadline = workload['progress_deadline_s']
    for pod in workload.peers('pod'):
        for container in pod.peers('container'):
            if container['init'].value or not container['startup_probe'].is_set:
                continue
            seconds = budget(container, 'startup')
            if seconds > deadline.value:
                at = deadline if deadline.is_set else container['startup_failures']
                message = 'progressDeadlineSeconds {deadline} is less than the {budget} = {seconds} s in which {name} may start: the rollout counts as failed before'
                severity = None if deadline.is_set else 'advice'
                wanted = deadline.set(deadline_after(seconds))
                see = [('the time to start', container['startup_probe'])]
                yield Problem(at, message, deadline=deadline.value, budget=arithmetic(container, 'startup'), seconds=seconds, name=container.name, severity=severity, see=see, fix=wanted, detail=container.name)  # type: ignore[arg-type]


@rule(
    'pdb-missing', on='workload', severity='advice', confidence='medium', source='Kubernetes documentation, tasks/run-application/configure-pdb',
    effect='a node drain takes replicas one by one', side_effect='a drain waits for the replicas to load again',
)  # fmt: skip
def pdb_missing(workload: Component) -> Iterator[Problem]:
    """No PodDisruptionBudget among the files: a drain of nodes may evict all replicas at once, and each needs minutes to load."""
    if workload['object_kind'].value not in AS_WRITTEN - {'Pod', 'DaemonSet'} or not (workload.peers('engine') or _fronts(workload)):
        raise NotApplicable('no inference service runs in it')
    replicas = workload['replicas']
    if replicas.value >= 2 and not workload.peers('disruption-budget'):
        if any(pod.partial for pod in workload.peers('pod')):
            raise Unknown('its pods are only partly seen')
        yield Problem(replicas, '{value} replicas and no PodDisruptionBudget among the files: a drain may evict them all at once')


def _fronts(workload: Component) -> bool:
    return any(is_gateway(container) for pod in workload.peers('pod') for container in pod.peers('container'))


def hook_sleeps(container: Component) -> float | None:
    """Seconds that the preStop hook sleeps; None when it does something else; 0 without a hook."""
    sleep, hook = container['pre_stop_sleep_s'], container['pre_stop']
    if sleep.is_set:
        return float(sleep.value)
    if not hook.is_set:
        return 0 if hook.value is None else None
    text = ' '.join(texts(hook.value))
    found = _SLEEP.findall(text)
    plain = len(found) == 1 and not re.search(r'\b(while|until|for|curl|wget|python)\b', text)
    return float(found[0]) if plain else None


@rule(
    'grace-shorter-than-generation', on='pod', severity='warning', source=f'{_LIFECYCLE}; vllm#24885, kserve#5485, llm-d#927',
    effect='no stream is cut by a rollout, scale-down or drain', side_effect='rollouts and drains take as long as the longest answer',
)  # fmt: skip
def grace_shorter_than_generation(pod: Component, *, longest_generation_s: float = 90) -> Iterator[Problem]:
    """Answers that still run when the grace period ends are cut off, and requests still arrive while endpoints are updated.

    The period must hold the preStop sleep and the longest generation (`longest_generation_s`). A preStop hook that waits for the engine to
    run dry is taken as it is.
    """
    kind = pod['object_kind'].value
    if kind not in AS_WRITTEN or (kind == 'Pod' and not pod.peers('service')):
        raise NotApplicable('nothing rolls it, or its operator sets the period')
    container = next((found for found in pod.peers('container') if found.peers('engine')), None)
    if container is None:
        raise NotApplicable('no inference server runs in it')
    engine = serving_engine(container)
    generates(engine)
    if engine.kind.name in SHORT_ANSWERS:
        raise NotApplicable('its answers take milliseconds')
    grace, sleep = pod['grace_s'], hook_sleeps(container)
    if sleep is None or sleep >= longest_generation_s or sleep + longest_generation_s <= grace.value:
        return
    need = math.ceil(sleep + longest_generation_s)
    fix = grace.set(need) if need > grace.value else None
    if sleep:
        message = 'a grace period of {value} s holds a preStop sleep of {sleep} s and {left} s for answers: the longest takes {longest} s'
        yield Problem(grace, message, sleep=sleep, left=max(grace.value - sleep, 0), longest=longest_generation_s, fix=fix)
    else:
        message = 'a grace period of {value} s and no preStop hook: answers of up to {longest} s are cut by every rollout and scale-down'
        yield Problem(grace, message, longest=longest_generation_s, fix=fix)


@rule('pre-stop-exceeds-grace', on='container', severity='warning', side_effect='rollouts and drains take longer', source=_LIFECYCLE)
def pre_stop_exceeds_grace(container: Component) -> Iterator[Problem]:
    """The preStop hook uses up the whole grace period: the process is killed as soon as it is told to stop.

    The hook counts inside the period.
    """
    hook = container['pre_stop']
    if not hook.is_set or container['init'].value or not (hook.is_known or container.peers('engine')):
        raise NotApplicable('no preStop hook is seen')
    sleep, grace = hook_sleeps(container), container.peer('pod')['grace_s']
    if sleep and sleep >= grace.value:
        at = container['pre_stop_sleep_s'] if container['pre_stop_sleep_s'].is_set else container['pre_stop']
        message = 'the preStop hook sleeps {sleep} s of a grace period of {grace} s: the process is killed at once afterwards'
        yield Problem(at, message, sleep=sleep, grace=grace.value, see=[('the grace period', grace)], fix=grace.set(math.ceil(sleep) + 30))
