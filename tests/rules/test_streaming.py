"""Edges of the rules on streams through proxies: what is known to generate text, TOTAL and GAP limits, releases, ordinary web apps."""

from collections.abc import Callable

import pytest

from configaudit.config import Config
from configaudit.context import Context, Service
from configaudit.knowledge.generation_routes import evidence
from configaudit.result import Result
from configaudit.selection import Choices

Run = Callable[..., Result]
Found = Callable[..., list[str]]
SUBJECT = (
    'stream-cut-by-total-timeout', 'first-token-after-read-timeout', 'nginx-stream-buffered', 'nginx-upgrade-header-always',
    'request-body-limit-small', 'generation-retried', 'retries-exceed-timeout',
)  # fmt: skip


def severities(result: Result, rule: str) -> list[str]:
    return [item.severity for item in result.findings if item.rule.id == rule]


def told(**numbers: float) -> Config:
    return Config(context=Context(service=Service(**numbers)), choices=Choices(service=numbers))


def location(path: str = '/v1/chat/completions', inner: str = '', target: str = 'http://app:8000', outer: str = '') -> dict[str, str]:
    return {'nginx.conf': f'events {{}}\nhttp {{ {outer} server {{ location {path} {{ proxy_pass {target}; {inner} }} }} }}\n'}


@pytest.mark.parametrize(('path', 'hosts', 'names', 'shows'), [
    ('location /v1/chat/completions', [], [], True),
    ('location /', [('vllm-llama.chat.svc', '8000')], [], True),
    ('location /', [('10.0.0.1', '11434')], [], True),
    ('location /v1/', [('engine', '8000')], ['llm.acme.test'], True),
    ('location /', [('web', '8000')], ['shop.example.test'], False),
    ('location /api/', [('backend', '8000')], [], False),
    ('location /v1/embeddings', [('vllm', '8000')], [], False),
    ('location /metrics', [('vllm', '8000')], [], False),
    ('location /api/tags', [('ollama', '11434')], [], False),
    ('location = /api/version', [('ollama', '11434')], [], False),
    ('location /api/', [('ollama', '11434')], [], True),
    ('location /', [('ollama-webui', '8080')], [], False),
    ('location /', [('embedding-llm', '80')], [], False),
    ('location /', [('llmops-dashboard', '80')], [], False),
    ('location /', [('stillmotion', '80')], ['fulfillment.test'], False),
    ('location /generate', [('pdf', '80')], [], False),
])  # fmt: skip
def test_what_shows_that_text_is_generated(path: str, hosts: list[tuple[str, str]], names: list[str], shows: bool) -> None:
    assert bool(evidence(path, hosts, names)) is shows


def test_ordinary_web_apps_are_left_alone(found: Found) -> None:
    files = {
        **location('/', target='http://web:3000', inner='proxy_set_header Upgrade $u; proxy_set_header Connection "upgrade"; proxy_next_upstream error non_idempotent;'),
        'route.yaml': 'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a}\nspec: {parentRefs: [{name: eg}], rules: [{backendRefs: [{name: shop, port: 80}]}]}\n',
        'vs.yaml': 'apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: b}\nspec: {http: [{timeout: 2s, retries: {attempts: 2, retryOn: 5xx}, route: [{destination: {host: shop}}]}]}\n',
    }  # fmt: skip
    assert found(files, *SUBJECT) == []


@pytest.mark.parametrize(('inner', 'severity'), [
    ('', ['warning']),
    ('proxy_http_version 1.1;', ['advice']),
    ('proxy_http_version 1.1; gzip on;', ['advice']),
    ('proxy_http_version 1.1; gzip on; gzip_types *;', ['warning']),
    ('gzip on; gzip_types text/event-stream; proxy_buffering off;', []),
    ('include proxy_params;', []),
])  # fmt: skip
def test_buffering_holds_tokens_over_old_http_or_with_gzip(run: Run, inner: str, severity: list[str]) -> None:
    assert severities(run(location(inner=inner)), 'nginx-stream-buffered') == severity


def test_buffering_by_release_and_engine(run: Run) -> None:
    compose = 'services:\n  app:\n    image: {image}\n    command: --model a/b\n  edge:\n    image: nginx:{release}\n'
    files = {'docker-compose.yml': compose.format(image='vllm/vllm-openai:v0.11.0', release='1.29.7'), **location()}
    assert severities(run(files), 'nginx-stream-buffered') == ['advice']
    files['docker-compose.yml'] = compose.format(image='vllm/vllm-openai:v0.11.0', release='1.27.1')
    assert severities(run(files), 'nginx-stream-buffered') == ['warning']
    files['docker-compose.yml'] = compose.format(image='ghcr.io/huggingface/text-generation-inference:3.3.0', release='1.27.1')
    assert severities(run(files), 'nginx-stream-buffered') == []


@pytest.mark.parametrize(('inner', 'numbers', 'severity'), [
    ('', {}, ['advice']),
    ('proxy_read_timeout 300s;', {}, []),
    ('', {'max_ttft_s': 5}, []),
    ('', {'max_ttft_s': 90}, ['warning']),
    ('proxy_read_timeout 2m;', {'max_ttft_s': 5, 'longest_generation_s': 300}, ['advice']),
    ('include proxy_params;', {'max_ttft_s': 90}, []),
])  # fmt: skip
def test_a_gap_is_held_against_the_first_token(run: Run, inner: str, numbers: dict[str, float], severity: list[str]) -> None:
    assert severities(run(location(inner=inner), told(**numbers)), 'first-token-after-read-timeout') == severity


ROUTE = 'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a}\nspec: {parentRefs: [{name: edge}], rules: [{LIMITbackendRefs: [{name: vllm}]}]}\n'
GATEWAY = 'apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge}\nspec: {gatewayClassName: CLASS}\n'
POLICY = 'apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{kind: HTTPRoute, name: a}], timeout: {http: {requestTimeout: 0s}}}\n'
EVERY = 'apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: all}\nspec: {targetSelectors: [{group: gateway.networking.k8s.io, kind: Gateway}], timeout: {http: {requestTimeout: 0s}}}\n'
BACKEND = 'apiVersion: networking.gke.io/v1\nkind: GCPBackendPolicy\nmetadata: {name: p}\nspec: {default: {timeoutSec: 1200}, targetRef: {kind: Service, name: vllm}}\n'


@pytest.mark.parametrize(('limit', 'others', 'numbers', 'severity'), [
    ('', [], {}, []),
    ('', [GATEWAY.replace('CLASS', 'eg')], {}, ['warning']),
    ('', [GATEWAY.replace('CLASS', 'eg')], {'longest_generation_s': 10}, []),
    ('', [GATEWAY.replace('CLASS', 'eg'), POLICY], {}, []),
    ('', [GATEWAY.replace('CLASS', 'eg'), EVERY], {}, []),
    ('', [GATEWAY.replace('CLASS', 'eg'), EVERY.replace('}],', ', matchLabels: {tier: llm}}],')], {}, []),
    ('', [GATEWAY.replace('CLASS', 'eg'), EVERY.replace('kind: Gateway', 'kind: GRPCRoute')], {}, ['warning']),
    ('', [GATEWAY.replace('CLASS', 'eg').replace('edge}', 'edge, namespace: a}'), EVERY.replace('all}', 'all, namespace: b}')], {}, ['warning']),
    ('', [GATEWAY.replace('CLASS', 'eg'), EVERY.replace('0s', '20s'), POLICY], {}, []),
    ('', [GATEWAY.replace('CLASS', 'gke-l7-rilb')], {}, ['warning']),
    ('', [GATEWAY.replace('CLASS', 'gke-l7-rilb'), BACKEND], {}, []),
    ('', [GATEWAY.replace('CLASS', 'istio')], {}, []),
    ('', [GATEWAY.replace('CLASS', 'traefik')], {}, []),
    ('timeouts: {request: 0s}, ', [], {}, []),
    ('timeouts: {request: 300s}, ', [], {}, ['advice']),
    ('timeouts: {request: 300s}, ', [], {'longest_generation_s': 400}, ['warning']),
    ('timeouts: {request: 300s}, ', [], {'longest_generation_s': 120}, []),
    ('timeouts: {request: 900s}, ', [], {}, []),
    ('timeouts: {request: 0s, backendRequest: 20s}, ', [], {}, ['warning']),
])  # fmt: skip
def test_a_total_by_the_gateway_that_holds(run: Run, limit: str, others: list[str], numbers: dict[str, float], severity: list[str]) -> None:
    result = run({'route.yaml': '---\n'.join([ROUTE.replace('LIMIT', limit), *others])}, told(**numbers))
    assert severities(result, 'stream-cut-by-total-timeout') == severity


def test_a_gateway_that_is_not_seen_is_not_assessed(run: Run) -> None:
    result = run({'route.yaml': ROUTE.replace('LIMIT', '')})
    assert [item.reason for item in result.not_assessed if item.rule.id == 'stream-cut-by-total-timeout'] == [
        'total_timeout_s: what the Gateway edge does without a timeout depends on its implementation, which is not among the files read: set timeouts.request, or audit the Gateway too'
    ]


def test_two_gateways_of_one_name_and_two_classes_are_not_guessed(run: Run) -> None:
    both = '---\n'.join([ROUTE.replace('LIMIT', ''), GATEWAY.replace('CLASS', 'eg'), GATEWAY.replace('CLASS', 'istio')])
    assert severities(run({'route.yaml': both}), 'stream-cut-by-total-timeout') == []


def test_a_backend_config_is_tied_to_its_service(run: Run) -> None:
    config = 'apiVersion: cloud.google.com/v1\nkind: BackendConfig\nmetadata: {name: slow}\nspec: {timeoutSec: 40}\n'
    service = 'apiVersion: v1\nkind: Service\nmetadata: {name: NAME, annotations: {cloud.google.com/backend-config: \'{"default": "slow"}\'}}\nspec: {ports: [{port: 80}]}\n'
    assert severities(run({'a.yaml': '---\n'.join([config, service.replace('NAME', 'vllm')])}), 'stream-cut-by-total-timeout') == ['advice']
    assert severities(run({'a.yaml': '---\n'.join([config, service.replace('NAME', 'shop')])}), 'stream-cut-by-total-timeout') == []


@pytest.mark.parametrize(('condition', 'count'), [
    ('connect-failure,refused-stream', 0), ('gateway-error', 1), ('reset-before-request', 0), ('unavailable,reset', 1), ('503', 1),
])  # fmt: skip
def test_retries_that_generate_twice(run: Run, condition: str, count: int) -> None:
    text = f'apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: b}}\nspec: {{http: [{{retries: {{attempts: 2, retryOn: "{condition}"}}, route: [{{destination: {{host: vllm}}}}]}}]}}\n'
    assert len(severities(run({'vs.yaml': text}), 'generation-retried')) == count


def test_numbers_of_the_service_reach_every_rule_that_asks(run: Run) -> None:
    pod = (
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n'
        '    spec:\n      terminationGracePeriodSeconds: 100\n      containers: [{name: e, image: "vllm/vllm-openai:v0.11.0", args: [--model, a/b]}]\n'
    )
    assert severities(run({'pod.yaml': pod}), 'grace-shorter-than-generation') == []
    assert severities(run({'pod.yaml': pod}, told(longest_generation_s=300)), 'grace-shorter-than-generation') == ['warning']


INGRESS = (
    'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: chat, annotations: {NOTES}}\nspec:\n  ingressClassName: CLASS\n'
    '  rules: [{host: chat.test, http: {paths: [{path: /, backend: {service: {name: vllm, port: {number: 80}}}}]}}]\n'
)
CONTROLLER = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller}\ndata: {KEYS}\n'
NGINX = 'nginx.ingress.kubernetes.io/'


@pytest.mark.parametrize(('notes', 'keys', 'rule', 'severity'), [
    ('', '', 'first-token-after-read-timeout', ['advice']),
    ('', 'proxy-read-timeout: "600"', 'first-token-after-read-timeout', []),
    (f'{NGINX}proxy-read-timeout: "600"', 'proxy-read-timeout: "30"', 'first-token-after-read-timeout', []),
    (f'{NGINX}proxy-read-timeout: 600s', '', 'first-token-after-read-timeout', ['advice']),
    (f'{NGINX}proxy-read-timeout: 600s', '', 'ingress-timeout-not-seconds', ['warning']),
    (f'{NGINX}proxy-read-timeout: "600"', '', 'ingress-timeout-not-seconds', []),
    ('', '', 'nginx-stream-buffered', []),
    (f'{NGINX}proxy-buffering: "on"', '', 'nginx-stream-buffered', ['advice']),
    ('', 'retry-non-idempotent: "true"', 'generation-retried', ['warning']),
    ('', '', 'request-body-limit-small', ['advice']),
    (f'{NGINX}proxy-body-size: "0"', '', 'request-body-limit-small', []),
])  # fmt: skip
def test_an_ingress_with_its_annotations_and_its_controller(run: Run, notes: str, keys: str, rule: str, severity: list[str]) -> None:
    parts = [INGRESS.replace('NOTES', notes).replace('CLASS', 'nginx')]
    parts.extend([CONTROLLER.replace('KEYS', keys)] if keys else [])
    assert severities(run({'a.yaml': '---\n'.join(parts)}), rule) == severity


@pytest.mark.parametrize(('notes', 'severity'), [
    ('', ['advice']),
    ('alb.ingress.kubernetes.io/load-balancer-attributes: "deletion_protection.enabled=true, idle_timeout.timeout_seconds=900"', []),
    ('alb.ingress.kubernetes.io/group.name: shared', []),
])  # fmt: skip
def test_the_idle_timeout_of_an_alb(run: Run, notes: str, severity: list[str]) -> None:
    assert severities(run({'a.yaml': INGRESS.replace('NOTES', notes).replace('CLASS', 'alb')}), 'first-token-after-read-timeout') == severity


def test_an_ingress_of_another_controller_has_no_annotations_to_judge(run: Run) -> None:
    patch = INGRESS.replace('NOTES', '').replace('CLASS', 'alb')
    result = run({'kustomization.yaml': 'patches: [{path: patch.yaml}]\n', 'patch.yaml': patch})
    assert any(component.kind.name == 'proxy-route' for component in result.components)
    assert [item.reason for item in result.not_assessed if item.rule.id == 'ingress-timeout-not-seconds'] == []


FILTERED = (
    'static_resources:\n  listeners:\n  - filter_chains:\n    - filters:\n      - typed_config:\n          stat_prefix: a\n'
    '          route_config: {virtual_hosts: [{domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: NAME, timeout: 0s}}]}]}\n'
    '          http_filters: [{name: p, typed_config: {MORE processing_mode: {response_body_mode: BUFFERED}}}]\n'
)


@pytest.mark.parametrize(('name', 'more', 'severity'), [
    ('vllm', '', ['warning']), ('vllm', 'allow_mode_override: true,', ['advice']), ('shop', '', []),
])  # fmt: skip
def test_a_processor_that_wants_the_whole_answer(run: Run, name: str, more: str, severity: list[str]) -> None:
    assert severities(run({'envoy.yaml': FILTERED.replace('NAME', name).replace('MORE', more)}), 'ext-proc-buffers-stream') == severity


_GCE = 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: a, annotations: {{kubernetes.io/ingress.class: gce}}}}\nspec: {{rules: [{{http: {{paths: [{{path: /v1/chat/completions, backend: {{service: {{name: {name}, port: {{number: 80}}}}}}}}]}}}}]}}\n---\n'
_PLAIN = 'apiVersion: v1\nkind: Service\nmetadata: {name: llm%s}\nspec: {ports: [{port: 80}]}\n---\n'
_NAMED = """, annotations: {cloud.google.com/backend-config: '{"default": "slow"}'}"""


@pytest.mark.parametrize(
    ('name', 'service', 'found', 'open_'),
    [('llm', _PLAIN % '', 1, False), ('llm', _PLAIN % _NAMED, 0, False), ('other', _PLAIN % '', 0, True)],
)
def test_an_ingress_of_gke_without_a_backend_config_has_googles_limit(run: Run, name: str, service: str, found: int, open_: bool) -> None:
    result = run({'a.yaml': _GCE.format(name=name) + service})
    assert sum(item.rule.id == 'stream-cut-by-total-timeout' for item in result.findings) == found
    assert any(item.rule.id == 'stream-cut-by-total-timeout' for item in result.not_assessed) is open_


def test_a_release_of_caddy_that_is_not_known_is_not_judged(run: Run) -> None:
    site = 'a.test {\n encode gzip\n reverse_proxy vllm:8000\n}\n'
    assert any(item.rule.id == 'gateway-holds-stream' for item in run({'Caddyfile': site}).not_assessed)
    image = 'services:\n  edge: {image: "caddy:2.%s"}\n'
    for release, found in (('8', True), ('9.1', False)):
        result = run({'Caddyfile': site, 'compose.yaml': image % release})
        assert any(item.rule.id == 'gateway-holds-stream' for item in result.findings) is found
