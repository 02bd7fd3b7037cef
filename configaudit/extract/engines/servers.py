"""What the readers of the smaller servers do alike: flags with short and old spellings, ports, defaults that are one in every release."""

import os.path
from collections.abc import Callable, Mapping

from configaudit.extract.arguments import Arguments, Shape
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.launch import Launch, image_of, joined_reason
from configaudit.extract.engines.options import slot_for, unseen_setting, word_setting
from configaudit.extract.words import Word
from configaudit.model import Kind, Setting

_LAUNCHERS = frozenset(('mpirun', 'mpiexec', 'srun', 'trtllm-llmapi-launch'))
"""Programs that start the engine on several ranks."""


def shaped(names: Mapping[str, str], switches: tuple[str, ...]) -> Callable[[str], Shape | None]:
    """How a parser reads an option: other spelling -> the one that the kind declares; `switches` take no value."""

    def shape_of(option: str) -> Shape | None:
        name = names.get(option, option)
        return Shape(name, 'none' if name in switches or name.startswith('--no-') else 'optional')

    return shape_of


def program_in(invocation: Invocation, names: tuple[str, ...]) -> tuple[Word, ...]:
    """The words from one of these programs on, behind a launcher of ranks too (`mpirun -n 8 trtllm-serve ...`)."""
    words = invocation.argv or invocation.arguments
    if not words:
        return ()
    at = 0
    if os.path.basename(words[0].value) in _LAUNCHERS:
        at = next((at for at, word in enumerate(words) if os.path.basename(word.value) in names), 0)
    return words[at:] if os.path.basename(words[at].value) in names else ()


def image_runs(invocation: Invocation, engine: str) -> bool:
    """Whether the image's own entry point runs, and the image is this engine's."""
    image = image_of(invocation)
    return not invocation.argv and image is not None and image.engine == engine


def hidden_words(invocation: Invocation, launch: Launch, arguments: Arguments, *, variables: bool = False) -> str:
    """Why arguments may exist that are not shown, and `variables` where these set the same, or ''."""
    process = invocation.process
    if process.form == 'dockerfile' and not process.shell:
        return 'more is given when the image is run'
    return invocation.unseen or (invocation.unseen_variables if variables else '') or arguments.unknown_tail or joined_reason(launch.arguments)


def port_setting(word: Word | None, default: int, launch: Launch, unseen: str, source: str) -> Setting:
    """The port that the server listens on."""
    if word is not None:
        return word_setting('port', 'count', word)
    return Setting('port', default, launch.program, 'default', unseen, source=source)


def model_first(words: tuple[Word, ...]) -> tuple[Word | None, tuple[Word, ...]]:
    """The model that stands before all options, and the rest: one word, even where a variable fills it."""
    if not words or words[0].value.startswith('-') or not words[0].value.strip():
        return None, words
    return words[0], words[1:]


def model_setting(word: Word | None, launch: Launch, unseen: str) -> Setting:
    """The model that is served."""
    if word is not None:
        return word_setting('model', 'text', word)
    return unseen_setting('model', unseen, launch) if unseen else Setting('model', None, launch.program, 'default')


def fill(kind: Kind, settings: dict[str, Setting], defaults: Mapping[str, object], invocation: Invocation, launch: Launch, unseen: str, source: str) -> None:
    """Settings that nobody gave: the server's default, or unknown where words are hidden."""
    for name, value in defaults.items():
        if name in settings:
            continue
        spec = kind.settings[name]
        if unseen:
            settings[name] = unseen_setting(name, unseen, launch)
        else:
            slot = slot_for(invocation, launch, spec.path[0]) if spec.path else None
            settings[name] = Setting(name, value, launch.program, 'default', '', (), slot, spec.unit, source)
