"""Judges command lines by an engine's own argument parser; runs with the Python of that engine's environment.

Usage: parser_judge.py vllm|sglang < lines.json > answer.json. A line is the list of words behind the program:
`["serve", "m", "--port", "8000"]`, or for the server's module `["--model", "m"]`. The answer: `flags`, every spelling
that the server's parser takes, and `verdicts`, for each line the reason why the engine would stop at start, '' where
it takes it. `tools/real_parsers.py` builds the environments.
"""

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple


class Judge(NamedTuple):
    """An engine's parser."""

    flags: list[str]
    parse: Callable[[list[str]], Any]
    """Raises, or exits with a status, where the engine would stop."""


def _module(*names: str) -> Any:
    """The first of these modules that exists: the engines move them between releases."""
    for name in names:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    raise SystemExit(f'none of {names} can be imported')


def vllm() -> Judge:
    """As vllm/entrypoints/cli/main.py does it, with the one subcommand that matters; then the limits of the fields."""
    parser_class = _module('vllm.utils.argparse_utils', 'vllm.utils').FlexibleArgumentParser
    arguments = _module('vllm.entrypoints.common.cli_args', 'vllm.entrypoints.openai.cli_args')
    top = parser_class(description='vLLM CLI')
    top.add_argument('-v', '--version', action='version', version='0')
    serve = top.add_subparsers(required=False, dest='subparser').add_parser('serve')
    arguments.make_arg_parser(serve)
    server = arguments.make_arg_parser(parser_class())
    limited = _limited(importlib.import_module('vllm.config'))

    def parse(words: list[str]) -> None:
        found = (top if words[:1] == ['serve'] else server).parse_args(words)
        for name, validate in limited.items():
            value = getattr(found, name, None)
            if value is not None:
                validate(value)

    return Judge(sorted(server._option_string_actions), parse)


def _limited(config: Any) -> dict[str, Callable[[Any], object]]:
    """The validators of the fields with limits in those of vLLM's configuration classes whose fields are flags."""
    adapter = importlib.import_module('pydantic').TypeAdapter
    names = (
        'ModelConfig', 'CacheConfig', 'ParallelConfig', 'SchedulerConfig', 'LoadConfig', 'LoRAConfig', 'MultiModalConfig', 'ObservabilityConfig', 'UVAOffloadConfig',
        'PrefetchOffloadConfig',
    )  # fmt: skip
    classes = [getattr(config, name) for name in names if hasattr(config, name)]
    return {
        name: adapter(Annotated[(info.annotation, *info.metadata)]).validate_python
        for each in classes
        for name, info in getattr(each, '__pydantic_fields__', {}).items()
        if any(hasattr(limit, word) for limit in info.metadata for word in ('gt', 'ge', 'lt', 'le'))
    }


def sglang() -> Judge:
    """As sglang/srt/server_args.py prepare_server_args does it, up to the point where it looks for the model."""
    import argparse

    arguments = importlib.import_module('sglang.srt.server_args')
    parser = argparse.ArgumentParser()
    arguments.ServerArgs.add_cli_args(parser)

    def parse(words: list[str]) -> None:
        if '--config' in words:
            merger = _module('sglang.srt.utils.server_args_config_parser', 'sglang.srt.server_args_config_parser')
            words = merger.ConfigArgumentMerger(parser).merge_config_with_args(words)
        parser.parse_args(words)

    return Judge(sorted(parser._option_string_actions), parse)


def verdict(judge: Judge, words: list[str]) -> str:
    """Why the engine would stop, or ''."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            judge.parse(words)
    except SystemExit as end:
        return '' if end.code in (0, None) else said.getvalue().strip().rpartition('\n')[2]
    except Exception as error:  # whatever stops the engine
        return f'{type(error).__name__}: {error}'
    return ''


def main() -> None:
    """Judge the lines on standard input."""
    os.environ.setdefault('VLLM_LOGGING_LEVEL', 'ERROR')
    answers, sys.stdout = sys.stdout, sys.stderr  # the engines write to standard output while they are imported
    judge = {'vllm': vllm, 'sglang': sglang}[sys.argv[1]]()
    json.dump({'flags': judge.flags, 'verdicts': [verdict(judge, words) for words in json.load(sys.stdin)]}, answers)


if __name__ == '__main__':
    main()
