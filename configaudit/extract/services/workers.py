"""How many worker processes a command line starts: every one of them has its own pool, its own heap."""

import os.path
from collections.abc import Iterable

from configaudit.extract.commands import Invocation, peel
from configaudit.extract.process import Process
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.model import Setting

_FLAGS: dict[str, tuple[str, ...]] = {
    'gunicorn': ('-w', '--workers'), 'uvicorn': ('--workers',), 'litellm': ('--num_workers', '--num-workers'), 'granian': ('--workers',),
    'hypercorn': ('-w', '--workers'), 'puma': ('-w', '--workers'), 'fastapi': ('--workers',), 'celery': ('-c', '--concurrency'),
    'uwsgi': ('-p', '--processes', '--workers'), 'pm2-runtime': ('-i', '--instances'), 'pm2': ('-i', '--instances'), 'rails': (),
}  # fmt: skip
_FROM_ENVIRONMENT = {'gunicorn': 'WEB_CONCURRENCY', 'uvicorn': 'WEB_CONCURRENCY', 'puma': 'WEB_CONCURRENCY', 'rails': 'WEB_CONCURRENCY', 'litellm': 'NUM_WORKERS'}

_CONDITION = 'its script starts it under a condition'
_ONE_OF_SEVERAL = 'its script starts one of several servers'
_EVERY_CPU = 'it starts a process for each CPU that it sees'


def processes_of(process: Process, invocations: Iterable[Invocation]) -> Setting | None:
    """The worker processes of the server that a container starts, where its command line or environment says so.

    A script that starts one of several servers, as a variable or an argument tells it, leaves their number open.
    """
    started = [(invocation, *server) for invocation in invocations if (server := _server(invocation, process)) is not None]
    for invocation, program, words in started:
        if program == 'rails' and (not words or words[0].value not in ('server', 's')):
            continue
        found = _celery(words, invocation) if program == 'celery' else _stated(invocation, program, words)
        if found is not None and invocation.conditional and (program == 'celery' or len(started) > 1):
            return found._replace(known_value=None, reason=_ONE_OF_SEVERAL)
        if found is not None or program == 'celery':
            return found
    return None


def _stated(invocation: Invocation, program: str, words: tuple[Word, ...]) -> Setting | None:
    word = _flag(words, _FLAGS[program]) or invocation.environment.get(_FROM_ENVIRONMENT.get(program, ''))
    if word is None and program == 'gunicorn':
        extra = invocation.environment.get('GUNICORN_CMD_ARGS')
        parts = extra.value.replace('=', ' ').split() if extra is not None else []
        at = next((number for number, part in enumerate(parts[:-1]) if part in _FLAGS['gunicorn']), -1)
        word = extra._replace(value=parts[at + 1], pure=False) if extra is not None and at >= 0 else None
    if word is None:
        return None
    setting = setting_of('processes', word, 'count')
    return setting._replace(known_value=None, reason=_EVERY_CPU) if program.startswith('pm2') and word.value in ('0', 'max') else setting


def _celery(words: tuple[Word, ...], invocation: Invocation) -> Setting | None:
    """A worker forks a process for each task that it runs at once; its other pools are threads of one process."""
    if not any(word.value == 'worker' for word in words):
        return None
    pool = _flag(words, ('-P', '--pool'))
    if pool is not None and pool.value not in ('prefork', 'processes'):
        return None
    scaled = _flag(words, ('--autoscale',))
    word = scaled._replace(value=scaled.value.split(',')[0], pure=False) if scaled is not None else _flag(words, _FLAGS['celery'])
    if word is not None:
        return setting_of('processes', word, 'count')
    place = words[0].place
    return Setting('processes', None, place, 'default', invocation.unseen or _EVERY_CPU)


def _server(invocation: Invocation, process: Process) -> tuple[str, tuple[Word, ...]] | None:
    """The server program that a command line starts and the words after it."""
    words = invocation.argv or peel(invocation.arguments)
    image = process.image.value if process.image is not None else ''
    name = os.path.basename(words[0].value) if words else ''
    if name.startswith('python') and len(words) > 2 and words[1].value == '-m':
        name = words[2].value.split('.')[0]
    if name in _FLAGS:
        return name, words[1:]
    return ('litellm', words) if not invocation.argv and 'litellm' in image else None


def _flag(words: tuple[Word, ...], names: tuple[str, ...]) -> Word | None:
    for at, word in enumerate(words):
        name, joined, value = word.value.partition('=')
        if name in names:
            if joined:
                return word.tail or word._replace(value=value, place=word.place.part(len(name) + 1, len(word.value)) if word.pure else word.place)
            return words[at + 1] if at + 1 < len(words) else None
        if len(word.value) > 2 and word.value[:2] in names and word.value[2:].isdigit():
            return word._replace(value=word.value[2:], place=word.place.part(2, len(word.value)) if word.pure else word.place)
    return None
