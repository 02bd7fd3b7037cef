"""Version bounds that a shell takes for redirections."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ('line', 'bounds'),
    [
        ('pip install vllm>=0.10.0 ray>=2.48.0 blobfile', ['vllm>=0.10.0', 'ray>=2.48.0']),
        ('sudo python3 -m pip install -U torch>2', ['torch>2']),
        ('uv pip install --system "vllm" ray[serve]>=2.48', ['ray[serve]>=2.48']),
        ('pip install transformers>=4.45,<5 && true', ['transformers>=4.45,<5']),
        ('pip install a \\\n  b<2', ['b<2']),
    ],
)
def test_a_bound_without_quotes_is_lost(run: Run, line: str, bounds: list[str]) -> None:
    result = run({'install.sh': f'#!/bin/sh\n{line}\n', 'Dockerfile': f'FROM python:3.12.7\nRUN {line}\n'})
    found = [item for item in result.components if item.kind.name == 'pip-install']
    assert len(found) == 2
    for component in found:
        assert [f'{item.package}{item.operator}{item.version}' for item in component['bounds'].value] == bounds
        assert [item.place.text.replace('\\\n  ', '') for item in component['bounds'].value] == bounds


@pytest.mark.parametrize(
    'line',
    [
        'pip install "vllm>=0.10.0" \'ray>=2\'', 'pip install vllm==0.10.0 > log.txt', 'pip install vllm >2.txt', 'pip install -r requirements.txt>1.log',
        'pip install vllm 2>&1', 'pip list>=2', 'echo "pip install vllm>=0.10"', '# pip install vllm>=0.10', 'pip install vllm>=$VERSION', 'apt install pip>=3',
    ],
)  # fmt: skip
def test_real_redirections_and_quoted_bounds(run: Run, line: str) -> None:
    result = run({'install.sh': f'#!/bin/sh\n{line}\n'})
    assert not [item for item in result.components if item.kind.name == 'pip-install']
