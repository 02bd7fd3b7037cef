"""Shell scripts: the servers that their commands start, directly or in containers, and what they set on the host."""

from collections.abc import Iterator
from typing import NamedTuple

from configaudit import units
from configaudit.extract.carriers.docker_run import read_run, run_words
from configaudit.extract.commands import peel, word_at
from configaudit.extract.process import Process, Reading, Variable, nothing
from configaudit.extract.services.host_commands import read_script
from configaudit.extract.services.pip_bounds import read_script as lost_bounds
from configaudit.extract.words import Word
from configaudit.knowledge.carrier_kinds import COMMAND, starts_engine
from configaudit.model import Component, Peers, Setting
from configaudit.parse.shell import Command, commands
from configaudit.patterns import regex
from configaudit.places import Document, Place

_MARKERS = regex(
    r'vllm|sglang|text-(?:generation|embeddings)-|tritonserver|trtllm|llama-server|torchserve|tensorflow_model_server'
    r'|lmdeploy|ollama|\b(?:docker|podman|nerdctl)\b'
)
_ENDS = frozenset(('kill', 'pkill', 'killall', 'wait', 'fg'))
_CONTAINER_ENDS = frozenset(('stop', 'rm', 'kill', 'wait', 'down'))


class Seen(NamedTuple):
    """What the script did before a command."""

    exported: set[str]
    nofile: list[Setting]
    running: list[Component]
    """Servers started in the background and not stopped since."""


def read(document: Document) -> Reading:
    """The commands of a script that start an inference server or a container."""
    reading = nothing()
    body = document.text
    reading.add(read_script(document))
    if 'pip' in body:
        reading.components.extend(lost_bounds(Word(body, Place(document, 0, len(body))), f'script/{document.path.rpartition("/")[2]}'))
    if not _MARKERS.search(body):
        return reading
    script = Word(body, Place(document, 0, len(body)))
    seen = Seen(set(), [], [])
    for command in commands(body):
        words = peel(tuple(word_at(token, script, {}) for token in command.argv))
        if not words:
            continue
        _remember(seen, command, words, script)
        made = _server(document, script, command, words, seen, len(reading.components))
        if made is not None:
            reading.components.append(made[0])
            reading.processes.append(made[1])
            _run(seen, made[0], command)
    return reading


def _remember(seen: Seen, command: Command, words: tuple[Word, ...], script: Word) -> None:
    """Exports, limits, and what ends the servers that run."""
    program, rest = words[0].value, words[1:]
    if program == 'export' or (
        program in ('declare', 'typeset') and any('x' in word.value for word in rest if word.value.startswith('-'))
    ):
        seen.exported.update(word.value.partition('=')[0] for word in rest)
    elif program == 'ulimit' and len(rest) > 1 and 'n' in rest[0].value:
        seen.nofile.append(Setting('nofile', units.integer(rest[1].value), rest[1].place))
    elif program in _ENDS or (
        run_words(words) is None
        and len(rest)
        and program in ('docker', 'podman', 'nerdctl')
        and any(word.value in _CONTAINER_ENDS for word in rest[:2])
    ):
        seen.running.clear()


def _server(
    document: Document, script: Word, command: Command, words: tuple[Word, ...], seen: Seen, number: int
) -> tuple[Component, Process] | None:
    name = document.path.rpartition('/')[2]
    identity = f'script/{name}/{number}'
    following = run_words(words)
    if following is not None:
        return read_run(following, words[0].place, identity, document.path, 'shell_word')
    if not starts_engine([word.value for word in words]):
        return None
    settings = {
        'background': Setting('background', command.background, words[0].place),
        'conditional': Setting('conditional', command.conditional, words[0].place),
    }
    if seen.nofile:
        settings['nofile'] = seen.nofile[-1]
    component = Component(
        COMMAND, f'{name} command {number + 1}', identity, words[0].place, settings, scope=document.path
    )
    environment = tuple(_environment(command, script, seen))
    return component, Process(component, None, words, None, environment, form='shell_word', syntax='none')


def _environment(command: Command, script: Word, seen: Seen) -> Iterator[Variable]:
    given = {name for name, _ in command.assignments}
    for name in sorted(seen.exported | given):
        token = command.environment.get(name)
        if token is not None:
            word = word_at(token, script, {})
            yield Variable(name, word, word.place)


def _run(seen: Seen, component: Component, command: Command) -> None:
    """Note which servers run beside this one: those in the background before it, in no branch."""
    detached = component.kind.name == 'docker-run' and component['detached'].known_value
    if command.conditional:
        component.peer_map['beside'] = Peers.of([component], True)
        return
    component.peer_map['beside'] = Peers.of([*seen.running, component], True)
    if command.background or detached:
        seen.running.append(component)
