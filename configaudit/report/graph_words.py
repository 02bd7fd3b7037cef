"""How the picture of a chain says things, whatever its format: titles, values with their origin, counts of findings. Redacted, not escaped."""

import math
from collections.abc import Iterable, Mapping

from configaudit.findings import Finding
from configaudit.graph import Graph, Node
from configaudit.graph_settings import Value
from configaudit.knowledge.chain import WORDS
from configaudit.model import SEVERITIES, Component
from configaudit.places import locate
from configaudit.redact import MASK, redact, safe_value
from configaudit.report.wording import plural
from configaudit.units import HOLE

_LONGEST = 60
"""Characters of a value: the picture is for an overview."""


def clean(text: str) -> str:
    """Text from a file without credentials, with an ellipsis where a template fills something in."""
    return redact(text).replace(HOLE, '…')


def kind_of(component: Component) -> str:
    """What a reader calls the component's kind: 'Deployment', 'HTTPRoute', 'vLLM 0.10.2', 'pool (pgx)'."""
    kind = component.kind.name
    head = component.identity.partition('/')[0]
    if kind == 'workload':
        return clean(str(component['object_kind'].known_value or head))
    if kind in ('gateway', 'autoscaler', 'proxy-route', 'proxy-upstream', 'disruption-budget', 'ray-deployment', 'inference-pool') and head.isidentifier() and head[:1].isupper():
        return head
    word = WORDS.get(kind, kind)
    if kind.startswith('proxy-'):
        maker = _maker(component)
        return maker if maker and name_of(component).startswith('location ') else f'{maker} {word}'.strip()
    if component.version is not None:
        return f'{word} {component.version}'
    maker = _maker(component)
    word = 'pooler' if kind == 'database' and component['pooler'].known_value else word
    return f'{word} ({maker})' if maker else word


def _maker(component: Component) -> str:
    """Whose it is: the library of a pool, the product of a route, the language of a client."""
    for name in ('library', 'product', 'written_in'):
        if name in component.kind.settings and component[name].is_set and component[name].known_value:
            return clean(str(component[name].known_value))
    return ''


def name_of(component: Component) -> str:
    """The name of a component; for one that is part of a file, with the file's name."""
    name, steps = component.name, component.identity.split('/')
    if component.kind.name == 'proxy-route' and steps[0] == 'HTTPRoute' and len(steps) > 3:
        name = f'{steps[-3]} {name}'
    return clean(name.removeprefix('server/')) if name != '-' else ''


def title(node: Node) -> str:
    """Kind and name, and how many are drawn as this one."""
    more = f' and {len(node.alike)} alike' if node.alike else ''
    return f'{kind_of(node.component)} {name_of(node.component)}'.rstrip() + more


def alike(node: Node, most: int = 4) -> str:
    """The names of those drawn as this one; their files where all have one name."""
    names = [name_of(one) for one in node.alike]
    if set(names) == {name_of(node.component)}:
        names = [path_of(one) for one in node.alike]
    names = list(dict.fromkeys(names))
    return ', '.join(names[:most]) + (f' and {len(names) - most} more' if len(names) > most else '')


def path_of(component: Component) -> str:
    """The file that a component stands in."""
    return component.place.outermost().document.path


def place_of(component: Component) -> str:
    """path:line of a component."""
    at = locate(component.place)
    return f'{at.path}:{at.line}'


def said(value: Value) -> str:
    """'read timeout 60 s GAP (default)'."""
    return ' '.join(filter(None, (value.label, amount(value), value.mark, origin(value))))


def origin(value: Value) -> str:
    """Where the value comes from, unless somebody wrote it there: '(default)'."""
    setting = value.setting
    return '(default)' if setting.origin == 'default' and (setting.is_known or setting.candidates) else ''


def told(node: Node) -> list[Value]:
    """The settings of a node that tell a reader something: not what a template or an unseen file alone decides."""
    return [value for value in node.values if value.setting.is_known or value.setting.candidates or value.setting.origin == 'explicit']


def amount(value: Value) -> str:
    """The value in its unit; '?' (with what it may be) where it is not known."""
    setting = value.setting
    if setting.secret:
        return MASK
    if not setting.is_known:
        return ' or '.join(_worded(one, value.unit) for one in setting.candidates) or '?'
    known = safe_value(setting.name, setting.known_value)
    text = clean(_worded(known, value.unit))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'


def _worded(known: object, unit: str) -> str:
    if isinstance(known, bool):
        return 'on' if known else 'off'
    if known is None:
        return 'not set'
    if isinstance(known, (int, float)):
        return _number(known, unit)
    if isinstance(known, Mapping):
        return ', '.join(f'{key}={item}' for key, item in known.items())
    return ', '.join(map(str, known)) if isinstance(known, list) else str(known)


def _number(known: float, unit: str) -> str:
    if math.isinf(known):
        return 'no limit'
    if math.isnan(known):
        return '?'
    if unit in ('bytes', 'size') and known >= 2**20:
        for power, name in ((2**40, 'TiB'), (2**30, 'GiB'), (2**20, 'MiB')):
            if known >= power:
                return f'{known / power:.4g} {name}'
    text = f'{int(known)}' if known == int(known) and abs(known) < 2**63 else f'{known:g}'
    return f'{text} {unit}' if unit in ('s', 'ms') else text


def tally(findings: Iterable[Finding]) -> str:
    """'1 error, 4 warnings, 2 advice'; '' for none."""
    counts = dict.fromkeys(SEVERITIES, 0)
    for finding in findings:
        counts[finding.severity] += 1
    return ', '.join(plural(number, severity) for severity, number in counts.items() if number)


def findings_of(graph: Graph) -> list[Finding]:
    """Every finding that the picture shows, once."""
    everywhere = (*(finding for node in graph.nodes for finding in node.findings), *(finding for part in graph.aside for finding in part.findings))
    return list({id(finding): finding for finding in everywhere}.values())


def where(finding: Finding, path: str) -> str:
    """The line of a finding; with its file where that is not `path`."""
    at = locate(finding.place)
    return f'line {at.line}' if at.path == path else f'{at.path}:{at.line}'
