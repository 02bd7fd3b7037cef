"""Chains of hops as linking makes them: what follows what, and what is left open."""

import pytest

from configaudit.context import Context
from configaudit.knowledge.carrier_kinds import COMPOSE_SERVICE
from configaudit.knowledge.proxy_kinds import ROUTE
from configaudit.knowledge.service_kinds import HTTP_CLIENT
from configaudit.link_chains import host_of, link_chains, url_parts
from configaudit.model import Component, Setting
from configaudit.places import Document, Place


def place(path: str) -> Place:
    return Place(Document(path, 'yaml', 'x', b'x'), 0, 1)


def made(kind: object, name: str, file: str, scope: str = '', **values: object) -> Component:
    at = place(file)
    settings = {key: Setting(key, value, at) for key, value in values.items()}
    return Component(kind, name, f'{file}/{name}', at, settings, scope=scope)  # type: ignore[arg-type]


def client(target: str, **values: object) -> Component:
    return made(HTTP_CLIENT, 'chat.py', 'app/chat.py', target=target, **values)


def route(name: str, product: str, targets: tuple[str, ...], **values: object) -> Component:
    values.setdefault('path', '/')
    return made(ROUTE, name, f'deploy/{name}.yaml', product=product, targets=tuple((host, '80') for host in targets), **values)


def linked(*hops: Component, links: tuple[tuple[str, str], ...] = ()) -> dict[str, list[str]]:
    by_kind: dict[str, list[Component]] = {}
    for hop in hops:
        by_kind.setdefault(hop.kind.name, []).append(hop)
    link_chains(by_kind, Context(links=links))
    return {hop.name: [other.name for other in hop.peers('chain')] for hop in hops}


def test_a_client_an_ingress_and_a_mesh_are_one_chain() -> None:
    edge = route('edge', 'ingress-nginx', ('chat-proxy',), server_name='chat.example.org')
    proxy = route('proxy', 'nginx', ('vllm.chat.svc.cluster.local',), hosts=('chat-proxy',))
    mesh = route('mesh', 'istio', ('vllm',), hosts=('vllm.chat',), in_mesh=True)
    assert linked(client('https://chat.example.org/v1'), edge, proxy, mesh)['chat.py'] == ['edge', 'proxy']
    mesh = route('mesh', 'istio', ('vllm',), hosts=('vllm.chat.svc.cluster.local',), in_mesh=True)
    chains = linked(client('https://chat.example.org/v1'), edge, proxy, mesh)
    assert chains['chat.py'] == ['edge', 'proxy', 'mesh']
    assert edge.peers('callers')[0].name == 'chat.py'
    assert [hop.name for hop in edge.peers('next')] == ['proxy']


def test_an_ingress_controller_has_no_sidecar() -> None:
    mesh = route('mesh', 'istio', ('vllm',), hosts=('vllm',), in_mesh=True)
    assert linked(route('edge', 'ingress-nginx', ('vllm',)), mesh)['edge'] == []
    assert linked(route('edge', 'nginx', ('vllm',)), mesh)['edge'] == ['mesh']


def test_a_gateway_takes_the_request_by_its_host() -> None:
    edge = route('edge', 'alb', ('istio-ingressgateway',), server_name='chat.example.org')
    inner = route('inner', 'istio', ('vllm',), hosts=('chat.example.org',), in_mesh=False)
    assert linked(edge, inner)['edge'] == ['inner']


def test_of_several_routes_the_path_tells() -> None:
    models = route('models', 'istio', ('vllm',), hosts=('llm.example.org',), path='/v1/models')
    chat = route('chat', 'istio', ('vllm',), hosts=('llm.example.org',), path='/v1/')
    rest = route('rest', 'istio', ('web',), hosts=('llm.example.org',), path='/')
    assert linked(client('http://llm.example.org/v1'), models, chat, rest)['chat.py'] == ['chat']
    assert linked(client('http://llm.example.org/v1/models'), models, chat, rest)['chat.py'] == ['models']
    twin = route('twin', 'istio', ('other',), hosts=('llm.example.org',), path='/v1/')
    assert linked(client('http://llm.example.org/v1'), chat, twin)['chat.py'] == []


def test_namespaces_are_kept_apart() -> None:
    one = made(ROUTE, 'one', 'deploy/one.yaml', 'blue', product='nginx', targets=(), hosts=('gateway',), path='/')
    two = made(ROUTE, 'two', 'deploy/two.yaml', 'green', product='nginx', targets=(), hosts=('gateway',), path='/')
    assert linked(client('http://gateway.green.svc.cluster.local/v1'), one, two)['chat.py'] == ['two']
    assert linked(client('http://gateway.green:8080/v1'), one, two)['chat.py'] == ['two']
    assert linked(client('http://gateway/v1'), one, two)['chat.py'] == []


def test_circles_end() -> None:
    one, two = route('one', 'nginx', ('b',), hosts=('a',)), route('two', 'nginx', ('a',), hosts=('b',))
    assert linked(one, two) == {'one': ['two'], 'two': ['one']}


def test_declared_links_count_more_than_names() -> None:
    one, two = route('one', 'nginx', (), hosts=('gateway',)), route('two', 'nginx', (), hosts=('elsewhere',))
    assert linked(client('http://gateway/'), one, two, links=(('chat.py', 'two'),))['chat.py'] == ['two']


@pytest.mark.parametrize('name', ['', '.', '${HOST}', '{{ host }}', '\ufffc-llm', '..'])
def test_what_is_no_host(name: str) -> None:
    assert host_of(name) is None


@pytest.mark.parametrize(('url', 'parts'), [
    ('http://vllm:8000/v1', ('vllm', '/v1')), ('vllm', ('vllm', '')), ('https://a.b/c?d=/e', ('a.b', '/c')), ('', ('', '')), ('grpc://x', ('x', '')),
])  # fmt: skip
def test_urls(url: str, parts: tuple[str, str]) -> None:
    assert url_parts(url) == parts


def compose(name: str, build: object) -> Component:
    return made(COMPOSE_SERVICE, name, 'deploy/compose.yaml', names=(name,), build=build, env={})


def test_a_program_answers_to_the_service_that_is_built_from_its_folder() -> None:
    gateway = made(HTTP_CLIENT, 'main.go', 'gateway/src/main.go', target='http://vllm:8000/v1', streams=True)
    edge, other = route('edge', 'nginx', ('api',), path='location /'), route('other', 'nginx', ('worker',), path='location /jobs')
    services = (compose('api', {'context': '../gateway'}), compose('worker', '../worker'))
    assert linked(edge, other, gateway, *services)['edge'] == ['main.go']
    assert linked(edge, other, gateway, *services)['other'] == []
    twice = (*services, compose('batch', '../gateway/'))
    assert linked(edge, gateway, *twice)['edge'] == []
    silent = made(HTTP_CLIENT, 'main.go', 'gateway/src/main.go', target='http://billing/')
    assert linked(edge, silent, *services)['edge'] == []


def test_of_the_locations_of_one_file_the_general_one_leads_to_the_program() -> None:
    gateway = made(HTTP_CLIENT, 'main.go', 'gateway/main.go', target='http://vllm:8000/v1', streams=True)
    at = place('edge.conf')
    locations = [Component(ROUTE, name, name, at, {key: Setting(key, value, at) for key, value in {'product': 'nginx', 'path': f'location {name}', 'targets': (('api', ''),)}.items()}) for name in ('/health', '/', '/ws')]  # fmt: skip
    chains = linked(*locations, gateway, compose('api', '../gateway'))
    assert {name: len(chain) for name, chain in chains.items() if name.startswith('/')} == {'/': 1, '/health': 0, '/ws': 0}
