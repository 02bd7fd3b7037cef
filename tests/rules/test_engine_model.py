"""The model's shape against the GPUs: best cases, alternatives, what stays unknown."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
POD = """apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
{where}
  containers:
    - name: c
      image: vllm/vllm-openai:v0.16.0
      args: [{args}]
"""
ON_L4 = '  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}'
EITHER = """  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4, NVIDIA-L40S]}"""
CONFIG = """{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
"max_position_embeddings": 131072, "torch_dtype": "bfloat16"}"""


@pytest.fixture
def said(run: Run) -> Callable[..., list[str]]:
    """What one rule says: 'severity' of each finding, or 'not assessed: reason'."""

    def outcomes(rule: str, args: str, where: str = '', **files: str) -> list[str]:
        result = run({'pod.yaml': POD.format(where=where, args=args), **files})
        found = [finding.severity for finding in result.findings if finding.rule.id == rule]
        return found or [f'not assessed: {item.reason}' for item in result.not_assessed if item.rule.id == rule]

    return outcomes


@pytest.mark.parametrize(
    ('args', 'outcome'),
    [
        ('--model=Qwen/Qwen2.5-7B-Instruct, --tensor-parallel-size=8', ['error']),
        ('--model=Qwen/Qwen2.5-7B-Instruct, --tensor-parallel-size=4', []),
        ('--model=acme/Qwen2.5-7B-Instruct-tuned, --tensor-parallel-size=8', ['warning']),
        ('--model=Qwen/Qwen3-30B-A3B, --tensor-parallel-size=8', []),  # 4 heads of keys and values are copied
        ('--model=microsoft/phi-4, --tensor-parallel-size=2', []),
        ('--model=microsoft/phi-4, --tensor-parallel-size=4', ['error']),  # 10 heads of keys and values
        ('--model=Qwen/Qwen2.5-7B-Instruct, --tensor-parallel-size=7', ['error']),
        ('--model=deepseek-ai/DeepSeek-V2-Lite, --tensor-parallel-size=16', []),  # latent attention has no such heads
        ('--model=acme/unheard-of, --tensor-parallel-size=8', ['not assessed: the shape of acme/unheard-of is not known: no config.json among the files']),
        ('--model=Qwen/Qwen2.5-7B-Instruct', []),
    ],
)
def test_heads(said: Callable[..., list[str]], args: str, outcome: list[str]) -> None:
    assert said('engine-heads-not-divisible', args) == outcome


def test_heads_of_another_shape_are_not_assessed(said: Callable[..., list[str]]) -> None:
    args = """--model=Qwen/Qwen2.5-7B-Instruct, --tensor-parallel-size=8, '--hf-overrides={"num_attention_heads": 32}'"""
    assert said('engine-heads-not-divisible', args) == ['not assessed: --hf-overrides changes the shape of the model']


@pytest.mark.parametrize(
    ('args', 'where', 'outcome'),
    [
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=65536', ON_L4, ['error']),
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=65536', EITHER, []),
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=32768', ON_L4, ['advice']),
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=16384', ON_L4, []),
        ('--model=acme/Llama-3.1-8B-Instruct-tuned, --max-model-len=65536', ON_L4, ['warning']),
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=65536, --quantization=fp8', ON_L4, []),
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=65536, --kv-cache-dtype=fp8', ON_L4, ['advice']),
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=65536, --tensor-parallel-size=2', ON_L4, []),
        ('--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=65536, --cpu-offload-gb=8', ON_L4, []),
        ('--model=google/gemma-3-12b-it, --max-model-len=8192', ON_L4, []),  # the weights alone do not fit
        ('--model=google/gemma-3-4b-it, --max-model-len=131072', ON_L4, []),  # 29 of 34 layers keep 1024 tokens
    ],
)
def test_context_against_the_cache(said: Callable[..., list[str]], args: str, where: str, outcome: list[str]) -> None:
    assert said('vllm-max-model-len-over-cache', args, where) == outcome


def test_weights_on_the_larger_of_two_gpus(said: Callable[..., list[str]]) -> None:
    args = '--model=google/gemma-3-12b-it, --max-model-len=8192'
    assert said('engine-weights-too-large', args, ON_L4) == ['error']
    assert said('engine-weights-too-large', args, EITHER) == []
    assert said('engine-weights-too-large', args) == ['not assessed: gpu: the files do not show which GPU it runs on']


@pytest.mark.parametrize(
    ('args', 'outcome'),
    [
        ('--model=Qwen/Qwen2.5-7B-Instruct, --max-model-len=65536', ['error']),
        ('--model=Qwen/Qwen2.5-7B-Instruct, --max-model-len=32768', []),
        ('--model=acme/Qwen2.5-7B-Instruct-long, --max-model-len=65536', []),  # a fine-tune may be made for more
        ('--model=Qwen/Qwen2.5-7B-Instruct, --max-model-len=auto', []),
    ],
)
def test_context_against_the_model(said: Callable[..., list[str]], args: str, outcome: list[str]) -> None:
    assert [item for item in said('vllm-max-model-len-over-model', args) if not item.startswith('not assessed: max_model_len')] == outcome


def test_a_configuration_beside_the_files(said: Callable[..., list[str]]) -> None:
    files = {'srv/weights/own/config.json': CONFIG, 'srv/weights/own/model.safetensors.index.json': '{"metadata": {"total_size": 16060000000}}'}
    args = '--model=/weights/own, --max-model-len=65536'
    assert said('vllm-max-model-len-over-cache', args, ON_L4, **files) == ['error']


def test_a_configuration_without_the_size_of_the_weights(said: Callable[..., list[str]]) -> None:
    assert said('vllm-max-model-len-over-cache', '--model=/weights/own, --max-model-len=65536', ON_L4, **{'weights/own/config.json': CONFIG}) == []


@pytest.mark.parametrize('text', ['', '[]', '{"a":', '[' * 5000, '{"num_hidden_layers": "many"}'])
def test_other_files_of_that_name_say_nothing(said: Callable[..., list[str]], text: str) -> None:
    outcome = said('engine-heads-not-divisible', '--model=/weights/own, --tensor-parallel-size=3', **{'weights/own/config.json': text})
    assert outcome == ['not assessed: the shape of /weights/own is not known: no config.json among the files']


@pytest.mark.parametrize(
    ('model', 'more', 'severity'),
    [
        ('Qwen/Qwen3-8B-FP8', [], 'error'),
        ('someone/Qwen3-8B-FP8', [], 'warning'),
        ('acme/chat-fp8-dynamic', [], 'warning'),
        ('acme/chat-FP8', ['--quantization=awq'], None),
        ('Qwen/Qwen3-8B', [], None),
    ],
)
def test_an_e5m2_cache_on_weights_whose_name_says_fp8(run: Run, model: str, more: list[str], severity: str | None) -> None:
    args = ', '.join([f'--model={model}', '--kv-cache-dtype=fp8_e5m2', *more])
    files = {'d.yaml': POD.format(where=ON_L4, args=args)}
    found = [item.severity for item in run(files).findings if item.rule.id == 'vllm-kv-cache-e5m2-on-fp8-weights']
    assert found == ([severity] if severity else [])
