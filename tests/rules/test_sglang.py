"""Which server `sglang serve` starts."""

from collections.abc import Callable

import pytest

from .workloads import container, deployment

Audit = Callable[..., list[str]]


@pytest.mark.parametrize(
    ('command', 'model', 'count'),
    [
        (['python3', '-m', 'sglang.launch_server'], '/models/flux', 1),
        (['sglang', 'serve'], '/models/flux', 0),
        (['sglang', 'serve'], 'Qwen/Qwen3-32B', 1),
    ],
)
def test_metrics_of_a_server_that_may_draw_pictures(found: Audit, command: list[str], model: str, count: int) -> None:
    engine = container(image='lmsysorg/sglang:v0.5.4', command=command, args=['--model-path', model, '--host=0.0.0.0'])
    assert len(found({'d.yaml': deployment(engine)}, 'sglang-metrics-off')) == count
