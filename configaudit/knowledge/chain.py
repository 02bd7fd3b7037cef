"""What the picture of a chain is made of: who is a hop, which links are drawn and how they are called, which settings matter there.

A kind or link that stands in no table still shows up: the arrow then goes from the side that asks to the side that
answers (`RANK`), and the settings that somebody wrote are shown.
"""

from typing import NamedTuple

from configaudit.knowledge.kinds import KINDS
from configaudit.model import Component


class Relation(NamedTuple):
    """How a pair of neighbours is drawn."""

    word: str
    beside: bool = False
    """No request takes it: a scaler or a budget that stands beside its target."""


class Shown(NamedTuple):
    """A setting that matters on a hop."""

    name: str
    label: str
    mark: str = ''
    """TOTAL: the longest a whole answer may take. GAP: the longest silence between two reads."""
    products: tuple[str, ...] = ()
    """Its default is shown for these products (of kinds that many products share); () where a default is never shown."""


ANY = ('*',)
CALLS = 'calls'
"""What a process does with an address that it is given."""
RELATIONS: dict[tuple[str, str], Relation] = {
    ('autoscaler', 'workload'): Relation('scales', beside=True),
    ('disruption-budget', 'pod'): Relation('guards', beside=True),
    ('disruption-budget', 'workload'): Relation('guards', beside=True),
    ('service', 'pod'): Relation('selects'),
    ('service', 'workload'): Relation('selects'),
    ('service', 'compose-service'): Relation('selects'),
    ('gateway', 'proxy-route'): Relation('routes'),
    ('proxy-listener', 'proxy-route'): Relation('routes'),
    ('nginx', 'proxy-listener'): Relation('listens'),
    ('proxy-route', 'proxy-upstream'): Relation('passes to'),
    ('proxy-upstream', 'service'): Relation('sends to'),
    ('proxy-upstream', 'compose-service'): Relation('sends to'),
    ('proxy-route', 'compose-service'): Relation('sends to'),
    ('proxy-upstream', 'workload'): Relation('sends to'),
    ('proxy-route', 'workload'): Relation('sends to'),
    ('proxy-route', 'inference-pool'): Relation('sends to'),
    ('inference-pool', 'service'): Relation('asks'),
    ('http-client', 'compose-service'): Relation(CALLS),
    ('grpc-client', 'compose-service'): Relation(CALLS),
    ('http-client', 'workload'): Relation(CALLS),
    ('grpc-client', 'workload'): Relation(CALLS),
    ('proxy-route', 'service'): Relation('sends to'),
    ('proxy-route', 'engine'): Relation('reaches'),
    ('proxy-upstream', 'engine'): Relation('reaches'),
    ('service', 'engine'): Relation('selects'),
    ('grpc-client', 'grpc-server'): Relation(CALLS),
    ('grpc-client', 'service'): Relation(CALLS),
    ('http-client', 'service'): Relation(CALLS),
    ('http-client', 'http-server'): Relation(CALLS),
    ('pool', 'database'): Relation('connects to'),
    ('pool', 'pooler'): Relation('connects to'),
    ('pooler', 'database'): Relation('connects to'),
    ('carrier', 'engine'): Relation('runs'),
    ('carrier', 'database'): Relation('runs'),
    ('carrier', 'pooler'): Relation('runs'),
    ('carrier', 'pool'): Relation('opens'),
    ('carrier', 'grpc-end'): Relation('runs'),
}
"""By kind or trait, the asking side first. 'carrier' is whatever runs a process."""

RANK = {
    'http-client': 0, 'grpc-client': 0, 'gateway': 1, 'nginx': 1, 'load-balancer': 1, 'proxy-listener': 2, 'proxy-route': 3, 'proxy-upstream': 4, 'inference-pool': 4, 'service': 5,
    'workload': 6, 'compose-service': 6, 'docker-run': 6, 'dockerfile': 6, 'unit': 6, 'command': 6, 'sky-task': 6, 'python-call': 6,
    'ray-model': 6, 'ray-deployment': 6, 'http-server': 7, 'grpc-server': 7, 'engine': 8, 'pool': 8, 'pooler': 9, 'database': 10,
    'autoscaler': 5, 'disruption-budget': 5,
}  # fmt: skip
"""Kinds and traits in the order in which a request meets them."""
UNRANKED = 7
CARRIER = RANK['workload']
"""The rank of what runs processes."""
CALLERS = frozenset(('pool', 'http-client', 'grpc-client'))
"""What a program asks others with."""

FOLDED = ('container', 'pod', 'go-runtime', 'managed-heap', 'grpc-environment', 'math-threads', 'node-runtime', 'litellm')
"""Parts of their workload or carrier: drawn with it."""
ASIDE = frozenset((
    'sysctl', 'nofile-limit', 'io-scheduler', 'container-runtime', 'metric-query', 'host', 'http-handler', 'http-transport', 'proxy-middleware', 'proxy-transport', 'block-device', 'kubelet', 'host-process',
    'gpu-device', 'gpu-state', 'gpu-driver', 'boot-parameter', 'tuned', 'huge-page-mode', 'monitor', 'removed-api', 'secret', 'document',
    'node-pool', 'gateway-class', 'ingress-controller', 'route-policy', 'batcher', 'triton-trtllm-model', 'pip-install',
))  # fmt: skip
"""Kinds through which no request passes; shown with their findings, apart from the chains."""
PLAIN = frozenset(('service', 'workload', 'autoscaler', 'disruption-budget', 'compose-service', 'docker-run', 'dockerfile', 'unit', 'command', 'gateway'))
"""Kinds that alone make no chain worth a picture."""
NOT_DRAWN = frozenset(('beside', 'scope-service', 'hidden', 'later', 'setter', 'live', 'set', 'monitor', 'scheduler-setter', 'runtime-limit', 'callers', 'chain'))
"""Neighbours that a rule needs and no request passes."""
NEXT = 'next'
"""The hop that takes what a client or a route sends, whatever its kind."""

IN_CODE = frozenset(('pool', 'http-client', 'http-server', 'grpc-client', 'grpc-server'))
"""What a program sets up: it runs in what is built of the folder around it."""
PROXY_ROOTS = frozenset(('nginx', 'proxy-listener', 'proxy-route', 'proxy-upstream'))
"""What a proxy reads from its file."""
PROXY_IMAGES = {
    'nginx': ('nginx', 'nginx-unprivileged', 'openresty', 'angie'), 'envoy': ('envoy', 'envoy-distroless'), 'caddy': ('caddy',), 'traefik': ('traefik',),
    'haproxy': ('haproxy', 'haproxy-alpine', 'haproxy-debian'),
}  # fmt: skip
"""Product -> names of images that run it."""

NEEDS: dict[str, tuple[str, ...]] = {
    'pool': ('database', 'pooler'),
    'pooler': ('database',),
    'grpc-client': ('grpc-server', 'service'),
    'http-client': ('service', 'http-server', 'engine'),
    'proxy-upstream': ('service', 'engine'),
    'proxy-route': ('proxy-upstream', 'service', 'engine'),
    'autoscaler': ('workload',),
}
"""What stands behind a kind: without any of these its other side was not seen."""
OTHER_SIDE = {'pool': 'database', 'pooler': 'database', 'grpc-client': 'gRPC server', 'autoscaler': 'workload'}

_NGINX = ('nginx', 'ingress-nginx')
_DRAINING = ('uvicorn', 'fastapi', 'litellm', 'gunicorn', 'hypercorn', 'waitress-serve', 'traefik', 'Spring Boot')
"""Servers that end on SIGTERM by themselves; of a program's own server its code decides."""
SHOWN: dict[str, tuple[Shown, ...]] = {
    'http-client': (
        Shown('timeout_s', 'timeout', 'TOTAL', ANY), Shown('gap_timeout_s', 'read timeout', 'GAP'), Shown('first_byte_timeout_s', 'first byte'),
        Shown('retries', 'retries'), Shown('connections', 'connections'), Shown('idle_per_host', 'idle per host'), Shown('per_request', 'made per request'),
        Shown('streams', 'streams'),
    ),
    'http-server': (
        Shown('write_timeout_s', 'write timeout', 'TOTAL', ANY), Shown('idle_timeout_s', 'keep-alive', '', ANY), Shown('read_header_timeout_s', 'header timeout'),
        Shown('graceful_s', 'drains for', '', _DRAINING), Shown('workers', 'workers'), Shown('threads', 'threads'), Shown('worker_timeout_s', 'worker timeout'),
        Shown('streams', 'streams'),
    ),
    'grpc-client': (
        Shown('time_s', 'ping every', '', ANY), Shown('timeout_s', 'ping timeout'), Shown('permit_without_stream', 'pings when idle', '', ANY),
        Shown('round_robin', 'round robin'),
    ),
    'grpc-server': (
        Shown('min_time_s', 'allows a ping every', '', ANY), Shown('permit_without_stream', 'allows pings when idle', '', ANY),
        Shown('max_connection_age_s', 'connection age', '', ANY), Shown('max_connection_age_grace_s', 'age grace'), Shown('time_s', 'ping every'),
    ),
    'gateway': (Shown('class_name', 'class'),),
    'nginx': (Shown('workers', 'workers'), Shown('worker_connections', 'worker connections')),
    'proxy-listener': (Shown('tls', 'TLS'), Shown('http2', 'HTTP/2', '', ('nginx',))),
    'proxy-route': (
        Shown('total_timeout_s', 'timeout', 'TOTAL', ('gateway-api', 'gke', 'envoy', 'istio')), Shown('per_try_timeout_s', 'per try', 'TOTAL'),
        Shown('first_byte_timeout_s', 'first byte'), Shown('read_timeout_s', 'read timeout', 'GAP', (*_NGINX, 'alb')), Shown('attempts', 'retries'), Shown('next_upstream', 'tries the next on'),
        Shown('buffering', 'buffering', '', _NGINX), Shown('body_size', 'body up to'), Shown('protocol_http', 'HTTP'),
        Shown('deregistration_delay_s', 'deregistration delay'), Shown('server_requests', 'requests a server'), Shown('queue_timeout_s', 'queue timeout'),
    ),
    'load-balancer': (Shown('protocol', 'protocol'), Shown('port', 'port'), Shown('deregistration_delay_s', 'deregistration delay')),
    'proxy-upstream': (
        Shown('keepalive', 'keepalive', '', ('nginx',)), Shown('idle_timeout_s', 'idle timeout'), Shown('max_connections', 'connections'),
        Shown('connect_timeout_s', 'connect timeout'), Shown('protocol_http', 'HTTP'), Shown('ping_interval_s', 'ping every'),
    ),
    'service': (),
    'workload': (Shown('strategy', 'strategy'), Shown('max_surge', 'surge'), Shown('group_size', 'pods a group')),
    'pod': (Shown('grace_s', 'grace', '', ANY), Shown('gpus', 'GPUs')),
    'container': (Shown('pre_stop_sleep_s', 'preStop sleep'),),
    'go-runtime': (Shown('gomaxprocs', 'GOMAXPROCS'), Shown('gomemlimit_text', 'GOMEMLIMIT'), Shown('cpu_limit', 'CPU limit')),
    'managed-heap': (Shown('heap', 'heap'), Shown('memory_limit', 'memory limit')),
    'compose-service': (Shown('grace_s', 'grace', '', ANY),),
    'unit': (Shown('stop_timeout_s', 'stop timeout', '', ANY), Shown('restart', 'restart')),
    'docker-run': (Shown('restart', 'restart'),),
    'autoscaler': (Shown('min_replicas', 'from', '', ANY), Shown('max_replicas', 'to', '', ANY), Shown('scale_down_window_s', 'scale-down window')),
    'disruption-budget': (Shown('min_available', 'min available'), Shown('max_unavailable', 'max unavailable')),
    'vllm': (
        Shown('max_num_seqs', 'max_num_seqs', '', ANY), Shown('max_num_batched_tokens', 'batched tokens'), Shown('max_model_len', 'max_model_len'),
        Shown('gpu_memory_utilization', 'GPU memory'), Shown('tensor_parallel_size', 'TP'), Shown('pipeline_parallel_size', 'PP'), Shown('data_parallel_size', 'DP'),
        Shown('shutdown_timeout', 'shutdown timeout'), Shown('max_num_queued_reqs', 'queue'),
    ),
    'sglang': (
        Shown('max_running_requests', 'max_running_requests', '', ANY), Shown('mem_fraction_static', 'GPU memory'), Shown('context_length', 'context'),
        Shown('tp_size', 'TP'), Shown('pp_size', 'PP'), Shown('dp_size', 'DP'), Shown('max_queued_requests', 'queue'),
    ),
    'tgi': (
        Shown('max_concurrent_requests', 'max concurrent requests', '', ANY), Shown('max_total_tokens', 'total tokens'),
        Shown('graceful_termination_timeout', 'termination timeout', '', ANY), Shown('num_shard', 'shards'),
    ),
    'triton': (
        Shown('exit_timeout_secs', 'exit timeout', '', ANY), Shown('grpc_http2_min_recv_ping_interval_without_data', 'allows a ping every'),
        Shown('grpc_keepalive_permit_without_calls', 'allows pings when idle'),
    ),
    'ollama': (
        Shown('num_parallel', 'parallel', '', ANY), Shown('context_length', 'context'), Shown('keep_alive', 'keep alive'), Shown('max_queue', 'queue'),
    ),
    'llama.cpp-server': (Shown('parallel', 'parallel', '', ANY), Shown('ctx_size', 'context'), Shown('timeout', 'timeout')),
    'tensorrt-llm': (
        Shown('max_batch_size', 'max_batch_size', '', ANY), Shown('max_num_tokens', 'tokens'), Shown('max_seq_len', 'max_seq_len'), Shown('tensor_parallel_size', 'TP'),
    ),
    'lmdeploy': (Shown('max_batch_size', 'max_batch_size', '', ANY), Shown('session_len', 'session'), Shown('tp', 'TP')),
    'torchserve': (),
    'tf-serving': (Shown('enable_batching', 'batching'),),
    'pool': (
        Shown('max_open', 'connections', '', ANY), Shown('overflow', 'overflow'), Shown('processes', 'processes'), Shown('pods', 'pods'),
        Shown('max_lifetime_s', 'lifetime'), Shown('idle_timeout_s', 'idle timeout'), Shown('wait_timeout_s', 'wait for one'), Shown('max_idle', 'idle kept'),
    ),
    'database': (Shown('max_connections', 'max_connections', '', ANY), Shown('reserved', 'reserved'), Shown('wait_timeout_s', 'closes idle after')),
}  # fmt: skip
"""In the order of importance. Of the defaults only those are shown that decide something on the hop."""

WORDS = {
    'http-client': 'HTTP client', 'http-server': 'HTTP server', 'grpc-client': 'gRPC client', 'grpc-server': 'gRPC server', 'service': 'Service',
    'proxy-listener': 'listener', 'proxy-route': 'route', 'proxy-upstream': 'upstream', 'load-balancer': 'load balancer', 'compose-service': 'compose service', 'docker-run': 'docker run',
    'vllm': 'vLLM', 'sglang': 'SGLang', 'tgi': 'TGI', 'triton': 'Triton', 'ollama': 'Ollama', 'tensorrt-llm': 'TensorRT-LLM', 'lmdeploy': 'LMDeploy',
    'torchserve': 'TorchServe', 'tf-serving': 'TF Serving', 'python-call': 'Python call', 'sysctl': 'kernel parameters', 'metric-query': 'metric queries',
}  # fmt: skip
"""What a reader calls a kind, where that is not its name."""


def ranked(component: Component) -> int:
    """Where a component stands on the way of a request."""
    names = (component.kind.name, *component.kind.traits)
    return next((RANK[name] for name in names if name in RANK), UNRANKED)


def relation(asking: Component, answering: Component, *, carries: bool = False) -> Relation | None:
    """The table's word on a pair, or None."""
    left = ('carrier',) if carries else (asking.kind.name, *asking.kind.traits)
    names = ((one, other) for one in left for other in (answering.kind.name, *answering.kind.traits))
    return next((RELATIONS[pair] for pair in names if pair in RELATIONS), None)


def drawn_kinds() -> list[str]:
    """Kinds and traits that a picture can be asked for: those of the tables, and what else has been declared."""
    return sorted((RANK.keys() | SHOWN.keys() | KINDS.keys()) - ASIDE - set(FOLDED))
