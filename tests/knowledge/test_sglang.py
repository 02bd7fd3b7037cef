import pytest

from configaudit.knowledge import sglang
from configaudit.knowledge.gpus import lookup
from configaudit.knowledge.versions import parse


@pytest.mark.parametrize(('tensor_parallel', 'share'), [(1, 0.88), (2, 0.87), (4, 0.85), (8, 0.81), (16, 0.79)])
def test_static_share_of_0_4_3(tensor_parallel: int, share: float) -> None:
    assert sglang.mem_fraction_static(parse('0.4.3'), None, tensor_parallel=tensor_parallel).value == share


def test_static_share_is_a_formula_later() -> None:
    default = sglang.mem_fraction_static(parse('0.5.9'), lookup('H100'))
    assert (default.value, default.candidates) == (None, ())


@pytest.mark.parametrize(
    ('version', 'gpu', 'candidates'),
    [
        ('0.3.6', 'H100', (8192,)),
        ('0.5.9', 'T4', (2048,)),
        ('0.5.9', 'L4', (2048,)),
        ('0.5.23', 'L4', (4096,)),
        ('0.5.14', 'L4', (2048, 4096)),
        ('0.5.9', 'L40S', (4096,)),
        ('0.5.9', 'H100', (8192,)),
        ('0.5.9', 'B200', (16384,)),
        ('0.5.9', '', (2048, 4096, 8192, 16384)),
    ],
)
def test_chunked_prefill_size(version: str, gpu: str, candidates: tuple[int, ...]) -> None:
    assert sglang.chunked_prefill_size(parse(version), lookup(gpu)).candidates == candidates


@pytest.mark.parametrize(
    ('gpu', 'tensor_parallel', 'value'),
    [
        ('T4', 1, 8),
        ('L4', 1, 24),
        ('L4', 4, 80),
        ('L40S', 2, 32),
        ('L40S', 8, 160),
        ('H100', 1, 256),
        ('H100', 8, 512),
        ('B200', 1, 512),
    ],
)
def test_cuda_graph_max_bs(gpu: str, tensor_parallel: int, value: int) -> None:
    assert sglang.cuda_graph_max_bs(parse('0.5.9'), lookup(gpu), tensor_parallel=tensor_parallel).value == value


@pytest.mark.parametrize(
    ('version', 'candidates'), [('0.4.3', ('lpm',)), ('0.4.6', ('fcfs',)), ('0.4.5', ('fcfs', 'lpm'))]
)
def test_schedule_policy(version: str, candidates: tuple[str, ...]) -> None:
    assert sglang.schedule_policy(parse(version)).candidates == candidates


def test_constants() -> None:
    assert sglang.enable_metrics(None).value is False
    assert (sglang.host(None).value, sglang.port(None).value) == ('127.0.0.1', 30000)
    assert sglang.watchdog_timeout(None).value == 300
    assert sglang.max_prefill_tokens(None).value == 16384
    assert not sglang.max_running_requests(None).known
