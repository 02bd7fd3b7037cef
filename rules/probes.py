"""Rules for the probes of an inference server: when Kubernetes sends traffic, waits, and kills."""

from collections.abc import Iterator

from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Setting, Severity, Unknown, rule

from .serving import (
    AS_WRITTEN,
    BRING_PROBES,
    HEALTH,
    OPENS_AT_ONCE,
    SHORT_ANSWERS,
    downloads_at_start,
    hub_model,
    is_gateway,
    is_small,
    object_kind,
    runs_as_written,
    runs_for_long,
    serving_engine,
)

_DOC = 'Kubernetes documentation, tasks/configure-pod-container/configure-liveness-readiness-startup-probes'


LOAD_S = 300.0
"""Seconds that loading a model from a volume may take, compilation and graph capture included."""
DOWNLOAD_S = 600.0
"""The same with a download from the hub before."""
_MAY_LOAD_FAST = ('triton', *OPENS_AT_ONCE, *SHORT_ANSWERS)


def budget(container: Component, probe: str) -> float:
    """Seconds from the start of a container until a probe that never succeeds has failed for good."""
    parts = [container[f'{probe}_{part}'].value for part in ('initial_delay_s', 'period_s', 'failures')]
    return float(parts[0] + parts[1] * parts[2])


def arithmetic(container: Component, probe: str) -> str:
    """The same as the sum that it is: '30 x 5 s', '60 + 30 x 5 s'."""
    delay, period, failures = (container[f'{probe}_{part}'].value for part in ('initial_delay_s', 'period_s', 'failures'))
    return f'{f"{delay:g} + " if delay else ""}{failures:g} x {period:g} s'


def first_set(container: Component, *names: str) -> Setting:
    """The first of these settings that somebody wrote, else the last."""
    return next((container[name] for name in names if container[name].is_set), container[names[-1]])


def loading_engine(container: Component) -> Component:
    """The engine of a container, when it loads a language model before it answers; NotApplicable for all others."""
    engine = serving_engine(container)
    if engine.kind.name in _MAY_LOAD_FAST or (engine.kind.name == 'llama.cpp-server' and not hub_model(engine)):
        raise NotApplicable('its models may load in seconds')
    return engine


def loads_from_hub(container: Component, engine: Component) -> bool:
    """Whether every start downloads a model that takes long to fetch."""
    return downloads_at_start(container, engine) and not is_small(hub_model(engine))


def _health(container: Component, engine: Component, name: str, **more: int) -> Fix | None:
    """The fix that adds a probe of the engine's health endpoint; None while its port is not known."""
    port = engine['port']
    if not port.is_known or engine.kind.name not in HEALTH:
        return None
    return container[name].set({'httpGet': {'path': HEALTH[engine.kind.name], 'port': port.value}, **more})


@rule(
    'readiness-probe-missing', on='container', severity='error', source=_DOC,
    effect='no request reaches a replica that is still loading its model', side_effect='none',
)  # fmt: skip
def readiness_probe_missing(container: Component) -> Iterator[Problem]:
    """Without a readiness probe a pod is Ready as soon as its process runs, minutes before the model answers.

    Every rollout, restart and scale-out then sends requests to a closed port. It is an error for an inference server behind a
    Service or with several replicas, a warning for a single one that no Service among the files selects. A startup probe or
    postStart hook holds the pod back as well.
    """
    engine = None if is_gateway(container) and not container.peers('engine') else serving_engine(container)
    runs_for_long(container)
    runs_as_written(container)
    if container['startup_probe'].is_set or container['post_start'].is_set or container['readiness_probe'].value is not None:
        return
    if engine is None or engine.kind.name in OPENS_AT_ONCE:
        yield from _gateway_unready(container)
        return
    services, replicas = container.peer('pod').peers('service'), container.peer('workload')['replicas']
    fix = _health(container, engine, 'readiness_probe', periodSeconds=5)
    if services:
        message = 'no readiness probe: {service} sends requests to {name} while it still loads the model'
        yield Problem(container['readiness_probe'], message, service=f'Service {services[0].name}', name=container.name, see=[('this Service', services[0].place)], fix=fix)
    elif replicas.is_known and replicas.value > 1 and not _spans_nodes(engine):
        message = 'no readiness probe: with {replicas} replicas, one that still loads its model counts as ready'
        yield Problem(container['readiness_probe'], message, replicas=replicas.value, fix=fix)
    else:
        message = 'no readiness probe: the pod counts as ready while {name} still loads the model'
        yield Problem(container['readiness_probe'], message, name=container.name, severity='warning', fix=fix)


def _spans_nodes(engine: Component) -> bool:
    """Whether the replicas are nodes of one engine."""
    return engine.kind.name in ('vllm', 'sglang') and engine['nodes'].is_set and engine['nodes'].known_value != 1


def _gateway_unready(container: Component) -> Iterator[Problem]:
    services = container.peer('pod').peers('service')
    if services:
        message = 'no readiness probe: {service} sends requests to {name} before it listens'
        yield Problem(container['readiness_probe'], message, service=f'Service {services[0].name}', name=container.name, severity='warning', see=[('this Service', services[0].place)])


@rule(
    'startup-probe-missing', on='container', severity='error', source=f'{_DOC}; kserve#5062, aibrix#772, vLLM docs, deployment/k8s',
    effect='a slow first start is not taken for a hang', side_effect='a start that really hangs is noticed later',
)  # fmt: skip
def startup_probe_missing(container: Component, *, load_s: float = LOAD_S, download_s: float = DOWNLOAD_S, crash_s: float = 120) -> Iterator[Problem]:
    """The liveness probe kills the server while it loads its model, and the next start begins from zero.

    Loading takes up to `load_s` from a volume and `download_s` from the hub. Below `crash_s` with a download at every start the pod
    never comes up: an error. Without a liveness probe nothing kills it, and a startup probe is advice.
    """
    engine = loading_engine(container)
    runs_as_written(container)
    if container['startup_probe'].value is not None:
        return
    fix = _in_time(container, _health(container, engine, 'startup_probe', periodSeconds=10, failureThreshold=60), 600)
    if container['liveness_probe'].value is None:
        message = 'no startup probe: a liveness probe added here would kill the server while it loads its model'
        yield Problem(container['startup_probe'], message, severity='advice', fix=fix)
        return
    seconds, fetches = budget(container, 'liveness'), loads_from_hub(container, engine)
    needed = download_s if fetches else load_s
    if seconds >= needed:
        return
    message = 'no startup probe: the liveness probe kills the server after {budget} = {seconds} s, and {work} can take {needed} s'
    work = f'downloading and loading {engine["model"].value}' if fetches else 'loading the model'
    at = first_set(container, 'liveness_initial_delay_s', 'liveness_failures', 'liveness_probe')
    yield Problem(
        at, message, budget=arithmetic(container, 'liveness'), seconds=seconds, work=work, needed=needed, fix=fix,
        severity=None if fetches and seconds < crash_s else 'warning', detail='startup_probe',
    )  # fmt: skip


@rule(
    'startup-budget-short', on='container', severity='error', source=f'{_DOC}; aibrix#772, aibrix#2264',
    effect='the first start on a new node succeeds', side_effect='a start that really hangs is noticed later',
)  # fmt: skip
def startup_budget_short(container: Component, *, load_s: float = 120, download_s: float = 600, crash_s: float = 300) -> Iterator[Problem]:
    """The startup probe gives up before the model is there; the kubelet kills the pod, which starts from zero for ever.

    A start that downloads from the hub needs `download_s`: under `crash_s` it is an error, unless the weights are known to be under 4 GiB. A model on a volume, in the image or fetched
    by an init container needs `load_s` for weights, compilation and graph capture.
    """
    engine = loading_engine(container)
    if container['startup_probe'].value is None:
        return
    seconds = budget(container, 'startup')
    at = first_set(container, 'startup_failures', 'startup_period_s', 'startup_probe')
    if seconds >= download_s:
        return
    if loads_from_hub(container, engine):
        message = 'the startup probe allows {budget} = {seconds} s, and every start downloads {model}: allow {needed} s or keep the weights on a volume'
        severity = None if seconds < crash_s and not is_small(hub_model(engine), 4 * 2**30) else 'warning'
        yield Problem(at, message, budget=arithmetic(container, 'startup'), seconds=seconds, model=engine['model'].value, needed=download_s, severity=severity, fix=_longer(container, download_s))  # type: ignore[arg-type]
    elif seconds < load_s:
        message = 'the startup probe allows {budget} = {seconds} s to load the model, compile and capture graphs: allow {needed} s'
        yield Problem(at, message, budget=arithmetic(container, 'startup'), seconds=seconds, needed=load_s, severity='warning', fix=_longer(container, load_s))


def _longer(container: Component, seconds: float) -> Fix:
    """The fix that raises the number of failures until the budget holds."""
    period, failures = float(container['startup_period_s'].value) or 1, container['startup_failures']
    wanted = int(-(-seconds // period))
    fix = failures.set(wanted, safe=True)
    return _in_time(container, fix, container['startup_initial_delay_s'].value + wanted * period) or fix


def _in_time(container: Component, fix: Fix | None, seconds: float) -> Fix | None:
    """The fix, and where a rollout's deadline would pass before `seconds`, a later deadline with it."""
    more: list[Change] = []
    for workload in container.peers('workload'):
        deadline = workload['progress_deadline_s']
        if workload['object_kind'].known_value == 'Deployment' and deadline.is_known and deadline.known_value < seconds:  # type: ignore[operator]
            more.extend(deadline.set(deadline_after(seconds)).changes)
    return fix._replace(changes=(*fix.changes, *more)) if fix is not None else None


def deadline_after(seconds: float) -> int:
    """A progress deadline with room behind a start of so many seconds."""
    return int(-(-seconds // 300) * 300 + 300)


@rule('liveness-aggressive', on='container', severity='warning', source=f'{_DOC}; dynamo#2124', side_effect='a server that hangs is restarted later')
def liveness_aggressive(container: Component, *, least_s: float = 30) -> Iterator[Problem]:
    """A short stall restarts a server that takes minutes to load: a long prefill, a garbage collection, pressure on the node.

    One failed probe must never be enough, and failures together should span `least_s`.
    """
    loading_engine(container)
    if container['liveness_probe'].value is None:
        return
    failures, period, timeout = (container[f'liveness_{part}'] for part in ('failures', 'period_s', 'timeout_s'))
    if failures.value == 1:
        message = 'one failed probe (timeout {timeout} s) restarts a server that takes minutes to load'
        yield Problem(failures, message, timeout=timeout.value, fix=failures.set(3))
    elif failures.value * period.value < least_s:
        at = first_set(container, 'liveness_failures', 'liveness_period_s', 'liveness_probe')
        message = 'a stall of {failures} x {period} s = {seconds} s restarts a server that takes minutes to load'
        more = failures.set(int(-(-least_s // period.value))) if period.value else None
        yield Problem(at, message, failures=failures.value, period=period.value, seconds=failures.value * period.value, fix=more)


@rule('liveness-probe-missing', on='container', severity='advice', source=_DOC, side_effect='a wrong liveness probe restarts healthy servers')
def liveness_probe_missing(container: Component) -> Iterator[Problem]:
    """Nothing restarts a server whose engine died behind a process that still runs."""
    engine = serving_engine(container)
    runs_as_written(container)
    if container['liveness_probe'].value is None:
        more = {'periodSeconds': 10, 'timeoutSeconds': 5, 'failureThreshold': 6}
        message = 'no liveness probe: a server that hangs keeps its GPU and answers nobody'
        guarded = container['startup_probe'].value is not None
        yield Problem(container['liveness_probe'], message, fix=_health(container, engine, 'liveness_probe', **more) if guarded else None)


@rule('probe-timeout-exceeds-period', on='container', severity='warning', side_effect='a hung server is noticed later', source=_DOC)
def probe_timeout_exceeds_period(container: Component, *, long_s: float = 30) -> Iterator[Problem]:
    """A probe that waits longer than its period finds a hung server late: timeouts, not periods, then set the pace.

    Short timeouts over shorter periods are harmless and pass: only a timeout of `long_s` and more is reported.
    """
    runs_for_long(container)
    if not container.peers('engine') and not is_gateway(container):
        raise NotApplicable('no inference server runs in it')
    for probe in ('liveness', 'readiness'):
        timeout, period = container[f'{probe}_timeout_s'], container[f'{probe}_period_s']
        if timeout.is_set and timeout.value > period.value and timeout.value >= long_s:
            failures = container[f'{probe}_failures'].value
            message = 'the {probe} probe waits {value} s, longer than its period of {period} s: a hung server is noticed after {failures} x {value} s = {seconds} s'
            yield Problem(timeout, message, probe=probe, period=period.value, failures=failures, seconds=failures * timeout.value, fix=timeout.set(min(int(period.value), 10)))


def _killed_while_loading(container: Component, engine: Component) -> bool:
    """Whether startup-probe-missing finds the liveness probe too early."""
    if object_kind(container) not in AS_WRITTEN or engine.kind.name in _MAY_LOAD_FAST:
        return False
    return budget(container, 'liveness') < (DOWNLOAD_S if loads_from_hub(container, engine) else LOAD_S)


@rule(
    'initial-delay-instead-of-startup', on='container', severity='warning', source=_DOC,
    effect='a replica serves as soon as it can, and a crash is seen at once', side_effect='none',
)  # fmt: skip
def initial_delay_instead_of_startup(container: Component, *, limit: float = 60) -> Iterator[Problem]:
    """A long initial delay is waited for in full even when the server is ready, and hides a crash for as long.

    A startup probe waits exactly as long as the start takes. Below the time that an engine may need to load, the delay costs little: advice.
    """
    runs_for_long(container)
    engines = container.peers('engine')
    if not engines and not is_gateway(container):
        raise NotApplicable('no inference server runs in it')
    if object_kind(container) in BRING_PROBES:
        raise NotApplicable('its operator adds a startup probe')
    if container['startup_probe'].value is not None:
        return
    if engines and container['liveness_probe'].is_set and _killed_while_loading(container, engines[0]):
        raise NotApplicable('startup-probe-missing says it')
    delays = [delay for probe in ('liveness', 'readiness') if (delay := container[f'{probe}_initial_delay_s']).is_set]
    long = [delay for delay in delays if delay.value >= limit]
    if long:
        names = ' and '.join(delay.name.partition('_')[0] for delay in long)
        message = 'the {names} after {value} s whether the server is ready or not: use a startup probe'
        names += ' probes start' if len(long) > 1 else ' probe starts'
        severity: Severity | None = 'advice' if engines and max(delay.value for delay in long) < LOAD_S else None
        yield Problem(long[0], message, names=names, see=[('and here', delay) for delay in long[1:]], severity=severity)


@rule('readiness-tcp-only', on='container', severity='warning', source='health endpoints of the engines; ' + _DOC)
def readiness_tcp_only(container: Component) -> Iterator[Problem]:
    """An open port says that a process accepts connections, not that its engine answers: a dead engine stays in rotation."""
    engine = serving_engine(container)
    tcp, port = container['readiness_tcp_port'], engine['port']
    path = HEALTH.get(engine.kind.name)
    if not tcp.is_set or path is None:
        return
    if not tcp.is_known:
        raise Unknown(f'its port: {tcp.reason}')
    if port.is_known and str(tcp.value).isdigit() and int(tcp.value) != port.value:
        raise Unknown('what listens on that port is not known')
    yield Problem(tcp, 'readiness looks only whether port {value} is open: ask {path}, which says whether the engine serves', path=path)
