"""Servers of Python programs: keep-alive and grace as command lines and the environment give them."""

import math
from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ('command', 'environment', 'idle', 'graceful'),
    [
        ('uvicorn a:app', '', 5, math.inf), ('python -m uvicorn a:app --timeout-keep-alive 75', '', 75, math.inf),
        ('gunicorn a:app', '', 0, 30), ('gunicorn a:app -k uvicorn_worker.UvicornWorker', '', 2, 30), ('gunicorn a:app --threads 4', 'GUNICORN_CMD_ARGS: --keep-alive=65', 65, 30),
        ('uvicorn a:app', 'UVICORN_TIMEOUT_KEEP_ALIVE: 90', 90, math.inf), ('hypercorn a:app --graceful-timeout=9', '', 5, 9), ('fastapi run a.py', '', 5, math.inf),
    ],
)  # fmt: skip
def test_what_a_command_line_says(run: Run, command: str, environment: str, idle: float, graceful: float) -> None:
    text = f'services:\n  a:\n    image: a:1\n    command: {command}\n' + (f'    environment:\n      {environment}\n' if environment else '')
    (server,) = [found for found in run({'compose.yaml': text}).components if found.kind.name == 'http-server']
    assert (server['idle_timeout_s'].value, server['graceful_s'].value) == (idle, graceful)


def test_a_configuration_file_leaves_it_open(run: Run) -> None:
    text = 'services:\n  a:\n    image: a:1\n    command: gunicorn -c gunicorn.conf.py -k gevent a:app\n'
    (server,) = [found for found in run({'compose.yaml': text}).components if found.kind.name == 'http-server']
    assert not server['idle_timeout_s'].is_known


@pytest.mark.parametrize(('variable', 'idle'), [('Environment="ARGS=-k eventlet --keep-alive 40"', 40), ('EnvironmentFile=/etc/a', None), ('Environment="ARGS=4"', 0)])
def test_words_that_come_from_a_variable(run: Run, variable: str, idle: float | None) -> None:
    text = f'[Service]\n{variable}\nExecStart=/usr/bin/gunicorn a:app {"-w " if idle == 0 else ""}$ARGS\n'
    (server,) = [found for found in run({'a.service': text}).components if found.kind.name == 'http-server']
    assert server['idle_timeout_s'].known_value == idle or (idle is None and not server['idle_timeout_s'].is_known)
