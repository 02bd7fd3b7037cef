"""What autoscalers say, whoever made them."""

import pytest

from configaudit.extract.carriers.kubernetes import read_object
from configaudit.model import Component
from configaudit.parse.yaml import parse
from configaudit.places import Document, locate


def scaler(data: bytes) -> Component:
    document = Document('s.yaml', 'yaml', data)
    (component,) = (item for item in read_object(document, parse(data).roots[0], '').components if item.kind.name == 'autoscaler')
    return component


HPA = b"""apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat}
spec:
  scaleTargetRef: {kind: Deployment, name: chat}
  metrics:
    - type: Pods
      pods:
        metric: {name: queue}
        target:
          type: AverageValue
          averageValue: 4
"""


def test_a_metric_knows_where_its_number_stands() -> None:
    (metric,) = scaler(HPA)['metrics'].value
    assert (metric['type'], metric['name']) == ('pods', 'queue')
    assert locate(metric['target_place'])[1:3] == (12, 25)


@pytest.mark.parametrize(('field', 'setting', 'value'), [
    ('cooldownPeriod: 60', 'cooldown_s', 60), ('idleReplicaCount: 0', 'idle_replicas', 0), ('minReplicaCount: 2', 'min_replicas', 2),
    ('advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {stabilizationWindowSeconds: 20}}}}', 'scale_down_window_s', 20),
])  # fmt: skip
def test_keda(field: str, setting: str, value: int) -> None:
    text = f'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{name: chat}}\nspec:\n  scaleTargetRef: {{name: chat}}\n  {field}\n'
    found = scaler(text.encode())[setting]
    assert (found.value, found.is_set) == (value, True)
