"""The options that are read from small sources in each style."""

from typing import Any

import pytest

from configaudit.knowledge.versions import release
from tools.engine_history.entry_points import flags

from .samples import DERIVED, OLD, SGLANG_NEW, SGLANG_OLD


def read(engine: str, version: str, sources: dict[str, str]) -> dict[str, dict[str, Any]]:
    return {name: spec for spec in flags(engine, release(version), sources) for name in spec['names'][:1]}


@pytest.mark.parametrize(
    ('option', 'spec'),
    [
        ('--model', {'type': 'str', 'default': 'toy'}),
        ('--max-num-seqs', {'names': ['--max-num-seqs', '--seqs'], 'type': 'int', 'default': 256}),
        ('--swap-space', {'type': 'float', 'default': 4}),
        ('--layers', {'type': 'list[int]', 'nargs': '+', 'default': [1, 2]}),
        ('--load-format', {'type': 'enum', 'choices': ['auto', 'pt'], 'default': 'auto'}),
        ('--tokenizer', {'type': 'str', 'nullable': True}),
        ('--chunked', {'type': 'bool', 'boolean': 'StoreBoolean', 'nargs': '?'}),
        ('--eager', {'type': 'bool', 'boolean': 'store_true', 'default': False, 'deprecated': True, 'removal': '0.9.0'}),
        ('--guided-a', {'type': 'str'}),
        ('--guided-b', {'type': 'bool'}),
        ('--cert', {'type': 'int', 'computed': True}),
        ('--key', {'type': 'str', 'computed': True}),
        ('--middleware', {'type': 'str', 'repeated': True, 'default': []}),
        ('--config', {'type': 'str', 'default': ''}),
    ],
)
def test_calls_of_add_argument(option: str, spec: dict[str, Any]) -> None:
    found = read('vllm', '0.6.0', OLD)[option]
    assert {key: found.get(key) for key in spec} == spec
    assert set(found) - set(spec) - {'names'} == set()


def test_other_subcommands_and_the_program_itself_are_left_out() -> None:
    found = read('vllm', '0.6.0', OLD)
    assert {'--system-prompt', '--version', '-v', 'model_tag', '--omni'} & set(found) == set()


@pytest.mark.parametrize(
    ('option', 'spec'),
    [
        ('--share', {'names': ['--share', '--device-share'], 'type': 'float', 'default': 0.92, 'bounds': {'gt': 0, 'le': 1}}),
        ('--kind', {'type': 'enum', 'choices': ['auto', 'fp8'], 'default': 'auto'}),
        ('--loose', {'type': 'str', 'default': 'auto', 'deprecated': True, 'removal': '0.34.0'}),
        ('--prefix', {'type': 'bool', 'boolean': 'bool_optional'}),
        ('--length', {'type': 'human-int-or-auto', 'bounds': {'ge': -1}, 'deprecated': True, 'removal': '0.12'}),
        ('--count', {'type': 'human-int', 'nullable': True}),
        ('--sizes', {'type': 'list[int]', 'nargs': '+', 'nullable': True}),
        ('--modules', {'type': 'list[str]', 'nargs': '+', 'choices': ['a'], 'default': []}),
        ('--other', {'names': ['--other', '-o'], 'type': 'json', 'computed': True}),
        ('--extra', {'type': 'json', 'default': {}}),
        ('--text-or-table', {'type': 'json-or-str', 'nullable': True}),
        ('--bounded', {'type': 'int', 'default': 3, 'bounds': {'ge': 1}}),
        ('--limits', {'type': 'json', 'default': {}}),
        ('--lowered', {'type': 'custom', 'default': 'auto'}),
        ('--optimization-level', {'names': ['--optimization-level', '-O'], 'type': 'int', 'default': 2}),
        ('--headless', {'type': 'bool', 'boolean': 'store_true', 'default': False}),
        ('--lora-modules', {'type': 'list[str]', 'nargs': '+', 'nullable': True}),
        ('--log', {'type': 'bool', 'boolean': 'bool_optional', 'computed': True}),
        ('--origins', {'type': 'json', 'default': ['*']}),
        ('--config', {'type': 'str', 'default': ''}),
        ('--omni', {'type': 'bool', 'boolean': 'store_true', 'default': False}),
    ],
)
def test_keywords_derived_from_configuration_classes(option: str, spec: dict[str, Any]) -> None:
    found = read('vllm', '0.33.0', DERIVED)[option]
    assert {key: found.get(key) for key in spec} == spec
    assert set(found) - set(spec) - {'names'} == set()


@pytest.mark.parametrize(
    ('option', 'spec'),
    [
        ('--model-path', {'names': ['--model-path', '--model'], 'type': 'str', 'required': True}),
        ('--tensor-parallel-size', {'names': ['--tensor-parallel-size', '--tp-size'], 'type': 'int', 'default': 1}),
        ('--schedule-policy', {'type': 'enum', 'choices': ['fcfs', 'lpm'], 'default': 'lpm'}),
    ],
)
def test_calls_of_sglang(option: str, spec: dict[str, Any]) -> None:
    found = read('sglang', '0.4.0', SGLANG_OLD)[option]
    assert {key: found.get(key) for key in spec} == spec


@pytest.mark.parametrize(
    ('option', 'spec'),
    [
        ('--model-path', {'names': ['--model-path', '--model'], 'type': 'str', 'required': True}),
        ('--port', {'type': 'int', 'default': 30000}),
        ('--host', {'type': 'str', 'nullable': True}),
        ('--tensor-parallel-size', {'names': ['--tensor-parallel-size', '--tp-size'], 'type': 'int', 'default': 1}),
        ('--metrics', {'type': 'bool', 'boolean': 'store_true', 'default': False}),
        ('--mode', {'type': 'enum', 'choices': ['a', 'b'], 'default': 'a'}),
        ('--backend', {'type': 'enum', 'choices': ['none', 'x']}),
        ('--buckets', {'type': 'list[float]', 'nargs': '+', 'nullable': True}),
        ('--table', {'type': 'json', 'nullable': True}),
        ('--reasoning', {'type': 'enum', 'choices': ['a', 'auto', 'b'], 'default': 'deep'}),
        ('--old', {'type': 'str', 'default': 7, 'deprecated': True}),
        ('--off', {'type': 'bool', 'boolean': 'store_true', 'default': False, 'deprecated': True}),
    ],
)
def test_fields_that_carry_their_argument(option: str, spec: dict[str, Any]) -> None:
    found = read('sglang', '0.5.23', SGLANG_NEW)[option]
    assert {key: found.get(key) for key in spec} == spec
    assert set(found) - set(spec) - {'names'} == set()


def test_fields_without_an_argument_are_left_out() -> None:
    assert set(read('sglang', '0.5.23', SGLANG_NEW)) & {'---hidden', '--hidden', '-hidden'} == set()


@pytest.mark.parametrize('engine', ['vllm', 'sglang'])
def test_a_parser_that_is_not_found_is_an_error(engine: str) -> None:
    with pytest.raises(LookupError, match=engine):
        flags(engine, release('1.0.0'), {'vllm/x.py': '', 'sglang/x.py': ''})
