"""NVIDIA Dynamo's workers: `python3 -m dynamo.vllm ...` takes the engine's own arguments beside a few of Dynamo's.

Source: ai-dynamo/dynamo components/src/dynamo/{vllm,sglang,trtllm}/args.py and backend_args.py,
common/configuration/groups/runtime_args.py.
"""

from configaudit.extract.arguments import Arguments, Option
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.launch import Launch, launch_of, python_module
from configaudit.knowledge.flags import Catalogue

NO_PORT = 'a Dynamo worker answers through the frontend, not on a port of its own'
_WORDS = (
    'namespace endpoint component discovery-backend request-plane response-plane event-plane store-kv connector fpm-trace migration-limit custom- '
    'jinja-template endpoint-types dump-config-to enable-local-indexer durable-kv-events output-modalities is-prefill-worker is-decode-worker '
    'use-vllm-tokenizer use-sglang-tokenizer sleep-mode-level route-to-encoder enable-multimodal mm-prompt-template frontend-decoding model- '
    'express-url kv-state-endpoint health-check-payload engine-request-limit benchmark-mode embedding-worker image-diffusion-worker video- '
    'generation-worker engine-config-json gms-shadow-mode disagg-config disagg-config-key disaggregation-mode dedicated-mm-encoder load-format '
    'omni stage-configs-path headless'
)
_OWN = frozenset(f'--{word}' for word in _WORDS.split())
"""Also the flags whose values Dynamo understands in a way of its own (`--disaggregation-mode agg`, `--load-format gms`)."""
_OWN_PREFIXES = ('--dyn-', '--multimodal-', '--tcp-tls-', '--nats-tls-', '--benchmark-', '--media-output-', '--router-', '--afd-', '--diffusion-')


def worker(invocation: Invocation, engine: str) -> Launch | None:
    """How a command line starts Dynamo's worker of an engine ('vllm', 'sglang', 'trtllm'), or None."""
    argv = invocation.argv
    module = python_module(argv, f'dynamo.{engine}')
    if module is None or module[0].removesuffix('.__main__').removesuffix('.main') != f'dynamo.{engine}':
        return None
    return launch_of(argv[0].place, argv[module[1] :], 'dynamo')


def without_own(arguments: Arguments, catalogue: Catalogue) -> Arguments:
    """The arguments that reach the engine: Dynamo takes its own first, among them all that no release of the engine has."""
    return arguments._replace(options=tuple(option for option in arguments.options if not _is_own(option, catalogue)))


def _is_own(option: Option, catalogue: Catalogue) -> bool:
    given = option.given.replace('--no-', '--', 1)
    if given in _OWN or given.startswith(_OWN_PREFIXES):
        return True
    found = catalogue.find(option.given, None)
    return found.flag is None and not found.candidates
