"""Threads of numeric libraries in containers: what the environment says, and what PyTorch takes where it says nothing."""

import pytest

from tests.conftest import Audit

POD = """apiVersion: v1
kind: Pod
metadata: {name: embed}
spec:
  containers:
  - name: embed
    image: %s
    command: [python, serve.py]
    resources: {limits: {%s}}
"""


@pytest.mark.parametrize(
    ('image', 'limits', 'rest', 'is_found'),
    [
        ('pytorch/pytorch:2.8.0-cuda12.9-cudnn9-runtime', 'cpu: "4"', '', True),
        ('nvcr.io/nvidia/pytorch:25.06-py3', 'cpu: 500m', '', True),
        ('pytorch/pytorch:2.8.0', 'memory: 4Gi', '', False),
        ('pytorch/pytorch:2.8.0', 'cpu: "4"', '    env: [{name: OMP_NUM_THREADS, value: "4"}]\n', False),
        ('pytorch/pytorch:2.8.0', 'cpu: "4"', '    envFrom: [{configMapRef: {name: threads}}]\n', False),
        ('example.com/shop/embed:1', 'cpu: "4"', '', False),
    ],
)  # fmt: skip
def test_threads_that_nobody_states(found: Audit, image: str, limits: str, rest: str, is_found: bool) -> None:
    assert bool(found({'pod.yaml': POD % (image, limits) + rest}, 'math-threads-unset')) is is_found
