"""Where the parser of each engine's server is built, by the places it has had."""

import ast
import re
from collections.abc import Mapping

from configaudit.knowledge.versions import Version, release

from .execute import Argument, Follower
from .modules import Modules
from .specification import Spec, deprecation, specification
from .values import ClassRef, FunctionRef, Parser

# vLLM: the function that builds the API server's parser, newest place first.
VLLM_PARSERS = (
    ('vllm.entrypoints.common.cli_args', 'make_arg_parser'),
    ('vllm.entrypoints.launchers.cli_args', 'make_arg_parser'),
    ('vllm.entrypoints.openai.cli_args', 'make_arg_parser'),
    ('vllm.entrypoints.openai.api_server', 'parse_args'),
)
# vLLM: what `vllm serve` adds to it.
VLLM_SERVE = (
    ('vllm.entrypoints.cli.serve', 'ServeSubcommand', 'subparser_init'),
    ('vllm.entrypoints.cli.serve', 'ServeCommand', 'subparser_init'),
    ('vllm.scripts', '', 'main'),
)

# vllm-omni 0.11.0, made for the vLLM of that number.
OMNI_SINCE = release('0.11.0')
OPTION = re.compile(r'--[a-z][a-z0-9-]*')


def _method(modules: Modules, module: str, cls: str, name: str) -> FunctionRef | None:
    if not cls:
        return modules.find_function(module, name)
    owner: ClassRef | None = modules.find_class(module, cls)
    found = modules.member(owner, name) if owner else None
    return FunctionRef(found[0].module, found[1], owner) if found and hasattr(found[1], 'args') else None  # type: ignore[arg-type]


def _follow(follower: Follower, function: FunctionRef) -> None:
    """Follows a parser's builder with a parser for everything it takes."""
    follower.follow(function, [Parser()] * len(function.node.args.args), {})


def vllm_arguments(modules: Modules) -> list[Argument]:
    """The arguments of the API server and of `vllm serve`. LookupError when no known place has the parser."""
    follower = Follower(modules)
    places = [place for each in VLLM_PARSERS if (place := modules.find_function(*each))]
    if not places:
        raise LookupError('vllm: the parser of the API server is in none of the known places')
    _follow(follower, places[0])
    common = len(follower.arguments)
    serve = next((place for each in VLLM_SERVE if (place := _method(modules, *each))), None)
    if serve is not None:
        _follow(follower, serve)
    return [each for at, each in enumerate(follower.arguments) if at < common or each.command == 'serve']


def sglang_arguments(modules: Modules) -> list[Argument]:
    """The arguments of the server. LookupError when they are not where they used to be."""
    build = _method(modules, 'sglang.srt.server_args', 'ServerArgs', 'add_cli_args')
    if build is None:
        raise LookupError('sglang: the parser of the server is not in its known place')
    follower = Follower(modules)
    _follow(follower, build)
    return follower.arguments


def beside_the_parser(version: Version, sources: Mapping[str, str], found: dict[str, Spec]) -> None:
    """What vLLM's command line takes or says outside its parser.

    -O3 is turned into --optimization-level 3 before parsing; --omni hands the whole command line over to vllm-omni,
    which replaces the command `vllm` until vLLM looks for it itself; some deprecations are told when the engine starts.
    """
    if version >= OMNI_SINCE:
        found['--omni'] = {'names': ['--omni'], 'type': 'bool', 'boolean': 'store_true', 'default': False}
    level = found.get('--optimization-level')
    if level is not None and '-O' not in level['names']:
        level['names'] = [*level['names'], '-O']
    for name, value in Modules(sources).names('vllm.engine.arg_utils').items():
        text = value.value if name.endswith('_DEPRECATION_MESSAGE') and isinstance(value, ast.Constant) else ''
        option = OPTION.search(str(text))
        if option is not None and option[0] in found:
            found[option[0]].update(deprecation({'help': text}, ''))


def flags(engine: str, version: Version, sources: Mapping[str, str]) -> list[Spec]:
    """The options of one release, one entry each; a later declaration of a spelling replaces an earlier one."""
    arguments = (vllm_arguments if engine == 'vllm' else sglang_arguments)(Modules(sources))
    found: dict[str, Spec] = {}
    for argument in arguments:
        spec = specification(argument)
        spec['names'] = [_spelling(name) for name in spec['names']]
        if spec['names']:
            found[spec['names'][0]] = spec
    if engine == 'vllm':
        beside_the_parser(version, sources, found)
    return list(found.values())


def _spelling(name: str) -> str:
    return name.replace('_', '-') if name.startswith('--') else name
