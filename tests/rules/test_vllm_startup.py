"""What vLLM's own start-up checks refuse at which release, and what they let pass."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

from .workloads import SERVICE, container, deployment

Audit = Callable[..., list[str]]
Run = Callable[..., Result]


def engine(*args: str, version: str = 'v0.16.0', **more: object) -> dict[str, str]:
    """A Deployment of one vLLM server, in one file."""
    served = ['--model=/models/chat', '--served-model-name=chat', '--max-model-len=8192', *args]
    return {'d.yaml': deployment(container(image=f'vllm/vllm-openai:{version}', args=served, **more))}


@pytest.mark.parametrize(
    ('args', 'version', 'severity'),
    [
        (['--enable-auto-tool-choice'], 'v0.7.3', 'error'),
        (['--enable-auto-tool-choice'], 'latest', 'error'),
        (['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'], 'v0.16.0', None),
        (['--no-enable-auto-tool-choice'], 'v0.16.0', None),
        (['--enable-log-outputs'], 'v0.10.2', None),
        (['--enable-log-outputs'], 'v0.11.0', 'error'),
        (['--enable-log-outputs'], 'latest', 'warning'),
        (['--enable-eplb'], 'v0.16.0', 'error'),
        (['--enable-eplb', '--enable-expert-parallel'], 'v0.16.0', None),
        (['--data-parallel-size=4', '--data-parallel-hybrid-lb'], 'v0.16.0', 'error'),
        (['--data-parallel-size=4', '--data-parallel-size-local=2', '--data-parallel-hybrid-lb'], 'v0.16.0', None),
        (['--data-parallel-size=4', '--data-parallel-external-lb', '--nnodes=4', '--node-rank=1'], 'v0.16.0', None),
    ],
)
def test_flags_that_need_another(run: Run, args: list[str], version: str, severity: str | None) -> None:
    found = [item.severity for item in run(engine(*args, version=version)).findings if item.rule.id == 'vllm-flag-needs-another']
    assert found == ([severity] if severity else [])


def test_a_flag_that_is_not_seen_is_not_missing(found: Audit) -> None:
    script = container(command=['/bin/sh', '-c'], args=['exec vllm serve /models/chat --enable-auto-tool-choice $MORE'], envFrom=[{'configMapRef': {'name': 'more'}}])
    assert found({'d.yaml': deployment(script)}, 'vllm-flag-needs-another') == []


@pytest.mark.parametrize(
    ('args', 'version', 'count'),
    [
        (['--headless', '--data-parallel-hybrid-lb', '--data-parallel-size-local=4', '--data-parallel-size=8'], 'v0.10.2', 1),
        (['--headless', '--api-server-count=1'], 'v0.11.2', 0),
        (['--headless', '--api-server-count=2'], 'v0.11.2', 1),
        (['--headless', '--api-server-count=1'], 'v0.16.0', 1),
        (['--headless', '--api-server-count=0'], 'v0.16.0', 0),
        (['--enable-per-request-metrics', '--disable-log-stats'], 'v0.29.0', 1),
        (['--async-scheduling', '--pipeline-parallel-size=2'], 'v0.14.1', 1),
        (['--async-scheduling', '--pipeline-parallel-size=2'], 'v0.15.0', 0),
        (['--async-scheduling', '--pipeline-parallel-size=2'], 'latest', 0),
        (['--async-scheduling', '--pipeline-parallel-size=1'], 'v0.14.1', 0),
        (['--enable-per-request-metrics', '--no-disable-log-stats'], 'v0.29.0', 0),
    ],
)
def test_flags_that_exclude_each_other(found: Audit, args: list[str], version: str, count: int) -> None:
    assert len(found(engine(*args, version=version), 'vllm-flags-exclude-each-other')) == count


@pytest.mark.parametrize(
    ('args', 'count'),
    [
        (['--tensor-parallel-size=8', '--nnodes=2', '--node-rank=1'], 0),
        (['--tensor-parallel-size=8', '--nnodes=3', '--node-rank=1'], 1),
        (['--tensor-parallel-size=4', '--data-parallel-size=3', '--nnodes=3'], 0),
        (['--tensor-parallel-size=8', '--nnodes=2', '--node-rank=$(LWS_WORKER_INDEX)'], 0),
        (['--tensor-parallel-size=8', '--nnodes=2', '--node-rank=2'], 1),
        (['--data-parallel-size=4', '--data-parallel-rank=3'], 0),
        (['--data-parallel-size=4', '--data-parallel-rank=4'], 1),
        (['--data-parallel-size-local=8'], 1),
    ],
)
def test_parallel_sizes(found: Audit, args: list[str], count: int) -> None:
    assert len(found(engine(*args), 'vllm-parallel-sizes-contradict')) == count


@pytest.mark.parametrize(
    ('args', 'version', 'count'),
    [
        (['--max-num-batched-tokens=512'], 'v0.9.2', 1),
        (['--max-num-batched-tokens=512'], 'v0.10.1', 0),
        (['--max-num-batched-tokens=1024'], 'v0.9.2', 0),
        (['--max-num-batched-tokens=2048', '--no-enable-chunked-prefill'], 'v0.16.0', 1),
        (['--max-num-batched-tokens=2048', '--no-enable-chunked-prefill'], 'v0.10.2', 0),
    ],
)
def test_tokens_of_a_step_on_an_h100(found: Audit, args: list[str], version: str, count: int) -> None:
    files = engine(*args, version=version)
    files['d.yaml'] = files['d.yaml'].replace('    spec:\n      containers', '    spec:\n      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n      containers')
    assert len(found(files, 'vllm-batched-tokens-too-few')) == count


@pytest.mark.parametrize(
    ('pod', 'hook', 'version', 'severity'),
    [
        ({'terminationGracePeriodSeconds': 120}, None, 'v0.18.0', 'warning'),
        ({}, None, 'v0.18.0', 'advice'),
        ({'terminationGracePeriodSeconds': 120}, None, 'v0.17.1', None),
        ({'terminationGracePeriodSeconds': 120}, {'preStop': {'exec': {'command': ['sleep', '100']}}}, 'v0.18.0', None),
        ({'terminationGracePeriodSeconds': 120}, {'preStop': {'exec': {'command': ['/drain.sh']}}}, 'v0.18.0', None),
    ],
)
def test_requests_at_the_end(run: Run, pod: dict[str, object], hook: dict[str, object] | None, version: str, severity: str | None) -> None:
    served = container(image=f'vllm/vllm-openai:{version}', lifecycle=hook)
    result = run({'d.yaml': deployment(served, pod=pod) + '---\n' + SERVICE})
    assert [item.severity for item in result.findings if item.rule.id == 'vllm-shutdown-aborts-requests'] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ('name', 'count'),
    [
        ('VLLM_USE_DEEPGEMM', 1), ('VLLM_USE_DEEP_GEMM', 0), ('VLLM_ASCEND_ENABLE_NZ', 0), ('VLLM_SERVICE_HOST', 0), ('VLLM_CHAT_PORT_8000_TCP', 0),
        ('VLLM_MORE_ARGS', 1), ('TENSOR_PARALLEL', 0),
    ],
)  # fmt: skip
def test_variables_by_name(found: Audit, name: str, count: int) -> None:
    assert len(found(engine(env=[{'name': name, 'value': '1'}]), 'vllm-environment-unknown')) == count


def test_a_variable_that_the_command_uses_is_the_files_own(found: Audit) -> None:
    script = container(command=['/bin/sh', '-c'], args=['exec vllm serve /models/chat $VLLM_MORE_ARGS'], env=[{'name': 'VLLM_MORE_ARGS', 'value': '--port=8000'}])
    assert found({'d.yaml': deployment(script)}, 'vllm-environment-unknown') == []


def test_other_images_may_read_variables_of_their_own(found: Audit) -> None:
    assert found({'d.yaml': deployment(container(image='acme/vllm-openai-serve:1.0', env=[{'name': 'VLLM_MODEL_DIR', 'value': '/m'}]))}, 'vllm-environment-unknown') == []


@pytest.mark.parametrize(
    ('context', 'env', 'version', 'ids'),
    [
        ({'runAsUser': 1001}, {}, 'v0.23.0', ['vllm-cache-not-writable', 'vllm-user-without-name']),
        ({'runAsUser': 1001}, {'USER': 'llm', 'HOME': '/tmp'}, 'v0.23.0', []),
        ({'runAsUser': 2000}, {}, 'v0.23.0', []),
        ({'runAsUser': 0}, {}, 'v0.23.0', []),
        ({'runAsUser': 1001}, {'HOME': '/tmp'}, 'v0.19.1', []),
        ({'runAsUser': 1001}, {'HOME': '/tmp'}, 'v0.28.0', []),
        ({'runAsNonRoot': True}, {}, 'v0.23.0', ['vllm-image-runs-as-root']),
        ({}, {}, 'v0.23.0', []),
    ],
)
def test_the_user_of_the_image(found: Audit, context: dict[str, object], env: dict[str, str], version: str, ids: list[str]) -> None:
    variables = [{'name': name, 'value': value} for name, value in env.items()]
    lines = found(engine(version=version, securityContext=context, env=variables), 'vllm-user-without-name', 'vllm-image-runs-as-root', 'vllm-cache-not-writable')
    assert sorted(line.split()[1] for line in lines) == ids


@pytest.mark.parametrize(
    ('spec', 'notes', 'count'),
    [
        ('type: LoadBalancer', '{}', 1),
        ('type: NodePort', '{}', 1),
        ('type: ClusterIP', '{}', 0),
        ('type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8]', '{}', 0),
        ('type: LoadBalancer, loadBalancerSourceRanges: [0.0.0.0/0]', '{}', 1),
        ('type: LoadBalancer', '{networking.gke.io/load-balancer-type: Internal}', 0),
        ('type: LoadBalancer', '{service.beta.kubernetes.io/aws-load-balancer-internal: "true"}', 0),
        ('type: LoadBalancer', '{service.beta.kubernetes.io/aws-load-balancer-scheme: internet-facing}', 1),
    ],
)
def test_services_that_open_an_engine(found: Audit, spec: str, notes: str, count: int) -> None:
    service = SERVICE.replace('{name: chat}', f'{{name: chat, annotations: {notes}}}').replace('spec: {', f'spec: {{{spec}, ')
    assert len(found({**engine(), 's.yaml': service}, 'engine-open-without-key')) == count


def test_a_proxy_in_the_pod_guards_the_engine(found: Audit) -> None:
    proxy = {'name': 'proxy', 'image': 'nginx:1.29', 'ports': [{'containerPort': 8080}]}
    served = container(ports=[{'containerPort': 8000}])
    service = SERVICE.replace('spec: {', 'spec: {type: LoadBalancer, ').replace('targetPort: 8000', 'targetPort: 8080')
    assert found({'d.yaml': deployment(served, proxy), 's.yaml': service}, 'engine-open-without-key') == []


@pytest.mark.parametrize(('version', 'count'), [('v0.9.2', 1), ('v0.23.0', 1), ('v0.24.0', 0)])
def test_gpus_named_by_uuid(found: Audit, version: str, count: int) -> None:
    assert len(found(engine(version=version, env=[{'name': 'CUDA_VISIBLE_DEVICES', 'value': '0,MIG-abc'}]), 'vllm-device-by-uuid')) == count
    assert found(engine(version=version, env=[{'name': 'NVIDIA_VISIBLE_DEVICES', 'value': 'MIG-abc'}]), 'vllm-device-by-uuid') == []
