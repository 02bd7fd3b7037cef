"""The shipped histories against histories that were checked with the engines' own parsers.

Opt-in: CONFIGAUDIT_ENGINE_ORACLE names a folder with {vllm,sglang}_flag_history.json and vllm_metrics_history.json.
CORRECTIONS lists where the shipped data is right and the other is not, looked up in the engine's source.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from configaudit.knowledge.shipped import load as one_file

FOLDER = os.environ.get('CONFIGAUDIT_ENGINE_ORACLE', '')
pytestmark = pytest.mark.skipif(not FOLDER, reason='CONFIGAUDIT_ENGINE_ORACLE names no folder with flag histories')

ACTIONS = {
    'BooleanOptionalAction': 'bool_optional', 'bool_optional': 'bool_optional', 'store_true': 'store_true', 'DeprecatedStoreTrueAction': 'store_true',
    'DeprecatedStoreConstAction': 'store_const', 'DeprecatedAction': 'store_const', 'StoreBoolean': 'StoreBoolean',
}  # fmt: skip
# (engine, option, what differs): why the shipped data is right.
CORRECTIONS = {
    ('vllm', '--config', 'present'): 'added to the parser of `vllm serve` in vllm/scripts.py from 0.6.0',
    ('vllm', '--omni', 'present'): 'looked for in the arguments before they are parsed',
    ('vllm', '--guided-decoding-backend', 'present'): 'added in a loop in 0.11',
    ('vllm', '--guided-decoding-disable-additional-properties', 'present'): 'added in a loop in 0.11',
    ('vllm', '--guided-decoding-disable-any-whitespace', 'present'): 'added in a loop in 0.11',
    ('vllm', '--guided-decoding-disable-fallback', 'present'): 'added in a loop in 0.11',
    ('vllm', '--all2all-backend', 'choices'): 'one choice is removed before the flag is added',
    ('vllm', '--collect-detailed-traces', 'choices'): 'a list of literals has choices',
    ('vllm', '--anthropic-disabled-thinking-effort', 'choices'): 'an imported Literal',
    ('vllm', '--chat-template-content-format', 'choices'): 'an imported Literal',
    ('vllm', '--tool-strict-level', 'choices'): 'an imported Literal',
    ('vllm', '--quantization', 'choices'): 'get_args of an imported Literal',
    ('vllm', '--linear-backend', 'choices'): 'a function folds case and dashes before the choices are compared',
    ('vllm', '--moe-backend', 'choices'): 'a function folds case and dashes before the choices are compared',
    ('vllm', '--sparse-indexer-topk-backend', 'choices'): 'a function folds case and dashes before the choices are compared',
    ('vllm', '-O', 'present'): 'turned into --optimization-level before parsing',
    ('sglang', '--monokernel-backend', 'boolean'): 'its `nargs=None` makes the action take a word',
    ('sglang', '--speculative-dflash-draft-window-size', 'present'): 'a flag of its own before it became an alias',
}  # fmt: skip

def load(engine: str) -> dict[str, Any]:
    return {**one_file(engine), **one_file(f'{engine}_env'), **one_file(f'{engine}_metrics')}


def oracle(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(FOLDER) / name).read_text())
    return found


def at(entries: list[dict[str, Any]], version: str, places: dict[str, int]) -> dict[str, Any] | None:
    return next((each for each in entries if places[each['first']] <= places[version] <= places[each['last']]), None)


def spelled(engine: str) -> dict[str, dict[str, dict[str, Any]]]:
    """version -> spelling -> the shipped specification."""
    data = load(engine)
    places = {name: number for number, name in enumerate(data['versions'])}
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in data['versions']}
    for option, entries in data['flags'].items():
        for entry in entries:
            for version in data['versions'][places[entry['first']] : places[entry['last']] + 1]:
                for name in (option, *entry.get('aliases', ())):
                    found[version][name] = entry
    return found


def differences(engine: str) -> Iterator[tuple[str, str, str, object, object]]:
    """(option, what, version, theirs, ours)."""
    theirs = oracle(f'{engine}_flag_history.json')
    places = {name: number for number, name in enumerate(theirs['versions'])}
    ours = spelled(engine)
    for version in theirs['versions']:
        seen = set()
        for name, entries in theirs['flags'].items():
            found = at(entries, version, places)
            names = [each.replace('_', '-') for each in (name, *(found['spec']['flags'] if found else ()))]
            mine = next((ours[version][each] for each in names if each in ours[version]), None)
            if found is not None:
                seen |= set(names)
            if found is not None and mine is None:
                yield names[0], 'present', version, True, False
            elif found is not None and mine is not None:
                for what, left, right in compared(found['spec'], mine):
                    yield names[0], what, version, left, right
        for name in set(ours[version]) - seen:
            yield name, 'present', version, False, True


def compared(spec: dict[str, Any], mine: dict[str, Any]) -> Iterator[tuple[str, object, object]]:
    """What two specifications say differently, as far as both know it."""
    default = spec.get('default')
    open_default = isinstance(default, dict) and ('$dyn' in default or '$object' in default)
    if not open_default and not mine.get('computed') and default != mine.get('default'):
        if not (default is None and mine.get('boolean') == 'store_true'):
            yield 'default', default, mine.get('default')
    choices = {str(each) for each in spec.get('choices') or ()} - {'None'}
    if '$dyn' not in choices and choices != set(mine.get('choices', ())):
        yield 'choices', sorted(choices), mine.get('choices')
    if ACTIONS.get(spec.get('action') or '', '') != mine.get('boolean', ''):
        yield 'boolean', spec.get('action'), mine.get('boolean')
    if (spec.get('bounds') or {}) != mine.get('bounds', {}):
        yield 'bounds', spec.get('bounds'), mine.get('bounds')


def test_every_correction_is_needed() -> None:
    found = {(engine, option, what) for engine in ('vllm', 'sglang') for option, what, *_ in differences(engine)}
    assert set(CORRECTIONS) <= found


@pytest.mark.parametrize('engine', ['vllm', 'sglang'])
def test_flags_agree(engine: str) -> None:
    found = {
        (option, what, version): (theirs, ours)
        for option, what, version, theirs, ours in differences(engine)
        if (engine, option, what) not in CORRECTIONS
    }
    assert found == {}


def test_variables_of_vllm_agree() -> None:
    theirs, ours = oracle('vllm_flag_history.json'), load('vllm')
    old = {name: number for number, name in enumerate(theirs['versions'])}
    new = {name: number for number, name in enumerate(ours['versions'])}
    for version in theirs['versions']:
        left = {name for name, entries in theirs['env'].items() if at(entries, version, old)}
        right = {name for name, entries in ours['env'].items() if at(entries, version, new)}
        assert left ^ right <= ({'VLLM_MAIN_CUDA_VERSION'} if version == '0.10.2' else set()), version  # vllm/envs.py has it


def test_every_metric_of_vllm_is_there() -> None:
    theirs, ours = oracle('vllm_metrics_history.json'), load('vllm')
    old = {name: number for number, name in enumerate(theirs['versions'])}
    new = {name: number for number, name in enumerate(ours['versions'])}
    for version in theirs['versions']:
        left, right = (
            {
                (name, generation)
                for name, of in data['metrics'].items()
                for generation, ends in of.items()
                if any(places[first] <= places[version] <= places[last] for first, last in ends)
            }
            for data, places in ((theirs, old), (ours, new))
        )
        assert left <= right, version
