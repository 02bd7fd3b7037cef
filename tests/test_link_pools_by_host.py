"""Pools that no process names: the container that is told where the database is, or none."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
RULE = 'db-pools-exceed-server'
SERVER = (
    'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: pg}\nspec:\n  template:\n    spec:\n      containers:\n'
    '        - {name: pg, image: "postgres:17"}\n'
)


def totals(result: Result) -> list[object]:
    return [item.values['total'] for item in result.findings if item.rule.id == RULE]


def test_a_pool_that_nothing_runs_leaves_the_sum_open(run: Run) -> None:
    code = "from sqlalchemy import create_engine\nengine = create_engine('postgresql://a:b@db/a', pool_size={size}, max_overflow=0)\n"
    compose = 'services:\n  db: {image: "postgres:17"}\n'
    result = run({'compose.yaml': compose, 'api/db.py': code.format(size=20)})
    assert totals(result) == []
    assert RULE in {item.rule.id for item in result.not_assessed}
    assert totals(run({'compose.yaml': compose, 'api/db.py': code.format(size=120)})) == [120]


APP = (
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 4\n  template:\n    spec:\n      containers:\n'
    '        - {{name: app, image: "example.com/{name}:1", env: [{{name: {variable}, value: {value}}}]}}\n---\n'
)
NODE = "import { Pool } from 'pg';\nexport const pool = new Pool({ host: config.host, max: 30 });\n"
SPRING = 'spring:\n  datasource:\n    url: jdbc:postgresql://${DB_HOST:pg}:5432/a\n    hikari: {maximum-pool-size: 30}\n'


@pytest.mark.parametrize(
    ('files', 'found'),
    [
        ({'src/db.ts': NODE, 'k8s.yaml': APP.format(name='api', variable='PGHOST', value='pg') + SERVER}, [150]),
        ({'src/main/resources/application.yml': SPRING, 'k8s.yaml': APP.format(name='api', variable='DB_HOST', value='pg.default') + SERVER}, [150]),
        ({'src/db.ts': NODE, 'k8s.yaml': APP.format(name='api', variable='PGHOST', value='elsewhere') + SERVER}, []),
        ({'src/db.ts': NODE, 'k8s.yaml': APP.format(name='api', variable='CACHE_HOST', value='pg') + SERVER}, []),
        ({'src/db.ts': NODE, 'k8s.yaml': APP.format(name='api', variable='PGHOST', value='pg') + APP.format(name='b', variable='PGHOST', value='pg') + SERVER}, []),
        ({'src/db.ts': NODE, 'old/db.ts': NODE, 'k8s.yaml': APP.format(name='api', variable='PGHOST', value='pg') + SERVER}, []),
    ],
)  # fmt: skip
def test_the_one_container_that_is_told_where_the_database_is_runs_the_one_pool(run: Run, files: dict[str, str], found: list[int]) -> None:
    assert totals(run(files)) == found
