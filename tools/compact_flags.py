"""Write the engine catalogues that the package ships from flag histories.

    python tools/compact_flags.py HISTORY [--metrics METRICS] OUTPUT
    python tools/compact_flags.py --others OTHERS OUTPUT

HISTORY: {"engine", "versions", "flags": {option: [{first, last, spec}]}, "env"?: the same}. The output holds names,
types and numbers only, has sorted keys and is the same for the same input.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Ranges = list[Json]

# Looked up in vllm 0.11.0 engine/arg_utils.py:630-643: added in a loop that static extraction cannot see, gone in
# 0.12.0.
VLLM_EXTENDED = {
    '--guided-decoding-backend': '0.11.2',
    '--guided-decoding-disable-fallback': '0.11.2',
    '--guided-decoding-disable-any-whitespace': '0.11.2',
    '--guided-decoding-disable-additional-properties': '0.11.2',
}
# vllm engine/arg_utils.py get_kwargs: these integers also take 8k (8000) and 8K (8192); max_model_len takes `auto`
# from 0.14.
VLLM_HUMAN_INTEGERS = (
    ('--max-model-len', '0.8.5', '0.13.0', 'human-int'),
    ('--max-model-len', '0.14.1', None, 'human-int-or-auto'),
    ('--max-num-batched-tokens', '0.9.0', None, 'human-int'),
    ('--kv-cache-memory-bytes', '0.10.2', None, 'human-int'),
)
PLAIN_TYPES = {'bool', 'int', 'float', 'str', 'enum'}
ACTIONS = {
    'BooleanOptionalAction': 'bool_optional',
    'bool_optional': 'bool_optional',
    'store_true': 'store_true',
    'DeprecatedStoreTrueAction': 'store_true',
    'DeprecatedStoreConstAction': 'store_const',
    'DeprecatedAction': 'store_const',
    'StoreBoolean': 'StoreBoolean',
}
JSON_TYPES = ('json', 'optional_type(json', 'CompilationConfig', 'KVTransferConfig', 'PoolerConfig', 'list[dict')


def compact_type(name: str) -> str:
    """One of bool, int, human-int, float, str, enum, json, list[...], custom."""
    if name in PLAIN_TYPES:
        return name
    if name in ('int(human)', 'human_readable_int'):
        return 'human-int'
    if name in ('optional_type(str)', 'nullable_str'):
        return 'str'
    if name.startswith(JSON_TYPES):
        return 'json'
    if name in ('list[int]', 'list[float]'):
        return name
    return 'list[str]' if name.startswith('list[') else 'custom'


def compact_default(default: object) -> Json:
    """The default of a specification; an expression or an object of the engine is only marked as computed."""
    if isinstance(default, dict) and ('$dyn' in default or '$object' in default):
        return {'computed': True}
    return {} if default is None else {'default': default}


def compact_spec(option: str, spec: Json) -> Json:
    """One specification without what follows from the option itself."""
    kind = compact_type(spec['type'])
    found: Json = {'type': kind, **compact_default(spec.get('default'))}
    aliases = [flag.replace('_', '-') for flag in spec['flags'] if flag.replace('_', '-') != option]
    if aliases:
        found['aliases'] = aliases
    if spec.get('action') in ACTIONS:
        found['boolean'] = ACTIONS[spec['action']]
    nargs = spec.get('nargs') or ('+' if kind.startswith('list[') and spec.get('action') != 'append' else None)
    if nargs:
        found['nargs'] = nargs
    if spec.get('choices'):
        found['choices'] = sorted(set(spec['choices']))
    if spec.get('dest') and spec.get('deprecated') and spec['dest'] != option.lstrip('-').replace('-', '_'):
        found['target'] = '--' + spec['dest'].replace('_', '-')
    return found | {
        key: spec[key] for key in ('bounds', 'nullable', 'deprecated', 'removal', 'required') if spec.get(key)
    }


def merge_equal(ranges: Ranges, versions: list[str]) -> Ranges:
    """Ranges in order of versions, neighbours with the same content joined."""
    merged: Ranges = []
    for entry in sorted(ranges, key=lambda each: versions.index(each['first'])):
        last = merged[-1] if merged else None
        adjacent = last is not None and versions.index(entry['first']) == versions.index(last['last']) + 1
        if last is not None and adjacent and rest(last) == rest(entry):
            last['last'] = entry['last']
        else:
            merged.append(entry)
    return merged


def rest(entry: Json) -> Json:
    """What a range says, without its ends."""
    return {key: value for key, value in entry.items() if key not in ('first', 'last')}


def compact_flags(history: Json) -> dict[str, Ranges]:
    """Option -> ranges; spellings that differ in `_` and `-` only are one option."""
    flags: dict[str, Ranges] = {}
    for name, ranges in history['flags'].items():
        option = name.replace('_', '-')
        found = [
            {'first': each['first'], 'last': each['last'], **compact_spec(option, each['spec'])} for each in ranges
        ]
        flags.setdefault(option, []).extend(found)
    return {option: merge_equal(ranges, history['versions']) for option, ranges in sorted(flags.items())}


def split_at(ranges: Ranges, version: str, versions: list[str]) -> Ranges:
    """The same ranges, none of which spans the start of `version`."""
    position = versions.index(version)
    done: Ranges = []
    for entry in ranges:
        if versions.index(entry['first']) < position <= versions.index(entry['last']):
            done += [entry | {'last': versions[position - 1]}, entry | {'first': version}]
        else:
            done.append(entry)
    return done


def correct_vllm(flags: dict[str, Ranges], versions: list[str]) -> None:
    """What the static extraction of vLLM missed."""
    for option, end_version in VLLM_EXTENDED.items():
        flags[option][-1]['last'] = end_version
    # `vllm` hands the whole command line over when it contains --omni (vllm-omni).
    flags['--omni'] = [
        {'first': '0.11.0', 'last': versions[-1], 'type': 'bool', 'default': False, 'boolean': 'store_true'}
    ]
    # vllm utils/argparse_utils.py: -O3, -O=3 and -O 3 become --optimization-level 3.
    for entry in flags['--optimization-level']:
        entry['aliases'] = ['-O']
    for option, first, last, kind in VLLM_HUMAN_INTEGERS:
        ranges = split_at(flags[option], first, versions)
        end = versions.index(last or versions[-1])
        for entry in ranges:
            if versions.index(first) <= versions.index(entry['first']) <= end:
                entry['type'] = kind
        flags[option] = merge_equal(ranges, versions)


def compact_env(history: Json) -> dict[str, Ranges]:
    """Variable -> ranges with default and choices."""
    env: dict[str, Ranges] = {}
    for name, ranges in sorted(history.get('env', {}).items()):
        found = [
            {
                'first': each['first'],
                'last': each['last'],
                **compact_default(each['spec'].get('default')),
                **({'choices': sorted(set(each['spec']['choices']))} if each['spec'].get('choices') else {}),
            }
            for each in ranges
        ]
        env[name] = merge_equal(found, history['versions'])
    return env


def catalogue(history: Json, metrics: Json | None) -> Json:
    """The shipped form of one engine's history."""
    flags = compact_flags(history)
    if history['engine'] == 'vllm':
        correct_vllm(flags, history['versions'])
    found: Json = {
        'engine': history['engine'],
        'versions': history['versions'],
        'flags': flags,
        'env': compact_env(history),
    }
    if metrics is not None:
        found['metrics'] = metrics['metrics']
        found['metric_versions'] = metrics['versions']
    return found


def others(settings: Json) -> Json:
    """The hand-kept settings of the other servers: setting, default, where, note, and the source of the table."""
    fields = ('setting', 'default', 'where', 'note')
    return {
        engine: {key: table[key] for key in ('image', 'source', 'syntax') if key in table}
        | {'settings': [{key: row[key] for key in fields} for row in table['settings']]}
        for engine, table in settings.items()
    }


def lines(value: Json) -> str:
    """JSON with one line for each option, so that a change shows in a diff as the option it touches."""
    parts = []
    for key, content in sorted(value.items()):
        if isinstance(content, dict):
            rows = [f'  {json.dumps(name)}: {dump(entry)}' for name, entry in sorted(content.items())]
            parts.append(f'{json.dumps(key)}: {{\n' + ',\n'.join(rows) + '\n}')
        else:
            parts.append(f'{json.dumps(key)}: {dump(content)}')
    return '{\n' + ',\n'.join(parts) + '\n}\n'


def dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description='compact an engine flag history')
    parser.add_argument('source', type=Path)
    parser.add_argument('output', type=Path)
    parser.add_argument('--metrics', type=Path, help='metric history to add')
    parser.add_argument('--others', action='store_true', help='the source is the settings table of the other servers')
    options = parser.parse_args(arguments)
    source = json.loads(options.source.read_text())
    metrics = json.loads(options.metrics.read_text()) if options.metrics else None
    options.output.write_text(lines(others(source) if options.others else catalogue(source, metrics)))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
