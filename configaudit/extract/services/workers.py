"""How many worker processes a command line starts: every one of them has its own pool, its own heap."""

import os.path
from collections.abc import Iterable

from configaudit.extract.commands import Invocation
from configaudit.extract.process import Process
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.model import Setting

_FLAGS: dict[str, tuple[str, ...]] = {
    'gunicorn': ('-w', '--workers'), 'uvicorn': ('--workers',), 'litellm': ('--num_workers', '--num-workers'), 'granian': ('--workers',),
    'hypercorn': ('-w', '--workers'), 'puma': ('-w', '--workers'), 'fastapi': ('--workers',),
}  # fmt: skip
_FROM_ENVIRONMENT = {'gunicorn': 'WEB_CONCURRENCY', 'uvicorn': 'WEB_CONCURRENCY', 'puma': 'WEB_CONCURRENCY', 'litellm': 'NUM_WORKERS'}


def processes_of(process: Process, invocations: Iterable[Invocation]) -> Setting | None:
    """The worker processes of the server that a container starts, where its command line or environment says so."""
    for invocation in invocations:
        server = _server(invocation, process)
        if server is None:
            continue
        program, words = server
        word = _flag(words, _FLAGS[program]) or invocation.environment.get(_FROM_ENVIRONMENT.get(program, ''))
        if word is None and program == 'gunicorn':
            extra = invocation.environment.get('GUNICORN_CMD_ARGS')
            parts = extra.value.replace('=', ' ').split() if extra is not None else []
            at = next((number for number, part in enumerate(parts[:-1]) if part in _FLAGS['gunicorn']), -1)
            word = extra._replace(value=parts[at + 1], pure=False) if extra is not None and at >= 0 else None
        if word is not None:
            return setting_of('processes', word, 'count')
    return None


def _server(invocation: Invocation, process: Process) -> tuple[str, tuple[Word, ...]] | None:
    """The server program that a command line starts and the words after it."""
    words = invocation.argv or invocation.arguments
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
    return None
