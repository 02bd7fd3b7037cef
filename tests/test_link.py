"""Who is whose neighbour when several applications lie in one tree."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

from .rules.workloads import SERVICE, container, deployment

Run = Callable[..., Result]
HPA = (
    'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: chat}\n'
    'spec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}\n  maxReplicas: 4\n'
)
BUDGET = 'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: chat}\nspec: {minAvailable: 1, selector: {matchLabels: {app: chat}}}\n'


def workload(result: Result, path: str) -> Component:
    """The workload of a file."""
    return next(item for item in result.components if item.kind.name == 'workload' and item.place.document.path == path)


@pytest.mark.parametrize(('kind', 'text'), [('autoscaler', HPA), ('service', SERVICE)])
def test_what_belongs_to_a_sample_beside_it_is_not_taken_from_there(run: Run, kind: str, text: str) -> None:
    text_of = deployment(container())
    result = run({'one/d.yaml': text_of, 'one/x.yaml': text, 'two/d.yaml': text_of})
    assert len(workload(result, 'one/d.yaml').peers(kind)) == 1
    assert len(workload(result, 'two/d.yaml').peers(kind)) == 0


def test_two_workloads_equally_near_share_a_service(run: Run) -> None:
    text_of = deployment(container())
    result = run({'one/d.yaml': text_of, 'x.yaml': SERVICE, 'two/d.yaml': text_of})
    assert [len(workload(result, path).peers('service')) for path in ('one/d.yaml', 'two/d.yaml')] == [1, 1]


def test_one_service_above_several_variants(run: Run) -> None:
    text_of = deployment(container())
    result = run({'apps/llm/x.yaml': SERVICE, 'apps/llm/a/d.yaml': text_of, 'apps/llm/b/d.yaml': text_of})
    assert [len(workload(result, f'apps/llm/{name}/d.yaml').peers('service')) for name in 'ab'] == [1, 1]


@pytest.mark.parametrize(
    ('path', 'namespace', 'count'), [('shop/api/testdata/x.yaml', '', 0), ('shop/api/testdata/x.yaml', 'chat', 1), ('shop/x.yaml', '', 1), ('chat/prod/eu/x.yaml', '', 1)]
)
def test_objects_far_apart_need_a_common_namespace(run: Run, path: str, namespace: str, count: int) -> None:
    named = f'{{name: chat, namespace: {namespace}}}' if namespace else '{name: chat}'
    text_of = deployment(container()).replace('  name: chat\n', f'  name: chat\n  namespace: {namespace}\n' if namespace else '  name: chat\n', 1)
    result = run({'chat/k8s/d.yaml': text_of, path: HPA.replace('{name: chat}', named, 1)})
    assert len(workload(result, 'chat/k8s/d.yaml').peers('autoscaler')) == count


def test_a_budget_covers_all_that_it_selects(run: Run) -> None:
    text_of = deployment(container())
    result = run({'one/d.yaml': text_of, 'one/x.yaml': BUDGET, 'two/d.yaml': text_of})
    assert len(workload(result, 'two/d.yaml').peers('disruption-budget')) == 1
