"""Load balancers in Terraform: idle timeouts and target groups of AWS, backend services of Google Cloud.

Sources: AWS, Application Load Balancer attributes (idle_timeout 60 s, a GAP; deregistration_delay 300 s) and Network Load Balancer
(TCP idle 350 s); Google Cloud, backend services (timeoutSec 30 s: of the whole answer with HTTP; connection draining 300 s in Terraform).
"""

from collections.abc import Iterable, Iterator

from configaudit.extract.services.terraform import Module, default, setting, text_of
from configaudit.knowledge.generation_routes import evidence
from configaudit.knowledge.proxy_kinds import LOAD_BALANCER, ROUTE
from configaudit.model import Component, Setting
from configaudit.parse.terraform import Block, Expression
from configaudit.patterns import regex

_BALANCERS = ('aws_lb', 'aws_alb')
_GROUPS = ('aws_lb_target_group', 'aws_alb_target_group')
_LISTENERS = ('aws_lb_listener', 'aws_alb_listener')
_RULES = ('aws_lb_listener_rule', 'aws_alb_listener_rule')
_BACKENDS = ('google_compute_backend_service', 'google_compute_region_backend_service')
_ALB_MODULE = regex(r'terraform-aws-modules/alb/aws')
_AWS_IDLE = 'AWS, Application Load Balancer attributes'
_AWS_DRAIN = 'AWS, target group attributes: deregistration_delay.timeout_seconds'
_GCP = 'Google Cloud, backend service timeout'
_PROXIES = ('EXTERNAL', 'EXTERNAL_MANAGED', 'INTERNAL_MANAGED', 'INTERNAL_SELF_MANAGED')
"""Schemes of load balancers that end HTTP; the others pass packets on."""


def balancers(module: Module) -> Iterator[Component]:
    """Routes through load balancers, and their groups of targets."""
    for block in module.resources(*_BALANCERS):
        kind = block.attributes.get('load_balancer_type')
        if kind is None or text_of(module, kind) == 'application':
            yield _application(module, block, _groups(module, block), _paths(module, block))
        elif text_of(module, kind) == 'network':
            yield _component(module, block, 'nlb', {})
    for call in module.calls():
        source = call.attributes.get('source')
        if source is not None and _ALB_MODULE.search(source.text) and text_of(module, call.attributes.get('load_balancer_type')) in ('', 'application'):
            yield _application(module, call, [], [])
    for block in module.resources(*_GROUPS):
        yield _component(module, block, 'target-group', {'deregistration_delay_s': ('deregistration_delay', 300, _AWS_DRAIN)})
    for block in module.resources(*_BACKENDS):
        if _ends_http(module, block):
            yield _backend(module, block)
            yield _component(module, block, 'gcp', {'deregistration_delay_s': ('connection_draining_timeout_sec', 300, _GCP)})


def _application(module: Module, block: Block, groups: list[Block], paths: list[str]) -> Component:
    """An Application Load Balancer as the route that its idle timeout holds for; of its groups, those whose names say that text is generated."""
    groups = [group for group in groups if evidence('', [(_name(module, group), '')], ())] or groups
    settings = {
        'product': Setting('product', 'alb', block.place),
        'path': Setting('path', ' '.join(paths) or '/', block.place),
        'targets': Setting('targets', tuple((_name(module, group), text_of(module, group.attributes.get('port'))) for group in groups), block.place),
        'read_timeout_s': _given(module, block, 'read_timeout_s', 'idle_timeout', 60, _AWS_IDLE),
    }
    settings['target'] = Setting('target', _name(module, groups[0]) if groups else None, groups[0].place if groups else block.place)
    return Component(ROUTE, _name(module, block), _identity(module, block), block.place, settings)


def _backend(module: Module, block: Block) -> Component:
    """A backend service as the route that its timeout ends answers of."""
    settings = {
        'product': Setting('product', 'gcp', block.place),
        'path': Setting('path', '/', block.place),
        'target': Setting('target', _name(module, block), block.place),
        'total_timeout_s': _given(module, block, 'total_timeout_s', 'timeout_sec', 30, _GCP),
    }
    return Component(ROUTE, _name(module, block), _identity(module, block), block.place, settings)


def _component(module: Module, block: Block, product: str, attributes: dict[str, tuple[str, object, str]]) -> Component:
    settings = {name: _given(module, block, name, attribute, value, source) for name, (attribute, value, source) in attributes.items()}
    settings['product'] = Setting('product', product, block.place)
    for name in ('protocol', 'port'):
        if name in block.attributes:
            settings[name] = setting(module, name, block.attributes[name], 'text')
    return Component(LOAD_BALANCER, _name(module, block), f'{_identity(module, block)}/balancer', block.place, settings)


def _given(module: Module, block: Block, name: str, attribute: str, value: object, source: str) -> Setting:
    expression = block.attributes.get(attribute)
    return setting(module, name, expression, 's') if expression is not None else default(module, block, name, attribute, value, source)


def _groups(module: Module, balancer: Block) -> list[Block]:
    """The target groups behind a balancer's listeners and their rules."""
    listeners = [one for one in module.resources(*_LISTENERS) if module.resource(one.attributes.get('load_balancer_arn')) is balancer]
    rules = [one for one in module.resources(*_RULES) if module.resource(one.attributes.get('listener_arn')) in listeners]
    found = [module.resource(expression) for block in (*listeners, *rules) for expression in _named(block)]
    return list({id(group): group for group in found if group is not None and group.labels[0] in _GROUPS}.values())


def _named(block: Block) -> Iterator[Expression]:
    """Every target group that an action inside a listener or a rule names."""
    for action in (*block.inner('default_action'), *block.inner('action')):
        places: Iterable[Block] = (action, *(group for forward in action.inner('forward') for group in forward.inner('target_group')))
        for place in places:
            for name in ('target_group_arn', 'arn'):
                if name in place.attributes:
                    yield place.attributes[name]


def _paths(module: Module, balancer: Block) -> list[str]:
    listeners = [one for one in module.resources(*_LISTENERS) if module.resource(one.attributes.get('load_balancer_arn')) is balancer]
    rules = [one for one in module.resources(*_RULES) if module.resource(one.attributes.get('listener_arn')) in listeners]
    patterns = [pattern for rule in rules for condition in rule.inner('condition') for pattern in condition.inner('path_pattern')]
    return [item.text for pattern in patterns if 'values' in pattern.attributes for item in pattern.attributes['values'].items if item.kind == 'constant']


def _ends_http(module: Module, block: Block) -> bool:
    """Whether the balancer speaks HTTP: a global backend service does unless told otherwise, a regional one when it is told so."""
    scheme = text_of(module, block.attributes.get('load_balancing_scheme')) or ('EXTERNAL' if block.labels[0] == _BACKENDS[0] else 'INTERNAL')
    protocol = text_of(module, block.attributes.get('protocol')) or ('HTTP' if block.labels[0] == _BACKENDS[0] else '')
    return scheme in _PROXIES and protocol in ('HTTP', 'HTTPS', 'HTTP2')


def _name(module: Module, block: Block) -> str:
    return text_of(module, block.attributes.get('name')) or block.labels[-1]


def _identity(module: Module, block: Block) -> str:
    return '/'.join(filter(None, (module.folder, *block.labels)))
