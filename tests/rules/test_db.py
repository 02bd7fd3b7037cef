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
        (workload(spec='  replicas: 1\n  strategy: {type: Recreate}\n').replace('DB_POOL_SIZE', 'OTHER'), ['advice']),
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
