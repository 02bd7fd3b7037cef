"""`links:` of the configuration: what a name stands for, and a name that stands for nothing."""

from pathlib import Path

import pytest

from configaudit import cli

_CLIENT = '''package a

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

func f(a string) {
	grpc.NewClient(a, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, PermitWithoutStream: true}))
}
'''
_SERVER = '''import grpc

server = grpc.server(None)
server.add_insecure_port('[::]:50051')
'''
_SERVICE = '''apiVersion: apps/v1
kind: Deployment
metadata: {name: embed, namespace: shop}
spec:
  template:
    metadata: {labels: {app: embed}}
    spec: {containers: [{name: embed, image: "x/embed:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: embed, namespace: shop}
spec: {selector: {app: embed}, ports: [{name: grpc, port: 50051}]}
'''


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('tree_sitter_go')
    monkeypatch.chdir(tmp_path)
    for name, text in {'gate/client.go': _CLIENT, 'embed/server.py': _SERVER, 'embed.yaml': _SERVICE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(('server', 'found'), [('embed', True), ('Service/shop/embed', True), ('Deployment/shop/embed', True), ('server.py', True), ('other', False)])
def test_the_server_of_a_program_is_named_by_what_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], server: str, found: bool) -> None:
    (tmp_path / 'configaudit.yaml').write_text(f'links: [{{client: client.go, server: {server}}}]\n')
    cli.run(['check', '.'])
    out, err = capsys.readouterr()
    assert ('grpc-keepalive-punished' in out) is found
    assert (f"links: nothing that was read is called '{server}'" in err) is not found


def test_the_graph_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / 'configaudit.yaml').write_text('links: [{client: cleint.go, server: embed}]\n')
    cli.run(['graph', '.'])
    assert "'cleint.go'" in capsys.readouterr().err
