"""Rules on how long a server lets requests finish when it is told to stop, and how long its pod lets it."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Unknown, rule

from .rollout import hook_sleeps
from .serving import AS_WRITTEN, SHORT_ANSWERS, generates, serving_engine

_TIMEOUT = {'tgi': 'graceful_termination_timeout', 'triton': 'exit_timeout_secs', 'vllm': 'shutdown_timeout', 'http-server': 'graceful_s'}


@rule(
    'drain-timeout-exceeds-grace', on=tuple(_TIMEOUT), severity='warning', side_effect='rollouts and drains take longer',
    source='text-generation-inference launcher/src/main.rs; Triton src/command_line_parser.h; vllm 0.18.1 entrypoints/launcher.py; gunicorn settings, graceful_timeout; Kubernetes documentation, concepts/workloads/pods/pod-lifecycle',
)  # fmt: skip
def drain_timeout_exceeds_grace(engine: Component) -> Iterator[Problem]:
    """The server would let requests finish for longer than Kubernetes waits: it is killed with what still runs.

    The preStop hook counts inside the grace period. What nobody sets is judged with the longest answer, by grace-shorter-than-generation.
    """
    timeout = engine[_TIMEOUT[engine.kind.name]]
    runs = [container for container in (*engine.peers('container'), *engine.peers('carrier')) if container.peers('pod')]
    if not timeout.is_set or not runs or timeout.known_value == math.inf:
        raise NotApplicable('it is not set, or the server runs in no pod')
    grace, before = runs[0].peer('pod')['grace_s'], hook_sleeps(runs[0]) or 0.0
    if before + timeout.value > grace.value:
        words = f'{before:g} s of preStop and ' if before else ''
        message = '{words}{value} s to finish requests, in a grace period of {grace} s'
        yield Problem(timeout, message, words=words, grace=grace.value, see=[('the grace period', grace)], fix=grace.set(int(before + timeout.value) + 10))


@rule(
    'server-drain-shorter-than-generation', on='http-server', severity='warning', confidence='medium',
    source='gunicorn settings, graceful_timeout; uvicorn settings, timeout_graceful_shutdown; Traefik, entryPoints transport.lifeCycle.graceTimeOut; Spring Boot, timeout-per-shutdown-phase',
    effect='no stream through it is cut by a rollout, scale-down or drain', side_effect='rollouts and drains take as long as the longest answer',
)  # fmt: skip
def server_drain_shorter(server: Component, *, longest_generation_s: float = 0) -> Iterator[Problem]:
    """The server that passes streams on gives them less time to finish than the longest takes, or than its pod was given.

    Judged by `service: {longest_generation_s: ...}`, or by a grace period that somebody chose.
    """
    graceful = server['graceful_s']
    if not server['streams'].value or graceful.value == math.inf:
        raise NotApplicable('nothing streams through it, or it waits until it is killed')
    periods = [(pod['grace_s'], hook_sleeps(carrier)) for carrier in server.peers('carrier') for pod in carrier.peers('pod') if pod['grace_s'].is_set]
    see = [('generated text passes here', server['streams'])]
    severity = None if graceful.is_set or longest_generation_s else 'advice'
    if longest_generation_s:
        if graceful.value < longest_generation_s:
            message = 'requests get {value} s to finish after SIGTERM, the longest answer takes {longest} s'
            yield Problem(graceful, message, longest=longest_generation_s, see=see)
        return
    for grace, sleep in periods:
        left = grace.value - (sleep or 0)
        if sleep is not None and graceful.value < left - _SPARE:
            message = 'requests get {value} s to finish after SIGTERM, though {left} s of the grace period are left for them'
            yield Problem(graceful, message, left=left, see=[('the grace period', grace), *see], severity=severity, fix=graceful.set(math.floor(left) - _SPARE + 10) if graceful.is_set else None)  # type: ignore[arg-type]
            return
    if not periods:
        raise Unknown('how long the longest answer takes is not said: declare service.longest_generation_s')


_SPARE = 30
"""Seconds of a grace period that are left over without anybody wanting them for requests."""


@rule(
    'pre-stop-missing', on='pod', severity='advice', confidence='medium',
    source='Kubernetes documentation, tutorials/services/pods-and-endpoint-termination-flow: endpoints change while the process is told to stop; kubernetes/kubernetes#106476',
    effect='requests that arrive while endpoints are updated are answered', side_effect='a pod takes some seconds longer to end',
)  # fmt: skip
def pre_stop_missing(pod: Component, *, longest_generation_s: float = 90) -> Iterator[Problem]:
    """The engine stops listening as soon as it gets SIGTERM, while proxies still send it requests for some seconds: those are refused.

    A preStop sleep of 5 to 15 s covers the time in which endpoints change. It is shown where the grace period is long enough for the answers
    that run: the first thing to mend where it is not is the period (grace-shorter-than-generation).
    """
    kind = pod['object_kind'].value
    if kind not in AS_WRITTEN - {'Pod'} or not pod.peers('service'):
        raise NotApplicable('nothing rolls it, or no Service leads to it')
    container = next((found for found in pod.peers('container') if found.peers('engine')), None)
    if container is None:
        raise NotApplicable('no inference server runs in it')
    engine = serving_engine(container)
    generates(engine)
    grace, hook = pod['grace_s'], container['pre_stop']
    if engine.kind.name in SHORT_ANSWERS or not grace.is_set or grace.value < longest_generation_s:
        raise NotApplicable('its answers are short, or the grace period is too short for them anyway')
    if hook.value is None:
        message = '{engine} stops listening at SIGTERM: requests that arrive while endpoints change are refused, and no preStop hook waits for that'
        yield Problem(hook, message, engine=engine.kind.name, see=[('a Service sends to it', service.place) for service in pod.peers('service')[:1]], fix=container['pre_stop_sleep_s'].set(10))
