"""Routes of the Gateway API, the Gateways they hang on, and the policies that give them or their backends a time limit."""

import math
from collections.abc import Iterator

from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.extract.settings import read_settings, setting
from configaudit.extract.words import is_open
from configaudit.knowledge.proxy_kinds import GATEWAY, GATEWAY_CLASS, INFERENCE_POOL, ROUTE, ROUTE_POLICY
from configaudit.model import Component, Kind, Setting, Slot
from configaudit.parse.tree import Map, get, items, key_place, mapping, maps, plain, text
from configaudit.places import Place

_GCP = 'Google Cloud documentation, backend service timeout: 30 s for the whole answer'


def read_route(owner: Owner, root: Map) -> Reading:
    """A component for every rule of an HTTPRoute that has backends."""
    reading = nothing()
    document = owner.document
    gateways = tuple(text(parent, 'name') or '' for parent in maps(root, 'spec', 'parentRefs') if text(parent, 'kind') in (None, 'Gateway'))
    hosts = tuple(str(plain(host)) for host in items(mapping(root, 'spec'), 'hostnames'))
    for at, rule in enumerate(maps(root, 'spec', 'rules')):
        backends = list(maps(rule, 'backendRefs'))
        targets = tuple((text(one, 'name') or '', text(one, 'port') or '') for one in backends)
        if not targets or not gateways:
            continue
        place = key_place(document, rule, next(iter(rule)))
        path = ' '.join(filter(None, (text(match, 'path', 'value') for match in maps(rule, 'matches')))) or '/'
        partial = owner.partial or ('filled by a template' if is_open(document, rule) else '')
        settings = {
            'product': Setting('product', 'gateway-api', place), 'path': Setting('path', path, place), 'gateways': Setting('gateways', gateways, place),
            'targets': Setting('targets', targets, place), 'target': Setting('target', targets[0][0], place), 'hosts': Setting('hosts', hosts, place),
        }  # fmt: skip
        pool = next((one for one in backends if text(one, 'kind') == 'InferencePool'), None)
        if pool is not None:
            settings['answers'] = Setting('answers', f'InferencePool {text(pool, "name")}', key_place(document, pool, 'kind'))
        _limits(owner, rule, place, partial, settings)
        slot = Slot('yaml_edit', Place(document, rule.start, rule.start))
        component = Component(ROUTE, f'{path} to {targets[0][0]}', f'{owner.identity}/rules/{at}', place, settings, slot=slot, partial=partial, scope=owner.namespace)
        reading.components.append(component)
    return reading


def _limits(owner: Owner, rule: Map, place: Place, partial: str, settings: dict[str, Setting]) -> None:
    """`timeouts.request` is the whole exchange, `timeouts.backendRequest` one try of it: without retries the shorter counts."""
    limits = mapping(rule, 'timeouts')
    found = [setting('total_timeout_s', owner.document, limits, key, 's') for key in ('request', 'backendRequest') if limits is not None and key in limits]
    given = [one._replace(known_value=math.inf) if one.known_value == 0 else one for one in found]
    if any(not one.is_known for one in given):
        settings['total_timeout_s'] = next(one for one in given if not one.is_known)
    elif given:
        settings['total_timeout_s'] = min(given, key=lambda one: float(str(one.known_value)))
    else:
        slot = Slot('yaml_edit', Place(owner.document, rule.start, rule.start), ('timeouts', 'request'))
        settings['total_timeout_s'] = Setting('total_timeout_s', None, place, 'default', partial, slot=slot)


_AI = 'Envoy AI Gateway, AIGatewayRouteRule.timeouts: 60 s for the whole answer unless request is set'


def read_ai_route(owner: Owner, root: Map) -> Reading:
    """A component for every rule of an AIGatewayRoute: what it generates is an HTTPRoute of the same name, with a limit of its own."""
    reading = nothing()
    document = owner.document
    gateways = tuple(text(parent, 'name') or '' for parent in maps(root, 'spec', 'parentRefs'))
    for at, rule in enumerate(maps(root, 'spec', 'rules')):
        backends = tuple((text(one, 'name') or '', '') for one in maps(rule, 'backendRefs'))
        if not backends or not gateways:
            continue
        place = key_place(document, rule, next(iter(rule)))
        partial = owner.partial or ('filled by a template' if is_open(document, rule) else '')
        settings = {
            'product': Setting('product', 'ai-gateway', place), 'path': Setting('path', '/v1', place), 'gateways': Setting('gateways', gateways, place),
            'targets': Setting('targets', (), place), 'target': Setting('target', backends[0][0], place),
            'answers': Setting('answers', f'AIGatewayRoute {owner.name}', key_place(document, rule, 'backendRefs')),
        }  # fmt: skip
        _limits(owner, rule, place, partial, settings)
        if not mapping(rule, 'timeouts') or 'request' not in rule['timeouts']:
            slot = Slot('yaml_edit', Place(document, rule.start, rule.start), ('timeouts', 'request'))
            settings['total_timeout_s'] = Setting('total_timeout_s', 60, place, 'default', partial, slot=slot, source=_AI)
        component = Component(ROUTE, f'{owner.name} to {backends[0][0]}', f'{owner.identity}/rules/{at}', place, settings, partial=partial, scope=owner.namespace)
        reading.components.append(component)
    return reading


def read_gateway(owner: Owner, root: Map) -> Reading:
    """The class of a Gateway. Istio's object of the same name has none."""
    return _object(owner, root, GATEWAY) if text(root, 'spec', 'gatewayClassName') else nothing()


def read_gateway_class(owner: Owner, root: Map) -> Reading:
    """The controller of a GatewayClass."""
    return _object(owner, root, GATEWAY_CLASS)


def _object(owner: Owner, root: Map, kind: Kind) -> Reading:
    reading = nothing()
    settings: dict[str, Setting] = {}
    read_settings(owner.document, root, kind, settings)
    place = key_place(owner.document, root, 'spec' if 'spec' in root else 'kind')
    reading.components.append(Component(kind, owner.name, owner.identity, place, settings, partial=owner.partial, scope=owner.namespace))
    return reading


def read_inference_pool(owner: Owner, root: Map) -> Reading:
    """The picker of an InferencePool, and what happens without its answer. Before v1 the reference was called extensionRef."""
    reading = _object(owner, root, INFERENCE_POOL)
    spec = mapping(root, 'spec')
    key = 'extensionRef' if mapping(spec, 'extensionRef') is not None else 'endpointPickerRef'
    reference = mapping(spec, key)
    if spec is None or reference is None:
        return reading
    pool = reading.components[0]
    for name, field in (('failure_mode', 'failureMode'), ('picker', 'name')):
        if field in reference:
            pool.settings[name] = setting(name, owner.document, reference, field, 'text')
    if 'failure_mode' not in pool.settings:
        slot = Slot('yaml_edit', Place(owner.document, reference.start, reference.start), ('failureMode',))
        hidden = pool.partial or ('filled by a template' if is_open(owner.document, reference) else '')
        pool.settings['failure_mode'] = Setting('failure_mode', 'FailClose', key_place(owner.document, spec, key), 'default', hidden, slot=slot)
    return reading


def read_traffic_policy(owner: Owner, root: Map) -> Reading:
    """Envoy Gateway's policy for backends, and what it is attached to."""
    reading = _object(owner, root, ROUTE_POLICY)
    spec = mapping(root, 'spec')
    for policy in reading.components if spec is not None else ():
        targets = [*maps(spec, 'targetRefs'), *filter(None, (mapping(spec, 'targetRef'),))]
        applies = (*((text(one, 'kind') or '', text(one, 'name') or '') for one in targets), *_selected(spec))
        policy.settings['applies_to'] = Setting('applies_to', applies, policy.place)
        policy.settings.update(_retries(owner, spec))
        given = policy['total_timeout_s']
        if given.is_set and given.known_value == 0:
            policy.settings['total_timeout_s'] = given._replace(known_value=math.inf)
    return reading


def _selected(spec: Map | None) -> Iterator[tuple[str, str]]:
    """What selectors attach a policy to: every object of a kind ('*'), or those with certain labels ('?')."""
    for one in maps(spec, 'targetSelectors'):
        yield text(one, 'kind') or '', '?' if 'matchLabels' in one or 'matchExpressions' in one else '*'


def _retries(owner: Owner, spec: Map | None) -> Iterator[tuple[str, Setting]]:
    """What Envoy Gateway sends again: conditions by name, and statuses."""
    retry = mapping(spec, 'retry')
    on = mapping(retry, 'retryOn')
    if retry is None or on is None:
        return
    words = [found for key in ('triggers', 'httpStatusCodes') for item in items(on, key) if (found := text(item))]
    yield 'retry_on', Setting('retry_on', ' '.join(words), key_place(owner.document, retry, 'retryOn'))
    if 'numRetries' in retry:
        yield 'attempts', setting('attempts', owner.document, retry, 'numRetries', 'count')


def read_backend_policy(owner: Owner, root: Map) -> Reading:
    """Google's limit for a Service or InferencePool: GCPBackendPolicy. A BackendConfig names no Service; its own annotation does."""
    reading = nothing()
    document = owner.document
    spec = mapping(root, 'spec')
    if spec is None:
        return reading
    gateway = owner.kind == 'GCPBackendPolicy'
    holder = mapping(spec, 'default') if gateway else spec
    name = text(spec, 'targetRef', 'name') or ''
    place = key_place(document, root, 'spec')
    partial = owner.partial or ('filled by a template' if is_open(document, spec) else '')
    path = ('default', 'timeoutSec') if gateway else ('timeoutSec',)
    slot = Slot('yaml_edit', Place(document, spec.start, spec.start), path)
    settings = {
        'product': Setting('product', 'gke', place), 'path': Setting('path', '/', place), 'target': Setting('target', name or owner.name, place),
        'targets': Setting('targets', ((name, ''),) if name else (), place),
        'total_timeout_s': Setting('total_timeout_s', 30, place, 'default', partial, slot=slot, source=_GCP),
    }  # fmt: skip
    if holder is not None and 'timeoutSec' in holder:
        settings['total_timeout_s'] = setting('total_timeout_s', document, holder, 'timeoutSec', 's')
    draining = mapping(holder, 'connectionDraining')
    if draining is not None and 'drainingTimeoutSec' in draining:
        settings['deregistration_delay_s'] = setting('deregistration_delay_s', document, draining, 'drainingTimeoutSec', 's')
        settings['pods_are_targets'] = Setting('pods_are_targets', gateway, place)
    if get(spec, 'targetRef', 'kind') is not None and text(spec, 'targetRef', 'kind') == 'InferencePool':
        settings['answers'] = Setting('answers', f'InferencePool {name}', place)
    reading.components.append(Component(ROUTE, owner.name, owner.identity, place, settings, partial=owner.partial, scope=owner.namespace))
    return reading
