"""Real servers on loopback: a program or a reason to skip, free ports, processes that always end."""

import contextlib
import glob
import importlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

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
