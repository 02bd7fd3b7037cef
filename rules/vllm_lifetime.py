"""Rules for the end of a vLLM engine's life and for overload: what happens to requests that run or wait."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .releases import is_among, release
from .rollout import hook_sleeps
from .serving import AS_WRITTEN, serving_engine

_SOURCE = 'vllm 0.18.1, 0.33.0 entrypoints/launcher.py, v1/engine/core.py: shutdown_timeout; vllm#24885, kserve#5485, llm-d#927'


def _answering(engine: Component) -> Component:
    """The container in which the engine answers requests until its pod is replaced."""
    for container in engine.peers('container'):
        if serving_engine(container) is engine:
            return container
    raise NotApplicable('it does not serve in a pod')


@rule('vllm-shutdown-aborts-requests', on='vllm', severity='warning', source=_SOURCE, effect='rollouts and scale-downs cut no answer', side_effect='a pod takes longer to end')
def shutdown_aborts_requests(engine: Component, *, longest_generation_s: float = 90) -> Iterator[Problem]:
    """On SIGTERM the engine aborts every running request at once: its own time to drain is 0 unless --shutdown-timeout is given.

    A long terminationGracePeriodSeconds alone does not help. Nothing is said where a preStop hook waits for the longest answer, or does
    something that cannot be told. It is a warning where the grace period shows that somebody wanted to drain, advice otherwise.
    """
    container = _answering(engine)
    pod = container.peer('pod')
    timeout, sleep, grace = engine['shutdown_timeout'], hook_sleeps(container), pod['grace_s']
    kind = pod['object_kind'].value
    if kind not in AS_WRITTEN or (kind == 'Pod' and not pod.peers('service')) or sleep is None or sleep >= longest_generation_s:
        raise NotApplicable('nothing rolls it, its operator drains it, or its preStop hook does')
    drains = grace.is_set and grace.value > 30
    if engine.version is None and not drains:
        raise NotApplicable('nobody asked for a time to drain, and releases before 0.18.0 have none')
    if timeout.value or not is_among(engine, '0.18.0'):
        return
    left = math.floor(grace.value - sleep - 5)
    fix = timeout.set(int(min(left, longest_generation_s))) if left > 0 else None
    message = '{engine} aborts running requests at SIGTERM: --shutdown-timeout is {zero}, and the grace period of {grace} s is not used'
    yield Problem(timeout, message, engine=release(engine), zero=0 if timeout.is_set else 'not given', grace=grace.value, see=[('the grace period', grace)], fix=fix, severity=None if drains and not engine.note else 'advice')


@rule('vllm-queue-unbounded', on='vllm', severity='advice', source='vllm 0.29.0 config/scheduler.py: max_num_queued_reqs, max_num_queued_tokens', side_effect='clients get a 503 and have to try again')
def queue_unbounded(engine: Component) -> Iterator[Problem]:
    """Nothing limits the queue: under overload every request waits longer than its client does, and none is refused in time.

    When it is wrong: a gateway in front limits concurrency.
    """
    limit, tokens = engine['max_num_queued_reqs'], engine['max_num_queued_tokens']
    if limit.is_set or tokens.is_set:
        raise NotApplicable('its queue has a limit')
    if any(option.name == '--headless' for option in engine['options'].value):
        raise NotApplicable('it is a worker that answers nobody')
    if is_among(engine, '0.29.0') and limit.value is None:
        seqs = engine['max_num_seqs']
        queue = int(seqs.value) * 4 if seqs.is_set and seqs.is_known else 1024
        yield Problem(limit, '--max-num-queued-reqs is not set: {engine} queues without limit', engine=release(engine), fix=limit.set(queue))
