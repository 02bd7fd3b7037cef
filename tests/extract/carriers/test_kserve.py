"""InferenceServices that name a model instead of a container."""

from collections.abc import Callable

import pytest

from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
HEAD = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
"""
MODEL = """\
    model:
      modelFormat: {name: huggingface}
      storageUri: hf://org/m
"""


@pytest.mark.parametrize(
    ('text', 'version', 'line', 'column'),
    [
        (f'{MODEL}      args: [--model_name, chat, --max-num-seqs=512]\n', None, 9, 49),
        (f'{MODEL}      args: [--max_num_seqs=512]\n', None, 9, 29),
        (f'{MODEL}      image: vllm/vllm-openai:v0.10.2\n      args: ["--max-num-seqs", "512"]\n', '0.10.2', 10, 33),
        ('    huggingface:\n      args: [--max-num-seqs=512]\n', None, 7, 29),
    ],
)
def test_the_model_s_arguments_reach_the_engine(run: Run, text: str, version: str | None, line: int, column: int) -> None:
    result = run({'a.yaml': HEAD + text})
    (engine,) = [component for component in result.components if component.kind.name == 'vllm']
    assert (str(engine.version) if engine.version else None) == version
    at = locate(engine['max_num_seqs'].place)
    assert (at.line, at.column) == (line, column)
    assert {item.rule.id for item in result.findings} == {'vllm-batch-too-wide'}


def test_what_the_runtime_may_set_is_not_called_missing(run: Run) -> None:
    result = run({'a.yaml': f'{HEAD}{MODEL}      resources: {{limits: {{nvidia.com/gpu: 2}}}}\n      args: [--max-model-len=4096]\n'})
    assert not result.findings
    assert [component.kind.name for component in result.components].count('vllm') == 1


def test_a_worker_and_a_transformer_are_pods_of_their_own(run: Run) -> None:
    more = '      args: [--max-model-len=1]\n    workerSpec:\n      containers:\n      - {name: worker, image: "x:1"}\n  transformer:\n    containers:\n    - {name: t, image: "y:1"}\n'
    result = run({'a.yaml': HEAD + MODEL + more})
    names = [component.identity for component in result.components if component.kind.name == 'container']
    assert names == [
        'InferenceService/chat/spec.predictor/containers/model',
        'InferenceService/chat/spec.predictor.workerSpec/containers/worker',
        'InferenceService/chat/spec.transformer/containers/t',
    ]
