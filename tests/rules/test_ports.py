"""Ports and paths: certain mistakes only."""

from collections.abc import Callable
from typing import Any

import pytest

from .workloads import SERVICE, container, deployment

Audit = Callable[..., list[str]]


def probe(path: str = '/health', port: int | str = 8000) -> dict[str, Any]:
    return {'httpGet': {'path': path, 'port': port}}


@pytest.mark.parametrize(
    ('more', 'found_one'),
    [
        ({'readinessProbe': probe('/healthz')}, True),
        ({'readinessProbe': probe('/v1/models')}, False),
        ({'readinessProbe': probe('/ping')}, False),
        ({'readinessProbe': probe('/healthz', 9000)}, False),
        ({'readinessProbe': probe('/healthz'), 'args': ['--model=/m', '--middleware', 'own.health']}, False),
    ],
)
def test_path(found: Audit, more: dict[str, Any], found_one: bool) -> None:
    assert bool(found({'d.yaml': deployment(container(**more))}, 'probe-path-wrong')) is found_one


@pytest.mark.parametrize(
    ('containers', 'count'),
    [
        ([container(readinessProbe=probe(port=8080))], 1),
        ([container(readinessProbe=probe(port=8080), args=['--model=/m', '--port=8080'], startupProbe=None, livenessProbe=None)], 0),
        ([container(readinessProbe=probe(port=8080)), {'name': 'proxy', 'image': 'envoyproxy/envoy:v1.36.0'}], 0),
        ([container(readinessProbe=probe(port=8080), image='registry.example.com/own/vllm-openai-fork:1')], 0),
        ([container(readinessProbe=probe(port=8080), command=['sh', '-c'], args=['nginx & vllm serve /m'])], 0),
        ([container(readinessProbe=probe(port=9256), args=['--model=/m', '--data-parallel-supervisor-port=9256'], startupProbe=None, livenessProbe=None)], 0),
        ([container(readinessProbe=probe(port=8001), args=['--model=/m', '--data-parallel-multi-port-external-lb'], startupProbe=None, livenessProbe=None)], 0),
        ([container(readinessProbe=probe(port='http'))], 0),
        ([container(readinessProbe=probe(port='metrics'))], 1),
        ([container(readinessProbe=probe(port='${PORT}'))], 0),
    ],
)
def test_probe_port(found: Audit, containers: list[dict[str, Any]], count: int) -> None:
    assert len(found({'d.yaml': deployment(*containers)}, 'probe-port-unserved')) == count


@pytest.mark.parametrize(
    ('hook', 'count'),
    [
        ({'exec': {'command': ['sh', '-c', 'curl -s localhost:8000/metrics']}}, 0),
        ({'exec': {'command': ['sh', '-c', 'curl -s localhost:9090/metrics']}}, 1),
        ({'httpGet': {'path': '/drain', 'port': 9090}}, 1),
        ({'sleep': {'seconds': 10}}, 0),
    ],
)
def test_hook_port(found: Audit, hook: dict[str, Any], count: int) -> None:
    assert len(found({'d.yaml': deployment(container(lifecycle={'preStop': hook}))}, 'probe-port-unserved')) == count


@pytest.mark.parametrize(
    ('target', 'folder', 'count'), [('8000', '', 0), ('http', '', 0), ('web', '', 1), ('8080', '', 1), ('web', 'other/', 0)]
)
def test_service(found: Audit, target: str, folder: str, count: int) -> None:
    files = {'a/d.yaml': deployment(container()), (folder or 'a/') + 's.yaml': SERVICE.replace('targetPort: 8000', f'targetPort: {target}')}
    assert len(found(files, 'service-port-unserved')) == count


def test_a_headless_service_leads_to_the_pods_themselves(found: Audit) -> None:
    service = SERVICE.replace('targetPort: 8000', 'targetPort: web')
    assert len(found({'d.yaml': deployment(container()), 's.yaml': service}, 'service-port-unserved')) == 1
    headless = service.replace('spec: {', 'spec: {clusterIP: None, ')
    assert found({'d.yaml': deployment(container()), 's.yaml': headless}, 'service-port-unserved') == []


@pytest.mark.parametrize(('name', 'count'), [('tokenizer', 1), ('istiod', 0), ('istiod-canary', 0)])
def test_istiod_ends_connections_by_itself(found: Audit, name: str, count: int) -> None:
    service = f'apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{selector: {{app: a}}, ports: [{{name: grpc-xds, port: 15010}}]}}\n'
    pods = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 3\n  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: "example.com/a:1"}]}}\n'
    assert len(found({'a.yaml': service + '---\n' + pods}, 'grpc-service-pins-connections')) == count
