"""The command lines of a container whose image is built from the run: those of its Dockerfile, and of the start scripts that lie beside it."""

from collections.abc import Iterator, Sequence
from posixpath import basename, join, normpath

from configaudit.extract.commands import Invocation, invocations, peel
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.services.built_images import built_process, dockerfile_of, folder_of
from configaudit.extract.words import Word
from configaudit.model import Component
from configaudit.patterns import regex

_COPY = regex(r'(?m)^[ \t]*(?:COPY|ADD)[ \t]+((?:--\S+[ \t]+)*)([^\s"\[]\S*)[ \t]+(\S+)[ \t]*\r?$')
_SHELLS = frozenset(('sh', 'bash', 'ash', 'dash', 'zsh', 'ksh'))


def own_invocations(process: Process, found: Sequence[Invocation], stores: Stores) -> list[Invocation]:
    """What a process runs in the end: the command of an image that compose builds, a script of the repository opened."""
    built = built_process(process, stores)
    folder = folder_of(process.component)
    lines = list(found) if built is None else invocations(built, stores)
    return lines if folder is None else [line for one in lines for line in _opened(one, folder, stores)]


def _opened(line: Invocation, folder: str, stores: Stores) -> Iterator[Invocation]:
    """The commands of a line's script, and what is handed to the script to be started at its end (`exec "$@"`)."""
    words = line.argv or line.arguments
    at = _script_at(words)
    script = _file(words[at].value, folder, line.process.component, stores) if at >= 0 else None
    if script is None:
        yield line
    else:
        yield from _commands(line, words[at], script, stores)
    rest = _handed_on(words[at + 1 :], script is not None) if at >= 0 else ()
    if rest:
        yield line._replace(argv=rest, arguments=rest[1:])


def _commands(line: Invocation, start: Word, script: Word, stores: Stores) -> Iterator[Invocation]:
    shell = start._replace(value='sh', pure=False)
    for one in invocations(line.process._replace(entrypoint=(shell, shell._replace(value='-c'), script), arguments=None, shell=False), stores):
        yield one._replace(unseen='', conditional=line.conditional or one.conditional)


def _handed_on(words: tuple[Word, ...], known: bool) -> tuple[Word, ...]:
    """The command that a script starts at its end: what stands after `--` (`wait-for-it.sh db:5432 -- gunicorn ...`), or all that follows a script that is read."""
    split = next((at for at, word in enumerate(words) if word.value == '--'), -1)
    return peel(words[split + 1 :]) if split >= 0 or known else ()


def _script_at(argv: Sequence[Word]) -> int:
    """Where the path of a script stands: the program itself, or the first operand of a shell; -1 where neither is one."""
    if not argv:
        return -1
    if basename(argv[0].value) not in _SHELLS:
        return 0 if '/' in argv[0].value or argv[0].value.endswith('.sh') else -1
    at = next((at for at, word in enumerate(argv[1:], 1) if not word.value.startswith('-')), -1)
    return -1 if any('c' in word.value for word in argv[1:at] if not word.value.startswith('--')) else at


def _file(path: str, folder: str, carrier: Component, stores: Stores) -> Word | None:
    """The script at a path of the image: what its Dockerfile copies there, one below the folder that is built, or the only one of its name."""
    parts = [part for part in path.split('/') if part not in ('', '.')]
    if not parts or '..' in parts:
        return None
    tails = (join(folder, *parts[at:]) for at in range(len(parts)))
    found = _copied(path, folder, carrier, stores) or next((word for tail in tails if (word := stores.files.at(tail)) is not None), None) or stores.files.ending_with(parts[-1])
    return found if found is not None and _is_shell(parts[-1], found.value) else None


def _copied(path: str, folder: str, carrier: Component, stores: Stores) -> Word | None:
    """What a line such as `COPY ./deploy/start /start` puts at a path."""
    dockerfile = dockerfile_of(carrier, stores)
    copies = _COPY.findall(dockerfile.value) if dockerfile is not None else ()
    kept = (source for flags, source, target in copies if '--from' not in flags and path in (target, f'{target}{basename(source)}'))
    return next((word for source in kept if (word := stores.files.at(normpath(join(folder, source)))) is not None), None)


def _is_shell(name: str, text: str) -> bool:
    first = text.partition('\n')[0].rstrip()
    return first.endswith('sh') if first.startswith('#!') else name.endswith('.sh')
