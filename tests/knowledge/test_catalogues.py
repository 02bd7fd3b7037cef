"""What must hold for the shipped catalogues, and facts that were looked up in the engines' own releases."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from configaudit.knowledge import shipped
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.shipped import load as one_file
from configaudit.knowledge.versions import Version, release

ENGINES = ('vllm', 'sglang')
DATA = {engine: {**one_file(engine), **one_file(f'{engine}_env'), **one_file(f'{engine}_metrics')} for engine in ENGINES}
SPEC = {
    'first', 'last', 'type', 'default', 'computed', 'aliases', 'boolean', 'nargs', 'choices', 'bounds', 'nullable', 'deprecated', 'removal', 'required',
    'target', 'repeated',
}  # fmt: skip
TYPES = {'bool', 'int', 'human-int', 'human-int-or-auto', 'float', 'str', 'enum', 'json', 'json-or-str', 'list[int]', 'list[float]', 'list[str]', 'list[bool]', 'custom'}
BOOLEANS = {'store_true', 'store_const', 'StoreBoolean', 'bool_optional'}


def places(engine: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(DATA[engine]['versions'])}


def test_all_shipped_data_is_small() -> None:
    folder = Path(shipped.__file__).parent / 'engines'
    assert sum(file.stat().st_size for file in folder.iterdir()) < 600_000


@pytest.mark.parametrize('engine', ENGINES)
def test_versions_ascend(engine: str) -> None:
    names = DATA[engine]['versions']
    assert names == sorted(set(names), key=release)


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize('part', ['flags', 'env'])
def test_ranges_ascend_and_neighbours_differ(engine: str, part: str) -> None:
    at = places(engine)
    for name, ranges in DATA[engine][part].items():
        ends = [(at[each['first']], at[each['last']]) for each in ranges]
        assert all(first <= last for first, last in ends), name
        assert all(before[1] < after[0] for before, after in pairwise(ends)), name
        for (_, last), (first, _), old, new in zip(ends, ends[1:], ranges, ranges[1:]):
            assert first > last + 1 or {**old, 'first': 0, 'last': 0} != {**new, 'first': 0, 'last': 0}, name


@pytest.mark.parametrize('engine', ENGINES)
@pytest.mark.parametrize('part', ['metrics', 'hidden_metrics'])
def test_ranges_of_metrics_ascend(engine: str, part: str) -> None:
    at = places(engine)
    for name, generations in DATA[engine][part].items():
        assert name.startswith(f'{engine}:')
        assert set(generations) <= ({'V0', 'V1'} if engine == 'vllm' else {''})
        for ranges in generations.values():
            ends = [at[end] for pair in ranges for end in pair]
            assert ends == sorted(ends), name


def specifications(engine: str) -> list[tuple[str, dict[str, Any]]]:
    return [(option, entry) for option, entries in DATA[engine]['flags'].items() for entry in entries]


@pytest.mark.parametrize('engine', ENGINES)
def test_specifications(engine: str) -> None:
    for option, entry in specifications(engine):
        assert option.startswith('-'), option
        assert '_' not in option, option
        assert set(entry) <= SPEC, option
        assert entry['type'] in TYPES, option
        assert entry.get('boolean', 'store_true') in BOOLEANS, option
        assert set(entry.get('bounds', {})) <= {'gt', 'ge', 'lt', 'le'}, option
        assert not (entry.get('computed') and 'default' in entry), option
        assert not (entry.get('boolean') == 'bool_optional' and entry['type'] != 'bool'), option
        choices = entry.get('choices')
        assert choices is None or (choices == sorted(set(choices)) and all(isinstance(each, str) for each in choices)), option


@pytest.mark.parametrize('engine', ENGINES)
def test_a_default_is_one_of_the_choices(engine: str) -> None:
    odd = {'--flashinfer-mxfp4-moe-precision', '--hicache-io-backend'}  # the engine's own default is none of its choices
    for option, entry in specifications(engine):
        default = entry.get('default')
        if entry.get('choices') and isinstance(default, (str, int)) and default is not False and option not in odd:
            assert str(default) in entry['choices'], option


@pytest.mark.parametrize('engine', ENGINES)
def test_no_release_declares_a_spelling_twice(engine: str) -> None:
    at = places(engine)
    taken: dict[tuple[str, int], str] = {}
    for option, entry in specifications(engine):
        for name in (option, *entry.get('aliases', ())):
            for version in range(at[entry['first']], at[entry['last']] + 1):
                other = taken.setdefault((name, version), option)
                assert other == option, f'{name} is {other} and {option}'


@pytest.mark.parametrize('engine', ENGINES)
def test_no_prose(engine: str) -> None:
    for option, entry in specifications(engine):
        texts = [each for each in (entry.get('default'), *entry.get('choices', ())) if isinstance(each, str)]
        assert all(len(text) < 80 and text.count(' ') < 4 for text in texts), option


@pytest.mark.parametrize(('version', 'count'), [('0.2.7', 39), ('0.4.2', 81), ('0.8.5', 137), ('0.10.2', 176), ('0.16.0', 212), ('0.22.1', 261), ('0.33.0', 320)])
def test_as_many_flags_as_the_real_parser_of_vllm_has(version: str, count: int) -> None:
    at = places('vllm')[version]
    there = {option for option, entry in specifications('vllm') if places('vllm')[entry['first']] <= at <= places('vllm')[entry['last']]}
    assert len(there - {'--omni'}) == count


@pytest.mark.parametrize(('version', 'count'), [('0.3.6', 79), ('0.4.3', 98), ('0.5.9', 331), ('0.5.14', 420), ('0.5.19', 503), ('0.5.23', 531)])
def test_as_many_flags_as_the_real_parser_of_sglang_has(version: str, count: int) -> None:
    at = places('sglang')
    assert sum(at[entry['first']] <= at[version] <= at[entry['last']] for _, entry in specifications('sglang')) == count


@pytest.mark.parametrize(
    ('engine', 'option', 'last'),
    [
        ('vllm', '--swap-space', '0.17.1'),
        ('vllm', '--task', '0.12.0'),
        ('vllm', '--device', '0.9.2'),
        ('vllm', '--speculative-model', '0.8.2'),
        ('vllm', '--guided-decoding-backend', '0.11.2'),
        ('vllm', '--num-scheduler-steps', '0.10.0'),
        ('vllm', '--rope-scaling', '0.11.0'),
        ('vllm', '--engine-use-ray', '0.6.1'),
        ('vllm', '--worker-use-ray', '0.6.6.post1'),
        ('vllm', '--max-num-partial-prefills', '0.26.0'),
        ('vllm', '--calculate-kv-scales', '0.27.1'),
        ('sglang', '--cuda-graph-max-bs', '0.5.19'),
        ('sglang', '--disable-flashinfer', '0.4.1.post1'),
        ('sglang', '--enable-flashmla', '0.4.7'),
    ],
)
def test_the_last_release_with_a_flag(engine: str, option: str, last: str) -> None:
    assert DATA[engine]['flags'][option][-1]['last'] == last


@pytest.mark.parametrize(
    ('engine', 'option', 'version', 'default'),
    [
        ('vllm', '--gpu-memory-utilization', '0.19.1', 0.9),
        ('vllm', '--gpu-memory-utilization', '0.20.0', 0.92),
        ('vllm', '--max-num-seqs', '0.6.4.post1', 256),
        ('vllm', '--max-num-seqs', '0.6.5', None),
        ('vllm', '--generation-config', '0.7.3', None),
        ('vllm', '--generation-config', '0.8.0', 'auto'),
        ('vllm', '--async-scheduling', '0.13.0', False),
        ('vllm', '--async-scheduling', '0.14.0', None),
        ('vllm', '--shutdown-timeout', '0.18.0', 0),
        ('vllm', '--allowed-origins', '0.31.0', ('*',)),
        ('vllm', '--allowed-origins', '0.32.0', ()),
        ('sglang', '--watchdog-timeout', '0.3.5', 600),
        ('sglang', '--watchdog-timeout', '0.3.5.post1', 300),
        ('sglang', '--schedule-policy', '0.4.3.post2', 'lpm'),
        ('sglang', '--schedule-policy', '0.4.3.post3', 'fcfs'),
        ('sglang', '--chunked-prefill-size', '0.3.6.post3', 8192),
        ('sglang', '--chunked-prefill-size', '0.4.0', None),
        ('sglang', '--enable-metrics', '0.5.23', False),
        ('sglang', '--host', '0.5.23', '127.0.0.1'),
    ],
)
def test_defaults(engine: str, option: str, version: str, default: object) -> None:
    flag = catalogue(engine).flag(option, release(version))
    assert flag is not None
    assert (flag.default, flag.computed, flag.exact) == (default, False, True)


@pytest.mark.parametrize(
    ('version', 'boolean'),
    [('0.4.1', 'store_true'), ('0.5.2', 'store_true'), ('0.5.3', 'StoreBoolean'), ('0.8.4', 'StoreBoolean'), ('0.8.5', 'bool_optional'), ('0.33.0', 'bool_optional')],
)
def test_how_chunked_prefill_is_written(version: str, boolean: str) -> None:
    flag = catalogue('vllm').flag('--enable-chunked-prefill', release(version))
    assert flag is not None
    assert flag.boolean == boolean


@pytest.mark.parametrize(
    ('engine', 'name', 'expected'),
    [
        ('vllm', 'vllm:num_requests_running', [('V0', '0.2.7', '0.11.0'), ('V1', '0.7.1', '0.33.0')]),
        ('vllm', 'vllm:gpu_cache_usage_perc', [('V0', '0.2.7', '0.11.0'), ('V1', '0.7.1', '0.11.2')]),
        ('vllm', 'vllm:num_requests_swapped_out', []),
        ('sglang', 'sglang:token_usage', [('', '0.3.5.post1', '0.5.23')]),
        ('sglang', 'sglang:queue_time_s', [('', '0.5.2', '0.5.2')]),
    ],
)
def test_metrics(engine: str, name: str, expected: list[tuple[str, str, str]]) -> None:
    assert list(catalogue(engine).metric_history(name)) == expected


def test_metrics_that_are_hidden_by_default() -> None:
    assert DATA['vllm']['hidden_metrics']['vllm:gpu_cache_usage_perc'] == {'V1': [['0.11.0', '0.11.2']]}


def test_versions_that_no_index_lists_are_read_as_neighbours() -> None:
    assert catalogue('vllm').status('--shutdown-timeout', Version((0, 18, 0, 0), -4, 3)).exact is False


TABLES = {'bentoml', 'charts', 'dynamo', 'kserve', 'llama.cpp-server', 'lmdeploy', 'ollama', 'ray-serve', 'tensorrt-llm', 'tf-serving', 'tgi', 'torchserve', 'triton'}


def test_every_hand_kept_table_says_where_and_when_it_was_read() -> None:
    tables = one_file('others')
    assert set(tables) == TABLES
    for name, table in tables.items():
        assert table['source'], name
        assert table['verified_at'], name
        names = [row['setting'] for row in table['settings']]
        assert len(names) == len(set(names)), name
        assert all(set(row) == {'setting', 'default', 'where', 'note'} for row in table['settings']), name
