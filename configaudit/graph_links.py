"""The links of a picture: neighbours that linking found, drawn in the direction of a request, each hop once."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from configaudit.context import Context
from configaudit.knowledge.chain import (
    ASIDE,
    CALLERS,
    CARRIER,
    FOLDED,
    NEEDS,
    NEXT,
    NOT_DRAWN,
    OTHER_SIDE,
    Relation,
    ranked,
    relation,
)
from configaudit.link import called
from configaudit.model import Component

_REASONS = {
    'proxy-route': 'what answers behind the route is not among the files read', 'proxy-upstream': 'what answers behind it is not among the files read',
    'autoscaler': 'what it scales is not among the files read',
}  # fmt: skip


class Edge(NamedTuple):
    """A link between the components that are drawn, from the side that asks."""

    source: Component
    target: Component
    word: str
    beside: bool
    evidence: str
    carries: bool
    """The source runs the target: a workload and the engine in it."""


class Gap(NamedTuple):
    """A side that no file shows, and who needs it."""

    sources: tuple[Component, ...]
    kind: str
    name: str
    reason: str


Owners = Mapping[Component, Component]


def owners_of(components: Iterable[Component]) -> dict[Component, Component]:
    """For each component the one that it is drawn with: the workload of a container, the Ingress of its backends, or itself.

    An object that several overlays take in is one box.
    """
    components = tuple(components)
    routes = {(one.place.outermost().document.path, one.identity): one for one in components if one.kind.name == 'proxy-route'}
    first: dict[tuple[object, ...], Component] = {}
    owners = {}
    for component in components:
        place = component.place.outermost()
        above = place.document.path, component.identity.rpartition('/')[0]
        whole = routes[above] if component.kind.name == 'proxy-upstream' and above in routes else _whole(component)
        place = whole.place.outermost()
        key = whole.kind.name, whole.identity, place.document.path, place.document.base + place.start
        owners[component] = first.setdefault(key, whole)
    return owners


def _whole(component: Component) -> Component:
    if component.kind.name == 'pool' and component['written_in'].known_value:
        return next(iter(component.peers('pool')), component)  # the pool of the process that opens it
    if component.kind.name in FOLDED:
        for key in ('workload', 'pod', 'carrier'):
            for peer in component.peers(key):
                return _whole(peer)
    return component


def edges_of(drawn: Mapping[Component, Collection[Component]], owners: Owners, context: Context) -> list[Edge]:
    """Every link between drawn components once."""
    found: dict[tuple[Component, Component], Edge] = {}
    for parts in drawn.values():
        for part in parts:
            for edge in (*_carried(part, owners), *_asked(part, owners, context)):
                if edge.source in drawn and edge.target in drawn and edge.source is not edge.target:
                    found.setdefault((edge.source, edge.target), edge)
    for edge in _inside_files(drawn):
        found.setdefault((edge.source, edge.target), edge)
    return list(found.values())


def _carrier(component: Component, owners: Owners) -> Component | None:
    """What runs it, when that is another box."""
    owner = next((owners.get(peer, peer) for peer in component.peers('carrier')), None)
    return None if owner is owners.get(component) or component.kind.name in FOLDED else owner


def _carried(component: Component, owners: Owners) -> Iterator[Edge]:
    carrier = _carrier(component, owners)
    if carrier is not None:
        known = relation(carrier, component, carries=True) or Relation('runs')
        built = text_of(component, 'written_in') and carrier.kind.name == 'compose-service' and carrier['build'].known_value
        yield Edge(carrier, owners[component], known.word, known.beside, 'build' if built else '', True)


def _asked(component: Component, owners: Owners, context: Context) -> Iterator[Edge]:
    carrier = _carrier(component, owners)
    for key, peers in component.peer_map.items():
        if key == 'carrier' or key in NOT_DRAWN or key in ASIDE:
            continue
        for peer in peers:
            mates = peer.kind.name == component.kind.name or owners.get(peer) is carrier or _carrier(peer, owners) is owners[component]
            if key == NEXT:
                yield Edge(owners[component], owners.get(peer, peer), 'passes on to', False, _evidence(component, peer, context), False)
            elif not mates and peer.kind.name not in ASIDE:
                yield _edge(component, peer, owners, context)


def _edge(one: Component, other: Component, owners: Owners, context: Context) -> Edge:
    """The edge of a pair; where no table knows it, the side that stands earlier on the way of a request asks."""
    known = relation(one, other)
    backward = relation(other, one) if known is None else None
    if backward is not None or (known is None and ranked(other) < ranked(one)):
        one, other = other, one
    known = known or backward or Relation('reaches')
    target = owners.get(other, other) if known.beside else _front(one, other, owners)
    word = (relation(one, target) or known).word
    return Edge(owners.get(one, one), target, word, known.beside, _evidence(one, other, context), False)


def _front(asking: Component, answering: Component, owners: Owners) -> Component:
    """Where a request enters on its way to a component: the Service it names, else what runs the component."""
    carrier = _carrier(answering, owners)
    if carrier is None or carrier is owners.get(asking):
        return owners.get(answering, answering)
    host = _host(asking).partition('.')[0]
    services = (service for key in ('workload', 'pod') for owner in answering.peers(key) for service in owner.peers('service'))
    return next((owners.get(service, service) for service in services if service.name == host and service is not asking), carrier)


def text_of(component: Component, name: str) -> str:
    """The text of a setting; '' where its kind has none, nobody wrote it or it is not known."""
    if name not in component.kind.settings:
        return ''
    setting = component[name]
    return str(setting.known_value or '') if setting.is_known else ''


def relation_word(asking: Component, answering: Component) -> str:
    """How the table calls a link."""
    known = relation(asking, answering)
    return known.word if known is not None else 'connects to' if asking.kind.name in ('pool', 'pooler') else 'reaches'


def addresses_of(component: Component) -> list[str]:
    """The hosts that a client, a pool, a route or an upstream names."""
    if component.kind.name not in NEEDS:
        return []
    targets = component['targets'].known_value if 'targets' in component.kind.settings else ()
    named = [str(pair[0]) for pair in targets] if isinstance(targets, (list, tuple)) else []
    return [host for host in dict.fromkeys(named or [_host(component)]) if host]


def _host(component: Component) -> str:
    """The host that a client, a pool or a route names."""
    return text_of(component, 'host') or text_of(component, 'target').rpartition('/')[2].rpartition('@')[2].partition(':')[0]


def _evidence(asking: Component, answering: Component, context: Context) -> str:
    """What linking went by, where the components tell."""
    if any(left in called(asking) and right in called(answering) for left, right in context.links):
        return 'links: of the configuration'
    kind = asking.kind.name
    if kind in ('service', 'disruption-budget'):
        selector = asking['selector'].known_value
        return 'selector ' + ','.join(f'{key}={value}' for key, value in selector.items()) if isinstance(selector, Mapping) else ''
    if kind == 'autoscaler':
        return f'scaleTargetRef {text_of(asking, "target_kind")}/{text_of(asking, "target_name")}'
    if kind == 'grpc-client' and text_of(asking, 'server_from') in ('folder', 'package'):
        return 'it is written beside it'
    if kind == 'gateway':
        return 'parentRefs'
    host = _host(asking)
    return f'host {host}' if host else 'the only one among the files' if kind == 'pool' else ''


def _inside_files(drawn: Iterable[Component]) -> Iterator[Edge]:
    """nginx to its listeners, and these to the routes of their server: they stand in one file."""
    files: dict[object, list[Component]] = {}
    for component in drawn:
        if component.kind.name in ('nginx', 'proxy-listener', 'proxy-route'):
            files.setdefault(component.place.document, []).append(component)
    for members in files.values():
        roots, listeners, routes = ([one for one in members if one.kind.name == kind] for kind in ('nginx', 'proxy-listener', 'proxy-route'))
        yield from (Edge(root, listener, 'listens', False, 'one file', False) for root in roots for listener in listeners)
        for route in routes if roots or listeners else ():
            names = text_of(route, 'server_name').split()
            fronts = [one for one in listeners if one['proxies'].known_value and (not names or not set(names).isdisjoint(one.name.split()))]
            yield from (Edge(front, route, 'routes', False, 'one server', False) for front in fronts or roots[:1])


def without_short_cuts(edges: Iterable[Edge]) -> list[Edge]:
    """Without the links past a hop: a route to a workload when it leads to the Service in front of it."""
    edges = list(edges)
    after: dict[Component, dict[Component, bool]] = {}
    for edge in edges:
        if not edge.beside:
            after.setdefault(edge.source, {})[edge.target] = edge.carries
    kept = []
    for edge in edges:
        ways = after.get(edge.source, {})
        if not edge.beside and not edge.carries and len(ways) > 1 and _passes_by(edge, after):
            del ways[edge.target]
        else:
            kept.append(edge)
    return kept


def _passes_by(edge: Edge, after: Mapping[Component, Mapping[Component, bool]]) -> bool:
    """Whether the same request takes another way from an edge's source to its target.

    What a program calls is a request of its own: the way goes on inside a workload, and out of it only from the source.
    """
    own = [edge.source, *(one for one, carried in after[edge.source].items() if carried)]
    seen: set[Component] = set()
    waiting = [edge.source]
    while waiting:
        one = waiting.pop()
        if one in seen or (one.kind.name in CALLERS and one not in own):
            continue
        seen.add(one)
        inside = ranked(one) == CARRIER
        following = [other for other, carried in after.get(one, {}).items() if (carried or not inside) and (one, other) != (edge.source, edge.target)]
        if edge.target in following:
            return True
        waiting.extend(following)
    return False


def gaps_of(drawn: Iterable[Component], edges: Iterable[Edge]) -> list[Gap]:
    """What was not seen behind the components that need somebody: those that name one address in one folder share it."""
    served = {edge.source for edge in edges if not edge.carries}
    found: dict[tuple[object, ...], list[Component]] = {}
    for component in drawn:
        kind = component.kind.name
        if kind in NEEDS and component not in served:
            name = _address(component)
            place = (component.place.outermost().document.path.rpartition('/')[0], component.scope) if name else (component.identity, component.place)
            found.setdefault((OTHER_SIDE.get(kind, 'server'), name, *place), []).append(component)
    return [Gap(tuple(sources), str(key[0]), str(key[1]), _reason(sources[0])) for key, sources in found.items() if key[1] or sources[0].kind.name != 'http-client']


def _address(component: Component) -> str:
    targets = component['targets'].known_value if 'targets' in component.kind.settings else ()
    if isinstance(targets, (list, tuple)) and targets:
        return ', '.join(':'.join(filter(None, map(str, pair))) for pair in targets[:3]) + (' ...' if len(targets) > 3 else '')
    if component.kind.name == 'autoscaler':
        return f'{text_of(component, "target_kind")} {text_of(component, "target_name")}'.strip() if text_of(component, 'target_name') else ''
    return text_of(component, 'host') or text_of(component, 'target')


def _reason(component: Component) -> str:
    """What the linking says of it, else that no file shows it."""
    kind = component.kind.name
    if kind in _REASONS and not _address(component):
        return 'the files do not tell its address'
    said = (component.peer_map[key].unseen for key in NEEDS[kind] if key in component.peer_map)
    return _REASONS.get(kind) or next(filter(None, said), 'the other side is not among the files read')
