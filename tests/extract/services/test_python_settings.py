"""Settings of Python frameworks: Django's DATABASES, Flask-SQLAlchemy's options, pydantic's classes, and the environment that goes before them."""

import math
from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def pools(result: Result) -> list[Component]:
    return [component for component in result.components if component.kind.name == 'pool']


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


_DJANGO = 'import os\nDATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "HOST": "db"%s}}\n'


@pytest.mark.parametrize(
    ('text', 'age', 'size'),
    [
        (_DJANGO % '', 0, None), (_DJANGO % ', "CONN_MAX_AGE": 60', 60, None), (_DJANGO % ', "CONN_MAX_AGE": None', math.inf, None),
        (_DJANGO % ', "CONN_MAX_AGE": int(os.getenv("AGE", "600"))', 600, None), (_DJANGO % '' + 'DATABASES["default"]["CONN_MAX_AGE"] = 30\n', 30, None),
        (_DJANGO % ', "OPTIONS": {"pool": True}', 0, 4), (_DJANGO % ', "OPTIONS": {"pool": {"min_size": 2, "max_size": 9}}', 0, 9),
        ('import environ\nenv = environ.Env()\nDATABASES = {"default": env.db("DATABASE_URL")}\nDATABASES["default"]["CONN_MAX_AGE"] = env.int("AGE", default=600)\n', 600, None),
        ('import dj_database_url\nDATABASES = {"default": dj_database_url.config(conn_max_age=300)}\n', 300, None),
        ('import os\nif os.getenv("DB") == "postgres":\n    ' + (_DJANGO % ', "CONN_MAX_AGE": 5').partition('\n')[2], 5, None),
    ],
)  # fmt: skip
def test_databases_of_django(run: Run, text: str, age: float, size: int | None) -> None:
    (pool,) = pools(run({'shop/settings.py': text}))
    assert pool['persistent_s'].value == age
    assert pool['max_open'].known_value == size


def test_what_is_set_under_a_condition_is_not_known(run: Run) -> None:
    (pool,) = pools(run({'shop/settings.py': _DJANGO % '' + 'if os.getenv("A"):\n    DATABASES["default"]["CONN_MAX_AGE"] = 30\n'}))
    assert pool['persistent_s'].reason


@pytest.mark.parametrize('path', ['shop/settings/dev.py', 'shop/settings_local.py', 'shop/test_settings.py', 'shop/settings/testing.py', 'tests/settings.py'])
def test_settings_for_development_are_not_judged(run: Run, path: str) -> None:
    assert pools(run({path: _DJANGO % ', "CONN_MAX_AGE": 5'})) == []


@pytest.mark.parametrize('engine', ['django.db.backends.sqlite3', 'django.db.backends.dummy'])
def test_a_database_that_is_a_file_has_no_pool(run: Run, engine: str) -> None:
    assert pools(run({'a/settings.py': f'import os\nDATABASES = {{"default": {{"ENGINE": "{engine}"}}}}\n'})) == []


@pytest.mark.parametrize(
    ('more', 'found'),
    [
        (', "CONN_MAX_AGE": 0, "OPTIONS": {"pool": True}', False), (', "CONN_MAX_AGE": 60, "OPTIONS": {"pool": True}', True), (', "CONN_MAX_AGE": None, "OPTIONS": {"pool": {}}', False),
        (', "CONN_MAX_AGE": None, "OPTIONS": {"pool": {"max_size": 5}}', True), (', "CONN_MAX_AGE": 60, "OPTIONS": {"pool": False}', False), (', "CONN_MAX_AGE": 60, "OPTIONS": options()', False),
    ],
)  # fmt: skip
def test_a_pool_excludes_persistent_connections(run: Run, more: str, found: bool) -> None:
    assert ('django-pool-with-persistent-connections' in ids(run({'a/settings.py': _DJANGO % more}))) is found


def test_threads_of_gunicorn_are_the_connections_of_django(run: Run) -> None:
    (pool,) = pools(run({'a/settings.py': _DJANGO % '', 'gunicorn.conf.py': 'workers = 3\nthreads = 8\n'}))
    assert (pool['max_open'].value, pool['processes'].value) == (8, 3)
    assert 'db-pool-below-threads' not in ids(run({'a/settings.py': _DJANGO % '', 'gunicorn.conf.py': 'workers = 3\nthreads = 8\n'}))


@pytest.mark.parametrize(
    ('text', 'sizes'),
    [
        ('SQLALCHEMY_ENGINE_OPTIONS = {"pool_size": 7, "max_overflow": 2}\n', [(7, 2)]), ('class Production:\n    SQLALCHEMY_ENGINE_OPTIONS = {"pool_size": 7, "max_overflow": -1}\n', [(7, math.inf)]),
        ('class DevelopmentConfig:\n    SQLALCHEMY_ENGINE_OPTIONS = {"pool_size": 7}\n', []), ('app.config["SQLALCHEMY_ENGINE_OPTIONS"] = {"pool_recycle": 60}\n', [(5, 10)]),
        ('app.config.update(SQLALCHEMY_ENGINE_OPTIONS={"pool_size": 3})\n', [(3, 10)]), ('SQLALCHEMY_ENGINE_OPTIONS = options()\n', []),
    ],
)  # fmt: skip
def test_engine_options_of_flask(run: Run, text: str, sizes: list[tuple[int, float]]) -> None:
    assert [(pool['max_open'].value, pool['overflow'].value) for pool in pools(run({'a/config.py': 'import os\n' + text}))] == sizes


_COMPOSE = 'services:\n  api:\n    image: api:1\n    environment:\n      %s\n'
_ENGINE = 'import os\nfrom sqlalchemy import create_engine\ne = create_engine("postgresql://db/a", pool_size=%s)\n'


@pytest.mark.parametrize(
    ('expression', 'others', 'size'),
    [
        ('int(os.getenv("POOL", "8"))', {}, 8), ('int(os.getenv("POOL", "8"))', {'compose.yaml': _COMPOSE % 'POOL: "40"'}, 40), ('int(os.environ["POOL"])', {}, None),
        ('int(os.environ["POOL"])', {'compose.yaml': _COMPOSE % 'POOL: "40"'}, 40), ('int(os.getenv("POOL") or 6)', {}, 6),
        ('int(os.getenv("POOL", "8"))', {'compose.yaml': _COMPOSE % 'POOL: ${POOL}'}, None),
        ('int(os.getenv("POOL", "8"))', {'a/compose.yaml': _COMPOSE % 'POOL: "40"', 'b/compose.yaml': _COMPOSE % 'POOL: "50"'}, None),
    ],
)  # fmt: skip
def test_a_variable_of_the_manifests_goes_before_the_default_of_the_program(run: Run, expression: str, others: dict[str, str], size: int | None) -> None:
    found = [pool for pool in pools(run({'app/db.py': _ENGINE % expression, **others})) if pool['written_in'].known_value]
    assert [pool['max_open'].known_value for pool in found] == [size]


_SETTINGS = 'from pydantic_settings import BaseSettings, SettingsConfigDict\nfrom pydantic import Field\nclass Settings(BaseSettings):\n    model_config = SettingsConfigDict(env_prefix="%s")\n    DB_POOL: int = %s\n'


@pytest.mark.parametrize(
    ('prefix', 'default', 'others', 'size'),
    [
        ('', '12', {}, 12), ('', 'Field(default=9, ge=1)', {}, 9), ('', 'Field(12, alias="POOL")', {'compose.yaml': _COMPOSE % 'POOL: "3"'}, 3),
        ('APP_', '12', {'compose.yaml': _COMPOSE % 'APP_DB_POOL: "30"'}, 30), ('APP_', '12', {'compose.yaml': _COMPOSE % 'DB_POOL: "30"'}, 12), ('', 'Field(...)', {}, None),
    ],
)  # fmt: skip
def test_fields_of_a_settings_class(run: Run, prefix: str, default: str, others: dict[str, str], size: int | None) -> None:
    files = {'app/config.py': _SETTINGS % (prefix, default), 'app/db.py': 'from app.config import settings\n' + _ENGINE % 'settings.DB_POOL', **others}
    found = [pool for pool in pools(run(files)) if pool['written_in'].known_value]
    assert [pool['max_open'].known_value for pool in found] == [size]


def test_a_pool_whose_url_a_process_sets_counts_for_every_worker_of_it(run: Run) -> None:
    compose = (
        'services:\n  api:\n    image: api:1\n    command: uvicorn app.main:app --workers 4\n    environment:\n      DATABASE_URL: postgresql+psycopg2://u:${PW}@db/a\n'
        '      POOL: "20"\n  db:\n    image: postgres:16\n    command: postgres -c max_connections=50\n'
    )
    engine = 'import os\nfrom sqlalchemy import create_engine\ne = create_engine(%s, pool_size=int(os.getenv("POOL", "5")), max_overflow=0)\n'
    result = run({'compose.yaml': compose, 'app/db.py': engine % 'os.environ["DATABASE_URL"]'})
    (pool,) = pools(result)
    assert (pool['max_open'].value, pool['processes'].value, pool['host'].value) == (20, 4, 'db')
    assert 'db-pools-exceed-server' in ids(result)


def test_the_address_of_a_client_comes_from_the_environment(run: Run) -> None:
    compose = 'services:\n  api:\n    image: api:1\n    environment:\n      LLM_URL: http://qwen:8000/v1\n  qwen:\n    image: vllm/vllm-openai:v0.10.2\n    command: --model Qwen/Qwen3-8B --max-num-seqs 64\n'
    text = 'import os\nfrom openai import OpenAI\nc = OpenAI(base_url=os.getenv("LLM_URL", "http://localhost:8000/v1"))\nc.chat.completions.create()\n'
    (client,) = (one for one in run({'compose.yaml': compose, 'app/a.py': text}).components if one.kind.name == 'http-client')
    assert client['target'].value == 'http://qwen:8000/v1'
    assert [engine['max_num_seqs'].value for engine in client.peers('engine')] == [64]


_BASE = 'import environ\nenv = environ.Env()\nDATABASES = {"default": env.db("DATABASE_URL")}\n'


@pytest.mark.parametrize(
    ('modules', 'age'),
    [
        ({'production': 'from .base import *\nDATABASES["default"]["CONN_MAX_AGE"] = 60\n'}, 60),
        ({'production': 'from .base import *\nfrom .base import env\nDATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=90)\n'}, 90),
        ({'production': 'from shop.settings.base import *\nDATABASES["default"]["CONN_MAX_AGE"] = None\n'}, math.inf),
        ({'local': 'from .base import *\nDATABASES["default"]["CONN_MAX_AGE"] = 60\n'}, 0),
        ({'production': 'from .other import *\nDATABASES["default"]["CONN_MAX_AGE"] = 60\n'}, 0),
        ({'production': 'from .base import *\nDATABASES["replica"]["CONN_MAX_AGE"] = 60\n'}, 0),
        ({name: f'from .base import *\nDATABASES["default"]["CONN_MAX_AGE"] = {age}\n' for name, age in (('production', 60), ('staging', 5))}, None),
        (dict.fromkeys(('production', 'staging'), 'from .base import *\nDATABASES["default"]["CONN_MAX_AGE"] = 7\n'), 7),
    ],
)  # fmt: skip
def test_modules_that_change_the_databases_of_another(run: Run, modules: dict[str, str], age: float | None) -> None:
    (pool,) = pools(run({f'shop/settings/{name}.py': text for name, text in {'base': _BASE, **modules}.items()}))
    assert pool['persistent_s'].known_value == age
    assert bool(pool['persistent_s'].reason) is (age is None)


def test_a_module_that_changes_what_the_asgi_server_of_the_compose_service_keeps(run: Run) -> None:
    files = {
        'config/settings/base.py': _BASE, 'config/settings/production.py': 'from .base import *\nDATABASES["default"]["CONN_MAX_AGE"] = 60\n',
        'deploy/web/Dockerfile': 'FROM python:3.13\nCOPY --chown=web:web ./deploy/web/start /start\nCOPY ./deploy/jobs/start /start-jobs\n',
        'deploy/web/start': '#!/bin/bash\nexec gunicorn config.asgi -k uvicorn_worker.UvicornWorker\n', 'deploy/jobs/start': '#!/bin/bash\nexec celery -A config worker\n',
        'compose.yaml': 'services:\n  web:\n    build: {context: ., dockerfile: ./deploy/web/Dockerfile}\n    command: /start\n',
    }  # fmt: skip
    assert 'django-persistent-connections-under-asgi' in ids(run(files))
    assert 'django-persistent-connections-under-asgi' not in ids(run({**files, 'compose.yaml': files['compose.yaml'].replace('/start', '/start-jobs')}))
