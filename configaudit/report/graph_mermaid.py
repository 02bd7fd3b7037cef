"""The graph as a Mermaid flowchart, which GitHub, GitLab and many wikis draw.

https://mermaid.js.org/syntax/flowchart.html; characters that Mermaid could obey stand as entity codes (`#34;`).
"""

from collections.abc import Iterator

from configaudit.graph import Graph
from configaudit.patterns import regex
from configaudit.report import Options
from configaudit.report.escape import visible
from configaudit.report.graph_boxes import COLORS, UNSEEN, aside_rows, box_of, frames_of, gap_text

MAX_TEXT, MAX_EDGES = 50_000, 500
"""What Mermaid draws unless its page is configured otherwise (maxTextSize, maxEdges in its configuration schema)."""
_ACTIVE = regex(r'[^\w .,/:+()=*?·…-]')


def render(graph: Graph, options: Options) -> str:
    """The flowchart, without the Markdown fence around it."""
    return '\n'.join((*_lines(graph), ''))


def too_large(text: str) -> bool:
    """Whether Mermaid refuses to draw this with its limits left as they are."""
    return len(text) > MAX_TEXT or text.count('-->') + text.count('-.->') > MAX_EDGES


def _lines(graph: Graph) -> Iterator[str]:
    yield 'flowchart LR'
    for number, frame in enumerate(frames_of(graph)):
        yield f'  subgraph g{number}["{_text(frame.name)}"]'
        for node in frame.nodes:
            box = box_of(node)
            rows = (box.title, *box.rows, *(text for _, text in box.findings))
            yield f'    {node.id}["{"<br/>".join(map(_text, rows))}"]:::{box.severity or "clean"}'
        for gap in frame.missing:
            yield f'    {gap.id}(["{"<br/>".join(map(_text, gap_text(gap)))}"]):::unseen'
        yield '  end'
    for number, (severity, name, found) in enumerate(aside_rows(graph)):
        yield f'  a{number}["{_text(name)}<br/>{_text(found)}"]:::{severity or "clean"}'
    for link in graph.links:
        yield f'  {link.source} {"-.->" if link.beside else "-->"}|"{_text(link.word)}"| {link.target}'
    for gap in graph.missing:
        yield from (f'  {source} -.->|"?"| {gap.id}' for source in gap.sources)
    for severity, (fill, border) in COLORS.items():
        yield f'  classDef {severity or "clean"} fill:{fill},stroke:{border},color:#1a1a1a,text-align:left'
    yield f'  classDef unseen fill:{UNSEEN[0]},stroke:{UNSEEN[1]},color:#1a1a1a,stroke-dasharray:5 3'


def _text(text: str) -> str:
    """Text inside the quotes of a label: nothing in it is markup."""
    return _ACTIVE.sub(lambda match: f'#{ord(match[0])};', visible(text))
