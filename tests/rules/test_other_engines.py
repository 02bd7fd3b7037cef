"""Where the rules on the smaller engines are silent, and where their severity moves."""

from collections.abc import Callable
from typing import Any

import pytest

from configaudit.result import Result

from .workloads import container, deployment

Audit = Callable[..., list[str]]
Severities = Callable[[dict[str, str], str], list[str]]
OLLAMA = 'ollama/ollama:0.16.1'
LLAMA = 'ghcr.io/ggml-org/llama.cpp:server-b9000'
MONITOR = (
    'apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m}\nspec:\n  selector: {matchLabels: {team: x}}\n  endpoints: [{port: %s}]\n'
)
SERVICE = (
    'apiVersion: v1\nkind: Service\nmetadata: {name: chat, labels: {team: x}}\nspec: {selector: {app: chat}, '
    'ports: [{name: web, port: 80, targetPort: http}, {name: other, port: 81, targetPort: 9090}]}\n'
)


@pytest.fixture
def severities(run: Callable[..., Result]) -> Severities:
    """How bad each finding of a rule is."""
    return lambda files, rule: [item.severity for item in run(files).findings if item.rule.id == rule]


def ollama(**env: str) -> dict[str, Any]:
    variables = [{'name': name, 'value': value} for name, value in env.items()]
    return container(image=OLLAMA, args=None, env=variables, ports=[{'name': 'http', 'containerPort': 11434}])


@pytest.mark.parametrize(('value', 'count'), [('5m', 0), ('1h30m', 0), ('-1', 0), ('90', 0), ('"10m"', 0), ('5 m', 1), ('forever', 1), ('1d', 1), ('10min', 1)])
def test_durations_of_ollama(found: Audit, value: str, count: int) -> None:
    assert len(found({'d.yaml': deployment(ollama(OLLAMA_KEEP_ALIVE=value))}, 'ollama-value-ignored')) == count


@pytest.mark.parametrize(('tag', 'value', 'count'), [('0.16.1', 'q4_1', 1), ('0.31.0', 'q4_1', 0), ('0.31.0', 'q8', 1), ('0.16.1', 'Q8_0', 0), ('0.9.0', 'fp16', 0), ('0.31.0', 'fp16', 1)])
def test_cache_types_of_ollama(found: Audit, tag: str, value: str, count: int) -> None:
    server = {**ollama(OLLAMA_KV_CACHE_TYPE=value), 'image': f'ollama/ollama:{tag}'}
    assert len(found({'d.yaml': deployment(server)}, 'ollama-value-ignored')) == count


@pytest.mark.parametrize(('tag', 'flash', 'severity'), [('0.31.0', '0', 'error'), ('0.16.1', 'false', 'warning'), ('0.12.3', '', 'warning'), ('0.16.1', '', ''), ('0.16.1', '1', '')])
def test_a_quantized_cache_by_release(severities: Severities, tag: str, flash: str, severity: str) -> None:
    server = {**ollama(OLLAMA_KV_CACHE_TYPE='q8_0', OLLAMA_FLASH_ATTENTION=flash), 'image': f'ollama/ollama:{tag}'}
    assert severities({'d.yaml': deployment(server)}, 'ollama-kv-type-without-flash-attention') == ([severity] if severity else [])


def test_variables_of_a_script_of_its_own(found: Audit) -> None:
    server = {**ollama(OLLAMA_MODEL='llama3'), 'command': ['sh', '-c', 'ollama serve & ollama pull $OLLAMA_MODEL; wait']}
    assert found({'d.yaml': deployment(server)}, 'ollama-variable-unread') == []


@pytest.mark.parametrize(('port', 'count'), [('web', 1), ('other', 0), ('gone', 0)])
def test_only_a_monitor_of_the_engines_port_counts(found: Audit, port: str, count: int) -> None:
    exporter = {'name': 'exporter', 'image': 'acme/ollama-exporter:1', 'ports': [{'containerPort': 9090}]}
    files = {'d.yaml': deployment(ollama(), exporter), 's.yaml': SERVICE, 'm.yaml': MONITOR % port}
    assert len(found(files, 'ollama-metrics-missing')) == count


@pytest.mark.parametrize(('monitored', 'severity'), [(True, 'warning'), (False, 'advice')])
def test_metrics_of_sglang_matter_more_where_they_are_scraped(severities: Severities, monitored: bool, severity: str) -> None:
    engine = container(image='lmsysorg/sglang:v0.5.9', command=['python3', '-m', 'sglang.launch_server'], args=['--model-path=/m', '--host=0.0.0.0', '--port=8000'])
    files = {'d.yaml': deployment(engine), 's.yaml': SERVICE, **({'m.yaml': MONITOR % 'web'} if monitored else {})}
    assert severities(files, 'sglang-metrics-off') == [severity]


@pytest.mark.parametrize(
    ('engine', 'pod', 'count'),
    [
        ({'image': LLAMA, 'args': ['-m', 'x.gguf']}, {}, 0),
        ({'image': 'acme/llm:1', 'command': ['llama-server'], 'args': ['-m', 'x.gguf']}, {}, 0),
        ({'image': LLAMA, 'args': ['-m', 'x.gguf', '--host', '127.0.0.1']}, {}, 1),
        ({'image': LLAMA, 'args': ['-m', 'x.gguf', '--host', '127.0.0.1']}, {'hostNetwork': True}, 0),
        ({'image': 'acme/trt:1', 'command': ['trtllm-serve', '/m']}, {}, 1),
        ({'image': 'acme/trt:1', 'command': ['trtllm-serve', '/m', '--host', '0.0.0.0']}, {}, 0),
        ({'image': OLLAMA, 'args': None, 'env': [{'name': 'OLLAMA_HOST', 'value': '127.0.0.1:11434'}]}, {}, 1),
        ({'image': OLLAMA, 'args': None, 'env': [{'name': 'OLLAMA_HOST', 'value': '$(POD_IP)'}]}, {}, 0),
    ],
)
def test_addresses(found: Audit, engine: dict[str, Any], pod: dict[str, Any], count: int) -> None:
    assert len(found({'d.yaml': deployment(container(**engine), pod=pod)}, 'engine-host-loopback')) == count


@pytest.mark.parametrize(('command', 'count'), [('llama-server -m /m/x.gguf', 1), ('llama-server -m /m/x.gguf --host 0.0.0.0', 0)])
def test_addresses_behind_published_ports(found: Audit, command: str, count: int) -> None:
    compose = f'services:\n  llm:\n    image: ghcr.io/ggml-org/llama.cpp:full-b9000\n    entrypoint: {command}\n    ports: ["8080:8080"]\n'
    assert len(found({'compose.yaml': compose}, 'engine-host-loopback')) == count


def test_a_unit_on_a_host_may_listen_on_loopback(found: Audit) -> None:
    assert found({'ollama.service': '[Service]\nExecStart=/usr/local/bin/ollama serve\n'}, 'engine-host-loopback') == []


@pytest.mark.parametrize(('more', 'count'), [([], 1), (['--kv-unified'], 0), (['-c', '0'], 0)])
def test_context_of_a_slot(found: Audit, more: list[str], count: int) -> None:
    engine = container(image=LLAMA, args=['-m', 'x.gguf', '-c', '4096', '-np', '4', *more])
    assert len(found({'d.yaml': deployment(engine)}, 'llama-server-context-divided')) == count


def test_ollama_is_ready_at_once(found: Audit, severities: Severities) -> None:
    server = {**ollama(), 'readinessProbe': None, 'startupProbe': None}
    server = {key: value for key, value in server.items() if value is not None}
    assert found({'d.yaml': deployment(server)}, 'readiness-probe-missing') == []
    assert severities({'d.yaml': deployment(server), 's.yaml': SERVICE}, 'readiness-probe-missing') == ['warning']
    assert found({'d.yaml': deployment(server)}, 'startup-probe-missing') == []


def test_a_dynamo_worker_needs_no_probe_of_its_own(found: Audit) -> None:
    engine = container(image='x/vllm-runtime:1', command=['python3', '-m', 'dynamo.vllm'], args=['--model', 'a/b'], readinessProbe=None)
    assert found({'d.yaml': deployment(engine), 's.yaml': SERVICE}, 'readiness-probe-missing') == []


def test_answers_of_tensorflow_serving_are_short(found: Audit) -> None:
    engine = container(image='tensorflow/serving:2.16.1', args=['--model_name=x'])
    assert found({'d.yaml': deployment(engine)}, 'grace-shorter-than-generation') == []


@pytest.mark.parametrize(('more', 'count'), [([], 1), (['--embeddings'], 0), (['-n', '512'], 0)])
def test_answers_without_a_bound(found: Audit, more: list[str], count: int) -> None:
    assert len(found({'d.yaml': deployment(container(image=LLAMA, args=['-m', 'x.gguf', *more]))}, 'llama-server-generation-unbounded')) == count


def test_variables_of_a_unit(found: Audit) -> None:
    unit = '[Service]\nExecStart=/usr/local/bin/ollama serve\nEnvironment="OLLAMA_NUM_THREADS=8" "OLLAMA_MODELS=/m"\n'
    assert len(found({'ollama.service': unit}, 'ollama-variable-unread')) == 1


@pytest.mark.parametrize(('size', 'shm', 'count'), [(67108864, '', 0), (134217728, '', 1), (134217728, 'shm_size: 1gb', 0), (134217728, 'ipc: host', 0)])
def test_shared_memory_of_python_models_in_compose(found: Audit, size: int, shm: str, count: int) -> None:
    command = f'tritonserver --model-repository=/m --backend-config=python,shm-default-byte-size={size}'
    compose = f'services:\n  triton:\n    image: nvcr.io/nvidia/tritonserver:24.06-py3\n    command: {command}\n    {shm}\n'
    assert len(found({'compose.yaml': compose}, 'triton-python-shared-memory-short')) == count


@pytest.mark.parametrize(
    ('parameters', 'count'),
    [
        ('parameters { key: "batch_scheduler_policy" value: { string_value: "max_utilization" } }', 1),
        ('parameters: { key: "gpt_model_type" value: { string_value: "V1" } }', 1),
        ('parameters { key: "batch_scheduler_policy" value: { string_value: "${batch_scheduler_policy}" } }', 0),
    ],
)
def test_policies_of_tritons_backend(found: Audit, parameters: str, count: int) -> None:
    assert len(found({'m/x/config.pbtxt': f'name: "x"\nbackend: "tensorrtllm"\n{parameters}\n'}, 'trtllm-scheduler-policy-pauses')) == count


@pytest.mark.parametrize(
    ('engine', 'count'),
    [
        ({'image': OLLAMA, 'args': None, 'ports': [{'name': 'http', 'containerPort': 11434}]}, 1),
        ({'image': LLAMA, 'args': ['-m', 'x.gguf'], 'ports': [{'name': 'http', 'containerPort': 8080}]}, 1),
        ({'image': LLAMA, 'args': ['-m', 'x.gguf', '--api-key-file', '/k'], 'ports': [{'name': 'http', 'containerPort': 8080}]}, 0),
    ],
)
def test_engines_open_to_everybody(found: Audit, engine: dict[str, Any], count: int) -> None:
    files = {'d.yaml': deployment(container(**engine)), 's.yaml': SERVICE.replace('spec: {', 'spec: {type: LoadBalancer, ')}
    assert len(found(files, 'engine-open-without-key')) == count


@pytest.mark.parametrize(
    ('env', 'mount', 'count'),
    [({}, '/root/.ollama', 0), ({}, '/root', 0), ({}, '/models', 1), ({'OLLAMA_MODELS': '/models'}, '/models', 0), ({'HOME': '/home/o'}, '/home/o/.ollama', 0)],
)
def test_models_that_a_volume_keeps(found: Audit, env: dict[str, str], mount: str, count: int) -> None:
    server = {**ollama(**env), 'volumeMounts': [{'name': 'm', 'mountPath': mount}]}
    pod = {'volumes': [{'name': 'm', 'persistentVolumeClaim': {'claimName': 'm'}}]}
    assert len(found({'d.yaml': deployment(server, pod=pod)}, 'ollama-models-not-kept')) == count


@pytest.mark.parametrize(('image', 'count'), [('ghcr.io/open-webui/open-webui:main', 1), ('ghcr.io/open-webui/open-webui:ollama', 0), ('acme/app:1', 0), (OLLAMA, 0)])
def test_settings_of_the_server_at_a_client(found: Audit, image: str, count: int) -> None:
    engine = container(image=image, args=None, env=[{'name': 'OLLAMA_MAX_QUEUE', 'value': '64'}])
    assert len(found({'d.yaml': deployment(engine)}, 'ollama-variable-misplaced')) == count


def test_variables_of_a_shell_script(found: Audit) -> None:
    assert found({'start.sh': '#!/bin/bash\nexport OLLAMA_LOG_LEVEL=INFO\nexec /usr/local/bin/ollama serve\n'}, 'ollama-variable-unread') == []


@pytest.mark.parametrize('path', ['/metrics', '/prometheus/metrics'])
def test_trtllm_needs_a_path_and_an_option_for_prometheus(found: Audit, path: str) -> None:
    pod = (
        f'apiVersion: v1\nkind: Pod\nmetadata: {{name: p, annotations: {{prometheus.io/scrape: "true", prometheus.io/path: {path}}}}}\n'
        'spec:\n  containers:\n    - {name: c, image: acme/trt:1, command: [trtllm-serve, /m, --host, 0.0.0.0]}\n'
    )
    assert len(found({'p.yaml': pod}, 'trtllm-metrics-not-served')) == 1
