"""gunicorn.conf.py: what it says of the server, which command line it belongs to, and which numbers follow the machine."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]
_DOCKERFILE = 'FROM python:3.12\nCMD ["gunicorn", %s"a:app"]\n'


def server(result: Result) -> Component:
    (found,) = (component for component in result.components if component.kind.name == 'http-server')
    return found


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


@pytest.mark.parametrize(
    ('files', 'workers', 'timeout', 'idle'),
    [
        ({'Dockerfile': _DOCKERFILE % '', 'gunicorn.conf.py': 'workers = 3\ntimeout = 90\nkeepalive = 75\nworker_class = "gevent"\n'}, 3, 90, 75),
        ({'Dockerfile': _DOCKERFILE % '"-w", "2", ', 'gunicorn.conf.py': 'workers = 3\nkeepalive = 75\n'}, 2, 30, 0),
        ({'Dockerfile': _DOCKERFILE % '"-c", "/srv/gunicorn_config.py", ', 'app/gunicorn_config.py': 'workers = 4\nthreads = 8\n'}, 4, 30, 2),
        ({'gunicorn.conf.py': 'import os\nworkers = int(os.getenv("WORKERS", "6"))\n'}, 6, 30, 0),
        ({'gunicorn.conf.py': 'worker_class = "uvicorn_worker.UvicornWorker"\n'}, 1, 30, 2),
    ],
)  # fmt: skip
def test_a_file_and_its_command_line(run: Run, files: dict[str, str], workers: int, timeout: float, idle: float) -> None:
    found = server(run(files))
    assert (found['workers'].value, found['worker_timeout_s'].value, found['idle_timeout_s'].value) == (workers, timeout, idle)


def test_a_file_that_is_not_seen_leaves_all_open(run: Run) -> None:
    found = server(run({'Dockerfile': _DOCKERFILE % '"-c", "/etc/gunicorn.conf.py", '}))
    assert not any(found[name].is_known for name in ('worker_class', 'threads', 'worker_timeout_s', 'idle_timeout_s'))


@pytest.mark.parametrize(
    ('formula', 'found'),
    [
        ('multiprocessing.cpu_count() * 2 + 1', True), ('(2 * os.cpu_count()) + 1', True), ('min(multiprocessing.cpu_count() * 2 + 1, 8)', False),
        ('int(os.getenv("W", multiprocessing.cpu_count()))', True), ('int(os.getenv("W", "4"))', False), ('int(os.environ["W"])', False), ('max(2, os.cpu_count())', True),
        ('os.getenv("W") or os.cpu_count()', True),
    ],
)  # fmt: skip
def test_workers_that_follow_the_machine(run: Run, formula: str, found: bool) -> None:
    files = {'Dockerfile': _DOCKERFILE % '', 'gunicorn.conf.py': f'import multiprocessing, os\nworkers = {formula}\n'}
    assert ('server-workers-from-node-cpus' in ids(run(files))) is found


def test_a_number_on_the_command_line_goes_before_a_formula(run: Run) -> None:
    files = {'Dockerfile': _DOCKERFILE % '"-w", "4", ', 'gunicorn.conf.py': 'import os\nworkers = os.cpu_count()\n'}
    assert 'server-workers-from-node-cpus' not in ids(run(files))


_CLIENT = 'from openai import OpenAI\nc = OpenAI()\ndef ask():\n    return c.chat.completions.create()\n'


@pytest.mark.parametrize(
    ('flags', 'path', 'severity'),
    [
        ('', 'app/views.py', 'advice'), ('"-t", "60", ', 'app/views.py', 'warning'), ('"-t", "0", ', 'app/views.py', ''), ('"-t", "600", ', 'app/views.py', ''),
        ('"-k", "gevent", ', 'app/views.py', ''), ('"--threads", "4", ', 'app/views.py', ''), ('', 'app/tasks.py', ''), ('', 'app/worker/ask.py', ''),
    ],
)  # fmt: skip
def test_a_sync_worker_that_waits_for_a_model(run: Run, flags: str, path: str, severity: str) -> None:
    result = run({'Dockerfile': _DOCKERFILE % flags, path: _CLIENT})
    assert [finding.severity for finding in result.findings if finding.rule.id == 'gunicorn-timeout-kills-answers'] == ([severity] if severity else [])


@pytest.mark.parametrize(('words', 'found'), [('$((2 * $(getconf _NPROCESSORS_ONLN) + 1))', True), ('$(nproc)', True), ('$(( $(nproc --all) / 2 ))', True), ('$COUNT', False), ('4', False)])
def test_a_command_line_that_counts_the_processors(run: Run, words: str, found: bool) -> None:
    assert ('server-workers-from-node-cpus' in ids(run({'Dockerfile': f'FROM python:3.13\nCMD gunicorn -w {words} -k uvicorn.workers.UvicornWorker app:app\n'}))) is found
