"""The chain as the tool understood it: components, the links between them, what each hop sets, and where findings sit.

Pure values, made from the result of an audit; how they look is the business of `report.graph_text` and its like.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from configaudit.context import Context
from configaudit.findings import Finding
from configaudit.graph_files import edges_in_files
from configaudit.graph_links import Edge, Gap, edges_of, gaps_of, owners_of, without_short_cuts
from configaudit.graph_settings import Value, values_of
from configaudit.knowledge.chain import ASIDE
from configaudit.model import SEVERITIES, Component, Severity
from configaudit.result import Result


class Node(NamedTuple):
    """One box: a component with the parts that are drawn in it."""

    id: str
    component: Component
    parts: tuple[Component, ...]
    """Pods, containers and runtimes of a workload."""
    values: tuple[Value, ...]
    findings: tuple[Finding, ...]
    """The worst first."""
    chain: int
    """Nodes that links join have the same number."""
    alike: tuple[Component, ...] = ()
    """Others with the same settings, findings and neighbours that are drawn as this one."""


class Link(NamedTuple):
    """An arrow between two nodes, from the side that asks."""

    source: str
    target: str
    word: str
    beside: bool
    """No request takes it: a scaler, a budget."""
    evidence: str
    """What the link was inferred from, or ''."""


class Missing(NamedTuple):
    """A side that was not seen."""

    id: str
    sources: tuple[str, ...]
    kind: str
    name: str
    """The address that the files give, or ''."""
    reason: str
    chain: int


class Aside(NamedTuple):
    """What no request passes: the components of one kind in one file, with what was found there."""

    kind: str
    path: str
    components: int
    findings: tuple[Finding, ...]


class Graph(NamedTuple):
    """Everything that is drawn, in the order of paths and places, chain by chain."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    missing: tuple[Missing, ...]
    aside: tuple[Aside, ...]
    left_out: tuple[Node, ...] = ()
    """Nodes of chains without anything but Services and workloads: counted, not drawn."""


def graph_of(result: Result, context: Context) -> Graph:
    """The graph of an audit: it depends on the components and findings alone, whose order is that of places."""
    owners = owners_of(component for component in result.components if component.kind.name not in ASIDE)
    drawn: dict[Component, list[Component]] = {}
    for component, owner in owners.items():
        drawn.setdefault(owner, []).append(component)
    edges = edges_of(drawn, owners, context)
    edges = without_short_cuts({(edge.source, edge.target): edge for edge in reversed([*edges, *edges_in_files(drawn, edges)])}.values())
    gaps = gaps_of(drawn, edges)
    chains = _chains(list(drawn), edges, gaps)
    ids = {component: f'c{number}' for number, component in enumerate(sorted(drawn, key=chains.__getitem__), 1)}
    found = _found(result)
    nodes = tuple(
        Node(
            name, component, _parts(component, drawn[component]), values_of(component, drawn[component]),
            _worst_first(finding for part in drawn[component] for finding in found.get(part, ())), chains[component],
        )
        for component, name in ids.items()
    )  # fmt: skip
    number = {name: at for at, name in enumerate(ids.values())}
    links = sorted((Link(ids[edge.source], ids[edge.target], edge.word, edge.beside, edge.evidence) for edge in edges), key=lambda link: (number[link.source], number[link.target]))
    missing = [
        Missing(f'm{at}', tuple(ids[source] for source in gap.sources), gap.kind, gap.name, gap.reason, chains[gap.sources[0]]) for at, gap in enumerate(gaps, 1)
    ]
    return Graph(nodes, tuple(links), tuple(missing), tuple(_aside(result, found)))


def worst(findings: Iterable[Finding]) -> Severity | None:
    """The highest severity among findings."""
    return min((finding.severity for finding in findings), key=SEVERITIES.index, default=None)


def _parts(owner: Component, members: Iterable[Component]) -> tuple[Component, ...]:
    """What is drawn with a component: each part once, however many overlays take it in."""
    distinct = {(part.kind.name, part.identity): part for part in reversed(tuple(members))}
    distinct.pop((owner.kind.name, owner.identity), None)
    return tuple(reversed(distinct.values()))


def _worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    distinct = {id(finding): finding for finding in findings}
    return tuple(sorted(distinct.values(), key=lambda finding: SEVERITIES.index(finding.severity)))


def _chains(drawn: Sequence[Component], edges: Iterable[Edge], gaps: Iterable[Gap]) -> dict[Component, int]:
    """Component -> the number of its chain; chains are numbered by their first component."""
    above: dict[Component, Component] = {}

    def root(one: Component) -> Component:
        while one in above:
            above[one] = above.get(above[one], above[one])
            one = above[one]
        return one

    place = {component: at for at, component in enumerate(drawn)}
    pairs = [(edge.source, edge.target) for edge in edges] + [(gap.sources[0], other) for gap in gaps for other in gap.sources[1:]]
    for one, other in pairs:
        first, second = sorted((root(one), root(other)), key=place.__getitem__)
        if first is not second:
            above[second] = first
    numbers: dict[Component, int] = {}
    return {component: numbers.setdefault(root(component), len(numbers)) for component in drawn}


def _found(result: Result) -> dict[Component, list[Finding]]:
    """Findings by component; one that holds for several components is told at each."""
    named = {(f'also for {component.identity}', component.place): component for component in result.components}
    found: dict[Component, list[Finding]] = {}
    for finding in result.findings:
        others = [named[pair] for pair in finding.related if pair in named]
        for component in dict.fromkeys((finding.component, *others)):
            found.setdefault(component, []).append(finding)
    return found


def _aside(result: Result, found: Mapping[Component, list[Finding]]) -> Iterator[Aside]:
    groups: dict[tuple[str, str], list[Component]] = {}
    for component in result.components:
        if component.kind.name in ASIDE:
            groups.setdefault((component.place.outermost().document.path, component.kind.name), []).append(component)
    for (path, kind), components in sorted(groups.items(), key=lambda item: item[0]):
        findings = _worst_first(finding for component in components for finding in found.get(component, ()))
        if findings:
            yield Aside(kind, path, len(components), findings)
