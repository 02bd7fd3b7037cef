"""Arithmetic of rollouts and of the end of a pod's life."""

from collections.abc import Callable
from typing import Any

import pytest

from configaudit.audit import Result

from .workloads import SERVICE, container, deployment

Run = Callable[..., Result]
GPU = {'resources': {'limits': {'nvidia.com/gpu': 2}}}


def messages(result: Result, rule: str) -> list[str]:
    return [item.message for item in result.findings if item.rule.id == rule]


@pytest.mark.parametrize(
    ('replicas', 'strategy', 'spare'),
    [
        (1, None, '2 GPUs'), (3, None, '2 GPUs'), (4, None, ''), (8, None, ''), (0, None, ''),
        (5, {'type': 'Recreate'}, ''), (2, {'rollingUpdate': {'maxSurge': 0, 'maxUnavailable': 1}}, ''),
        (4, {'rollingUpdate': {'maxSurge': '50%', 'maxUnavailable': 0}}, 'unless 2 GPUs'), (3, {'rollingUpdate': {'maxUnavailable': '34%'}}, ''),
    ],
)  # fmt: skip
def test_spare_gpus(run: Run, replicas: int, strategy: dict[str, Any] | None, spare: str) -> None:
    spec = {'replicas': replicas, **({'strategy': strategy} if strategy else {})}
    found = messages(run({'d.yaml': deployment(container(**GPU), spec=spec)}), 'gpu-rollout-needs-spare-gpus')
    assert [spare in message for message in found] == ([True] if spare else [])


def test_pods_that_wait_for_a_shell_may_hang(run: Run) -> None:
    text = deployment(container(**{**GPU, 'image': 'cuda:12', 'args': None, 'command': ['sleep', 'infinity']}))
    assert messages(run({'d.yaml': text}), 'gpu-rollout-needs-spare-gpus') == []


@pytest.mark.parametrize('kind', ['StatefulSet', 'DaemonSet', 'LeaderWorkerSet', 'Rollout'])
def test_other_kinds_do_not_surge(run: Run, kind: str) -> None:
    assert messages(run({'d.yaml': deployment(container(**GPU), kind=kind)}), 'gpu-rollout-needs-spare-gpus') == []


@pytest.mark.parametrize(
    ('grace', 'hook', 'found'),
    [
        (None, None, True), (60, None, True), (120, None, False), (130, {'sleep': {'seconds': 30}}, False), (60, {'sleep': {'seconds': 30}}, True),
        (60, {'exec': {'command': ['/bin/sleep', '30']}}, True), (30, {'exec': {'command': ['sh', '-c', 'while busy; do sleep 1; done']}}, False),
        (100, {'sleep': {'seconds': 95}}, False),
    ],
)  # fmt: skip
def test_grace(run: Run, grace: int | None, hook: dict[str, Any] | None, found: bool) -> None:
    engine = container(**({'lifecycle': {'preStop': hook}} if hook else {}))
    pod = {'terminationGracePeriodSeconds': grace} if grace else None
    assert bool(messages(run({'d.yaml': deployment(engine, pod=pod)}), 'grace-shorter-than-generation')) is found


@pytest.mark.parametrize('image_and_args', [(None, ['--model=/m', '--runner=pooling']), (None, ['--model=/m', '--task', 'embed']), ('lmsysorg/sglang:v0.5.3', ['--model-path=/m', '--is-embedding'])])
def test_vectors_and_scores_take_milliseconds(run: Run, image_and_args: tuple[str | None, list[str]]) -> None:
    image, args = image_and_args
    engine = container(args=args, **({'image': image, 'command': ['python3', '-m', 'sglang.launch_server']} if image else {}))
    assert messages(run({'d.yaml': deployment(engine)}), 'grace-shorter-than-generation') == []
    engine = container(args=args[:1], **({'image': image, 'command': ['python3', '-m', 'sglang.launch_server']} if image else {}))
    assert messages(run({'d.yaml': deployment(engine)}), 'grace-shorter-than-generation') != []


@pytest.mark.parametrize(('resource', 'words'), [('nvidia.com/gpu', '1 GPU more'), ('google.com/tpu', '1 of google.com/tpu more')])
def test_the_device_that_a_rollout_waits_for_is_named(run: Run, resource: str, words: str) -> None:
    [message] = messages(run({'d.yaml': deployment(container(resources={'limits': {resource: 1}}))}), 'gpu-rollout-needs-spare-gpus')
    assert words in message


def test_a_pod_that_nothing_rolls_needs_no_grace(run: Run) -> None:
    text = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: chat}}\nspec:\n  containers:\n    - {name: e, image: "vllm/vllm-openai:v0.11.0", args: [--model=/m]}\n'
    assert messages(run({'p.yaml': text}), 'grace-shorter-than-generation') == []
    assert len(messages(run({'p.yaml': text, 's.yaml': SERVICE}), 'grace-shorter-than-generation')) == 1


@pytest.mark.parametrize(('sleep', 'found'), [(29, False), (30, True), (120, True)])
def test_hook_uses_the_whole_period(run: Run, sleep: int, found: bool) -> None:
    engine = container(lifecycle={'preStop': {'sleep': {'seconds': sleep}}})
    assert bool(messages(run({'d.yaml': deployment(engine)}), 'pre-stop-exceeds-grace')) is found


@pytest.mark.parametrize(('deadline', 'severity'), [(None, ['advice']), (700, ['warning']), (1200, [])])
def test_progress_deadline(run: Run, deadline: int | None, severity: list[str]) -> None:
    engine = container(startupProbe={'httpGet': {'path': '/health', 'port': 8000}, 'periodSeconds': 10, 'failureThreshold': 90})
    spec = {'progressDeadlineSeconds': deadline} if deadline else None
    result = run({'d.yaml': deployment(engine, spec=spec)})
    assert [item.severity for item in result.findings if item.rule.id == 'progress-deadline-shorter-than-startup'] == severity
