"""Which part of a graph is drawn: chains that say something, what was asked for, and equal branches once."""

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from configaudit.graph import Graph, Link, Node, worst
from configaudit.knowledge.chain import CALLS, PLAIN
from configaudit.model import SEVERITIES, Component


class Wish(NamedTuple):
    """What a person wants to see; empty wishes mean everything."""

    around: tuple[str, ...] = ()
    """Names, identities or globs of components: they, what leads to them and what they lead to."""
    kinds: tuple[str, ...] = ()
    """Kinds or traits: chains with one of them."""
    severity: str = ''
    """Chains with a finding of this severity or a higher one."""
    every: bool = False
    """Also chains of Services and workloads alone."""


def chosen(graph: Graph, wish: Wish) -> Graph:
    """The part of a graph that a person wants to see."""
    if wish.around:
        graph = _kept(graph, _around(graph, wish.around))
    if wish.kinds:
        graph = _chains_with(graph, lambda node: _is_of(node, wish.kinds))
    if wish.severity:
        enough = SEVERITIES[: SEVERITIES.index(wish.severity) + 1]
        graph = _chains_with(graph, lambda node: worst(node.findings) in enough)
        graph = graph._replace(aside=tuple(part for part in graph.aside if worst(part.findings) in enough))
    if wish.around or wish.kinds or wish.every:
        return graph if wish.every else graph._replace(aside=())
    plain = {node.id for node in graph.nodes}
    calling = {link.source for link in graph.links if link.word == CALLS}
    kept = _chains_with(graph, lambda node: node.component.kind.name not in PLAIN or node.id in calling)
    plain -= {node.id for node in kept.nodes}
    return kept._replace(left_out=tuple(node for node in graph.nodes if node.id in plain))


def _is_of(node: Node, kinds: Iterable[str]) -> bool:
    return not {node.component.kind.name, *node.component.kind.traits}.isdisjoint(kinds)


def _chains_with(graph: Graph, wanted: Callable[[Node], bool]) -> Graph:
    chains = {node.chain for node in graph.nodes if wanted(node)}
    return _kept(graph, {node.id for node in graph.nodes if node.chain in chains})


def _kept(graph: Graph, names: Iterable[str]) -> Graph:
    """A graph with these nodes, the links among them and what is missing beside them."""
    kept = set(names)
    missing = (gap._replace(sources=tuple(source for source in gap.sources if source in kept)) for gap in graph.missing)
    return graph._replace(
        nodes=tuple(node for node in graph.nodes if node.id in kept),
        links=tuple(link for link in graph.links if link.source in kept and link.target in kept),
        missing=tuple(gap for gap in missing if gap.sources),
    )


def named(graph: Graph, patterns: Iterable[str]) -> set[str]:
    """The nodes that one of the names, identities or globs means, or that hold a part which it means."""
    patterns = tuple(patterns)
    return {node.id for node in graph.nodes if any(_means(one, patterns) for one in (node.component, *node.parts))}


def _means(component: Component, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(component.name, pattern) or fnmatchcase(component.identity, pattern) for pattern in patterns)


def _around(graph: Graph, patterns: Iterable[str]) -> set[str]:
    """Nodes with a name, all that leads to them, all that they lead to, and what stands beside any of these."""
    middle = named(graph, patterns)
    requests = [link for link in graph.links if not link.beside]
    before = _closure(middle, [(link.target, link.source) for link in requests])
    after = _closure(middle, [(link.source, link.target) for link in requests])
    found = before | after
    return found | {link.source for link in graph.links if link.beside and link.target in found} | {link.target for link in graph.links if link.beside and link.source in middle}


def _closure(start: Iterable[str], pairs: Iterable[tuple[str, str]]) -> set[str]:
    after: dict[str, list[str]] = {}
    for one, other in pairs:
        after.setdefault(one, []).append(other)
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(after.get(one, ()))
    return found


def folded(graph: Graph) -> Graph:
    """Equal branches once: same kinds, settings, findings and links below, at the same neighbours above. Names may differ."""
    below, above = _neighbours(graph.links)
    shapes = _shapes(graph, below)
    groups: dict[tuple[object, ...], list[Node]] = {}
    for node in graph.nodes:
        if not any(link.beside for link in below.get(node.id, ())):
            leading = tuple(sorted((link.source, link.word) for link in above.get(node.id, ()) if not link.beside))
            groups.setdefault((shapes[node.id], leading), []).append(node)
    dropped: set[str] = set()
    alike: dict[str, tuple[Component, ...]] = {}
    for first, *others in groups.values():
        if first.id not in dropped and others:
            mine = [node for node in others if node.id not in dropped]
            dropped.update(node.id for node in mine)
            alike[first.id] = tuple(node.component for node in mine)
    dropped = _with_their_own(dropped, graph.links)
    nodes = [node._replace(alike=alike.get(node.id, ())) for node in graph.nodes if node.id not in dropped]
    return _kept(graph, {node.id for node in nodes})._replace(nodes=tuple(nodes))


def _neighbours(links: Iterable[Link]) -> tuple[dict[str, list[Link]], dict[str, list[Link]]]:
    below: dict[str, list[Link]] = {}
    above: dict[str, list[Link]] = {}
    for link in links:
        below.setdefault(link.source, []).append(link)
        above.setdefault(link.target, []).append(link)
    return below, above


def _shapes(graph: Graph, below: Mapping[str, list[Link]]) -> dict[str, int]:
    """A number for each node: equal where all that is drawn of it and below it is equal. What several nodes share counts by name."""
    beside: dict[str, list[Link]] = {}
    shared: dict[str, int] = {}
    for link in graph.links:
        shared[link.target] = shared.get(link.target, 0) + (not link.beside)
        if link.beside:
            beside.setdefault(link.target, []).append(link)
    gaps: dict[str, list[tuple[str, str]]] = {}
    for gap in graph.missing:
        for source in gap.sources:
            gaps.setdefault(source, []).append((gap.kind, gap.id if len(gap.sources) > 1 else ''))
    numbers: dict[object, int] = {}
    shapes: dict[str, int] = {}
    nodes = {node.id: node for node in graph.nodes}

    def shape(name: str, open_nodes: frozenset[str]) -> int:
        if name in shapes:
            return shapes[name]
        inner = open_nodes | {name}
        asked = [link for link in below.get(name, ()) if not link.beside]
        by_name = [shared[link.target] > 1 or link.target in inner or len(inner) > 50 for link in asked]
        children = sorted(((link.word, link.target if named else shape(link.target, inner)) for link, named in zip(asked, by_name, strict=True)), key=str)
        sides = sorted(((link.word, _own(nodes[link.source])) for link in beside.get(name, ())), key=str)
        key = (_own(nodes[name]), tuple(children), tuple(sides), tuple(sorted(gaps.get(name, ()))))
        shapes[name] = numbers.setdefault(str(key), len(numbers))
        return shapes[name]

    for node in graph.nodes:
        shape(node.id, frozenset())
    return shapes


def _own(node: Node) -> tuple[object, ...]:
    """What is drawn of a node itself, without its name."""
    values = tuple((value.label, str(value.setting.known_value), value.setting.is_known, value.setting.is_set) for value in node.values)
    return node.component.kind.name, node.component.identity.partition('/')[0] if node.component.kind.name == 'workload' else '', str(node.component.version), values, tuple(sorted(finding.rule.id for finding in node.findings))


def _with_their_own(dropped: set[str], links: Iterable[Link]) -> set[str]:
    """Dropped nodes with all that only they lead to, and what stands beside these."""
    links = tuple(links)
    waits: dict[str, int] = {}
    for link in links:
        if not link.beside:
            waits[link.target] = waits.get(link.target, 0) + 1
    below, _ = _neighbours(link for link in links if not link.beside)
    gone, waiting = set(dropped), list(dropped)
    while waiting:
        for link in below.get(waiting.pop(), ()):
            waits[link.target] -= 1
            if not waits[link.target] and link.target not in gone:
                gone.add(link.target)
                waiting.append(link.target)
    return gone | {link.source for link in links if link.beside and link.target in gone and not any(other.beside and other.source == link.source and other.target not in gone for other in links)}
