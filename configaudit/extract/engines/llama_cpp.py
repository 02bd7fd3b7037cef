"""llama.cpp's server: `llama-server`, `llama serve`, or its image's own entry point; flags, or LLAMA_ARG_* variables behind them."""

from configaudit.context import Context
from configaudit.extract.arguments import Arguments, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings
from configaudit.extract.engines.launch import Launch, anchor, image_of, launch_of, program_words
from configaudit.extract.engines.options import read_options, word_setting
from configaudit.extract.engines.servers import fill, hidden_words, image_runs, model_setting, port_setting, shaped
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.extract.words import Word
from configaudit.knowledge.engine_kinds import LLAMA_CPP
from configaudit.model import Component, Setting
from configaudit.patterns import regex

SOURCE = 'llama.cpp tools/server/README.md'
_NAMES = {
    '-c': '--ctx-size', '-np': '--parallel', '-n': '--n-predict', '--predict': '--n-predict', '-ngl': '--gpu-layers', '--n-gpu-layers': '--gpu-layers',
    '-fa': '--flash-attn', '-ctv': '--cache-type-v', '-ctk': '--cache-type-k', '-b': '--batch-size', '-ub': '--ubatch-size', '-to': '--timeout',
    '-m': '--model', '-mu': '--model-url', '-hf': '--hf-repo', '-hfr': '--hf-repo', '-kvu': '--kv-unified', '-no-kvu': '--no-kv-unified',
    '-ag': '--agent', '-cb': '--cont-batching', '-nocb': '--no-cont-batching', '-dr': '--docker-repo',
}  # fmt: skip
_SWITCHES = ('--metrics', '--slots', '--props', '--agent', '--kv-unified', '--cont-batching', '--jinja', '--mlock', '--embedding', '--embeddings', '--verbose', '-v', '--log-disable')
_VARIABLES = {
    'LLAMA_ARG_CTX_SIZE': 'ctx_size', 'LLAMA_ARG_N_PARALLEL': 'parallel', 'LLAMA_ARG_N_PREDICT': 'n_predict', 'LLAMA_ARG_N_GPU_LAYERS': 'gpu_layers',
    'LLAMA_ARG_FLASH_ATTN': 'flash_attn', 'LLAMA_ARG_CACHE_TYPE_V': 'cache_type_v', 'LLAMA_ARG_CACHE_TYPE_K': 'cache_type_k', 'LLAMA_ARG_BATCH': 'batch_size',
    'LLAMA_ARG_UBATCH': 'ubatch_size', 'LLAMA_ARG_TIMEOUT': 'timeout', 'LLAMA_ARG_HOST': 'host', 'LLAMA_ARG_TOOLS': 'tools', 'LLAMA_ARG_AGENT': 'agent',
    'LLAMA_ARG_ENDPOINT_METRICS': 'metrics', 'LLAMA_ARG_ENDPOINT_SLOTS': 'slots', 'LLAMA_ARG_ENDPOINT_PROPS': 'props', 'LLAMA_API_KEY': 'api_key',
    'LLAMA_ARG_API_KEY_FILE': 'api_key_file', 'LLAMA_ARG_KV_UNIFIED': 'kv_unified', 'LLAMA_ARG_CONT_BATCHING': 'cont_batching', 'LLAMA_ARG_HF_REPO': 'hf_repo',
}  # fmt: skip
_BUILD = regex(r'(?:^|-)b(\d+)$')
_LAST_SEEN_ON_8080 = 9439
_MODELS = ('LLAMA_ARG_HF_REPO', 'LLAMA_ARG_MODEL', 'LLAMA_ARG_MODEL_URL', 'LLAMA_ARG_DOCKER_REPO')
_DEFAULTS: dict[str, object] = {'ctx_size': 0, 'n_predict': -1, 'metrics': False, 'props': False, 'agent': False, 'tools': None, 'api_key': None, 'api_key_file': None, 'timeout': 3600}


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts llama.cpp's server, or None."""
    words = program_words(invocation, ('llama-server', 'llama'))
    if words and words[0].value.endswith('llama-server'):
        return launch_of(words[0].place, words[1:], 'llama-server')
    if words:
        return launch_of(words[0].place, words[2:], 'serve') if len(words) > 1 and words[1].value == 'serve' else None
    if not image_runs(invocation, 'llama.cpp-server'):
        return None
    image, arguments = image_of(invocation), invocation.arguments
    if image is not None and image.tag.startswith('server'):
        return launch_of(anchor(invocation), arguments, 'entrypoint')
    if arguments and arguments[0].value in ('--server', '-s'):
        return launch_of(arguments[0].place, arguments[1:], 'tools')
    return None


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The llama.cpp server that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    arguments = parse_arguments(launch.arguments, shaped(_NAMES, _SWITCHES))
    unseen = hidden_words(invocation, launch, arguments, variables=True)
    settings = engine_settings(invocation, launch, arguments, context)
    for variable, name in _VARIABLES.items():
        word = invocation.environment.get(variable)
        if word is not None:
            settings[name] = word_setting(name, LLAMA_CPP.settings[name].unit, word)
    read_options(LLAMA_CPP, arguments, launch, settings, {})
    settings['model'] = model_setting(_model(invocation, arguments), launch, unseen)
    fill(LLAMA_CPP, settings, _DEFAULTS, invocation, launch, unseen, SOURCE)
    _by_release(launch, settings, unseen)
    _listen(invocation, launch, arguments, settings, unseen)
    settings['world_size'] = Setting('world_size', None, launch.program, 'default', 'it takes all GPUs that it sees')
    return engine_component(LLAMA_CPP, invocation, launch, settings, unseen, engine_release(invocation, 'llama.cpp-server', context))


def _model(invocation: Invocation, arguments: Arguments) -> Word | None:
    for flag in ('--hf-repo', '--model', '--model-url', '--docker-repo'):
        option = arguments.last(flag)
        if option is not None and option.value is not None:
            return option.value
    return next((word for name in _MODELS if (word := invocation.environment.get(name)) is not None), None)


def _by_release(launch: Launch, settings: dict[str, Setting], unseen: str) -> None:
    """Defaults that moved: builds carry no release that a tag would name."""
    reason = unseen or 'it differs between builds'
    for name, candidates in (('parallel', (1, 4)), ('slots', (False, True)), ('kv_unified', (False, True)), ('cont_batching', (False, True))):
        settings.setdefault(name, Setting(name, None, launch.program, 'default', reason, () if unseen else candidates, source=SOURCE))


def _listen(invocation: Invocation, launch: Launch, arguments: Arguments, settings: dict[str, Setting], unseen: str) -> None:
    image = image_of(invocation)
    named = image is not None and image.engine == 'llama.cpp-server'
    official = named and image is not None and image.tag.startswith('server')
    if 'host' not in settings:
        reason = unseen or ('' if official or image is None or image.engine == 'llama.cpp-server' else 'the image may set LLAMA_ARG_HOST')
        source = 'llama.cpp .devops: LLAMA_ARG_HOST=0.0.0.0' if official else SOURCE
        settings['host'] = Setting('host', '0.0.0.0' if official else '127.0.0.1', launch.program, 'default', reason, source=source)
    option = arguments.last('--port')
    word = option.value if option is not None else invocation.environment.get('LLAMA_ARG_PORT')
    found = port_setting(word, 8080, launch, unseen, SOURCE)
    build = _BUILD.search(image.tag) if image is not None else None
    old = build is not None and int(build[1]) <= _LAST_SEEN_ON_8080
    moved = 'it listens on 8080, and later builds on 9931 (llama.cpp#26508)'
    settings['port'] = found if word is not None or unseen or old else found._replace(known_value=None, reason=moved, candidates=(8080, 9931))
