"""The graph in the DOT language of Graphviz (https://graphviz.org/doc/info/lang.html, HTML-like labels)."""

from collections.abc import Iterator
from html import escape

from configaudit.graph import Graph, Link, Node
from configaudit.report import Options
from configaudit.report.escape import visible
from configaudit.report.graph_boxes import COLORS, UNSEEN, Box, aside_rows, box_of, frames_of, gap_text, whole
from configaudit.report.graph_words import clean

_FONT = 'Helvetica,Arial,sans-serif'
_TABLE = '<table border="1" cellborder="0" cellspacing="0" cellpadding="3" style="rounded" color="{}" bgcolor="{}">{}</table>'


def render(graph: Graph, options: Options) -> str:
    """The graph for `dot -Tsvg` and its like."""
    return '\n'.join((*_lines(graph), ''))


def _lines(graph: Graph) -> Iterator[str]:
    yield f'digraph {_quoted(whole(graph))} {{'
    yield f'  graph [rankdir=LR, fontname="{_FONT}", fontsize=12, nodesep=0.3, ranksep=0.7, pad=0.3]'
    yield f'  node [shape=plain, fontname="{_FONT}", fontsize=11]'
    yield f'  edge [fontname="{_FONT}", fontsize=9, color="#607d8b", fontcolor="#455a64", arrowsize=0.7]'
    for number, (severity, name, found) in enumerate(aside_rows(graph)):
        fill, border = COLORS[severity]
        yield f'  a{number} [shape=box, style="rounded,filled", fillcolor="{fill}", color="{border}", label="{_inner(name)}\\n{_inner(found)}"]'
    for number, frame in reversed(list(enumerate(frames_of(graph)))):  # dot stacks from the bottom
        yield f'  subgraph cluster_{number} {{'
        yield f'    label={_quoted(frame.name)}; labeljust=l; style=rounded; color="#cfd8dc"; fontcolor="#546e7a"'
        for node in frame.nodes:
            box = box_of(node)
            yield f'    {node.id} [label=<{_label(box)}>, tooltip={_quoted(_tip(node, box))}]'
        for gap in frame.missing:
            text = '\\n'.join(_inner(line) for line in gap_text(gap))
            yield f'    {gap.id} [shape=box, style="rounded,dashed,filled", fillcolor="{UNSEEN[0]}", color="{UNSEEN[1]}", label="{text}", tooltip={_quoted(clean(gap.reason))}]'
        yield '  }'
    yield from map(_edge, graph.links)
    for gap in graph.missing:
        yield from (f'  {source} -> {gap.id} [style=dashed, color="{UNSEEN[1]}"]' for source in gap.sources)
    yield '}'


def _label(box: Box) -> str:
    fill, border = COLORS[box.severity]
    rows = [_row(f'<b>{_html(box.title)}</b>')]
    rows += [_row(f'<font point-size="9" color="#607d8b">{_html(box.place)}</font>')]
    rows += [_row(_html(row)) for row in box.rows]
    rows += [_row(f'<font color="{COLORS[severity][1]}">{_html(text)}</font>') for severity, text in box.findings]
    return _TABLE.format(border, fill, ''.join(rows))


def _row(inner: str) -> str:
    return f'<tr><td align="left">{inner}&#160;&#160;</td></tr>'  # room for readers' fonts that run wider than Graphviz measured


def _edge(link: Link) -> str:
    style = ', style=dashed' if link.beside else ''
    tip = f', tooltip={_quoted(clean(link.evidence))}, labeltooltip={_quoted(clean(link.evidence))}' if link.evidence else ''
    return f'  {link.source} -> {link.target} [label={_quoted(link.word)}{style}{tip}]'


def _tip(node: Node, box: Box) -> str:
    """What a pointer over the box shows: the place, and every finding in full."""
    return '\n'.join((clean(node.component.identity), box.place, *(f'{finding.severity} {finding.rule.id}: {clean(finding.message)}' for finding in node.findings)))


def _html(text: str) -> str:
    return escape(visible(text))


def _quoted(text: str) -> str:
    return '"' + '\\n'.join(map(_inner, text.split('\n'))) + '"'


def _inner(text: str) -> str:
    """Text inside double quotes: no escape of the language, no entity of its reader."""
    return visible(text).replace('\\', '\\\\').replace('"', '\\"').replace('&', '&amp;')
