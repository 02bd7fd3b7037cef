"""Envoy clusters, DestinationRules, EnvoyFilters and Ingress backends, and what stands behind them."""

from collections.abc import Callable

import pytest

from configaudit.context import Context
from configaudit.link_proxies import link_proxies
from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]
CLUSTER = """static_resources:
  clusters:
    - name: c
      load_assignment:
        endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: api, port_value: 90}}}}]}]
"""
EXTENSION = """      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
"""


def linked(result: Result) -> list[Component]:
    by_kind: dict[str, list[Component]] = {}
    for component in result.components:
        by_kind.setdefault(component.kind.name, []).append(component)
    link_proxies(by_kind, Context())
    return by_kind.get('proxy-upstream', [])


def upstream(run: Run, files: dict[str, str]) -> Component:
    (found,) = linked(run(files))
    return found


@pytest.mark.parametrize(('options', 'protocol'), [
    ('', '1.1'),
    ('      http2_protocol_options: {}\n', '2'),
    (EXTENSION + '          explicit_http_config: {http2_protocol_options: {}}\n', '2'),
    (EXTENSION + '          explicit_http_config: {http_protocol_options: {}}\n', '1.1'),
    (EXTENSION + '          auto_config: {}\n', 'alpn'),
    (EXTENSION + '          use_downstream_protocol_config: {http2_protocol_options: {}}\n', 'client'),
])  # fmt: skip
def test_protocol_of_an_envoy_cluster(run: Run, options: str, protocol: str) -> None:
    found = upstream(run, {'envoy.yaml': CLUSTER + options})
    assert found['protocol_http'].value == protocol
    assert found['protocol_http'].is_set is bool(options)
    assert found['targets'].value == (('api', '90'),)


def test_envoy_in_json_and_in_a_config_map(run: Run) -> None:
    json = '{"static_resources": {"clusters": [{"name": "j", "http2_protocol_options": {"connection_keepalive": {"interval": "30s"}}}]}}'
    assert upstream(run, {'envoy.json': json})['ping_interval_s'].value == 30
    lines = ''.join('    ' + line + '\n' for line in CLUSTER.splitlines())
    config = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: envoy}}\ndata:\n  envoy.yaml: |\n{lines}'
    assert len(linked(run({'envoy.json': '{}', 'map.yaml': config}))) == 1


@pytest.mark.parametrize('user', [
    'http_filters: [{typed_config: {grpc_service: {envoy_grpc: {cluster_name: c}}}}]',
    'routes: [{match: {prefix: /, grpc: {}}, route: {cluster: c}}]',
    'dynamic_resources: {ads_config: {grpc_services: [{envoy_grpc: {cluster_name: c}}]}}',
])  # fmt: skip
def test_clusters_that_must_speak_grpc(found: Callable[..., list[str]], user: str) -> None:
    assert found({'envoy.yaml': CLUSTER + user + '\n'}, 'grpc-backend-over-http1') == ['envoy.yaml:3:7 grpc-backend-over-http1']


def test_a_cluster_that_nobody_calls_by_grpc(found: Callable[..., list[str]]) -> None:
    assert found({'envoy.yaml': CLUSTER}, 'grpc-backend-over-http1', 'envoy-grpc-keepalive-off') == []


PASSED = 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a, annotations: {nginx.ingress.kubernetes.io/ssl-passthrough: "ANSWER"}}\nspec: {ingressClassName: nginx, rules: [{http: {paths: [{path: /, backend: {service: {name: api, port: {name: grpc}}}}]}}]}\n'


@pytest.mark.parametrize(('answer', 'count'), [('true', 0), ('false', 1)])
def test_tls_that_is_passed_through_is_no_http(found: Callable[..., list[str]], answer: str, count: int) -> None:
    assert len(found({'i.yaml': PASSED.replace('ANSWER', answer)}, 'grpc-backend-over-http1')) == count


@pytest.mark.parametrize(('options', 'count'), [('', 1), ('upstream_connection_options: {tcp_keepalive: {}}, ', 1), ('upstream_connection_options: {tcp_keepalive: {keepalive_time: 30}}, ', 0), ('health_checks: [{grpc_health_check: {}}], ', 0)])
def test_tcp_keepalive_and_health_checks_find_dead_servers_too(found: Callable[..., list[str]], options: str, count: int) -> None:
    address = 'load_assignment: {endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: api, port_value: 9}}}}]}]}'
    text = f'static_resources:\n  clusters:\n    - {{name: c, http2_protocol_options: {{}}, {options}{address}}}\ndynamic_resources: {{ads_config: {{grpc_services: [{{envoy_grpc: {{cluster_name: c}}}}]}}}}\n'
    assert len(found({'envoy.yaml': text}, 'envoy-grpc-keepalive-off')) == count


RULE = """apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: r, namespace: n}
spec:
  host: api.n.svc.cluster.local
  trafficPolicy:
    connectionPool: {http: {maxRequestsPerConnection: 10}}
    portLevelSettings:
      - port: {number: 8000}
        connectionPool: {http: {h2UpgradePolicy: UPGRADE}}
  subsets:
    - name: v2
      trafficPolicy: {connectionPool: {tcp: {maxConnections: 5}}}
"""


def test_every_policy_of_a_destination_rule(run: Run) -> None:
    found = linked(run({'rule.yaml': RULE}))
    assert [one.identity for one in found] == ['DestinationRule/n/r', 'DestinationRule/n/r/:8000', 'DestinationRule/n/r/v2']
    assert [one['max_requests'].value for one in found] == [10, 0, 0]
    assert [one['upgrade'].value for one in found] == ['DEFAULT', 'UPGRADE', 'DEFAULT']


def test_an_envoy_filter_that_changes_a_cluster_is_partial(run: Run) -> None:
    text = """apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: f}
spec:
  configPatches:
    - applyTo: CLUSTER
      match: {cluster: {service: api}}
      patch: {operation: MERGE, value: {connect_timeout: 3s}}
    - applyTo: HTTP_FILTER
      patch: {operation: ADD, value: {name: x}}
"""
    found = upstream(run, {'filter.yaml': text})
    assert not found['protocol_http'].is_known
    assert found['targets'].value == (('api', ''),)


INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: i
  annotations: {%s}
spec:
  %s
  rules:
    - http:
        paths:
          - path: /
            backend: {service: {name: api, port: {name: grpc}}}
"""


@pytest.mark.parametrize(('annotations', 'spec', 'count'), [
    ('', 'ingressClassName: nginx', 1),
    ('kubernetes.io/ingress.class: nginx', '{}', 1),
    ('nginx.ingress.kubernetes.io/proxy-body-size: 1m', '{}', 1),
    ('nginx.ingress.kubernetes.io/backend-protocol: HTTPS', '{}', 1),
    ('nginx.ingress.kubernetes.io/backend-protocol: grpc', '{}', 0),
    ('nginx.ingress.kubernetes.io/backend-protocol: "GRPCS"', 'ingressClassName: nginx', 0),
    ('', 'ingressClassName: traefik', 0),
    ('', '{}', 0),
    ('', 'ingressClassName: alb', 1),
    ('alb.ingress.kubernetes.io/backend-protocol-version: GRPC', 'ingressClassName: alb', 0),
])  # fmt: skip
def test_grpc_behind_an_ingress(found: Callable[..., list[str]], annotations: str, spec: str, count: int) -> None:
    text = INGRESS % (annotations, '' if spec == '{}' else spec)
    assert len(found({'ingress.yaml': text}, 'grpc-backend-over-http1')) == count


ENGINE = """apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    metadata: {labels: {app: llm}}
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.10.2
          args: [--model, m]
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec:
  selector: {app: llm}
  ports: [{port: 8000, appProtocol: kubernetes.io/h2c}]
"""
NGINX = 'http { server { location / { proxy_pass http://api:8000; } } }'


def test_the_engine_behind_a_service(run: Run) -> None:
    result = run({'llm.yaml': ENGINE, 'nginx.conf': NGINX})
    (found,) = linked(result)
    assert [engine.kind.name for engine in found.peers('engine')] == ['vllm']
    (service,) = [one for one in result.components if one.kind.name == 'service']
    assert [engine.kind.name for engine in service.peers('engine')] == ['vllm']


def test_another_namespace_is_another_service(run: Run) -> None:
    text = ENGINE.replace('name: api', 'name: api, namespace: other')
    rule = RULE.replace('maxRequestsPerConnection: 10', 'maxRequestsPerConnection: 1')
    assert all(not found.peers('service') for found in linked(run({'llm.yaml': text, 'rule.yaml': rule})))


@pytest.mark.parametrize(('compose', 'version'), [
    ('services: {proxy: {image: "nginx:1.29.8"}}', '1.29.8'),
    ('services: {proxy: {image: "nginx:1.27-alpine"}}', '1.27.0'),
    ('services: {proxy: {image: "nginx:latest"}}', 'None'),
    ('services: {a: {image: "nginx:1.27.1"}, b: {image: "nginx:1.29.8"}}', 'None'),
])  # fmt: skip
def test_the_release_of_nginx_comes_from_the_image_beside_it(run: Run, compose: str, version: str) -> None:
    found = upstream(run, {'docker-compose.yml': compose, 'proxy/nginx.conf': NGINX})
    assert str(found.version) == version
