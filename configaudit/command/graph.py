"""`configaudit graph [PATH]...`: the chain as the tool understood it."""

from typing import Any

import click

from configaudit.command.declare import options
from configaudit.command.options import JUDGING, READING, Option, config_of
from configaudit.command.streams import is_colored, say, width, write_report
from configaudit.command.verdict import CLEAN, NOTHING, Limits, audited, dead_links, status, without_known
from configaudit.errors import UsageError
from configaudit.graph import Graph, graph_of
from configaudit.graph_select import Wish, chosen, folded
from configaudit.knowledge.chain import drawn_kinds
from configaudit.model import SEVERITIES
from configaudit.report import Options

_FORMATS = ('text', 'json', 'mermaid', 'dot', 'svg')
_DRAWING = (
    Option('-f --format', 'How the graph looks. `svg` runs the `dot` program of Graphviz.', name='form', choices=_FORMATS, default='text'),
    Option('--output', 'Write to this file. [default: standard output]', metavar='FILE'),
    Option('--around', 'Only what leads to this component and what it leads to: a name, an identity, or a glob. Repeatable.', multiple=True, metavar='NAME'),
    Option('--kind', 'Only chains with a component of this kind or trait: `pool`, `engine`, `proxy-route`. Repeatable.', name='kinds', multiple=True, metavar='KIND'),
    Option('--severity', 'Only chains with a finding of this severity or a higher one.', choices=SEVERITIES),
    Option('--all', 'Also chains of Services and workloads alone; equal branches one by one.', name='every', is_flag=True),
    Option('--baseline', 'Leave out the findings that this file knows.', metavar='FILE'),
    Option('--no-ignores', 'Honour no suppression.', is_flag=True),
    Option('--color', 'auto: on a terminal, unless NO_COLOR is set.', choices=('auto', 'always', 'never'), default='auto'),
    Option('-v --verbose', 'Whole messages, every advice, and what each link was inferred from.', is_flag=True),
)


@click.command(short_help='Show who asks whom, what each hop sets, and what is wrong where.')
@click.argument('paths', nargs=-1, metavar='[PATH]...')
@options(_DRAWING, JUDGING, READING)
def command(paths: tuple[str, ...], **given: Any) -> int:
    """Show the chain as it was understood: clients, proxies, Services, workloads, engines, pools and databases, the links between
    them, the settings that matter on each hop with where they come from, and the findings where they sit.

    A side that no file shows is drawn as not seen. Equal branches are drawn once. JSON holds every component and every link.

    \b
    configaudit graph deploy/                                   a tree
    configaudit graph . --around gateway                        what leads to it, and what it leads to
    configaudit graph . --severity error --format svg --output errors.svg
    configaudit graph deploy/ -f mermaid                        for Markdown: GitHub and GitLab draw it

    \b
    Exit status: 0 drawn, 2 wrong usage (or no `dot` for svg), 3 something could not be read, 4 nothing to draw was found.
    """
    config = config_of(given)._replace(ignores=not given['no_ignores'])
    result = audited(paths, config)
    for name in dead_links(result, config):
        say(f'links: nothing that was read is called {name!r}')
    known = given['baseline'] or config.baseline
    if known and config.ignores:
        result, _ = without_known(result, known)
    _check_kinds(given['kinds'])
    wish = Wish(given['around'], given['kinds'], given['severity'] or '', given['every'])
    graph = chosen(graph_of(result, config.context), wish)
    form = given['form']
    if form != 'json' and not wish.every:
        graph = folded(graph)
    look = Options(color=form == 'text' and not given['output'] and is_colored(given['color']), width=width(), verbose=given['verbose'])
    text = _drawn(form, graph, look)
    write_report(given['output'] or '-', text)
    if form == 'mermaid':
        _tell_limits(text)
    code = status(result, paths, Limits('never'))
    if code == CLEAN and not graph.nodes and not graph.aside:
        code = NOTHING
    if code == NOTHING:
        say(_nothing(graph, wish))
    return code


def _check_kinds(names: tuple[str, ...]) -> None:
    kinds = drawn_kinds()
    for name in names:
        if name not in kinds:
            raise UsageError(f'--kind: {name!r} is no kind that is drawn (there are: {", ".join(kinds)})')


def _drawn(form: str, graph: Graph, look: Options) -> str:
    from importlib import import_module

    text: str = import_module(f'configaudit.report.graph_{form}').render(graph, look)
    return text


def _tell_limits(text: str) -> None:
    from configaudit.report.graph_mermaid import MAX_EDGES, MAX_TEXT, too_large

    if too_large(text):
        say(f'over what Mermaid draws by default (maxTextSize {MAX_TEXT}, maxEdges {MAX_EDGES}): narrow it with --around, --kind or --severity, or use svg')


def _nothing(graph: Graph, wish: Wish) -> str:
    asked = [*(f'--around {name}' for name in wish.around), *(f'--kind {name}' for name in wish.kinds), *([f'--severity {wish.severity}'] if wish.severity else [])]
    if asked:
        return f'nothing to draw: no chain matches {" ".join(asked)}'
    if graph.left_out:
        return f'nothing to draw but {len(graph.left_out)} Services and workloads that no engine, client, proxy, pool or server joins: --all draws them'
    return 'nothing to draw was found: no file there holds a component that a request passes'
