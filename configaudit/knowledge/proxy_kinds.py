"""Kinds of what stands between clients and servers: proxied groups of servers, routes to them, listeners, nginx itself.

Sources: nginx docs (core, http_core, http_proxy, http_upstream, http_v2 modules; CHANGES 1.25.1 and 1.29.7), Envoy v3 API
(Cluster, HttpProtocolOptions, KeepaliveSettings), Istio DestinationRule, ingress-nginx and AWS Load Balancer Controller annotations.
"""

import math

from configaudit.knowledge.kinds import declare
from configaudit.model import Component, Kind, SettingSpec
from configaudit.patterns import regex

NGINX_BEFORE_1_29_7 = 'nginx docs, ngx_http_proxy_module: before 1.29.7'

UPSTREAM = declare(Kind('proxy-upstream', (), {
    'product': SettingSpec('text'),
    'targets': SettingSpec(default=()),
    'direct': SettingSpec('bool', False),
    'protocol_http': SettingSpec('text'),
    'grpc': SettingSpec(default=''),
    'tls': SettingSpec('bool', False),
    'keepalive': SettingSpec('count', 0, ('keepalive',), source='nginx docs, ngx_http_upstream_module: before 1.29.7'),
    'idle_timeout_s': SettingSpec('s', None, ('connectionPool', 'http', 'idleTimeout')),
    'max_requests': SettingSpec('count', 0, ('connectionPool', 'http', 'maxRequestsPerConnection')),
    'max_connections': SettingSpec('count', None, ('connectionPool', 'tcp', 'maxConnections')),
    'upgrade': SettingSpec('text', 'DEFAULT', ('connectionPool', 'http', 'h2UpgradePolicy')),
    'follows_client': SettingSpec('bool', False, ('connectionPool', 'http', 'useClientProtocol')),
    'ping_interval_s': SettingSpec('s', math.inf),
    'ping_timeout_s': SettingSpec('s', 20),
    'probed': SettingSpec('bool', False),
    'backend_protocol': SettingSpec('text', 'HTTP'),
    'connect_timeout_s': SettingSpec('s', 5, source='Envoy v3 API, Cluster.connect_timeout'),
    'breaker': SettingSpec('count', 1024, source='Envoy v3 API, CircuitBreakers.Thresholds: 1024 connections, pending requests and requests'),
    'ejects_percent': SettingSpec('count', 10, ('outlierDetection', 'maxEjectionPercent'), source='Istio DestinationRule, OutlierDetection; Envoy v3 API'),
    'panic_percent': SettingSpec('count', 0, ('outlierDetection', 'minHealthPercent'), source='Istio DestinationRule, OutlierDetection'),
    'pending': SettingSpec('count', None, ('connectionPool', 'http', 'http1MaxPendingRequests')),
}))  # fmt: skip
"""`targets`: (host, port) as text. `direct`: nginx passes to a host without an `upstream` block. `protocol_http`: '1.0', '1.1',
'2', or 'alpn' and 'client' where the connection decides. `grpc`: what shows that the servers speak gRPC, or ''. `probed`: Envoy finds dead servers by TCP keepalive or health checks.
`panic_percent`: with fewer healthy servers than that, requests go to all of them, ejected or not; 0: never."""

ROUTE = declare(Kind('proxy-route', (), {
    'product': SettingSpec('text'),
    'path': SettingSpec('text'),
    'target': SettingSpec('text'),
    'protocol_http': SettingSpec('text', '1.0', ('proxy_http_version',), source=NGINX_BEFORE_1_29_7),
    'connection': SettingSpec('text', 'close', ('proxy_set_header',), source=NGINX_BEFORE_1_29_7),
    'websocket': SettingSpec('bool', False),
    'read_timeout_s': SettingSpec('s', 60, ('proxy_read_timeout',), source='nginx docs, ngx_http_proxy_module'),
    'send_timeout_s': SettingSpec('s', 60, ('proxy_send_timeout',), source='nginx docs, ngx_http_proxy_module'),
    'connect_timeout_s': SettingSpec('s', 60, ('proxy_connect_timeout',), source='nginx docs, ngx_http_proxy_module'),
    'buffering': SettingSpec('bool', True, ('proxy_buffering',), source='nginx docs, ngx_http_proxy_module'),
    'gzip': SettingSpec('bool', False, ('gzip',), source='nginx docs, ngx_http_gzip_module'),
    'next_upstream': SettingSpec('text', 'error timeout', ('proxy_next_upstream',), source='nginx docs, ngx_http_proxy_module'),
    'body_size': SettingSpec('text', '1m', ('client_max_body_size',), source='nginx docs, ngx_http_core_module'),
    'ignore_client_abort': SettingSpec('bool', False, ('proxy_ignore_client_abort',), source='nginx docs, ngx_http_proxy_module'),
    'gzip_types': SettingSpec('text', 'text/html', ('gzip_types',), source='nginx docs, ngx_http_gzip_module'),
    'upgrade_map': SettingSpec(),
    'server_name': SettingSpec('text', ''),
    'targets': SettingSpec(default=()),
    'answers': SettingSpec('text', ''),
    'total_timeout_s': SettingSpec('s', math.inf),
    'first_byte_timeout_s': SettingSpec('s', math.inf),
    'per_try_timeout_s': SettingSpec('s', math.inf),
    'attempts': SettingSpec('count', 0),
    'retry_on': SettingSpec('text', ''),
    'gateways': SettingSpec(default=()),
    'product_name': SettingSpec('text', ''),
    'invalid_seconds': SettingSpec(default=()),
    'unconfigured': SettingSpec('bool', False),
    'ext_proc_body': SettingSpec('text', 'NONE'),
    'ext_proc_override': SettingSpec('bool', False),
    'hosts': SettingSpec(default=()),
    'middlewares': SettingSpec(default=()),
    'transport': SettingSpec('text', ''),
    'queue_timeout_s': SettingSpec('s', math.inf),
    'server_requests': SettingSpec('count', math.inf),
    'in_mesh': SettingSpec('bool', False),
    'deregistration_delay_s': SettingSpec('s'),
    'idle_misplaced': SettingSpec('text'),
    'pods_are_targets': SettingSpec('bool', False),
}))  # fmt: skip
"""`hosts`: names that requests must be sent to for the route to take them. `in_mesh`: it is applied by the sidecars of callers.
`server_requests`: how many a server takes at
once, `queue_timeout_s`: how long others wait for it. `middlewares`, `transport`: names of what Traefik's routes take in. `idle_misplaced`: an annotation in which an ALB's idle timeout does nothing. `deregistration_delay_s`: how long a load balancer lets
requests finish on a server that leaves. `pods_are_targets`: it knows pods, not nodes. `connection`: the Connection header that goes upstream, '' when it is cleared. `websocket`: it serves upgrades only.
`read_timeout_s`: the longest GAP between two reads. `total_timeout_s`: the longest a whole answer may take (inf: no limit).
`first_byte_timeout_s`: the longest wait for the head of an answer. `answers`: what shows that generated text streams through it, or ''. `upgrade_map`: the place of the file's own
`map $http_upgrade $connection_upgrade`. `targets`: (host, port) as text. `gateways`: names of the Gateways of an HTTPRoute;
`product_name`: the implementation that serves them. `unconfigured`: Google's defaults hold for it. `invalid_seconds`: (key, setting) of annotations that are no whole seconds. `ext_proc_body`: how an external
processor gets bodies of answers; `ext_proc_override`: whether it may change that for each answer."""

MIDDLEWARE = declare(Kind('proxy-middleware', (), {
    'product': SettingSpec('text'),
    'buffering': SettingSpec('bool', False),
    'attempts': SettingSpec('count', 0),
    'retry_on': SettingSpec('text', ''),
    'members': SettingSpec(default=()),
}))  # fmt: skip
"""A part that a proxy's routes name: Traefik's middlewares. `members`: the names of those that a chain takes in."""

TRANSPORT = declare(Kind('proxy-transport', (), {
    'product': SettingSpec('text'),
    'first_byte_timeout_s': SettingSpec('s', math.inf),
    'idle_timeout_s': SettingSpec('s', 90),
    'max_idle_per_host': SettingSpec('count'),
}))  # fmt: skip
"""How a proxy speaks to servers: Traefik's ServersTransports. The one without a name holds for services that name none."""

INFERENCE_POOL = declare(Kind('inference-pool', (), {
    'failure_mode': SettingSpec('text', 'FailClose', ('spec', 'endpointPickerRef', 'failureMode'), source='Gateway API Inference Extension, EndpointPickerRef.failureMode'),
    'picker': SettingSpec('text', None, ('spec', 'endpointPickerRef', 'name')),
}))  # fmt: skip
"""The InferencePool of the Gateway API Inference Extension. `picker`: the Service that is asked where each request goes."""

GATEWAY = declare(Kind('gateway', (), {'class_name': SettingSpec('text', None, ('spec', 'gatewayClassName'))}))
GATEWAY_CLASS = declare(Kind('gateway-class', (), {'controller': SettingSpec('text', None, ('spec', 'controllerName'))}))
INGRESS_CONTROLLER = declare(Kind('ingress-controller', (), {
    'read_timeout_s': SettingSpec('s', 60, ('data', 'proxy-read-timeout')),
    'buffering': SettingSpec('bool', False, ('data', 'proxy-buffering')),
    'body_size': SettingSpec('text', '1m', ('data', 'proxy-body-size')),
    'retry_non_idempotent': SettingSpec('bool', False, ('data', 'retry-non-idempotent')),
}))  # fmt: skip
"""The ConfigMap of ingress-nginx: what holds for every Ingress without an annotation of its own."""
ROUTE_POLICY = declare(Kind('route-policy', (), {
    'applies_to': SettingSpec(default=()),
    'total_timeout_s': SettingSpec('s', None, ('spec', 'timeout', 'http', 'requestTimeout')),
    'retry_on': SettingSpec('text', ''),
    'attempts': SettingSpec('count', 2, source='Envoy Gateway, Retry.numRetries'),
}))  # fmt: skip
"""Envoy Gateway's BackendTrafficPolicy. `applies_to`: (kind, name) of what it is attached to; '*' for all of a kind, '?' for those with labels."""

LOAD_BALANCER = declare(Kind('load-balancer', (), {
    'product': SettingSpec('text'),
    'protocol': SettingSpec('text', ''),
    'port': SettingSpec('text', ''),
    'deregistration_delay_s': SettingSpec('s', None),
}))  # fmt: skip
"""What a cloud's load balancer sends to. `product`: 'target-group' (AWS), 'nlb', 'gcp'. `deregistration_delay_s`: how long a target that
goes away may finish its requests."""

LISTENER = declare(Kind('proxy-listener', (), {
    'product': SettingSpec('text'),
    'address': SettingSpec('text'),
    'tls': SettingSpec('bool', False),
    'http2': SettingSpec('bool', False, ('http2',), source='nginx docs, ngx_http_v2_module'),
    'proxies': SettingSpec('bool', False),
}))  # fmt: skip

NGINX = declare(Kind('nginx', (), {
    'product': SettingSpec('text', 'nginx'),
    'workers': SettingSpec('text', '1', ('worker_processes',), source='nginx docs, ngx_core_module'),
    'worker_connections': SettingSpec('count', 512, ('worker_connections',), True, 'nginx docs, ngx_core_module'),
    'worker_nofile': SettingSpec('count', None, ('worker_rlimit_nofile',), True, 'nginx docs, ngx_core_module'),
    'client_limit': SettingSpec('count'),
    'proxies': SettingSpec('bool', False),
    'streams': SettingSpec('bool', False),
}))  # fmt: skip
"""`streams`: one of its routes carries generated text. `client_limit`: the largest `limit_conn` that is no limit per address: how many clients the file itself expects."""

_VLLM = regex(r'(?:^|[-_.])vllm(?:$|[-_.\d])')
_NOT_THE_ENGINE = regex(r'router|gateway|epp|grpc|ext[-_]?proc|envoy|nginx|proxy|plugin|scheduler|triton|controller|webhook|operator')


def names_vllm(host: str) -> bool:
    """Whether a host or cluster name says that vLLM itself answers there, not something around it."""
    first = host.lower().split('.')[0]
    return _VLLM.search(first) is not None and _NOT_THE_ENGINE.search(first) is None


def is_loopback(host: str) -> bool:
    """Whether an address never leaves the machine."""
    return host in ('localhost', '::1', '[::1]') or host.startswith(('127.', 'unix:'))


def looks_like_grpc(name: str) -> bool:
    """Whether a port's name or application protocol says gRPC ('grpc', 'grpc-web' not, 'http-grpc' so)."""
    parts = name.lower().split('-')
    return 'grpc' in parts and 'web' not in parts


def engines_behind(upstream: Component) -> list[Component]:
    """The engines that linking found behind an upstream's or a Service's addresses."""
    return list(dict.fromkeys(upstream.peers('engine')))
