"""Kustomize: what an overlay makes of its bases, and where each value was set."""

from collections.abc import Callable

import pytest

from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]

BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, labels: {tier: gpu}}
spec:
  template:
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.8.0
          args: [--model=org/m, --max-num-seqs=100]
"""
FILES = {'base/kustomization.yaml': 'resources: [chat.yaml]\n', 'base/chat.yaml': BASE}
MERGE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  template:
    spec:
      containers:
        - name: engine
          args: [--model=org/m, --max-num-seqs=512]
"""
OPERATIONS = """\
- op: replace
  path: /spec/template/spec/containers/0/args/1
  value: --max-num-seqs=512
"""


def indented(text: str, width: int) -> str:
    return ''.join(' ' * width + line + '\n' for line in text.splitlines())


def spots(result: Result, setting: str = 'max_num_seqs') -> list[str]:
    """Where the setting of each engine was set, with its value."""
    engines = [component for component in result.components if component.kind.name == 'vllm']
    places = [(locate(engine[setting].place), engine[setting].known_value) for engine in engines]
    return sorted(f'{at.path}:{at.line}:{at.column} {value}' for at, value in places)


@pytest.mark.parametrize(
    ('patch', 'more', 'expected'),
    [
        ('patches: [{path: p.yaml}]\n', MERGE.replace('NAME', 'chat'), 'over/p.yaml:9:48 512'),
        ('patchesStrategicMerge: [p.yaml]\n', MERGE.replace('NAME', 'chat'), 'over/p.yaml:9:48 512'),
        ('patchesStrategicMerge:\n- |-\n' + indented(MERGE.replace('NAME', 'chat'), 2), '', 'over/kustomization.yaml:12:50 512'),
        ('patches:\n- patch: |-\n' + indented(MERGE.replace('NAME', 'chat'), 4), '', 'over/kustomization.yaml:12:52 512'),
        ('patches: [{path: p.yaml, target: {kind: Deployment}}]\n', MERGE.replace('NAME', 'any'), 'over/p.yaml:9:48 512'),
        ('patches: [{path: p.yaml, target: {name: ch.*}}]\n', MERGE.replace('NAME', 'any'), 'over/p.yaml:9:48 512'),
        ('patches: [{path: p.yaml, target: {labelSelector: tier=gpu}}]\n', MERGE.replace('NAME', 'any'), 'over/p.yaml:9:48 512'),
        ('patches: [{path: p.yaml, target: {kind: Deployment, name: chat}}]\n', OPERATIONS, 'over/p.yaml:3:25 512'),
        ('patchesJson6902: [{path: p.yaml, target: {version: v1, kind: Deployment, name: chat}}]\n', OPERATIONS, 'over/p.yaml:3:25 512'),
        ('patches:\n- target: {kind: Deployment}\n  patch: |-\n' + indented(OPERATIONS, 4), '', 'over/kustomization.yaml:7:29 512'),
        (
            'patches:\n- target: {kind: Deployment}\n  patch: \'[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--max-num-seqs=512"}]\'\n',
            '', 'over/kustomization.yaml:4:102 512',
        ),
    ],
)  # fmt: skip
def test_a_patch_s_value_stands_in_the_patch(run: Run, patch: str, more: str, expected: str) -> None:
    result = run({**FILES, 'over/kustomization.yaml': f'resources: [../base]\n{patch}', **({'over/p.yaml': more} if more else {})})
    assert spots(result) == [expected]
    assert [component.identity for component in result.components if component.kind.name == 'workload'] == ['Deployment/chat']
    assert not result.skipped


@pytest.mark.parametrize(
    'target', ['{kind: StatefulSet}', '{name: chat-x}', '{labelSelector: tier=cpu}', '{labelSelector: tier!=gpu}', '{annotationSelector: a=b}', '{name: "["}']
)
def test_a_selector_that_does_not_fit(run: Run, target: str) -> None:
    files = {**FILES, 'over/kustomization.yaml': f'resources: [../base]\npatches: [{{path: p.yaml, target: {target}}}]\n', 'over/p.yaml': OPERATIONS}
    assert spots(run(files)) == ['base/chat.yaml:10:48 100']


@pytest.mark.parametrize(
    'operation',
    ['{op: replace, path: /spec/nothing/here, value: 1}', '{op: remove, path: /spec/template/spec/containers/7}', '{op: move, from: /spec, path: /x}', '{op: add}', '{op: replace, path: "", value: 1}', '{op: add, path: /spec/template/spec/containers/x/y, value: 1}'],
)  # fmt: skip
def test_an_operation_that_leads_nowhere_changes_nothing(run: Run, operation: str) -> None:
    files = {**FILES, 'over/kustomization.yaml': 'resources: [../base]\npatches: [{path: p.yaml, target: {kind: Deployment}}]\n', 'over/p.yaml': f'[{operation}]\n'}
    assert spots(run(files)) == ['base/chat.yaml:10:48 100']


def test_removal(run: Run) -> None:
    files = {**FILES, 'over/kustomization.yaml': 'resources: [../base]\npatches: [{path: p.yaml, target: {kind: Deployment}}]\n', 'over/p.yaml': '- {op: remove, path: /spec/template/spec/containers/0/args/1}\n'}
    assert spots(run(files)) == ['base/chat.yaml:10:18 1024']


def test_a_base_in_two_overlays_is_judged_twice_and_not_alone(run: Run) -> None:
    files = {
        **FILES,
        'a/kustomization.yaml': 'namePrefix: a-\nresources: [../base]\npatches: [{path: p.yaml}]\n', 'a/p.yaml': MERGE.replace('NAME', 'chat'),
        'b/kustomization.yaml': 'namespace: b\nbases: [../base/]\nimages: [{name: vllm/vllm-openai, newTag: v0.10.2}]\nreplicas: [{name: chat, count: 3}]\n',
    }
    result = run(files)
    assert spots(result) == ['a/p.yaml:9:48 512', 'base/chat.yaml:10:48 100']
    engines = {str(component.version) for component in result.components if component.kind.name == 'vllm'}
    assert engines == {'0.8.0', '0.10.2'}
    replicas = [component['replicas'] for component in result.components if component.kind.name == 'workload']
    assert sorted((int(setting.value), locate(setting.place).path) for setting in replicas if setting.is_set) == [(3, 'b/kustomization.yaml')]


def test_a_component_changes_what_its_overlay_deploys(run: Run) -> None:
    files = {
        **FILES, 'over/kustomization.yaml': 'resources: [../base]\ncomponents: [../part]\n',
        'part/kustomization.yaml': 'kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [more.yaml]\npatches: [{path: p.yaml}]\n',
        'part/p.yaml': MERGE.replace('NAME', 'chat'), 'part/more.yaml': BASE.replace('chat', 'more'),
    }  # fmt: skip
    assert spots(run(files)) == ['part/more.yaml:10:48 100', 'part/p.yaml:9:48 512']


def test_nothing_is_missing_in_a_patch_without_its_base(run: Run) -> None:
    result = run({'over/kustomization.yaml': 'resources: [github.com/x/y?ref=v1]\npatches: [{path: p.yaml}]\n', 'over/p.yaml': MERGE.replace('NAME', 'chat')})
    assert [(item.rule.id, locate(item.place).line) for item in result.findings] == [('vllm-batch-too-wide', 9)]


def test_a_patch_alone_is_partial(run: Run) -> None:
    result = run({'p.yaml': MERGE.replace('NAME', 'chat')})
    assert [(item.rule.id, locate(item.place).line) for item in result.findings] == [('vllm-batch-too-wide', 9)]


def test_circles_end(run: Run) -> None:
    files = {'a/kustomization.yaml': 'resources: [../b, x.yaml]\n', 'b/kustomization.yaml': 'resources: [../a]\ncomponents: [../b, ../a]\n', 'a/x.yaml': BASE}
    assert spots(run(files)) == ['a/x.yaml:10:48 100']
