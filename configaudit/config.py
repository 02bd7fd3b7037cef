"""The configuration as a frozen value: what configaudit.yaml (or [tool.configaudit]) and the command line ask for."""

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from configaudit.context import Context, Declared, Local, Service
from configaudit.dates import today
from configaudit.engine import Choice
from configaudit.errors import UsageError
from configaudit.model import Component, Rule
from configaudit.places import Place
from configaudit.selection import Choices, Override, Scope, chooser

_NAMES = ('configaudit.yaml', 'configaudit.yml', '.configaudit.yaml')
_PYPROJECT = 'pyproject.toml'


class Ignored(NamedTuple):
    """Findings that the configuration accepts."""

    rules: tuple[str, ...]
    scope: Scope
    reason: str
    expires: str
    place: Place


class Config(NamedTuple):
    """What the configuration and the command line ask for."""

    context: Context = Context()
    exclude: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    rule_files: tuple[str, ...] = ()
    gate: bool = True
    stdin_name: str = '<stdin>'
    ignores: bool = True
    """Whether suppressions, ignores and baselines are honoured."""
    choices: Choices = Choices()
    ignored: tuple[Ignored, ...] = ()
    expired: tuple[Ignored, ...] = ()
    """Overrides that no longer hold."""
    values: tuple[str, ...] = ()
    """Chart values files."""
    today: str = ''
    """The day by which expiry dates are judged; '' for the real one."""
    fail_on: str = 'warning'
    min_confidence: str = 'low'
    baseline: str = ''
    jobs: int = 0
    """Worker processes; 0: decide by the amount of work."""
    path: str = ''
    """The configuration file, or ''."""
    root: str = ''
    """The folder that path patterns are relative to; '' for the working directory."""
    contents: Mapping[str, bytes] = {}
    """What to read in place of files (path as shown -> bytes): fixes are judged before they are written."""

    def chooser(self) -> Callable[[Rule, Component], Choice | None]:
        """Answers for the engine how each rule runs on each component."""
        return chooser(self.choices if self.ignores else without_ignores(self.choices), self.relative)

    def relative(self, path: str) -> str:
        """A path as shown, seen from the configuration's folder."""
        if not self.root:
            return path
        return os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, '/')

    def day(self) -> str:
        """Today as '2027-01-31', from --today, SOURCE_DATE_EPOCH or the clock (UTC)."""
        return self.today or today()


def without_ignores(choices: Choices) -> Choices:
    """The choices with nothing switched off."""

    def loud(severity: Mapping[str, str]) -> dict[str, str]:
        return {name: level for name, level in severity.items() if level != 'off'}

    overrides = tuple(item._replace(ignore=(), severity=loud(item.severity)) for item in choices.overrides)
    return choices._replace(ignore=(), severity=loud(choices.severity), overrides=overrides)


def find(folder: str) -> str:
    """The file that holds for a folder: in it or above, up to the root of the repository; '' when there is none."""
    here = os.path.abspath(folder)
    while True:
        for name in _NAMES:
            path = os.path.join(here, name)
            if os.path.isfile(path):
                return path
        path = os.path.join(here, _PYPROJECT)
        if os.path.isfile(path) and _speaks_of_us(path):
            return path
        parent = os.path.dirname(here)
        if parent == here or os.path.exists(os.path.join(here, '.git')):
            return ''
        here = parent


def _speaks_of_us(path: str) -> bool:
    try:
        with open(path, 'rb') as file:
            return b'[tool.configaudit' in file.read(2**20)
    except OSError:
        return False


def read_config(path: str, *, trusted: bool, today: str = '') -> Config:
    """The configuration in a file. `trusted`: a person named it, so it may name files with rules."""
    from configaudit import config_file
    from configaudit.sources import shown

    given = config_file.read(path, shown(path))
    folder = os.path.dirname(os.path.abspath(path))
    _check_version(given.get('required-version', ''), path)
    if 'rule-files' in given and not trusted:
        raise UsageError(f'{config_file.place_of(path, ("rule-files",))}: rule-files counts only in a file that --config names')
    within = os.path.relpath(os.getcwd(), folder)
    root = '' if within == '.' or within.startswith('..') else folder
    config = Config(
        context=_context(given),
        exclude=tuple(rebased for pattern in given.get('exclude', ()) if (rebased := rebase(pattern, within if root else ''))),
        plugins=given.get('plugins', ()),
        rule_files=tuple(os.path.join(folder, name) for name in given.get('rule-files', ())),
        values=tuple(os.path.join(folder, name) for name in given.get('values', ())),
        fail_on=given.get('fail-on', 'warning'),
        min_confidence=given.get('min-confidence', 'low'),
        baseline=shown(os.path.join(folder, given['baseline'])) if 'baseline' in given else '',
        today=today,
        path=shown(path),
        root=root,
    )
    return _with_choices(config, given)


def _with_choices(config: Config, given: Mapping[str, Any]) -> Config:
    overrides = [(item, _override(item)) for item in given.get('overrides', ())]
    gone = tuple(
        Ignored((), override.scope, item.get('reason', ''), item['expires'], item['']) for item, override in overrides
        if _is_over(item, config)
    )  # fmt: skip
    ignored = tuple(
        Ignored(item['rule'], Scope(item.get('path', ()), item.get('object', ())), item['reason'], item.get('expires', ''), item[''])
        for item in given.get('ignores', ())
    )
    choices = Choices(
        given.get('select', ()), given.get('ignore', ()), (), given.get('severity', {}), _options(given),
        tuple(override for item, override in overrides if not _is_over(item, config)), config.context.profile,
        {name: value for name, value in config.context.service._asdict().items() if value is not None},
    )  # fmt: skip
    local = tuple(_local(item) for item, _ in overrides if not _is_over(item, config) and ('engine_version' in item or 'gpu' in item))
    context = config.context._replace(local=local, root=config.root)
    return config._replace(choices=choices, ignored=ignored, expired=gone, context=context)


def _is_over(item: Mapping[str, Any], config: Config) -> bool:
    return bool(item.get('expires')) and item['expires'] <= config.day()


def _override(item: Mapping[str, Any]) -> Override:
    scope = Scope(item.get('paths', ()), item.get('objects', ()))
    return Override(scope, item.get('select', ()), item.get('ignore', ()), item.get('severity', {}), _options(item))


def _options(given: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """Rule options, lists as tuples."""
    return {
        rule: {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        for rule, options in given.get('rules', {}).items()
    }


def _context(given: Mapping[str, Any]) -> Context:
    return Context(
        service=Service(**given.get('service', {})),
        engine_versions=_versions(given),
        gpu=given.get('gpu', ''),
        links=tuple((link['client'], link['server']) for link in given.get('links', ())),
        databases=tuple(_database(item) for item in given.get('databases', ())),
        complete=given.get('complete', False),
        profile=given.get('profile', 'latency'),
    )


def _database(item: Mapping[str, Any]) -> Declared:
    limits = {name: int(item[name]) for name in ('max_connections', 'reserved') if name in item}
    return Declared(
        item['name'], item[''], item.get('product', 'postgres'), tuple(host.lower() for host in item.get('hosts', ())), **limits,
        idle_timeout_s=item.get('idle_timeout_s'), pool_mode=item.get('pool_mode'),
    )  # fmt: skip


def _versions(given: Mapping[str, Any]) -> Mapping[str, str]:
    versions: str | Mapping[str, str] = given.get('engine_version', {})
    return {'': versions} if isinstance(versions, str) else versions


def _local(item: Mapping[str, Any]) -> Local:
    return Local(Scope(item.get('paths', ()), item.get('objects', ())), _versions(item), item.get('gpu', ''))


def _check_version(required: str, path: str) -> None:
    if not required:
        return
    from configaudit import VERSION, config_file
    from configaudit.knowledge.versions import release, satisfies

    wanted = required if required.strip()[:1] in '<>=!~' else f'=={required}'
    try:
        fits = satisfies(release(VERSION), wanted)
    except ValueError as error:
        raise UsageError(f'{config_file.place_of(path, ("required-version",))}: required-version: {error}') from None
    if not fits:
        raise UsageError(f'{config_file.place_of(path, ("required-version",))}: written for configaudit {required}, and this is {VERSION}')


def rebase(pattern: str, within: str) -> str:
    """A pattern relative to a folder above, made relative to the folder `within` of it; '' when it cannot match there."""
    text = pattern.removeprefix('!')
    negated = pattern[: len(pattern) - len(text)]
    if not within or '/' not in text.rstrip('/'):
        return pattern
    steps = text.removeprefix('/').split('/')
    for folder in within.replace(os.sep, '/').split('/'):
        if steps[0] == '**':
            break
        if len(steps) < 2 or not steps[1] or not _same(steps[0], folder):
            return ''
        steps = steps[1:]
    return f'{negated}/' + '/'.join(steps)


def _same(pattern: str, name: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)
