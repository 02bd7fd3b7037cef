"""Manifests that the tests of Kubernetes rules vary."""

from typing import Any

import yaml

VLLM = 'vllm/vllm-openai:v0.11.0'
HEALTH = {'httpGet': {'path': '/health', 'port': 8000}}


def container(**more: Any) -> dict[str, Any]:
    """A vLLM container; a value of None drops a key."""
    base = {
        'name': 'engine', 'image': VLLM, 'args': ['--model=/models/chat-8b'], 'ports': [{'containerPort': 8000, 'name': 'http'}],
        'startupProbe': {**HEALTH, 'periodSeconds': 10, 'failureThreshold': 60}, 'readinessProbe': HEALTH, 'livenessProbe': HEALTH,
    }  # fmt: skip
    return {key: value for key, value in {**base, **more}.items() if value is not None}


def deployment(*containers: dict[str, Any], kind: str = 'Deployment', spec: dict[str, Any] | None = None, pod: dict[str, Any] | None = None) -> str:
    """A workload with these containers as YAML."""
    labels = {'app': 'chat'}
    template = {'metadata': {'labels': labels}, 'spec': {'containers': list(containers), **(pod or {})}}
    body = {'replicas': 1, 'selector': {'matchLabels': labels}, 'template': template, **(spec or {})}
    return yaml.safe_dump({'apiVersion': 'apps/v1', 'kind': kind, 'metadata': {'name': 'chat'}, 'spec': body}, sort_keys=False)


SERVICE = 'apiVersion: v1\nkind: Service\nmetadata: {name: chat}\nspec: {selector: {app: chat}, ports: [{port: 80, targetPort: 8000}]}\n'
