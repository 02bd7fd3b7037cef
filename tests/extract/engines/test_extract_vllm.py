"""vLLM in every way that it is started, and what its settings come to."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.places import locate

Read = Callable[..., Component]
Engines = Callable[..., list[Component]]
Pod = Callable[..., str]
OPENAI = 'vllm/vllm-openai:v0.10.2'
SERVE = '[vllm, serve]'


@pytest.mark.parametrize(
    ('image', 'command', 'args'),
    [
        (OPENAI, '', '[--model=/m/x, --max-num-seqs=96]'),
        (OPENAI, '', '[/m/x, --max_num_seqs, "96"]'),
        (OPENAI, '', '[serve, /m/x, --max-num-seqs, "96"]'),
        (OPENAI, SERVE, '[/m/x, --max-num-seqs, "96"]'),
        (OPENAI, '[python3, -m, vllm.entrypoints.openai.api_server]', '[--model, /m/x, --max-num-seqs, "96"]'),
        (OPENAI, '', '[python3, -m, vllm.entrypoints.openai.api_server, --model, /m/x, --max-num-seqs, "96"]'),
        ('registry.acme.dev/ai/vllm:0.10.2', '', '[--model=/m/x, --max-num-seqs=96]'),
        ('acme/llm:3', '[python3, -m, vllm.entrypoints.cli.main, serve]', '[/m/x, --max-num-seqs, "96"]'),
        ('acme/llm:3', '[/opt/venv/bin/vllm, serve]', '[/m/x, --max-num-seqs, "96"]'),
        ('acme/llm:3', '[sh, -c]', '["exec vllm serve /m/x --max-num-seqs 96"]'),
        ('acme/llm:3', '[sh, -c]', '["nohup env A=1 vllm serve /m/x --max-num-seqs=96 > log &"]'),
    ],
)
def test_started(engine: Read, image: str, command: str, args: str) -> None:
    found = engine(image, command, args)
    assert (found.kind.name, found['model'].value, found['max_num_seqs'].value) == ('vllm', '/m/x', 96)


@pytest.mark.parametrize(
    ('image', 'command', 'args'),
    [
        (OPENAI, '', ''),
        (OPENAI, '', '[sleep, infinity]'),
        (OPENAI, '[vllm]', '[bench, serve, --model, /m/x]'),
        (OPENAI, '[python3, main.py]', '[--vllm-url, http://x]'),
        ('acme/vllm-router:1', '', '[--model=/m/x]'),
        ('acme/vllm-tools:1', '', '[--model=/m/x, --prompts=/data/p.txt]'),
    ],
)
def test_not_started(engines: Engines, pod: Pod, image: str, command: str, args: str) -> None:
    assert engines({'pod.yaml': pod(image, command, args)}) == []


@pytest.mark.parametrize(
    ('tag', 'setting', 'value', 'candidates'),
    [
        ('v0.6.2', 'max_num_seqs', 256, (256,)),
        ('v0.10.2', 'max_num_seqs', None, (256, 1024)),
        ('latest', 'max_num_seqs', None, (256, 1024)),
        ('v0.10.2', 'gpu_memory_utilization', 0.9, (0.9,)),
        ('v0.20.2', 'gpu_memory_utilization', 0.92, (0.92,)),
        ('latest', 'gpu_memory_utilization', None, (0.9, 0.92)),
    ],
)
def test_defaults_by_version(engine: Read, tag: str, setting: str, value: object, candidates: tuple[object, ...]) -> None:
    found = engine(f'vllm/vllm-openai:{tag}', '', '[--model=/m/x]')[setting]
    assert (found.origin, found.known_value, found.candidates) == ('default', value, candidates)


def test_absent_flag_points_at_the_program(engine: Read) -> None:
    found = engine(OPENAI, SERVE, '[/m/x, --port, "8000"]')
    at = locate(found['max_num_seqs'].place)
    assert (at.line, at.column) == (8, 17)


def test_flags_of_a_pipeline_fall_back_to_v0(engine: Read) -> None:
    found = engine('vllm/vllm-openai:v0.8.5', '', '[--model=/m/x, -pp, "2", -tp, "4"]')
    assert (found['generation'].value, found['max_num_seqs'].value, found['world_size'].value) == ('V0', 256, 8)


@pytest.mark.parametrize(
    ('args', 'env'),
    [
        ('[--model=/m/x, $(EXTRA)]', '[{name: EXTRA, valueFrom: {configMapKeyRef: {name: other, key: flags}}}]'),
        ('["--model=/m/x --max-num-seqs 64"]', ''),
    ],
)
def test_unseen_arguments_are_not_unset(engine: Read, args: str, env: str) -> None:
    seqs = engine(OPENAI, '', args, env)['max_num_seqs']
    assert seqs.is_set
    assert not seqs.is_known


def test_unknown_model_in_a_script_hides_no_flags(engines: Engines) -> None:
    (found,) = engines({'serve.sh': '#!/bin/sh\nvllm serve "$MODEL_NAME" --port 8000\n'})
    assert not found['model'].is_known
    assert found['max_num_seqs'].origin == 'default'


def test_placeholder_of_a_controller_is_unknown(engine: Read) -> None:
    found = engine(OPENAI, '', '["--served-model-name={{.Name}}", "--model=/m/x"]')
    assert not found['served_model_name'].is_known
    assert found['model'].value == '/m/x'


def test_two_engines_of_one_container_are_two(engines: Engines, pod: Pod) -> None:
    script = '"vllm serve /m/a --port 8001 & vllm serve /m/b --port 8002"'
    found = engines({'pod.yaml': pod(OPENAI, '[sh, -c]', f'[{script}]')})
    assert [item.identity.rpartition('/')[2] for item in found] == ['vllm', 'vllm-2']


def test_value_without_a_word_is_unknown(engine: Read) -> None:
    assert not engine(OPENAI, '', '[--model=/m/x, --max-num-seqs]')['max_num_seqs'].is_known


def test_a_variable_keeps_the_place_of_its_definition(engine: Read) -> None:
    seqs = engine(OPENAI, '', '[--model=/m/x, --max-num-seqs=$(SEQS)]', '[{name: SEQS, value: "64"}]')['max_num_seqs']
    assert (seqs.value, seqs.origin, locate(seqs.place).line) == (64, 'inherited', 9)


def test_a_flag_that_a_template_decides_on_is_unknown(engines: Engines) -> None:
    chart = """{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: e}
spec:
  template:
    spec:
      containers:
        - name: e
          image: vllm/vllm-openai:v0.16.0
          args:
            - --model=/m/x
            - --gpu-memory-utilization=0.97
            {{- if .Values.eager }}
            - --enforce-eager
            {{- end }}
{{- end }}
"""
    (found,) = engines({'templates/deployment.yaml': chart})
    assert found['gpu_memory_utilization'].value == 0.97
    assert not found['enforce_eager'].is_known


def test_own_flags_tell_the_engine_where_a_template_hides_the_image(engines: Engines) -> None:
    chart = """apiVersion: v1
kind: Pod
metadata: {name: e}
spec:
  containers:
    - name: e
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
      args: [--gpu-memory-utilization=0.97]
"""
    (found,) = engines({'templates/pod.yaml': chart})
    assert (found.kind.name, found.version, found['gpu_memory_utilization'].value) == ('vllm', None, 0.97)
