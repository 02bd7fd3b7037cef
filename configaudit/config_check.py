"""Whether what the configuration and the command line name is there: rules and their options, engines, GPUs, files."""

import os
from collections.abc import Iterator, Mapping

from configaudit.config import Config
from configaudit.errors import UsageError
from configaudit.model import Rule
from configaudit.registry import Registry, load
from configaudit.selection import matches
from configaudit.sources import shown

_SELECTING = ('select', 'ignore', 'severity', 'overrides', 'ignores')
_TUNING = ('rules', 'overrides')


def check_rules(config: Config, registry: Registry) -> None:
    """Complain about names that no rule has, and about options that a rule has not or that are of the wrong type."""
    every = registry
    for name in dict.fromkeys(_selectors(config)):
        if any(matches(name, rule) for rule in every.rules):
            continue
        if every is registry:
            every = load(None, config.plugins, config.rule_files)
        if not any(matches(name, rule) for rule in (*every.rules, *_own_rules())):
            raise _wrong(config, f'no rule is called {name!r}{hint(name, every)}', _SELECTING, name)
    for options in (config.choices.rules, *(override.rules for override in config.choices.overrides)):
        for name, given in options.items():
            rule = every.by_id(name) or load(None, config.plugins, config.rule_files).by_id(name)
            if rule is None:
                whole = load(None, config.plugins, config.rule_files)
                raise _wrong(config, f'rules: {name!r} is not the id of a rule{hint(name, whole)}', _TUNING, name)
            _check_options(config, rule, given)


def check_context(config: Config) -> None:
    """Complain about engines, versions and GPUs that mean nothing, and files that are not there."""
    for versions in (config.context.engine_versions, *(item.engine_versions for item in config.context.local)):
        for engine, version in versions.items():
            _check_version(config, engine, version)
    for gpu in filter(None, (config.context.gpu, *(item.gpu for item in config.context.local))):
        from configaudit.knowledge.gpus import lookup

        if lookup(gpu) is None:
            message = f'gpu: {gpu!r} is no GPU that is known here: write it as H100 or A100-80G'
            raise _wrong(config, message, ('gpu', 'overrides'), gpu)
    for path in (*config.values, *config.rule_files):
        if not os.path.exists(path):
            raise _wrong(config, f'{shown(path)}: No such file or directory', ('values', 'rule-files'), os.path.basename(path))


def hint(name: str, registry: Registry) -> str:
    """What to say behind a name that no rule has."""
    close = _nearest(name, tuple(rule.id for rule in registry.rules))
    return f', did you mean {close!r}?' if close else ': `configaudit rules` lists them'


def _wrong(config: Config, message: str, keys: tuple[str, ...], word: str) -> UsageError:
    """The error with the place where the configuration says the word; the command line has none."""
    from configaudit.config_file import place_of

    place = place_of(config.path, keys, word) if config.path else ''
    return UsageError(f'{place}: {message}' if place else message)


def _nearest(word: str, names: tuple[str, ...]) -> str:
    from configaudit.config_file import nearest

    return nearest(word, names)


def _selectors(config: Config) -> Iterator[str]:
    choices = config.choices
    yield from (*choices.select, *choices.ignore, *choices.always_ignore, *choices.severity)
    for override in choices.overrides:
        yield from (*override.select, *override.ignore, *override.severity)
    for ignored in config.ignored:
        yield from ignored.rules


def _own_rules() -> tuple[Rule, ...]:
    from configaudit.suppression_rules import RULES

    return RULES


def _check_options(config: Config, rule: Rule, given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if name not in rule.options:
            close = _nearest(name, tuple(rule.options))
            known = f'did you mean {close!r}?' if close else 'it has ' + (', '.join(rule.options) or 'none')
            raise _wrong(config, f'rules: {rule.id} has no option {name!r}: {known}', _TUNING, name)
        default = rule.options[name]
        if not _fits(value, default):
            message = f'rules: {rule.id}: {name} is {value!r}, not like its default {default!r}'
            raise _wrong(config, message, _TUNING, name)


def _fits(value: object, default: object) -> bool:
    """Whether an option's value is of the default's type."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, (int, float)):
        return isinstance(value, int) or (isinstance(value, float) and isinstance(default, float))
    if isinstance(default, (list, tuple)):
        return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
    return default is None or isinstance(value, type(default))


def _check_version(config: Config, engine: str, version: str) -> None:
    from configaudit.knowledge.engine_kinds import ENGINES
    from configaudit.knowledge.versions import parse

    if engine and engine not in ENGINES:
        close = _nearest(engine, ENGINES)
        known = f'did you mean {close!r}?' if close else 'there are ' + ', '.join(ENGINES)
        raise _wrong(config, f'engine_version: no engine is called {engine!r}: {known}', ('engine_version', 'overrides'), engine)
    if parse(version) is None:
        raise _wrong(config, f'engine_version: {version!r} is not a version such as 0.10.2', ('engine_version', 'overrides'), version)
