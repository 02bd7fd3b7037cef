"""Which GPU an engine runs on: node labels, affinity, resources, annotation, option."""

from collections.abc import Callable

import pytest

from configaudit.model import Component

Engines = Callable[..., list[Component]]
POD = """apiVersion: v1
kind: Pod
metadata:
  name: p
{annotations}
spec:
{spec}
  containers:
    - name: c
      image: vllm/vllm-openai:v0.10.2
      args: [--model=/m/x]
      resources: {{limits: {{{resource}: 1}}}}
"""
AFFINITY = """  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
"""


def _in(key: str, *values: str) -> str:
    return f'          - matchExpressions:\n              - {{key: {key}, operator: In, values: [{", ".join(values)}]}}\n'


def _selector(*pairs: str) -> str:
    return '  nodeSelector: {' + ', '.join(pairs) + '}'


@pytest.fixture
def gpu(engines: Engines) -> Callable[..., list[str]]:
    """The GPUs that a pod's engine may run on, by name and memory."""

    def read(spec: str, resource: str = 'nvidia.com/gpu', annotations: str = '') -> list[str]:
        (engine,) = engines({'pod.yaml': POD.format(spec=spec, resource=resource, annotations=annotations)})
        found = engine['gpu'].candidates or ((engine['gpu'].known_value,) if engine['gpu'].is_known else ())
        return [f'{one.name or one.slice} {one.memory_gib:.0f}' for one in found]

    return read


@pytest.mark.parametrize(
    ('spec', 'names'),
    [
        (_selector('cloud.google.com/gke-accelerator: nvidia-l4'), ['L4 22']),
        (_selector('nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3-SHARED'), ['H100-80GB 80']),
        (_selector('node.kubernetes.io/instance-type: g5.12xlarge'), ['A10G 22']),
        (_selector('beta.kubernetes.io/instance-type: Standard_NC24ads_A100_v4'), ['A100-80GB 80']),
        (_selector('karpenter.k8s.aws/instance-family: p4de'), ['A100-80GB 80']),
        (_selector('eks.amazonaws.com/instance-family: g6e'), ['L40S 45']),
        (_selector('node.kubernetes.io/instance-family: inf2'), ['Inferentia2 32']),
        (_selector('karpenter.k8s.aws/instance-gpu-name: a100'), ['A100-40GB 40', 'A100-80GB 80']),
        (_selector('nvidia.com/gpu.product: NVIDIA-A100', 'nvidia.com/gpu.memory: "81920"'), ['A100-80GB 80']),
        (_selector('karpenter.k8s.aws/instance-gpu-name: a100', 'nvidia.com/gpu.memory: "81920"'), ['A100-80GB 80']),
        (_selector('cloud.google.com/gke-accelerator: nvidia-tesla-a100', 'cloud.google.com/gke-gpu-partition-size: 1g.5gb'), ['A100-40GB 5']),
        (_selector('nodepool: l4'), []),
        (_selector('accelerator: gpu'), []),
        (_selector('machine.cluster.vke.volcengine.com/gpu-name: NVIDIA-L20'), ['L20 45']),
        (AFFINITY + _in('nvidia.com/gpu.product', 'NVIDIA-L40S', 'NVIDIA-L40'), ['L40S 45', 'L40 45']),
        (AFFINITY + _in('nvidia.com/gpu.product', 'NVIDIA-L40S') + _in('nvidia.com/gpu.product', 'Tesla-T4'), ['L40S 45', 'T4 15']),
        (AFFINITY + _in('nvidia.com/gpu.product', 'NVIDIA-L40S') + _in('zone', 'a'), []),
        (AFFINITY + _in('nvidia.com/gpu.product', 'NVIDIA-L40S', 'NVIDIA-Unheard-Of'), []),
        ('', []),
    ],
)
def test_by_labels(gpu: Callable[..., list[str]], spec: str, names: list[str]) -> None:
    assert gpu(spec) == names


@pytest.mark.parametrize(
    ('spec', 'resource', 'names'),
    [
        ('', 'nvidia.com/mig-3g.40gb', ['3g.40gb 40']),
        (_selector('nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB'), 'nvidia.com/mig-3g.40gb', ['A100-80GB 40']),
        (_selector('nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB-MIG-1g.10gb'), 'nvidia.com/gpu', ['A100-80GB 10']),
        (_selector('nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB'), 'nvidia.com/gpumem', []),
    ],
)
def test_parts_of_a_gpu(gpu: Callable[..., list[str]], spec: str, resource: str, names: list[str]) -> None:
    assert gpu(spec, resource) == names


def test_an_annotation_wins(gpu: Callable[..., list[str]]) -> None:
    assert gpu(_selector('nvidia.com/gpu.product: Tesla-T4'), annotations='  annotations: {configaudit.io/gpu: H200}') == ['H200 140']


@pytest.mark.parametrize(
    ('labels', 'seqs'),
    [(('NVIDIA-L40S', 'Tesla-T4'), (256, ())), (('NVIDIA-L40S', 'NVIDIA-H200'), (None, (256, 1024)))],
)
def test_defaults_on_several_gpus(engines: Engines, labels: tuple[str, ...], seqs: tuple[object, object]) -> None:
    text = POD.format(spec=AFFINITY + _in('nvidia.com/gpu.product', *labels), resource='nvidia.com/gpu', annotations='')
    (engine,) = engines({'pod.yaml': text})
    setting = engine['max_num_seqs']
    assert (setting.known_value, setting.candidates if not setting.is_known else ()) == seqs


def test_a_tpu_leaves_defaults_open(engines: Engines) -> None:
    text = POD.format(spec=_selector('cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice'), resource='google.com/tpu', annotations='')
    (engine,) = engines({'pod.yaml': text})
    assert (engine['gpu'].value.name, engine['max_num_seqs'].candidates) == ('TPU-v6e', (256, 1024))


KARPENTER = """apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: inference}
spec:
  template:
    metadata: {labels: {team-gpu-pool: chat}}
    spec:
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g6, g6e]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
---
"""
CLASS = """apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: small}
spec:
  priorities:
    - {gpu: {type: nvidia-l4, count: 1}, spot: true}
    - {machineType: g2-standard-12}
---
"""


@pytest.mark.parametrize(
    ('pool', 'label', 'names'),
    [
        (KARPENTER, 'karpenter.sh/nodepool: inference', ['L4', 'L40S']),
        (KARPENTER, 'team-gpu-pool: chat', ['L4', 'L40S']),
        (KARPENTER, 'karpenter.sh/nodepool: another', []),
        (KARPENTER, 'cloud.google.com/gke-accelerator: nvidia-b200', ['B200']),
        (CLASS, 'cloud.google.com/compute-class: small', ['L4']),
    ],
)
def test_by_the_pool_that_the_pod_asks_for(engines: Engines, pool: str, label: str, names: list[str]) -> None:
    pod = POD.format(spec=_selector(label), resource='nvidia.com/gpu', annotations='')
    (engine,) = engines({'pod.yaml': pod, 'pool.yaml': pool})
    found = engine['gpu'].candidates or ((engine['gpu'].known_value,) if engine['gpu'].is_known else ())
    assert [gpu.name for gpu in found] == names
