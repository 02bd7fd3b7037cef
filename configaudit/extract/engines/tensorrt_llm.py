"""TensorRT-LLM: `trtllm-serve`, and the workers that NVIDIA Dynamo starts with it."""

from os.path import basename

from configaudit.context import Context
from configaudit.extract.arguments import Arguments, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings, product_of
from configaudit.extract.engines.config_file import yaml_file
from configaudit.extract.engines.dynamo import NO_PORT, worker
from configaudit.extract.engines.launch import Launch, launch_of
from configaudit.extract.engines.options import read_options, word_setting
from configaudit.extract.engines.servers import (
    fill,
    hidden_words,
    model_first,
    model_setting,
    port_setting,
    program_in,
    shaped,
)
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.engine_kinds import TRTLLM, TRTLLM_SOURCE
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, get
from configaudit.places import Document

_NAMES = {
    '--tp-size': '--tensor-parallel-size', '--pp-size': '--pipeline-parallel-size', '--cp-size': '--context-parallel-size',
    '--kv-cache-free-gpu-memory-fraction': '--free-gpu-memory-fraction', '--extra-llm-api-options': '--config', '--extra-engine-args': '--config',
    '--model-path': '--model',
}  # fmt: skip
_SWITCHES = ('--trust-remote-code', '--enable-chunked-prefill', '--fail-fast-on-attention-window-too-large', '--publish-events-and-metrics', '--publish-kv-events')
_DEFAULTS: dict[str, object] = {
    'tensor_parallel_size': 1, 'pipeline_parallel_size': 1, 'context_parallel_size': 1, 'free_gpu_memory_fraction': 0.9,
    'trust_remote_code': False, 'capacity_scheduler_policy': 'GUARANTEED_NO_EVICT', 'server_role': None, 'revision': None, 'return_perf_metrics': False,
}  # fmt: skip
_IN_FILE = (
    ('tensor_parallel_size', ('tensor_parallel_size',)), ('pipeline_parallel_size', ('pipeline_parallel_size',)),
    ('context_parallel_size', ('context_parallel_size',)), ('max_batch_size', ('max_batch_size',)), ('max_num_tokens', ('max_num_tokens',)),
    ('max_seq_len', ('max_seq_len',)), ('enable_chunked_prefill', ('enable_chunked_prefill',)), ('trust_remote_code', ('trust_remote_code',)),
    ('free_gpu_memory_fraction', ('kv_cache_config', 'free_gpu_memory_fraction')),
    ('capacity_scheduler_policy', ('scheduler_config', 'capacity_scheduler_policy')), ('backend', ('backend',)),
    ('return_perf_metrics', ('return_perf_metrics',)),
)  # fmt: skip
"""Setting -> where the file of `--config` holds it."""


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts TensorRT-LLM, or None: not its router of prefill and decode servers."""
    words = program_in(invocation, ('trtllm-serve',))
    if not words:
        return worker(invocation, 'trtllm')
    command = words[1].value if len(words) > 1 else ''
    if command in ('disaggregated', 'disaggregated_mpi_worker', 'mm_embedding_serve', '--help', '--version'):
        return None
    start = 2 if command in ('serve', 'grpc') else 1
    return launch_of(words[0].place, words[start:], command if start == 2 else 'serve')


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The TensorRT-LLM server that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    model, words = model_first(launch.arguments)
    arguments = parse_arguments(words, shaped(_NAMES, _SWITCHES))
    settings = engine_settings(invocation, launch, arguments, context)
    read_options(TRTLLM, arguments, launch, settings, {})
    unseen = hidden_words(invocation, launch, arguments) or _from_file(invocation, stores, arguments, settings)
    settings['model'] = model_setting(model if model is not None else _model(arguments), launch, unseen)
    fill(TRTLLM, settings, _DEFAULTS, invocation, launch, unseen, TRTLLM_SOURCE)
    if invocation.argv and basename(invocation.argv[0].value) in ('mpirun', 'mpiexec', 'srun'):
        settings['nodes'] = Setting('nodes', None, launch.program, reason='its ranks may lie on several hosts')
    settings['world_size'] = product_of(settings, ('tensor_parallel_size', 'pipeline_parallel_size', 'context_parallel_size'))
    fill(TRTLLM, settings, {'host': '0.0.0.0' if launch.command in ('grpc', 'dynamo') else 'localhost'}, invocation, launch, unseen, TRTLLM_SOURCE)
    port = arguments.last('--port')
    default = 50051 if launch.command == 'grpc' else 8000
    reason = NO_PORT if launch.command == 'dynamo' else unseen
    settings['port'] = port_setting(port.value if port is not None else None, default, launch, reason, TRTLLM_SOURCE)
    return engine_component(TRTLLM, invocation, launch, settings, unseen, engine_release(invocation, 'tensorrt-llm', context))


def _model(arguments: Arguments) -> Word | None:
    option = arguments.last('--model')
    return option.value if option is not None and option.value is not None else next(iter(arguments.positional), None)


def _from_file(invocation: Invocation, stores: Stores, arguments: Arguments, settings: dict[str, Setting]) -> str:
    """Settings of the file that `--config` names, which win over the flags; why some are unseen."""
    option = arguments.last('--config')
    if option is None or option.value is None:
        return ''
    settings['extra_options'] = word_setting('extra_options', 'text', option.value)
    found, unseen = yaml_file(invocation, stores, option.value)
    if found is not None:
        for name, path in _IN_FILE:
            _take(settings, name, *found, path)
    elif unseen:
        for name, _ in _IN_FILE:
            if name in settings:
                settings[name] = settings[name]._replace(known_value=None, reason=unseen)
    return unseen


def _take(settings: dict[str, Setting], name: str, document: Document, root: Map, path: tuple[str, ...]) -> None:
    word = word_of(document, get(root, *path))
    if word is not None:
        setting = word_setting(name, TRTLLM.settings[name].unit, word)
        settings[name] = setting._replace(slot=setting.slot._replace(format='yaml_edit') if setting.slot is not None else None)

