"""TorchServe: `torchserve --start`, or its image's own entry point."""

from configaudit.context import Context
from configaudit.extract.arguments import Shape, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings
from configaudit.extract.engines.launch import Launch, anchor, launch_of, program_words
from configaudit.extract.engines.options import read_options
from configaudit.extract.engines.servers import hidden_words, image_runs
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.knowledge.engine_kinds import TORCHSERVE
from configaudit.model import Component, Setting

_SWITCHES = ('--start', '--foreground', '--disable-token-auth', '--enable-model-api', '--no-config-snapshots', '--ncs')


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts TorchServe, or None."""
    words = program_words(invocation, ('torchserve',))
    if words:
        stops = any(word.value in ('--stop', '--version', '-v', '--help', '-h') for word in words)
        return None if stops else launch_of(words[0].place, words[1:], 'torchserve')
    arguments = invocation.arguments
    if image_runs(invocation, 'torchserve') and (not arguments or arguments[0].value == 'serve'):
        return launch_of(anchor(invocation), arguments[1:], 'entrypoint')
    return None


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The TorchServe that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    arguments = parse_arguments(launch.arguments, lambda option: Shape(option, 'none' if option in _SWITCHES else 'many'))
    settings = engine_settings(invocation, launch, arguments, context)
    read_options(TORCHSERVE, arguments, launch, settings, {})
    settings['world_size'] = Setting('world_size', None, launch.program, 'default', 'workers are spread over all GPUs')
    settings['port'] = Setting('port', None, launch.program, 'inherited', 'its configuration file says which port')
    unseen = hidden_words(invocation, launch, arguments)
    return engine_component(TORCHSERVE, invocation, launch, settings, unseen, engine_release(invocation, 'torchserve', context))
