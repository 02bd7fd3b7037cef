"""Database servers: how many connections they accept, by what names they are reached, which pools reach them."""

from collections.abc import Callable

import pytest

from configaudit.config import Config
from configaudit.context import Context
from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def servers(result: Result) -> list[Component]:
    return [component for component in result.components if component.kind.name == 'database']


def service(image: str, rest: str) -> str:
    return f'services:\n  db:\n    image: {image}\n{rest}'


@pytest.mark.parametrize(
    ('image', 'rest', 'limit'),
    [
        ('postgres:17', '', 100),
        ('mysql:8.4', '', 151),
        ('postgres:17', '    command: postgres -c max_connections=250\n', 250),
        ('postgres:17', '    command: ["-c", "max_connections=251"]\n', 251),
        ('postgres:17', '    command: ["-N", "252"]\n', 252),
        ('pgvector/pgvector:pg17', '    command: postgres -cmax_connections=253\n', 253),
        ('mariadb:11', '    command: --max-connections=254 --wait_timeout=60\n', 254),
        ('mysql:8.4', '    command: mysqld --max_connections 255\n', 255),
        ('bitnami/postgresql:17', '    environment: {POSTGRESQL_MAX_CONNECTIONS: 256}\n', 256),
    ],
)
def test_max_connections(run: Run, image: str, rest: str, limit: int) -> None:
    (server,) = servers(run({'compose.yaml': service(image, rest)}))
    assert server['max_connections'].value == limit


@pytest.mark.parametrize(
    ('image', 'rest'),
    [
        ('postgres:17', '    command: psql -h other -c "select 1"\n'),
        ('mysql:8.4', '    entrypoint: ["sh", "-c", "mysqldump -h x"]\n'),
        ('prometheuscommunity/postgres-exporter:v1', ''),
        ('example.com/postgres-operator:1', ''),
    ],
)
def test_clients_are_no_servers(run: Run, image: str, rest: str) -> None:
    assert servers(run({'compose.yaml': service(image, rest)})) == []


def test_only_the_server_sections_of_my_cnf_count(run: Run) -> None:
    (server,) = servers(run({'my.cnf': '[client]\nmax_connections = 5\n[mysqld]\nmax-connections = 400 # peak\nwait_timeout=90\n'}))
    assert (server['max_connections'].value, server['wait_timeout_s'].value) == (400, 90)


def test_pgbouncer_is_a_server_and_a_client(run: Run) -> None:
    text = '[databases]\napp = host=pg port=5432 dbname=app\n[pgbouncer]\nmax_client_conn = 500\ndefault_pool_size = 40\nreserve_pool_size = 5\n'
    result = run({'pgbouncer.ini': text, 'compose.yaml': 'services:\n  pg:\n    image: postgres:17\n'})
    (pool,) = (component for component in result.components if component.kind.name == 'pool')
    assert (pool['max_open'].value, pool['overflow'].value, [peer.name for peer in pool.peers('database')]) == (40, 5, ['pg'])
    assert sorted(server['max_connections'].value for server in servers(result)) == [100, 500]


@pytest.mark.parametrize(
    ('head', 'parameters', 'limit'),
    [
        ('apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\n', '    parameters: {max_connections: "300"}\n', 300),
        ('apiVersion: acid.zalan.do/v1\nkind: postgresql\n', '    parameters: {max_connections: "301"}\n', 301),
        ('apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\n', '    parameters: {}\n', 100),
    ],
)
def test_operators(run: Run, head: str, parameters: str, limit: int) -> None:
    (server,) = servers(run({'db.yaml': head + 'metadata: {name: main}\nspec:\n  postgresql:\n' + parameters}))
    assert server['max_connections'].value == limit
    assert {'main-rw', 'main'} & set(server['names'].value)


def test_a_foreign_cluster_is_no_database(run: Run) -> None:
    text = 'apiVersion: cluster.x-k8s.io/v1\nkind: Cluster\nmetadata: {name: c}\nspec: {postgresql: {}}\n'
    assert servers(run({'c.yaml': text})) == []


APP = 'services:\n  app:\n    image: example.com/app:1\n    environment:\n      DATABASE_URL: postgres://{host}/a?connection_limit=400\n'


@pytest.mark.parametrize(('host', 'linked'), [('db', True), ('db:5432', True), ('other', False), ('db.example.com', False)])
def test_linked_by_host_name(found: Callable[..., list[str]], host: str, linked: bool) -> None:
    files = {'compose.yaml': APP.format(host=host) + '  db:\n    image: postgres:17\n'}
    assert bool(found(files, 'db-pools-exceed-server')) is linked


def test_the_nearest_of_two_equal_names(found: Callable[..., list[str]]) -> None:
    other = 'services:\n  db:\n    image: postgres:17\n    command: -c max_connections=4000\n'
    near = APP.format(host='db') + '  db:\n    image: postgres:17\n    command: -c max_connections=4000\n'
    assert found({'a/compose.yaml': near, 'b/compose.yaml': other.replace('4000', '10')}, 'db-pools-exceed-server') == []


def test_linked_by_declaration(found: Callable[..., list[str]]) -> None:
    files = {'compose.yaml': APP.format(host='proxy.example.com'), 'postgresql.conf': 'max_connections = 100\n'}
    config = Config(context=Context(links=(('app', 'postgresql.conf'),)))
    assert found(files, 'db-pools-exceed-server', config=config) == ['compose.yaml:5:69 db-pools-exceed-server']


def test_two_hosts_leave_a_lone_file_unlinked(found: Callable[..., list[str]]) -> None:
    two = APP.format(host='one') + APP.format(host='two').removeprefix('services:\n').replace('  app:', '  app2:')
    assert found({'compose.yaml': two, 'postgresql.conf': 'max_connections = 100\n'}, 'db-pools-exceed-server') == []
