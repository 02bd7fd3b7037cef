"""Running processes and their limits. Source: proc(5), /proc/PID/limits; proc_pid_mountinfo(5)."""

import math
import re

from configaudit.extract.node.live import place_of_file, whole
from configaudit.host.processes import engine_of
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_kinds import HOST_PROCESS
from configaudit.model import Component, Setting
from configaudit.places import Place

_ROWS = {'Max open files': 'nofile', 'Max locked memory': 'memlock'}
_WIDTHS = r'(?:^|\s)(?:-tp|-pp|--tp|--tp[-_]size|--pp[-_]size|--tensor-parallel-size|--pipeline-parallel-size|--num-shard)[ =](\d{1,4})(?=\s|$)'
_ONE_PROCESS = ('ollama', 'llamacpp')
"""Engines that drive several GPUs from one process, without NCCL."""
_DEFAULT_ONE = ('vllm', 'sglang', 'lmdeploy')
"""Engines that take one GPU unless their command line says otherwise."""
_SUFFIXES = {'k': 2**10, 'm': 2**20, 'g': 2**30}


def processes(snapshot: Snapshot) -> list[Component]:
    """One component for every process of the snapshot, by process id."""
    numbers = sorted((name for name in snapshot.names('/proc') if name.isdigit()), key=int)
    return [_process(snapshot, f'/proc/{number}') for number in numbers if f'/proc/{number}/limits' in snapshot.files]


def _process(snapshot: Snapshot, folder: str) -> Component:
    place = place_of_file(snapshot, f'{folder}/limits')
    program = snapshot.text(f'{folder}/comm') or ''
    words = snapshot.text(f'{folder}/cmdline') or ''
    engine = engine_of(program, words)
    settings = {
        'program': Setting('program', program, place), 'engine': Setting('engine', engine, place), 'words': Setting('words', words, place),
        **_limits(snapshot, folder), 'shm_bytes': _shm(snapshot, folder), 'spread': _spread(engine, program, words, place),
        'unit': Setting('unit', _unit(snapshot.text(f'{folder}/cgroup') or ''), place),
        'huge_pages': Setting('huge_pages', 'THP_enabled:\t0' not in (snapshot.text(f'{folder}/status') or ''), place),
    }  # fmt: skip
    return Component(HOST_PROCESS, program, f'live/process/{program}', place, settings)


def _spread(engine: str, program: str, words: str, place: Place) -> Setting:
    """Whether the engine runs on several GPUs at once, as far as its command line or title tells."""
    widths = [int(number) for number in re.findall(_WIDTHS, words)]
    several = max(widths, default=1) > 1 or '_TP' in f'{program} {words}'
    told = bool(widths) or several or engine in _ONE_PROCESS or (engine in _DEFAULT_ONE and '::' not in words)
    return Setting('spread', several, place, reason='' if told else 'its command line does not say over how many GPUs it runs')


def _unit(text: str) -> str:
    """The unit of a process that systemd started outside of any container, from its control group."""
    names = (line.rpartition(':')[2].strip().rpartition('/')[2] for line in text.splitlines() if '/system.slice/' in line)
    return next((name for name in names if name.endswith('.service')), '')


def _limits(snapshot: Snapshot, folder: str) -> dict[str, Setting]:
    place = place_of_file(snapshot, f'{folder}/limits')
    found: dict[str, Setting] = {}
    for line in (snapshot.text(f'{folder}/limits') or '').splitlines():
        for title, name in _ROWS.items():
            if line.startswith(title):
                soft, hard = (line[len(title) :].split() + ['', ''])[:2]
                found |= {f'{name}_{kind}': _limit(f'{name}_{kind}', text, place) for kind, text in (('soft', soft), ('hard', hard))}
    missing = [f'{name}_{kind}' for name in _ROWS.values() for kind in ('soft', 'hard') if f'{name}_{kind}' not in found]
    return found | {name: Setting(name, None, place, reason=f'{folder}/limits: {snapshot.why(folder + "/limits")}') for name in missing}


def _limit(name: str, text: str, place: object) -> Setting:
    value = math.inf if text == 'unlimited' else whole(text)
    return Setting(name, value, place, reason='' if value is not None else f'{text!r} is not a limit')  # type: ignore[arg-type]


def _shm(snapshot: Snapshot, folder: str) -> Setting:
    """The size of the process's own /dev/shm."""
    path = f'{folder}/mountinfo'
    place = place_of_file(snapshot, path)
    for line in (snapshot.text(path) or '').splitlines():
        options = line.rpartition(' - ')[2].split()
        sizes = [option.removeprefix('size=') for option in (options[-1].split(',') if options else ()) if option.startswith('size=')]
        if ' /dev/shm ' in line and sizes:
            number, factor = sizes[0].rstrip('kmg'), _SUFFIXES.get(sizes[0][-1:], 1)
            if number.isdigit():
                return Setting('shm_bytes', int(number) * factor, place, unit='bytes')
    return Setting('shm_bytes', None, place, reason='its /dev/shm is not shown')
