"""Real servers on loopback: a program or a reason to skip, free ports, processes that always end."""

import contextlib
import glob
import importlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import pytest

SEARCHED = os.pathsep.join(
    [os.environ.get('PATH', ''), '/usr/sbin', *sorted(glob.glob('/usr/lib/postgresql/*/bin'), reverse=True)]
)
"""Debian keeps servers outside an ordinary user's PATH."""
PATIENCE_S = 15.0


def _absent(what: str) -> NoReturn:
    if os.environ.get('CONFIGAUDIT_REQUIRE_SERVERS') == '1':
        pytest.fail(f'{what} is missing, and CONFIGAUDIT_REQUIRE_SERVERS=1')
    pytest.skip(f'{what} is missing')


@pytest.fixture(scope='session')
def program() -> Callable[[str], str]:
    """Where a program is installed."""

    def find(name: str) -> str:
        return shutil.which(name, path=SEARCHED) or _absent(f'the program {name}')

    return find


@pytest.fixture(scope='session')
def module() -> Callable[[str], ModuleType]:
    """A Python package that only these tests use."""

    def find(name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except ImportError:
            _absent(f'the Python package {name}')

    return find


@pytest.fixture(scope='session')
def free_port() -> Callable[[], int]:
    """A port of loopback that nothing listens on."""

    def find() -> int:
        with socket.create_server(('127.0.0.1', 0)) as listener:
            return int(listener.getsockname()[1])

    return find


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), timeout=1):
        return True
    return False


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a server and wait until it is ready; `ready` is a port or a question. All are stopped after the test."""
    with contextlib.ExitStack() as running:

        def run(argv: list[str], ready: int | Callable[[], bool], **options: Any) -> subprocess.Popen[bytes]:
            log = running.enter_context((tmp_path / f'server-{time.monotonic_ns()}.log').open('w+b'))
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)
            running.callback(_stop, process)
            until = time.monotonic() + PATIENCE_S
            while not (_answers(ready) if isinstance(ready, int) else ready()):
                if process.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    pytest.fail(f'{argv[0]} did not start:\n{log.read().decode(errors="replace")}')
                time.sleep(0.02)
            return process

        yield run


def _stop(process: 'subprocess.Popen[bytes]') -> None:
    """SIGINT ends every server used here at once; PostgreSQL would wait for its clients after SIGTERM."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Cluster(NamedTuple):
    """An initialised data folder and what runs a server on it."""

    folder: Path
    server: str
    owner: dict[str, Any]

    def readable(self, configuration: Path) -> Path:
        """A copy of a file that the server's user may read."""
        copy = self.folder / configuration.name
        shutil.copyfile(configuration, copy)
        copy.chmod(0o644)
        return copy


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
        subprocess.run([server, '--single', '-D', 'data', 'postgres'], input=b'CREATE ROLE ledger LOGIN\nCREATE ROLE audit LOGIN\n', **options)
        yield Cluster(Path(name), server, owner)


@pytest.fixture
def serve(cluster: Cluster, start: Callable[..., object], free_port: Callable[[], int]) -> Callable[[Path], int]:
    """Start the server with a configuration file and return its port."""

    def run(configuration: Path) -> int:
        port, copy, status = free_port(), cluster.readable(configuration), cluster.folder / 'data' / 'postmaster.pid'
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
