"""Which processes are looked at, and how little of them: limits, identity, memory mounts; never their environment."""

from collections.abc import Callable, Iterator, Sequence

from configaudit.host import wanted
from configaudit.redact import redact

_STATUS = ('Name:', 'Pid:', 'PPid:', 'Uid:', 'NSpid:', 'FDSize:', 'Threads:', 'THP_enabled:')
_READ = ('python', 'pt_main', 'ray::', 'VLLM::', 'sglang::')
"""Starts of the names of processes whose command line tells whether they are an engine."""
Peek = Callable[[str], str | None]


def engine_of(program: str, words: str) -> str:
    """The inference engine that a process is, by its name and command line; '' for any other.

    vLLM and SGLang rename their processes (VLLM::EngineCore); a path that only holds the word is none.
    """
    title = program.partition('::')
    if title[1] and title[0].lower() in wanted.ENGINES:
        return wanted.ENGINES[title[0].lower()]
    if program in wanted.ENGINES:
        return wanted.ENGINES[program]
    line = words.split()
    module = line[line.index('-m') + 1 : line.index('-m') + 2] if '-m' in line else []
    script = [word for word in line[1:] if not word.startswith('-')][:1]
    names = [word.partition('.')[0] for word in module] or [word.rpartition('/')[2] for word in (*line[:1], *script)]
    return next((engine for name in names if (engine := wanted.ENGINES.get(name, ''))), '')


def kept_processes(names: Sequence[str], peek: Peek) -> Iterator[dict[str, str]]:
    """The files of each process of interest, cut down to what rules need."""
    for name in names:
        if not name.isdigit():
            continue
        folder = f'/proc/{name}'
        program = (peek(f'{folder}/comm') or '').strip()
        words = _words(peek, folder) if program.startswith(_READ) or program in wanted.PROGRAMS else ''
        if program not in wanted.PROGRAMS and not engine_of(program, words):
            continue
        yield _process(peek, folder, program, words)


def _words(peek: Peek, folder: str) -> str:
    line = (peek(f'{folder}/cmdline') or '').rstrip('\0').replace('\0', ' ')
    return redact(line)


def _process(peek: Peek, folder: str, program: str, words: str) -> dict[str, str]:
    status = [line for line in (peek(f'{folder}/status') or '').splitlines() if line.startswith(_STATUS)]
    mounts = [line for line in (peek(f'{folder}/mountinfo') or '').splitlines() if ' /dev/shm ' in line]
    kept = {'comm': program, 'cmdline': words, 'status': '\n'.join(status), 'mountinfo': '\n'.join(mounts)}
    for file in ('limits', 'cgroup'):
        kept[file] = peek(f'{folder}/{file}') or ''
    return {f'{folder}/{file}': text for file, text in kept.items()}
