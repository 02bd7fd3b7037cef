"""The chain as a tree for terminals: who asks whom, what each hop sets, and what is wrong there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from configaudit.findings import Finding
from configaudit.graph import Graph, Link, Missing, Node, worst
from configaudit.knowledge.chain import WORDS, ranked
from configaudit.model import Component
from configaudit.report import Options
from configaudit.report.escape import visible
from configaudit.report.graph_boxes import heading
from configaudit.report.graph_words import (
    alike,
    amount,
    clean,
    findings_of,
    kind_of,
    name_of,
    origin,
    path_of,
    place_of,
    tally,
    told,
    where,
)
from configaudit.report.text import Line, painted, plain
from configaudit.report.wording import plural

_STYLES: dict[str | None, str] = {'error': 'bold red', 'warning': 'bold yellow', 'advice': 'cyan', None: 'bold'}
_MARKS = {'error': '✗', 'warning': '!', 'advice': '·'}
_TREE, _QUIET = 'blue', 'dim'
_DEEPEST = 40
"""Hops below each other in one tree: what follows is a tree of its own."""
_MANY = 60
"""Boxes from which on a reader is told how to see fewer."""
_PASSIVE = {'scales': 'scaled by', 'guards': 'guarded by'}


class _View(NamedTuple):
    """A graph, looked up by node."""

    nodes: Mapping[str, Node]
    below: Mapping[str, list[Link]]
    beside: Mapping[str, list[Link]]
    gaps: Mapping[str, list[Missing]]
    entered: frozenset[str]
    """Nodes that a request reaches from another one."""
    options: Options


def render(graph: Graph, options: Options) -> str:
    """The graph as a tree for each chain, the lone components and what stands beside them below, and a count."""
    lines = [line for block in _blocks(_view(graph, options), graph) for line in block]
    return painted(lines) if options.color else ''.join(plain(line) + '\n' for line in lines)


def _view(graph: Graph, options: Options) -> _View:
    below: dict[str, list[Link]] = {}
    beside: dict[str, list[Link]] = {}
    for link in graph.links:
        (beside.setdefault(link.target, []) if link.beside else below.setdefault(link.source, [])).append(link)
    gaps: dict[str, list[Missing]] = {}
    for gap in graph.missing:
        for source in gap.sources:
            gaps.setdefault(source, []).append(gap)
    entered = frozenset(link.target for link in graph.links if not link.beside)
    return _View({node.id: node for node in graph.nodes}, below, beside, gaps, entered, options)


def _blocks(view: _View, graph: Graph) -> Iterator[Iterable[Line]]:
    chains: dict[int, list[Node]] = {}
    for node in graph.nodes:
        chains.setdefault(node.chain, []).append(node)
    alone = [nodes[0] for nodes in chains.values() if len(nodes) == 1 and nodes[0].id not in view.gaps]
    groups: dict[str, list[list[Node]]] = {}
    for nodes in chains.values():
        if len(nodes) > 1 or nodes[0].id in view.gaps:
            groups.setdefault(heading(nodes), []).append(nodes)
    for name, several in groups.items():
        yield [_heading(name, (node for nodes in several for node in nodes))]
        for nodes in several:
            yield [*_chain(view, nodes), []]
    if alone:
        yield [[('linked to nothing that was read', 'bold underline')]]
        for node in alone:
            yield _tree(view, node, set())
        yield [[]]
    if graph.aside:
        yield [[('beside the chains', 'bold underline')], *(line for part in graph.aside for line in _aside(part.kind, part.path, part.findings, view.options)), []]
    yield _end(graph)


def _heading(name: str, nodes: Iterable[Node]) -> Line:
    """A folder and namespace, and what was found in it."""
    count = tally({id(finding): finding for node in nodes for finding in node.findings}.values())
    return [(visible(name), 'bold underline'), (f'  {count}' if count else '', _QUIET)]


def _chain(view: _View, nodes: list[Node]) -> Iterator[Line]:
    """One chain, from those that ask first."""
    seen: set[str] = set()
    scalers = {link.source for links in view.beside.values() for link in links}
    roots = [node for node in nodes if node.id not in view.entered and node.id not in scalers]
    depths: dict[str, int] = {}
    roots.sort(key=lambda node: (-_depth(view, node.id, depths), ranked(node.component)))
    for node in (*roots, *(node for node in nodes if node.id not in scalers)):
        if node.id not in seen:
            yield from _tree(view, node, seen)


def _depth(view: _View, name: str, depths: dict[str, int], left: int = 4 * _DEEPEST) -> int:
    """How many hops follow a node; one that is asked about while it is worked out (links in a circle) counts as none."""
    if name not in depths:
        depths[name] = 0
        following = view.below.get(name, ()) if left else ()
        depths[name] = 1 + max((_depth(view, link.target, depths, left - 1) for link in following), default=0)
    return depths[name]


class _Branch(NamedTuple):
    """How a node hangs in the tree."""

    word: str = ''
    head: str = ''
    """Leads its first line."""
    tail: str = ''
    """Leads its other lines."""
    parent: Component | None = None
    depth: int = 0


def _tree(view: _View, node: Node, seen: set[str], branch: _Branch = _Branch()) -> Iterator[Line]:  # noqa: B008 - immutable
    """A node, its findings, and all below it that was not shown before."""
    elsewhere = ' (above)' if node.id in seen else ' (below)' if branch.depth > _DEEPEST else ''
    yield from _box(view, node, branch, elsewhere)
    if elsewhere:
        return
    seen.add(node.id)
    children: list[Link | Missing] = [*view.beside.get(node.id, ()), *view.below.get(node.id, ()), *view.gaps.get(node.id, ())]
    yield from _findings(node, branch.tail + ('│  ' if children else '   '), view.options)
    children = [one for at, one in enumerate(children) if not _is_told(one, children[:at], seen, view)]
    for at, one in enumerate(children, 1):
        fork, rest = ('└─ ', '   ') if at == len(children) else ('├─ ', '│  ')
        if isinstance(one, Missing):
            yield [(branch.tail + fork, _TREE), *_gap(one)]
        else:
            other = view.nodes[one.source if one.beside else one.target]
            yield from _tree(view, other, seen, _Branch(_word(one, view), branch.tail + fork, branch.tail + rest, node.component, branch.depth + 1))


def _is_told(one: Link | Missing, before: list[Link | Missing], seen: set[str], view: _View) -> bool:
    """Whether a line '... (above)' would repeat its neighbour: several of one name that were shown elsewhere."""
    if isinstance(one, Missing) or one.target not in seen:
        return False
    name = name_of(view.nodes[one.target].component)
    return any(isinstance(other, Link) and other.target in seen and other.word == one.word and name_of(view.nodes[other.target].component) == name for other in before)


def _word(link: Link, view: _View) -> str:
    word = _PASSIVE.get(link.word, link.word) if link.beside else link.word
    return f'{word} ({clean(link.evidence)}) ' if link.evidence and view.options.verbose else f'{word} '


def _box(view: _View, node: Node, branch: _Branch, elsewhere: str) -> Iterator[Line]:
    """Title, place and settings, wrapped. What the line above says already is left out: the name, the file."""
    component, parent = node.component, branch.parent
    name = '' if parent is not None and name_of(parent) == name_of(component) else f' {name_of(component)}'.rstrip()
    same_file = parent is not None and path_of(parent) == path_of(component)
    line: Line = [(branch.head, _TREE), (visible(branch.word), _QUIET), (visible(kind_of(component) + name), _STYLES[worst(node.findings)])]
    if elsewhere:
        yield [*line, (elsewhere, _QUIET)]
        return
    at = place_of(component)
    yield [*line, (f'  {visible(":" + at.rpartition(":")[2] if same_file else at)}', _QUIET)]
    indent = branch.tail + ('│  ' if _has_more(view, node) else '   ')
    if node.alike:
        yield [(indent, _TREE), (_cut(visible(f'and {len(node.alike)} alike: {alike(node)}'), view.options.width - len(indent)), _QUIET)]
    yield from _values(node, indent, view.options.width)


def _has_more(view: _View, node: Node) -> bool:
    return bool(view.below.get(node.id) or view.beside.get(node.id) or view.gaps.get(node.id))


def _values(node: Node, indent: str, width: int) -> Iterator[Line]:
    row: Line = []
    used = 0
    for value in told(node):
        said = visible(' '.join(filter(None, (value.label, amount(value), value.mark))))
        more = ' ' + origin(value) if origin(value) else ''
        if row and used + 3 + len(said) + len(more) > max(width - len(indent), 30):
            yield [(indent, _TREE), *row]
            row, used = [], 0
        style = _QUIET if more else '' if value.setting.is_known else 'magenta'
        row += [(' · ' if row else '', _QUIET), (said, style), (more, _QUIET)]
        used += len(said) + len(more) + 3
    if row:
        yield [(indent, _TREE), *row]


def _findings(node: Node, indent: str, options: Options) -> Iterator[Line]:
    path = path_of(node.component)
    advice = [finding for finding in node.findings if finding.severity == 'advice']
    for finding in node.findings:
        if finding.severity != 'advice' or options.verbose:
            yield from _finding(finding, path, indent, options)
    if advice and not options.verbose:
        names = ', '.join(dict.fromkeys(finding.rule.id for finding in advice))
        yield [(indent, _TREE), (f'{_MARKS["advice"]} advice: ', _STYLES['advice']), (_cut(visible(names), options.width - len(indent) - 10), '')]


def _finding(finding: Finding, path: str, indent: str, options: Options) -> Iterator[Line]:
    head = f'{_MARKS[finding.severity]} {finding.severity} {finding.rule.id}'
    at = f' {where(finding, path)}: '
    message = visible(clean(finding.message))
    room = options.width - len(indent) - len(head) - len(at)
    yield [(indent, _TREE), (visible(head), _STYLES[finding.severity]), (visible(at), _QUIET), (message if options.verbose else _cut(message, room), '')]


def _cut(text: str, room: int) -> str:
    room = max(room, 20)
    return text if len(text) <= room else text[: room - 1] + '…'


def _gap(gap: Missing) -> Line:
    name = visible(clean(gap.name))
    return [('? ', 'magenta'), (f'{gap.kind} {name} '.replace('  ', ' '), 'magenta'), ('not seen', 'bold magenta'), (f': {visible(clean(gap.reason))}', _QUIET)]


def _aside(kind: str, path: str, findings: tuple[Finding, ...], options: Options) -> Iterator[Line]:
    yield [(visible(WORDS.get(kind, kind)), _STYLES[worst(findings)]), (f'  {visible(path)}', _QUIET)]
    for finding in findings:
        yield from _finding(finding, path, '   ', options)


def _end(graph: Graph) -> Iterator[Line]:
    shown = sum(1 + len(node.alike) for node in graph.nodes)
    parts = [f'{plural(shown, "component")}, {plural(len(graph.links), "link")}']
    if graph.missing:
        parts.append(f'{plural(len(graph.missing), "side")} not seen')
    found = findings_of(graph)
    parts.append(tally(found) or 'no finding')
    yield [('; '.join(parts), _STYLES[worst(found)])]
    if len(graph.nodes) > _MANY:
        yield [('to see fewer: --around NAME, --kind KIND, --severity error', _QUIET)]
    if graph.left_out:
        count = tally({id(finding): finding for node in graph.left_out for finding in node.findings}.values())
        yield [(f'not drawn: {plural(len(graph.left_out), "component")} without an engine, client, proxy, pool or server among them{f" ({count})" if count else ""}: --all', _QUIET)]
