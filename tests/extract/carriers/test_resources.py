"""Custom resources that keep a pod's parts in fields of their own."""

from collections.abc import Callable

import pytest

from configaudit.extract.carriers.resources import READERS
from configaudit.model import Component
from configaudit.parse.stream import GATED_KINDS, READ_KINDS
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]

DYNAMO = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: graph}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec:
        mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.6.0"}
    Decode:
      componentType: worker
      resources: {limits: {gpu: "4"}}
      envs: [{name: NCCL_DEBUG, value: INFO}]
      extraPodSpec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.6.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-8B, --is-prefill-worker, --max-num-seqs, "512", --tensor-parallel-size, "2"]
"""
OME = """\
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: rt}
spec:
  engineConfig:
    volumes: [{name: dshm, emptyDir: {medium: Memory}}]
    leader:
      runner:
        name: ome-container
        image: lmsysorg/sglang:v0.5.5
        command: [python3, -m, sglang.launch_server, --model-path, $(MODEL_PATH), --mem-fraction-static, "0.97"]
"""
LLMAZ = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: vllm}
spec:
  command: [python3, -m, vllm.entrypoints.openai.api_server]
  image: vllm/vllm-openai
  version: v0.10.2
  recommendedConfigs:
  - {name: default, args: [--model, "{{ .ModelPath }}", --max-num-seqs, "300"]}
  - {name: wide, args: [--model, "{{ .ModelPath }}", --max-num-seqs, "600"]}
"""
KUBEAI = """\
apiVersion: kubeai.org/v1
kind: Model
metadata: {name: chat}
spec:
  url: hf://Qwen/Qwen3-8B
  engine: VLLM
  env: {VLLM_USE_V1: "1"}
  resourceProfile: nvidia-gpu-h100:2
  args: [--max-num-seqs=512]
"""
RUNTIME = """\
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
metadata: {name: chat}
spec:
  model: {modelURL: Qwen/Qwen3-8B, maxNumSeqs: 512}
  vllmConfig: {tensorParallelSize: 2, enablePrefixCaching: true, v1: true}
  deploymentConfig:
    resources: {cpu: "8", gpu: "2"}
    image: {registry: docker.io, name: "vllm/vllm-openai:v0.10.2"}
"""
BOOSTER = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: chat}
spec:
  backend:
    name: b
    type: vLLM
    modelURI: hf://Qwen/Qwen3-8B
    workers:
    - type: server
      image: vllm/vllm-openai:v0.10.2
      config:
        max-num-seqs: 512
        enable-prefix-caching: ""
"""
KAITO = """\
apiVersion: kaito.sh/v1beta1
kind: Workspace
metadata: {name: chat}
resource: {instanceType: Standard_NC24ads_A100_v4}
inference:
  preset: {name: phi-4}
  config: params
---
apiVersion: v1
kind: ConfigMap
metadata: {name: params}
data:
  inference_config.yaml: |
    max_probe_steps: 6
    vllm:
      max-num-seqs: 512
"""


def engines(result: Result, kind: str = 'vllm') -> list[Component]:
    return [component for component in result.components if component.kind.name == kind]


@pytest.mark.parametrize(
    ('text', 'version', 'line', 'column', 'model'),
    [
        (DYNAMO, '0.11.0', 19, 80, 'Qwen/Qwen3-8B'),
        (KUBEAI, None, 9, 25, 'Qwen/Qwen3-8B'),
        (RUNTIME, '0.10.2', 5, 48, 'Qwen/Qwen3-8B'),
        (BOOSTER, '0.10.2', 13, 23, 'Qwen/Qwen3-8B'),
        (KAITO, None, 16, 21, '/workspace/vllm/weights'),
    ],
)
def test_options_keep_the_place_where_a_person_changes_them(run: Run, text: str, version: str | None, line: int, column: int, model: str) -> None:
    (engine,) = engines(run({'a.yaml': text}))
    seqs, at = engine['max_num_seqs'], locate(engine['max_num_seqs'].place)
    assert (str(engine.version) if engine.version else None) == version
    assert (seqs.value, at.line, at.column) == (512, line, column)
    assert engine['model'].value == model


def test_a_service_of_dynamo_is_a_container_with_its_gpus_and_environment(run: Run) -> None:
    result = run({'a.yaml': DYNAMO})
    (engine,) = engines(result)
    assert engine.peer('container')['gpu_limit'].value == 4
    assert engine['gpu'].value.name.startswith('H100')
    assert engine['command'].value == 'dynamo'
    rules = {item.rule.id for item in result.findings}
    assert {'engine-gpus-mismatch', 'engine-debug-environment', 'vllm-batch-too-wide'} <= rules
    assert not rules & {'vllm-flag-unknown', 'engine-shm-default', 'readiness-probe-missing', 'requests-missing'}


def test_what_a_dynamo_service_and_its_graph_add_reaches_the_container(run: Run) -> None:
    more = '      envFromSecret: hf\n      volumeMounts: [{name: cache, mountPoint: /root/.cache/huggingface}]\n      extraPodSpec:\n        nodeSelector'
    text = DYNAMO.replace('      extraPodSpec:\n        nodeSelector', more).replace('  services:\n', '  envs: [{name: HF_HUB_OFFLINE, value: "1"}]\n  services:\n')
    (engine,) = engines(run({'a.yaml': text}))
    container = engine.peer('container')
    assert set(engine['environment'].value) == {'HF_HUB_OFFLINE', 'NCCL_DEBUG'}
    assert [item.name for item in container['imported'].known_value] == ['hf']  # type: ignore[attr-defined]
    assert list(container['mounts'].value) == ['/root/.cache/huggingface']


def test_one_string_of_a_dynamo_container_is_a_script(run: Run) -> None:
    script = DYNAMO.split('          command:')[0]
    (engine,) = engines(run({'a.yaml': script + '          args: ["python3 -m dynamo.vllm --model Qwen/Qwen3-0.6B --enforce-eager | tee /tmp/log"]\n'}))
    assert (engine['model'].value, engine['enforce_eager'].value, engine['piped'].value) == ('Qwen/Qwen3-0.6B', True, True)


def test_a_runner_of_ome_is_a_container(run: Run) -> None:
    result = run({'a.yaml': OME})
    (engine,) = engines(result, 'sglang')
    assert engine.identity == 'ClusterServingRuntime/rt/engineConfig/leaderTemplate/containers/ome-container/sglang'
    assert 'readiness-probe-missing' not in {item.rule.id for item in result.findings}


def test_every_recommended_config_of_llmaz_is_judged(run: Run) -> None:
    found = engines(run({'a.yaml': LLMAZ}))
    assert [(str(engine.version), engine['max_num_seqs'].value, locate(engine['max_num_seqs'].place).line) for engine in found] == [
        ('0.10.2', 300, 9), ('0.10.2', 600, 10),
    ]  # fmt: skip


def test_version_and_gpu_are_noted_on_the_resource_itself(run: Run) -> None:
    notes = '{name: chat, annotations: {configaudit.io/engine-version: "0.9.2", configaudit.io/gpu: L4}}'
    (engine,) = engines(run({'a.yaml': KUBEAI.replace('{name: chat}', notes)}))
    assert (str(engine.version), engine['gpu'].value.name) == ('0.9.2', 'L4')


PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  modelClaim: {modelName: qwen}
  backendRuntimeConfig:
    version: v0.8.5
    args: [--max-num-seqs, "512"]
"""


def test_a_playground_adds_arguments_to_those_of_its_runtime(run: Run) -> None:
    (engine,) = engines(run({'a.yaml': PLAYGROUND}))
    assert (str(engine.version), engine['max_num_seqs'].value, engine['max_model_len'].is_known) == ('0.8.5', 512, False)
    assert not engines(run({'a.yaml': PLAYGROUND.replace('version: v0.8.5', 'backendName: llamacpp')}))


def test_a_profile_of_kubeai_counts_gpus(run: Run) -> None:
    (engine,) = engines(run({'a.yaml': KUBEAI}))
    assert engine.peer('container')['gpu_limit'].value == 2
    assert engine['gpu'].value.name.startswith('H100')
    assert engine['environment'].value['VLLM_USE_V1'].value == '1'


def test_the_operator_of_the_production_stack_turns_unset_switches_off(run: Run) -> None:
    result = run({'a.yaml': RUNTIME})
    (engine,) = engines(result)
    assert (engine['enable_chunked_prefill'].value, engine['enable_prefix_caching'].value) == (False, True)
    assert engine.peer('container')['gpu_limit'].value == 2
    (shm,) = [item for item in result.findings if item.rule.id == 'engine-shm-default']
    assert shm.fix is not None
    assert shm.fix.changes[0].slot is not None
    assert shm.fix.changes[0].slot.path == ('shmSize',)


def test_shared_memory_of_the_production_stack(run: Run) -> None:
    result = run({'a.yaml': RUNTIME.replace('  deploymentConfig:\n', '  deploymentConfig:\n    shmSize: 8Gi\n')})
    assert not {item.rule.id for item in result.findings} & {'engine-shm-default', 'engine-shm-unsized'}


def test_kthena_gives_a_switch_its_truth_value(run: Run) -> None:
    (engine,) = engines(run({'a.yaml': BOOSTER}))
    assert (engine['enable_prefix_caching'].value, engine['arguments'].value.positional) == (True, ())
    (engine,) = engines(run({'a.yaml': BOOSTER.replace('""', 'true')}))
    assert [word.value for word in engine['arguments'].value.positional] == ['true']


def test_what_a_preset_of_kaito_sets_is_not_called_missing(run: Run) -> None:
    result = run({'a.yaml': KAITO})
    assert not [item.rule.id for item in result.findings if 'unset' in item.rule.id]
    (engine,) = engines(result)
    assert engine['gpu'].value.name.startswith('A100')


def test_other_resources_of_the_same_kind_are_left_alone(run: Run) -> None:
    assert not engines(run({'a.yaml': KUBEAI.replace('kubeai.org/v1', 'mlops.seldon.io/v1alpha1')}))


def test_an_image_of_a_nim_is_a_repository_and_a_tag(run: Run) -> None:
    text = 'apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\nmetadata: {name: n}\nspec:\n  image: {repository: nvcr.io/nim/meta/llama3-8b-instruct, tag: latest}\n'
    result = run({'a.yaml': text})
    assert [(item.rule.id, locate(item.place).line) for item in result.findings] == [('image-floating-tag', 5)]


def test_a_pipeline_of_nims_holds_several(run: Run) -> None:
    text = 'apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMPipeline\nmetadata: {name: p}\nspec:\n  services:\n'
    text += ''.join(f'  - {{name: {name}, enabled: true, spec: {{image: {{repository: nvcr.io/nim/{name}, tag: "1.0.0"}}}}}}\n' for name in ('a', 'b'))
    images = [item['image'].value for item in run({'a.yaml': text}).components if item.kind.name == 'container']
    assert images == ['nvcr.io/nim/a:1.0.0', 'nvcr.io/nim/b:1.0.0']


def test_every_kind_passes_the_gate() -> None:
    assert {kind.encode() for _, kind in READERS} <= READ_KINDS - GATED_KINDS
