"""Worker processes of command lines: every one has its own pool."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def pool(result: Result) -> Component:
    return next(component for component in result.components if component.kind.name == 'pool')


@pytest.mark.parametrize(
    ('command', 'processes'),
    [
        ('gunicorn -w 4 app:app', 4),
        ('gunicorn -w4 app:app', 4),
        ('uvicorn app:app --workers=3', 3),
        ('bundle exec puma -w 5 -C config/puma.rb', 5),
        ('poetry run gunicorn --workers 2 app:app', 2),
        ('celery -A shop worker -c 8', 8),
        ('celery -A shop worker --autoscale=12,2', 12),
        ('celery -A shop worker -P gevent -c 100', 1),
        ('celery -A shop beat', 1),
        ('celery -A shop worker', None),
        ('uwsgi --http :80 -p 6', 6),
        ('pm2-runtime start server.js -i 4', 4),
        ('pm2-runtime start server.js -i max', None),
        ('bundle exec rails server', 7),
        ('bundle exec rails db:migrate', 1),
        ('node server.js', 1),
    ],
)
def test_processes(run: Run, command: str, processes: int | None) -> None:
    text = f'services:\n  app:\n    image: example.com/app:1\n    command: {command}\n    environment:\n      DATABASE_URL: postgres://db/a?pool_size=5\n      WEB_CONCURRENCY: 7\n'
    assert pool(run({'compose.yaml': text}))['processes'].known_value == processes


DATABASE = """\
default: &default
  adapter: postgresql
  pool: {pool}
development:
  <<: *default
production:
  <<: *default
  database: shop
"""


@pytest.mark.parametrize(
    ('written', 'number'),
    [
        ('<%= ENV.fetch("RAILS_MAX_THREADS") { 5 } %>', 5),
        ("<%= ENV['DB_POOL'] || 7 %>", 7),
        ('<%= ENV.fetch("RAILS_MAX_THREADS", 6).to_i %>', 6),
        ('<%= Integer(ENV.fetch("RAILS_MAX_THREADS", 8)) %>', 8),
        ('<%= ENV["DB_POOL"] %>', None),
        ('12', 12),
    ],
)
def test_the_pool_of_production(run: Run, written: str, number: int | None) -> None:
    result = run({'config/database.yml': DATABASE.format(pool=written)})
    (found,) = (component for component in result.components if component.kind.name == 'pool')
    assert (found.identity, found['max_open'].known_value) == ('database.yml/production', number)


@pytest.mark.parametrize(
    ('puma', 'processes', 'threads'),
    [
        ('workers ENV.fetch("WEB_CONCURRENCY") { 3 }\nthreads 1, 16\n', 3, 16),
        ('max = ENV.fetch("RAILS_MAX_THREADS") { 16 }\nthreads max, max\nworkers(2)\n', 2, 16),
        ('threads_count = ENV.fetch("RAILS_MAX_THREADS", 9)\nthreads threads_count, threads_count\n', 1, 9),
        ('workers Etc.nprocessors\n# workers 4\n', 1, None),
    ],
)
def test_puma(run: Run, puma: str, processes: int, threads: int | None) -> None:
    found = pool(run({'config/database.yml': DATABASE.format(pool=5), 'config/puma.rb': puma}))
    assert (found['processes'].known_value, found['threads'].known_value) == (processes, threads)


def test_more_threads_than_connections(found: Callable[..., list[str]]) -> None:
    files = {'config/database.yml': DATABASE.format(pool=5), 'config/puma.rb': 'threads 1, 16\n'}
    assert found(files, 'db-pool-below-threads') == ['config/database.yml:3:9 db-pool-below-threads']


@pytest.mark.parametrize(
    ('service', 'last', 'processes'),
    [
        ('build: ./app', 'CMD ["gunicorn", "-w", "6", "app:app"]', 6),
        ('build: {context: app, dockerfile: Dockerfile}', 'CMD gunicorn -w 5 app:app', 5),
        ('build: ./app', 'ENV WEB_CONCURRENCY=3\nCMD ["gunicorn", "app:app"]', 3),
        ('build: ./app\n    command: gunicorn -w 2 app:app', 'CMD ["gunicorn", "-w", "6", "app:app"]', 2),
        ('build: {context: app, target: test}', 'CMD ["gunicorn", "-w", "6", "app:app"]', 1),
        ('build: ./other', 'CMD ["gunicorn", "-w", "6", "app:app"]', 1),
        ('build: ./app', '', 1),
    ],
)
def test_the_command_of_an_image_that_is_built_here(run: Run, service: str, last: str, processes: int) -> None:
    text = f'services:\n  app:\n    {service}\n    environment:\n      DATABASE_URL: postgres://db/a?pool_size=5\n'
    found = pool(run({'compose.yaml': text, 'app/Dockerfile': f'FROM python:3.12\n{last}\n'}))
    assert found['processes'].known_value == processes


_ROLES = '#!/bin/sh\napi() {\n  %s &\n}\njobs() {\n  celery -A app worker --autoscale="10,2" &\n}\ncase "$ROLE" in\n  api) api ;;\n  jobs) jobs ;;\nesac\n'


@pytest.mark.parametrize(
    ('script', 'known'),
    [
        (_ROLES % 'python main.py', None), (_ROLES % 'gunicorn app:app -w 4', None), ('#!/bin/sh\nexec gunicorn app:app -w 4\n', 4),
        ('#!/bin/sh\nserve() {\n  exec gunicorn app:app -w 4\n}\nserve\n', 4), ('#!/bin/sh\nif [ "$DEBUG" ]; then exec uvicorn app:app --reload; else exec gunicorn app:app -w 4; fi\n', None),
    ],
)  # fmt: skip
def test_a_script_that_starts_one_of_several_servers_leaves_their_number_open(run: Run, script: str, known: int | None) -> None:
    files = {
        'start.sh': script, 'Dockerfile': 'FROM python:3.13\nCOPY start.sh /start.sh\nCMD ["/start.sh"]\n',
        'compose.yaml': 'services:\n  web:\n    build: .\n    environment:\n      DATABASE_URL: postgresql+asyncpg://a:b@db/a\n',
    }  # fmt: skip
    found = [one['processes'].known_value for one in run(files).components if one.kind.name == 'pool']
    assert found
    assert set(found) == {known}
