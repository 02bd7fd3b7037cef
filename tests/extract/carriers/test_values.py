"""Chart values: containers told by image and arguments, the argv that known charts make of them, one finding per cause."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
Found = Callable[..., list[str]]
STACK = """\
servingEngineSpec:
  vllmApiKey: {secretName: keys, secretKey: vllm}
  modelSpec:
    - name: chat
      repository: vllm/vllm-openai
      tag: v0.10.2
      modelURL: Qwen/Qwen3-8B
      requestGPU: 2
      requestMemory: 40Gi
      vllmConfig:
        maxModelLen: 8192
        enablePrefixCaching: false
        gpuMemoryUtilization: 0.8
"""


def engines(result: Result, kind: str = 'vllm') -> list[Component]:
    return [component for component in result.components if component.kind.name == kind]


def test_a_model_spec_becomes_the_argv_that_the_chart_renders(run: Run) -> None:
    (engine,) = engines(run({'values.yaml': STACK}))
    assert str(engine.version) == '0.10.2'
    assert engine['model'].value == 'Qwen/Qwen3-8B'
    assert (engine['max_model_len'].value, locate(engine['max_model_len'].place).line) == (8192, 11)
    assert engine['enable_prefix_caching'].value is False
    assert not engine['max_num_seqs'].is_set
    assert not engine.partial


@pytest.mark.parametrize(
    ('more', 'rules'),
    [
        ('        tensorParallelSize: 2\n', []),
        ('        tensorParallelSize: 4\n', ['values.yaml:14:29 engine-gpus-mismatch']),
        ('        extraArgs: [--tensor-parallel-size, "2"]\n', ['values.yaml:14:46 engine-shm-default']),
        ('        tensorParallelSize: 2\n      raySpec: {enabled: true}\n', []),
    ],
)
def test_gpus_and_shared_memory_of_the_chart(found: Found, more: str, rules: list[str]) -> None:
    assert found({'values.yaml': STACK + more}, 'engine-gpus-mismatch', 'engine-shm-default') == rules


@pytest.mark.parametrize('off', ['      enabled: false\n', '  enableEngine: false\n'])
def test_what_is_switched_off_is_not_in_force(run: Run, off: str) -> None:
    text = STACK.replace('      tag', off + '      tag') if off.startswith('      ') else STACK.replace('  modelSpec', off + '  modelSpec')
    assert engines(run({'values.yaml': text})) == []


@pytest.mark.parametrize(('tag', 'word'), [('v0.8.4', '--enable-chunked-prefill=False'), ('v0.10.2', '--no-enable-chunked-prefill')])
def test_the_chart_of_an_old_release_passed_a_value(run: Run, tag: str, word: str) -> None:
    text = STACK.replace('v0.10.2', tag).replace('enablePrefixCaching', 'enableChunkedPrefill')
    (engine,) = engines(run({'values.yaml': text}))
    assert word in [option.word.value for option in engine['options'].value]
    assert engine['enable_chunked_prefill'].known_value is False


@pytest.mark.parametrize(('more', 'use_v1'), [('', '0'), ('        v1: 1\n', '1')])
def test_a_model_on_a_ray_cluster(run: Run, more: str, use_v1: str) -> None:
    text = STACK + '        pipelineParallelSize: 2\n' + more + '      raySpec: {enabled: true, headNode: {requestGPU: 2}}\n'
    (engine,) = engines(run({'values.yaml': text}))
    assert (engine['pipeline_parallel_size'].value, engine['distributed_executor_backend'].value) == (2, 'ray')
    assert engine['environment'].value['VLLM_USE_V1'].value == use_v1
    assert not engine['enable_prefix_caching'].is_set


def test_node_selector_terms_tell_the_gpu(run: Run) -> None:
    terms = '[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4]}]}]'
    (engine,) = engines(run({'values.yaml': STACK + f'      nodeSelectorTerms: {terms}\n'}))
    assert engine['gpu'].value.name == 'L4'


GENERIC = """\
image: {registry: docker.io, repository: vllm/vllm-openai, tag: v0.10.2}
extraArgs:
  - --max-num-seqs=512
resources:
  limits: {nvidia.com/gpu: "1"}
"""


def test_an_image_with_arguments_is_a_container_whatever_the_chart(run: Run) -> None:
    result = run({'deploy/any-name.yaml': GENERIC})
    (engine,) = engines(result)
    assert engine['max_num_seqs'].value == 512
    assert engine.partial == 'the chart may add to it'
    assert [item.rule.id for item in result.findings] == ['vllm-batch-too-wide']


@pytest.mark.parametrize(
    'text',
    [
        'image: {repository: vllm/vllm-openai, tag: v0.10.2, command: [vllm, serve, /data, --max-num-seqs, "512"]}\n',
        'image: vllm/vllm-openai:v0.10.2\nargs: [--model, m, --max-num-seqs, "512"]\n',
        'image: {repository: vllm/vllm-openai, tag: v0.10.2}\nargs: {model: m, max-num-seqs: 512, enforce-eager: false, maxModelLen: 3}\n',
        'vllm: {image: {repository: vllm/vllm-openai, tag: v0.10.2}, extraArgs: [--model=m, --max-num-seqs=512]}\n',
        'models: [{name: a, image: {repository: vllm/vllm-openai, tag: v0.10.2}, args: [--model=m, --max-num-seqs=512]}]\n',
    ],
)
def test_the_ways_of_other_charts(run: Run, text: str) -> None:
    (engine,) = engines(run({'values.yaml': text}))
    assert str(engine.version) == '0.10.2'
    assert engine['max_num_seqs'].value == 512
    assert not engine['enforce_eager'].is_set or not engine['enforce_eager'].is_known


def test_arguments_of_the_one_image_stand_beside_it(run: Run) -> None:
    text = 'image: {image: registry.redhat.io/rhaiis/vllm-cuda-rhel9, tag: 3.2.1}\nmodel:\n  args: [--gpu-memory-utilization=0.97]\n'
    (engine,) = engines(run({'values.yaml': text}))
    assert engine['gpu_memory_utilization'].value == 0.97


@pytest.mark.parametrize(
    'text',
    [
        'server:\n  enabled: false\n  image: {repository: vllm/vllm-openai, tag: latest}\n  args: [--max-num-seqs=512]\n',
        'image: {repository: library/nginx, tag: latest}\nargs: [--max-num-seqs=512]\n# vllm\n',
        'jobs:\n  test:\n    container: {image: "vllm/vllm-openai:latest"}\n',
        'images:\n  - {image: "vllm/vllm-openai:latest", sizes: 3}\n',
    ],
)
def test_other_yaml_is_left_alone(run: Run, text: str) -> None:
    result = run({'values.yaml': text})
    assert (result.components, result.findings) == ((), ())


def test_a_missing_tag_is_unknown_or_the_chart_s_app_version(run: Run) -> None:
    text = GENERIC.replace(', tag: v0.10.2', '')
    result = run({'values.yaml': text})
    assert engines(result)[0].version is None
    assert 'image-floating-tag' not in {item.rule.id for item in result.findings}
    template = 'image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"\n'
    files = {'values.yaml': text, 'Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\nappVersion: "v0.10.2"\n'}
    assert str(engines(run({**files, 'templates/deployment.yaml': template}))[0].version) == '0.10.2'


def test_values_that_lie_over_others_leave_the_tag_to_them(run: Run) -> None:
    template = 'image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"\n'
    files = {'Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\nappVersion: "v0.10.2"\n', 'templates/deployment.yaml': template}
    result = run({**files, 'values.yaml': GENERIC, 'gpu-values.yaml': GENERIC.replace(', tag: v0.10.2', '')})
    assert [engine.version for engine in engines(result) if engine.place.outermost().document.path == 'gpu-values.yaml'] == [None]


CHART = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
          args: {{- toYaml .Values.extraArgs | nindent 12 }}
"""


def test_a_values_file_and_its_template_give_one_finding(run: Run) -> None:
    text = GENERIC.replace('v0.10.2', 'latest').replace('registry: docker.io, ', '')
    result = run({'chat/values.yaml': text, 'chat/templates/deployment.yaml': CHART})
    (finding,) = [item for item in result.findings if item.rule.id == 'image-floating-tag']
    assert locate(finding.place).path == 'chat/values.yaml'
    assert [(word, locate(place).path) for word, place in finding.related] == [('also used here', 'chat/templates/deployment.yaml')]


MODELSERVICE = """\
modelArtifacts: {uri: "hf://Qwen/Qwen3-32B", name: Qwen/Qwen3-32B, size: 80Gi}
decode:
  create: true
  parallelism: {tensor: 2}
  containers:
    - name: vllm
      image: ghcr.io/llm-d/llm-d-cuda:v0.3.0
      modelCommand: vllmServe
      args: [--max-num-seqs=512, --gpu-memory-utilization=0.97]
prefill:
  create: false
  containers:
    - {name: vllm, image: "ghcr.io/llm-d/llm-d-cuda:v0.3.0", modelCommand: vllmServe, args: [--max-num-seqs=512]}
"""


def test_the_pods_of_an_llm_d_modelservice(run: Run) -> None:
    (engine,) = engines(run({'ms.yaml': MODELSERVICE}))
    assert engine['model'].value == 'Qwen/Qwen3-32B'
    assert engine['tensor_parallel_size'].value == 2
    assert not engine['port'].is_known
    (container,) = engine.peers('container')
    assert (container['gpu_limit'].value, container['gpu_resource'].value) == (2, 'nvidia.com/gpu')
    assert not engine.partial


def test_a_value_that_names_another_value(run: Run) -> None:
    text = MODELSERVICE.replace('hf://Qwen/Qwen3-32B', 'hf://{{ .Values.modelArtifacts.name }}') + 'routing: {servicePort: 8000, proxy: {targetPort: 8200}}\n'
    (engine,) = engines(run({'ms.yaml': text}))
    assert (engine['model'].value, engine['port'].value) == ('Qwen/Qwen3-32B', 8200)


def test_flags_as_a_mapping_and_a_catalogue_of_models(run: Run) -> None:
    flags = 'model: {name: org/m, tp_size: 16}\nnetwork: {ncclSettings: [{name: NCCL_DEBUG, value: INFO}]}\nsglang:\n  serverArgs:\n    disable-cuda-graph: true\n    context-length: 4096\n'
    (engine,) = engines(run({'a/values.yaml': flags}), 'sglang')
    assert engine['disable_cuda_graph'].value is True
    assert engine['context_length'].value == 4096
    assert (engine['model'].value, engine['tp_size'].value) == ('org/m', 16)
    assert engine['environment'].value['NCCL_DEBUG'].value == 'INFO'
    catalogue = 'catalog:\n  qwen:\n    enabled: true\n    engine: VLLM\n    url: hf://Qwen/Qwen3-8B?x=1\n    args: [--max-num-seqs=8]\n'
    engine = engines(run({'b/values.yaml': catalogue}))[0]
    assert (engine['model'].value, engine['max_num_seqs'].value) == ('Qwen/Qwen3-8B', 8)


def test_credentials_among_values(found: Found) -> None:
    text = GENERIC + 'huggingface: {token: hf_abcdefghijklmnopqrstuvwxyzABCDEFGH, other: 1}\nsecretKeyName: hf_api_token\n'
    assert found({'values.yaml': text}, 'secret-in-manifest') == ['values.yaml:6:22 secret-in-manifest']
    given = STACK.replace('{secretName: keys, secretKey: vllm}', 'a8Kd93kLmWqP')
    assert found({'values.yaml': given}, 'secret-inline') == ['values.yaml:2:15 secret-inline']
    assert found({'values.yaml': STACK}, 'secret-inline') == []


def test_a_manifest_in_a_list_is_read(run: Run) -> None:
    text = GENERIC + 'extraObjects:\n  - {apiVersion: v1, kind: Service, metadata: {name: front}, spec: {ports: [{port: 80}]}}\n'
    assert [c.name for c in run({'values.yaml': text}).components if c.kind.name == 'service'] == ['front']


BELOW = '    servingEngineSpec:\n      modelSpec:\n        - {name: chat, repository: vllm/vllm-openai, tag: v0.10.2, modelURL: m, vllmConfig: {maxNumSeqs: 512}}\n'


@pytest.mark.parametrize(
    ('head', 'indent'),
    [
        ('apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  values:\n', 0),
        ('apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: a}\nspec:\n  valuesContent: |\n', 0),
        ('apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source:\n    helm:\n      valuesObject:\n', 4),
        ('apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  sources:\n    - helm:\n        values: |\n', 6),
    ],
)
def test_values_inside_the_object_that_installs_the_chart(run: Run, head: str, indent: int) -> None:
    text = head + ''.join(' ' * indent + line + '\n' for line in BELOW.splitlines())
    (engine,) = engines(run({'a.yaml': text}))
    assert engine['max_num_seqs'].value == 512
    assert locate(engine['max_num_seqs'].place).line == text.count('\n')


def test_pods_among_values_are_read_once(run: Run) -> None:
    head = 'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  values:\n'
    result = run({'a.yaml': head + ''.join(f'    {line}\n' for line in MODELSERVICE.splitlines())})
    assert [component.identity for component in engines(result)] == ['Deployment/decode/containers/vllm/vllm']
