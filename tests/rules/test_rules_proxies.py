"""Edges of the proxy rules: versions of nginx, engines behind a proxy, what must stay silent."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from configaudit.context import Context
from configaudit.knowledge.proxy_kinds import looks_like_grpc, names_vllm
from configaudit.knowledge.versions import release
from configaudit.link_proxies import link_proxies
from configaudit.model import Component, NotApplicable, Rule
from configaudit.registry import load
from configaudit.result import Result

Run = Callable[..., Result]
GROUP = 'upstream a {{ server b:1; {group} }} server {{ location / {{ proxy_pass http://a; {location} }} }}'
DIRECT = 'server { location / { proxy_pass http://b:1; } }'


def rule(name: str) -> Rule:
    found = load().by_id(name)
    assert found is not None
    return found


def judged(result: Result, name: str, version: str = '') -> list[str]:
    """Severities of what a rule finds on linked components, as if nginx were of a release."""
    by_kind: dict[str, list[Component]] = {}
    for component in result.components:
        by_kind.setdefault(component.kind.name, []).append(component)
    link_proxies(by_kind, Context())
    judge = rule(name)
    severities: list[str] = []
    for component in result.components:
        if component.kind.name in judge.on:
            component.version = release(version) if version else component.version
            with suppress(NotApplicable):
                severities.extend(problem.severity or judge.severity for problem in judge(component))
    return severities


@pytest.mark.parametrize(('group', 'location', 'version', 'count'), [
    ('', '', '', 1),
    ('', '', '1.29.6', 1),
    ('', '', '1.29.7', 0),
    ('keepalive 0;', '', '1.29.7', 1),
    ('keepalive 8;', '', '', 0),
])  # fmt: skip
def test_keepalive_by_release(run: Run, group: str, location: str, version: str, count: int) -> None:
    result = run({'site.conf': GROUP.format(group=group, location=location)})
    assert len(judged(result, 'nginx-upstream-without-keepalive', version)) == count


def test_a_direct_pass_by_release(run: Run) -> None:
    result = run({'site.conf': DIRECT})
    assert judged(result, 'nginx-upstream-without-keepalive', '1.27.1') == ['advice']
    assert judged(result, 'nginx-upstream-without-keepalive', '1.30.0') == []


def test_a_direct_pass_inside_the_machine_is_left_alone(found: Callable[..., list[str]]) -> None:
    assert found({'site.conf': DIRECT.replace('b:1', '127.0.0.1:9000')}, 'nginx-upstream-without-keepalive') == []


@pytest.mark.parametrize(('location', 'version', 'count'), [
    ('', '', 1),
    ('proxy_http_version 1.1;', '', 1),
    ('proxy_http_version 1.1; proxy_set_header Connection "";', '', 0),
    ('proxy_http_version 1.1; proxy_set_header Connection $connection_upgrade;', '', 0),
    ('', '1.29.7', 0),
    ('proxy_set_header Connection close;', '1.29.7', 1),
    ('proxy_http_version 1.0;', '1.30.0', 1),
])  # fmt: skip
def test_keepalive_that_a_location_undoes(run: Run, location: str, version: str, count: int) -> None:
    text = GROUP.format(group='keepalive 8;', location=location)
    assert len(judged(run({'site.conf': text}), 'nginx-upstream-keepalive-void', version)) == count


def test_a_grpc_pass_needs_keepalive_only(run: Run) -> None:
    text = 'upstream a { server b:1; keepalive 8; } server { location / { grpc_pass grpc://a; } }'
    assert judged(run({'site.conf': text}), 'nginx-upstream-keepalive-void') == []


ENGINE = """apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: llm}}
spec:
  containers: [{name: s, image: "%s", args: [--model, m]}]
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec:
  selector: {app: llm}
  ports: [{port: 8000%s}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: r}
spec:
  host: api
  trafficPolicy: {connectionPool: {http: {%s}}}
"""
VLLM = 'vllm/vllm-openai:v0.10.2'


@pytest.mark.parametrize(('image', 'port', 'http', 'severities'), [
    (VLLM, '', 'h2UpgradePolicy: UPGRADE', ['error']),
    (VLLM, '', 'h2UpgradePolicy: UPGRADE, useClientProtocol: true', []),
    (VLLM, '', 'h2UpgradePolicy: DO_NOT_UPGRADE', []),
    (VLLM, ', appProtocol: kubernetes.io/h2c', 'idleTimeout: 5s', ['error']),
    (VLLM, ', appProtocol: http', 'idleTimeout: 5s', []),
    ('nvcr.io/nvidia/tritonserver:25.01-py3', '', 'h2UpgradePolicy: UPGRADE', []),
    ('acme/app:1.2.3', '', 'h2UpgradePolicy: UPGRADE', []),
])  # fmt: skip
def test_http2_forced_on_an_engine(run: Run, image: str, port: str, http: str, severities: list[str]) -> None:
    assert judged(run({'all.yaml': ENGINE % (image, port, http)}), 'engine-forced-http2') == severities


@pytest.mark.parametrize(('host', 'engine'), [
    ('vllm', True), ('vllm.default.svc.cluster.local', True), ('vllm-0', True), ('qwen-vllm', True), ('vllm_backend_cluster', True),
    ('vllm-router', False), ('vllm-epp', False), ('llm', False), ('evllms', False), ('vllm-gateway-plugins', False), ('triton-vllm', False),
])  # fmt: skip
def test_names_of_vllm(host: str, engine: bool) -> None:
    assert names_vllm(host) is engine


@pytest.mark.parametrize(('name', 'grpc'), [('grpc', True), ('grpc-infer', True), ('http-grpc', True), ('grpc-web', False), ('http', False), ('grpcish', False)])
def test_names_of_grpc_ports(name: str, grpc: bool) -> None:
    assert looks_like_grpc(name) is grpc


def test_preferred_size_of_one_never_waits(found: Callable[..., list[str]]) -> None:
    text = 'backend: "onnxruntime"\nmax_batch_size: 4\ndynamic_batching { preferred_batch_size: [1, 4] max_queue_delay_microseconds: 900000 }'
    assert found({'m/config.pbtxt': text}, 'batching-window-long', 'batching-size-one-with-window') == []


@pytest.mark.parametrize(('delay', 'severities'), [(30000, []), (30001, ['advice']), (99999, ['advice']), (100000, ['warning'])])
def test_window_thresholds(run: Run, delay: int, severities: list[str]) -> None:
    text = f'backend: "onnxruntime"\nmax_batch_size: 4\ndynamic_batching {{ max_queue_delay_microseconds: {delay} }}'
    result = run({'m/config.pbtxt': text})
    assert [found.severity for found in result.findings if found.rule.id == 'batching-window-long'] == severities


POOLED = 'upstream e { server e:8000; keepalive 8; IDLE } server { location / { proxy_pass http://e; proxy_http_version 1.1; proxy_set_header Connection ""; } }'
COMPOSE = 'services:\n  e:\n    image: IMAGE\n    command: COMMAND\n    environment: {ENV}\n'
ENVOY_POOL = (
    'static_resources:\n  clusters:\n  - name: c\n    common_http_protocol_options: {OPTIONS}\n    load_assignment:\n'
    '      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: e, port_value: 8000}}}}]}]\n'
)


@pytest.mark.parametrize(('idle', 'image', 'environment', 'severities'), [
    ('', 'vllm/vllm-openai:v0.11.0', '', ['warning']),
    ('', 'lmsysorg/sglang:v0.5.12', '', ['warning']),
    ('', 'vllm/vllm-openai:v0.11.0', 'VLLM_HTTP_TIMEOUT_KEEP_ALIVE: 75', []),
    ('keepalive_timeout 4s;', 'vllm/vllm-openai:v0.11.0', '', []),
    ('', 'redis:7', '', []),
])  # fmt: skip
def test_the_engine_closes_before_nginx(run: Run, idle: str, image: str, environment: str, severities: list[str]) -> None:
    command = 'python3 -m sglang.launch_server --model-path a/b' if 'sglang' in image else '--model a/b'
    engine = COMPOSE.replace('IMAGE', image).replace('ENV', environment).replace('COMMAND', command)
    result = run({'compose.yaml': engine, 'site.conf': POOLED.replace('IDLE', idle)})
    assert [item.severity for item in result.findings if item.rule.id == 'server-keepalive-shorter-than-proxy'] == severities


@pytest.mark.parametrize(('options', 'severities'), [('', ['advice']), ('idle_timeout: 60s', ['warning']), ('idle_timeout: 3s', [])])
def test_the_engine_closes_before_envoy(run: Run, options: str, severities: list[str]) -> None:
    engine = COMPOSE.replace('IMAGE', 'vllm/vllm-openai:v0.11.0').replace('ENV', '').replace('COMMAND', '--model a/b')
    result = run({'compose.yaml': engine, 'envoy.yaml': ENVOY_POOL.replace('OPTIONS', options)})
    assert [item.severity for item in result.findings if item.rule.id == 'server-keepalive-shorter-than-proxy'] == severities


@pytest.mark.parametrize(('name', 'count'), [('e', 0), ('f', 1)])
def test_an_ingress_does_not_lead_to_a_compose_service_of_its_name(run: Run, name: str, count: int) -> None:
    ingress = 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a, annotations: {nginx.ingress.kubernetes.io/proxy-read-timeout: "600"}}\nspec: {rules: [{http: {paths: [{path: /, backend: {service: {name: NAME, port: {number: 8000}}}}]}}]}\n'
    service = '---\napiVersion: v1\nkind: Service\nmetadata: {name: f}\nspec: {selector: {app: f}, ports: [{port: 8000}]}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: f}\nspec: {template: {metadata: {labels: {app: f}}, spec: {containers: [{name: f, image: "vllm/vllm-openai:v0.11.0", args: [--model, a/b]}]}}}\n'
    engine = COMPOSE.replace('IMAGE', 'vllm/vllm-openai:v0.11.0').replace('ENV', '').replace('COMMAND', '--model a/b')
    result = run({'compose.yaml': engine, 'k8s.yaml': ingress.replace('NAME', name) + service})
    assert len([item for item in result.findings if item.rule.id == 'server-keepalive-shorter-than-proxy']) == count


@pytest.mark.parametrize(('panic', 'count'), [('', 0), ('common_lb_config: {}, ', 0), ('common_lb_config: {healthy_panic_threshold: {value: 10}}, ', 0), ('common_lb_config: {healthy_panic_threshold: {value: 0}}, ', 1), ('common_lb_config: {healthy_panic_threshold: {}}, ', 1)])
def test_envoy_sends_to_ejected_servers_once_few_are_left(run: Run, panic: str, count: int) -> None:
    engine = COMPOSE.replace('IMAGE', 'vllm/vllm-openai:v0.11.0').replace('ENV', '').replace('COMMAND', '--model a/b')
    cluster = ENVOY_POOL.replace('  - name: c\n', f'  - name: c\n{"    " + panic.rstrip(", ") + chr(10) if panic else ""}    outlier_detection: {{max_ejection_percent: 100}}\n').replace('OPTIONS', '')
    result = run({'compose.yaml': engine, 'envoy.yaml': cluster})
    assert len([item for item in result.findings if item.rule.id == 'outlier-ejects-every-server']) == count


def test_a_pool_that_is_undone_keeps_nothing_idle(found: Callable[..., list[str]]) -> None:
    files = {'compose.yaml': COMPOSE.replace('IMAGE', 'vllm/vllm-openai:v0.11.0').replace('ENV', '').replace('COMMAND', '--model a/b'), 'site.conf': POOLED.replace('IDLE', '').replace('proxy_http_version 1.1;', '')}
    assert found(files, 'server-keepalive-shorter-than-proxy') == []


@pytest.mark.parametrize(('release', 'severities'), [('1.29.6', []), ('1.29.7', ['advice'])])
def test_newer_nginx_keeps_connections_by_itself(run: Run, release: str, severities: list[str]) -> None:
    engine = COMPOSE.replace('IMAGE', 'vllm/vllm-openai:v0.11.0').replace('ENV', '').replace('COMMAND', '--model a/b') + f'  edge:\n    image: nginx:{release}\n'
    result = run({'compose.yaml': engine, 'site.conf': 'upstream e { server e:8000; } server { location / { proxy_pass http://e; } }'})
    assert [item.severity for item in result.findings if item.rule.id == 'server-keepalive-shorter-than-proxy'] == severities


@pytest.mark.parametrize(
    ('listen', 'is_found'), [('app.listen(3000);', True), ('app.listen({ port: process.env.PORT || 3000 });', True), ('app.listen(4000);', False), ('const server = app.listen(3000);\nserver.keepAliveTimeout = 70_000;', False)],
)  # fmt: skip
def test_a_program_on_the_port_that_the_proxy_of_its_host_asks(run: Run, listen: str, is_found: bool) -> None:
    pytest.importorskip('tree_sitter_javascript')
    proxy = 'events {}\nhttp {\n  upstream app { server 127.0.0.1:3000; keepalive 16; }\n  server {\n    listen 80;\n    location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }\n  }\n}\n'
    result = run({'nginx.conf': proxy, 'server.js': f"const app = require('express')();\n{listen}\n"})
    assert ('server-keepalive-shorter-than-proxy' in {finding.rule.id for finding in result.findings}) is is_found
