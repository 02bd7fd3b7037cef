"""redis-published-without-password: what is reported answers anybody, what passes asks for a password."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit.result import Result

pytestmark = pytest.mark.real

RULE = 'redis-published-without-password'
COMPOSE = """\
services:
  sessions:
    image: redis:7.4.2
    command: {command}
    ports: ["6379:6379"]
"""


def _says(port: int, request: bytes) -> str:
    with socket.create_connection(('127.0.0.1', port), timeout=5) as client:
        client.sendall(request + b'\r\n')
        return client.recv(256).decode()


@pytest.mark.parametrize(
    ('arguments', 'asks'),
    [
        ('--appendonly no', False),
        ('--protected-mode no', False),
        ('--maxmemory 64mb --masterauth hunter2', False),
        ('--requirepass hunter2', True),
        ('--requirepass hunter2 --protected-mode no', True),
    ],
)
def test_what_is_reported_answers_without_a_password(
    arguments: str,
    asks: bool,
    run: Callable[..., Result],
    program: Callable[[str], str],
    start: Callable[..., object],
    free_port: Callable[[], int],
    tmp_path: Path,
) -> None:
    command = f'redis-server {arguments}'
    found = [item for item in run({'compose.yaml': COMPOSE.format(command=command)}).findings if item.rule.id == RULE]
    assert bool(found) is not asks
    port = free_port()
    own = ['--port', str(port), '--bind', '127.0.0.1', '--dir', str(tmp_path), '--save', '']
    start([program('redis-server'), *arguments.split(), *own], port)
    assert _says(port, b'PING').startswith('-NOAUTH' if asks else '+PONG')
    assert _says(port, b'CONFIG GET dir').startswith('-NOAUTH' if asks else '*2')
