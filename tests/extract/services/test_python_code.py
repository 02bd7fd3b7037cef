"""What Python source sets up: SQLAlchemy engines and pools, gRPC channels and servers, beside the gunicorn that serves them."""

from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.result import Result


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def python(text: str, path: str = 'app/a.py', **others: str) -> Result:
        for name, content in {path: text, **{f'{other}.conf.py': more for other, more in others.items()}}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        monkeypatch.chdir(tmp_path)
        return audit(['.'], Config())

    return python


def one(result: Result, kind: str) -> Component:
    (found,) = (component for component in result.components if component.kind.name == kind)
    return found


def kinds(result: Result) -> list[str]:
    return [component.kind.name for component in result.components]


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


_ALCHEMY = 'from sqlalchemy import create_engine\nfrom sqlalchemy.pool import NullPool\n'


def test_defaults_of_an_engine(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run(_ALCHEMY + 'e = create_engine("postgresql+psycopg://u:p@db.prod/x")'), 'pool')
    assert (pool['max_open'].value, pool['overflow'].value, pool['wait_timeout_s'].value, pool['max_lifetime_s'].value) == (5, 10, 30, float('inf'))
    assert (pool['host'].value, pool['product'].value) == ('db.prod', 'postgres')


@pytest.mark.parametrize(
    'call',
    [
        'create_engine("sqlite:///a.db")', 'create_engine(url, poolclass=NullPool)', 'create_engine(url)  # sqlite when empty', 'my.create_engine(url)',
    ],
)  # fmt: skip
def test_what_holds_no_pool_to_a_server_is_none(run, call: str) -> None:  # type: ignore[no-untyped-def]
    assert kinds(run(f'{_ALCHEMY}e = {call}\n')) == []


def test_keywords_that_are_not_shown_leave_the_size_open(run) -> None:  # type: ignore[no-untyped-def]
    assert one(run(_ALCHEMY + 'e = create_engine(url, **options())'), 'pool')['max_open'].reason
    assert one(run(_ALCHEMY + 'o = {"pool_size": 7}\ne = create_engine(url, **o)'), 'pool')['max_open'].value == 7


def test_an_engine_that_its_function_disposes_is_no_pool(run) -> None:  # type: ignore[no-untyped-def]
    assert kinds(run(_ALCHEMY + 'def ping(url):\n    e = create_engine(url)\n    e.dispose()\n')) == []


@pytest.mark.parametrize(
    ('text', 'size', 'idle'),
    [
        ('from psycopg_pool import ConnectionPool\np = ConnectionPool(d, min_size=6)', 6, 600),
        ('from psycopg_pool import AsyncConnectionPool\np = AsyncConnectionPool(d, max_size=20)', 20, 600),
        ('import asyncpg\nasync def f():\n    return await asyncpg.create_pool(d)', 10, 300),
        ('import aiomysql\nasync def f():\n    return await aiomysql.create_pool(maxsize=30)', 30, None),
        ('from psycopg2.pool import ThreadedConnectionPool\np = ThreadedConnectionPool(1, 25, d)', 25, None),
        ('from playhouse.pool import PooledPostgresqlDatabase\np = PooledPostgresqlDatabase("a", stale_timeout=60)', 20, 60),
        ('import databases\np = databases.Database(url, min_size=1, max_size=7)', 7, None),
        ('from mysql.connector.pooling import MySQLConnectionPool\np = MySQLConnectionPool(pool_name="a")', 5, None),
    ],
)  # fmt: skip
def test_other_pools(run, text: str, size: int, idle: int) -> None:  # type: ignore[no-untyped-def]
    pool = one(run(text), 'pool')
    assert (pool['max_open'].value, pool['idle_timeout_s'].value) == (size, idle)


@pytest.mark.parametrize(
    ('server', 'found'),
    [('threads = 40', True), ('threads = 15', False), ('threads = 40\nworker_class = "uvicorn.workers.UvicornWorker"', False), ('import os\nthreads = int(os.environ["T"])', False)],
)  # fmt: skip
def test_threads_of_the_server_against_the_pool(run, server: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    result = run(_ALCHEMY + 'e = create_engine(url)', gunicorn=server + '\nworkers = 3\n')
    assert ('db-pool-below-threads' in ids(result)) is found
    assert one(result, 'pool')['processes'].value == 3


_CHANNEL = 'import grpc\nc = grpc.insecure_channel(a, options=[("grpc.keepalive_time_ms", 30000)%s])\n'


@pytest.mark.parametrize(
    ('more', 'found'), [('', False), (', ("grpc.http2.max_pings_without_data", 0)', True), (', ("grpc.keepalive_permit_without_calls", True)', True)]
)
def test_a_channel_that_stops_after_two_pings_is_safe(run, more: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    result = run(_CHANNEL % more)
    assert one(result, 'grpc-client')['time_s'].value == 30
    assert ('grpc-keepalive-unmatched' in ids(result)) is found


@pytest.mark.parametrize('options', ['opts', '[*more]', 'make()', '[(key, 1)]'])
def test_options_that_are_not_shown_leave_everything_open(run, options: str) -> None:  # type: ignore[no-untyped-def]
    result = run(f'import grpc\ns = grpc.aio.server(options={options})\n')
    assert one(result, 'grpc-server')['min_time_s'].reason
    assert ids(result) == set()


@pytest.mark.parametrize(
    ('key', 'found'),
    [
        ('grpc.http2.min_recv_ping_interval_without_data_ms', True), ('GRPC_ARG_KEEPALIVE_TIME_MS', True), ('grpc.http2.min_ping_interval_without_data_ms', False),
        ('grpc.http2.min_time_between_pings_ms', False), ('grpc.max_receive_message_length', False), ('grpc.http2.something_new', False),
    ],
)  # fmt: skip
def test_names_that_grpc_does_not_know(run, key: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('grpc-argument-unread' in ids(run(f'import grpc\ns = grpc.aio.server(options=[("{key}", 1)])\n'))) is found


@pytest.mark.parametrize('path', ['tests/a.py', 'app/test_a.py', 'alembic/env.py', 'db/migrations/a.py', 'examples/a.py', 'app/cli/a.py', 'backend/migrate_tenants.py', 'run_migrations.py'])
def test_what_no_service_runs_is_not_judged(run, path: str) -> None:  # type: ignore[no-untyped-def]
    assert kinds(run(_ALCHEMY + 'e = create_engine(url)', path)) == []


@pytest.mark.parametrize('head', ['import grpc\nfrom grpc import aio\n', 'from grpc import aio\n'])
def test_the_asynchronous_part_of_grpc_by_its_own_name(run, head: str) -> None:  # type: ignore[no-untyped-def]
    server = one(run(head + "server = aio.server(options=[('grpc.http2.min_ping_interval_without_data_ms', 9000)])\n"), 'grpc-server')
    assert server['min_time_s'].value == 9


@pytest.mark.parametrize(
    ('url', 'host'),
    [
        ("f'postgresql+asyncpg://{user}:{password}@db:5432/{name}'", 'db'), ("'postgresql+asyncpg://' + user + ':' + password + '@db/' + name", 'db'),
        ("f'postgresql+asyncpg://{user}:{password}@{host}/app'", None), ('url()', None), ("user + password", None),
    ],
)  # fmt: skip
def test_a_url_with_parts_that_are_worked_out(run, url: str, host: str | None) -> None:  # type: ignore[no-untyped-def]
    assert one(run(f'{_ALCHEMY}engine = create_engine({url}, pool_size=5)\n'), 'pool')['host'].known_value == host


@pytest.mark.parametrize(
    ('driver', 'more', 'kept'),
    [
        ('+asyncpg', '', 100), ('+psycopg', '', 5), ('+psycopg2', '', 0), ('', '', None), ('+asyncpg', ", connect_args={'timeout': 5}", 100),
        ('+asyncpg', ", connect_args={'statement_cache_size': 0}", None), ('+asyncpg', ', connect_args=given()', None), ('+psycopg', ", connect_args={'prepare_threshold': None}", None),
    ],
)  # fmt: skip
def test_prepared_statements_of_the_driver(run, driver: str, more: str, kept: int | None) -> None:  # type: ignore[no-untyped-def]
    assert one(run(f"{_ALCHEMY}engine = create_engine('postgresql{driver}://a:b@db/app'{more})\n"), 'pool')['statement_cache'].known_value == kept


@pytest.mark.parametrize(('keyword', 'found'), [('grpc_options', True), ('channel_options', True), ('options', False)])
def test_options_that_a_library_takes_for_its_channel(run, keyword: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    text = "import etcd3\nOPTIONS = [('grpc.keepalive_time_ms', 30000), ('grpc.http2.max_pings_without_data', 0)]\nclient = etcd3.client(host=host, " + keyword + "=OPTIONS)\n"
    assert ('grpc-keepalive-unmatched' in ids(run(text))) is found
