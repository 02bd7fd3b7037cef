"""Kinds of what stands around an engine: connection pools, database servers, language runtimes, gRPC ends.

Durations are in seconds whatever a file writes; a Setting's `unit` says what the file writes ('ms', 's').
No limit is `math.inf`.
"""

import math

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec

_PROFILE = {'profile': SettingSpec('text')}
_CONFIGURES = {'configures': SettingSpec('bool', False)}
"""A program's function that is handed a builder: it sets up ends that a starter for Spring makes."""
"""Of Spring, whose file is laid over the main one."""

POOL = declare(Kind('pool', ('bounded-pool',), {
    **_PROFILE,
    'product': SettingSpec('text'),
    'host': SettingSpec('text'),
    'library': SettingSpec('text'),
    'url': SettingSpec('text'),
    'max_open': SettingSpec('count', raise_only=False),
    'overflow': SettingSpec('count', 0),
    'max_idle': SettingSpec('count'),
    'min_idle': SettingSpec('count'),
    'max_lifetime_s': SettingSpec('s'),
    'idle_timeout_s': SettingSpec('s'),
    'keepalive_s': SettingSpec('s'),
    'wait_timeout_s': SettingSpec('s'),
    'connect_timeout_s': SettingSpec('s'),
    'socket_timeout_s': SettingSpec('s'),
    'test_on_borrow': SettingSpec('bool', False),
    'test_while_idle': SettingSpec('bool', False),
    'processes': SettingSpec('count', 1),
    'pods': SettingSpec('count'),
    'surge': SettingSpec('share', 0),
    'user': SettingSpec('text'),
    'users': SettingSpec('count', 1),
    'most': SettingSpec('count', 0),
    'statement_cache': SettingSpec('count'),
    'secrets': SettingSpec(default=()),
    'serves': SettingSpec('bool', True),
    'written_in': SettingSpec('text'),
    'threads': SettingSpec('count'),
    'pre_ping': SettingSpec('bool', False),
    'per_request': SettingSpec('bool', False),
    'variable': SettingSpec('text'),
    'decided_by': SettingSpec(default=()),
    'persistent_s': SettingSpec('s', 0),
    'pooled': SettingSpec('bool', False),
}))  # fmt: skip
"""`pods`, `surge`: of a pooler that an operator starts. `users`: pools of this size, one for each user that connects through a
pooler; `most`: the most connections of all of them, 0 for no such limit. `statement_cache`: named prepared statements that the
driver keeps, 0 for none. `secrets`: names of the Secrets that the process takes values from. `variable`: the environment variable
that its URL, or the target of a client, comes from. `decided_by`: (setting, variable, factor) of what a program takes from its
environment."""

DATABASE = declare(Kind('database', (), {
    'product': SettingSpec('text'),
    'names': SettingSpec(default=()),
    'max_connections': SettingSpec('count', raise_only=True),
    'reserved': SettingSpec('count', 0),
    'reserved_role': SettingSpec('count', 0),
    'wait_timeout_s': SettingSpec('s', math.inf),
    'pooler': SettingSpec('bool', False),
    'pool_mode': SettingSpec('text'),
    'max_prepared': SettingSpec('count'),
    'instances': SettingSpec('count', 1),
    'secrets': SettingSpec(default=()),
    'declared': SettingSpec('bool', False),
    'superusers': SettingSpec(default=()),
}))  # fmt: skip

_LIMITS = {'cpu_limit': SettingSpec('cores', raise_only=True), 'memory_limit': SettingSpec('bytes', raise_only=True)}

GO_RUNTIME = declare(Kind('go-runtime', (), {
    **_LIMITS,
    'gomaxprocs': SettingSpec('count'),
    'gomaxprocs_from': SettingSpec('text'),
    'gomemlimit': SettingSpec('bytes'),
    'gomemlimit_text': SettingSpec('text'),
    'gogc': SettingSpec('text'),
    'go_version': SettingSpec('text'),
    'follows_quota': SettingSpec('bool', False),
    'evidence': SettingSpec('text', 'name'),
    'automatic': SettingSpec('bool', False),
    'follows_by_itself': SettingSpec('bool', False),
}))  # fmt: skip

HEAP = declare(Kind('managed-heap', (), {
    **_LIMITS,
    'runtime': SettingSpec('text'),
    'heap': SettingSpec('bytes'),
}))  # fmt: skip

GRPC_CLIENT = declare(Kind('grpc-client', ('grpc-end',), {
    **_PROFILE,
    **_CONFIGURES,
    'target': SettingSpec('text'),
    'time_s': SettingSpec('s', math.inf),
    'timeout_s': SettingSpec('s', 20),
    'permit_without_stream': SettingSpec('bool', False),
    'written_in': SettingSpec('text'),
    'round_robin': SettingSpec('bool', False),
    'custom': SettingSpec('bool', False),
    'max_pings': SettingSpec('count', 0),
    'unread': SettingSpec(default=()),
    'without_effect': SettingSpec(default=()),
    'variable': SettingSpec('text'),
    'server_from': SettingSpec('text', 'name'),  # 'folder': the only one beside it; 'package': client.go and server.go
    'time_asked_s': SettingSpec('s'),
    'resolver': SettingSpec('text', 'dns'),
}))  # fmt: skip
"""`time_asked_s`: what the program writes where the library raises it to its floor (0: it sets the option without a time).
`resolver`: of a target without a scheme; 'passthrough' hands the name to the dialer, which picks one address.
`without_effect`: (option, place, why it does nothing) of every keepalive option that the library ignores."""

GRPC_SERVER = declare(Kind('grpc-server', ('grpc-end',), {
    **_PROFILE,
    **_CONFIGURES,
    'names': SettingSpec(default=()),
    'unread': SettingSpec(default=()),
    'written_in': SettingSpec('text'),
    'min_time_s': SettingSpec('s', 300, source='gRPC A8: servers allow a ping every 5 minutes'),
    'permit_without_stream': SettingSpec('bool', False, source='gRPC A8'),
    'max_ping_strikes': SettingSpec('count', 2),
    'time_s': SettingSpec('s', 7200),
    'timeout_s': SettingSpec('s', 20),
    'max_connection_age_s': SettingSpec('s', math.inf),
    'max_connection_age_grace_s': SettingSpec('s', math.inf),
    'max_concurrent_streams': SettingSpec('count', math.inf),
    'port': SettingSpec('text'),
}))  # fmt: skip

HTTP_CLIENT = declare(Kind('http-client', (), {
    **_PROFILE,
    'product': SettingSpec('text', 'net/http'),
    'target': SettingSpec('text'),
    'variable': SettingSpec('text'),
    'timeout_s': SettingSpec('s', math.inf),
    'gap_timeout_s': SettingSpec('s', math.inf),
    'first_byte_timeout_s': SettingSpec('s', math.inf),
    'idle_per_host': SettingSpec('count'),
    'idle_total': SettingSpec('count'),
    'forwards': SettingSpec('bool', False),
    'threads': SettingSpec('count'),
    'connections': SettingSpec('count', math.inf),
    'retries': SettingSpec('count', 0),
    'per_request': SettingSpec('bool', False),
    'closes': SettingSpec('bool', False),
    'streams': SettingSpec('bool', False),
    'written_in': SettingSpec('text'),
    'answers': SettingSpec('text', ''),
    'blocks_loop': SettingSpec('bool', False),
    'http2': SettingSpec('bool', False),
    'h2_installed': SettingSpec('bool', True),
}))  # fmt: skip
"""`answers`: what shows that generated text comes through it, or ''. `blocks_loop`: its requests hold up an event loop.
`h2_installed`: whether what the program installs has the package that HTTP/2 needs. `timeout_s`: the longest a whole answer may take, its body included (TOTAL). `gap_timeout_s`: the longest silence between two
reads. `first_byte_timeout_s`: the longest wait for the head of the answer. `retries`: tries after the first one. `per_request`:
a client or its connections are made anew for every request; `closes`: and closed after it. `connections`: the most it opens to one host. `idle_per_host`: idle
connections it keeps to one host, `idle_total` to all. `forwards`: it hands on the requests of many clients."""

HTTP_SERVER = declare(Kind('http-server', (), {
    **_PROFILE,
    'product': SettingSpec('text', 'net/http'),
    'port': SettingSpec('text'),
    'write_timeout_s': SettingSpec('s', math.inf),
    'idle_timeout_s': SettingSpec('s', math.inf),
    'read_header_timeout_s': SettingSpec('s', math.inf),
    'graceful_s': SettingSpec('s', math.inf),
    'imports': SettingSpec(default=()),
    'streams': SettingSpec('bool', False),
    'written_in': SettingSpec('text'),
    'workers': SettingSpec('count', 1),
    'workers_from': SettingSpec('text', ''),
    'worker_class': SettingSpec('text'),
    'threads': SettingSpec('count', 1),
    'worker_timeout_s': SettingSpec('s', math.inf),
    'config': SettingSpec('text'),
    'cpu_limit': SettingSpec('cores', raise_only=True),
}))  # fmt: skip
"""A program's own server. `write_timeout_s`: the longest a whole answer may take (TOTAL). `idle_timeout_s`: how long it keeps an idle
connection. `graceful_s`: how long it lets requests finish after SIGTERM (inf: until the process is killed). `workers_from`: 'cpus' where their
number follows the machine. `worker_timeout_s`: after how long a silent worker of gunicorn is killed. `config`: the file its command line names."""

HTTP_HANDLER = declare(Kind('http-handler', (), {
    'detached': SettingSpec(default=()),
    'generates': SettingSpec('bool', False),
    'headers_lost': SettingSpec('bool', False),
    'headers_whole': SettingSpec('bool', False),
    'time_limited': SettingSpec('bool', False),
    'streams': SettingSpec('bool', False),
    'written_in': SettingSpec('text'),
}))  # fmt: skip
"""A function of a program that answers requests. `detached`: (what is called, place) of calls to other servers that outlive the
request. `headers_lost`: it sends the status of another server's answer without its headers. `headers_whole`: it forwards every
header of the request. `time_limited`: it is wrapped in what holds its answer back until a time limit."""

GO_DURATION = declare(Kind('go-duration', (), {
    'of': SettingSpec('text'),
    'nanoseconds': SettingSpec('count'),
    'number': SettingSpec('text'),
}))  # fmt: skip
"""A duration in Go source without a unit. `nanoseconds`: what its number comes to. `number`: the plain number that is taken as nanoseconds."""

HTTP_TRANSPORT = declare(Kind('http-transport', (), {
    'product': SettingSpec('text', 'net/http'),
    'health_ping_s': SettingSpec('s', 0),
    'keepalives_off': SettingSpec('bool', False),
    'no_such_api': SettingSpec('text'),
    'wants_http2': SettingSpec('bool', False),
    'cleartext_url': SettingSpec('text'),
    'turns_http2_off': SettingSpec('text', ''),
    'http2_decided': SettingSpec('bool', False),
}))  # fmt: skip

NODE_RUNTIME = declare(Kind('node-runtime', (), {'threadpool': SettingSpec('count')}))
"""`threadpool`: what a program assigns to UV_THREADPOOL_SIZE itself, in a module that runs after the pool is there."""

GRPC_ENVIRONMENT = declare(Kind('grpc-environment', (), {
    'unread': SettingSpec(default=()),
}))  # fmt: skip

HTTPX_TIMEOUT = declare(Kind('httpx-timeout', (), {'missing': SettingSpec(default=())}))
"""An httpx.Timeout without a default. `missing`: those of its four clocks that it does not name."""

MATH_THREADS = declare(Kind('math-threads', (), {
    'variable': SettingSpec('text'),
    'library': SettingSpec('text'),
    'threads': SettingSpec('count'),
    'workers': SettingSpec('count', 1),
    'cpu_limit': SettingSpec('cores', raise_only=True),
}))  # fmt: skip
"""Threads that OpenMP, MKL or OpenBLAS start in each process of a container."""

LITELLM = declare(Kind('litellm', (), {'env': SettingSpec(default={})}))
"""A configuration of LiteLLM's proxy. `env`: what stands in it as it is, by the name of its key."""
