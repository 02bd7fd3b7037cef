"""Versions that are gone, and keys that stand twice."""

from collections.abc import Callable

import pytest

Audit = Callable[..., list[str]]


@pytest.mark.parametrize(
    ('version', 'kind', 'count'),
    [
        ('policy/v1beta1', 'PodDisruptionBudget', 1), ('policy/v1', 'PodDisruptionBudget', 0), ('autoscaling/v2beta2', 'HorizontalPodAutoscaler', 1),
        ('batch/v1beta1', 'CronJob', 1), ('networking.istio.io/v1beta1', 'VirtualService', 0), ('extensions/v1beta1', 'Ingress', 1),
    ],
)  # fmt: skip
def test_removed(found: Audit, version: str, kind: str, count: int) -> None:
    text = f'apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{}}\n'
    assert len(found({'x.yaml': text}, 'api-version-removed')) == count


@pytest.mark.parametrize(
    'text',
    [
        '{{- if .Capabilities.APIVersions.Has "policy/v1beta1" }}\napiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x}\n{{- end }}\n',
        '{{- if .Values.old }}\napiVersion: policy/v1beta1\n{{- else }}\napiVersion: policy/v1\n{{- end }}\nkind: PodDisruptionBudget\nmetadata: {name: x}\n',
        'apiVersion: {{ .Values.version }}\nkind: PodDisruptionBudget\nmetadata: {name: x}\n',
    ],
)
def test_a_template_that_chooses_is_right(found: Audit, text: str) -> None:
    assert found({'templates/x.yaml': text}, 'api-version-removed') == []


def test_duplicates_are_placed_at_the_one_that_counts(found: Audit) -> None:
    text = 'apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec:\n  type: ClusterIP\n  "type": NodePort\n  ports: [{port: 80}]\n'
    assert found({'x.yaml': text}, 'yaml-key-duplicate') == ['x.yaml:6:3 yaml-key-duplicate']


def test_keys_of_which_a_template_chooses_one_are_no_duplicates(found: Audit) -> None:
    text = 'apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec:\n{{- if .Values.lb }}\n  type: LoadBalancer\n{{- else }}\n  type: ClusterIP\n{{- end }}\n  ports: [{port: 80}]\n'
    assert found({'templates/x.yaml': text}, 'yaml-key-duplicate') == []


@pytest.mark.parametrize(('argument', 'count'), [('1', 1), ('true', 1), ('"1"', 0), ('null', 0), ('', 0)])
def test_the_api_server_refuses_numbers_and_takes_null_as_an_empty_text(found: Audit, argument: str, count: int) -> None:
    text = f'apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n    - name: c\n      image: own/app:1.0\n      args:\n        - --port\n        - {argument}\n'
    assert len(found({'p.yaml': text}, 'container-argument-not-string')) == count
