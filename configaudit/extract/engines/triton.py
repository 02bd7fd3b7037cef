"""Triton Inference Server: tritonserver and its flags."""

from configaudit.context import Context
from configaudit.extract.arguments import Shape, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings
from configaudit.extract.engines.launch import Launch, joined_reason, launch_of, program_words
from configaudit.extract.engines.options import read_options, slot_for, unseen_setting, word_setting
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.extract.words import Word
from configaudit.knowledge.engine_kinds import TRITON, TRITON_SOURCE
from configaudit.model import Component, Setting

_PYTHON_SHM = 'python,shm-default-byte-size='


def _python_shm(word: Word) -> Setting:
    """Bytes of shared memory that each instance of a Python model takes at start."""
    length, value = len(_PYTHON_SHM), word.value
    place = word.place.part(length, len(value)) if word.pure else word.place
    return word_setting('python_shm_bytes', 'count', word._replace(value=value[length:], place=place))


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts Triton, or None. The image starts nothing by itself."""
    words = program_words(invocation, ('tritonserver',))
    return launch_of(words[0].place, words[1:], 'tritonserver') if words else None


def _shape(option: str) -> Shape | None:
    return Shape('--model-repository' if option == '--model-store' else option, 'optional')


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The Triton server that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    arguments = parse_arguments(launch.arguments, _shape)
    unseen = invocation.unseen or arguments.unknown_tail or joined_reason(launch.arguments)
    settings = engine_settings(invocation, launch, arguments, context)
    read_options(TRITON, arguments, launch, settings, {})
    for option in arguments.every('--backend-config'):
        if option.value is not None and option.value.value.startswith(_PYTHON_SHM):
            settings['python_shm_bytes'] = _python_shm(option.value)
    for name, spec in TRITON.settings.items():
        if name in settings or not spec.path or not spec.source:
            continue
        if unseen:
            settings[name] = unseen_setting(name, unseen, launch)
        else:
            slot = slot_for(invocation, launch, spec.path[0])
            settings[name] = Setting(name, spec.default, launch.program, 'default', '', (), slot, spec.unit, spec.source)
    port = arguments.last('--http-port')
    if port is not None and port.value is not None:
        settings['port'] = word_setting('port', 'count', port.value)
    else:
        settings['port'] = Setting('port', 8000, launch.program, 'default', unseen, source=TRITON_SOURCE)
    return engine_component(TRITON, invocation, launch, settings, unseen, engine_release(invocation, 'triton', context, stores))
