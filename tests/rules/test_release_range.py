"""What is said of releases that the data do not reach: less, and with the range named."""

from collections.abc import Callable

import pytest

from configaudit.report.document import document
from configaudit.result import Result

from .test_vllm_startup import engine

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ('version', 'arguments', 'rule', 'severity'),
    [
        ('v0.16.0', ['--no-such-flag'], 'vllm-flag-unknown', 'error'),
        ('v0.1.7', ['--no-such-flag'], 'vllm-flag-unknown', 'warning'),
        ('v0.40.0', ['--no-such-flag'], 'vllm-flag-unknown', None),
        ('v0.16.0', ['--async-engine-args'], 'vllm-flag-unknown', 'error'),
        ('v0.2.7', ['--kv-cache-dtype=auto'], 'vllm-flag-too-new', 'error'),
        ('v0.1.7', ['--kv-cache-dtype=auto'], 'vllm-flag-too-new', 'advice'),
        ('v0.18.0', ['--swap-space=4'], 'vllm-flag-removed', 'error'),
        ('v0.40.0', ['--swap-space=4'], 'vllm-flag-removed', 'advice'),
        ('v0.16.0', ['--max-num-seqs=many'], 'vllm-flag-value-invalid', 'error'),
        ('v0.40.0', ['--max-num-seqs=many'], 'vllm-flag-value-invalid', 'warning'),
    ],
)
def test_severity_outside_of_the_data(run: Run, version: str, arguments: list[str], rule: str, severity: str | None) -> None:
    found = [item.severity for item in run(engine(*arguments, version=version)).findings if item.rule.id == rule]
    assert found == ([severity] if severity else [])


def test_a_default_of_a_newer_release_is_said_to_be_of_the_data(run: Run) -> None:
    result = run(engine(version='v0.40.0'))
    messages = [item.message for item in result.findings if item.rule.id == 'vllm-memory-share-unset']
    assert messages == [
        '--gpu-memory-utilization is not set: vLLM 0.40.0 (image tag v0.40.0; newer than the data (0.33.0)) takes 0.92 of the GPU; the checklist moved to 0.85'
    ]
    told = [one['version_from'] for one in document(result)['components'] if one['kind'] == 'vllm']
    assert told == ['image tag v0.40.0; newer than the data (0.33.0)']


@pytest.mark.parametrize(('version', 'severity'), [('v0.33.0', 'warning'), ('v0.40.0', 'advice')])
def test_draining_of_a_newer_release_is_advice(run: Run, version: str, severity: str) -> None:
    files = engine(version=version)
    files['d.yaml'] = files['d.yaml'].replace('      containers:', '      terminationGracePeriodSeconds: 120\n      containers:')
    assert [item.severity for item in run(files).findings if item.rule.id == 'vllm-shutdown-aborts-requests'] == [severity]
