"""When probes are missing, and when somebody else supplies them."""

from collections.abc import Callable
from typing import Any

import pytest

from configaudit.audit import Result

from .workloads import HEALTH, SERVICE, VLLM, container, deployment

Run = Callable[..., Result]
BARE: dict[str, Any] = {'startupProbe': None, 'readinessProbe': None, 'livenessProbe': None}


def severities(result: Result, rule: str) -> list[str]:
    return [item.severity for item in result.findings if item.rule.id == rule]


@pytest.mark.parametrize(
    ('replicas', 'service', 'expected'),
    [(1, False, ['warning']), (2, False, ['error']), (1, True, ['error'])],
)
def test_missing_readiness_is_as_bad_as_the_traffic(run: Run, replicas: int, service: bool, expected: list[str]) -> None:
    files = {'d.yaml': deployment(container(**BARE), spec={'replicas': replicas})}
    if service:
        files['s.yaml'] = SERVICE
    assert severities(run(files), 'readiness-probe-missing') == expected


def test_nodes_of_one_engine_are_no_replicas(run: Run) -> None:
    command = ['python3', '-m', 'sglang.launch_server', '--model-path=/m', '--tp=16', '--nnodes=2', '--node-rank=$(RANK)']
    text = deployment(container(**BARE, image='lmsysorg/sglang:v0.5.9', command=command, args=None), kind='StatefulSet', spec={'replicas': 2})
    assert severities(run({'d.yaml': text}), 'readiness-probe-missing') == ['warning']


@pytest.mark.parametrize(
    'text',
    [
        pytest.param(deployment(container(**{**BARE, 'startupProbe': HEALTH})), id='startup-probe-gates'),
        pytest.param(deployment(container(**BARE, lifecycle={'postStart': {'exec': {'command': ['wait']}}})), id='post-start-gates'),
        pytest.param(deployment(container(**BARE), kind='Job'), id='job'),
        pytest.param(deployment(container(**BARE), kind='DynamoGraphDeployment'), id='operator'),
        pytest.param(deployment(container(**BARE, image='nginx:1.29.1', args=None)), id='no-engine'),
        pytest.param(deployment(container(**BARE, args=['--model=/models/chat-8b', '--headless'])), id='worker'),
        pytest.param(
            'apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat}\nspec:\n  predictor:\n    containers:\n'
            f'      - name: kserve-container\n        image: {VLLM}\n        args: [--model=/mnt/models]\n',
            id='kserve',
        ),
    ],
)
def test_readiness_supplied_elsewhere_is_not_missing(run: Run, text: str) -> None:
    assert severities(run({'d.yaml': text}), 'readiness-probe-missing') == []


@pytest.mark.parametrize(
    ('model', 'delay', 'expected'),
    [
        ('/models/chat-8b', 0, ['warning']), ('/models/chat-8b', 270, []), ('org/chat-8b', 30, ['error']),
        ('org/chat-8b', 270, ['warning']), ('org/chat-8b', 570, []), ('Qwen/Qwen3-0.6B', 270, []),
    ],
)  # fmt: skip
def test_liveness_during_load(run: Run, model: str, delay: int, expected: list[str]) -> None:
    probe = {**HEALTH, 'initialDelaySeconds': delay, 'periodSeconds': 10, 'failureThreshold': 3}
    text = deployment(container(startupProbe=None, livenessProbe=probe, args=[f'--model={model}']))
    assert severities(run({'d.yaml': text}), 'startup-probe-missing') == expected


@pytest.mark.parametrize(
    ('model', 'failures', 'expected'),
    [
        ('org/chat-8b', 29, ['error']), ('org/chat-8b', 59, ['warning']), ('org/chat-8b', 60, []),
        ('/models/chat-8b', 12, []), ('/models/chat-8b', 11, ['warning']), ('$(MODEL)', 30, []),
    ],
)  # fmt: skip
def test_startup_budget(run: Run, model: str, failures: int, expected: list[str]) -> None:
    probe = {**HEALTH, 'periodSeconds': 10, 'failureThreshold': failures}
    text = deployment(container(startupProbe=probe, args=[f'--model={model}']))
    assert severities(run({'d.yaml': text}), 'startup-budget-short') == expected


def test_one_cause_is_said_once(run: Run) -> None:
    """A liveness probe that kills during the load is not also reported for its delay."""
    probe = {**HEALTH, 'initialDelaySeconds': 90, 'periodSeconds': 10}
    result = run({'d.yaml': deployment(container(startupProbe=None, livenessProbe=probe))})
    assert severities(result, 'startup-probe-missing') == ['warning']
    assert severities(result, 'initial-delay-instead-of-startup') == []


@pytest.mark.parametrize(('delay', 'expected'), [(59, []), (60, ['advice']), (299, ['advice']), (300, ['warning'])])
def test_a_delay_within_the_time_to_load_is_advice(run: Run, delay: int, expected: list[str]) -> None:
    probe = {**HEALTH, 'initialDelaySeconds': delay}
    result = run({'d.yaml': deployment(container(startupProbe=None, livenessProbe=None, readinessProbe=probe))})
    assert severities(result, 'initial-delay-instead-of-startup') == expected


@pytest.mark.parametrize(('period', 'failures', 'found'), [(10, 3, False), (5, 3, True), (30, 1, True), (1, 30, False)])
def test_liveness_needs_time_and_more_than_one_failure(run: Run, period: int, failures: int, found: bool) -> None:
    probe = {**HEALTH, 'periodSeconds': period, 'failureThreshold': failures}
    result = run({'d.yaml': deployment(container(livenessProbe=probe))})
    assert bool(severities(result, 'liveness-aggressive')) is found


def test_a_template_that_may_hold_a_probe_is_not_called_missing(run: Run) -> None:
    text = deployment(container(**BARE)).rstrip('\n') + '\n        {{- include "chat.probes" . | nindent 8 }}\n'
    result = run({'templates/d.yaml': text, 'Chart.yaml': 'name: chat\nversion: 1.0.0\napiVersion: v2\n'})
    assert severities(result, 'readiness-probe-missing') == []
