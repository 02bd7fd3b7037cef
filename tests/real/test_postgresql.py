"""PostgreSQL accepts exactly as many connections as db-pools-exceed-server counts, and reads its file as we do."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
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


class Cluster(NamedTuple):
    """An initialised data folder and what runs a server on it."""

    folder: Path
    server: str
    owner: dict[str, Any]


class Opened(NamedTuple):
    """Connections that one user got, and what the server said to the first it did not get."""

    number: int
    refusal: str


@pytest.fixture(scope='module')
def cluster(program: Callable[[str], str]) -> Iterator[Cluster]:
    """PostgreSQL refuses root, and pytest's own folders are closed to others: a folder of its owner's."""
    server = program('postgres')
    owner: dict[str, Any] = {'user': 'nobody', 'group': 'nogroup', 'extra_groups': []} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix='configaudit-pg-') as name:
        if owner:
            shutil.chown(name, owner['user'], owner['group'])
        options: dict[str, Any] = {'check': True, 'capture_output': True, 'cwd': name, **owner}
        initialise = [
            'initdb',
            '--pgdata=data',
            '--username=admin',
            '--auth=trust',
            '--encoding=UTF8',
            '--no-sync',
            '--no-locale',
        ]
        subprocess.run([program('initdb'), *initialise[1:]], **options)
        subprocess.run([server, '--single', '-D', 'data', 'postgres'], input=b'CREATE ROLE ledger LOGIN\n', **options)
        yield Cluster(Path(name), server, owner)


@pytest.fixture
def serve(cluster: Cluster, start: Callable[..., object], free_port: Callable[[], int]) -> Callable[[Path], int]:
    """Start the server with a configuration file and return its port."""

    def run(configuration: Path) -> int:
        port, copy, status = free_port(), _readable(cluster, configuration), cluster.folder / 'data' / 'postmaster.pid'
        settings = {
            'config_file': copy,
            'listen_addresses': '127.0.0.1',
            'port': port,
            'unix_socket_directories': cluster.folder,
            'fsync': 'off',
        }
        arguments = [part for key, value in settings.items() for part in ('-c', f'{key}={value}')]
        # A connection made to see whether it is up would still hold its slot for a moment.
        start(
            [cluster.server, '-D', str(cluster.folder / 'data'), *arguments],
            lambda: status.exists() and status.read_text().rstrip().endswith('ready'),
            cwd=cluster.folder, **cluster.owner,
        )  # fmt: skip
        return port

    return run


def _readable(cluster: Cluster, configuration: Path) -> Path:
    copy = cluster.folder / 'postgresql.conf'
    shutil.copyfile(configuration, copy)
    copy.chmod(0o644)
    return copy


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
    text: str, run: Callable[..., Result], cluster: Cluster, tmp_path: Path
) -> None:
    (server,) = run({'postgresql.conf': text}).components
    copy = _readable(cluster, tmp_path / 'postgresql.conf')
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
