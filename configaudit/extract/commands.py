"""From a Process to the command lines it really runs: scripts opened, wrappers peeled, variables resolved."""

import os.path
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from configaudit.extract.environment import Stores, environment_of, expand, unseen_imports
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.places import Place

if TYPE_CHECKING:  # most runs meet no script
    from configaudit.parse.shell import Command
    from configaudit.parse.shell_token import Token

_SHELLS = frozenset(('sh', 'bash', 'ash', 'dash', 'zsh', 'ksh'))
_WRAPPERS: dict[str, tuple[str, ...]] = {
    'exec': ('-a',), 'nohup': (), 'sudo': ('-u', '-g'), 'env': ('-u', '-C', '-S'), 'time': (), 'command': (), 'nice': ('-n',),
    'stdbuf': ('-i', '-o', '-e'), 'tini': ('-p',), 'dumb-init': ('-r',), 'numactl': (), 'taskset': ('-c',), 'timeout': ('-k', '-s'),
    'chrt': (), 'setsid': (), 'ddtrace-run': (), 'opentelemetry-instrument': (), 'unbuffer': (), 'gosu': (), 'catchsegv': (), 'ionice': ('-c', '-n'),
}  # fmt: skip
"""Programs that run the rest of their command line, and their options that take a value."""
_WRAPPER_OPERANDS = {'timeout': 1, 'gosu': 1, 'taskset': 1, 'chrt': 1}
_RUNNERS = {('conda', 'run'), ('mamba', 'run'), ('micromamba', 'run'), ('uv', 'run'), ('poetry', 'run'), ('pixi', 'run'), ('pdm', 'run'), ('pipenv', 'run'), ('bundle', 'exec')}


class Invocation(NamedTuple):
    """One command line that a process runs."""

    process: Process
    argv: tuple[Word, ...]
    """The program first. Empty: the image's own entry point, `arguments` follow it."""
    arguments: tuple[Word, ...]
    environment: Mapping[str, Word]
    form: str
    """The writer that can add words to this command line."""
    unseen: str
    """Why more words may exist than are shown, or ''."""
    unseen_variables: str = ''
    """Why more variables may exist than are shown, or ''."""
    piped: bool = False
    conditional: bool = False


def invocations(process: Process, stores: Stores) -> list[Invocation]:
    """The command lines of a process, scripts opened."""
    environment = environment_of(process, stores)
    variables = process.partial or unseen_imports(process, stores)
    entry, arguments = process.entrypoint, process.arguments or ()
    if process.shell:
        return [
            found for word in (*(entry or ()), *arguments) for found in _script(process, word, environment, variables)
        ]
    given = tuple(expand(word, environment, process.syntax) for word in (*(entry or ()), *arguments))
    raw = (*(entry or ()), *arguments)
    argv = peel(given)
    if entry is None and not (argv and _is_program(argv[0].value)):
        return [Invocation(process, (), given, environment, process.form, process.partial, variables)]
    script = _script_word(argv)
    if script is not None:
        offset = next(at for at, word in enumerate(given) if word is script)
        return list(_script(process, raw[offset], environment, variables))
    return [Invocation(process, argv, argv[1:], environment, process.form, process.partial, variables)]


class Invocations(Sequence[Invocation]):
    """The command lines of a process, worked out when somebody first looks: most readers never open its scripts."""

    def __init__(self, process: Process, stores: Stores) -> None:
        self._process = process
        self._stores = stores
        self._found: list[Invocation] | None = None

    def _all(self) -> list[Invocation]:
        if self._found is None:
            self._found = invocations(self._process, self._stores)
        return self._found

    def __getitem__(self, at: Any) -> Any:
        return self._all()[at]

    def __len__(self) -> int:
        return len(self._all())


def environment_seen(process: Process, found: Sequence[Invocation], stores: Stores) -> Mapping[str, Word]:
    """The variables of a process; a script that exports some is opened for them."""
    words = (*(process.entrypoint or ()), *(process.arguments or ()))
    if any('export' in word.value for word in words) and found:
        return found[0].environment
    return environment_of(process, stores)


def _is_program(value: str) -> bool:
    """Whether the first argument replaces the program: `args` alone may still spell a whole command."""
    name = os.path.basename(value)
    return name in _SHELLS or name in ('python', 'python3', 'vllm') or (value.startswith('/') and not value.startswith('/m'))


def _script_word(argv: tuple[Word, ...]) -> Word | None:
    """The script of `sh -c script`, whatever letters go with the c."""
    if not argv or os.path.basename(argv[0].value) not in _SHELLS:
        return None
    for at, word in enumerate(argv[1:], 1):
        if word.value.startswith('-') and not word.value.startswith('--') and 'c' in word.value and at + 1 < len(argv):
            following = next((found for found in argv[at + 1 :] if not found.value.startswith('-')), None)
            return following
        if not word.value.startswith('-') and word.value != 'pipefail':
            return None
    return None


class _Variables(Mapping[str, Word]):
    """The variables that one command of a script sees, worked out when somebody asks: few commands are judged."""

    def __init__(self, environment: Mapping[str, Word], command: 'Command', at: Callable[['Token'], Word]) -> None:
        self._given = environment, command, at
        self._found: dict[str, Word] | None = None

    def _all(self) -> dict[str, Word]:
        if self._found is None:
            environment, command, at = self._given
            seen = {name: at(token) for name, token in command.environment.items() if token.start >= 0}
            self._found = {**environment, **seen, **{name: at(token) for name, token in command.assignments}}
        return self._found

    def __getitem__(self, name: str) -> Word:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def _script(process: Process, word: Word, environment: Mapping[str, Word], variables: str) -> Iterator[Invocation]:
    from configaudit.parse.shell import commands

    placed: dict[int, tuple[Token, Word]] = {}

    def at(token: 'Token') -> Word:
        if id(token) not in placed:
            placed[id(token)] = token, word_at(token, word, environment)
        return placed[id(token)][1]

    outside = {name: value.value for name, value in environment.items()}
    for command in commands(word.value, outside):
        argv = peel(tuple(at(token) for token in command.argv))
        if argv:
            every = _Variables(environment, command, at)
            yield Invocation(
                process, argv, argv[1:], every, 'shell_word', process.partial, variables, command.piped, command.conditional
            )


def word_at(token: 'Token', script: Word, environment: Mapping[str, Word]) -> Word:
    """A shell token as a word placed in the script's document."""
    place = Place(script.place.document, script.place.start + token.start, script.place.start + token.end)
    text = script.value[token.start : token.end].strip('"\'').removeprefix('${').removeprefix('$').rstrip('}')
    outer = environment.get(text.split(':')[0]) if '$' in script.value[token.start : token.end] else None
    if outer is not None and outer.value == token.value:
        return outer._replace(use=place)
    equals = token.value.find('=') + 1 if token.value.startswith('--') and not token.pure else 0
    tail = word_at(token.cut(equals), script, environment) if equals else None
    use = place if token.use == (token.start, token.end) else _span(script, token.use)
    return Word(token.value, place, token.pure, token.reason, script.locked, use if use != place else None, tail)


def _span(script: Word, span: tuple[int, int]) -> Place:
    return Place(script.place.document, script.place.start + span[0], script.place.start + span[1])


def peel(argv: tuple[Word, ...]) -> tuple[Word, ...]:
    """Without wrappers: nohup, env A=1, tini --, numactl ..., conda run ..."""
    for _ in range(8):
        if not argv:
            return argv
        name = os.path.basename(argv[0].value)
        if name in _WRAPPERS:
            argv = _skip_options(argv[1:], _WRAPPERS[name], _WRAPPER_OPERANDS.get(name, 0))
        elif len(argv) > 1 and (name, argv[1].value) in _RUNNERS:
            argv = _skip_options(argv[2:], ('-n', '--name', '-p', '--prefix', '--with', '--extra', '--python'), 0)
        else:
            return argv
    return argv


def _skip_options(argv: tuple[Word, ...], valued: tuple[str, ...], operands: int) -> tuple[Word, ...]:
    at = 0
    while at < len(argv):
        value = argv[at].value
        if value == '--':
            return argv[at + 1 :]
        if value.startswith('-'):
            at += 2 if value in valued else 1
        elif '=' in value and value.split('=')[0].replace('_', 'a').isalnum():
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return argv[at:]
