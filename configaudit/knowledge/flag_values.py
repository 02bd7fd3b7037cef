"""Whether an engine's parser takes a text as the value of a flag: its type, choices, limits, JSON.

Source: get_kwargs in vllm/engine/arg_utils.py and vllm/utils/argparse_utils.py; argparse for SGLang.
"""

from configaudit.knowledge.flag import Flag
from configaudit.knowledge.versions import Version, parse, release
from configaudit.knowledge.vllm import human_integer
from configaudit.patterns import regex

_WORDS = {'gt': 'above', 'ge': 'at least', 'lt': 'below', 'le': 'at most'}
_STRING = regex(r'("(?:[^"\\]|\\.)*")')
_SHORT_NUMBER = regex(r'\b(\d+(?:\.\d+)?)[kKmMgGtT]\b')
_ADAPTERS = '--lora-modules'
_QUANTIZATION = '--quantization'
_FREE_FROM = release('0.9.2')
"""From here on (SkipValidation) the parser takes any word for --quantization, plugins' names too."""
_NONE = frozenset(('', 'None'))
"""What vLLM's parser reads as no value (optional_type)."""
_WORDS_TOO = frozenset(('--additional-config', '--hf-overrides', '--model-loader-extra-config', '--override-pooler-config', '--pt-load-map-location'))
"""Flags of which vLLM reads only a whole {...} as JSON, and everything else as text (union_dict_and_str)."""
_STRICT_FROM = release('0.10.2')
"""The first release whose JSON flags were all tried against its own parser."""
_NO_PAIRS_FROM = release('0.10.0')
"""Releases before this one read key=number pairs where they want JSON (nullable_kvs in vllm/engine/arg_utils.py)."""
_PAIRS = regex(r'[^=,]+=\s*[+-]?\d+\s*(?:,[^=,]+=\s*[+-]?\d+\s*)*')
_LISTED = 12
"""So many choices a reason names."""


def refusal(engine: str, flag: Flag, text: str, version: Version | None = None) -> str:
    """Why an engine's parser refuses a value, or ''; without a version, why every release refuses it that has the flag so."""
    if engine == 'vllm' and flag.nullable and text in _NONE:
        return ''
    kind = flag.type.removeprefix('list[').removesuffix(']')
    if flag.option == _ADAPTERS:
        return _bad_adapter(text)
    if flag.choices and not (flag.option == _QUANTIZATION and _covers(flag, _FREE_FROM)):
        known = tuple(map(str, flag.choices))
        unclear = any('$' in choice for choice in known)
        return '' if text in known or unclear or (kind == 'int' and _equal(text, known)) else 'it wants one of ' + ', '.join(known[:_LISTED])
    if kind == 'json':
        if engine == 'vllm' and _PAIRS.fullmatch(text) and (version or parse(flag.first) or _NO_PAIRS_FROM) < _NO_PAIRS_FROM:
            return ''
        return _bad_json(flag, text, engine == 'sglang' or (_covers(flag, _STRICT_FROM) and not isinstance(flag.default, str)))
    if kind not in _NUMBERS:
        return ''
    number = _number(kind, text)
    return _NUMBERS[kind] if number is None else _outside(flag, number)


_NUMBERS = {
    'int': 'it wants a whole number', 'float': 'it wants a number', 'human-int': 'it wants a whole number (8k, 8K)',
    'human-int-or-auto': 'it wants a whole number (8k, 8K) or auto',
}  # fmt: skip


def _equal(text: str, known: tuple[str, ...]) -> bool:
    number = _number('int', text)
    return number is not None and str(number) in known


def _number(kind: str, text: str) -> float | None:
    if kind == 'human-int-or-auto' and text.strip().lower() == 'auto':
        return -1
    if kind.startswith('human-int'):
        return human_integer(text)
    try:
        return int(text) if kind == 'int' else float(text)
    except ValueError:
        return None


def _outside(flag: Flag, number: float) -> str:
    """Which limit a number breaks, or ''."""
    for sign, bound in flag.bounds:
        holds = {'gt': number > bound, 'ge': number >= bound, 'lt': number < bound, 'le': number <= bound}
        if not holds.get(sign, True):
            return f'it must be {_WORDS[sign]} {bound:g}'
    return ''


def _covers(flag: Flag, version: Version) -> bool:
    """Whether the flag is as described in this release or a later one."""
    last = parse(flag.last)
    return last is not None and last >= version


def _bad_adapter(text: str) -> str:
    """name=path, or JSON with these two (LoRAParserAction in vllm/entrypoints/openai/cli_args.py)."""
    import json

    if '=' in text and ',' not in text:
        return ''
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return '' if isinstance(found, dict) and {'name', 'path'} <= found.keys() else 'it wants name=path or a JSON object with name and path'


def _bad_json(flag: Flag, text: str, strict: bool) -> str:
    """Why a text is no JSON; '' where the flag takes other words too."""
    import json

    whole = text.strip()
    if flag.option in _WORDS_TOO:
        if not (whole.startswith('{') and whole.endswith('}')):
            return ''
    elif not strict and whole[:1] not in ('{', '['):
        return ''
    parts = _STRING.split(text)
    if whole[:1] == '{':
        parts[::2] = [_SHORT_NUMBER.sub(r'\1', part) for part in parts[::2]]  # {"a": 80g} is a number to newer releases
    try:
        json.loads(''.join(parts))
    except ValueError as problem:
        return f'it is no JSON ({str(problem).partition(":")[0].lower()})'
    return ''
