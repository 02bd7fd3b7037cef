"""Ollama: `ollama serve`, or its image's own entry point; everything is set by variables."""

from os.path import basename
from typing import Any

from configaudit.context import Context
from configaudit.extract.arguments import Arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings
from configaudit.extract.engines.launch import Launch, anchor, image_of, launch_of, program_words
from configaudit.extract.engines.options import unseen_setting, word_setting
from configaudit.extract.engines.servers import hidden_words, image_runs
from configaudit.extract.engines.version import Release, engine_release
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.knowledge import ollama as facts
from configaudit.knowledge.defaults import Default, certain, derived
from configaudit.knowledge.engine_kinds import OLLAMA
from configaudit.knowledge.versions import release
from configaudit.model import Component, Setting

_PORT = 11434
_SCHEMES = {'http': 80, 'https': 443}


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts Ollama, or None."""
    words = program_words(invocation, ('ollama',))
    if words:
        serves = len(words) > 1 and words[1].value in ('serve', 'start')
        return launch_of(words[0].place, (), 'serve') if serves else None
    arguments = invocation.arguments
    if image_runs(invocation, 'ollama') and (not arguments or arguments[0].value in ('serve', 'start')):
        return launch_of(anchor(invocation), (), 'entrypoint')
    process = invocation.process
    if process.partial and process.entrypoint is None and process.image is None and process.component.name == 'ollama.service' and process.environment:
        return launch_of(process.environment[0].place, (), 'serve')
    return None


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The Ollama server that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    found = engine_release(invocation, 'ollama', context)
    settings = engine_settings(invocation, launch, Arguments((), (), ''), context)
    unseen = hidden_words(invocation, launch, Arguments((), (), ''), variables=True)
    for name, spec in OLLAMA.settings.items():
        word = invocation.environment.get(spec.path[0]) if spec.path else None
        if word is not None and (setting := _given(name, word)) is not None:
            settings[name] = setting
    for name, default in _defaults(found, settings['gpu'].known_value, invocation).items():
        if name not in settings:
            settings[name] = unseen_setting(name, unseen, launch) if unseen else _default(name, default, launch)
    _listen(invocation, launch, settings, unseen)
    settings['alone'] = Setting('alone', _is_alone(invocation.process), launch.program)
    settings['world_size'] = Setting('world_size', None, launch.program, 'default', 'it takes the GPUs that a model needs')
    return engine_component(OLLAMA, invocation, launch, settings, unseen, found)


def _is_alone(process: Process) -> bool:
    """Whether nothing but Ollama reads the variables: it is what the process starts, not a line of a script."""
    words = (*(process.entrypoint or ()), *(process.arguments or ()))
    scripted = process.shell or process.component.kind.name == 'command'
    return not scripted and (not words or basename(words[0].value) in ('ollama', 'serve', 'start'))


def _given(name: str, word: Word) -> Setting | None:
    """A variable as Ollama reads it; None for an empty one and one that its parser ignores."""
    text = facts.stripped(word.value)
    unit = OLLAMA.settings[name].unit
    if word.known and not text:
        return None
    setting = word_setting(name, 'text', word)._replace(unit=unit)
    if not word.known or unit == 'text':
        return setting._replace(known_value=text if word.known else None)
    value: Any = facts.count(text) if unit == 'count' else facts.duration(text) if unit == 's' else facts.switch(text) is not False
    return None if value is None else setting._replace(known_value=value)


def _default(name: str, found: Default, launch: Launch) -> Setting:
    reason = '' if found.known else found.condition
    return Setting(name, found.value, launch.program, 'default', reason, found.candidates, None, OLLAMA.settings[name].unit, found.source)


def _defaults(found: Release, gpu: Any, invocation: Invocation) -> dict[str, Default]:
    version = found.version
    limit = invocation.process.component.settings.get('gpu_limit')
    one = gpu if limit is not None and limit.known_value == 1 else None
    automatic = derived('ollama llm/server.go', 'it depends on model and GPU')
    return {
        'num_parallel': facts.num_parallel(version),
        'context_length': facts.context_length(version, one),
        'max_queue': certain(512, facts.CONFIG),
        'keep_alive': certain(300.0, facts.CONFIG),
        'kv_cache_type': certain('f16', facts.CONFIG),
        'flash_attention': certain(False, facts.CONFIG) if version is not None and version < release('0.12.4') else automatic,
        'max_loaded_models': derived('ollama docs/faq', 'three for each GPU'),
    }


def _listen(invocation: Invocation, launch: Launch, settings: dict[str, Setting], unseen: str) -> None:
    """Address and port, from OLLAMA_HOST: 'host', 'host:port', ':port', or a URL, whose port is 80 or 443 by default."""
    word = invocation.environment.get('OLLAMA_HOST')
    if word is None or (word.known and not facts.stripped(word.value)):
        image = image_of(invocation)
        official = image is not None and image.engine == 'ollama'
        host = '0.0.0.0' if official else '127.0.0.1'
        reason = unseen or ('' if official or image is None else 'the image may set OLLAMA_HOST')
        settings['host'] = Setting('host', host, launch.program, 'default', reason, source='ollama Dockerfile' if official else facts.CONFIG)
        settings['port'] = Setting('port', _PORT, launch.program, 'default', reason, source=facts.CONFIG)
        return
    settings['host'] = word_setting('host', 'text', word)
    settings['port'] = word_setting('port', 'text', word)._replace(unit='count', slot=None)
    if word.known:
        host, port = address(facts.stripped(word.value))
        settings['host'] = settings['host']._replace(known_value=host)
        settings['port'] = settings['port']._replace(known_value=port)


def address(text: str) -> tuple[str, int]:
    """Host and port of OLLAMA_HOST, as `envconfig.Host` splits it; '' listens everywhere."""
    scheme, found, rest = text.partition('://')
    default = _SCHEMES.get(scheme, _PORT) if found else _PORT
    named = (rest if found else text).partition('/')[0]
    host, colon, port = named.rpartition(':')
    if not colon or (':' in host and not host.startswith('[')) or named.endswith(']'):
        return named.strip('[]') or '127.0.0.1', default
    number = int(port) if port.isdigit() and int(port) < 65536 else default
    return host.strip('[]'), number
