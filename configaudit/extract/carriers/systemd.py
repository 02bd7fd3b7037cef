"""systemd units, their drop-ins, and the manager's defaults.

Source: systemd.unit(5), systemd.service(5), systemd.exec(5), systemd-system.conf(5).
"""

import math
from collections.abc import Iterator
from functools import partial as bind
from typing import NamedTuple

from configaudit import units
from configaudit.extract.carriers.docker_run import read_run, run_words
from configaudit.extract.carriers.systemd_order import EVERY_SERVICE, in_order, is_hidden, manager_order, root_of
from configaudit.extract.commands import peel
from configaudit.extract.environment import Stores
from configaudit.extract.process import Data, Imported, Process, Reading, Variable, nothing
from configaudit.extract.words import Word
from configaudit.knowledge.carrier_kinds import UNIT, program_role
from configaudit.model import Component, Setting, Slot
from configaudit.parse.entries import Entry, File
from configaudit.parse.systemd import assigned, environment, split_command
from configaudit.parse.systemd import read as parse
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_FREE_TEXT = frozenset(('Description', 'Documentation'))
_COMMENT = regex(r'[ \t]+#')
_KEYS = {
    'LimitNOFILE': 'nofile', 'TasksMax': 'tasks_max', 'Restart': 'restart', 'Type': 'type', 'User': 'user',
    'TimeoutStopSec': 'stop_timeout_s', 'TimeoutSec': 'stop_timeout_s',
}  # fmt: skip


class InlineComment(NamedTuple):
    """A '#' after a value, which systemd takes as part of the value."""

    key: str
    comment: Place
    tail: Place
    """The comment and the blanks before it."""


def read(document: Document) -> Reading:
    """A unit, a drop-in, or the manager's configuration."""
    reading = nothing()
    file = parse(document.text)
    folder, _, name = document.called.rpartition('/')
    above, _, holder = folder.rpartition('/')
    if any(header.name == 'Manager' for header in file.headers):
        reading.data.append(Data('systemd-default', document.called, root_of(document, above if holder.endswith('.d') else folder), _words(document, file, 'Manager')))
        return reading
    if not any(header.name == 'Service' for header in file.headers):
        return reading
    drop_in = holder.endswith('.service.d') or holder == f'{EVERY_SERVICE}.d'
    unit = holder.removesuffix('.d') if drop_in else name
    root = root_of(document, above if drop_in else folder)
    if drop_in:
        reading.data.append(Data('drop-in', document.called, f'{root}|{unit}', _words(document, file, 'Service')))
    _read_unit(document, file, unit, f'a drop-in of {unit}' if drop_in else '', reading, root)
    return reading


def _words(document: Document, file: File, section: str) -> dict[str, Word]:
    """The last assignment of every key; an empty one resets what was set before."""
    found: dict[str, Word] = {}
    for entry in file.entries:
        if entry.section == section:
            found[entry.key] = Word(entry.value, Place(document, entry.start, entry.end))
    return found


def _read_unit(document: Document, file: File, unit: str, partial: str, reading: Reading, root: str) -> None:
    starts = assigned(file, 'Service', 'ExecStart')
    commands = [_command(document, entry) for entry in starts]
    commands = [words for words in commands if words]
    header = next(header for header in file.headers if header.name == 'Service')
    place = commands[0][0].place if commands else Place(document, header.start, header.end)
    settings: dict[str, Setting] = {}
    component = Component(
        UNIT,
        unit,
        f'unit/{unit}',
        place,
        settings,
        slot=Slot('systemd', Place(document, 0, 0)),
        partial=partial,
        scope=unit,
    )
    for key, word in _words(document, file, 'Service').items():
        _set(settings, key, word)
    settings['inline_comments'] = Setting('inline_comments', tuple(_inline_comments(document, file)), place)
    variables = tuple(_environment(document, file))
    settings['env'] = Setting('env', {variable.name: variable for variable in variables}, place)
    _runs(settings, unit, commands, place)
    reading.components.append(component)
    imported = tuple(_files(document, file))
    if partial:
        reading.data.append(Data('drop-in-environment', document.called, f'{root}|{unit}', {variable.name: variable.value for variable in variables if isinstance(variable.value, Word)}))
    elif commands:
        reading.data.append(Data('unit', document.called, f'{root}|{unit}', {}))
    if not commands:
        reading.processes.append(Process(component, None, None, None, variables, imported, partial=partial, settle=bind(_settle, component, root)))
    for number, words in enumerate(commands):
        following = run_words(peel(words))
        if following is None:
            reading.processes.append(
                Process(
                    component, None, words, None, variables, imported, partial=partial, form='shell_word',
                    syntax='systemd', settle=bind(_settle, component, root),
                )
            )  # fmt: skip
            continue
        run, process = read_run(following, words[0].place, f'unit/{unit}/{number}', unit, 'shell_word')
        if run['role'].known_value == 'engine':
            settings['runs'] = Setting('runs', 'engine', place)
        reading.components.append(run)
        reading.processes.extend((process, Process(component, None, None, None, settle=bind(_settle, component, root))))


def _set(settings: dict[str, Setting], key: str, word: Word) -> None:
    """The setting of an assignment. A limit is one number for both, or soft:hard, or infinity."""
    name = _KEYS.get(key)
    if name is None:
        return
    if not word.value:
        settings.pop(name, None)
        settings.pop('nofile_hard' if name == 'nofile' else name, None)
        return
    slot = Slot('systemd', word.place)
    if name == 'nofile':
        soft, _, hard = word.value.partition(':')
        for at, text in (('nofile', soft), ('nofile_hard', hard or soft)):
            value = _limit(text)
            reason = '' if value is not None else 'filled by a template' if HOLE in text or '{{' in text or '${' in text else f'{text!r} is not a limit'
            settings[at] = Setting(at, value, word.place, reason=reason, slot=slot)
        return
    if name == 'stop_timeout_s':
        seconds = math.inf if word.value == 'infinity' else units.seconds(word.value)
        reason = '' if seconds is not None else f'{word.value!r} is not a time'
        settings[name] = Setting(name, seconds, word.place, reason=reason, slot=slot)
    else:
        settings[name] = Setting(name, word.value, word.place, slot=slot)


def _limit(text: str) -> float | None:
    """A limit as systemd reads it: a number, with K, M, G in powers of 1024, or infinity."""
    text = text.strip()
    if text == 'infinity':
        return math.inf
    found = units.bytes_of(text)
    return None if found is None else int(found)


def _runs(settings: dict[str, Setting], unit: str, commands: list[tuple[Word, ...]], place: Place) -> None:
    if not commands:
        base = unit.removesuffix('.service').rstrip('@')
        settings['runs'] = Setting('runs', program_role('dockerd' if base == 'docker' else base, ''), place)
        return
    argv = peel(commands[0]) or commands[0]
    spoken = ' '.join(word.value for word in commands[0])
    settings['program'] = Setting('program', argv[0].value, argv[0].place)
    settings['runs'] = Setting('runs', program_role(argv[0].value, spoken), place)


def _command(document: Document, entry: Entry) -> tuple[Word, ...]:
    text = document.text
    return tuple(
        Word(word.text, Place(document, word.start, word.end), text[word.start : word.end] == word.text,
             'a unit specifier' if HOLE in word.text else '')
        for word in split_command(entry.value, entry.start)
    )  # fmt: skip


def _environment(document: Document, file: File) -> Iterator[Variable]:
    for entry in assigned(file, 'Service', 'Environment'):
        for name, value, start, end in environment(entry.value, entry.start):
            place = Place(document, start, end)
            reason = 'a unit specifier' if HOLE in value else ''
            yield Variable(name, Word(value, place, place.text == value, reason), place)


def _files(document: Document, file: File) -> Iterator[Imported]:
    for entry in assigned(file, 'Service', 'EnvironmentFile'):
        yield Imported('envfile', entry.value.removeprefix('-'), '', Place(document, entry.start, entry.end))


def _inline_comments(document: Document, file: File) -> Iterator[InlineComment]:
    for entry in file.entries:
        at = _comment_at(document, entry)
        if at is None or entry.key in _FREE_TEXT or entry.key.startswith('X-'):
            continue
        start = entry.start + len(document.text[entry.start : at].rstrip())
        yield InlineComment(entry.key, Place(document, at, entry.end), Place(document, start, entry.end))


def _comment_at(document: Document, entry: Entry) -> int | None:
    """Where a comment begins after a value. Unlike an argument such as #ops, a blank follows or two stand before."""
    text = document.text
    if entry.key.startswith('Exec') or entry.key == 'Environment':
        for word in split_command(entry.value, entry.start):
            quoted = text[word.start - 1 : word.start] in ('"', "'")
            if (
                word.text.startswith('#')
                and not quoted
                and (word.text == '#' or text[word.start - 2 : word.start].isspace())
            ):
                return word.start if word.start > entry.start else None
        return None
    found = _COMMENT.search(entry.value)
    return entry.start + found.end() - 1 if found else None


def _settle(component: Component, root: str, process: Process, stores: Stores) -> Process:
    """Drop-ins override the unit, the manager's default holds where neither says anything; a hidden unit runs nothing."""
    key, path = f'{root}|{component.name}', component.place.document.called
    if component.partial:
        _settle_drop_in(component, path, _applied('drop-in', key, root, stores))
        return process._replace(environment=()) if stores.every('unit', key) else process
    if is_hidden(path, (data.scope for data in stores.every('unit', key))):
        component.settings['runs'] = Setting('runs', '', component.place)
        component.settings['inline_comments'] = Setting('inline_comments', (), component.place)
        return process._replace(entrypoint=None, arguments=None, environment=(), imported=())
    for data in _applied('drop-in-environment', key, root, stores):
        process = process._replace(environment=(*process.environment, *(Variable(name, word, word.place) for name, word in data.values.items())))
    for data in _applied('drop-in', key, root, stores):
        for name, word in data.values.items():
            _set(component.settings, name, word)
    if 'nofile' not in component.settings:
        _inherit(component.settings, root, stores)
    return process


def _settle_drop_in(component: Component, path: str, order: list[Data]) -> None:
    """What a drop-in sets and a later one sets again is the later one's; one that is hidden sets nothing."""
    paths = [data.scope for data in order]
    if path not in paths:
        component.settings['runs'] = Setting('runs', '', component.place)
        return
    for data in order[paths.index(path) + 1 :]:
        for key in data.values:
            for name in ('nofile', 'nofile_hard') if key == 'LimitNOFILE' else (_KEYS.get(key, ''),):
                component.settings.pop(name, None)


def _applied(kind: str, key: str, root: str, stores: Stores) -> list[Data]:
    """The drop-ins of a unit and of all services, in their order."""
    return in_order((*stores.every(kind, key), *stores.every(kind, f'{root}|{EVERY_SERVICE}')))


def _inherit(settings: dict[str, Setting], root: str, stores: Stores) -> None:
    """The limit that the manager gives every service."""
    for data in manager_order(stores.every('systemd-default', root)):
        default = data.values.get('DefaultLimitNOFILE')
        if default is not None:
            _set(settings, 'LimitNOFILE', default)
    for name in ('nofile', 'nofile_hard'):
        if name in settings:
            settings[name] = settings[name]._replace(origin='inherited')
