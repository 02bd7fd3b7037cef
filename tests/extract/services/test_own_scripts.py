"""Servers that stand in a Dockerfile which compose builds, and in the start scripts beside it."""

from collections.abc import Callable, Mapping

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
COMPOSE = 'services:\n  web:\n    build: {build}\n{more}  postgres:\n    image: postgres:17\n'
ENGINE = "from sqlalchemy import create_engine\nengine = create_engine('postgresql://a:b@postgres/a', pool_size=10, max_overflow=10)\n"
SCRIPT = '#!/bin/sh\nset -e\npython manage.py migrate\nexec uvicorn app:app --host 0.0.0.0 --workers 8\n'


def totals(result: Result) -> list[object]:
    return [item.values['total'] for item in result.findings if item.rule.id == 'db-pools-exceed-server']


@pytest.mark.parametrize(
    ('files', 'build', 'more'),
    [
        ({'Dockerfile': 'FROM python:3.12\nCMD ["uvicorn", "app:app", "--workers", "8"]\n'}, '.', ''),
        ({'Dockerfile': 'FROM python:3.12\nENTRYPOINT ["/srv/start.sh"]\n', 'start.sh': SCRIPT}, '.', ''),
        ({'Dockerfile': 'FROM python:3.12\nENTRYPOINT ["sh", "-e", "/srv/ops/start.sh"]\n', 'ops/start.sh': SCRIPT}, '.', ''),
        ({'Dockerfile': 'FROM python:3.12\n', 'scripts/start.sh': SCRIPT}, '.', '    command: sh -c ./scripts/start.sh\n'),
        ({'Dockerfile': 'FROM python:3.12\n'}, '.', '    command: ./wait-for-it.sh postgres:5432 -- uvicorn app:app --workers 8\n'),
        ({'Dockerfile': 'FROM python:3.12\nENTRYPOINT ["./wait.sh"]\nCMD ["uvicorn", "app:app", "--workers", "8"]\n', 'wait.sh': '#!/bin/sh\nsleep 1\nexec "$@"\n'}, '.', ''),
    ],
)
def test_workers_of_the_program_that_compose_builds(run: Run, files: Mapping[str, str], build: str, more: str) -> None:
    result = run({**files, 'db.py': ENGINE, 'compose.yaml': COMPOSE.format(build=build, more=more)})
    assert totals(result) == [160]


@pytest.mark.parametrize(
    'files',
    [
        {'Dockerfile': 'FROM python:3.12\nENTRYPOINT ["/srv/start.sh"]\n', 'a/start.sh': SCRIPT, 'b/start.sh': SCRIPT},
        {'Dockerfile': 'FROM python:3.12\nENTRYPOINT ["/srv/start"]\n', 'start': '#!/usr/bin/env python3\nimport uvicorn\n'},
        {'Dockerfile': 'FROM python:3.12\nENTRYPOINT ["../start.sh"]\n', 'start.sh': SCRIPT},
    ],
)
def test_no_script_is_guessed(run: Run, files: Mapping[str, str]) -> None:
    assert totals(run({**files, 'db.py': ENGINE, 'compose.yaml': COMPOSE.format(build='.', more='')})) == []


def test_a_script_that_starts_itself_ends(run: Run) -> None:
    loop = '#!/bin/sh\nexec ./start.sh\n'
    assert totals(run({'Dockerfile': 'FROM a\nENTRYPOINT ["./start.sh"]\n', 'start.sh': loop, 'db.py': ENGINE, 'compose.yaml': COMPOSE.format(build='.', more='')})) == []


def test_the_race_with_a_proxy_in_front(run: Run) -> None:
    compose = 'services:\n  web: {build: .}\n  edge:\n    image: nginx:1.27\n    volumes: ["./nginx.conf:/etc/nginx/nginx.conf"]\n'
    nginx = 'http {\n  upstream web { server web:8000; keepalive 8; }\n  server { location / { proxy_pass http://web; proxy_http_version 1.1; proxy_set_header Connection ""; } }\n}\n'
    files = {'Dockerfile': 'FROM python:3.12\nENTRYPOINT ["/start.sh"]\n', 'start.sh': SCRIPT, 'compose.yaml': compose, 'nginx.conf': nginx}
    (found,) = (item for item in run(files).findings if item.rule.id == 'server-keepalive-shorter-than-proxy')
    assert found.place.document.path == 'nginx.conf'
