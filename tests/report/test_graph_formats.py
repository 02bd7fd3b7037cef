"""Every format of the graph: what it shows, that nothing from a file is obeyed, that no credential is printed, that it is stable."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from graph_project import POOL, drawn, service, workload, write

from configaudit.errors import UsageError
from configaudit.graph import Graph
from configaudit.graph_select import Wish, folded
from configaudit.report import Options, graph_dot, graph_json, graph_mermaid, graph_svg, graph_text

RENDERERS = {'text': graph_text.render, 'json': graph_json.render, 'mermaid': graph_mermaid.render, 'dot': graph_dot.render}
NASTY = 'a"]:::error; end %%{init}%% <b>&amp;</b> `x` \\N #35; |y| \x1b[31m\u202e'


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    return drawn()


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """Names, models and hosts that mean something to a terminal, Mermaid, DOT or XML."""
    monkeypatch.chdir(tmp_path)
    name, model = json.dumps(NASTY), json.dumps(f'--model={NASTY}')
    text = workload('chat', 'vllm/vllm-openai:v0.10.2', f'[{model}]') + service('chat')
    (tmp_path / 'a.yaml').write_text(text.replace('name: chat,', f'name: {name},'))
    (tmp_path / 'b.yaml').write_text(workload('app', 'x/app:1', env=POOL % 'nobody.example.com'))
    return drawn(wish=Wish(every=True))


def test_the_tree_reads_from_the_one_who_asks_to_the_one_who_answers(graph: Graph) -> None:
    text = graph_text.render(graph, Options())
    lines = [re.sub(r'[│├└─ ]+', ' ', line).strip() for line in text.splitlines()]
    for asking, answering in (
        ('Ingress front front.yaml:', 'sends to Service chat'), ('sends to Service chat chat.yaml', 'selects Deployment :'),
        ('Deployment gateway', 'opens pool'), ('opens pool', 'connects to Service db'), ('connects to Service db', 'selects Deployment'),
    ):  # fmt: skip
        first = next(at for at, line in enumerate(lines) if line.startswith(asking))
        assert any(line.startswith(answering) for line in lines[first + 1 :]), (asking, answering)
    assert 'read timeout 45 s GAP' in text
    assert 'grace 30 s (default)' in text
    assert 'connections 40 x 3 pods = 120' in text
    assert 'scaled by HorizontalPodAutoscaler' in text
    assert '? database archive.example.com not seen' in text
    assert re.search(r'✗ error db-pools-exceed-server gateway.yaml:\d+: ', text)
    assert 'not drawn: 2 components' in text


def test_the_tree_is_coloured_on_demand_only(graph: Graph) -> None:
    assert '\x1b' not in graph_text.render(graph, Options())
    assert '\x1b[1;31m' in graph_text.render(graph, Options(color=True))


def test_the_tree_fits_the_terminal(graph: Graph) -> None:
    for width in (90, 100, 160):
        lines = graph_text.render(graph, Options(width=width)).splitlines()
        assert max(len(line) for line in lines if ': ' in line and ('✗' in line or '!' in line)) <= width


def test_verbose_shows_whole_messages_and_where_links_come_from(graph: Graph) -> None:
    text = graph_text.render(graph, Options(verbose=True))
    assert 'connects to (host db) Service' in text
    assert '…' not in text


def test_a_circle_of_links_ends(graph: Graph) -> None:
    first, last = graph.links[0], graph.links[-1]
    turned = graph._replace(links=(*graph.links, first._replace(source=first.target, target=first.source, beside=False), last._replace(source=last.target, target=last.source)))
    for render in RENDERERS.values():
        assert render(turned, Options())
    text = graph_text.render(turned, Options())
    assert all(f'{node.component.name}' in text for node in turned.nodes)


def test_json_holds_every_component_and_link(graph: Graph) -> None:
    held = json.loads(graph_json.render(graph, Options()))
    assert held['schema'] == 1
    assert [one['id'] for one in held['components']] == [f'c{number}' for number in sorted(int(one['id'][1:]) for one in held['components'])]
    names = {one['id']: one for one in held['components']}
    assert all(link['from'] in names and link['to'] in names for link in held['links'])
    assert {link['request'] for link in held['links'] if link['word'] == 'scales'} == {False}
    route = next(one for one in held['components'] if one['kind'] == 'proxy-route')
    (timeout,) = [value for value in route['settings'] if value['name'] == 'read_timeout_s']
    assert (timeout['value'], timeout['unit'], timeout['origin'], timeout['limits']) == (45, 's', 'explicit', 'the silence between two reads')
    assert timeout['location']['line'] == 6
    assert held['not_seen'][0]['name'] == 'archive.example.com'
    assert held['summary']['components'] == len(held['components'])
    assert held['summary']['severity']['error'] >= 1
    engine = next(one for one in held['components'] if one['kind'] == 'vllm')
    assert engine['severity'] == engine['findings'][0]['severity']
    assert engine['engine_version'] == '0.10.2'


def test_json_tells_unknown_from_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'a.yaml').write_text(workload('chat', 'vllm/vllm-openai:latest', '[--model=/m]'))
    held = json.loads(graph_json.render(drawn(), Options()))
    (seqs,) = [value for one in held['components'] for value in one['settings'] if value['name'] == 'max_num_seqs']
    assert seqs['origin'] == 'unknown'
    assert seqs['value'] is None
    assert seqs['text'] == '256 or 1024'
    assert seqs['reason']


def test_mermaid_has_a_class_for_each_severity_and_for_sides_not_seen(graph: Graph) -> None:
    text = graph_mermaid.render(graph, Options())
    assert text.startswith('flowchart LR\n')
    for name in ('error', 'warning', 'advice', 'clean', 'unseen'):
        assert f'classDef {name} ' in text
    assert re.search(r'c\d+ -->\|"sends to"\| c\d+', text)
    assert re.search(r'c\d+ -\.->\|"scales"\| c\d+', text)
    assert re.search(r'm1\(\["database archive\.example\.com<br/>not seen"\]\):::unseen', text)


@pytest.mark.parametrize('form', sorted(RENDERERS))
def test_nothing_from_a_file_is_obeyed(hostile: Graph, form: str) -> None:
    text = RENDERERS[form](hostile, Options())
    assert '\x1b' not in text
    assert '\u202e' not in text
    if form == 'mermaid':
        for line in text.splitlines():
            label = re.fullmatch(r' +\w+\["(.*)"\](?::::\w+)?', line)
            assert label is None or not re.search(r'["`;<>|&%]|\bend\b(?=$)', re.sub(r'#\d+;|<br/>', '', label[1])), line


@pytest.mark.parametrize('form', sorted(RENDERERS))
def test_no_credential_is_printed(graph: Graph, form: str) -> None:
    for options in (Options(), Options(verbose=True)):
        assert 'hunter2pw' not in RENDERERS[form](graph, options)


@pytest.mark.parametrize('which', ['graph', 'hostile'])
def test_graphviz_reads_the_dot(which: str, request: pytest.FixtureRequest) -> None:
    if shutil.which('dot') is None:
        pytest.skip('the program dot (Graphviz) is missing')
    picture: Graph = request.getfixturevalue(which)
    done = subprocess.run(['dot', '-Tplain'], input=graph_dot.render(picture, Options()).encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b''
    lines = done.stdout.decode().splitlines()
    assert sum(line.startswith('node c') for line in lines) == len(picture.nodes)
    assert sum(line.startswith('edge ') for line in lines) == len(picture.links) + sum(len(gap.sources) for gap in picture.missing)


@pytest.mark.parametrize('which', ['graph', 'hostile'])
def test_the_picture_is_xml_and_shows_every_box(which: str, request: pytest.FixtureRequest) -> None:
    if shutil.which('dot') is None:
        pytest.skip('the program dot (Graphviz) is missing')
    from xml.etree import ElementTree

    picture: Graph = request.getfixturevalue(which)
    root = ElementTree.fromstring(graph_svg.render(picture, Options()))
    boxes = [one for one in root.iter('{http://www.w3.org/2000/svg}g') if one.get('class') == 'node']
    assert len(boxes) == len(picture.nodes) + len(picture.missing) + len(picture.aside)
    if which == 'hostile':
        assert '<b>&amp;</b>' in ''.join(root.itertext())


def test_without_dot_the_error_names_what_to_install(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, 'which', lambda name: None)
    with pytest.raises(UsageError, match='install Graphviz'):
        graph_svg.render(graph, Options())


def test_a_dot_that_fails_is_reported(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / 'dot'
    program.write_text('#!/bin/sh\necho no fonts >&2\nexit 3\n')
    program.chmod(0o755)
    monkeypatch.setattr(shutil, 'which', lambda name: str(program))
    with pytest.raises(UsageError, match='status 3: no fonts'):
        graph_svg.render(graph, Options())


def long_chain(graph: Graph, length: int) -> Graph:
    """A chain of as many hops, each the first node of a graph under another id."""
    first = graph.nodes[0]._replace(chain=0, findings=())
    links = [graph.links[0]._replace(source=f'c{at}', target=f'c{at + 1}', beside=False) for at in range(1, length)]
    return Graph(tuple(first._replace(id=f'c{at}') for at in range(1, length + 1)), tuple(links), (), ())


@pytest.mark.parametrize('form', sorted(RENDERERS))
def test_a_chain_of_thousands_of_hops_is_drawn(graph: Graph, form: str) -> None:
    text = RENDERERS[form](folded(long_chain(graph, 3000)), Options())
    assert text.count('c3000') >= 1 if form != 'text' else text.count('(below)') >= 70


def test_a_reader_of_many_boxes_is_told_how_to_see_fewer(graph: Graph) -> None:
    assert 'to see fewer: --around' in graph_text.render(long_chain(graph, 100), Options())
    assert 'to see fewer' not in graph_text.render(graph, Options())
