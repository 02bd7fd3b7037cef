"""`docker run`, and podman and nerdctl, which take the same options.

Source: docker run reference; podman-run(1); nerdctl command reference.
"""

import os.path
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import NamedTuple

from configaudit.extract.carriers.containers import mount, nofile, published, requested_devices, setting
from configaudit.extract.process import Imported, Process, Variable
from configaudit.extract.words import Word
from configaudit.knowledge.carrier_kinds import DOCKER_RUN, role_of
from configaudit.model import Component, Setting, Slot
from configaudit.places import Place
from configaudit.units import HOLE

_PROGRAMS = frozenset(('docker', 'podman', 'nerdctl', 'nvidia-docker'))
_SWITCHES = frozenset((
    '--detach', '--interactive', '--tty', '--rm', '--privileged', '--init', '--publish-all', '--read-only', '--quiet',
    '--no-healthcheck', '--oom-kill-disable', '--sig-proxy', '--disable-content-trust', '--use-api-socket', '--help',
    '--replace', '--rmi', '--http-proxy', '--tls-verify', '--no-hosts', '--env-host', '--no-hostname',
))  # fmt: skip
"""Options without a value; every other one takes one."""
_SHORT = {
    '-d': '--detach', '-i': '--interactive', '-t': '--tty', '-P': '--publish-all', '-q': '--quiet', '-e': '--env',
    '-v': '--volume', '-p': '--publish', '-m': '--memory', '-u': '--user', '-w': '--workdir', '-h': '--hostname',
    '-l': '--label', '-a': '--attach', '-c': '--cpu-shares',
}  # fmt: skip
_GLOBAL_VALUED = frozenset((
    '--context', '-c', '-H', '--host', '--config', '-l', '--log-level', '-n', '--namespace', '--address', '-a', '--root',
))  # fmt: skip
_SETTINGS = {
    '--shm-size': ('shm_size', 'size'),
    '--ipc': ('ipc', 'text'),
    '--restart': ('restart', 'text'),
    '--runtime': ('runtime', 'text'),
    '--memory': ('memory_limit', 'size'),
    '--cpus': ('cpus', 'cores'),
}


class Option(NamedTuple):
    """One option before the image."""

    name: str
    word: Word
    value: Word | None


class Run(NamedTuple):
    """A `docker run` command line, taken apart."""

    options: tuple[Option, ...]
    image: Word | None
    arguments: tuple[Word, ...]
    unseen: str
    """Why more options may exist than are shown, or ''."""

    def values(self, *names: str) -> Iterator[Word]:
        """The values of options, in order."""
        return (option.value for option in self.options if option.name in names and option.value is not None)

    def last(self, name: str) -> Word | None:
        """The value that counts."""
        return next(reversed(list(self.values(name))), None)


def run_words(argv: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """`run` and what follows it in a container engine's command line; None when it is none."""
    if not argv or os.path.basename(argv[0].value) not in _PROGRAMS:
        return None
    at = 1
    while at < len(argv) and argv[at].value.startswith('-'):
        at += 2 if argv[at].value in _GLOBAL_VALUED else 1
    if at < len(argv) and argv[at].value == 'container':
        at += 1
    return argv[at:] if at < len(argv) and argv[at].value in ('run', 'create') else None


def parse_run(words: tuple[Word, ...]) -> Run:
    """Options, image and arguments of the words after `run`."""
    options: list[Option] = []
    unseen = ''
    at = 0
    while at < len(words):
        word = words[at]
        text = word.value
        if text == '--':
            at += 1
            break
        if not text.startswith('-'):
            if text.strip(HOLE) or not any(_is_image(after.value) for after in words[at + 1 :]):
                break
            unseen = word.reason or 'an option is not known'
            at += 1
            continue
        option = _option(words, at)
        options.append(option)
        at += 2 if option.value is not None and option.value is words[min(at + 1, len(words) - 1)] else 1
    image = words[at] if at < len(words) else None
    return Run(tuple(options), image, words[at + 1 :], unseen)


def _is_image(text: str) -> bool:
    """Whether a word behind an unknown one looks like the image, so that the unknown one holds options."""
    return not text.startswith(('-', '/')) and ('/' in text or ':' in text) and not ('=' in text or ' ' in text)


def _option(words: tuple[Word, ...], at: int) -> Option:
    word = words[at]
    text = word.value
    following = words[at + 1] if at + 1 < len(words) else None
    if text.startswith('--'):
        name, joined, value = text.partition('=')
        if joined:
            return Option(name, word, word.tail or _rest(word, len(name) + 1, value))
        return Option(name, word, None if name in _SWITCHES else following)
    for position, letter in enumerate(text[1:], 1):
        name = _SHORT.get('-' + letter, '-' + letter)
        if name not in _SWITCHES:
            rest = text[position + 1 :].removeprefix('=')
            return Option(name, word, _rest(word, len(text) - len(rest), rest) if rest else following)
    return Option(_SHORT.get(text[:2], text), word, None)


def _rest(word: Word, length: int, value: str) -> Word:
    """The value joined to an option, without the quotes that the shell left or took away."""
    raw = word.place.text
    start = length if raw[:length] == word.value[:length] else 0
    if not start:
        return word._replace(value=value, pure=False)
    end = len(raw)
    if raw[start : start + 1] in ('"', "'") and raw[-1:] == raw[start] and end - start > 1:
        start, end = start + 1, end - 1
    return word._replace(value=value, place=word.place.part(start, end), pure=word.pure or raw[start:end] == value)


def read_run(
    words: tuple[Word, ...], place: Place, identity: str, scope: str, slot_form: str
) -> tuple[Component, Process]:
    """The container that `words` (from `run` on) start; `place` is the program's word.

    `slot_form` names the writer that can add options.
    """
    run = parse_run(words[1:])
    settings: dict[str, Setting] = {}
    name = run.last('--name')
    slot = Slot(slot_form, words[0].place)
    component = Component(
        DOCKER_RUN,
        name.value if name and name.known else _base(run.image),
        identity,
        place,
        settings,
        slot=slot,
        partial=run.unseen,
        scope=scope,
    )
    if run.image is not None:
        settings['image'] = setting('image', 'text', run.image, 'argument')
    for flag, (key, unit) in _SETTINGS.items():
        word = run.last(flag)
        if word is not None:
            settings[key] = setting(key, unit, word, 'argument')
    environment = tuple(_environment(run))
    _facts(run, component, environment)
    entry = run.last('--entrypoint')
    spoken = ' '.join(word.value for word in (*((entry,) if entry else ()), *run.arguments))
    role = role_of(component.name, run.image.value if run.image else '', spoken)
    settings['role'] = Setting('role', role, place)
    settings['words'] = Setting('words', tuple(spoken.split()), place)
    files = tuple(
        Imported('envfile', normpath(join(dirname(place.document.path), word.value)), '', word.place)
        for word in run.values('--env-file')
    )
    process = Process(
        component,
        run.image,
        (entry,) if entry else None,
        run.arguments or None,
        environment,
        files,
        form='shell_word',
        syntax='none',
    )
    return component, process


def _base(image: Word | None) -> str:
    return (
        image.value.split('@')[0].rpartition('/')[2].partition(':')[0].replace(HOLE, '…') if image is not None else '-'
    )


def _facts(run: Run, component: Component, environment: tuple[Variable, ...]) -> None:
    settings, place = component.settings, component.place
    mounts = dict(mount(word.value) for word in run.values('--volume'))
    mounts.update((word.value.split(':')[0].rstrip('/'), 'tmpfs') for word in run.values('--tmpfs'))
    mounts.update(_mount(word.value) for word in run.values('--mount'))
    settings['mounts'] = Setting('mounts', mounts, place)
    settings['ports'] = Setting('ports', tuple(published(word) for word in run.values('--publish')), place)
    settings['env'] = Setting('env', {variable.name: variable for variable in environment}, place)
    detached = next(
        (option.word.place for option in run.options if option.name == '--detach' or _has(option, 'd')), None
    )
    settings['detached'] = Setting('detached', detached is not None, detached or place)
    gpus = run.last('--gpus')
    if gpus is not None:
        devices = requested_devices(gpus.value) if gpus.known else None
        reason = '' if devices is not None else gpus.reason or f'{gpus.value!r} is not understood'
        settings['gpus'] = Setting('gpus', devices, gpus.place, reason=reason)
    elif any(word.value.startswith('nvidia.com/gpu') for word in run.values('--device')):
        ids = [
            word.value.partition('=')[2] for word in run.values('--device') if word.value.startswith('nvidia.com/gpu')
        ]
        settings['gpus'] = Setting('gpus', ('all',) if 'all' in ids else tuple(ids), place)
    for word in run.values('--ulimit'):
        kind, _, value = word.value.partition('=')
        if kind == 'nofile':
            settings['nofile'] = Setting('nofile', nofile(value)[0], word.place)


def _has(option: Option, letter: str) -> bool:
    """Whether a cluster of short switches ('-itd') holds one."""
    text = option.word.value
    return not text.startswith('--') and option.value is None and letter in text[1:]


def _mount(text: str) -> tuple[str, str]:
    fields = dict(field.partition('=')[::2] for field in text.split(','))
    target = fields.get('target') or fields.get('dst') or fields.get('destination') or ''
    return target.rstrip('/'), fields.get('source') or fields.get('src') or fields.get('type', '')


def _environment(run: Run) -> Iterator[Variable]:
    for word in run.values('--env'):
        name, equals, value = word.value.partition('=')
        if equals:
            yield Variable(name, word.tail or _rest(word, len(name) + 1, value), word.place)
        else:
            reason = f'${name} is passed on from the environment of whoever starts it'
            yield Variable(name, Word(HOLE, word.place, False, reason), word.place)
