"""Database servers: how many connections they accept, by what names they are reached, which pools reach them."""

import random
from collections.abc import Callable
from pathlib import Path

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


CNPG = 'apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: main, namespace: shop}\nspec:\n  instances: 3\n'


def test_replicas_have_limits_of_their_own(run: Run) -> None:
    primary, replicas = servers(run({'db.yaml': CNPG + '  postgresql: {parameters: {max_connections: "50"}}\n'}))
    assert (primary['names'].value, primary['instances'].value) == (('main-rw',), 1)
    assert (replicas['names'].value, replicas['instances'].value) == (('main-ro', 'main-r'), 3)


def test_a_single_server_is_its_own_replica(run: Run) -> None:
    (server,) = servers(run({'db.yaml': CNPG.replace('3', '1')}))
    assert server['names'].value == ('main-rw', 'main-ro', 'main-r')


POOLER = 'apiVersion: postgresql.cnpg.io/v1\nkind: Pooler\nmetadata: {name: door, namespace: shop}\nspec:\n  cluster: {name: main}\n'


def test_a_pooler_opens_connections_to_its_cluster(run: Run) -> None:
    text = CNPG + '---\n' + POOLER + '  instances: 4\n  type: rw\n  pgbouncer:\n    poolMode: transaction\n    parameters: {default_pool_size: "30"}\n'
    result = run({'db.yaml': text})
    (pool,) = (component for component in result.components if component.kind.name == 'pool')
    assert [peer.name for peer in pool.peers('database')] == ['main']
    (found,) = (item for item in result.findings if item.rule.id == 'db-pools-exceed-server')
    assert (found.values['total'], found.values['usable'], found.severity) == (150, 97, 'error')


@pytest.mark.parametrize('parameters', ['{{ toYaml .Values.parameters | nindent 6 }}', '\n      {{- .Values.parameters | toYaml | nindent 6 }}'])
def test_what_a_template_writes_into_a_pooler_is_unknown(run: Run, parameters: str) -> None:
    chart = {'chart/Chart.yaml': 'name: chart\nversion: 1.0.0\n', 'chart/values.yaml': 'parameters: {}\n'}
    text = POOLER.replace('door', '{{ .Release.Name }}') + f'  instances: 4\n  pgbouncer:\n    poolMode: session\n    parameters: {parameters}\n'
    result = run({**chart, 'chart/templates/pooler.yaml': text})
    (pool,) = (component for component in result.components if component.kind.name == 'pool')
    assert not pool['max_open'].is_known
    assert [item.rule.id for item in result.findings if item.rule.id == 'db-pool-unstated'] == []


SELF = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ledger-db, namespace: bank}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: db
          image: example.com/bank/ledger-db:1
          env: [{name: LEDGER_URI, value: "postgresql://u:p@HOST:5432/ledger"}]
"""


@pytest.mark.parametrize(('host', 'pools'), [
    ('ledger-db', 0), ('ledger-db.bank', 0), ('ledger-db.bank.svc.cluster.local', 0), ('ledger-db.other', 1), ('ledger-db.example.com', 1), ('accounts-db', 1),
])  # fmt: skip
def test_a_server_is_no_client_of_itself(run: Run, host: str, pools: int) -> None:
    result = run({'db.yaml': SELF.replace('HOST', host)})
    assert len([component for component in result.components if component.kind.name == 'pool']) == pools


@pytest.mark.parametrize(
    ('head', 'spec', 'names'),
    [
        ('postgres-operator.crunchydata.com/v1beta1\nkind: PostgresCluster', '  patroni: {dynamicConfiguration: {postgresql: {parameters: {max_connections: 300}}}}\n', 'main-primary'),
        ('pgv2.percona.com/v2\nkind: PerconaPGCluster', '  patroni: {dynamicConfiguration: {postgresql: {parameters: {max_connections: 300}}}}\n', 'main-ha'),
        ('pxc.percona.com/v1\nkind: PerconaXtraDBCluster', '  pxc:\n    size: 3\n    configuration: |\n      [mysqld]\n      max_connections=300\n', 'main-haproxy'),
        ('k8s.mariadb.com/v1alpha1\nkind: MariaDB', '  myCnf: |\n    [mariadb]\n    max_connections=300\n', 'main'),
        ('mysql.oracle.com/v2\nkind: InnoDBCluster', '  mycnf: |\n    [mysqld]\n    max_connections=300\n', 'main'),
    ],
)
def test_more_operators(run: Run, head: str, spec: str, names: str) -> None:
    (server, *_) = servers(run({'db.yaml': f'apiVersion: {head}\nmetadata: {{name: main}}\nspec:\n{spec}'}))
    assert server['max_connections'].value == 300
    assert names in server['names'].value


@pytest.mark.parametrize('head', ['acid.zalan.do/v1\nkind: postgresql', 'stackgres.io/v1\nkind: SGCluster', 'ps.percona.com/v1\nkind: PerconaServerMySQL'])
def test_a_limit_that_the_operator_derives_is_unknown(run: Run, head: str) -> None:
    (server, *_) = servers(run({'db.yaml': f'apiVersion: {head}\nmetadata: {{name: main}}\nspec: {{x: 1}}\n'}))
    assert not server['max_connections'].is_known


def test_the_operators_secret_tells_the_database(run: Run) -> None:
    app = (
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api, namespace: shop}\nspec:\n  replicas: 40\n  template:\n    spec:\n      containers:\n'
        '        - name: api\n          image: example.com/api:1\n          env:\n            - {name: DB_POOL_SIZE, value: "2"}\n'
        '            - name: DATABASE_URL\n              valueFrom: {secretKeyRef: {name: main-app, key: uri}}\n'
    )
    (found,) = (item for item in run({'a.yaml': app, 'db.yaml': CNPG}).findings if item.rule.id == 'db-pools-exceed-server')
    assert (found.values['server'], found.values['total']) == ('main', 100)


@pytest.mark.parametrize(('tag', 'given', 'followed'), [('1.18.0', '', 0), ('v1.22.1-p0', '', 0), ('1.24.1', '', 200), ('1.22.0', '50', 50), ('1.20.0', '50', 0), ('latest', '', None)])
def test_prepared_statements_of_a_pgbouncer_by_its_version(run: Run, tag: str, given: str, followed: int | None) -> None:
    variables = f'    environment: {{DB_HOST: db, MAX_CLIENT_CONN: 300{", MAX_PREPARED_STATEMENTS: " + given if given else ""}}}\n'
    result = run({'compose.yaml': f'services:\n  door:\n    image: edoburu/pgbouncer:{tag}\n{variables}  db:\n    image: postgres:17\n'})
    pooler = next(server for server in servers(result) if server['pooler'].value)
    assert (pooler['max_connections'].value, pooler['max_prepared'].known_value) == (300, followed)


def test_a_mounted_file_is_the_containers(run: Run) -> None:
    files = {
        'compose.yaml': 'services:\n  door:\n    image: edoburu/pgbouncer:1.24.1\n    deploy: {replicas: 3}\n    volumes: ["./bouncer.ini:/etc/pgbouncer/pgbouncer.ini"]\n  db:\n    image: postgres:17\n',
        'bouncer.ini': '[databases]\nshop = host=db user=shop pool_size=40\n[pgbouncer]\npool_mode = transaction\n',
    }
    (found,) = (item for item in run(files).findings if item.rule.id == 'db-pools-exceed-server')
    assert (found.values['total'], found.place.document.path) == (120, 'bouncer.ini')


def test_a_described_server(run: Run, tmp_path: Path) -> None:
    text = APP.format(host='orders.abc.eu-west-1.rds.amazonaws.com')
    config = 'databases:\n  - name: orders\n    hosts: [orders.abc.eu-west-1.rds.amazonaws.com]\n    max_connections: 200\n'
    from configaudit.config import read_config

    (tmp_path / 'configaudit.yaml').write_text(config)
    result = run({'compose.yaml': text}, read_config(str(tmp_path / 'configaudit.yaml'), trusted=True))
    (found,) = (item for item in result.findings if item.rule.id == 'db-pools-exceed-server')
    assert (found.values['usable'], found.values['server']) == (197, 'orders')
    assert found.related[0][1].document.path.endswith('configaudit.yaml')


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: {name}, namespace: shop}}
spec:
  chart: {{spec: {{chart: {chart}, version: 16.x}}}}
  values:
{values}"""


@pytest.mark.parametrize(
    ('name', 'chart', 'values', 'limit', 'host'),
    [
        ('orders', 'postgresql', '    primary:\n      extendedConfiguration: |\n        max_connections = 300\n', 300, 'orders-postgresql'),
        ('orders-postgresql', 'postgresql', '    auth: {database: x}\n', 100, 'orders-postgresql'),
        ('orders', 'mysql', '    fullnameOverride: db\n    primary:\n      configuration: |\n        [mysqld]\n        max_connections=400\n', 400, 'db'),
        ('orders', 'cluster', '    cluster: {postgresql: {parameters: {max_connections: "70"}}}\n', 70, 'orders-cluster-rw'),
    ],
)
def test_releases_of_charts(run: Run, name: str, chart: str, values: str, limit: int, host: str) -> None:
    text = RELEASE.format(name=name, chart=chart, values=values)
    (server,) = servers(run({'release.yaml': text + ('' if chart != 'cluster' else '# postgresql\n')}))
    assert (server['max_connections'].value, server.scope) == (limit, 'shop')
    assert host in server['names'].value


@pytest.mark.parametrize(('chart', 'rest'), [('nginx', ''), ('postgresql', '  valuesFrom: [{kind: ConfigMap, name: v}]\n')])
def test_other_releases_are_no_known_server(run: Run, chart: str, rest: str) -> None:
    text = RELEASE.format(name='a', chart=chart, values='    postgresql: {enabled: true}\n') + rest
    assert servers(run({'release.yaml': text})) == []


@pytest.mark.parametrize(
    ('files', 'limit'),
    [
        ({'redis.conf': '# as shipped\nmaxclients 400\ntimeout 0\n'}, 400),
        ({'redis.conf': 'port 6379\n'}, 10000),
        ({'compose.yaml': 'services:\n  cache:\n    image: redis:7\n    command: redis-server --maxclients 300\n'}, 300),
    ],
)
def test_redis(run: Run, files: dict[str, str], limit: int) -> None:
    (server,) = servers(run(files))
    assert (server['product'].value, server['max_connections'].value, server['wait_timeout_s'].value) == ('redis', limit, float('inf'))


def test_redis_pools_count_where_their_size_is_written(run: Run) -> None:
    app = 'services:\n  app:\n    image: example.com/app:1\n    deploy: {replicas: 5}\n    environment:\n      CACHE_URL: redis://cache:6379/0?max_connections=100\n      QUEUE_URL: redis://cache:6379/1\n'
    text = app + '  cache:\n    image: redis:7\n    command: redis-server --maxclients 400\n'
    (found,) = (item for item in run({'compose.yaml': text}).findings if item.rule.id == 'db-pools-exceed-server')
    assert (found.values['total'], found.values['usable']) == (500, 400)


def test_an_include_that_is_a_comment_includes_nothing(run: Run) -> None:
    (server,) = servers(run({'postgresql.conf': "max_connections = 50\n#include_dir = 'conf.d'\n"}))
    assert server['reserved'].value == 3
    (server,) = servers(run({'postgresql.conf': "max_connections = 50\ninclude_dir = 'conf.d'\n"}))
    assert not server['reserved'].is_known


ZALANDO = 'apiVersion: acid.zalan.do/v1\nkind: postgresql\nmetadata: {name: main}\nspec:\n  postgresql: {parameters: {max_connections: "100"}}\n  connectionPooler:\n    numberOfInstances: 3\n'


def test_what_the_operators_configuration_says_is_not_assessed(run: Run) -> None:
    result = run({'db.yaml': ZALANDO})
    assert [item.rule.id for item in result.findings if item.rule.id.startswith('db-')] == []
    assert {'db-pool-unstated', 'db-pools-exceed-server'} <= {item.rule.id for item in result.not_assessed}


def test_the_connections_of_a_pooler_are_shared_out_among_its_pods(run: Run) -> None:
    (found,) = (item for item in run({'db.yaml': ZALANDO + '    maxDBConnections: 90\n'}).findings if item.rule.id == 'db-pools-exceed-server')
    assert (found.values['total'], found.severity) == (90, 'warning')


def test_mutated_files_are_read(run: Run) -> None:
    choose = random.Random(11)
    bouncer = '[databases]\nshop = host=db user=shop pool_size=40\n%include /etc/more.ini\n[pgbouncer]\npool_mode = transaction\n'
    puma = 'threads_count = ENV.fetch("RAILS_MAX_THREADS", 9)\nthreads threads_count, threads_count\nworkers ENV.fetch("W") { 3 }\n'
    files = {}
    for number in range(60):
        for name, text in (('pgbouncer.ini', bouncer), ('puma.rb', puma), ('pgpool.conf', "backend_hostname0 = 'a'\nmax_pool = 4\n")):
            letters = list(text)
            for _ in range(12):
                letters[choose.randrange(len(letters))] = choose.choice('[]{}()=\'"%\n,|é')
            files[f'{number}/{name}'] = ''.join(letters)
    assert run(files).errors == ()
