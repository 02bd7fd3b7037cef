"""Options that the auditing commands share, and the configuration that they and the file make together."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from configaudit.config import Config, find, read_config
from configaudit.config_check import check_context
from configaudit.dates import is_date
from configaudit.errors import UsageError
from configaudit.selection import Choices

Command = TypeVar('Command', bound=Callable[..., Any])
_SERVICE_PROFILES = ('latency', 'throughput', 'dev')

READING = (
    click.option('--exclude', multiple=True, metavar='PATTERN', help='Do not read these files and folders (.gitignore patterns). Repeatable.'),
    click.option('--values', multiple=True, metavar='FILE', help='Chart values that resolve `.Values`; later files win. Repeatable.'),
    click.option('--stdin-filename', default='<stdin>', metavar='NAME', help='What to call standard input in the report.'),
    click.option('--no-gate', is_flag=True, help='Parse every document, even of kinds that hold no configuration.'),
    click.option('-j', '--jobs', type=click.IntRange(0), default=0, metavar='N', help='Worker processes. [default: as the work needs]'),
)
JUDGING = (
    click.option('--select', multiple=True, metavar='RULES', help='Run only these: ids, `vllm-*`, `vllm`, `july-1`, `error`; comma-separated, repeatable.'),
    click.option('--ignore', multiple=True, metavar='RULES', help='Do not run these. Beside those that the configuration ignores.'),
    click.option('--min-confidence', type=click.Choice(['high', 'medium', 'low']), help='Leave out findings of lower confidence. [default: low]'),
    click.option('--profile', type=click.Choice(_SERVICE_PROFILES), help='What the service is tuned for. [default: latency]'),
    click.option('--engine-version', multiple=True, metavar='[ENGINE=]V', help='The engine version where no image tag says it: `0.10.2`, `vllm=0.10.2`. Repeatable.'),
    click.option('--gpu', default='', metavar='NAME', help='The GPU where no file names it: `H100`, `A100-80G`.'),
    click.option('--today', default='', metavar='DATE', help='Judge expiry dates by this day. [default: SOURCE_DATE_EPOCH, else today]'),
    click.option('--config', default='', metavar='FILE', help='Use this configuration. [default: configaudit.yaml or pyproject.toml, here or above]'),
    click.option('--no-config', is_flag=True, help='Use no configuration file.'),
    click.option('--rules', 'rule_files', multiple=True, metavar='PATH', help='Python files or folders with more rules. They are run: trust them. Repeatable.'),
)


def options(*groups: Iterable[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """A decorator that adds options in the order they are listed."""

    def add(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return add


def words(given: Iterable[str]) -> tuple[str, ...]:
    """The items of comma lists."""
    return tuple(item for text in given for part in text.split(',') if (item := part.strip()))


def config_of(given: dict[str, Any]) -> Config:
    """The file's configuration with what the command line says laid over it."""
    if given['today'] and not is_date(given['today']):
        raise UsageError(f'--today: {given["today"]!r} is not a date such as 2027-01-31')
    config = _file(given)
    context = config.context._replace(
        engine_versions={**config.context.engine_versions, **_versions(given['engine_version'])},
        gpu=given['gpu'] or config.context.gpu,
        profile=given['profile'] or config.context.profile,
    )
    choices: Choices = config.choices._replace(
        select=words(given['select']) or config.choices.select,
        ignore=config.choices.ignore,
        always_ignore=words(given['ignore']),
        profile=context.profile,
    )
    whole = config._replace(
        context=context, choices=choices, today=given['today'],
        exclude=(*config.exclude, *given['exclude']),
        values=(*config.values, *given['values']),
        rule_files=(*config.rule_files, *given['rule_files']),
        stdin_name=given['stdin_filename'], gate=not given['no_gate'], jobs=given['jobs'],
        min_confidence=given['min_confidence'] or config.min_confidence,
    )  # fmt: skip
    check_context(whole)
    return whole


def _file(given: dict[str, Any]) -> Config:
    if given['config'] and given['no_config']:
        raise UsageError('--config and --no-config exclude each other')
    if given['no_config']:
        return Config()
    path = given['config'] or find('.')
    return read_config(path, trusted=bool(given['config']), today=given['today']) if path else Config()


def _versions(given: Iterable[str]) -> dict[str, str]:
    return {engine.strip(): version for engine, _, version in (text.rpartition('=') for text in given)}


def outputs_of(given: Iterable[str], formats: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(format, file) of every `--output FORMAT=FILE`."""
    pairs = []
    for text in given:
        form, separator, file = text.partition('=')
        if not separator or not file or form not in formats:
            raise UsageError(f'--output: {text!r} is not FORMAT=FILE with a format of {", ".join(formats)}')
        pairs.append((form, file))
    return tuple(pairs)
