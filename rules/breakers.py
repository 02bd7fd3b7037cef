"""Rules for limits and ejection at gateways: what happens to requests when many come at once, or when servers are slow."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

_EJECTING = ('envoy', 'istio')


def _generates(upstream: Component) -> str:
    """What shows that the servers generate text: an engine, or a route to them; NotApplicable where nothing does."""
    found = next((str(route['answers'].known_value) for route in upstream.peers('proxy-route') if route['answers'].known_value), '')
    found = found or next((f'{engine.kind.name} answers behind it' for engine in upstream.peers('engine')), '')
    if not found:
        raise NotApplicable('nothing shows that text is generated there')
    return found


@rule(
    'envoy-breakers-unset', on='proxy-upstream', severity='advice',
    source='Envoy v3 API, CircuitBreakers.Thresholds: max_connections, max_pending_requests and max_requests are 1024 unless set',
    effect='a burst waits at the engine, or is refused where you decided it', side_effect='requests beyond what the engines take wait there',
)  # fmt: skip
def envoy_breakers_unset(cluster: Component) -> Iterator[Problem]:
    """A cluster without circuit_breakers has limits all the same: beyond 1024 connections (HTTP/1.1) or requests (HTTP/2) at once, each
    Envoy answers 503.

    A generated answer holds its connection for as long as it takes. Set the thresholds to what the engines take together, running and
    waiting; the limits are per Envoy, not for all of them together.
    """
    breaker = cluster['breaker']
    if cluster['product'].value != 'envoy':
        raise NotApplicable('no cluster of Envoy')
    why = _generates(cluster)
    if not breaker.is_set and breaker.value == 1024:
        yield Problem(breaker, 'no circuit_breakers: beyond {value} connections or requests at once Envoy answers 503', why=why)


@rule(
    'outlier-ejects-every-server', on='proxy-upstream', severity='warning', confidence='medium',
    source='Envoy v3 API, OutlierDetection.max_ejection_percent: 10; Istio DestinationRule, OutlierDetection.maxEjectionPercent: 10',
    effect='an overload leaves servers to serve', side_effect='a broken server gets requests for longer',
)  # fmt: skip
def outlier_ejects_every_server(upstream: Component, *, limit: int = 75) -> Iterator[Problem]:
    """Under overload every engine answers late or with 5xx: with all of them ejected, nothing is left, and each that returns gets the load of all.

    Ejection helps against one broken server. A limit of half of them keeps the rest when all are slow. Envoy by itself sends to all
    servers again once fewer than half are left (healthy_panic_threshold, 50 %); Istio turns that off unless minHealthPercent is set.
    """
    share = upstream['ejects_percent']
    if upstream['product'].value not in _EJECTING or not share.is_set:
        raise NotApplicable('it ejects a tenth of the servers at most')
    why = _generates(upstream)
    if share.value > limit and upstream['panic_percent'].value > 100 - share.value:
        raise NotApplicable('with so few servers left, requests go to all of them')
    if share.value > limit:
        yield Problem(share, 'up to {value} % of the servers may be ejected at once: an overload takes them all out', why=why, fix=share.set(50))


@rule(
    'inference-pool-picker-alone', on='inference-pool', severity='advice',
    source='Gateway API Inference Extension, EndpointPickerRef.failureMode: FailClose unless set, which drops requests while the picker does not answer',
    effect='requests reach an engine while the picker restarts', side_effect='with FailOpen the gateway chooses for that time, without regard to load or cached prefixes',
)  # fmt: skip
def inference_pool_picker_alone(pool: Component) -> Iterator[Problem]:
    """One endpoint picker decides where every request goes, and without its answer the gateway drops them: each of its restarts is an outage."""
    mode = pool['failure_mode']
    if mode.value != 'FailClose':
        raise NotApplicable('the gateway chooses by itself while the picker does not answer')
    for service in pool.peers('service').some():
        for workload in dict.fromkeys(workload for pod in service.peers('pod') for workload in pod.peers('workload')):
            replicas = workload['replicas']
            if replicas.value == 1 and not workload.peers('autoscaler'):
                unset = '' if mode.is_set else ' (unset)'
                message = 'failureMode{unset} is {value} and {picker} runs once: while it restarts every request to the pool is dropped'
                yield Problem(mode, message, unset=unset, picker=workload.name, see=[('its replicas', replicas)], fix=mode.set('FailOpen'))
