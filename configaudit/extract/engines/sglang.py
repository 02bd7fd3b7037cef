"""SGLang: the launch_server module, `sglang serve`."""

from configaudit.context import Context
from configaudit.extract.arguments import Arguments, Style, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings, product_of
from configaudit.extract.engines.config_file import Reader, with_config_file
from configaudit.extract.engines.dynamo import NO_PORT, without_own, worker
from configaudit.extract.engines.launch import Launch, joined_reason, launch_of, program_words, python_module
from configaudit.extract.engines.model_files import model_config
from configaudit.extract.engines.options import default_setting, read_options, shapes, unseen_setting, word_setting
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.knowledge import sglang as facts
from configaudit.knowledge.engine_kinds import SGLANG
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.versions import Version
from configaudit.model import Component, Setting


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts SGLang, or None."""
    words = program_words(invocation, ('sglang',))
    if len(words) > 1 and words[1].value == 'serve':
        return launch_of(words[0].place, words[2:], 'serve')
    argv = invocation.argv
    if argv and argv[0].value == 'sglang.Engine':
        return launch_of(argv[0].place, argv[1:], 'library')
    module = python_module(argv, 'sglang.')
    if module is None or not module[0].startswith('sglang.launch_server'):
        return worker(invocation, 'sglang')
    return launch_of(argv[0].place, argv[module[1] :], 'launch_server')


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The SGLang engine that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    release = engine_release(invocation, 'sglang', context, stores)
    arguments = _arguments(invocation, launch, stores, release.version)
    unseen = invocation.unseen or arguments.unknown_tail
    settings = engine_settings(invocation, launch, arguments, context)
    read_options(SGLANG, arguments, launch, settings, {})
    model = arguments.last('--model-path')
    word = model.value if model is not None else next(iter(arguments.positional), None) if launch.command == 'serve' else None
    settings['model'] = word_setting('model', 'text', word) if word is not None else Setting('model', None, launch.program, 'default')
    settings['model_config'] = model_config(settings['model'], invocation, stores)
    _settle(invocation, launch, settings, release.version, unseen)
    port = arguments.last('--port')
    if port is not None and port.value is not None:
        settings['port'] = word_setting('port', 'count', port.value)
    else:
        reason = NO_PORT if launch.command == 'dynamo' else unseen
        settings['port'] = Setting('port', facts.port(release.version).value, launch.program, 'default', reason, source=facts.ARGS)
    return engine_component(SGLANG, invocation, launch, settings, unseen, release)


def _arguments(invocation: Invocation, launch: Launch, stores: Stores, version: Version | None) -> Arguments:
    shape_of = shapes(catalogue('sglang'), version)
    style = Style(folded=False, keyed=False)
    arguments = parse_arguments(launch.arguments, shape_of, style)
    if launch.command == 'dynamo':
        arguments = without_own(arguments, catalogue('sglang'))
    arguments = with_config_file(arguments, invocation, stores, Reader(shape_of, style, 'value', False))
    return arguments._replace(unknown_tail=arguments.unknown_tail or joined_reason(launch.arguments))


def _settle(
    invocation: Invocation, launch: Launch, settings: dict[str, Setting], version: Version | None, unseen: str
) -> None:
    gpu = settings['gpu'].known_value
    ranks = settings.get('tp_size')
    tensor_parallel = 1 if ranks is None and not unseen else int(str(ranks.known_value)) if ranks is not None and ranks.is_known else None
    defaults = {
        'mem_fraction_static': facts.mem_fraction_static(version, gpu, tensor_parallel=tensor_parallel),  # type: ignore[arg-type]
        'max_running_requests': facts.max_running_requests(version),
        'kv_cache_dtype': facts.kv_cache_dtype(version),
        'context_length': facts.context_length(version),
        'chunked_prefill_size': facts.chunked_prefill_size(version, gpu),  # type: ignore[arg-type]
        'enable_metrics': facts.enable_metrics(version),
        'host': facts.host(version),
        'tp_size': facts.tp_size(version),
        'pp_size': facts.tp_size(version),
        'dp_size': facts.tp_size(version),
    }
    for name, found in defaults.items():
        if name in settings:
            continue
        if unseen:
            settings[name] = unseen_setting(name, unseen, launch)
        else:
            spec = SGLANG.settings[name]
            settings[name] = default_setting(name, found, invocation, launch, spec.path[0], spec.unit)
    settings['world_size'] = product_of(settings, ('tp_size', 'pp_size'))
    if 'nnodes' in settings:
        settings['nodes'] = settings['nnodes']._replace(name='nodes')
