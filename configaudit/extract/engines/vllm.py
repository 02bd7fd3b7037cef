"""vLLM: `vllm serve`, the API server module, the image's own entry point."""

import os.path
from collections.abc import Mapping

from configaudit.context import Context
from configaudit.extract.arguments import Arguments, Style, canonical, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings, product_of
from configaudit.extract.engines.config_file import Reader, with_config_file
from configaudit.extract.engines.dynamo import NO_PORT, without_own, worker
from configaudit.extract.engines.launch import Launch, anchor, image_of, joined_reason, launch_of, python_module
from configaudit.extract.engines.model_files import model_config
from configaudit.extract.engines.options import default_setting, read_options, shapes, unseen_setting, word_setting
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.extract.words import Word
from configaudit.knowledge import vllm as facts
from configaudit.knowledge.defaults import Default, on_any
from configaudit.knowledge.engine_kinds import VLLM
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.gpus import OTHER_DEVICES, Gpu
from configaudit.knowledge.versions import Version, release
from configaudit.knowledge.vllm_generation import V0_GONE
from configaudit.model import Component, Setting
from configaudit.units import HOLE

_OWN_FLAGS = ('--gpu-memory-utilization', '--max-num-seqs', '--max-num-batched-tokens', '--max-model-len')
"""Flags of no other server: they tell vLLM where a template hides the image."""
_SERVER_FLAGS = (*_OWN_FLAGS, '--tensor-parallel-size', '--enforce-eager', '--swap-space', '--served-model-name', '--download-dir')
"""Flags that tell the server in an image of somebody's own with vLLM in its name."""
LEVELS = release('0.12.0')
"""The first release with --optimization-level, which -O stands for."""
MODEL_WORD = release('0.10.0')
"""From here on the server's module takes a model as a word of its own, which it does not read."""
NESTED = release('0.15.0')
"""From here on a mapping in a --config file becomes JSON; the source of 0.14.1 has it not, that of 0.16.0 has."""
NO_KEY = release('0.27.0')
"""From here on (0.26.0 has it not, 0.28.0 has) the server's module reads `key: false` as --no-key; `vllm serve` asks its outer parser."""
_MODULES = ('vllm.entrypoints.openai.api_server', 'vllm.entrypoints.api_server', 'vllm.entrypoints.openai.rpc', 'vllm.scripts', 'vllm.entrypoints.cli')


_CLASSES = {'vllm.LLM': 'library', 'vllm.EngineArgs': 'none', 'vllm.AsyncEngineArgs': 'none', 'vllm.LLMConfig': 'server'}
"""Classes by which a program makes an engine, and whose defaults it then has; Ray asks for those of the server
(ray/llm/_internal/serve/engines/vllm: usage_context=UsageContext.OPENAI_API_SERVER)."""


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts vLLM, or None."""
    argv = invocation.argv
    if not argv:
        return _own_entry_point(invocation)
    if os.path.basename(argv[0].value) == 'vllm':
        return _command(invocation, 1)
    if argv[0].value in _CLASSES:
        return launch_of(argv[0].place, argv[1:], 'library' if _CLASSES[argv[0].value] == 'server' or 'Async' in argv[0].value else 'offline')
    module = python_module(argv, 'vllm.')
    if module is None or not module[0].startswith(_MODULES):
        return worker(invocation, 'vllm')
    serve = len(argv) > module[1] and argv[module[1]].value == 'serve'
    if module[0].startswith(('vllm.scripts', 'vllm.entrypoints.cli')):
        return _command(invocation, module[1])
    start = module[1] + 1 if serve else module[1]
    return launch_of(argv[0].place, argv[start:], 'serve' if serve else 'api_server')


def _command(invocation: Invocation, at: int) -> Launch | None:
    """`vllm serve`, not the other things the program does."""
    argv = invocation.argv
    return launch_of(argv[0].place, argv[at + 1 :], 'serve') if len(argv) > at and argv[at].value == 'serve' else None


def _own_entry_point(invocation: Invocation) -> Launch | None:
    image, arguments = image_of(invocation), invocation.arguments
    unseen = HOLE in image.repository if image is not None else bool(invocation.process.partial)
    hidden = unseen and _has(arguments, _OWN_FLAGS)
    if not hidden and (image is None or image.engine != 'vllm'):
        return None
    if not arguments:
        return None  # an operator or a base supplies the command: the server would not start a model of anybody's choice
    first = arguments[0].value
    if os.path.basename(first) == 'vllm' and len(arguments) > 1 and arguments[1].value == 'serve':
        return launch_of(arguments[0].place, arguments[2:], 'serve')
    if image is not None and not hidden and not _serves(image.repository) and not _has(arguments, _SERVER_FLAGS):
        return None
    if first == 'serve':
        return launch_of(arguments[0].place, arguments[1:], 'serve')
    if not first.startswith('-') and '/' not in first and HOLE not in first:
        return None
    return launch_of(anchor(invocation), arguments, 'entrypoint')


def _has(arguments: tuple[Word, ...], flags: tuple[str, ...]) -> bool:
    return any(canonical(word.value).startswith(flags) for word in arguments)


def _serves(repository: str) -> bool:
    """Whether an image's own entry point is the OpenAI server."""
    return any(name in repository for name in ('vllm-openai', 'vllm-cpu', 'rhaiis')) or repository.endswith('/vllm-serve')


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The vLLM engine that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    release = engine_release(invocation, 'vllm', context, stores)
    arguments, model = _arguments(invocation, launch, stores, release.version)
    unseen = invocation.unseen or arguments.unknown_tail or _presets(invocation, arguments, model)
    settings = engine_settings(invocation, launch, arguments, context)
    settings['cpu'] = Setting('cpu', runs_on_cpu(invocation), launch.program)
    read_options(VLLM, arguments, launch, settings, {'--kv-cache-memory': 'kv_cache_memory_bytes'})
    settings['model'] = _model(launch, arguments, model)
    settings['model_config'] = model_config(settings['model'], invocation, stores)
    if 'nnodes' in settings:
        settings['nodes'] = settings['nnodes']._replace(name='nodes')
    _settle(invocation, launch, settings, release.version, unseen)
    port = arguments.last('--port')
    if port is not None and port.value is not None:
        settings['port'] = word_setting('port', 'count', port.value)
    else:
        reason = NO_PORT if launch.command == 'dynamo' else unseen
        settings['port'] = Setting('port', 8000, launch.program, 'default', reason, source='vLLM server arguments')
    return engine_component(VLLM, invocation, launch, settings, unseen, release)


def _presets(invocation: Invocation, arguments: Arguments, model: Word | None) -> str:
    """Why arguments come from elsewhere: a KServe LLMInferenceService without a command, an image's entry point without a model; or ''."""
    process = invocation.process
    if process.form == 'dockerfile' and not process.shell and model is None and arguments.last('--model') is None:
        return 'the model and its arguments are given when the image is run'
    kinds = [pod['object_kind'].known_value for pod in invocation.process.component.peers('pod')]
    return 'KServe merges its presets into it' if 'LLMInferenceService' in kinds and not invocation.argv else ''


def _arguments(
    invocation: Invocation, launch: Launch, stores: Stores, version: Version | None
) -> tuple[Arguments, Word | None]:
    """The options, those of a --config file among them, and the model given by position."""
    known = catalogue('vllm')
    words, model, shape_of, style = _levels(launch.arguments, version), None, shapes(known, version), Style(keyed=known.keyed(version))
    if words and launch.command not in ('api_server', 'dynamo') and not words[0].value.startswith('-'):
        model, words = words[0], words[1:]
    arguments = parse_arguments(words, shape_of, style)
    if model is None and launch.command == 'serve':
        model = next((word for word in arguments.positional if word.value.strip(HOLE + ' ')), None)
    if launch.command == 'dynamo':
        arguments = without_own(arguments, known)
    false = 'no' if launch.command == 'api_server' and (version is None or version >= NO_KEY) else 'passed over'
    reader = Reader(shape_of, style, false, version is None or version >= NESTED)
    arguments = with_config_file(arguments, invocation, stores, reader)
    takes_model = launch.command == 'serve' or version is None or version >= MODEL_WORD
    return arguments._replace(unknown_tail=arguments.unknown_tail or joined_reason(words), model_word=model if takes_model else None), model


def _levels(words: tuple[Word, ...], version: Version | None) -> tuple[Word, ...]:
    """The words with -O3, -O=3 and -O 3 as the parser rewrites them (FlexibleArgumentParser.parse_args, from 0.9.0)."""
    if version is None or not catalogue('vllm').keyed(version) or not any(word.value.startswith('-O') for word in words):
        return words
    name, found = '--optimization-level' if version >= LEVELS else '-O.level', list[Word]()
    for at, word in enumerate(words):
        text = word.value
        if text == '-O' and [after.value for after in words[at + 1 : at + 2] if after.value in ('0', '1', '2', '3')]:
            found.append(word._replace(value=name, pure=False))
        elif text.startswith('-O') and len(text) > 2 and (text[2] != '.' or version >= LEVELS):
            start = 3 if text[2] == '=' else 2
            place = word.place.part(start, len(text)) if word.pure else word.place
            found.extend((word._replace(value=name, pure=False), word._replace(value=text[start:], place=place)))
        else:
            found.append(word)
    return tuple(found)


def _model(launch: Launch, arguments: Arguments, positional: Word | None) -> Setting:
    option = arguments.last('--model') or arguments.last('--model-tag')
    word = positional if positional is not None else option.value if option is not None else None
    if word is None:
        return Setting('model', None, launch.program, 'default')
    return word_setting('model', 'text', word)


def _settle(
    invocation: Invocation, launch: Launch, settings: dict[str, Setting], version: Version | None, unseen: str
) -> None:
    """What was not given: the engine's defaults at that version and GPU, or unknown where arguments are unseen."""
    settings['generation'] = _generation(settings, version, invocation.environment, launch, unseen or invocation.unseen_variables)
    for name, found in _defaults(invocation, settings, version).items():
        if name in settings:
            continue
        spec = VLLM.settings[name]
        if unseen:
            settings[name] = unseen_setting(name, unseen, launch)
        else:
            settings[name] = default_setting(name, found, invocation, launch, spec.path[0], spec.unit)
    settings['world_size'] = product_of(settings, ('tensor_parallel_size', 'pipeline_parallel_size'))


def _defaults(
    invocation: Invocation, settings: Mapping[str, Setting], version: Version | None
) -> dict[str, Default]:
    serving = _serving(settings, invocation)
    gpus: tuple[Gpu | None, ...] = settings['gpu'].candidates or (settings['gpu'].known_value,)
    gpus = tuple(None if gpu is None or gpu.generation in OTHER_DEVICES else gpu for gpu in gpus)
    generation = settings['generation']
    engine = str(generation.known_value) if generation.is_known else None
    tokens = settings.get('max_num_batched_tokens')
    budget = tokens.known_value if tokens is not None and tokens.is_known else None
    return {
        'max_num_seqs': on_any([facts.max_num_seqs(version, gpu, serving, max_num_batched_tokens=budget) for gpu in gpus]),  # type: ignore[arg-type]
        'max_num_batched_tokens': on_any([facts.max_num_batched_tokens(version, gpu, serving) for gpu in gpus]),
        'gpu_memory_utilization': facts.gpu_memory_utilization(version),
        'kv_cache_dtype': facts.kv_cache_dtype(version),
        'tensor_parallel_size': facts.tensor_parallel_size(version),
        'pipeline_parallel_size': facts.pipeline_parallel_size(version),
        'data_parallel_size': facts.data_parallel_size(version),
        'max_model_len': facts.max_model_len(version),
        'swap_space': facts.swap_space(version),
        'enable_chunked_prefill': facts.enable_chunked_prefill(version, generation=engine, max_model_len=serving.max_model_len),
        'enable_prefix_caching': facts.enable_prefix_caching(version, generation=engine),
    }


def _serving(settings: Mapping[str, Setting], invocation: Invocation) -> facts.Serving:
    def known(name: str) -> object:
        setting = settings.get(name)
        return setting.known_value if setting is not None and setting.is_known else None

    use_v1 = invocation.environment.get('VLLM_USE_V1')
    chunked = known('enable_chunked_prefill')
    return facts.SERVER._replace(
        usage=_usage(invocation),
        v0_forced=use_v1 is not None and use_v1.value == '0',
        use_v1=use_v1 is not None and use_v1.value == '1',
        pipeline_parallel=int(str(known('pipeline_parallel_size') or 1)),
        tensor_parallel=int(str(known('tensor_parallel_size') or 1)),
        ray_executor=known('distributed_executor_backend') == 'ray',
        kv_cache_dtype=str(known('kv_cache_dtype') or 'auto'),
        cpu=runs_on_cpu(invocation),
        max_model_len=int(str(known('max_model_len') or 0)) or None,
        chunked_prefill=chunked if isinstance(chunked, bool) else None,
        throughput_mode=known('performance_mode') == 'throughput',
        max_num_seqs=int(str(known('max_num_seqs') or 0)) or None,
        given=_given(settings),
    )


def _given(settings: Mapping[str, Setting]) -> dict[str, str]:
    """Flag -> its value, '' for a switch, of the flags that are certainly given."""
    options = settings['options'].known_value if 'options' in settings and settings['options'].is_known else ()
    sure = (option for option in options if not (option.negated or option.conditional or option.key))  # type: ignore[attr-defined]
    return {option.name: option.value.value if option.value is not None else '' for option in sure}


def _usage(invocation: Invocation) -> str:
    """Whose defaults count: the server's, the LLM class's, or those of no usage context."""
    found = _CLASSES.get(invocation.argv[0].value if invocation.argv else '', 'server')
    return 'server' if found == 'none' and b'OPENAI_API_SERVER' in invocation.process.component.place.document.parsed else found


def runs_on_cpu(invocation: Invocation) -> bool:
    """Whether the image holds vLLM's CPU build."""
    image = image_of(invocation)
    return image is not None and ('-cpu' in image.repository or image.repository.endswith('/cpu') or 'cpu' in image.tag.split('-'))


def _generation(
    settings: Mapping[str, Setting], version: Version | None, environment: Mapping[str, Word], launch: Launch, unseen: str
) -> Setting:
    known = {name: setting.known_value for name, setting in settings.items() if setting.is_known}
    use_v1 = environment.get('VLLM_USE_V1')
    known['VLLM_USE_V1'] = use_v1.value if use_v1 is not None and use_v1.known else ''
    found = facts.engine_generation(version, known, settings['gpu'].known_value, given=_given(settings))  # type: ignore[arg-type]
    reason = '' if found.known else found.condition
    if unseen and version is not None and version < V0_GONE:
        reason = unseen
    return Setting('generation', found.value, launch.program, 'default', reason, found.candidates, source=found.source)
