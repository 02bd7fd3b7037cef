"""uvicorn that a program starts itself, and the process that starts the program."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]
_DOCKERFILE = 'FROM python:3.12\nCMD [%s]\n'
_MAIN = 'import os\nimport uvicorn\nif __name__ == "__main__":\n    uvicorn.run("app:app", %s)\n'


def servers(result: Result) -> list[Component]:
    return [component for component in result.components if component.kind.name == 'http-server']


@pytest.mark.parametrize(
    ('command', 'path', 'found'),
    [
        ('"python", "main.py"', 'main.py', True), ('"python", "-m", "app.main"', 'app/main.py', True), ('"python3", "-u", "app/main.py"', 'app/main.py', True),
        ('"python", "/srv/app/main.py"', 'app/main.py', True), ('"python", "other.py"', 'main.py', False), ('"python", "main.py"', 'src/main.py', True),
    ],
)  # fmt: skip
def test_the_process_that_starts_a_program(run: Run, command: str, path: str, found: bool) -> None:
    result = servers(run({'Dockerfile': _DOCKERFILE % command, path: _MAIN % 'timeout_keep_alive=75, workers=2'}))
    assert [(server['product'].value, server['idle_timeout_s'].value, server['workers'].value) for server in result] == ([('uvicorn', 75, 2)] if found else [])


@pytest.mark.parametrize(('keywords', 'idle'), [('port=80', 5), ('timeout_keep_alive=int(os.getenv("KEEP", "30"))', 30), ('**options()', None), ('timeout_keep_alive=keep()', None)])
def test_what_it_is_told(run: Run, keywords: str, idle: float | None) -> None:
    (server,) = servers(run({'Dockerfile': _DOCKERFILE % '"python", "main.py"', 'main.py': _MAIN % keywords}))
    assert server['idle_timeout_s'].known_value == idle
