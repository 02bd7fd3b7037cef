"""Resources, images and caches of inference containers."""

from collections.abc import Callable
from typing import Any

import pytest

from configaudit.audit import Result

from .workloads import container, deployment

Audit = Callable[..., list[str]]


@pytest.mark.parametrize(
    ('resources', 'count'),
    [
        ({}, 1), ({'limits': {'nvidia.com/gpu': 1}}, 1), ({'requests': {'cpu': 4, 'memory': '8Gi'}}, 0), ({'limits': {'cpu': 4, 'memory': '8Gi'}}, 0),
        ({'requests': {'cpu': 4}, 'limits': {'memory': '8Gi'}}, 0), ({'requests': {'cpu': 4}}, 1),
    ],
)  # fmt: skip
def test_requests(found: Audit, resources: dict[str, Any], count: int) -> None:
    assert len(found({'d.yaml': deployment(container(resources=resources))}, 'requests-missing')) == count


def test_requests_of_other_programs_are_their_own_matter(found: Audit) -> None:
    assert found({'d.yaml': deployment(container(image='nginx:1.29.1', args=None))}, 'requests-missing') == []


@pytest.mark.parametrize(
    ('requested', 'limit', 'count'), [(1, 1, 0), (1, None, 1), (2, 1, 1), (None, 1, 0), (0, None, 0)]
)
def test_gpu_request(found: Audit, requested: int | None, limit: int | None, count: int) -> None:
    sides = (('requests', requested), ('limits', limit))
    resources = {side: {'nvidia.com/gpu': number} for side, number in sides if number is not None}
    assert len(found({'d.yaml': deployment(container(resources=resources))}, 'gpu-request-without-limit')) == count


def volume(path: str, **source: Any) -> dict[str, Any]:
    return {'mount': [{'name': 'v', 'mountPath': path}], 'volumes': [{'name': 'v', **source}]}


PVC = {'persistentVolumeClaim': {'claimName': 'c'}}


@pytest.mark.parametrize(
    ('model', 'mounted', 'more', 'count'),
    [
        ('org/chat-8b', None, {}, 1),
        ('/models/chat-8b', None, {}, 0),
        ('s3://bucket/chat-8b', None, {}, 0),
        ('models/chat-8b', None, {}, 0),
        ('org/chat-8b', volume('/root/.cache/huggingface', **PVC), {}, 0),
        ('org/chat-8b', volume('/root/.cache', **PVC), {}, 0),
        ('org/chat-8b', volume('/data', **PVC), {}, 1),
        ('org/chat-8b', volume('/data', **PVC), {'env': [{'name': 'HF_HOME', 'value': '/data/hub'}]}, 0),
        ('org/chat-8b', volume('/data', **PVC), {'args': ['--model=org/chat-8b', '--download-dir=/data']}, 0),
        ('org/chat-8b', volume('/data', **PVC), {'image': 'registry.example.com/own/vllm:1', 'command': ['vllm', 'serve', 'org/chat-8b'], 'args': None}, 0),
        ('org/chat-8b', volume('/root/.cache/huggingface', configMap={'name': 'c'}), {}, 1),
        ('org/chat-8b', volume('/dev/shm', emptyDir={'medium': 'Memory'}), {}, 1),
        ('org/chat-8b', None, {'env': [{'name': 'HF_HUB_OFFLINE', 'value': '1'}]}, 0),
    ],
)
def test_cache(found: Audit, model: str, mounted: dict[str, Any] | None, more: dict[str, Any], count: int) -> None:
    engine = container(**{'args': [f'--model={model}'], **({'volumeMounts': mounted['mount']} if mounted else {}), **more})
    pod = {'volumes': mounted['volumes']} if mounted else None
    assert len(found({'d.yaml': deployment(engine, pod=pod)}, 'model-cache-missing')) == count


@pytest.mark.parametrize(
    ('image', 'expected'),
    [
        ('vllm/vllm-openai:latest', ['warning']), ('vllm/vllm-openai', ['warning']), ('vllm/vllm-openai:v0.11.0', []),
        ('vllm/vllm-openai@sha256:' + 'a' * 64, []), ('vllm/vllm-openai:latest@sha256:' + 'a' * 64, []), ('vllm/vllm-openai:replace', []),
        ('busybox', ['advice']), ('auto', []), ('controller:latest', []), ('ko://example.com/cmd/x', []), ('IMAGE_URL', []),
        ('replaced-by-kustomize', []), ('ghcr.io/huggingface/text-embeddings-inference:cpu-1.7', []),
    ],
)  # fmt: skip
def test_tag(run: Callable[..., Result], image: str, expected: list[str]) -> None:
    result = run({'d.yaml': deployment(container(image=image, args=None))})
    assert [item.severity for item in result.findings if item.rule.id == 'image-floating-tag'] == expected


def test_a_sidecar_of_an_engine_is_part_of_the_service(run: Callable[..., Result]) -> None:
    result = run({'d.yaml': deployment(container(), {'name': 'adapter', 'image': 'registry.example.com/adapter'})})
    assert [item.severity for item in result.findings if item.rule.id == 'image-floating-tag'] == ['warning']


@pytest.mark.parametrize(
    ('image', 'count'),
    [('{{ .Values.registry }}/vllm-openai:latest', 1), ('vllm/vllm-openai:{{ .Values.tag }}', 0), ('{{ .Values.image }}', 0), ('{{ .Values.registry }}/vllm-openai:v0.11.0', 0)],
)
def test_a_templated_image_keeps_what_is_known(found: Audit, image: str, count: int) -> None:
    text = deployment(container(image='IMAGE')).replace('image: IMAGE', f'image: "{image}"')
    assert len(found({'templates/d.yaml': text}, 'image-floating-tag')) == count


@pytest.mark.parametrize(
    ('more', 'count'),
    [
        ({}, 1), ({'command': ['sleep', 'infinity']}, 0), ({'command': ['/bin/sh', '-c'], 'args': ['nvidia-smi; tail -f /dev/null']}, 0),
        ({'command': ['sh', '-c', 'sleep 20; ./serve']}, 1), ({'command': ['bash', '-c', '--'], 'args': ['while true; do sleep 30; done;']}, 0),
        ({'command': ['sh', '-c', 'while true; do ./work; done']}, 1), ({'command': ['nvidia-smi']}, 0),
    ],
)  # fmt: skip
def test_a_pod_that_waits_for_a_shell_is_not_starved(found: Audit, more: dict[str, Any], count: int) -> None:
    tool = container(image='cuda-samples:1.0', resources={'limits': {'nvidia.com/gpu': 1}}, **{'args': None, **more})
    assert len(found({'d.yaml': deployment(tool)}, 'requests-missing')) == count
