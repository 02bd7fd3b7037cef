"""Programs that call gRPC servers: which server a client reaches, by Service, by file and by compose."""

from collections.abc import Callable

import pytest

from configaudit.config import Config
from configaudit.context import Context
from configaudit.result import Result
from tests.conftest import Audit

CLIENT = '''package rank

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

func open() (*grpc.ClientConn, error) {
	return grpc.NewClient("%s", grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: %s * time.Second, PermitWithoutStream: true}))
}
'''
SERVER = '''from concurrent import futures
import grpc

server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.max_send_message_length", 1 << 24)])
server.add_insecure_port("[::]:9000")
'''
PODS = '''apiVersion: v1
kind: Service
metadata: {name: ranker}
spec:
  selector: {app: ranker}
  ports: [{name: %s, port: 9000, targetPort: %s}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ranker}
spec:
  selector: {matchLabels: {app: ranker}}
  template:
    metadata: {labels: {app: ranker}}
    spec:
      containers:
      - {name: ranker, image: "example.com/ranker:1.0", command: %s, ports: [{name: calls, containerPort: 9000}]}
'''
PUNISHED = 'grpc-keepalive-punished'


def service(port: str = 'grpc', target: str = '9000', command: str = '[python, serve/main.py]') -> str:
    return PODS % (port, target, command)


@pytest.mark.parametrize(
    ('manifest', 'severity'),
    [
        (service(), 'error'),
        (service('calls', 'calls'), 'error'),
        (service(command='[python, -m, serve.main]'), 'error'),
        (service(command='[sh, -c, "exec python serve/main.py --port 9000"]'), 'error'),
        (service(command='[/entrypoint]'), 'warning'),
        (service('calls', 'calls', '[/entrypoint]'), None),
        (service('grpc', '9001').replace('port: 9000', 'port: 9001'), None),
    ],
)
def test_a_client_meets_the_server_behind_the_service_it_dials(run: Callable[..., Result], manifest: str, severity: str | None) -> None:
    files = {'rank/open.go': CLIENT % ('ranker:9000', '30'), 'serve/main.py': SERVER, 'deploy.yaml': manifest}
    severities = [item.severity for item in run(files).findings if item.rule.id == PUNISHED]
    assert sorted(severities) == sorted([severity, 'warning'] if severity else [])


@pytest.mark.parametrize(('target', 'is_found'), [('ranker:9000', True), ('ranker:9001', False), ('other:9000', False)])
def test_a_client_meets_the_program_that_compose_builds(found: Audit, target: str, is_found: bool) -> None:
    compose = 'services:\n  ranker: {build: ./serve, restart: always}\n  web: {build: ./rank, restart: always}\n'
    files = {'rank/open.go': CLIENT % (target, '30'), 'serve/main.py': SERVER, 'compose.yaml': compose}
    assert bool(found(files, PUNISHED)) is is_found


def test_of_two_servers_behind_one_service_none_is_chosen(found: Audit) -> None:
    files = {'rank/open.go': CLIENT % ('ranker:9000', '30'), 'a/main.py': SERVER, 'b/main.py': SERVER, 'deploy.yaml': service(command='[/entrypoint]')}
    assert found(files, PUNISHED) == []
    assert found(files, 'grpc-keepalive-unmatched') != []


ROUTE = '''apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: ranker}
spec:
  hosts: [ranker]
  http: [{route: [{destination: {host: ranker, port: {number: 9000}}}]}]
'''


@pytest.mark.parametrize(('port', 'is_found'), [('http', True), ('grpc', False), ('http2', False)])
def test_a_program_shows_that_a_port_is_for_grpc(found: Audit, port: str, is_found: bool) -> None:
    files = {'serve/main.py': SERVER, 'deploy.yaml': service(port, 'calls'), 'route.yaml': ROUTE}
    assert bool(found(files, 'grpc-port-called-otherwise')) is is_found


BALANCED = service().replace('metadata: {name: ranker}\nspec:\n  selector: {app', '''metadata:
  name: ranker
  annotations: {service.beta.kubernetes.io/aws-load-balancer-type: external, external-dns.alpha.kubernetes.io/hostname: "rank.example.com, r.example.com"}
spec:
  type: LoadBalancer
  selector: {app''')


@pytest.mark.parametrize(
    ('target', 'seconds', 'places'),
    [
        ('rank.example.com:9000', '400', ['rank/open.go:11', 'serve/main.py:4']),
        ('rank.example.com:9000', '300', ['serve/main.py:4']),
        ('ranker:9000', '400', ['serve/main.py:4']),
        ('other.example.com:9000', '400', ['serve/main.py:4']),
    ],
)
def test_pings_after_the_balancer_forgot_the_connection(found: Audit, target: str, seconds: str, places: list[str]) -> None:
    files = {'rank/open.go': CLIENT % (target, seconds), 'serve/main.py': SERVER, 'deploy.yaml': BALANCED}
    assert [item.rpartition(':')[0] for item in found(files, 'grpc-idle-beyond-balancer')] == places


@pytest.mark.parametrize(('options', 'linked'), [('', 0), (', grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 600 * time.Second})', 1)])
def test_a_client_without_pings_and_target_is_linked_to_no_server_elsewhere(run: Callable[..., Result], options: str, linked: int) -> None:
    client = CLIENT.partition('func open')[0] + 'func open(target string) (*grpc.ClientConn, error) {\n\treturn grpc.NewClient(target' + options + ')\n}\n'
    components = run({'rank/open.go': client, 'serve/main.py': SERVER}).components
    (found,) = (component for component in components if component.kind.name == 'grpc-client')
    assert len(found.peers('grpc-server')) == linked


@pytest.mark.parametrize(('client', 'server', 'count'), [('rank/open.go', 'b/main.py', 2), ('open.go', 'python/b/main.py/grpc-server/0', 2), ('rank/open.go', 'c/main.py', 0)])
def test_a_declared_link_names_programs_by_their_paths(found: Audit, client: str, server: str, count: int) -> None:
    files = {'rank/open.go': CLIENT % ('somewhere:9000', '30'), 'a/main.py': SERVER, 'b/main.py': SERVER}
    config = Config(context=Context(links=((client, server),)))
    assert len(found(files, PUNISHED, config=config)) == count
