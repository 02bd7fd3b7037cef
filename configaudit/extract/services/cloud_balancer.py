"""The load balancer of a cloud that a Service asks for: idle timeout and draining, by annotations.

Sources: AWS Load Balancer Controller, Service annotations; Kubernetes cloud-provider-aws, service_annotations (classic ELB);
AWS, Network Load Balancers: TCP idle timeout 350 s, deregistration delay 300 s.
"""

from collections.abc import Iterator

from configaudit import units
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.services.ingress_routes import attribute_of
from configaudit.extract.words import word_of
from configaudit.model import Setting
from configaudit.parse.tree import Map, get, mapping, text
from configaudit.places import Place

_AWS = 'service.beta.kubernetes.io/aws-load-balancer-'
_NETWORK = ('external', 'nlb', 'nlb-ip')
"""Types that make a network load balancer."""
_TERMINATION = 'deregistration_delay.connection_termination.enabled=true'
_SOURCE = 'AWS, Network Load Balancers: TCP idle timeout, deregistration delay'


def balancer_of(owner: Owner, root: Map, place: Place) -> Iterator[tuple[str, Setting]]:
    """The settings of an AWS network load balancer; nothing of other clouds, and of classic balancers only what is written."""
    annotations = mapping(root, 'metadata', 'annotations')
    kind = text(annotations, f'{_AWS}type')
    if kind in _NETWORK or text(root, 'spec', 'loadBalancerClass') == 'service.k8s.aws/nlb':
        word = word_of(owner.document, get(annotations, f'{_AWS}target-group-attributes'))
        hidden = owner.partial or (word.reason if word is not None else '')
        if word is not None and _TERMINATION in word.value.replace(' ', ''):  # otherwise connections outlive the delay
            found = attribute_of('deregistration_delay_s', word, 'deregistration_delay.timeout_seconds')
            yield 'deregistration_delay_s', found or Setting('deregistration_delay_s', 300, place, 'default', hidden, source=_SOURCE)
        yield 'pods_are_targets', Setting('pods_are_targets', kind == 'nlb-ip' or text(annotations, f'{_AWS}nlb-target-type') == 'ip', place)
        yield 'balancer_idle_s', _listener_idle(owner, annotations) or Setting('balancer_idle_s', 350, place, 'default', owner.partial, source=_SOURCE)
        return
    for name, key in (('deregistration_delay_s', 'connection-draining-timeout'), ('balancer_idle_s', 'connection-idle-timeout')):
        word = word_of(owner.document, get(annotations, _AWS + key))
        if word is not None:
            seconds = units.seconds(word.value) if word.known else None
            yield name, Setting(name, seconds, word.place, reason='' if seconds is not None else word.reason or 'it is no number')


def _listener_idle(owner: Owner, annotations: Map | None) -> Setting | None:
    """The shortest idle timeout that listeners are given."""
    keys = [key for key in annotations or () if key.startswith(f'{_AWS}listener-attributes.')]
    found = [one for key in keys if (one := attribute_of('balancer_idle_s', word_of(owner.document, get(annotations, key)), 'tcp.idle_timeout.seconds'))]
    return next((one for one in found if not one.is_known), None) or min(found, key=lambda one: float(str(one.known_value)), default=None)
