"""What Kubernetes expands in environment variables."""

from collections.abc import Callable
from typing import Any

import pytest

from .workloads import container, deployment

Audit = Callable[..., list[str]]


def env(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {'env': [{'name': name, 'value': value} for name, value in pairs]}


@pytest.mark.parametrize(
    ('name', 'value', 'count'),
    [
        ('A', '$HOME', 1), ('A', '${HOME}', 1), ('A', '$(HOME)', 0), ('A', '$$HOME', 0), ('A', 'cost: $5', 0), ('A', '^a$', 0),
        ('PATH', '/opt/bin:$PATH', 1), ('LD_LIBRARY_PATH', '${LD_LIBRARY_PATH}:/x', 1), ('URL', 'jdbc:postgresql://${HOST}/db', 0),
        ('SCRIPT', 'echo $HOME', 0),
    ],
)  # fmt: skip
def test_shell_syntax(found: Audit, name: str, value: str, count: int) -> None:
    assert len(found({'d.yaml': deployment(container(**env((name, value))))}, 'env-shell-syntax')) == count


@pytest.mark.parametrize(
    ('attributes', 'name', 'count'), [({'mountOptions': 'ro'}, 'chat', 1), ({'mountOptions': 'ro'}, '${NAME}', 0), ({'bucketName': '${BUCKET}'}, 'chat', 0)]
)
def test_a_file_that_envsubst_fills_in(found: Audit, attributes: dict[str, str], name: str, count: int) -> None:
    volume = {'name': 'weights', 'csi': {'driver': 'gcsfuse.csi.storage.gke.io', 'volumeAttributes': attributes}}
    text = deployment(container(**env(('HF_TOKEN', '${HF_TOKEN}'))), pod={'volumes': [volume]}).replace('name: chat', f'name: {name}', 1)
    assert len(found({'d.yaml': text}, 'env-shell-syntax')) == count


def test_flux_fills_in_a_helm_release(found: Audit) -> None:
    values = 'values:\n    controllers: {chat: {containers: {app: {image: {repository: vllm/vllm-openai, tag: v0.11.0}, env: {TZ: "${TIME_ZONE}"}}}}}\n'
    release = f'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: chat}}\nspec:\n  chart: {{spec: {{chart: app-template}}}}\n  {values}'
    assert found({'release.yaml': release}, 'env-shell-syntax') == []
    assert len(found({'d.yaml': deployment(container(**env(('TZ', '${TIME_ZONE}'))))}, 'env-shell-syntax')) == 1


@pytest.mark.parametrize(
    ('variables', 'more', 'count'),
    [
        ([('B', '/b'), ('A', '$(B)/a')], {}, 0),
        ([('A', '$(B)/a'), ('B', '/b')], {}, 1),
        ([('A', '$(B)/a')], {}, 1),
        ([('A', '$(CHAT_SERVICE_HOST)')], {}, 0),
        ([('A', '$$(B)')], {}, 0),
        ([('A', '$(B)')], {'envFrom': [{'configMapRef': {'name': 'shared'}}]}, 0),
        ([], {'args': ['--model=$(MODEL)']}, 1),
        ([], {'command': ['sh', '-c'], 'args': ['vllm serve $(MODEL)']}, 0),
        ([('A', '$(B)')], {'image': 'nginx:1.29.1', 'args': None}, 0),
    ],
)
def test_undefined(found: Audit, variables: list[tuple[str, str]], more: dict[str, Any], count: int) -> None:
    text = deployment(container(**{**env(*variables), **more}))
    assert len(found({'d.yaml': text}, 'env-reference-undefined')) == count
