"""LMDeploy: `lmdeploy serve api_server`."""

from configaudit.context import Context
from configaudit.extract.arguments import parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings
from configaudit.extract.engines.launch import Launch, launch_of, program_words
from configaudit.extract.engines.options import read_options
from configaudit.extract.engines.servers import fill, hidden_words, model_first, model_setting, port_setting, shaped
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.knowledge.engine_kinds import LMDEPLOY
from configaudit.model import Component

SOURCE = 'lmdeploy lmdeploy/cli/serve.py, lmdeploy/messages.py'
_SWITCHES = ('--trust-remote-code', '--enable-prefix-caching', '--eager-mode', '--disable-metrics', '--disable-fastapi-docs', '--allow-credentials', '--ssl')
_DEFAULTS: dict[str, object] = {
    'server_name': '0.0.0.0', 'tp': 1, 'dp': 1, 'nnodes': 1, 'node_rank': 0, 'cache_max_entry_count': 0.8, 'max_concurrent_requests': None, 'quant_policy': 0,
    'trust_remote_code': False,
}  # fmt: skip


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts LMDeploy's server, or None."""
    words = program_words(invocation, ('lmdeploy',))
    serves = len(words) > 2 and words[1].value == 'serve' and words[2].value == 'api_server'
    return launch_of(words[0].place, words[3:], 'api_server') if serves else None


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The LMDeploy server that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    model, words = model_first(launch.arguments)
    arguments = parse_arguments(words, shaped({}, _SWITCHES))
    unseen = hidden_words(invocation, launch, arguments)
    settings = engine_settings(invocation, launch, arguments, context)
    read_options(LMDEPLOY, arguments, launch, settings, {})
    settings['model'] = model_setting(model if model is not None else next(iter(arguments.positional), None), launch, unseen)
    fill(LMDEPLOY, settings, _DEFAULTS, invocation, launch, unseen, SOURCE)
    settings['world_size'] = settings['tp']._replace(name='world_size', slot=None)
    settings['nodes'] = settings['nnodes']._replace(name='nodes')
    port = arguments.last('--server-port')
    settings['port'] = port_setting(port.value if port is not None else None, 23333, launch, unseen, SOURCE)
    return engine_component(LMDEPLOY, invocation, launch, settings, unseen, engine_release(invocation, 'lmdeploy', context))
