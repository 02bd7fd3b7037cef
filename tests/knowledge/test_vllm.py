import pytest

from configaudit.knowledge import vllm
from configaudit.knowledge.gpus import lookup
from configaudit.knowledge.versions import parse
from configaudit.knowledge.vllm import Serving

BATCHED_EXPERTS = {'--all2all-backend': 'deepep_low_latency', '--enable-expert-parallel': '', '--data-parallel-size': '8'}


@pytest.mark.parametrize(
    ('version', 'gpu', 'value'),
    [
        ('0.6.4.post1', 'H100', 256),
        ('0.7.3', 'H100', 256),
        ('0.8.0', 'T4', 256),
        ('0.8.3', 'A100-80GB', 1024),
        ('0.8.4', 'A100-80GB', 256),
        ('0.8.4', 'H100', 1024),
        ('0.8.5', 'A100-80GB', 1024),
        ('0.8.5', 'A100-40GB', 256),
        ('0.8.5', 'L4', 256),
        ('0.9.0', 'A100-80GB', 256),
        ('0.10.2', 'H200', 1024),
        ('0.16.0', 'L40S', 256),
        ('0.27.1', 'B200', 1024),
        ('0.28.0', 'B200', 1024),
        ('0.32.0', 'GB10', 1024),
        ('0.33.0', 'GB10', 256),
        ('0.10.2', 'MI300X', 1024),
    ],
)
def test_max_num_seqs(version: str, gpu: str, value: int) -> None:
    default = vllm.max_num_seqs(parse(version), lookup(gpu))
    assert (default.value, default.known) == (value, True)


@pytest.mark.parametrize(
    ('version', 'serving', 'value'),
    [
        ('0.7.3', Serving(use_v1=True), 1024),
        ('0.8.5', Serving(v0_forced=True), 256),
        ('0.8.5', Serving(pipeline_parallel=2), 256),
        ('0.8.5', Serving(pipeline_parallel=2, ray_executor=True), 1024),
        ('0.9.2', Serving(pipeline_parallel=2), 1024),
        ('0.12.0', Serving(v0_forced=True), 1024),
        ('0.16.0', Serving(throughput_mode=True), 1024),
        ('0.17.1', Serving(throughput_mode=True), 2048),
        ('0.12.0', Serving(usage='none'), 128),
        ('0.10.2', Serving(cpu=True, tensor_parallel=2), 256),
        ('0.10.2', Serving(cpu=True, usage='library'), 256),
        ('0.9.2', Serving(cpu=True), 32),
        ('0.10.0', Serving(cpu=True, tensor_parallel=2), 256),
        ('0.9.0', Serving(cpu=True), 256),
        ('0.6.4', Serving(use_v1=True), 256),
        ('0.6.5', Serving(use_v1=True), 1024),
        ('0.9.0', Serving(pipeline_parallel=2), 256),
        ('0.9.1', Serving(pipeline_parallel=2), 1024),
        ('0.8.2', Serving(pipeline_parallel=2, ray_executor=True), 256),
        ('0.8.3', Serving(pipeline_parallel=2, ray_executor=True), 1024),
        ('0.20.0', Serving(given=BATCHED_EXPERTS), 256),
        ('0.19.1', Serving(given=BATCHED_EXPERTS), 1024),
        ('0.10.0', Serving(given={'--num-scheduler-steps': '8'}), 256),
        ('0.10.0', Serving(given={'--num-scheduler-steps': '1'}), 1024),
    ],
)
def test_max_num_seqs_and_the_fallbacks(version: str, serving: Serving, value: int) -> None:
    assert vllm.max_num_seqs(parse(version), lookup('H100'), serving).value == value


def test_fp8_kv_cache_falls_back_to_v0_on_ampere() -> None:
    serving = Serving(kv_cache_dtype='fp8')
    assert vllm.max_num_seqs(parse('0.8.5'), lookup('A100-80GB'), serving).value == 256
    assert vllm.max_num_seqs(parse('0.8.5'), lookup('H100'), serving).value == 1024


def test_sequences_do_not_exceed_the_token_budget() -> None:
    assert vllm.max_num_seqs(parse('0.10.1'), lookup('H100'), max_num_batched_tokens=512).value == 512
    assert vllm.max_num_seqs(parse('0.9.2'), lookup('H100'), max_num_batched_tokens=512).value == 1024


@pytest.mark.parametrize(
    ('version', 'gpu', 'candidates'),
    [
        ('0.10.2', None, (256, 1024)),
        (None, 'A100-80GB', (256, 1024)),
        (None, None, (256, 1024)),
        ('0.8.1', None, (1024,)),
        ('0.6.0', None, (256,)),
        ('0.10.2', 'nvidia.com/mig-1g.10gb', (256,)),
    ],
)
def test_candidates_of_an_unknown_version_or_gpu(
    version: str | None, gpu: str | None, candidates: tuple[int, ...]
) -> None:
    default = vllm.max_num_seqs(parse(version) if version else None, lookup(gpu) if gpu else None)
    assert default.candidates == candidates
    assert default.value == (candidates[0] if len(candidates) == 1 else None)


@pytest.mark.parametrize(
    ('version', 'gpu', 'serving', 'value'),
    [
        ('0.6.6', 'H100', Serving(use_v1=True), 2048),
        ('0.7.0', 'H100', Serving(use_v1=True), 8192),
        ('0.7.0', 'A100-80GB', Serving(use_v1=True), 2048),
        ('0.7.3', 'H100', Serving(use_v1=True), 8192),
        ('0.8.0', 'A100-80GB', Serving(), 2048),
        ('0.8.5', 'A100-80GB', Serving(), 8192),
        ('0.9.0', 'A100-80GB', Serving(), 2048),
        ('0.9.0', 'H100', Serving(), 8192),
        ('0.9.0', 'H100', Serving(usage='library'), 16384),
        ('0.9.0', 'L4', Serving(usage='library'), 8192),
        ('0.28.0', 'B200', Serving(), 16384),
        ('0.6.0', 'A100-80GB', Serving(max_model_len=4096), 4096),
        ('0.6.0', 'A100-80GB', Serving(max_model_len=131072), 512),
        ('0.6.6', 'A100-80GB', Serving(max_model_len=131072), 2048),
        ('0.16.0', 'L4', Serving(chunked_prefill=False, max_model_len=8192), 8192),
        ('0.10.2', 'L4', Serving(cpu=True), 2048),
        ('0.12.0', 'H100', Serving(usage='none'), 2048),
        ('0.10.0', 'L4', Serving(cpu=True, tensor_parallel=2), 4096),
        ('0.9.2', 'L4', Serving(cpu=True, tensor_parallel=2), 2048),
        ('0.16.0', 'H100', Serving(max_num_seqs=4, max_model_len=512), 2048),
        ('0.11.0', 'H100', Serving(max_num_seqs=4, max_model_len=512), 8192),
        ('0.17.0', 'H100', Serving(throughput_mode=True, chunked_prefill=False, max_model_len=9000), 16384),
        ('0.17.0', 'H100', Serving(throughput_mode=True, chunked_prefill=False, max_model_len=20000), 20000),
        ('0.20.0', 'H100', Serving(given=BATCHED_EXPERTS), 256),
        ('0.19.1', 'H100', Serving(given=BATCHED_EXPERTS), 8192),
    ],
)
def test_max_num_batched_tokens(version: str, gpu: str, serving: Serving, value: int) -> None:
    assert vllm.max_num_batched_tokens(parse(version), lookup(gpu), serving).value == value


def test_tokens_under_v0_are_open_without_a_context_length() -> None:
    default = vllm.max_num_batched_tokens(parse('0.6.0'), lookup('A100'))
    assert (default.value, default.candidates) == (None, ())


@pytest.mark.parametrize(
    ('version', 'settings', 'gpu', 'value'),
    [
        ('0.7.3', {}, None, 'V0'),
        ('0.7.3', {'VLLM_USE_V1': '1'}, None, 'V1'),
        ('0.8.5', {}, None, 'V1'),
        ('0.8.5', {'VLLM_USE_V1': '0'}, None, 'V0'),
        ('0.11.0', {'VLLM_USE_V1': '0'}, None, 'V1'),
        ('0.8.5', {'pipeline_parallel_size': 2}, None, 'V0'),
        ('0.8.5', {'pipeline_parallel_size': 2, 'distributed_executor_backend': 'ray'}, None, 'V1'),
        ('0.10.2', {'pipeline_parallel_size': 2}, None, 'V1'),
        ('0.10.2', {'kv_cache_dtype': 'fp8'}, 'A100', 'V0'),
        ('0.10.2', {'kv_cache_dtype': 'fp8'}, 'H100', 'V1'),
        ('0.10.2', {'kv_cache_dtype': 'fp8'}, None, None),
        (None, {}, None, None),
    ],
)
def test_engine_generation(
    version: str | None, settings: dict[str, object], gpu: str | None, value: str | None
) -> None:
    found = vllm.engine_generation(parse(version) if version else None, settings, lookup(gpu) if gpu else None)
    assert found.value == value
    assert found.condition


@pytest.mark.parametrize(
    ('version', 'gpu', 'backend', 'use_v1', 'state'),
    [
        ('0.4.2', 'A100', '', False, 'native'),
        ('0.8.5', 'A100', '', False, 'fallback-v0'),
        ('0.8.5', 'A100', '', True, 'error'),
        ('0.10.2', 'L4', '', False, 'fallback-v0'),
        ('0.10.2', 'H100', '', False, 'native'),
        ('0.11.0', 'A100', '', False, 'error'),
        ('0.10.2', 'A100', 'FLASHINFER', False, 'native'),
        ('0.10.0', 'B200', '', False, 'native'),
        ('0.9.2', 'B200', '', False, 'fallback-v0'),
        ('0.16.0', 'RTX-3090', '', False, 'unknown'),
        ('0.16.0', 'RTX-3090', 'TRITON_ATTN', False, 'error'),
        ('0.16.0', 'L4', 'FLASH_ATTN', False, 'error'),
        ('0.16.0', 'H100', 'FLASH_ATTN', False, 'native'),
        ('0.33.0', 'T4', 'FLASHINFER', False, 'error'),
        ('0.16.0', 'V100', '', False, 'error'),
        ('0.16.0', 'A100', 'FLASHINFER', False, 'native'),
        ('0.16.0', 'V100', 'FLASHINFER', False, 'error'),
        ('0.16.0', 'L4', '', False, 'native'),
        ('0.16.0', 'B200', '', False, 'native'),
        ('0.16.0', 'MI300X', '', False, 'unknown'),
        ('0.16.0', '', '', False, 'unknown'),
        ('', 'A100', '', False, 'unknown'),
    ],
)
def test_fp8_kv_support(version: str, gpu: str, backend: str, use_v1: bool, state: str) -> None:
    support = vllm.fp8_kv_support(parse(version), lookup(gpu), backend=backend, use_v1=use_v1)
    assert support.state == state
    assert support.why
    assert support.source


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('8192', 8192),
        ('8k', 8000),
        ('8K', 8192),
        ('25.6k', 25600),
        ('1M', 1048576),
        ('-1', -1),
        ('1.5K', None),
        ('auto', None),
        ('', None),
    ],
)
def test_human_integer(text: str, value: int | None) -> None:
    assert vllm.human_integer(text) == value


def test_gpu_memory_utilization() -> None:
    assert vllm.gpu_memory_utilization(parse('0.19.1')).value == 0.9
    assert vllm.gpu_memory_utilization(parse('0.20.0')).value == 0.92
    assert vllm.gpu_memory_utilization(None).candidates == (0.9, 0.92)


def test_chunked_prefill() -> None:
    assert vllm.enable_chunked_prefill(parse('0.5.1')).value is False
    assert vllm.enable_chunked_prefill(parse('0.7.3')).candidates == (False, True)
    assert vllm.enable_chunked_prefill(parse('0.7.3'), max_model_len=4096).value is False
    assert vllm.enable_chunked_prefill(parse('0.10.2'), generation='V1').value is True
    assert vllm.enable_chunked_prefill(parse('0.11.1')).value is True
    forced = [
        version
        for version in ('0.7.3', '0.8.0', '0.11.0', '0.11.1')
        if (at := parse(version)) and vllm.chunked_prefill_forced(at)
    ]
    assert forced == ['0.8.0', '0.11.0']


def test_prefix_caching() -> None:
    assert vllm.enable_prefix_caching(parse('0.6.4')).value is False
    assert vllm.enable_prefix_caching(parse('0.8.5'), generation='V1').value is True
    assert vllm.enable_prefix_caching(parse('0.8.5')).candidates == (False, True)
    assert vllm.enable_prefix_caching(parse('0.12.0')).value is True


def test_swap_space_is_gone_from_0_18() -> None:
    assert vllm.swap_space(parse('0.17.1')).value == 4
    gone = vllm.swap_space(parse('0.18.0'))
    assert (gone.value, gone.known) == (None, True)


def test_the_rest() -> None:
    assert vllm.block_size(parse('0.16.0')).value == 16
    assert not vllm.block_size(parse('0.16.0'), mla=True).known
    assert not vllm.max_model_len(parse('0.16.0')).known
    assert vllm.log_requests(parse('0.10.0')).value is True
    assert vllm.log_requests(parse('0.10.1')).value is False
    assert vllm.async_scheduling(parse('0.10.2')).value is False
    sizes = (vllm.tensor_parallel_size, vllm.pipeline_parallel_size, vllm.data_parallel_size)
    assert [size(None).value for size in sizes] == [1, 1, 1]
    assert vllm.kv_cache_dtype(None).value == 'auto'
