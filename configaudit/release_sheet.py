"""One release of an engine as a sheet: its flags with the defaults that hold on a GPU, and the history of one name."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from configaudit.errors import UsageError
from configaudit.knowledge.at_version import emits, flags_at, resolved
from configaudit.knowledge.defaults import Default
from configaudit.knowledge.flag import Flag
from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.gpus import Gpu, lookup
from configaudit.knowledge.shipped import HISTORIES, servers, settings
from configaudit.knowledge.versions import Version, parse

PRODUCTS = {'vllm': 'vLLM', 'sglang': 'SGLang'}
NOT_LISTED = 'worked out at start'
_ALSO = {
    'llama.cpp': 'llama.cpp-server', 'llama-cpp': 'llama.cpp-server', 'llamacpp': 'llama.cpp-server', 'llama-server': 'llama.cpp-server',
    'trtllm': 'tensorrt-llm', 'trt-llm': 'tensorrt-llm', 'trtllm-serve': 'tensorrt-llm', 'tensorrtllm': 'tensorrt-llm',
    'text-generation-inference': 'tgi', 'tensorflow-serving': 'tf-serving', 'tritonserver': 'triton', 'ray': 'ray-serve', 'rayserve': 'ray-serve',
}  # fmt: skip
"""Other names of engines: of the project, its command, its image."""


class Row(NamedTuple):
    """A flag, and what it is when nobody gives it."""

    flag: Flag
    default: str
    why: str = ''
    """What a default that the engine works out depends on, or why it is what it is."""
    source: str = ''
    candidates: tuple[object, ...] = ()


class Past(NamedTuple):
    """A name through the releases."""

    name: str
    kind: str
    """'flag', 'environment variable' or 'metric'."""
    ranges: tuple[tuple[str, str, str], ...]
    """(first release, last release, what it was in these)."""
    now: str
    """What the release makes of it: there, gone since, not there yet."""
    row: Row | None = None
    use: str = ''


class Sheet(NamedTuple):
    """What one release of an engine has, or what it makes of one name."""

    engine: str
    version: Version
    note: str
    gpu: Gpu | None
    usage: str
    rows: tuple[Row, ...]
    past: tuple[Past, ...] = ()

    @property
    def title(self) -> str:
        """'vLLM 0.10.2 on H100-80GB'."""
        where = f' on {self.gpu.name or self.gpu.slice}' if self.gpu else ''
        return f'{PRODUCTS[self.engine]} {self.version}{where}'


def known_engine(name: str) -> str:
    """The engine that a word names. UsageError with the names there are."""
    word = name.lower().replace('_', '-')
    found = _ALSO.get(word, word)
    if found in HISTORIES or found in servers():
        return found
    raise UsageError(f'no engine is called {name!r} (there are: {", ".join((*HISTORIES, *servers()))})')


def settings_named(engine: str, words: Iterable[str]) -> dict[str, Any]:
    """The hand-kept settings of a server, only those that the words name when any does. UsageError for a word that names none."""
    held = dict(settings(engine))
    wanted = [word for word in words if word not in ('newest', 'latest') and parse(word) is None]
    rows = {_plain(row['setting']): row for row in held['settings']}
    lost = next((word for word in wanted if _plain(word) not in rows), '')
    if lost:
        raise UsageError(f'{engine} has no setting {lost!r} in its list (`configaudit engine {engine}` shows it)')
    return {**held, 'settings': [rows[_plain(word)] for word in wanted]} if wanted else held


def _plain(name: str) -> str:
    return name.lower().lstrip('-').replace('-', '_')


def release_of(text: str, known: Catalogue) -> Version:
    """The release that a word names; 'newest' or 'latest' is the newest that is recorded. UsageError for other words."""
    version = known.newest if text in ('newest', 'latest', '') else parse(text)
    if version is None:
        raise UsageError(f'{text!r} is not a version such as {known.newest}, or newest')
    return version


def gpu_of(text: str) -> Gpu | None:
    """The GPU that an option names. UsageError for a name nobody knows."""
    found = lookup(text) if text else None
    if text and found is None:
        raise UsageError(f'--gpu: no GPU is called {text!r} (such as H100, A100-80G, L4, p5.48xlarge)')
    return found


def age(known: Catalogue, version: Version) -> str:
    """What a reader must know of a release that was not examined, or ''."""
    if version > known.newest:
        return f'newer than the data: shown as {known.newest}'
    if version < known.versions[0]:
        return f'older than the data: shown as {known.versions[0]}'
    place = known.position(version)
    return '' if place.examined else f'not examined: shown as {known.names[place.read_as]}'


def sheet(engine: str, text: str, gpu: str = '', usage: str = 'server', names: tuple[str, ...] = ()) -> Sheet:
    """The sheet of a release, with the history of these names only when there are any."""
    known = catalogue(engine)
    version = release_of(text, known)
    card = gpu_of(gpu)
    worked_out = resolved(engine, version, card, usage)
    flags = flags_at(known, version)
    rows = tuple(row(flag, worked_out) for flag in flags.values())
    past = tuple(_past(name, known, version, worked_out) for name in names)
    return Sheet(engine, version, age(known, version), card, usage, () if names else rows, past)


def row(flag: Flag, worked_out: Mapping[str, Default]) -> Row:
    """A flag with the default that holds."""
    found = worked_out.get(flag.option)
    if found is None:
        return Row(flag, default_of(flag))
    if found.known and found.value is not None:
        return Row(flag, spelled(found.value), found.condition, found.source, found.candidates)
    shown = ' or '.join(map(spelled, found.candidates)) or NOT_LISTED
    return Row(flag, shown, found.condition, found.source, found.candidates)


def default_of(flag: Flag) -> str:
    """The recorded default of a flag in words."""
    if flag.computed:
        return NOT_LISTED
    if flag.type == 'json' and flag.default == ():
        return 'empty'
    pairs = isinstance(flag.default, tuple) and all(isinstance(item, tuple) and len(item) == 2 for item in flag.default)
    if flag.type == 'json' and pairs:
        return '{' + ', '.join(f'{key}: {spelled(value)}' for key, value in flag.default) + '}'  # type: ignore[attr-defined]
    return spelled(flag.default)


def choices(flag: Flag) -> tuple[str, ...]:
    """The choices of a flag, numbers by size; none where some are worked out by the engine's code."""
    if any('$' in choice for choice in flag.choices):
        return ()
    numbers = all(choice.isdigit() for choice in flag.choices)
    return tuple(sorted(flag.choices, key=int)) if numbers else flag.choices


def spelled(value: object) -> str:
    """A default as one writes it in YAML."""
    if value is None:
        return 'none'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, tuple):
        return '[' + ', '.join(map(spelled, value)) + ']'
    return str(value) if str(value) else "''"


def _past(name: str, known: Catalogue, version: Version, worked_out: Mapping[str, Default]) -> Past:
    if name in known.variables:
        return _variable(name, known, version)
    if name in known.metrics:
        ranges = tuple((first, last, generation) for generation, first, last in known.metric_history(name))
        return Past(name, 'metric', ranges, 'emitted' if emits(known, name, version) else 'not emitted')
    option = known.spelling(name if name.startswith('-') else '--' + name.replace('_', '-'))
    found = known.find(option, version)
    history = known.history(found.flag.option if found.flag else option)
    if not history:
        near = known.suggest(option, version)
        raise UsageError(f'no release of {PRODUCTS[known.engine]} has {name!r}' + (f': did you mean {near}?' if near else ''))
    status = known.status(option, version)
    states = {'removed': 'gone', 'too-new': 'not there yet', 'known': 'there'}
    now = states.get(status.state, status.state)
    if status.between is not None:
        now += f' (first in {status.between[1]})' if status.state == 'too-new' else f' (last in {status.between[0]})'
    ranges = tuple((flag.first, flag.last, traits(flag)) for flag in history)
    own = row(found.flag, worked_out) if found.flag is not None and status.state == 'known' else None
    return Past(history[0].option, 'flag', ranges, now, own, known.replacement(option))


def _variable(name: str, known: Catalogue, version: Version) -> Past:
    status = known.env_status(name, version)
    ranges = tuple((first, last, f'default {spelled(default)}') for first, last, default in known.env_history(name))
    now = {'removed': 'gone', 'too-new': 'not there yet', 'known': 'read'}.get(status.state, status.state)
    return Past(name, 'environment variable', ranges, now, None, status.replacement)


def traits(flag: Flag) -> str:
    """Type, default, choices and bounds of a flag in a few words."""
    parts = [kind(flag), f'default {default_of(flag)}']
    parts += [f'one of {", ".join(choices(flag))}'] if choices(flag) else []
    parts += [limits(flag)] if flag.bounds else []
    parts += [f'deprecated{f", removal announced for {flag.removal}" if flag.removal else ""}'] if flag.deprecated or flag.removal else []
    return '; '.join(parts)


def kind(flag: Flag) -> str:
    """How the flag is written: 'switch', 'int', '8k or 8K int', 'json' ..."""
    switches = {'store_true': 'switch', 'store_const': 'switch', 'StoreBoolean': 'switch or =true/=false', 'bool_optional': 'switch with --no-'}
    names = {'human-int': 'int (8k, 8K)', 'human-int-or-auto': 'int (8k, 8K) or auto', 'str': 'text', 'enum': 'choice', 'custom': 'text'}
    return switches.get(flag.boolean) or names.get(flag.type, flag.type)


def limits(flag: Flag) -> str:
    """The bounds of a number: '> 0, <= 1'."""
    signs = {'gt': '>', 'ge': '>=', 'lt': '<', 'le': '<='}
    return ', '.join(f'{signs[name]} {bound:g}' for name, bound in flag.bounds)
