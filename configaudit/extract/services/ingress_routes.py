"""What an Ingress sets for all that passes through it: timeouts, buffering, body size, retries.

Sources: ingress-nginx annotations (whole seconds without a unit); AWS Load Balancer Controller, load-balancer-attributes.
"""

from configaudit import units
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.words import Word, is_open, word_of
from configaudit.knowledge.proxy_kinds import ROUTE
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, get, key_place, maps, place_of, text
from configaudit.places import Place

_NGINX = 'nginx.ingress.kubernetes.io/'
_ALB = 'alb.ingress.kubernetes.io/'
_TIMEOUTS = ('proxy-connect-timeout', 'proxy-read-timeout', 'proxy-send-timeout')
_DEFAULTS: dict[str, tuple[str, object]] = {
    'proxy-read-timeout': ('read_timeout_s', 60), 'proxy-buffering': ('buffering', False), 'proxy-body-size': ('body_size', '1m'),
    'proxy-next-upstream': ('next_upstream', 'error timeout'), 'proxy-http-version': ('protocol_http', '1.1'),
}  # fmt: skip
_ATTRIBUTES = (
    ('read_timeout_s', 'load-balancer-attributes', 'idle_timeout.timeout_seconds', 60, 'AWS, Application Load Balancer attributes'),
    ('deregistration_delay_s', 'target-group-attributes', 'deregistration_delay.timeout_seconds', 300, 'AWS, target group attributes'),
)
"""Setting, the annotation it stands in, the attribute there, what holds without it."""
_ELSEWHERE = ('target-group-attributes', 'listener-attributes')
"""Annotations whose attributes have no idle timeout."""


def google_route(owner: Owner, root: Map, backends: list[tuple[str, str, Place]]) -> list[Component]:
    """The route of an Ingress that GKE serves: Google's limit holds for each Service whose annotation names no BackendConfig."""
    if not backends:
        return []
    place = key_place(owner.document, root, 'spec')
    settings = _passed(root, 'gke', place, backends)
    settings['total_timeout_s'] = Setting('total_timeout_s', 30, place, 'default', source='Google Cloud, backend service timeout; GKE Ingress, BackendConfig timeoutSec')
    settings['unconfigured'] = Setting('unconfigured', True, place)
    return [Component(ROUTE, owner.name, owner.identity, place, settings, partial=owner.partial, scope=owner.namespace)]


def route_of(owner: Owner, root: Map, annotations: Map | None, product: str, backends: list[tuple[str, str, Place]]) -> Component:
    """One route for the whole Ingress: annotations hold for every path in it."""
    document = owner.document
    place = key_place(document, root, 'spec')
    settings = _passed(root, product, place, backends)
    hidden = owner.partial or ('filled by a template' if any(is_open(document, node) for node in (root, annotations) if node) else '')
    if product == 'ingress-nginx':
        _nginx(owner, root, annotations, place, hidden, settings)
    else:
        _alb(owner, annotations, place, hidden, settings)
    return Component(ROUTE, owner.name, owner.identity, place, settings, partial=owner.partial, scope=owner.namespace)


def _passed(root: Map, product: str, place: Place, backends: list[tuple[str, str, Place]]) -> dict[str, Setting]:
    rules = list(maps(root, 'spec', 'rules'))
    paths = [text(path, 'path') or '' for rule in rules for path in maps(rule, 'http', 'paths')]
    return {
        'product': Setting('product', product, place), 'path': Setting('path', ' '.join(filter(None, paths)) or '/', place),
        'target': Setting('target', backends[0][0], backends[0][2]),
        'targets': Setting('targets', tuple(dict.fromkeys((name, port) for name, port, _ in backends)), place),
        'server_name': Setting('server_name', ' '.join(filter(None, (text(rule, 'host') for rule in rules))), place),
    }  # fmt: skip


def _nginx(owner: Owner, root: Map, annotations: Map | None, place: Place, hidden: str, settings: dict[str, Setting]) -> None:
    invalid: list[tuple[str, Setting]] = []
    for key in dict.fromkeys((*_DEFAULTS, *_TIMEOUTS)):
        node = get(annotations, _NGINX + key)
        word = word_of(owner.document, node)
        name, default = _DEFAULTS.get(key, ('', None))
        if word is not None and key in _TIMEOUTS and word.known and not word.value.isdigit():
            invalid.append((key, Setting(key, word.value, word.place, slot=Slot('yaml_edit', place_of(owner.document, node)))))
            word = None
        if not name:
            continue
        slot = Slot('yaml_edit', Place(owner.document, root.start, root.start), ('metadata', 'annotations', _NGINX + key))
        settings[name] = Setting(name, default, place, 'default', hidden, slot=slot, source='ingress-nginx annotations')
        if word is not None:
            settings[name] = _given(name, word, Slot('yaml_edit', place_of(owner.document, node)), {'read_timeout_s': units.seconds, 'buffering': units.boolean}.get(name, str)(word.value))
    settings['invalid_seconds'] = Setting('invalid_seconds', tuple(invalid), place)


def _given(name: str, word: Word, slot: Slot, value: object) -> Setting:
    reason = word.reason if not word.known else '' if value is not None else f'{word.value!r} is no value of it'
    return Setting(name, value if word.known else None, word.place, reason=reason, slot=slot)


def _alb(owner: Owner, annotations: Map | None, place: Place, hidden: str, settings: dict[str, Setting]) -> None:
    shared = get(annotations, _ALB + 'group.name') is not None
    for name, key, attribute, default, source in _ATTRIBUTES:
        word = word_of(owner.document, get(annotations, _ALB + key))
        reason = hidden or ('another Ingress of its group may set it' if shared and name == 'read_timeout_s' else '')
        settings[name] = attribute_of(name, word, attribute) or Setting(name, default, place, 'default', reason or _unread(word), source=source)
    for key in _ELSEWHERE:
        word = word_of(owner.document, get(annotations, _ALB + key))
        if word is not None and _ATTRIBUTES[0][2] in word.value:
            settings['idle_misplaced'] = Setting('idle_misplaced', _ALB + key, word.place)
    settings['pods_are_targets'] = Setting('pods_are_targets', text(annotations, _ALB + 'target-type') == 'ip', place)


def _unread(word: Word | None) -> str:
    return word.reason if word is not None and not word.known else ''


def attribute_of(name: str, word: Word | None, attribute: str) -> Setting | None:
    """A number of seconds in an annotation that lists attributes as `key=value,key=value`; None where it is not in it."""
    listed = dict(part.strip().partition('=')[::2] for part in word.value.split(',')) if word is not None and word.known else {}
    if word is None or attribute not in listed:
        return None
    seconds = units.seconds(listed[attribute])
    return Setting(name, seconds, word.place, reason='' if seconds is not None else 'it is no number')
