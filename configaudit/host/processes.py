"""Which processes are looked at, and how little of them: limits, identity, memory mounts; never their environment."""

from collections.abc import Callable, Iterator, Sequence

from configaudit.host import wanted
from configaudit.redact import redact

_STATUS = ('Name:', 'Pid:', 'PPid:', 'Uid:', 'NSpid:', 'FDSize:', 'Threads:')
Peek = Callable[[str], str | None]


def kept_processes(names: Sequence[str], peek: Peek) -> Iterator[dict[str, str]]:
    """The files of each process of interest, cut down to what rules need."""
    for name in names:
        if not name.isdigit():
            continue
        folder = f'/proc/{name}'
        program = (peek(f'{folder}/comm') or '').strip()
        words = _words(peek, folder) if program.startswith(('python', 'pt_main', 'ray::')) or program in wanted.PROGRAMS else ''
        if program not in wanted.PROGRAMS and not any(word in words for word in wanted.ENGINE_WORDS):
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
