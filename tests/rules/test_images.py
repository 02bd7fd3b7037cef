"""Floating tags: how much they matter depends on what runs."""

from collections.abc import Callable

import pytest

from configaudit.result import Result


@pytest.mark.parametrize(
    ('image', 'severity'),
    [('vllm/vllm-openai:latest', 'warning'), ('ghcr.io/berriai/litellm:main-latest', 'warning'), ('minio/minio', 'advice'), ('nginx:latest', 'advice')],
)
def test_a_compose_service_that_serves_no_inference_is_advice(run: Callable[..., Result], image: str, severity: str) -> None:
    result = run({'compose.yaml': f'services:\n  a:\n    image: {image}\n'})
    assert [item.severity for item in result.findings if item.rule.id == 'image-floating-tag'] == [severity]
