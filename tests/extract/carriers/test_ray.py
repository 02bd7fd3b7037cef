"""Models of Ray Serve applications: engines whose options are keyword arguments."""

from collections.abc import Callable

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]

MODEL = """\
    - name: llms
      import_path: ray.serve.llm:build_openai_app
      args:
        llm_configs:
        - model_loading_config: {model_id: qwen, model_source: Qwen/Qwen3-8B}
          accelerator_type: H100
          runtime_env: {env_vars: {VLLM_USE_V1: "1"}}
          engine_kwargs:
            max_num_seqs: 512
            enforce_eager: false
            disable_log_requests: true
            limit_mm_per_prompt: {image: 2}
"""
SERVICE = f"""\
apiVersion: ray.io/v1
kind: RayService
metadata: {{name: chat, namespace: ml}}
spec:
  serveConfigV2: |
    applications:
{MODEL}  rayClusterConfig:
    headGroupSpec: {{template: {{spec: {{containers: [{{name: head, image: "rayproject/ray:2.52.0"}}]}}}}}}
    workerGroupSpecs:
    - template: {{spec: {{containers: [{{name: worker, image: "example.org/vllm:0.11.0"}}]}}}}
"""


def engine_of(result: Result) -> Component:
    (engine,) = [component for component in result.components if component.kind.name == 'vllm']
    return engine


def test_keyword_arguments_are_read_at_their_place_in_the_string(run: Run) -> None:
    engine = engine_of(run({'a.yaml': SERVICE}))
    at = locate(engine['max_num_seqs'].place)
    assert (engine['max_num_seqs'].value, at.line, at.column) == (512, 15, 27)
    assert (engine['model'].value, engine['enforce_eager'].value, engine['distributed_executor_backend'].value) == ('Qwen/Qwen3-8B', False, 'ray')
    assert engine['environment'].value['VLLM_USE_V1'].value == '1'
    assert engine['gpu'].value.name.startswith('H100')
    assert str(engine.version) == '0.11.0'
    assert engine.identity == 'RayService/ml/chat/llms/qwen/vllm'


def test_a_switch_that_ray_translates_is_no_flag(run: Run) -> None:
    assert not [item for item in run({'a.yaml': SERVICE}).findings if 'flag' in item.rule.id]


def test_a_removed_argument_is_an_error(run: Run) -> None:
    result = run({'a.yaml': SERVICE.replace('disable_log_requests: true', 'device: auto')})
    (item,) = [item for item in result.findings if item.rule.id == 'vllm-flag-removed']
    assert (item.severity, locate(item.place).line) == ('error', 17)


@pytest.mark.parametrize(
    ('name', 'text', 'line'),
    [
        ('serve.yaml', 'applications:\n' + MODEL.replace('    -', '-', 1).replace('\n    ', '\n'), 10),
        ('model.yaml', 'model_loading_config: {model_id: m}\nengine_kwargs:\n  max_num_seqs: 512\n', 3),
    ],
)
def test_files_of_their_own(run: Run, name: str, text: str, line: int) -> None:
    engine = engine_of(run({name: text}))
    assert locate(engine['max_num_seqs'].place).line == line


def test_an_absent_argument_is_added_as_a_key(run: Run) -> None:
    run({'a.yaml': SERVICE})
    engine = engine_of(audit(['a.yaml'], Config()))
    slot = engine['max_model_len'].slot
    assert slot is not None
    assert slot.path == ('max_model_len',)


def test_other_engines_are_left_alone(run: Run) -> None:
    result = run({'a.yaml': SERVICE.replace('accelerator_type: H100', 'llm_engine: SGLang')})
    assert not [component for component in result.components if component.kind.name == 'vllm']


def test_a_string_that_is_not_yaml_is_reported(run: Run) -> None:
    text = 'apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: a}\nspec:\n  serveConfigV2: |\n    apiVersion: {\n    kind: }}\n'
    assert [error.kind for error in run({'a.yaml': text}).errors] == ['yaml']


WORKERS = """\
    workerGroupSpecs:
    - {replicas: 1, maxReplicas: 4, numOfHosts: 2, template: {spec: {containers: [{name: w, image: "x:1", resources: {limits: {nvidia.com/gpu: 2}}}]}}}
"""


@pytest.mark.parametrize(
    ('change', 'gpus'),
    [
        (('', ''), 4),
        (('rayClusterConfig:\n', 'rayClusterConfig:\n    enableInTreeAutoscaling: true\n'), 16),
        (('{replicas: 1,', '{replicas: 1, rayStartParams: {num-gpus: "3"},'), 6),
        (('nvidia.com/gpu: 2', 'nvidia.com/gpu: "{{ x }}"'), None),
        (('accelerator_type: H100', 'placement_group_config: {bundles: [{GPU: 0.5}]}'), None),
        (('name: head,', 'name: head, resources: {limits: {nvidia.com/gpu: 1}},'), None),
    ],
)
def test_gpus_of_the_cluster_are_counted_where_they_are_certain(run: Run, change: tuple[str, str], gpus: int | None) -> None:
    text = SERVICE.split('    workerGroupSpecs:')[0] + WORKERS
    (model,) = [item for item in run({'a.yaml': text.replace(*change)}).components if item.kind.name == 'ray-model']
    assert model['cluster_gpus'].known_value == gpus


def test_replicas_that_cannot_all_start_are_a_warning(run: Run) -> None:
    text = SERVICE.split('    workerGroupSpecs:')[0] + WORKERS
    text = text.replace('          engine_kwargs:\n', '          deployment_config: {autoscaling_config: {min_replicas: 3}}\n          engine_kwargs:\n            tensor_parallel_size: 2\n')
    (item,) = [item for item in run({'a.yaml': text}).findings if item.rule.id == 'engine-gpus-mismatch']
    assert (item.severity, locate(item.place).line, item.values['wanted'], item.values['have']) == ('warning', 14, 6, 4)
