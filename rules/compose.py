"""Rules for services of compose files: open files, restarts, health checks."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .serving import OPENS_AT_ONCE

_SELDOM_RAISES = ('proxy', 'gateway', 'python')
_RAISES = ('engine', 'go')
_LONG_RUNNING = ('engine', 'gateway', 'proxy')
_LOADS_A_MODEL = ('vllm', 'sglang', 'tgi', 'tensorrt-llm', 'lmdeploy')


@rule(
    'compose-nofile-unset',
    on='compose-service',
    severity='warning',
    checklist='july-10',
    source='containerd docs/containerd-2.0.md; systemd-system.conf(5); July tuning checklist, change 10',
    effect='no "too many open files" at about 1000 connections',
    side_effect='a program that closes every possible descriptor at start takes longer',
)
def nofile_unset(service: Component, *, files: int = 65536, hard: int = 1048576) -> Iterator[Problem]:
    """A service without ulimits.nofile gets whatever the daemon has: 1024 open files on a host with containerd 2.

    nginx, HAProxy, Envoy and Python servers keep the soft limit they are started with, so connections fail at about
    1000. vLLM, SGLang and programs in Go (1.19 and newer) raise it to the hard limit themselves: for them it is advice.

    When it is wrong: the daemon sets `default-ulimits`, or the program raises its limit (nginx: worker_rlimit_nofile).
    """
    if service['role'].value not in _SELDOM_RAISES + _RAISES:
        raise NotApplicable('not a server whose limit is known to matter')
    limit = service['nofile']
    if limit.is_set or limit.value is not None:
        return
    starts = "it starts with the daemon's soft limit (1024 with containerd 2)"
    if service['role'].value in _SELDOM_RAISES:
        yield Problem(
            limit,
            f'no ulimits.nofile: {starts}, under {{files}}',
            files=files,
            fix=limit.set({'soft': files, 'hard': hard}),
        )
    elif service['role'].value == 'go' or any(
        engine.kind.name in ('vllm', 'sglang') for engine in service.peers('engine')
    ):
        yield Problem(
            limit,
            f"no ulimits.nofile: {starts}, and raises it itself only to the daemon's hard limit",
            severity='advice',
        )
    else:
        yield Problem(limit, f'no ulimits.nofile: {starts}', severity='advice')


@rule(
    'compose-restart-unset',
    on='compose-service',
    severity='warning',
    source='Compose file reference, restart',
    effect='a crash ends in a restart',
    side_effect='a service that fails at start tries forever',
)
def restart_unset(service: Component) -> Iterator[Problem]:
    """A server that nobody restarts stays down after its first crash or the first reboot of the host.

    Engines crash under load (out of GPU memory, a lost NCCL peer); Compose's default is `restart: "no"`.
    """
    if service['role'].value not in _LONG_RUNNING:
        raise NotApplicable('not a long-running inference or gateway service')
    policy = service['restart']
    if policy.is_set or service['restart_policy'].is_set or policy.value != 'no':
        return
    yield Problem(
        policy, 'no restart policy: after a crash or a reboot it stays down', fix=policy.set('unless-stopped')
    )


@rule(
    'compose-healthcheck-unset',
    on='compose-service',
    severity='warning',
    source='Compose file reference, healthcheck and depends_on',
)
def healthcheck_unset(service: Component) -> Iterator[Problem]:
    """An engine without a health check counts as up while it still loads its model.

    Others that wait for it with `condition: service_healthy` do not start at all: Docker refuses to wait for a
    container that has no check.

    When it is wrong: the image brings a HEALTHCHECK of its own.
    """
    if service['role'].value != 'engine' or not service.peers('engine'):
        raise NotApplicable('not an inference engine')
    if any(engine.kind.name == 'llama.cpp-server' and engine['command'].value == 'entrypoint' for engine in service.peers('engine')):
        raise NotApplicable('its image brings a HEALTHCHECK')
    check, waiting = service['healthcheck'], service['waited_for'].value
    if check.is_set or check.value is not None:
        return
    if waiting:
        yield Problem(check, 'no healthcheck, yet these wait until it is healthy: {names}', names=', '.join(waiting))
    else:
        at_once = any(engine.kind.name in OPENS_AT_ONCE for engine in service.peers('engine'))
        loading = 'before it listens' if at_once else 'while the model is still loading'
        yield Problem(check, 'no healthcheck: it counts as up {loading}', loading=loading, severity='advice')


@rule(
    'compose-start-period-short',
    on='compose-service',
    severity='warning',
    side_effect='a server that never comes up is reported later', source='Dockerfile reference, HEALTHCHECK',
)
def start_period_short(service: Component, *, load_s: int = 300) -> Iterator[Problem]:
    """A health check that gives up before the model is loaded marks a good engine unhealthy.

    Loading weights takes minutes, a first download longer. What waits with `condition: service_healthy` then fails
    with the whole `docker compose up`.
    """
    if not any(engine.kind.name in _LOADS_A_MODEL for engine in service.peers('engine')):
        raise NotApplicable('no engine that loads a model at start')
    test = service['healthcheck_test'].value
    if not service['healthcheck'].is_set or service['healthcheck_off'].value or test in (['NONE'], 'NONE'):
        raise NotApplicable('no health check')
    period, every, retries = service['start_period_s'], service['interval_s'].value, service['retries'].value
    budget = period.value + every * retries
    if budget < load_s:
        yield Problem(
            period if period.is_set else service['healthcheck'],
            '{period} s start period + {retries} x {every} s = {budget} s, under the {load_s} s that loading may take',
            period=period.value,
            retries=retries,
            every=every,
            budget=budget,
            load_s=load_s,
            severity=None if service['waited_for'].value else 'advice',
            fix=period.set(f'{load_s}s'),
        )
