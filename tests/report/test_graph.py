"""Which components and links are drawn, what a hop sets, what was not seen, and where findings sit."""

import shutil
from pathlib import Path

import pytest
from graph_project import POOL, drawn, hops, service, workload, write

from configaudit.config import Config
from configaudit.context import Context
from configaudit.graph import Graph, Node
from configaudit.graph_select import Wish, folded
from configaudit.knowledge.chain import ASIDE, NEEDS, RANK, SHOWN
from configaudit.knowledge.kinds import KINDS
from configaudit.report.graph_words import title

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def node(graph: Graph, kind: str, name: str) -> Node:
    return next(one for one in graph.nodes if (one.component.kind.name, one.component.name) == (kind, name))


def values(one: Node) -> dict[str, object]:
    return {f'{value.label} {value.mark}'.strip(): value.setting.known_value for value in one.values}


def test_a_request_goes_from_the_proxy_to_the_engine_and_from_the_pool_to_the_database(project: Path) -> None:
    assert hops(drawn()) == {
        ('proxy-route front', 'sends to', 'service chat'),
        ('service chat', 'selects', 'workload chat'),
        ('autoscaler chat', 'scales', 'workload chat'),
        ('workload chat', 'runs', 'vllm chat'),
        ('workload gateway', 'opens', 'pool gateway'),
        ('pool gateway', 'connects to', 'service db'),
        ('service db', 'selects', 'workload db'),
        ('workload db', 'runs', 'database db'),
        ('workload report', 'opens', 'pool report'),
    }


def test_links_tell_what_they_were_inferred_from(project: Path) -> None:
    evidence = {link.word: link.evidence for link in drawn().links}
    assert evidence['connects to'] == 'host db'
    assert evidence['selects'].startswith('selector app=')
    assert evidence['scales'] == 'scaleTargetRef Deployment/chat'


def test_a_declared_link_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'a.yaml').write_text(workload('app', 'x/app:1', env=POOL % 'elsewhere'))
    (tmp_path / 'b.yaml').write_text(workload('store', 'postgres:16', '["-c", "max_connections=50"]'))
    assert not any(link.word == 'connects to' for link in drawn().links)
    declared = drawn(config=Config(context=Context(links=(('app', 'store'),))))
    assert [link.evidence for link in declared.links if link.word == 'connects to'] == ['links: of the configuration']


def test_hops_show_what_matters_with_its_origin(project: Path) -> None:
    graph = drawn()
    assert values(node(graph, 'proxy-route', 'front'))['read timeout GAP'] == 45
    assert values(node(graph, 'workload', 'chat')) == {'pods': '2 to 5', 'grace': 30}
    assert values(node(graph, 'pool', 'gateway'))['connections'] == '40 x 3 pods = 120'
    assert values(node(graph, 'vllm', 'chat'))['max_num_seqs'] == 512
    origins = {value.label: value.setting.origin for value in node(graph, 'workload', 'chat').values}
    assert origins['grace'] == 'default'


def test_the_other_side_that_no_file_shows_is_drawn_as_missing(project: Path) -> None:
    graph = drawn()
    assert [(gap.kind, gap.name, gap.sources) for gap in graph.missing] == [('database', 'archive.example.com', (node(graph, 'pool', 'report').id,))]
    assert 'links:' in graph.missing[0].reason


def test_pools_of_one_unseen_server_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ('one', 'two'):
        (tmp_path / f'{name}.yaml').write_text(workload(name, f'x/{name}:1', env=POOL % 'db.example.com'))
    (gap,) = drawn().missing
    assert len(gap.sources) == 2


def test_findings_sit_on_the_box_of_their_component(project: Path) -> None:
    graph = drawn()
    assert 'db-pools-exceed-server' in {finding.rule.id for finding in node(graph, 'database', 'db').findings}
    severities = [finding.severity for finding in node(graph, 'workload', 'chat').findings]
    assert severities == sorted(severities, key=('error', 'warning', 'advice').index)


def test_what_no_request_passes_stands_beside_with_its_findings(project: Path) -> None:
    (aside,) = [part for part in drawn().aside if part.kind == 'sysctl']
    assert aside.path == 'sysctl.d/90-host.conf'
    assert aside.findings


def test_services_and_workloads_alone_are_left_out_unless_asked_for(project: Path) -> None:
    assert {one.component.name for one in drawn().left_out} == {'plain'}
    assert ('service plain', 'selects', 'workload plain') in hops(drawn(wish=Wish(every=True)))
    assert ('service plain', 'selects', 'workload plain') in hops(drawn(wish=Wish(around=('plain',))))


def test_around_shows_what_leads_there_and_what_it_leads_to(project: Path) -> None:
    shown = {one.component.kind.name for one in drawn(wish=Wish(around=('Service/shop/db',))).nodes}
    assert shown == {'workload', 'pool', 'service', 'database'}
    assert {one.component.name for one in drawn(wish=Wish(around=('cha*',))).nodes} == {'chat', 'front'}
    assert not drawn(wish=Wish(around=('nobody',))).nodes


def test_kind_and_severity_choose_chains(project: Path) -> None:
    assert {one.component.name for one in drawn(wish=Wish(kinds=('engine',))).nodes} == {'chat', 'front'}
    errors = drawn(wish=Wish(severity='error'))
    assert 'report' not in {one.component.name for one in errors.nodes}
    assert 'db' in {one.component.name for one in errors.nodes}


def test_equal_branches_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ('a', 'b', 'c'):
        (tmp_path / f'{name}.yaml').write_text(workload(name, 'vllm/vllm-openai:v0.10.2', '[--model=/m]') + service(name))
    (tmp_path / 'd.yaml').write_text(workload('d', 'vllm/vllm-openai:v0.10.2', '[--model=/other]') + service('d'))
    graph = folded(drawn())
    heads = {one.component.name: [other.name for other in one.alike] for one in graph.nodes if one.component.kind.name == 'service'}
    assert heads == {'a': ['b', 'c'], 'd': []}
    assert len(graph.nodes) == 6
    assert len(graph.links) == 4


def test_two_pools_of_one_database_stay_linked_to_it_when_they_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ('a', 'b'):
        (tmp_path / f'{name}.yaml').write_text(workload(name, 'x/app:1', env=POOL % 'db'))
    (tmp_path / 'db.yaml').write_text(workload('db', 'postgres:16', '["-c", "max_connections=100"]') + service('db'))
    graph = folded(drawn())
    assert ('pool a', 'connects to', 'service db') in hops(graph)
    assert [len(one.alike) for one in graph.nodes if one.component.name == 'a'] == [1, 0]


def test_a_hop_is_not_passed_by(project: Path) -> None:
    """The route knows the engine behind the Service; the arrow goes through the Service."""
    route = node(drawn(), 'proxy-route', 'front').component
    assert [engine.name for engine in route.peers('engine')] == ['chat']
    assert ('proxy-route front', 'reaches', 'workload chat') not in hops(drawn())


@pytest.mark.parametrize('kind', sorted(SHOWN))
def test_the_table_names_settings_that_are_declared(kind: str) -> None:
    import configaudit.knowledge.carrier_kinds
    import configaudit.knowledge.engine_kinds
    import configaudit.knowledge.objects
    import configaudit.knowledge.proxy_kinds
    import configaudit.knowledge.service_kinds  # noqa: F401 - each declares its kinds

    assert {row.name for row in SHOWN[kind]} <= KINDS[kind].settings.keys()
    assert {row.mark for row in SHOWN[kind]} <= {'', 'TOTAL', 'GAP'}


def test_the_tables_do_not_contradict_each_other() -> None:
    assert not ASIDE & RANK.keys()
    assert NEEDS.keys() <= RANK.keys()


def test_an_object_that_overlays_share_is_one_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ('base', 'small', 'large'):
        (tmp_path / folder).mkdir()
    (tmp_path / 'base' / 'app.yaml').write_text(workload('chat', 'vllm/vllm-openai:v0.10.2', '[--model=/m]') + service('chat'))
    (tmp_path / 'base' / 'kustomization.yaml').write_text('resources: [app.yaml]\n')
    for folder, pods in (('small', 1), ('large', 6)):
        (tmp_path / folder / 'kustomization.yaml').write_text('resources: [../base]\npatches: [{path: pods.yaml}]\n')
        (tmp_path / folder / 'pods.yaml').write_text(f'apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: chat, namespace: shop}}\nspec: {{replicas: {pods}}}\n')
    graph = drawn()
    assert [(one.component.kind.name, one.component.name) for one in graph.nodes] == [('workload', 'chat'), ('vllm', 'chat'), ('service', 'chat')]
    assert len(graph.links) == 2
    (pods,) = [value.setting for value in graph.nodes[0].values if value.label == 'pods']
    assert set(pods.candidates) == {1, 6}
    assert not pods.is_known


def test_a_pool_of_a_program_is_drawn_with_the_process_that_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('tree_sitter_go')
    shutil.copytree(ROOT / 'examples' / 'services', tmp_path / 'shop')
    monkeypatch.chdir(tmp_path)
    graph = drawn()
    (pool,) = (node for node in graph.nodes if node.component.kind.name == 'pool')
    assert [part.name for part in pool.parts] == ['main.go']
    assert not graph.missing


def test_only_servers_that_end_by_themselves_are_said_to_drain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('tree_sitter_go')
    shutil.copytree(ROOT / 'examples' / 'services', tmp_path / 'shop')
    monkeypatch.chdir(tmp_path)
    (server,) = (node for node in drawn().nodes if node.component.kind.name == 'http-server')
    assert 'drains for' not in [value.label for value in server.values]


def test_what_a_pooler_lets_its_clients_meet_is_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'pgbouncer.ini').write_text('[databases]\nshop = host=db\n[pgbouncer]\npool_mode = transaction\n')
    monkeypatch.chdir(tmp_path)
    titles = [title(node) for node in drawn().nodes if node.component.kind.name == 'database']
    assert titles == ['pooler (postgres) pgbouncer']
