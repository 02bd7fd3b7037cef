"""The arithmetic of pools: worst-case pods, processes, overflow, and what is only partly known."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
RULE = 'db-pools-exceed-server'


def workload(kind: str = 'Deployment', spec: str = '', size: str = '10', name: str = 'api', command: str = '') -> str:
    run = f'          command: {command}\n' if command else ''
    return (
        f'apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{spec}  template:\n    spec:\n      containers:\n        - name: {name}\n'
        f'          image: example.com/{name}:1\n{run}          env:\n'
        f'            - {{name: DATABASE_URL, value: "postgres://pg/a"}}\n            - {{name: DB_POOL_SIZE, value: "{size}"}}\n---\n'
    )


def scaler(maximum: int) -> str:
    return (
        'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: api}\nspec:\n'
        f'  scaleTargetRef: {{kind: Deployment, name: api}}\n  maxReplicas: {maximum}\n---\n'
    )


SERVER = (
    'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: pg}\nspec:\n  template:\n    spec:\n      containers:\n'
    '        - {name: pg, image: "postgres:17"}\n'
)


@pytest.mark.parametrize(
    ('text', 'total'),
    [
        (workload(spec='  replicas: 8\n'), 100),
        (workload(spec='  replicas: 9\n'), 120),
        (workload(spec='  replicas: 9\n  strategy: {type: Recreate}\n'), 90),
        (workload(spec='  replicas: 9\n  strategy: {rollingUpdate: {maxSurge: 0}}\n'), 90),
        (workload(spec='  replicas: 9\n  strategy: {rollingUpdate: {maxSurge: 4}}\n'), 130),
        (workload(spec='  replicas: 9\n  strategy: {rollingUpdate: {maxSurge: 50%}}\n'), 140),
        (workload('StatefulSet', '  replicas: 9\n'), 90),
        (workload(spec='  replicas: 2\n') + scaler(10), 130),
        (workload(spec='  replicas: 2\n', command='[gunicorn, -w, "4", "a:a"]'), 120),
        (workload(spec='  replicas: 4\n') + workload(spec='  replicas: 4\n', name='jobs'), 100),
    ],
)
def test_worst_case(run: Run, text: str, total: int) -> None:
    found = [item for item in run({'all.yaml': text + SERVER}).findings if item.rule.id == RULE]
    assert [item.values['total'] for item in found] == [total]
    assert found[0].severity == ('error' if total > 97 else 'warning')


def test_below_four_fifths_passes(run: Run) -> None:
    result = run({'all.yaml': workload(spec='  replicas: 5\n') + SERVER})
    assert result.passed.get(RULE) == 1


def test_a_certain_part_over_the_limit_fails_whatever_is_unknown(run: Run) -> None:
    text = workload(spec='  replicas: 9\n') + workload(size='$(SIZE)', name='other') + SERVER
    assert [item.values['total'] for item in run({'all.yaml': text}).findings if item.rule.id == RULE] == [120]


def test_a_certain_part_within_the_limit_is_not_assessed(run: Run) -> None:
    secret = workload(name='other').replace('{name: DB_POOL_SIZE, value: "10"}', '{name: DB_POOL_SIZE, valueFrom: {secretKeyRef: {name: s, key: k}}}')
    result = run({'all.yaml': workload(spec='  replicas: 2\n') + secret + SERVER})
    assert [item for item in result.findings if item.rule.id == RULE] == []
    assert RULE in {item.rule.id for item in result.not_assessed}


def test_the_server_without_pools_is_not_applicable(run: Run) -> None:
    result = run({'all.yaml': SERVER})
    assert result.not_applicable.get(RULE) == 1


def test_both_places_are_shown(run: Run) -> None:
    (found,) = (item for item in run({'all.yaml': workload(spec='  replicas: 2\n') + scaler(10) + SERVER}).findings if item.rule.id == RULE)
    assert [word for word, _ in found.related] == ['the server accepts', 'autoscaler maximum']


@pytest.mark.parametrize(
    ('text', 'severity'),
    [
        (workload(spec='  replicas: 3\n').replace('DB_POOL_SIZE', 'OTHER'), ['warning']),
        (workload(spec='  replicas: 0\n').replace('DB_POOL_SIZE', 'OTHER'), []),
        (workload(spec='  replicas: 1\n').replace('DB_POOL_SIZE', 'OTHER'), []),
        (workload(spec='  replicas: 1\n').replace('DB_POOL_SIZE', 'OTHER').replace('postgres://', 'postgresql+asyncpg://'), ['advice']),
        (workload(spec='  replicas: 1\n').replace('DB_POOL_SIZE', 'OTHER') + scaler(4), ['warning']),
        (workload(spec='  replicas: 1\n  strategy: {type: Recreate}\n').replace('DB_POOL_SIZE', 'OTHER'), []),
        (workload('CronJob').replace('DB_POOL_SIZE', 'OTHER').replace('  template:', '  jobTemplate: {spec: {}}\n  template:'), []),
        (workload('Job').replace('DB_POOL_SIZE', 'OTHER'), []),
        (workload(), []),
    ],
)
def test_unstated(run: Run, text: str, severity: list[str]) -> None:
    assert [item.severity for item in run({'a.yaml': text}).findings if item.rule.id == 'db-pool-unstated'] == severity


def hikari(rest: str) -> dict[str, str]:
    url = 'jdbc:mysql://db/a?connectTimeout=1000&socketTimeout=9000'
    text = f'spring:\n  datasource:\n    url: {url}\n    hikari:\n      maximum-pool-size: 5\n{rest}'
    return {'application.yml': text, 'my.cnf': '[mysqld]\nwait_timeout = 600\n'}


@pytest.mark.parametrize(
    ('rest', 'severity'),
    [
        ('      max-lifetime: 1800000\n      keepalive-time: 0\n', ['error']),
        ('      max-lifetime: 1800000\n', ['warning']),
        ('', ['warning']),
        ('      max-lifetime: 1800000\n      keepalive-time: 120000\n', []),
        ('      max-lifetime: 1800000\n      minimum-idle: 0\n      idle-timeout: 60000\n', []),
        ('      max-lifetime: 1800000\n      minimum-idle: 1\n      idle-timeout: 60000\n', ['warning']),
        ('      max-lifetime: 0\n      keepalive-time: 0\n', ['error']),
        ('      max-lifetime: 590000\n', []),
    ],
)
def test_lifetime_against_wait_timeout(run: Run, rest: str, severity: list[str]) -> None:
    assert [item.severity for item in run(hikari(rest)).findings if item.rule.id == 'db-lifetime-exceeds-server'] == severity


@pytest.mark.parametrize(
    ('url', 'is_found'),
    [
        ('jdbc:mysql://db/a?connectTimeout=1000', True),
        ('jdbc:mysql://db/a?connectTimeout=0&socketTimeout=0', True),
        ('jdbc:postgresql://db/a', True),
        ('jdbc:postgresql://db/a?socketTimeout=30', False),
        ('jdbc:sqlserver://db;socketTimeout=30000', False),
        ('jdbc:mysql://db/a?${EXTRA}', False),
        ('jdbc:h2:mem:a', False),
        ('jdbc:mysql://localhost:3306/a', False),
        ('jdbc:postgresql://127.0.0.1/a', False),
        ('jdbc:mysql://localhost.example.com/a', True),
    ],
)
def test_jdbc_timeouts(run: Run, url: str, is_found: bool) -> None:
    result = run({'application.yml': f'spring:\n  datasource:\n    url: {url}\n'})
    assert bool([item for item in result.findings if item.rule.id == 'db-jdbc-timeout-unset']) is is_found


def test_no_password_in_any_message(run: Run) -> None:
    text = 'services:\n  a:\n    image: example.com/a:1\n    environment:\n      DATABASE_URL: postgres://u:hunter2@db/a\n'
    assert 'hunter2' not in str([(item.message, item.values) for item in run({'compose.yaml': text}).findings])


def through(url: str, image: str = 'edoburu/pgbouncer:1.22.0', mode: str = 'transaction') -> dict[str, str]:
    door = f'  door:\n    image: {image}\n    environment: {{DB_HOST: db, POOL_MODE: {mode}}}\n'
    return {'compose.yaml': f'services:\n  app:\n    image: example.com/app:1\n    environment:\n      DATABASE_URL: {url}\n{door}'}


@pytest.mark.parametrize(
    ('files', 'severity'),
    [
        (through('jdbc:postgresql://door/a?socketTimeout=9'), ['warning']),
        (through('jdbc:postgresql://door/a?prepareThreshold=5'), ['error']),
        (through('jdbc:postgresql://door/a?prepareThreshold=0'), []),
        (through('jdbc:postgresql://door/a?preferQueryMode=simple'), []),
        (through('jdbc:postgresql://door/a?prepareThreshold=5', mode='session'), []),
        (through('jdbc:postgresql://door/a?prepareThreshold=5', 'edoburu/pgbouncer:1.24.1'), []),
        (through('jdbc:postgresql://door/a?prepareThreshold=5', 'edoburu/pgbouncer:latest'), []),
        (through('postgres://door/a?connection_limit=5'), ['warning']),
        (through('postgres://door/a?connection_limit=5&pgbouncer=true'), []),
        (through('postgres://door/a?pool_max_conns=5&default_query_exec_mode=cache_statement'), ['error']),
        (through('postgres://door/a?pool_max_conns=5&default_query_exec_mode=exec'), []),
        (through('postgres://door/a?pool_size=5'), []),
        (through('jdbc:postgresql://other/a?prepareThreshold=5'), []),
    ],
)
def test_prepared_statements_through_a_pooler(run: Run, files: dict[str, str], severity: list[str]) -> None:
    assert [item.severity for item in run(files).findings if item.rule.id == 'db-prepared-through-transaction-pooler'] == severity


def test_what_the_program_prepares_is_not_assessed(run: Run) -> None:
    result = run(through('postgres://door/a?pool_size=5'))
    assert 'db-prepared-through-transaction-pooler' in {item.rule.id for item in result.not_assessed}


@pytest.mark.parametrize(
    ('text', 'total'),
    [
        (workload('Job', '  parallelism: 12\n'), 120),
        (workload('CronJob').replace('  template:', '  jobTemplate: {spec: {parallelism: 11}}\n  template:'), []),
        (workload(spec='  replicas: 9\n').replace('      containers:', '      terminationGracePeriodSeconds: 600\n      containers:'), 120),
    ],
)
def test_jobs_and_grace(run: Run, text: str, total: object) -> None:
    found = [item.values['total'] for item in run({'all.yaml': text + SERVER}).findings if item.rule.id == RULE]
    assert found == ([total] if isinstance(total, int) else total)


def test_pods_that_terminate_slowly_are_counted_for_a_warning(run: Run) -> None:
    slow = workload(spec='  replicas: 5\n').replace('      containers:', '      terminationGracePeriodSeconds: 600\n      containers:')
    (found,) = (item for item in run({'all.yaml': slow + SERVER}).findings if item.rule.id == RULE)
    assert (found.severity, found.values['total'], found.values['ending'], found.values['grace']) == ('warning', 70, 50, 600)


def test_an_init_container_is_done_before_its_pod_opens_its_own(run: Run) -> None:
    text = workload(spec='  replicas: 5\n').replace(
        '      containers:\n',
        '      initContainers:\n        - name: seed\n          image: example.com/seed:1\n          env:\n'
        '            - {name: DATABASE_URL, value: "postgres://pg/a"}\n            - {name: DB_POOL_SIZE, value: "4"}\n      containers:\n',
    )
    result = run({'all.yaml': text + SERVER})
    assert result.passed.get(RULE) == 1


def test_every_workload_has_its_own_line(run: Run) -> None:
    text = workload(spec='  replicas: 4\n') + workload(spec='  replicas: 4\n', name='jobs') + SERVER
    (found,) = (item for item in run({'all.yaml': text}).findings if item.rule.id == RULE)
    assert any(word == 'jobs: (4 + 1 surge) pods x 10 connections = 50' for word, _ in found.related)


def test_the_autoscaler_is_named_as_what_breaks_it(run: Run) -> None:
    (found,) = (item for item in run({'all.yaml': workload(spec='  replicas: 2\n') + scaler(10) + SERVER}).findings if item.rule.id == RULE)
    assert 'at the replicas as written it is 30, which fits' in found.message


@pytest.mark.parametrize(('spec', 'total'), [('    deploy: {replicas: 12}\n', 120), ('    scale: 11\n', 110), ('', None)])
def test_instances_of_a_compose_service(run: Run, spec: str, total: int | None) -> None:
    text = f'services:\n  app:\n    image: example.com/app:1\n{spec}    environment:\n      DATABASE_URL: postgres://db/a?connection_limit=10\n  db:\n    image: postgres:17\n'
    found = [item.values['total'] for item in run({'compose.yaml': text}).findings if item.rule.id == RULE]
    assert found == ([total] if total else [])


@pytest.mark.parametrize(
    ('host', 'rest', 'severity'),
    [
        ('shop.proxy-c1a2.eu-west-1.rds.amazonaws.com', '      max-lifetime: 3600000\n      keepalive-time: 0\n', ['warning']),
        ('shop.proxy-c1a2.eu-west-1.rds.amazonaws.com', '      max-lifetime: 1500000\n', []),
        ('shop.c1a2.eu-west-1.rds.amazonaws.com', '      max-lifetime: 3600000\n      keepalive-time: 0\n', []),
    ],
)
def test_lifetime_against_a_managed_proxy(run: Run, host: str, rest: str, severity: list[str]) -> None:
    text = f'spring:\n  datasource:\n    url: jdbc:postgresql://{host}/a?socketTimeout=9\n    hikari:\n      maximum-pool-size: 5\n{rest}'
    assert [item.severity for item in run({'application.yml': text}).findings if item.rule.id == 'db-lifetime-exceeds-server'] == severity


@pytest.mark.parametrize(('host', 'count'), [('db', 1), ('db.example.com', 1), ('shop.c1a2.eu-west-1.rds.amazonaws.com', 0), ('shop.postgres.database.azure.com', 0)])
def test_lifetime_against_idle_session_timeout(run: Run, host: str, count: int) -> None:
    url = f'jdbc:postgresql://{host}/a?socketTimeout=9'
    text = f'spring:\n  datasource:\n    url: {url}\n    hikari:\n      maximum-pool-size: 5\n      max-lifetime: 1800000\n      keepalive-time: 0\n'
    files = {'application.yml': text, 'postgresql.conf': 'idle_session_timeout = 10min\n'}
    found = [(item.severity, item.values['limit']) for item in run(files).findings if item.rule.id == 'db-lifetime-exceeds-server']
    assert found == [('error', 600)] * count


@pytest.mark.parametrize(
    ('user', 'given', 'severity'),
    [
        ('postgres', '', ['warning']),
        ('shop', '', ['error']),
        ('shop', '    environment: {POSTGRES_USER: shop}\n', ['warning']),
        ('', '', ['error']),
    ],
)
def test_a_superuser_takes_the_reserved_connections_too(run: Run, user: str, given: str, severity: list[str]) -> None:
    at = f'{user}:pw@' if user else ''
    text = f'services:\n  app:\n    image: example.com/app:1\n    environment:\n      DATABASE_URL: postgres://{at}db/a?connection_limit=99\n'
    result = run({'compose.yaml': f'{text}  db:\n    image: postgres:17\n{given}'})
    assert [item.severity for item in result.findings if item.rule.id == RULE] == severity


@pytest.mark.parametrize('names', ['    container_name: store\n', '    hostname: store\n', '    networks: {back: {aliases: [store]}}\n'])
def test_other_names_of_a_compose_service(run: Run, names: str) -> None:
    text = 'services:\n  app:\n    image: example.com/app:1\n    environment:\n      DATABASE_URL: postgres://store/a?connection_limit=200\n'
    result = run({'compose.yaml': f'{text}  db:\n    image: postgres:17\n{names}'})
    assert [item.severity for item in result.findings if item.rule.id == RULE] == ['error']


AZURE = 'resource "azurerm_postgresql_flexible_server" "s" {\n  name = "shop"\n}\nresource "azurerm_postgresql_flexible_server_configuration" "c" {\n  name = "max_connections"\n  server_id = azurerm_postgresql_flexible_server.s.id\n  value = "40"\n}\n'


@pytest.mark.parametrize(('host', 'count'), [('shop.postgres.database.azure.com', 1), ('store.postgres.database.azure.com', 0)])
def test_a_server_of_azure_by_its_whole_name(run: Run, host: str, count: int) -> None:
    pytest.importorskip('tree_sitter_hcl')
    text = f'services:\n  app:\n    image: example.com/app:1\n    environment:\n      DATABASE_URL: postgres://{host}/a?connection_limit=60\n'
    found = [item.values['total'] for item in run({'main.tf': AZURE, 'compose.yaml': text}).findings if item.rule.id == RULE]
    assert found == [60] * count


INDEX = "import pg from 'pg';\nexport const pool = new pg.Pool({ host: 'db', max: 60 });\n"
BUILT = 'services:\n  db: {image: "postgres:17", command: postgres -c max_connections=100}\n'


@pytest.mark.parametrize(
    ('services', 'total'),
    [
        ('  a: {build: .}\n', None), ('  a: {build: .}\n  b: {build: .}\n', 120), ('  a: {build: ., command: node a.js}\n  b: {build: ., command: node b.js}\n', None),
        ('  a: {build: ., deploy: {replicas: 3}}\n', 180), ('  a: {build: {context: ., dockerfile: api/Dockerfile}, scale: 3}\n', 180),
        ('  a: {build: {context: ., dockerfile: web/Dockerfile}, scale: 3}\n', None),
    ],
)  # fmt: skip
def test_services_that_are_built_from_one_folder_each_open_its_pool(run: Run, services: str, total: int | None) -> None:
    pytest.importorskip('tree_sitter_javascript')
    found = [finding.values['total'] for finding in run({'compose.yaml': BUILT + services, 'api/index.js': INDEX}).findings if finding.rule.id == RULE]
    assert found == ([] if total is None else [total])
