"""Rules for the annotations by which a Service asks a cloud for a load balancer."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

_AWS = 'service.beta.kubernetes.io/aws-load-balancer-'
_CLASSIC = f'{_AWS}connection-idle-timeout'
_NETWORK = ('nlb', 'nlb-ip', 'external')


@rule(
    'idle-timeout-annotation-unread', on=('service', 'proxy-route'), severity='warning', confidence='medium',
    source='AWS Load Balancer Controller documentation, Service and Ingress annotations; AWS, Network Load Balancer attributes: no idle_timeout.timeout_seconds',
    effect='the timeout that is meant holds',
)  # fmt: skip
def idle_timeout_annotation_unread(end: Component) -> Iterator[Problem]:
    """An idle timeout that is written for another kind of load balancer does nothing: the default holds, and connections are dropped after it.

    Classic load balancers read aws-load-balancer-connection-idle-timeout, ALBs the load-balancer-attributes of their Ingress (not those of
    target groups or listeners), and NLBs neither: theirs is tcp.idle_timeout.seconds of the listener.
    """
    if end.kind.name == 'proxy-route':
        misplaced = end['idle_misplaced']
        if misplaced.is_set:
            yield Problem(misplaced, '{value}: idle_timeout.timeout_seconds is an attribute of the load balancer and belongs into load-balancer-attributes')
        return
    given = end['annotations']
    annotations: dict[str, object] = given.value or {}
    found = list(_unread(annotations))
    if not found:
        raise NotApplicable('no idle timeout is written in an annotation of another load balancer')
    for key, why in found:
        yield Problem(given, '{key}: {why}', key=key, why=why, detail=key)


def _unread(annotations: dict[str, object]) -> Iterator[tuple[str, str]]:
    network = str(annotations.get(f'{_AWS}type', '')) in _NETWORK
    if network and _CLASSIC in annotations:
        yield _CLASSIC, 'a Network Load Balancer does not read it (350 s hold); set tcp.idle_timeout.seconds in aws-load-balancer-listener-attributes'
    if network and 'idle_timeout.timeout_seconds' in str(annotations.get(f'{_AWS}attributes', '')):
        yield f'{_AWS}attributes', 'idle_timeout.timeout_seconds is an attribute of Application Load Balancers, which this Service does not make'
    if 'idle_timeout' in str(annotations.get('alb.ingress.kubernetes.io/load-balancer-attributes', '')):
        yield 'alb.ingress.kubernetes.io/load-balancer-attributes', 'the load balancer takes it from the Ingress, not from a Service'
