"""What scalers look at."""

from collections.abc import Callable

import pytest

from .workloads import container, deployment

Audit = Callable[..., list[str]]
SCALED = (
    'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{name: chat}}\nspec:\n  scaleTargetRef: {{name: chat}}\n  maxReplicaCount: {maximum}\n'
    '  triggers:\n    - type: prometheus\n      metadata:\n        query: >-\n          {query}\n'
)


@pytest.mark.parametrize(
    ('query', 'found_one'),
    [
        ('vllm:num_requests_waiting', True),
        ('rate(vllm:prompt_tokens_total{namespace="a"}[2m])', True),
        ('max_over_time(sglang:num_queue_reqs[1m]) / 4', True),
        ('sum(vllm:num_requests_waiting)', False),
        ('avg by (model_name) (vllm:num_requests_waiting)', False),
        ('sum without (pod) (vllm:num_requests_waiting)', False),
        ('scalar(vllm:num_requests_waiting)', False),
        ('vllm:num_requests_waiting{pod="chat-0"}', False),
        ('queue_depth{job="chat"}', False),
        ('up{job="vllm:x"}', False),
    ],
)
def test_query(found: Audit, query: str, found_one: bool) -> None:
    assert bool(found({'s.yaml': SCALED.format(query=query, maximum=4)}, 'keda-query-multi-series')) is found_one


def test_one_replica_has_one_series(found: Audit) -> None:
    assert found({'s.yaml': SCALED.format(query='vllm:num_requests_waiting', maximum=1)}, 'keda-query-multi-series') == []


HPA = (
    'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: chat}\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}\n'
    '  maxReplicas: 4\n  metrics:\n    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}\n'
)
QUEUE = '    - {type: Pods, pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "4"}}}\n'


@pytest.mark.parametrize(
    ('image', 'hpa', 'count'),
    [('vllm/vllm-openai:v0.11.0', HPA, 1), ('vllm/vllm-openai:v0.11.0', HPA + QUEUE, 0), ('nginx:1.29.1', HPA, 0)],
)
def test_cpu(found: Audit, image: str, hpa: str, count: int) -> None:
    assert len(found({'d.yaml': deployment(container(image=image)), 'h.yaml': hpa}, 'hpa-on-cpu-for-gpu')) == count


def test_variants_of_one_scaler_are_not_two(found: Audit) -> None:
    files = {'d.yaml': deployment(container()), 'h.yaml': HPA, 'alternative.yaml': HPA.replace('60', '80')}
    assert found(files, 'scaler-target-shared') == []


def test_an_hpa_without_maximum_is_no_crash(found: Audit) -> None:
    assert found({'h.yaml': HPA.replace('  maxReplicas: 4\n', '')}, 'keda-query-multi-series', 'keda-cooldown-without-zero') == []
