"""Options that the auditing commands share, and the configuration that they and the file make together."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from configaudit.config import Config, find, read_config
from configaudit.config_check import check_context
from configaudit.dates import is_date
from configaudit.errors import UsageError
from configaudit.selection import Choices

_SERVICE_PROFILES = ('latency', 'throughput', 'dev')


class Option(NamedTuple):
    """An option as data: click declares it (`command.declare`), and a plain `check` reads it without click (`command.quick`)."""

    flags: str
    """Its spellings, with a space between."""
    help: str
    name: str = ''
    """What the command calls the value, where that is not the long flag."""
    metavar: str = ''
    choices: tuple[str, ...] = ()
    default: str = ''
    is_flag: bool = False
    is_count: bool = False
    multiple: bool = False

    @property
    def key(self) -> str:
        """The name under which the command gets the value."""
        return self.name or self.flags.split()[-1].lstrip('-').replace('-', '_')

    @property
    def absent(self) -> Any:
        """The value when the option is not given."""
        if self.multiple:
            return ()
        if self.is_flag or self.is_count:
            return False if self.is_flag else 0
        return self.default or (None if self.choices else '')


READING = (
    Option('--exclude', 'Do not read these files and folders (.gitignore patterns). Repeatable.', multiple=True, metavar='PATTERN'),
    Option('--values', 'Chart values that resolve `.Values`; later files win. Repeatable.', multiple=True, metavar='FILE'),
    Option('--stdin-filename', 'What to call standard input in the report.', metavar='NAME', default='<stdin>'),
    Option('--no-gate', 'Parse every document, even of kinds that hold no configuration.', is_flag=True),
    Option('-j --jobs', 'Worker processes. [default: as the work needs]', metavar='N', is_count=True),
)
JUDGING = (
    Option('--select', 'Run only these: ids, `vllm-*`, `vllm`, `july-1`, `error`; comma-separated, repeatable.', multiple=True, metavar='RULES'),
    Option('--ignore', 'Do not run these. Beside those that the configuration ignores.', multiple=True, metavar='RULES'),
    Option('--min-confidence', 'Leave out findings of lower confidence. [default: low]', choices=('high', 'medium', 'low')),
    Option('--profile', 'What the service is tuned for. [default: latency]', choices=_SERVICE_PROFILES),
    Option('--engine-version', 'The engine version where no image tag says it: `0.10.2`, `vllm=0.10.2`. Repeatable.', multiple=True, metavar='[ENGINE=]V'),
    Option('--gpu', 'The GPU where no file names it: `H100`, `A100-80G`.', metavar='NAME'),
    Option('--today', 'Judge expiry dates by this day. [default: SOURCE_DATE_EPOCH, else today]', metavar='DATE'),
    Option('--config', 'Use this configuration. [default: configaudit.yaml or pyproject.toml, here or above]', metavar='FILE'),
    Option('--no-config', 'Use no configuration file.', is_flag=True),
    Option('--rules', 'Python files or folders with more rules. They are run: trust them. Repeatable.', name='rule_files', multiple=True, metavar='PATH'),
)


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
