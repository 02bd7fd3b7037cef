"""What stands in the boxes of a drawn graph, line by line, for the formats that have boxes."""

import os.path
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.graph import Graph, Missing, Node, worst
from configaudit.model import Severity
from configaudit.report.graph_words import alike, clean, path_of, place_of, said, tally, title, told, where
from configaudit.report.wording import plural

ROW = 46
"""Characters of a row of settings: a box of two or three rows reads better than a wide one."""
MOST = 4
"""Findings that a box names; the others are counted."""
COLORS: dict[Severity | None, tuple[str, str]] = {
    'error': ('#fdecea', '#c62828'), 'warning': ('#fff8e1', '#b26a00'), 'advice': ('#e8f2fb', '#1565c0'), None: ('#ffffff', '#78909c'),
}  # fmt: skip
"""Fill and border by the worst finding. Nothing is green: what was not assessed is no pass."""
UNSEEN = ('#f6f0fa', '#7b1fa2')


class Box(NamedTuple):
    """A node as lines of text, not escaped yet."""

    title: str
    place: str
    rows: tuple[str, ...]
    findings: tuple[tuple[Severity, str], ...]
    severity: Severity | None


class Frame(NamedTuple):
    """The nodes of one chain and what stands over them."""

    name: str
    nodes: tuple[Node, ...]
    missing: tuple[Missing, ...]


def box_of(node: Node) -> Box:
    """The lines of a node."""
    return Box(title(node), place_of(node.component), tuple(_rows(node)), tuple(_findings(node)), worst(node.findings))


def _rows(node: Node) -> Iterator[str]:
    if node.alike:
        names = 'alike: ' + alike(node, 3)
        yield names if len(names) <= 2 * ROW else names[: 2 * ROW - 1] + '…'
    row = ''
    for value in told(node):
        text = said(value)
        if row and len(row) + len(text) + 3 > ROW:
            yield row
            row = ''
        row = f'{row} · {text}' if row else text
    if row:
        yield row


def _findings(node: Node) -> Iterator[tuple[Severity, str]]:
    path = path_of(node.component)
    loud = [finding for finding in node.findings if finding.severity != 'advice']
    for finding in loud[:MOST]:
        yield finding.severity, f'{finding.severity}: {finding.rule.id} ({where(finding, path)})'
    more = node.findings[len(loud[:MOST]) :] if len(loud) > MOST else node.findings[len(loud) :]
    if more:
        worst_of_them = worst(more)
        yield worst_of_them or 'advice', f'{"and " if loud else ""}{tally(more)}'


def gap_text(gap: Missing) -> tuple[str, str]:
    """The two lines of a side that was not seen."""
    return clean(f'{gap.kind} {gap.name}'.strip()), 'not seen'


def frames_of(graph: Graph) -> list[Frame]:
    """The chains of a graph with the folders and namespaces over them; lone components share one frame."""
    chains: dict[int, list[Node]] = {}
    for node in graph.nodes:
        chains.setdefault(node.chain, []).append(node)
    gaps: dict[int, list[Missing]] = {}
    for gap in graph.missing:
        gaps.setdefault(gap.chain, []).append(gap)
    frames = [Frame(heading(nodes), tuple(nodes), tuple(gaps.get(chain, ()))) for chain, nodes in chains.items() if len(nodes) > 1 or chain in gaps]
    alone = [nodes[0] for chain, nodes in chains.items() if len(nodes) == 1 and chain not in gaps]
    return [*frames, *([Frame('linked to nothing that was read', tuple(alone), ())] if alone else [])]


def heading(nodes: list[Node]) -> str:
    """The folder that all nodes lie in, and their namespace when it is one."""
    folders = [os.path.dirname(path_of(node.component)) for node in nodes]
    mixed = len({os.path.isabs(folder) for folder in folders}) > 1
    scopes = dict.fromkeys(clean(node.component.scope) for node in nodes if node.component.scope and '/' not in node.component.scope)
    folder = '' if mixed else os.path.commonpath(folders)
    return ', '.join([folder or '.', *(f'namespace {scope}' for scope in scopes if len(scopes) == 1)])


def aside_rows(graph: Graph) -> list[tuple[Severity | None, str, str]]:
    """What stands beside the chains: severity, title, what was found."""
    from configaudit.knowledge.chain import WORDS

    return [(worst(part.findings), f'{WORDS.get(part.kind, part.kind)} {part.path}', tally(part.findings)) for part in graph.aside]


def whole(graph: Graph) -> str:
    """A title for the picture."""
    return f'configaudit graph: {plural(len(graph.nodes), "component")}, {plural(len(graph.links), "link")}'
