"""vLLM: `vllm serve`, the API server module, the image's own entry point."""

import os.path
from collections.abc import Mapping

from configaudit.context import Context
from configaudit.extract.arguments import Arguments, Option, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.config_file import config_options
from configaudit.extract.engines.launch import Launch, anchor, image_of, python_module
from configaudit.extract.engines.options import default_setting, read_options, shapes, unseen_setting, word_setting
from configaudit.extract.engines.version import engine_gpu, engine_version
from configaudit.extract.environment import Stores
from configaudit.extract.words import Word
from configaudit.knowledge import vllm as facts
from configaudit.knowledge.engine_kinds import VLLM
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.versions import Version
from configaudit.model import Component, Setting
from configaudit.units import HOLE

MARKERS = ('vllm',)
_MODULES = ('vllm.entrypoints.openai.api_server', 'vllm.entrypoints.api_server', 'vllm.entrypoints.openai.rpc', 'vllm.scripts', 'vllm.entrypoints.cli')


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts vLLM, or None."""
    argv = invocation.argv
    if not argv:
        image = image_of(invocation)
        if image is None or image.engine != 'vllm' or not _serves(image.repository):
            return None
        return Launch(anchor(invocation), invocation.arguments, 'entrypoint')
    program = os.path.basename(argv[0].value)
    if program == 'vllm' and len(argv) > 1 and argv[1].value == 'serve':
        return Launch(argv[0].place, argv[2:], 'serve')
    module = python_module(argv, 'vllm.')
    if module is None or not module[0].startswith(_MODULES):
        return None
    serve = len(argv) > module[1] and argv[module[1]].value == 'serve'
    start = module[1] + 1 if serve else module[1]
    return Launch(argv[0].place, argv[start:], 'serve' if serve else 'api_server')


def _serves(repository: str) -> bool:
    """Whether an image's own entry point is the OpenAI server."""
    return 'vllm-openai' in repository or 'vllm-cpu' in repository or 'rhaiis' in repository or repository.endswith('/vllm-serve')


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The vLLM engine that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    version, version_from, note = engine_version(invocation, 'vllm', context)
    flags = catalogue('vllm')
    arguments = parse_arguments(launch.arguments, shapes(flags, version))
    config = arguments.last('--config')
    if config is not None and config.value is not None:
        extra, unseen = config_options(invocation, stores, config.value, shapes(flags, version))
        given = {option.name for option in arguments.options}
        arguments = arguments._replace(
            options=(*(option for option in extra if option.name not in given), *arguments.options),
            unknown_tail=arguments.unknown_tail or unseen,
        )
    settings: dict[str, Setting] = {}
    read_options(VLLM, arguments, launch, settings, {})
    _settle(invocation, launch, arguments, settings, version, context)
    container = invocation.process.component
    component = Component(
        VLLM, container.name, f'{container.identity}/vllm', launch.program, settings,
        partial=invocation.unseen or arguments.unknown_tail, version=version, version_from=version_from, scope=container.scope,
    )  # fmt: skip
    component.note = note
    component.annotations = container.annotations
    link_to_carrier(component, invocation)
    return component


def link_to_carrier(engine: Component, invocation: Invocation) -> None:
    """An engine and the component that runs it know each other, and the pod and workload around."""
    from configaudit.model import Peers

    carrier = invocation.process.component
    engine.peer_map['carrier'] = Peers.of([carrier], True)
    for kind in ('pod', 'workload'):
        if kind in carrier.peer_map:
            engine.peer_map[kind] = carrier.peer_map[kind]
            for owner in carrier.peer_map[kind]:
                owner.peer_map['engine'] = Peers.of([*owner.peers('engine'), engine], True)
    engine.peer_map[carrier.kind.name] = engine.peer_map['carrier']
    carrier.peer_map['engine'] = Peers.of([*carrier.peers('engine'), engine], True)


def _settle(
    invocation: Invocation, launch: Launch, arguments: Arguments, settings: dict[str, Setting], version: Version | None, context: Context
) -> None:
    """What was not given: the engine's defaults at that version and GPU, or unknown where arguments are unseen."""
    place = launch.program
    environment = invocation.environment
    settings['options'] = Setting('options', arguments.options, place)
    settings['arguments'] = Setting('arguments', arguments, place)
    settings['environment'] = Setting('environment', dict(environment), place)
    settings['command'] = Setting('command', launch.command, place)
    if invocation.process.image is not None:
        settings['image'] = Setting('image', invocation.process.image.value, invocation.process.image.place)
    gpu = engine_gpu(invocation, context)
    settings['gpu'] = Setting('gpu', gpu, place, reason='' if gpu else 'the files do not show which GPU it runs on')
    _model(launch, arguments, settings)
    unseen = invocation.unseen or arguments.unknown_tail
    serving = _serving(settings, environment, invocation)
    defaults = {
        'max_num_seqs': facts.max_num_seqs(version, gpu, serving),
        'max_num_batched_tokens': facts.max_num_batched_tokens(version, gpu, serving),
        'gpu_memory_utilization': facts.gpu_memory_utilization(version),
        'kv_cache_dtype': facts.kv_cache_dtype(version),
        'tensor_parallel_size': facts.tensor_parallel_size(version),
        'pipeline_parallel_size': facts.pipeline_parallel_size(version),
        'data_parallel_size': facts.data_parallel_size(version),
        'max_model_len': facts.max_model_len(version),
        'swap_space': facts.swap_space(version),
        'enable_chunked_prefill': facts.enable_chunked_prefill(version),
        'enable_prefix_caching': facts.enable_prefix_caching(version),
    }
    for name, found in defaults.items():
        if name in settings:
            continue
        if unseen:
            settings[name] = unseen_setting(name, unseen, launch)
        else:
            settings[name] = default_setting(name, found, invocation, launch, VLLM.settings[name].path[0], VLLM.settings[name].unit)
    settings['generation'] = _generation(settings, version, environment, launch)
    settings['world_size'] = _world_size(settings, launch)
    if 'port' not in settings:
        port = arguments.last('--port')
        if port is not None and port.value is not None:
            settings['port'] = word_setting('port', 'count', port.value)
        else:
            settings['port'] = Setting('port', 8000, place, 'default', unseen, source='vLLM server arguments')


def _model(launch: Launch, arguments: Arguments, settings: dict[str, Setting]) -> None:
    option = arguments.last('--model')
    words = [word for word in arguments.positional if word.value.strip(HOLE + ' ') or launch.command == 'serve']
    word: Word | None = option.value if option is not None else words[0] if words and launch.command != 'api_server' else None
    if word is not None:
        settings['model'] = word_setting('model', 'text', word)
    else:
        settings['model'] = Setting('model', None, launch.program, 'default')


def _serving(settings: Mapping[str, Setting], environment: Mapping[str, Word], invocation: Invocation) -> facts.Serving:
    def value(name: str, otherwise: int) -> int:
        setting = settings.get(name)
        return int(setting.known_value) if setting and setting.is_known and setting.known_value else otherwise  # type: ignore[call-overload]

    use_v1 = environment.get('VLLM_USE_V1')
    backend = settings.get('distributed_executor_backend')
    image = invocation.process.image
    return facts.SERVER._replace(
        v0_forced=use_v1 is not None and use_v1.value == '0',
        use_v1=use_v1 is not None and use_v1.value == '1',
        pipeline_parallel=value('pipeline_parallel_size', 1),
        tensor_parallel=value('tensor_parallel_size', 1),
        ray_executor=backend is not None and backend.known_value == 'ray',
        cpu=image is not None and 'vllm-cpu' in image.value,
        max_model_len=value('max_model_len', 0) or None,
    )


def _generation(settings: Mapping[str, Setting], version: Version | None, environment: Mapping[str, Word], launch: Launch) -> Setting:
    known = {name: setting.known_value for name, setting in settings.items() if setting.is_known}
    use_v1 = environment.get('VLLM_USE_V1')
    known['VLLM_USE_V1'] = use_v1.value if use_v1 is not None and use_v1.known else ''
    gpu = settings['gpu'].known_value
    found = facts.engine_generation(version, known, gpu)  # type: ignore[arg-type]
    reason = '' if found.known else found.condition
    return Setting('generation', found.value, launch.program, 'default', reason, found.candidates, source=found.source)


def _world_size(settings: Mapping[str, Setting], launch: Launch) -> Setting:
    """GPUs that one replica of the engine needs: tensor parallel x pipeline parallel."""
    parts = [settings['tensor_parallel_size'], settings['pipeline_parallel_size']]
    given = next((part for part in parts if part.is_set), parts[0])
    reason = next((part.reason for part in parts if not part.is_known), '')
    size = 1
    for part in parts:
        size *= int(part.known_value or 1) if part.is_known else 1  # type: ignore[call-overload]
    return given._replace(name='world_size', known_value=size, reason=reason, slot=None, candidates=())


def switches(arguments: Arguments) -> dict[str, Option]:
    """Every option given, by canonical name; the last one counts."""
    return {option.name: option for option in arguments.options}
