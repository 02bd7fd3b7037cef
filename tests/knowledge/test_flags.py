import time

import pytest

from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.shipped import load, settings
from configaudit.knowledge.versions import Version, parse, release

VLLM, SGLANG = catalogue('vllm'), catalogue('sglang')


def at(text: str) -> Version | None:
    return parse(text)


def test_versions() -> None:
    assert (str(VLLM.newest), str(SGLANG.newest)) == ('0.33.0', '0.5.23')
    assert list(VLLM.versions) == sorted(VLLM.versions)
    assert (len(VLLM.versions), len(SGLANG.versions)) == (84, 110)


@pytest.mark.parametrize(
    ('engine', 'option', 'version', 'state', 'exact'),
    [
        ('vllm', '--swap-space', '0.17.1', 'known', True),
        ('vllm', '--swap-space', '0.18.0', 'removed', True),
        ('vllm', '--swap-space', '0.18.1', 'removed', True),
        ('vllm', '--swap-space', '0.40.0', 'removed', False),
        ('vllm', '--rope-scaling', '0.11.0', 'known', True),
        ('vllm', '--rope-scaling', '0.11.1', 'removed', True),
        ('vllm', '--disable-log-requests', '0.16.0', 'known', True),
        ('vllm', '--disable-log-requests', '0.17.0', 'removed', True),
        ('vllm', '--disable-log-requests', '0.32.0', 'removed', True),
        ('vllm', '--disable-log-requests', '0.33.0', 'known', True),
        ('vllm', '--guided-decoding-backend', '0.11.2', 'known', True),
        ('vllm', '--guided-decoding-disable-fallback', '0.11.0', 'known', True),
        ('vllm', '--guided-decoding-backend', '0.12.0', 'removed', True),
        ('vllm', '--omni', '0.14.1', 'known', True),
        ('vllm', '--speculative-model', '0.8.1', 'known', True),
        ('vllm', '--speculative-model', '0.8.3', 'removed', True),
        ('vllm', '--shutdown-timeout', '0.17.1', 'too-new', True),
        ('vllm', '--shutdown-timeout', '0.18.0', 'known', True),
        ('vllm', '--max-num-sequences', '0.10.2', 'unknown', True),
        ('vllm', '--max-num', '0.10.2', 'ambiguous', True),
        ('vllm', '--brand-new', '0.40.0', 'newer-than-data', False),
        ('vllm', '--max-num-seqs', '0.40.0', 'known', False),
        ('vllm', '--max-num-seqs', '0.1.0', 'known', False),
        ('vllm', '--device-memory-utilization', '0.30.0', 'too-new', True),
        ('vllm', '--device-memory-utilization', '0.31.0', 'known', True),
        ('sglang', '--max-num-seqs', '0.5.9', 'unknown', True),
        ('sglang', '--cuda-graph-max-bs', '0.5.19', 'known', True),
        ('sglang', '--cuda-graph-max-bs', '0.5.20', 'removed', True),
        ('sglang', '--disable-flashinfer', '0.4.3', 'removed', True),
    ],
)
def test_status(engine: str, option: str, version: str, state: str, exact: bool) -> None:
    status = catalogue(engine).status(option, at(version))
    assert (status.state, status.exact) == (state, exact)


@pytest.mark.parametrize(
    ('option', 'version', 'between'),
    [
        ('--swap-space', '0.20.2', ('0.17.1', '0.18.0')),
        ('--shutdown-timeout', '0.12.0', ('0.17.1', '0.18.0')),
        ('--rope-theta', '0.13.0', ('0.11.0', '0.11.1')),
    ],
)
def test_between(option: str, version: str, between: tuple[str, str]) -> None:
    assert VLLM.status(option, at(version)).between == between


def test_a_removed_flag_may_be_read_as_another() -> None:
    status = VLLM.status('--device', at('0.24.0'))
    assert (status.state, status.reason) == ('removed', 'read as --device-ids')
    flag = VLLM.flag('--device', at('0.24.0'))
    assert flag is not None
    assert (flag.option, flag.abbreviated) == ('--device-ids', True)


def test_unknown_version_knows_what_any_version_has() -> None:
    assert VLLM.status('--swap-space', None).state == 'known'
    assert VLLM.status('--no-such-thing', None).state == 'unknown'


def test_first_and_last() -> None:
    assert (str(VLLM.first('--swap-space')), str(VLLM.last('--swap-space'))) == ('0.2.7', '0.17.1')
    assert VLLM.first('--no-such-thing') is None


@pytest.mark.parametrize(
    ('option', 'version', 'main'),
    [
        ('--max_num_seqs', '0.10.2', '--max-num-seqs'),
        ('-tp', '0.10.2', '--tensor-parallel-size'),
        ('-O3', '0.11.0', '--compilation-config'),
        ('-O3', '0.12.0', '--optimization-level'),
        ('-ep', '0.14.1', '--enable-expert-parallel'),
        ('--kv-transfer-config.kv_role', '0.11.0', '--kv-transfer-config'),
    ],
)
def test_spellings(option: str, version: str, main: str) -> None:
    flag = VLLM.flag(option, at(version))
    assert flag is not None
    assert (flag.option, flag.abbreviated) == (main, False)


@pytest.mark.parametrize(
    ('engine', 'option', 'version'),
    [
        ('vllm', '--enable-async-scheduling', '0.33.0'),
        ('vllm', '--compilation-config.level', '0.8.5'),
        ('vllm', '-O', '0.16.0'),
        ('sglang', '--context_length', '0.5.9'),
        ('sglang', '--json-model-override-args.a', '0.5.9'),
    ],
)
def test_what_no_parser_takes(engine: str, option: str, version: str) -> None:
    assert catalogue(engine).flag(option, at(version)) is None


def test_several_spellings_make_an_abbreviation_ambiguous() -> None:
    assert VLLM.status('--disable-log', at('0.33.0')).state == 'ambiguous'


def test_keys_of_a_json_flag() -> None:
    flag = VLLM.flag('--kv-transfer-config.a.b+', at('0.11.0'))
    assert flag is not None
    assert flag.key == 'a.b'


@pytest.mark.parametrize(
    ('engine', 'option', 'version', 'main'),
    [
        ('vllm', '--max-num-seq', '0.10.2', '--max-num-seqs'),
        ('sglang', '--tp', '0.5.9', '--tp-size'),
        ('sglang', '--dp', '0.5.9', '--dp-size'),
        ('sglang', '--model', '0.4.6', '--model-path'),
    ],
)
def test_abbreviations(engine: str, option: str, version: str, main: str) -> None:
    flag = catalogue(engine).flag(option, at(version))
    assert flag is not None
    assert (flag.option, flag.abbreviated) == (main, True)


def test_ambiguous_abbreviation_gives_a_reason() -> None:
    found = VLLM.find('--max-num', at('0.10.2'))
    assert found.flag is None
    assert '--max-num-seqs' in found.reason


@pytest.mark.parametrize('option', ['-', '--', ''])
def test_dashes_alone_are_no_abbreviation(option: str) -> None:
    assert VLLM.find(option, at('0.10.2')).reason == 'no such flag'


@pytest.mark.parametrize(
    ('version', 'boolean', 'takes_value'),
    [
        ('0.5.0.post1', 'store_true', False),
        ('0.7.3', 'StoreBoolean', True),
        ('0.8.5', 'bool_optional', False),
        ('0.33.0', 'bool_optional', False),
    ],
)
def test_boolean_styles_of_chunked_prefill(version: str, boolean: str, takes_value: bool) -> None:
    flag = VLLM.flag('--enable-chunked-prefill', at(version))
    assert flag is not None
    assert (flag.boolean, flag.takes_value) == (boolean, takes_value)


@pytest.mark.parametrize(
    ('option', 'version', 'main', 'negated'),
    [
        ('--no-enable-chunked-prefill', '0.8.5', '--enable-chunked-prefill', True),
        ('--no-async-scheduling', '0.14.1', '--async-scheduling', True),
        ('--disable-log-requests', '0.33.0', '--enable-log-requests', True),
        ('--disable-prefix-caching', '0.33.0', '--enable-prefix-caching', True),
        ('--enable-cascade-attn', '0.33.0', '--disable-cascade-attn', True),
    ],
)
def test_negation(option: str, version: str, main: str, negated: bool) -> None:
    flag = VLLM.flag(option, at(version))
    assert flag is not None
    assert (flag.option, flag.negated) == (main, negated)


def test_no_negation_before_its_time() -> None:
    assert VLLM.flag('--no-enable-chunked-prefill', at('0.7.3')) is None
    assert VLLM.flag('--disable-async-scheduling', at('0.32.0')) is None


@pytest.mark.parametrize(
    ('version', 'default'), [('0.19.1', 0.9), ('0.20.0', 0.92), ('0.20.2', 0.92), ('0.33.0', 0.92)]
)
def test_gpu_memory_utilization(version: str, default: float) -> None:
    flag = VLLM.flag('--gpu-memory-utilization', at(version))
    assert flag is not None
    assert flag.default == default


def test_bounds_and_choices() -> None:
    share = VLLM.flag('--gpu-memory-utilization', at('0.20.2'))
    block = VLLM.flag('--block-size', at('0.16.0'))
    assert share is not None
    assert block is not None
    assert share.bounds == (('gt', 0), ('le', 1))
    assert '128' in block.choices


def test_human_integers() -> None:
    types = [VLLM.flag('--max-model-len', at(version)) for version in ('0.8.0', '0.10.2', '0.14.1')]
    assert [flag and flag.type for flag in types] == ['int', 'human-int', 'human-int-or-auto']


def test_expressions_are_computed() -> None:
    flag = VLLM.flag('--ssl-cert-reqs', at('0.10.2'))
    assert flag is not None
    assert flag.computed


def test_unknown_version_gives_candidates_where_versions_differ() -> None:
    found = VLLM.find('--gpu-memory-utilization', None)
    assert found.flag is None
    assert {flag.default for flag in found.candidates} == {0.9, 0.92}


def test_unknown_version_gives_the_flag_where_versions_agree() -> None:
    flag = VLLM.flag('--disable-log-stats', None)
    assert flag is not None
    assert (flag.type, flag.first, flag.last) == ('bool', '0.2.7', '0.33.0')


def test_exactness_of_a_specification() -> None:
    flag = VLLM.flag('--gpu-memory-utilization', at('0.20.0.dev3'))
    assert flag is not None
    assert not flag.exact


@pytest.mark.parametrize(
    ('engine', 'option', 'text'),
    [
        ('vllm', '--task', '--runner'),
        ('vllm', '--worker-use-ray', 'ray'),
        ('vllm', '--swap_space', 'drop'),
        ('sglang', '--max-num-seqs', '--max-running-requests'),
        ('vllm', '--max-num-seqs', ''),
    ],
)
def test_replacement(engine: str, option: str, text: str) -> None:
    replacement = catalogue(engine).replacement(option)
    assert text in replacement
    assert bool(replacement) == bool(text)


def test_suggest() -> None:
    assert VLLM.suggest('--max-num-sequences', at('0.10.2')) == '--max-num-seqs'
    assert VLLM.suggest('--zzz', at('0.10.2')) is None


@pytest.mark.parametrize(
    ('name', 'version', 'state'),
    [
        ('VLLM_USE_V1', '0.11.0', 'known'),
        ('VLLM_USE_V1', '0.11.1', 'removed'),
        ('VLLM_ATTENTION_BACKEND', '0.14.1', 'known'),
        ('VLLM_ATTENTION_BACKEND', '0.15.1', 'removed'),
        ('VLLM_RPC_TIMEOUT', '0.23.0', 'removed'),
        ('VLLM_ALLOW_INSECURE_SERIALIZATION', '0.8.0', 'too-new'),
        ('VLLM_NO_SUCH', '0.10.2', 'unknown'),
        ('VLLM_NO_SUCH', '0.99.0', 'newer-than-data'),
    ],
)
def test_env_status(name: str, version: str, state: str) -> None:
    assert VLLM.env_status(name, at(version)).state == state


def test_env_of_sglang() -> None:
    assert SGLANG.env_status('SGLANG_X', at('0.5.9')).state == 'unknown'
    assert SGLANG.env_status('SGLANG_USE_MODELSCOPE', at('0.5.9')).state == 'known'


def test_env_of_an_engine_without_a_list() -> None:
    bare = Catalogue('bare', {'versions': ['1.0.0'], 'flags': {}}, {'flags': {}, 'env': {}})
    assert bare.env_status('X', at('1.0.0')).state == 'not-recorded'


def test_env_default() -> None:
    assert VLLM.env_default('VLLM_ALLOW_LONG_MAX_MODEL_LEN', release('0.10.2')) == '0'


def test_metric_history() -> None:
    assert ('V0', '0.2.7', '0.11.0') in VLLM.metric_history('vllm:gpu_cache_usage_perc')
    assert SGLANG.metric_history('sglang:num_queue_reqs') == (('', '0.3.5.post1', '0.5.23'),)
    assert SGLANG.metric_history('sglang:time_per_output_token_seconds') == (('', '0.3.5.post1', '0.4.4.post3'),)
    assert VLLM.metric_history('vllm:num_requests_swapped_out') == ()


def test_other_engines() -> None:
    rows = {row['setting']: row['default'] for row in settings('torchserve')['settings']}
    assert rows['maxBatchDelay'] == 100


def test_what_is_replaced_is_gone_or_deprecated_or_never_was() -> None:
    for engine, table in load('replacements').items():
        known = catalogue(engine)
        for option in table['flags']:
            spans = known.history(option)
            assert not spans or spans[-1].last != str(known.newest) or any(span.deprecated for span in spans), option


def test_ranges_are_in_order() -> None:
    for engine in ('vllm', 'sglang'):
        data = load(engine)
        places = {name: number for number, name in enumerate(data['versions'])}
        for option, ranges in data['flags'].items():
            ends = [places[each[key]] for each in ranges for key in ('first', 'last')]
            assert ends == sorted(ends), option


def test_loading_and_twenty_lookups_take_less_than_10_ms() -> None:
    options = [
        '--max-num-seqs',
        '-tp',
        '--dtype',
        '--host',
        '--port',
        '--seed',
        '--model',
        '--task',
        '-q',
        '--block-size',
    ]
    runs = []
    for _ in range(5):
        begin = time.perf_counter()
        fresh = Catalogue('vllm', load('vllm'), load('replacements')['vllm'])
        for option in options * 2:
            fresh.find(option, at('0.10.2'))
        runs.append(time.perf_counter() - begin)
    assert min(runs) < 0.010


def test_a_later_alias_that_is_an_abbreviation_before_is_accepted() -> None:
    known = catalogue('sglang').status('--model', parse('0.4.2.post4'))
    assert known.state == 'known'
    assert catalogue('sglang').status('--max-queued-requests', parse('0.4.2.post4')).state == 'too-new'


@pytest.mark.parametrize('engine', ['vllm', 'sglang'])
def test_what_a_rewriting_writes_exists(engine: str) -> None:
    known = catalogue(engine)
    for name, entry in load('replacements')[engine]['flags'].items():
        if 'write' in entry:
            assert known.status(entry['write'].partition('=')[0], None).state == 'known', name


@pytest.mark.parametrize(
    ('engine', 'option', 'version', 'written'),
    [
        ('vllm', '--guided-decoding-backend', '0.16.0', ('--structured-outputs-config.backend', False)),
        ('vllm', '--guided-decoding-backend', '0.10.2', ('', False)),
        ('vllm', '--mem-fraction-static', '0.16.0', ('--gpu-memory-utilization', True)),
        ('sglang', '--max-num-seqs', '0.5.9', ('--max-running-requests', False)),
        ('sglang', '--swap-space', '0.5.9', ('', False)),
    ],
)
def test_rewriting(engine: str, option: str, version: str, written: tuple[str, bool]) -> None:
    assert catalogue(engine).rewriting(option, at(version)) == written
