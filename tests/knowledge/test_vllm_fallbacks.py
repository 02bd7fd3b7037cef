"""The conditions under which vLLM 0.8 to 0.10 starts V0; each row was looked up in the release named and the one after."""

import pytest

from configaudit.knowledge import vllm
from configaudit.knowledge.gpus import lookup
from configaudit.knowledge.versions import release
from configaudit.knowledge.vllm_fallbacks import FLAGS, v0_reason


@pytest.mark.parametrize(
    ('version', 'gpu', 'generation'),
    [
        ('0.8.0', 'T4', 'V0'),
        ('0.10.1.1', 'V100', 'V0'),
        ('0.10.2', 'T4', 'V1'),
        ('0.8.5', 'A10', 'V1'),
        ('0.9.1', 'MI300X', 'V0'),
        ('0.9.2', 'MI300X', 'V1'),
    ],
)
def test_gpus(version: str, gpu: str, generation: str) -> None:
    assert vllm.engine_generation(release(version), {}, lookup(gpu)).value == generation


def test_an_asked_for_engine_does_not_fall_back() -> None:
    assert vllm.engine_generation(release('0.8.5'), {'VLLM_USE_V1': '1'}, lookup('T4')).value == 'V1'


@pytest.mark.parametrize(('version', 'generation'), [('0.9.0', 'V0'), ('0.9.1', 'V1')])
def test_the_cpu_build(version: str, generation: str) -> None:
    assert vllm.engine_generation(release(version), {'cpu': True}).value == generation


@pytest.mark.parametrize(
    ('version', 'executor', 'generation'),
    [
        ('0.8.2', 'ray', 'V0'),
        ('0.8.3', 'ray', 'V1'),
        ('0.8.5', 'mp', 'V0'),
        ('0.9.0', 'mp', 'V1'),
        ('0.9.0.1', None, 'V0'),
        ('0.9.1', None, 'V1'),
    ],
)
def test_pipeline_stages(version: str, executor: str | None, generation: str) -> None:
    settings = {'pipeline_parallel_size': 2, 'distributed_executor_backend': executor}
    assert vllm.engine_generation(release(version), settings).value == generation


@pytest.mark.parametrize(
    ('version', 'flag', 'value', 'generation'),
    [
        ('0.10.0', '--num-scheduler-steps', '8', 'V0'),
        ('0.10.0', '--num-scheduler-steps', '1', 'V1'),
        ('0.9.1', '--scheduling-policy', 'priority', 'V0'),
        ('0.9.2', '--scheduling-policy', 'priority', 'V1'),
        ('0.8.2', '--cpu-offload-gb', '4', 'V0'),
        ('0.8.3', '--cpu-offload-gb', '4', 'V1'),
        ('0.8.2', '--enable-lora', '', 'V0'),
        ('0.8.3', '--enable-lora', '', 'V1'),
        ('0.9.1', '--dtype', 'float32', 'V0'),
        ('0.9.1', '--dtype', 'bfloat16', 'V1'),
        ('0.9.1', '--task', 'embed', 'V0'),
        ('0.10.1', '--otlp-traces-endpoint', 'http://c:4317', 'V0'),
        ('0.10.2', '--otlp-traces-endpoint', 'http://c:4317', 'V1'),
        ('0.10.2', '--preemption-mode', 'swap', 'V0'),
        ('0.11.0', '--preemption-mode', 'swap', 'V1'),
    ],
)
def test_flags(version: str, flag: str, value: str, generation: str) -> None:
    found = vllm.engine_generation(release(version), {}, lookup('H100'), given={flag: value})
    assert found.value == generation
    assert generation == 'V1' or flag in found.condition


def test_every_flag_of_the_table_exists_while_it_falls_back() -> None:
    from configaudit.knowledge.flags import catalogue

    for each in FLAGS:
        assert catalogue('vllm').status(each.flag, release('0.8.0')).state == 'known', each.flag
        assert v0_reason(release('0.8.0'), {}, None, {each.flag: 'another'}), each.flag


@pytest.mark.parametrize(('version', 'value'), [('0.8.1', 'V0'), ('0.8.2', 'V1')])
def test_fp8_caches_before_v1_took_them(version: str, value: str) -> None:
    assert vllm.engine_generation(release(version), {'kv_cache_dtype': 'fp8'}, lookup('H100')).value == value
