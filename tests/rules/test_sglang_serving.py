"""What SGLang's start-up checks refuse, and when its serving rules stay silent."""

from collections.abc import Callable

import pytest

from .workloads import SERVICE, container, deployment

Audit = Callable[..., list[str]]


def engine(*args: str, version: str = 'v0.5.9', pod: dict[str, object] | None = None) -> dict[str, str]:
    """A Deployment of one SGLang server, in one file."""
    command = ['python3', '-m', 'sglang.launch_server', '--model-path=/models/chat', '--host=0.0.0.0', *args]
    return {'d.yaml': deployment(container(image=f'lmsysorg/sglang:{version}', command=command, args=None), pod=pod)}


@pytest.mark.parametrize(
    ('args', 'count'),
    [
        (['--tp=16', '--nnodes=2'], 0),
        (['--tp=8', '--pp-size=2', '--nnodes=2'], 0),
        (['--tp=16', '--nnodes=3'], 1),
        (['--tp=8', '--dp-size=4'], 0),
        (['--tp=8', '--dp-size=4', '--enable-dp-attention'], 0),
        (['--tp=8', '--dp-size=3', '--enable-dp-attention'], 1),
        (['--tp=16', '--nnodes=2', '--dp-size=2'], 1),
    ],
)
def test_parallel_sizes(found: Audit, args: list[str], count: int) -> None:
    assert len(found(engine(*args), 'sglang-parallel-sizes-contradict')) == count


@pytest.mark.parametrize(
    ('args', 'version', 'name', 'count'),
    [
        (['--tp=2'], 'v0.5.9', 'sglang', 1),
        (['--tp=2'], 'v0.5.9', 'chat', 0),
        (['--tp=1'], 'v0.5.9', 'sglang', 0),
        (['--tp=2'], 'v0.5.23', 'sglang', 0),
    ],
)
def test_a_service_named_like_the_engine(found: Audit, args: list[str], version: str, name: str, count: int) -> None:
    service = SERVICE.replace('name: chat', f'name: {name}')
    assert len(found({**engine(*args, version=version), 's.yaml': service}, 'sglang-service-link-clash')) == count


@pytest.mark.parametrize(
    ('rule', 'args', 'count'),
    [
        ('sglang-queue-unbounded', [], 1),
        ('sglang-queue-unbounded', ['--max-queued-requests=64'], 0),
        ('sglang-queue-unbounded', ['--disaggregation-mode=decode'], 0),
        ('sglang-queue-unbounded', ['--nnodes=2', '--node-rank=1'], 0),
        ('sglang-chunked-prefill-off', ['--chunked-prefill-size=-1'], 1),
        ('sglang-chunked-prefill-off', ['--chunked-prefill-size=-1', '--disaggregation-mode=prefill'], 0),
        ('sglang-chunked-prefill-off', ['--chunked-prefill-size=4096'], 0),
        ('sglang-prefix-cache-off', ['--disable-radix-cache'], 1),
        ('sglang-prefix-cache-off', ['--disable-radix-cache', '--is-embedding'], 0),
        ('sglang-watchdog-short', ['--watchdog-timeout=59'], 1),
        ('sglang-watchdog-short', ['--watchdog-timeout=60'], 0),
        ('sglang-watchdog-short', ['--watchdog-timeout=1000000'], 0),
    ],
)
def test_serving(found: Audit, rule: str, args: list[str], count: int) -> None:
    assert len(found(engine(*args), rule)) == count


def test_a_program_knows_what_its_prompts_share(found: Audit) -> None:
    text = 'import sglang\nengine = sglang.Engine(model_path="/m/x", disable_radix_cache=True)\n'
    assert found({'a.py': text}, 'sglang-prefix-cache-off') == []
