"""Text Generation Inference: the launcher, or its image's own entry point; every flag may be a variable instead."""

from configaudit.context import Context
from configaudit.extract.arguments import Arguments, Shape, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings
from configaudit.extract.engines.launch import Launch, anchor, image_of, joined_reason, launch_of, program_words
from configaudit.extract.engines.options import read_options, unseen_setting, word_setting
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.knowledge.engine_kinds import TGI, TGI_SOURCE
from configaudit.model import Component, Setting

_SWITCHES = ('--trust-remote-code', '--json-output', '--disable-custom-kernels', '--enable-cuda-graphs', '--env')


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts TGI, or None."""
    words = program_words(invocation, ('text-generation-launcher',))
    if words:
        return launch_of(words[0].place, words[1:], 'launcher')
    if invocation.argv:
        return None
    image = image_of(invocation)
    first = invocation.arguments[0].value if invocation.arguments else '-'
    if image is None or image.engine != 'tgi' or not first.startswith('-'):
        return None
    return launch_of(anchor(invocation), invocation.arguments, 'entrypoint')


def _shape(option: str) -> Shape | None:
    return Shape(option, 'optional' if option in _SWITCHES else 'one')


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The TGI server that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    arguments = parse_arguments(launch.arguments, _shape)
    unseen = invocation.unseen or invocation.unseen_variables or arguments.unknown_tail or joined_reason(launch.arguments)
    settings = engine_settings(invocation, launch, arguments, context)
    _from_environment(invocation, settings)
    read_options(TGI, arguments, launch, settings, {'--model-id': 'model'})
    if 'model' not in settings:
        settings['model'] = unseen_setting('model', unseen, launch) if unseen else Setting('model', None, launch.program, 'default')
    if 'num_shard' in settings:
        settings['world_size'] = settings['num_shard']._replace(name='world_size')
    elif unseen:
        settings['world_size'] = unseen_setting('world_size', unseen, launch)
    else:
        settings['world_size'] = _shards(invocation, arguments, launch)
    port = arguments.last('--port') or arguments.last('-p')
    word = port.value if port is not None else invocation.environment.get('PORT')
    if word is not None:
        settings['port'] = word_setting('port', 'count', word)
    else:
        port_default = 80 if launch.command == 'entrypoint' else 3000
        settings['port'] = Setting('port', port_default, launch.program, 'default', unseen, source=TGI_SOURCE)
    return engine_component(TGI, invocation, launch, settings, unseen, engine_release(invocation, 'tgi', context, stores))


def _shards(invocation: Invocation, arguments: Arguments, launch: Launch) -> Setting:
    """Shards that nobody counts: one where sharding is switched off, else one on every GPU that the container is given."""
    option = arguments.last('--sharded')
    word = option.value if option is not None else invocation.environment.get('SHARDED')
    if word is not None and word.value == 'false':
        return Setting('world_size', 1, launch.program, 'default', source=TGI_SOURCE)
    chosen = any(name in invocation.environment for name in ('CUDA_VISIBLE_DEVICES', 'NVIDIA_VISIBLE_DEVICES'))
    carrier = invocation.process.component.settings
    limit, resource = carrier.get('gpu_limit'), carrier.get('gpu_resource')
    if chosen or limit is None or not limit.is_known or resource is None or resource.known_value not in ('nvidia.com/gpu', 'amd.com/gpu'):
        return Setting('world_size', None, launch.program, 'default', 'all visible GPUs are used', source=TGI_SOURCE)
    return Setting('world_size', limit.known_value, launch.program, 'default', source=TGI_SOURCE)


def _from_environment(invocation: Invocation, settings: dict[str, Setting]) -> None:
    """Settings given as variables: MAX_TOTAL_TOKENS for --max-total-tokens, MODEL_ID for --model-id."""
    for name, spec in TGI.settings.items():
        word = invocation.environment.get(name.upper()) if spec.path else None
        if word is not None:
            settings[name] = word_setting(name, spec.unit, word)
    model = invocation.environment.get('MODEL_ID')
    if model is not None:
        settings['model'] = word_setting('model', 'text', model)
