"""Pools: where their sizes are written, whose defaults hold, and how many processes have one."""

import math
from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def pools(result: Result) -> list[Component]:
    return [component for component in result.components if component.kind.name == 'pool']


def compose(environment: dict[str, str], image: str = 'example.com/app:1', command: str = '') -> dict[str, str]:
    lines = [f'      {name}: "{value}"\n' for name, value in environment.items()]
    run = f'    command: {command}\n' if command else ''
    return {'compose.yaml': f'services:\n  app:\n    image: {image}\n{run}    environment:\n' + ''.join(lines)}


@pytest.mark.parametrize(
    ('environment', 'library', 'size'),
    [
        ({'DATABASE_URL': 'postgres://db/a?connection_limit=7'}, 'prisma', 7),
        ({'DATABASE_URL': 'postgres://db/a?pool_max_conns=9'}, 'pgxpool', 9),
        ({'DATABASE_URL': 'postgres://db/a?pool=6'}, 'rails', 6),
        ({'DATABASE_URL': 'postgresql+asyncpg://db/a'}, 'sqlalchemy', 5),
        ({'DATABASE_URL': 'postgres://db/a', 'DB_POOL_SIZE': '11'}, '', 11),
        ({'DATABASE_URL': 'postgres://db/a', 'PG_MAX_CONNS': '100', 'DB_POOL_SIZE': '12'}, '', 12),
        ({'DATABASE_URL': 'postgres://db/a', 'PG_MAX_CONNS': '14'}, '', 14),
        ({'DATABASE_URL': 'postgresql+asyncpg://db/a', 'PG_MAX_CONNS': '100', 'PG_SHARED_BUFFERS': '1GB'}, 'sqlalchemy', 5),
        ({'DATABASE_URL': 'postgres://db/a', 'RAILS_MAX_THREADS': '3'}, 'rails', 3),
        ({'DB_HOST': 'db', 'DB_MAX_OPEN_CONNS': '33'}, 'go', 33),
        ({'WEED_MYSQL_CONNECTION_MAX_OPEN': '0'}, 'go', math.inf),
        ({'GITEA__database__MAX_OPEN_CONNS': '15'}, 'go', 15),
        ({'AIRFLOW__DATABASE__SQL_ALCHEMY_POOL_SIZE': '4'}, 'sqlalchemy', 4),
        ({'SPRING_DATASOURCE_URL': 'jdbc:mysql://db/a', 'SPRING_DATASOURCE_HIKARI_MAXIMUMPOOLSIZE': '13'}, 'hikari', 13),
        ({'ConnectionStrings__Main': 'Host=pg;Username=u;Max Pool Size=20'}, 'adonet', 20),
        ({'ConnectionStrings__Main': 'Host=pg;Username=u'}, 'adonet', 100),
    ],
)
def test_environment(run: Run, environment: dict[str, str], library: str, size: float) -> None:
    found = pools(run(compose(environment)))
    assert [(pool['library'].value, pool['max_open'].value) for pool in found] == [(library, size)]


@pytest.mark.parametrize(
    ('environment', 'image'),
    [
        ({'DATABASE_URL': 'sqlite:///data.db'}, 'example.com/app:1'),
        ({'MAX_IDLE_CONNS': '10', 'MAX_IDLE_CONNS_PER_HOST': '10'}, 'example.com/app:1'),
        ({'REDIS_URL': 'redis://r'}, 'example.com/app:1'),
        ({'DATA_SOURCE_NAME': 'postgresql://db/a'}, 'prometheuscommunity/postgres-exporter:v0.16.0'),
        ({'POSTGRESQL_MAX_CONNECTIONS': '300'}, 'bitnami/postgresql:17'),
        ({'DATABASE_URL': 'postgres://db/a'}, 'migrate/migrate:4'),
        ({'SHADOW_DATABASE_URL': 'postgres://db/a'}, 'example.com/app:1'),
        ({'SPRING_LIQUIBASE_URL': 'jdbc:postgresql://db/a'}, 'example.com/app:1'),
        ({'FLYWAY_URL': 'jdbc:postgresql://db/a'}, 'example.com/app:1'),
    ],
)
def test_no_pool(run: Run, environment: dict[str, str], image: str) -> None:
    assert pools(run(compose(environment, image))) == []


def test_an_unknown_library_has_no_known_size(run: Run) -> None:
    (pool,) = pools(run(compose({'DATABASE_URL': 'postgres://db/a'})))
    assert not pool['max_open'].is_known
    assert not pool['max_open'].is_set


def test_the_size_of_a_spring_pool_may_stand_in_the_application(run: Run) -> None:
    text = compose({'SPRING_DATASOURCE_URL': 'jdbc:mysql://db/a?connectTimeout=1000&socketTimeout=60000'})
    (alone,), (joined,) = pools(run(text)), pools(run({**text, 'src/main/resources/application.yml': 'spring:\n  datasource:\n    url: jdbc:mysql://localhost/a\n    hikari: {maximum-pool-size: 16}\n'}))
    assert (alone['library'].value, alone['max_open'].is_known, joined['max_open'].value) == ('hikari', False, 16)


def test_a_url_in_a_secret_is_unknown_not_missing(run: Run) -> None:
    text = (
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - name: c\n      image: example.com/a:1\n      env:\n'
        '        - name: DATABASE_URL\n          valueFrom: {secretKeyRef: {name: s, key: url}}\n'
    )
    result = run({'p.yaml': text})
    (pool,) = pools(result)
    assert not pool['max_open'].is_known
    assert [item for item in result.findings if item.rule.id == 'db-pool-unstated'] == []
    assert 'db-pool-unstated' in {item.rule.id for item in result.not_assessed}


@pytest.mark.parametrize(
    ('command', 'environment', 'processes'),
    [
        ('gunicorn -w 4 app:app', {}, 4),
        ('gunicorn --workers=3 app:app', {}, 3),
        ('python -m gunicorn -w 5 app:app', {}, 5),
        ('gunicorn app:app', {'WEB_CONCURRENCY': '6'}, 6),
        ('gunicorn app:app', {'GUNICORN_CMD_ARGS': '--bind :80 --workers=7'}, 7),
        ('uvicorn app:app --workers 2', {}, 2),
        ('./server -w 9', {'WEB_CONCURRENCY': '6'}, 1),
    ],
)
def test_processes(run: Run, command: str, environment: dict[str, str], processes: int) -> None:
    (pool,) = pools(run(compose({'DATABASE_URL': 'postgres://db/a', **environment}, command=command)))
    assert pool['processes'].value == processes


SPRING = 'spring:\n  datasource:\n    url: jdbc:mysql://db/a\n'


@pytest.mark.parametrize(
    ('text', 'library', 'size'),
    [
        (SPRING + '    hikari:\n      maximumPoolSize: 21\n', 'hikari', 21),
        (SPRING + '    hikari:\n      maximum_pool_size: ${POOL:22}\n', 'hikari', 22),
        ('spring.datasource.url: jdbc:mysql://db/a\nspring.datasource.hikari.maximum-pool-size: 23\n', 'hikari', 23),
        (SPRING + '    tomcat:\n      max-active: 24\n', 'tomcat', 24),
        (SPRING + '    dbcp2:\n      max-total: -1\n', 'dbcp2', math.inf),
        ('spring:\n  datasource:\n    druid:\n      master:\n        url: jdbc:mysql://db/a\n      maxActive: 25\n', 'druid', 25),
        ('database:\n  driver: postgres\n  maxOpenConns: 26\n  maxIdleConns: 5\n', 'go', 26),
        ('db:\n  dialect: mysql\n  host: db\n  pool_size: 27\n', '', 27),
        ('general_settings:\n  database_url: postgres://db/a\n  database_connection_pool_limit: 28\n', 'litellm', 28),
    ],
)
def test_application_files(run: Run, text: str, library: str, size: float) -> None:
    found = pools(run({'application.yml': text}))
    assert [(pool['library'].value, pool['max_open'].value) for pool in found] == [(library, size)]


@pytest.mark.parametrize(
    'text',
    [
        'server:\n  tomcat:\n    max-connections: 8192\n  datasource: x\n',
        'redis:\n  host: r\n  pool_size: 10\n',
        'database:\n  host: h\n  pool: main\n',
        'spring:\n  datasource:\n    url: jdbc:h2:mem:test\n',
    ],
)
def test_files_without_a_pool(run: Run, text: str) -> None:
    assert pools(run({'application.yml': text})) == []


def test_a_profile_calls_nothing_missing(run: Run) -> None:
    result = run({'application-test.yml': SPRING})
    assert 'db-pool-unstated' not in {item.rule.id for item in result.findings}


def test_a_service_of_compose_that_ends_before_others_start_serves_nobody(run: Run) -> None:
    text = 'services:\n  migrate:\n    image: example.com/app:1\n    environment: {DATABASE_URL: "postgresql+asyncpg://db/a"}\n  app:\n    image: example.com/app:1\n    depends_on: {migrate: {condition: %s}}\n'
    found = [[item.component.name for item in run({'compose.yaml': text % condition}).findings if item.rule.id == 'db-pool-unstated'] for condition in ('service_completed_successfully', 'service_started')]
    assert [len(names) for names in found] == [0, 1]


def test_a_mounted_file_is_the_pool_of_its_process(run: Run) -> None:
    text = (
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n'
        '        - name: api\n          image: example.com/api:1\n          volumeMounts: [{name: c, mountPath: /config}]\n'
        '      volumes: [{name: c, configMap: {name: api}}]\n---\n'
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: api}\ndata:\n  application.properties: |\n'
        '    spring.datasource.url=jdbc:postgresql://pg/a\n    spring.datasource.hikari.maximum-pool-size=17\n'
    )
    found = [pool for pool in pools(run({'api.yaml': text})) if pool.peers('workload')]
    assert [(pool['max_open'].value, pool.peers('workload')[0].name) for pool in found] == [(17, 'api')]


@pytest.mark.parametrize('image', ['pgvector/pgvector:pg16', 'postgis/postgis:16', 'timescale/timescaledb:2', 'postgres:16', 'percona/percona-server:8'])
def test_a_database_server_opens_no_pool_to_itself(run: Run, image: str) -> None:
    result = run(compose({'POSTGRES_HOST': 'app', 'POSTGRES_MAX_CONNECTIONS': '1024'}, image))
    assert not pools(result)
    assert pools(run(compose({'POSTGRES_HOST': 'db', 'POSTGRES_MAX_CONNECTIONS': '20'})))
    assert not pools(run(compose({'DATABASE_URL': 'postgres://a:b@db/a'}, image, '["bash", "-c", "psql -c select"]')))


@pytest.mark.parametrize(
    ('files', 'found'),
    [
        ({'Dockerfile': 'FROM python:3.13\nENV DATABASE_URL=postgresql+psycopg2://a:b@localhost:5432/a\nCMD ["python", "-m", "app"]\n'}, False),
        ({'Dockerfile': 'FROM python:3.13\nENV DATABASE_URL=postgresql+psycopg2://a:b@db:5432/a\nCMD ["python", "-m", "app"]\n'}, True),
        (compose({'DATABASE_URL': 'postgresql+psycopg2://a:b@host.docker.internal/a'}), False),
        (compose({'DATABASE_URL': 'postgresql+psycopg2://a:b@127.0.0.1/a'}), True),
    ],
)
def test_a_developers_own_database_needs_no_stated_pool(run: Run, files: dict[str, str], found: bool) -> None:
    assert ('db-pool-unstated' in {item.rule.id for item in run(files).findings}) is found
