import pytest

from configaudit.knowledge import sglang
from configaudit.knowledge.gpus import lookup
from configaudit.knowledge.versions import parse


@pytest.mark.parametrize(
    ('version', 'gpu', 'tensor_parallel', 'share'),
    [
        ('0.4.3', None, 1, 0.88),
        ('0.4.3', None, 2, 0.87),
        ('0.4.3', None, 6, 0.85),
        ('0.4.3', None, 8, 0.81),
        ('0.4.3', None, 16, 0.79),
        ('0.3.6', None, 8, 0.82),
        ('0.3.5', None, 8, 0.83),
        ('0.4.6', 'A100-80GB', 8, 0.81),
    ],
)
def test_static_share_by_ranks(version: str, gpu: str | None, tensor_parallel: int, share: float) -> None:
    assert sglang.mem_fraction_static(parse(version), lookup(gpu) if gpu else None, tensor_parallel=tensor_parallel).value == share


def test_static_share_with_unknown_ranks() -> None:
    assert sglang.mem_fraction_static(parse('0.4.3'), None).candidates == (0.79, 0.81, 0.85, 0.87, 0.88)


@pytest.mark.parametrize(('version', 'gpu'), [('0.5.9', 'H100'), ('0.4.6', 'H200'), ('0.4.6', None), ('0.4.6.post2', 'H100'), (None, 'H100')])
def test_static_share_is_a_formula_later(version: str | None, gpu: str | None) -> None:
    default = sglang.mem_fraction_static(parse(version) if version else None, lookup(gpu) if gpu else None, tensor_parallel=1)
    assert (default.value, default.candidates) == (None, ())


@pytest.mark.parametrize(
    ('version', 'gpu', 'candidates'),
    [
        ('0.3.6', 'H100', (8192,)),
        ('0.4.0', 'L4', (2048,)),
        ('0.4.0', 'L40S', (8192,)),
        ('0.4.6.post5', 'B200', (8192,)),
        ('0.4.7', 'MI300X', (16384,)),
        ('0.4.7.post1', 'L40S', (8192,)),
        ('0.5.2', 'L40S', (8192,)),
        ('0.5.3', 'L40S', (4096,)),
        ('0.5.9', 'T4', (2048,)),
        ('0.5.9', 'L4', (2048,)),
        ('0.5.19', 'L4', (2048,)),
        ('0.5.20', 'L4', (4096,)),
        ('0.5.23', 'L4', (4096,)),
        ('0.5.20', 'T4', (2048,)),
        ('0.5.9', 'H100', (8192,)),
        ('0.5.9', 'B200', (16384,)),
        ('0.5.9', '', (2048, 4096, 8192, 16384)),
        ('0.4.7.post1', '', (2048, 8192, 16384)),
        ('', 'L4', (2048, 4096, 8192)),
    ],
)
def test_chunked_prefill_size(version: str, gpu: str, candidates: tuple[int, ...]) -> None:
    assert sglang.chunked_prefill_size(parse(version), lookup(gpu)).candidates == candidates


@pytest.mark.parametrize(
    ('version', 'gpu', 'tensor_parallel', 'candidates'),
    [
        ('0.3.5', 'T4', 1, (160,)),
        ('0.3.6', 'T4', 1, (4,)),
        ('0.4.0', 'L4', 4, (8,)),
        ('0.4.1', 'L4', 4, (80,)),
        ('0.4.1', 'H100', 8, (160,)),
        ('0.4.6', 'L4', 1, (8,)),
        ('0.5.2', 'H100', 1, ()),
        ('0.5.4', 'L4', 1, (16,)),
        ('0.5.9', 'T4', 1, (8,)),
        ('0.5.9', 'L4', 1, (24,)),
        ('0.5.9', 'L4', 4, (80,)),
        ('0.5.20', 'L4', 1, (48,)),
        ('0.5.20', 'L4', 4, (160,)),
        ('0.5.9', 'L40S', 2, (32,)),
        ('0.5.9', 'L40S', 8, (160,)),
        ('0.5.9', 'H100', 1, (256,)),
        ('0.5.9', 'H100', 8, (512,)),
        ('0.5.9', 'B200', 1, (512,)),
        ('0.5.9', 'H100', None, (256, 512)),
    ],
)
def test_cuda_graph_max_bs(version: str, gpu: str, tensor_parallel: int | None, candidates: tuple[int, ...]) -> None:
    assert sglang.cuda_graph_max_bs(parse(version), lookup(gpu), tensor_parallel=tensor_parallel).candidates == candidates


def test_constants() -> None:
    assert sglang.enable_metrics(None).value is False
    assert (sglang.host(None).value, sglang.port(None).value) == ('127.0.0.1', 30000)
    assert not sglang.max_running_requests(None).known
