"""Servers of Python programs as their command lines start them: workers, how long they keep an idle connection, how long they finish requests.

Sources: uvicorn settings (--timeout-keep-alive 5 s, --timeout-graceful-shutdown unset); gunicorn settings (keepalive 2 s, which its sync
workers do not offer at all; graceful_timeout 30 s, timeout 30 s); hypercorn settings (keep_alive_timeout 5 s, graceful_timeout 3 s);
waitress arguments (channel_timeout 120 s).
"""

import math
import os.path
from collections.abc import Sequence
from typing import NamedTuple

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.process import Data, Process
from configaudit.extract.services.built_images import folder_of
from configaudit.extract.services.own_scripts import own_invocations
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.knowledge.service_kinds import HTTP_SERVER
from configaudit.model import Component, Peers, Setting
from configaudit.patterns import regex
from configaudit.places import Place
from configaudit.units import HOLE

_CPUS = regex(r'\bnproc\b|\b_NPROCESSORS_(?:ONLN|CONF)\b|\bcpu_count\b')
"""Of a command line: what counts the processors of the node. `nproc` minds the CPUs that a process may run on, and no quota."""


class _Program(NamedTuple):
    """What a server does unless told otherwise, and the flags that tell it."""

    keeps_s: float
    keep_flags: tuple[str, ...]
    graceful_s: float
    graceful_flags: tuple[str, ...]
    source: str
    worker_flags: tuple[str, ...] = ()
    worker_variable: str = ''


_PROGRAMS = {
    'uvicorn': _Program(5, ('--timeout-keep-alive',), math.inf, ('--timeout-graceful-shutdown',), 'uvicorn documentation, Settings', ('--workers',), 'WEB_CONCURRENCY'),
    'fastapi': _Program(5, (), math.inf, (), 'uvicorn documentation, Settings', ('--workers',), 'WEB_CONCURRENCY'),
    'litellm': _Program(5, ('--keepalive_timeout',), math.inf, (), 'uvicorn documentation, Settings; LiteLLM proxy_cli.py', ('--num_workers', '--num-workers'), 'NUM_WORKERS'),
    'gunicorn': _Program(2, ('--keep-alive',), 30, ('--graceful-timeout',), 'gunicorn documentation, Settings', ('-w', '--workers'), 'WEB_CONCURRENCY'),
    'hypercorn': _Program(5, ('--keep-alive',), 3, ('--graceful-timeout',), 'hypercorn documentation, Configuration options', ('-w', '--workers')),
    'waitress-serve': _Program(120, ('--channel-timeout',), math.inf, (), 'waitress documentation, Arguments'),
}
_CLASSES = ('-k', '--worker-class')
_CONFIGURATION = ('-c', '--config', '--config-file')


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """A component for every such server that a process starts."""
    invocations = own_invocations(process, invocations, stores)
    found = [server for invocation in invocations if (server := _server(process, invocation)) is not None]
    files = stores.of_kind('uvicorn')
    return found or ([server for invocation in invocations if (server := _of_program(process, invocation, files)) is not None] if files else [])


def _of_program(process: Process, invocation: Invocation, files: Sequence[Data]) -> Component | None:
    """The uvicorn that a program starts itself: `python main.py`."""
    from configaudit.extract.services.uvicorn_calls import NAMES, started

    words, carrier = invocation.argv, process.component
    if len(words) < 2 or not os.path.basename(words[0].value).startswith('python'):
        return None
    script = words[2] if words[1].value == '-m' and len(words) > 2 else next((word for word in words[1:] if not word.value.startswith('-')), words[1])
    folder = folder_of(carrier)
    item = started(script.value, folder, files) if folder is not None else None
    if item is None:
        return None
    program, start = _PROGRAMS['uvicorn'], item.values[''].place
    settings = {'product': Setting('product', 'uvicorn', start), 'written_in': Setting('written_in', 'Python', start)}
    for name, default in (('idle_timeout_s', program.keeps_s), ('graceful_s', program.graceful_s)):
        settings[name] = Setting(name, default, start, 'default', source=program.source)
    for key, word in item.values.items():
        if key:
            name, unit = NAMES[key]
            settings[name] = setting_of(name, word, unit)
    server = Component(HTTP_SERVER, carrier.name, f'{carrier.identity}/uvicorn', start, settings, partial=process.partial, scope=carrier.scope)
    return _owned(server, carrier)


def _server(process: Process, invocation: Invocation) -> Component | None:
    words = invocation.argv or invocation.arguments
    if words and os.path.basename(words[0].value).startswith('python') and len(words) > 2 and words[1].value == '-m':
        words = words[2:]
    name = os.path.basename(words[0].value) if words else ''
    if not invocation.argv and process.image is not None and 'litellm' in process.image.value and words:
        name, words = 'litellm', (words[0], *words)
    program = _PROGRAMS.get(name)
    if program is None:
        return None
    carrier, start = process.component, words[0].place
    extra = invocation.environment.get('GUNICORN_CMD_ARGS') if name == 'gunicorn' else None
    given = (*_opened(words[1:]), *(_split(extra) if extra is not None else ()))
    unseen = invocation.unseen or _hidden(given) or ('its configuration file may set it' if name != 'litellm' and _flag(given, _CONFIGURATION) is not None else '')
    settings = {'product': Setting('product', name, start)}
    for setting, default, flags in (('idle_timeout_s', program.keeps_s, program.keep_flags), ('graceful_s', program.graceful_s, program.graceful_flags)):
        word = _flag(given, flags) or next((found for flag in flags if name == 'uvicorn' and (found := invocation.environment.get(_variable(flag))) is not None), None)
        settings[setting] = Setting(setting, default, start, 'default', unseen, source=program.source)
        if word is not None:
            settings[setting] = setting_of(setting, word, 's')
    if name == 'gunicorn':
        settings.update(_gunicorn(given, start, unseen))
    workers = _flag(given, program.worker_flags) or invocation.environment.get(program.worker_variable)
    if workers is not None:
        settings['workers'] = setting_of('workers', workers, 'count')
        if _CPUS.search(_spelled(workers)):
            settings['workers_from'] = Setting('workers_from', 'cpus', workers.place)
    if 'cpu_limit' in carrier.kind.settings:
        settings['cpu_limit'] = carrier['cpu_limit']
    if name == 'gunicorn' and not _keeps(given):
        settings['idle_timeout_s'] = Setting('idle_timeout_s', 0, start, 'default', unseen, source='gunicorn documentation, sync workers: no persistent connections')
    server = Component(HTTP_SERVER, carrier.name, f'{carrier.identity}/{name}', start, settings, partial=process.partial, scope=carrier.scope)
    return _owned(server, carrier)


def _owned(server: Component, carrier: Component) -> Component:
    server.peer_map['carrier'] = Peers.of([carrier], True)
    for owner in (carrier, *carrier.peers('pod')):
        owner.peer_map['http-server'] = Peers.of([*owner.peers('http-server'), server], True)
    return server


def _variable(flag: str) -> str:
    """The variable that uvicorn's command line takes a flag from: UVICORN_TIMEOUT_KEEP_ALIVE."""
    return f'UVICORN_{flag.strip("-").replace("-", "_").upper()}'


def _gunicorn(given: Sequence[Word], start: Place, unseen: str) -> dict[str, Setting]:
    """What only gunicorn has: the class and the threads of its workers, and after how long it kills a silent one."""
    settings = {name: setting._replace(reason=unseen) for name, setting in gunicorn_defaults(start).items()}
    for name, unit, flags in (('worker_class', 'text', _CLASSES), ('threads', 'count', ('--threads',)), ('worker_timeout_s', 's', ('-t', '--timeout')), ('config', 'text', _CONFIGURATION)):
        word = _flag(given, flags)
        if word is not None:
            settings[name] = setting_of(name, word, unit)
    return settings


def gunicorn_defaults(place: Place) -> dict[str, Setting]:
    """gunicorn's workers when nobody says anything."""
    return {
        name: Setting(name, value, place, 'default', source='gunicorn documentation, Settings')
        for name, value in (('worker_class', 'sync'), ('threads', 1), ('worker_timeout_s', 30))
    }


def _spelled(word: Word) -> str:
    """A word as its file writes it."""
    place = word.place
    return place.document.text[place.start : place.end]


def _keeps(words: Sequence[Word]) -> bool:
    """Whether gunicorn's workers keep connections: all but the sync ones, which it starts unless told otherwise."""
    kind = _flag(words, _CLASSES)
    return (kind is not None and kind.value != 'sync') or _flag(words, ('--threads',)) is not None


def _opened(words: Sequence[Word]) -> list[Word]:
    """The words, those of a variable that holds several (`$DAEMON_ARGS` of a unit) one by one."""
    return [part for word in words for part in (_split(word) if word.use is not None and ' -' in word.value else (word,))]


def _hidden(words: Sequence[Word]) -> str:
    """Why more words may come from a variable that is not known; one that follows a flag is its value."""
    for before, word in zip((None, *words), words, strict=False):
        if not word.known and not word.value.strip(HOLE) and (before is None or not before.value.startswith('-') or '=' in before.value):
            return word.reason or 'its words come from a variable'
    return ''


def _split(word: Word) -> list[Word]:
    return [word._replace(value=part, pure=False) for part in word.value.split()]


def _flag(words: Sequence[Word], names: tuple[str, ...]) -> Word | None:
    for at, word in enumerate(words):
        name, joined, value = word.value.partition('=')
        if name in names:
            if joined:
                return word.tail or word._replace(value=value, place=word.place.part(len(name) + 1, len(word.value)) if word.pure else word.place)
            return words[at + 1] if at + 1 < len(words) else None
    return None
