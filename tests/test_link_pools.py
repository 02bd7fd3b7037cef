"""A process has the pool that its program opens."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
RULE = 'db-pools-exceed-server'
CODE = 'from sqlalchemy import create_engine\nimport os\nengine = create_engine(os.environ["DATABASE_URL"], pool_size={size}, max_overflow=0)\n'
MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: 6
  template:
    spec:
      containers:
        - name: {name}
          image: example.com/{name}:1
          command: [gunicorn, -w, "4", "app:app"]
          env:
            - {{name: DATABASE_URL, value: "postgresql://pg/a"}}
---
"""
SERVER = (
    'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: pg}\nspec:\n  template:\n    spec:\n      containers:\n'
    '        - {name: pg, image: "postgres:17"}\n'
)


def totals(result: Result) -> list[object]:
    return [item.values['total'] for item in result.findings if item.rule.id == RULE]


def test_the_only_program_of_the_run(run: Run) -> None:
    result = run({'src/db.py': CODE.format(size=10), 'k8s.yaml': MANIFEST.format(name='api') + SERVER})
    (found,) = (item for item in result.findings if item.rule.id == RULE)
    assert (found.values['total'], found.place.document.path) == (320, 'src/db.py')


def test_defaults_of_the_library_count_too(run: Run) -> None:
    code = CODE.format(size=10).replace(', pool_size=10, max_overflow=0', '')
    assert totals(run({'src/db.py': code, 'k8s.yaml': MANIFEST.format(name='api') + SERVER})) == [480]


@pytest.mark.parametrize(
    'files',
    [
        {'src/db.py': CODE.format(size=10), 'k8s.yaml': MANIFEST.format(name='api') + MANIFEST.format(name='other') + SERVER},
        {'a/db.py': CODE.format(size=10), 'b/db.py': CODE.format(size=10), 'k8s.yaml': MANIFEST.format(name='api') + SERVER},
    ],
)
def test_whose_program_it_is_must_be_certain(run: Run, files: dict[str, str]) -> None:
    result = run(files)
    assert totals(result) == []
    assert RULE in {item.rule.id for item in result.not_assessed}


def test_the_folder_that_an_image_is_built_from(run: Run) -> None:
    service = '  {name}:\n    build: {build}\n    deploy: {{replicas: 4}}\n    environment:\n      DATABASE_URL: postgresql://db/a\n'
    compose = 'services:\n' + service.format(name='one', build='./one') + service.format(name='two', build='{context: two}') + '  db:\n    image: postgres:17\n'
    result = run({'compose.yaml': compose, 'one/db.py': CODE.format(size=10), 'two/db.py': CODE.format(size=20)})
    assert totals(result) == [120]


def test_one_finding_for_the_program_and_its_process(run: Run) -> None:
    code = CODE.format(size=10).replace(', pool_size=10, max_overflow=0', '')
    result = run({'src/db.py': code, 'k8s.yaml': MANIFEST.format(name='api').replace('6', '2') + SERVER})
    (found,) = (item for item in result.findings if item.rule.id == 'db-pool-unstated')
    assert '(2 + 1 surge) pods x 4 processes' in found.message


def test_a_pool_that_only_code_names_belongs_to_the_service_that_is_built_around_it(run: Run) -> None:
    code = "from sqlalchemy import create_engine\nengine = create_engine('postgresql://a:b@db/a', pool_size=20, max_overflow=0)\n"
    service = '  {name}:\n    build: ./api\n    command: uvicorn app:app --workers 3\n    deploy: {{replicas: 4}}\n'
    database = '  db:\n    image: postgres:17\n'
    assert totals(run({'compose.yaml': 'services:\n' + service.format(name='api') + database, 'api/db.py': code})) == [240]
    two = service.format(name='api') + service.format(name='worker')
    assert totals(run({'compose.yaml': 'services:\n' + two + database, 'api/db.py': code})) == []
    twice = {'api/db.py': code, 'api/old.py': code}
    assert totals(run({'compose.yaml': 'services:\n' + service.format(name='api') + database, **twice})) == []


@pytest.mark.parametrize(
    ('flags', 'severity'),
    [('-w 8', 'advice'), ('-w 8 --threads 16', 'error'), ('-w 8 --threads 10', 'warning'), ('-w 8 -k uvicorn.workers.UvicornWorker', 'error')],
)
def test_what_gunicorn_serves_at_a_time(run: Run, flags: str, severity: str) -> None:
    compose = f'services:\n  api:\n    build: .\n    command: gunicorn {flags} app:app\n    environment: {{DATABASE_URL: "postgresql://db/a"}}\n  db:\n    image: postgres:17\n'
    result = run({'compose.yaml': compose, 'db.py': CODE.format(size=20)})
    assert [item.severity for item in result.findings if item.rule.id == RULE] == [severity]


def test_a_default_is_not_claimed_of_a_pool_that_some_program_may_size(run: Run) -> None:
    """The URL comes to the program through another file: whose pool it is shows nowhere."""
    code = 'from sqlalchemy import create_engine\nfrom app.settings import URL\nengine = create_engine(URL, pool_size=40)\n'
    both = MANIFEST.format(name='api') + MANIFEST.format(name='other')
    unstated = {'db-pool-unstated'}
    assert unstated <= {item.rule.id for item in run({'k8s.yaml': both + SERVER}).findings}
    result = run({'app/db.py': code, 'k8s.yaml': both + SERVER})
    assert not unstated & {item.rule.id for item in result.findings}
    assert any('app/db.py' in item.reason for item in result.not_assessed if item.rule.id in unstated)
