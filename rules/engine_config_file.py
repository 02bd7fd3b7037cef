"""Rules for the YAML file of `--config`: what the engine cannot read of it, and what it passes over."""

from collections.abc import Iterator
from typing import Any

from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.versions import release as version_of
from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Rule, Slot, rule

from .flag_family import ENGINES, flags_of
from .releases import release

MERGER = {
    'vllm': 'vllm/utils/argparse_utils.py FlexibleArgumentParser._pull_args_from_config and load_config_file',
    'sglang': 'sglang/srt/server_args_config_parser.py ConfigArgumentMerger',
}
MODEL_ASKED_FROM = version_of('0.8.5')
"""From here on (0.8.5 has it) `vllm serve --config` wants a model as the first word or in the file."""


def _config(engine: Component) -> Any:
    """The option that names the file."""
    option = engine['arguments'].value.last('--config')
    if option is None or option.value is None:
        raise NotApplicable('no --config is given')
    return option


def _invalid(engine: str) -> Rule:
    def judge(component: Component) -> Iterator[Problem]:
        option = _config(component)
        if option.joined:
            raise NotApplicable('the engine does not read it')
        reason = _reason(component, option)
        if reason:
            yield Problem(
                option.word.place, '{engine} stops at start over --config {path}: {reason}', engine=release(component),
                path=option.value.value, reason=reason, severity=None if component.version is not None else 'warning',
            )  # fmt: skip

    judge.__doc__ = """The engine stops at start before it reads a single flag: the configuration file is named or written so that it cannot be merged.

    The file must end in .yaml or .yml, hold a mapping, and be named once; `vllm serve` also wants a model as its first word or as
    the file's key `model`.
    """
    return rule(f'{engine}-config-file-invalid', on=engine, severity='error', source=MERGER[engine])(judge)


def _reason(engine: Component, option: Any) -> str:
    """Why the file cannot be merged, or ''."""
    arguments, path = engine['arguments'].value, option.value
    if sum(other.word.value == '--config' for other in arguments.options) > 1:
        return 'only one file may be named'
    if path.known and '$' not in path.value and not path.value.endswith(('.yaml', '.yml')):
        return 'its name must end in .yaml or .yml'
    if arguments.no_mapping:
        return 'it holds no mapping of flags to values'
    return 'it has no key model, and no model is the first word' if _lacks_model(engine) else ''


def _lacks_model(engine: Component) -> bool:
    arguments = engine['arguments'].value
    if engine.kind.name != 'vllm' or engine['command'].value != 'serve' or arguments.unknown_tail:
        return False
    if engine.version is None or engine.version < MODEL_ASKED_FROM or not engine['arguments'].value.command_line:
        return False
    named = any(option.given == '--model' for option in arguments.options)
    return not named and bool(arguments.command_line[0].value.startswith('-'))


def _ignored(engine: str) -> Rule:
    def judge(component: Component) -> Iterator[Problem]:
        option = _config(component)
        if option.joined and option.given == '--config':
            yield Problem(
                option.word.place, '{engine} looks for the bare word --config and does not read {path}: write --config {path}', engine=release(component),
                path=option.value.value,
            )  # fmt: skip

    judge.__doc__ = """The flags in the file have no effect: written with an equals sign, --config names a file that is never opened.

    The engine's parser merges the file only when one argument is exactly `--config`; `--config=FILE` is then parsed and forgotten.
    """
    return rule(f'{engine}-config-file-ignored', on=engine, severity='warning', source=MERGER[engine])(judge)


@rule('vllm-config-false-ignored', on='vllm', severity='warning', source=MERGER['vllm'])
def false_ignored(engine: Component) -> Iterator[Problem]:
    """`flag: false` in a --config file is passed over, so that what it should turn off stays on.

    vLLM makes `--flag` of `flag: true` and nothing of `flag: false`. Only the server's module, not `vllm serve`, reads it as
    `--no-flag`, from 0.28.0 on. The key `no-flag: true` works everywhere.
    """
    known = catalogue('vllm')
    for option in engine['arguments'].value.unread:
        flags = flags_of(engine, option, known)
        if not flags or any(flag.boolean != 'bool_optional' or (flag.default is False and not flag.computed) for flag in flags):
            continue
        wanted = f'no-{option.given[2:]}'
        yield Problem(
            option.word.place, '{engine} passes over `{key}: false`: write `{wanted}: true`', engine=release(engine), key=option.given[2:], wanted=wanted,
            fix=_as_no(option, wanted), detail=option.name,
        )  # fmt: skip


def _as_no(option: Any, wanted: str) -> Fix | None:
    """Turns `flag: false` into `no-flag: true`; what was on goes off, which is what the file asks for."""
    if option.value is None or not option.value.pure:
        return None
    return Fix((
        Change(Slot('argument', option.word.place), wanted, option.name, option.word.locked),
        Change(Slot('yaml_edit', option.value.place), True, option.name, option.value.locked),
    ), (), False)  # fmt: skip


CONFIG_RULES = [make(engine) for engine in ENGINES for make in (_invalid, _ignored)]
