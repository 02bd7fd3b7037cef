"""Hand-written defaults against what every published release declares, where it declares one."""

from collections.abc import Callable

import pytest

from configaudit.knowledge import sglang, vllm
from configaudit.knowledge.defaults import Default
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.versions import Version

Fact = Callable[[Version | None], Default]

VLLM: list[tuple[str, Fact]] = [
    ('--gpu-memory-utilization', vllm.gpu_memory_utilization),
    ('--swap-space', vllm.swap_space),
    ('--kv-cache-dtype', vllm.kv_cache_dtype),
    ('--tensor-parallel-size', vllm.tensor_parallel_size),
    ('--pipeline-parallel-size', vllm.pipeline_parallel_size),
    ('--data-parallel-size', vllm.data_parallel_size),
    ('--max-num-seqs', lambda version: vllm.max_num_seqs(version, None)),
    ('--async-scheduling', vllm.async_scheduling),
    ('--block-size', vllm.block_size),
]
SGLANG: list[tuple[str, Fact]] = [
    ('--kv-cache-dtype', sglang.kv_cache_dtype),
    ('--enable-metrics', sglang.enable_metrics),
    ('--host', sglang.host),
    ('--port', sglang.port),
    ('--tp-size', sglang.tp_size),
    ('--chunked-prefill-size', lambda version: sglang.chunked_prefill_size(version, None)),
    ('--max-running-requests', sglang.max_running_requests),
]


@pytest.mark.parametrize(('engine', 'option', 'fact'), [('vllm', *each) for each in VLLM] + [('sglang', *each) for each in SGLANG])
def test_the_fact_is_what_the_release_declares(engine: str, option: str, fact: Fact) -> None:
    known = catalogue(engine)
    seen = 0
    for version in known.versions:
        status = known.status(option, version)
        flag = known.flag(option, version) if status.state == 'known' else None
        if flag is not None and flag.default is not None:
            assert flag.default in fact(version).candidates, version
            seen += 1
        elif flag is None and status.state == 'removed':
            assert fact(version).candidates in ((None,), ()) or option != '--swap-space', version
    assert seen or option == '--max-running-requests'


def test_requests_are_logged_as_the_flags_say() -> None:
    known = catalogue('vllm')
    for version in known.versions:
        asked = known.status('--enable-log-requests', version).state == 'known'
        assert vllm.log_requests(version).value is not asked, version
