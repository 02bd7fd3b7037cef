"""PgBouncer refuses the client that db-pools-exceed-server counts, opens as many connections as it counts, and loses prepared statements."""

import re
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from configaudit.result import Result

pytestmark = pytest.mark.real

EXCEEDS, PREPARED = 'db-pools-exceed-server', 'db-prepared-through-transaction-pooler'
Door = Callable[[str, int], int]


@pytest.fixture
def door(program: Callable[[str], str], cluster: Any, start: Callable[..., object], free_port: Callable[[], int], tmp_path: Path) -> Door:
    """Start PgBouncer in front of a server's port and return its own."""

    def run(configuration: str, server: int) -> int:
        port = free_port()
        text = configuration.replace('host=ledger-db', f'host=127.0.0.1 port={server}')
        text += f'listen_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\nunix_socket_dir =\n'
        (tmp_path / 'door.ini').write_text(text)
        start([program('pgbouncer'), str(cluster.readable(tmp_path / 'door.ini'))], port, cwd=cluster.folder, **cluster.owner)
        return port

    return run


def application(pods: int, pool: int, more: str = '') -> str:
    return f"""\
services:
  ledger:
    image: registry.example.com/ledger:4.2.0
    deploy: {{replicas: {pods}}}
    environment:
      DATABASE_URL: postgresql://ledger@pgbouncer:6432/ledger?pool_max_conns={pool}{more}
  pgbouncer:
    image: registry.example.com/pgbouncer:{{version}}
    volumes: ["./door.ini:/etc/pgbouncer/pgbouncer.ini"]
"""


DOOR = """\
[databases]
ledger = host=ledger-db dbname=postgres user=ledger{more}
[pgbouncer]
pool_mode = transaction
max_client_conn = {clients}
default_pool_size = {size}
"""


def found(result: Result, rule: str) -> list[Any]:
    return [item for item in result.findings if item.rule.id == rule]


def connect(psycopg: ModuleType, holding: ExitStack, port: int, wanted: int) -> tuple[int, str]:
    for number in range(wanted):
        try:
            holding.enter_context(psycopg.connect(host='127.0.0.1', port=port, user='ledger', dbname='ledger', autocommit=True))
        except psycopg.OperationalError as refusal:
            return number, str(refusal)
    return wanted, ''


def serving(serve: Callable[[Path], int], tmp_path: Path, limit: int) -> int:
    (tmp_path / 'postgresql.conf').write_text(f'max_connections = {limit}\n')
    return serve(tmp_path / 'postgresql.conf')


@pytest.mark.parametrize(('pods', 'severity'), [(3, []), (4, ['warning']), (5, ['error'])])
def test_clients_over_max_client_conn_are_refused(
    pods: int, severity: list[str], run: Callable[..., Result], serve: Callable[[Path], int], door: Door, module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    text = DOOR.format(more='', clients=9, size=2)
    problems = found(run({'compose.yaml': application(pods, 2), 'door.ini': text}), EXCEEDS)
    assert [item.severity for item in problems] == severity
    port = door(text, serving(serve, tmp_path, 20))
    with ExitStack() as holding:
        opened, refusal = connect(module('psycopg'), holding, port, pods * 2)
    assert opened == min(pods * 2, 9)
    assert ('max_client_conn' in refusal or 'no more connections allowed' in refusal) is (severity == ['error'])


def test_its_own_connections_are_those_that_are_counted(
    run: Callable[..., Result], serve: Callable[[Path], int], door: Door, module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    text = DOOR.format(more=' pool_size=7', clients=50, size=3)
    result = run({'door.ini': text})
    (pool,) = (component for component in result.components if component.kind.name == 'pool')
    server = serving(serve, tmp_path, 30)
    port, psycopg = door(text, server), module('psycopg')
    with ExitStack() as holding:
        clients = [holding.enter_context(psycopg.connect(host='127.0.0.1', port=port, user='ledger', dbname='ledger')) for _ in range(pool['max_open'].value)]
        for client in clients:
            client.execute('SELECT 1')  # an open transaction keeps its server connection
        late = psycopg.connect(host='127.0.0.1', port=port, user='ledger', dbname='ledger', autocommit=True)
        holding.callback(late.close)
        admin = holding.enter_context(psycopg.connect(host='127.0.0.1', port=server, user='admin', dbname='postgres', autocommit=True))
        late.pgconn.send_query(b'SELECT 1')  # waits for a connection that is free
        (number,) = admin.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'ledger'").fetchone()
        assert number == pool['max_open'].value == 7


@pytest.mark.parametrize('mode', ['transaction', 'session'])
def test_prepared_statements_are_lost_where_we_say_so(
    mode: str,
    run: Callable[..., Result],
    serve: Callable[[Path], int],
    door: Door,
    module: Callable[[str], ModuleType],
    program: Callable[[str], str],
    tmp_path: Path,
) -> None:
    said = subprocess.run([program('pgbouncer'), '--version'], check=True, capture_output=True, text=True).stdout
    version = re.search(r'\d+\.\d+\.\d+', said)
    assert version is not None
    text = DOOR.format(more='', clients=50, size=2).replace('transaction', mode)
    files = {'compose.yaml': application(2, 2, '&default_query_exec_mode=cache_statement').replace('{version}', version[0]), 'door.ini': text}
    is_lost = bool(found(run(files), PREPARED))
    assert is_lost is (mode == 'transaction' and tuple(map(int, version[0].split('.')[:2])) < (1, 24))
    port, psycopg = door(text, serving(serve, tmp_path, 20)), module('psycopg')
    with ExitStack() as holding:
        one, other = (holding.enter_context(psycopg.connect(host='127.0.0.1', port=port, user='ledger', dbname='ledger')) for _ in range(2))
        one.execute('SELECT 41', prepare=True)
        one.commit()
        if not is_lost:
            one.execute('SELECT 41', prepare=True)
            return
        other.execute('SELECT 1')  # its open transaction holds the connection that the statement was prepared on
        with pytest.raises(psycopg.DatabaseError, match='prepared statement'):
            one.execute('SELECT 41', prepare=True)
