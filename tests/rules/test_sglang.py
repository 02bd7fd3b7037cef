"""Which server `sglang serve` starts."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

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


@pytest.mark.parametrize(
    ('first', 'said'),
    [
        ('one', [('warning', 'takes the last, two, not one')]),
        ('$MODEL', [('advice', 'takes the last, two, not $MODEL')]),
        ('two', [('advice', 'takes the last')]),
    ],
)
def test_a_flag_that_is_given_again_with_a_value_nobody_sees(run: Callable[..., Result], first: str, said: list[tuple[str, str]]) -> None:
    script = f'python3 -m sglang.launch_server --model-path /m --served-model-name="{first}" --served-model-name two\n'
    found = [item for item in run({'serve.sh': script}).findings if item.rule.id == 'sglang-flag-duplicated']
    assert [(item.severity, item.message.endswith(words)) for item, (_, words) in zip(found, said, strict=True)] == [(severity, True) for severity, _ in said]


@pytest.mark.parametrize(
    ('flag', 'words', 'safe'),
    [
        ('--nsa-prefill-backend=fa3', 'use --dsa-prefill-backend', None),
        ('--disable-piecewise-cuda-graph', 'use --cuda-graph-backend-prefill disabled', None),
        ('--torchao-config=int4wo-128', 'nothing that takes its place is recorded', False),
        ('--disable-mla', 'drop it', True),
    ],
)
def test_only_what_does_nothing_any_more_is_dropped_safely(run: Callable[..., Result], flag: str, words: str, safe: bool | None) -> None:
    engine = container(image='lmsysorg/sglang:v0.5.23', command=['python3', '-m', 'sglang.launch_server'], args=['--model-path=/m', flag])
    [found] = [item for item in run({'d.yaml': deployment(engine)}).findings if item.rule.id == 'sglang-flag-removed']
    assert found.message.endswith(words)
    assert (found.fix.safe if found.fix else None) is safe or safe is None
