"""PostgreSQL accepts exactly as many connections as db-pools-exceed-server counts, and reads its file as we do."""

import re
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from configaudit.result import Result

pytestmark = pytest.mark.real

RULE = 'db-pools-exceed-server'
PODS = 4
"""Three replicas and one that a rolling update adds: 25 % of 3, rounded up."""
LEDGER = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ledger
spec:
  replicas: 3
  selector:
    matchLabels: {{app: ledger}}
  template:
    metadata:
      labels: {{app: ledger}}
    spec:
      containers:
        - name: ledger
          image: registry.example.com/ledger:4.2.0
          env:
            - name: DATABASE_URL
              value: postgresql://ledger@ledger-db:5432/ledger?pool_max_conns={pool}
"""


class Opened(NamedTuple):
    """Connections that one user got, and what the server said to the first it did not get."""

    number: int
    refusal: str


def _open(psycopg: ModuleType, holding: ExitStack, port: int, user: str, wanted: int) -> Opened:
    for number in range(wanted):
        try:
            holding.enter_context(psycopg.connect(host='127.0.0.1', port=port, user=user, dbname='postgres'))
        except psycopg.OperationalError as refusal:
            return Opened(number, str(refusal))
    return Opened(wanted, '')


@pytest.mark.parametrize(
    ('server', 'pool', 'severities'),
    [
        ('max_connections = 20', 3, []),
        ('max_connections = 20', 4, ['warning']),
        ('max_connections = 20', 5, ['error']),
        ('max_connections = 20\nsuperuser_reserved_connections = 0', 5, ['warning']),
        ('max_connections = 20\nsuperuser_reserved_connections = 8', 2, []),
        ('max_connections = 20\nsuperuser_reserved_connections = 8', 3, ['warning']),
        ('max_connections = 20\nsuperuser_reserved_connections = 8', 4, ['error']),
    ],
)
def test_an_error_is_refused_and_all_else_gets_its_connections(
    server: str,
    pool: int,
    severities: list[str],
    run: Callable[..., Result],
    serve: Callable[[Path], int],
    module: Callable[[str], ModuleType],
    tmp_path: Path,
) -> None:
    result = run({'postgresql.conf': f'{server}\n', 'ledger.yaml': LEDGER.format(pool=pool)})
    found = [item for item in result.findings if item.rule.id == RULE]
    assert [item.severity for item in found] == severities
    port = serve(tmp_path / 'postgresql.conf')
    with ExitStack() as holding:
        opened = _open(module('psycopg'), holding, port, 'ledger', PODS * pool)
    if severities == ['error']:
        assert opened.number == found[0].values['usable']
        assert 'remaining connection slots are reserved' in opened.refusal
    else:
        assert opened == Opened(PODS * pool, '')


def test_the_reserved_connections_are_the_superusers(
    run: Callable[..., Result], serve: Callable[[Path], int], module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    (server,) = run({'postgresql.conf': 'max_connections = 10\n'}).components
    limit, reserved = server['max_connections'].value, server['reserved'].value
    port, psycopg = serve(tmp_path / 'postgresql.conf'), module('psycopg')
    with ExitStack() as holding:
        assert _open(psycopg, holding, port, 'ledger', limit).number == limit - reserved
        rest = _open(psycopg, holding, port, 'admin', limit)
        assert rest.number == reserved
        assert 'too many clients already' in rest.refusal


def test_reserved_connections_are_kept_from_applications_too(
    run: Callable[..., Result], serve: Callable[[Path], int], module: Callable[[str], ModuleType], cluster: Any, tmp_path: Path
) -> None:
    said = subprocess.run([cluster.server, '--version'], check=True, capture_output=True, text=True).stdout
    found = re.search(r'\d+', said)
    if found is None or int(found[0]) < 16:
        pytest.skip('reserved_connections came with PostgreSQL 16')
    result = run({'postgresql.conf': 'max_connections = 20\nreserved_connections = 5\n', 'ledger.yaml': LEDGER.format(pool=4)})
    (problem,) = (item for item in result.findings if item.rule.id == RULE)
    port = serve(tmp_path / 'postgresql.conf')
    with ExitStack() as holding:
        assert _open(module('psycopg'), holding, port, 'ledger', 16).number == problem.values['usable'] == 12


@pytest.mark.parametrize(
    'text',
    [
        '',
        '#max_connections = 300\n',
        'max_connections = 40 # for the batch jobs\n',
        'max_connections=41\n',
        'max_connections 42\n',
        "max_connections = '43'\n",
        'Max_Connections = 44\n',
        'max_connections = 45\nmax_connections = 46\n',
        '  max_connections\t=\t47\r\nsuperuser_reserved_connections = 7\r\n',
        "superuser_reserved_connections = '5' # two people and the backup\n",
    ],
)
def test_the_file_says_to_us_what_it_says_to_the_server(
    text: str, run: Callable[..., Result], cluster: Any, tmp_path: Path
) -> None:
    (server,) = run({'postgresql.conf': text}).components
    copy = cluster.readable(tmp_path / 'postgresql.conf')
    for setting, name in (('max_connections', 'max_connections'), ('reserved', 'superuser_reserved_connections')):
        command = [cluster.server, '-C', name, '-D', str(cluster.folder / 'data'), '-c', f'config_file={copy}']
        said = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=cluster.folder, **cluster.owner
        ).stdout
        assert server[setting].value == int(said)


def test_a_hexadecimal_number_is_unknown_to_us(run: Callable[..., Result]) -> None:
    """The server reads 0x30 as 48; we say that we do not know."""
    (server,) = run({'postgresql.conf': 'max_connections = 0x30\n'}).components
    assert not server['max_connections'].is_known
