"""Links that serve the picture alone: mounts, build folders, images, names of compose services. Each only where one answer is possible."""

from pathlib import Path

import pytest
from graph_project import POOL, drawn, hops, service, workload

from configaudit.graph_select import Wish

COMPOSE = """\
services:
  proxy:
    image: nginx:1.27.3
    volumes: ["./proxy/site.conf:/etc/nginx/conf.d/default.conf:ro"]
  api:
    build: {context: api}
  store:
    image: registry.example.com/store:1
"""
SITE = 'server {\n  listen 80;\n  location / {\n    proxy_pass http://api:8000;\n  }\n}\n'
MAIN = """\
package main

import (
\t"net/http"
\t"time"
)

func main() {
\tserver := &http.Server{Addr: ":8000", WriteTimeout: 20 * time.Second}
\tserver.ListenAndServe()
}
"""
NGINX = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: edge, namespace: shop}
data:
  nginx.conf: |
    events {}
    http {
      server {
        listen 80;
        location /v1/ { proxy_pass http://chat:8000; }
      }
    }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (('compose.yaml', COMPOSE), ('proxy/site.conf', SITE), ('api/main.go', MAIN)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_chain_goes_through_mount_name_and_build_folder(project: Path) -> None:
    assert {
        ('compose-service proxy', 'runs', 'proxy-route server/location /'),
        ('proxy-route server/location /', 'passes to', 'proxy-upstream api:8000'),
        ('proxy-upstream api:8000', 'sends to', 'compose-service api'),
        ('compose-service api', 'runs', 'http-server main.go'),
    } <= hops(drawn())
    assert {link.evidence for link in drawn().links} >= {'mount', 'host api', 'build'}
    assert not drawn().missing


def test_a_name_in_another_project_is_not_meant(project: Path) -> None:
    (project / 'other').mkdir()
    (project / 'other' / 'site.conf').write_text(SITE)
    (project / 'compose.yaml').rename(project / 'proxy' / 'compose.yaml')
    graph = drawn()
    (gap,) = graph.missing
    (source,) = [node for node in graph.nodes if node.id in gap.sources]
    assert gap.name == 'api:8000'
    assert source.component.place.document.path == 'other/site.conf'


def test_two_services_of_one_build_folder_are_not_guessed_between(project: Path) -> None:
    text = (project / 'compose.yaml').read_text()
    (project / 'compose.yaml').write_text(text + '  worker:\n    build: ./api\n')
    assert not any(link.evidence == 'build' for link in drawn().links)


def test_the_deepest_build_folder_runs_the_program(project: Path) -> None:
    text = (project / 'compose.yaml').read_text()
    (project / 'compose.yaml').write_text(text + '  whole:\n    build: .\n')
    assert ('compose-service api', 'runs', 'http-server main.go') in hops(drawn())


@pytest.mark.parametrize(('images', 'linked'), [(['nginx:1.27.3'], True), (['nginx:1.27.3', 'nginx:1.26.0'], False), (['redis:7'], False)])
def test_the_only_workload_with_its_image_runs_a_proxys_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, images: list[str], linked: bool) -> None:
    monkeypatch.chdir(tmp_path)
    parts = [workload(f'edge-{number}', image) for number, image in enumerate(images)]
    (tmp_path / 'edge.yaml').write_text('---\n'.join([NGINX, *parts]))
    (tmp_path / 'chat.yaml').write_text(workload('chat', 'vllm/vllm-openai:v0.10.2', '[--model=/m]') + service('chat', 8000))
    graph = drawn(wish=Wish(every=True))
    assert any(link.evidence == 'image' for link in graph.links) is linked
    assert ('proxy-upstream chat:8000', 'sends to', 'service chat') in hops(graph)


CALLER = '[{name: CHAT_URL, value: "http://chat:8000/v1"}, {name: DB_HOST, value: db}, {name: SERVER_TYPE, value: store}, {name: NOTE, value: "chat is nice"}]'


def test_a_workload_calls_the_services_whose_addresses_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = workload('app', 'x/app:1', '["--backend=chat:8000", "--log=store"]', env=CALLER) + service('app')
    (tmp_path / 'all.yaml').write_text('---\n'.join([app, *(workload(name, f'x/{name}:1') + service(name) for name in ('chat', 'db', 'store'))]))
    graph = drawn()
    assert {hop for hop in hops(graph) if hop[1] == 'calls'} == {('workload app', 'calls', 'service chat'), ('workload app', 'calls', 'service db')}
    assert {link.evidence for link in graph.links if link.word == 'calls'} == {'env CHAT_URL', 'env DB_HOST'}
    assert {node.component.name for node in graph.left_out} == {'store'}


@pytest.mark.parametrize(('value', 'called'), [
    ('http://user:pw@chat.shop.svc:80/x', True), ('other:1,chat:8000', True), ('http://chat.other.svc', False), ('10.0.0.1:8000', False), ('http://chat.example.com', False),
    ('registry/chat:80', False),
])  # fmt: skip
def test_addresses_in_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, called: bool) -> None:
    monkeypatch.chdir(tmp_path)
    app = workload('app', 'x/app:1', env=f'[{{name: TARGET, value: "{value}"}}]')
    (tmp_path / 'all.yaml').write_text(app + '---\n' + workload('chat', 'x/chat:1') + service('chat'))
    assert bool(hops(drawn())) is called


def test_a_pool_says_it_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that names the database is the pool's: the arrow goes through the pool."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'all.yaml').write_text(workload('app', 'x/app:1', env=POOL % 'db') + '---\n' + workload('db', 'postgres:16', '["-c", "max_connections=50"]') + service('db', 5432))
    assert not any(link.word == 'calls' for link in drawn().links)


def test_a_call_stays_when_what_is_called_calls_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """front calls cart and checkout, checkout calls cart: all three are requests of their own."""
    monkeypatch.chdir(tmp_path)
    env = '[{name: CART_ADDR, value: "cart:80"}, {name: CHECKOUT_ADDR, value: "checkout:80"}]'
    parts = [workload('front', 'x/front:1', env=env), workload('checkout', 'x/checkout:1', env=env.replace('checkout', 'nobody')) + service('checkout')]
    (tmp_path / 'all.yaml').write_text('---\n'.join([*parts, workload('cart', 'x/cart:1') + service('cart')]))
    assert {(asking, answering) for asking, word, answering in hops(drawn()) if word == 'calls'} == {
        ('workload front', 'service cart'), ('workload front', 'service checkout'), ('workload checkout', 'service cart'),
    }  # fmt: skip
