"""What grpc-keepalive-punished reports, a real gRPC server punishes; what it lets pass survives.

Every pair runs so much faster that its client pings each PING_S: the C core's client never pings more than once a
second. Where its client is not written in Python, `grpc.http2.max_pings_without_data` is 0: the core would also stop by
itself after two pings; Go and Java do not.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from configaudit import testkit

pytestmark = pytest.mark.real

RULE = 'grpc-keepalive-punished'
ROOT = Path(__file__).parents[2] / 'fixtures'
PING_S = 1.2
HELD_S = 8.0
"""Four pings (three of them strikes), and then some."""


def _spring(client: str, server: str) -> dict[str, str]:
    """A client that pings and the server it calls."""
    address, name = 'address: dns:///embedder:9090', 'spring: {application: {name: embedder}}'
    return {
        'chat/application.yml': f'grpc: {{client: {{embedder: {{{address}, enableKeepAlive: true, {client}}}}}}}\n',
        'embedder/application.yml': f'{name}\ngrpc: {{server: {{port: 9090{server}}}}}\n',
    }


TRITON = """\
apiVersion: v1
kind: Service
metadata: {{name: embedder}}
spec:
  selector: {{app: embedder}}
  ports: [{{name: grpc, port: 9090, targetPort: 8001}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: embedder}}
spec:
  selector: {{matchLabels: {{app: embedder}}}}
  template:
    metadata: {{labels: {{app: embedder}}}}
    spec:
      containers:
        - name: triton
          image: nvcr.io/nvidia/tritonserver:24.10-py3
          args: [tritonserver, --model-repository=/models{flags}]
"""


def _triton(flags: str) -> dict[str, str]:
    """A client that pings every 30 s, in front of Triton."""
    return {
        'chat/application.yml': _spring('keepAliveTime: 30', '')['chat/application.yml'],
        'embedder.yaml': TRITON.format(flags=flags),
    }


GO_CLIENT = """\
package embed

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

func Open(target string) (*grpc.ClientConn, error) {{
	return grpc.NewClient(target, grpc.WithKeepaliveParams(keepalive.ClientParameters{{{fields}}}))
}}
"""
GO_SERVER = """\
package embed

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

func Make() *grpc.Server {{
	return grpc.NewServer({options})
}}
"""
POLICY = 'grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{{{fields}}})'
PYTHON = """\
import os
from concurrent import futures

import grpc

CHANNEL = [{client}]


def channel():
    return grpc.insecure_channel(os.environ['TARGET'], options=CHANNEL)


def server():
    return grpc.server(futures.ThreadPoolExecutor(4), options=[{server}])
"""


def _go(client: str, server: str) -> dict[str, str]:
    """A client and a server in Go source, of one folder."""
    policy = POLICY.format(fields=server) if server else ''
    return {'embed/client.go': GO_CLIENT.format(fields=client), 'embed/server.go': GO_SERVER.format(options=policy)}


def _python(client: str, server: str) -> dict[str, str]:
    """A client and a server in Python source, of one file."""
    return {'embed/rpc.py': PYTHON.format(client=client, server=server)}


def _fixture(name: str) -> dict[str, str]:
    folder = ROOT / RULE / name
    return {path.relative_to(folder).as_posix(): path.read_text('utf-8') for path in sorted(folder.rglob('*.yml'))}


PAIRS: dict[str, dict[str, str]] = {
    **{name: _fixture(name) for name in ('minimum/bad', 'minimum/good', 'permission/bad', 'permission/good')},
    'the checklist, a server at its defaults': _spring('keepAliveTime: 30, keepAliveWithoutCalls: true', ''),
    'without idle pings, a server at its defaults': _spring('keepAliveTime: 30', ''),
    'both ends told': _spring(
        'keepAliveTime: 30, keepAliveWithoutCalls: true', ', permitKeepAliveTime: 15, permitKeepAliveWithoutCalls: true'
    ),
    'permitted, but too often': _spring(
        'keepAliveTime: 30, keepAliveWithoutCalls: true', ', permitKeepAliveTime: 60, permitKeepAliveWithoutCalls: true'
    ),
    'often enough, not permitted': _spring(
        'keepAliveTime: 30, keepAliveWithoutCalls: true', ', permitKeepAliveTime: 15'
    ),
    'Go, the checklist, a server at its defaults': _go('Time: 30 * time.Second, Timeout: 10 * time.Second, PermitWithoutStream: true', ''),
    'Go, without idle pings, a server at its defaults': _go('Time: 30 * time.Second', ''),
    'Go, a timeout without a time is 10 s': _go('Timeout: 20 * time.Second', ''),
    'Go, both told': _go('Time: 30 * time.Second, PermitWithoutStream: true', 'MinTime: 15 * time.Second, PermitWithoutStream: true'),
    'Go, at the minimum': _go('Time: 5 * time.Minute', ''),
    'Go, not permitted': _go('Time: 30 * time.Second, PermitWithoutStream: true', 'MinTime: 10 * time.Second'),
    'Python, pings without end': _python("('grpc.keepalive_time_ms', 30_000), ('grpc.http2.max_pings_without_data', 0)", ''),
    'Python, two pings at most': _python("('grpc.keepalive_time_ms', 30_000)", ''),
    'Python, both told': _python(
        "('grpc.keepalive_time_ms', 30_000), ('grpc.http2.max_pings_without_data', 0), ('grpc.keepalive_permit_without_calls', 1)",
        "('grpc.http2.min_ping_interval_without_data_ms', 10_000), ('grpc.keepalive_permit_without_calls', 1)",
    ),
    'Python, a minimum that is misspelt': _python(
        "('grpc.keepalive_time_ms', 30_000), ('grpc.http2.max_pings_without_data', 0)", "('grpc.http2.min_recv_ping_interval_without_data_ms', 10_000)"
    ),
    'Python, no strikes': _python("('grpc.keepalive_time_ms', 30_000), ('grpc.http2.max_pings_without_data', 0)", "('grpc.http2.max_ping_strikes', 0)"),
    'Triton at its defaults': _triton(''),
    'Triton without strikes': _triton(', --grpc-http2-max-ping-strikes=0'),
    'Triton told': _triton(', --grpc-http2-min-recv-ping-interval-without-data=15000'),
}


class Keepalive(NamedTuple):
    """Both ends as the audit read them, and what it reported: the settings that findings point at."""

    time_s: float
    idle_pings: bool
    minimum_s: float
    idle_permitted: bool
    strikes: int
    most_pings: int
    """Without data, of a client of the C core; 0: no limit."""
    reported: frozenset[str]


class Fate(NamedTuple):
    """What became of a call on which the server is silent, and of a connection without calls."""

    call: str
    closed_idle: bool


def _audited(files: dict[str, str], folder: Path) -> Keepalive:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    result = testkit.audit_folder(folder)
    (client,) = (item for item in result.components if item.kind.name == 'grpc-client')
    (server,) = client.peers('grpc-server')
    triton = server.kind.name == 'triton'
    return Keepalive(
        client['time_s'].value,
        client['permit_without_stream'].value,
        server['grpc_http2_min_recv_ping_interval_without_data'].value / 1000 if triton else server['min_time_s'].value,
        bool(server['grpc_keepalive_permit_without_calls' if triton else 'permit_without_stream'].value),
        server['grpc_http2_max_ping_strikes' if triton else 'max_ping_strikes'].value,
        client['max_pings'].value,
        frozenset(item.setting for item in result.findings if item.rule.id == RULE),
    )


def _try(grpc: ModuleType, pair: Keepalive) -> Fate:
    """Hold a silent call and an idle connection, each on a channel of its own."""
    done = threading.Event()

    def silent(request: bytes, context: object) -> bytes:
        done.wait(HELD_S)
        return b'done'

    server = grpc.server(
        ThreadPoolExecutor(2),
        options=[
            ('grpc.so_reuseport', 0),
            ('grpc.http2.min_ping_interval_without_data_ms', round(1000 * PING_S * pair.minimum_s / pair.time_s)),
            ('grpc.keepalive_permit_without_calls', int(pair.idle_permitted)),
            ('grpc.http2.max_ping_strikes', pair.strikes),
        ],
    )
    methods = {'Hold': grpc.unary_unary_rpc_method_handler(silent)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler('test.Silent', methods),))
    port = server.add_insecure_port('127.0.0.1:0')
    server.start()
    try:
        with _channel(grpc, port, pair) as busy, _channel(grpc, port, pair) as idle:
            states: list[Any] = []
            idle.subscribe(states.append, try_to_connect=True)
            grpc.channel_ready_future(idle).result(5)
            try:
                call = busy.unary_unary('/test.Silent/Hold')(b'', timeout=3 * HELD_S).decode()
            except grpc.RpcError as error:
                call = f'{error.code().name} {error.details()}'
                done.wait(HELD_S / 4)
            ready = states.index(grpc.ChannelConnectivity.READY)
            return Fate(call, any(state is not grpc.ChannelConnectivity.READY for state in states[ready:]))
    finally:
        done.set()
        server.stop(0).wait(5)


def _channel(grpc: ModuleType, port: int, pair: Keepalive) -> Any:
    return grpc.insecure_channel(
        f'127.0.0.1:{port}',
        options=[
            ('grpc.use_local_subchannel_pool', 1),
            ('grpc.http2.max_pings_without_data', pair.most_pings),
            ('grpc.keepalive_time_ms', round(1000 * PING_S)),
            ('grpc.keepalive_timeout_ms', 5000),
            ('grpc.keepalive_permit_without_calls', int(pair.idle_pings)),
        ],
    )


@pytest.fixture(scope='module')
def tried(
    module: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Keepalive, Fate]]:
    """All pairs at once: they only wait."""
    grpc = module('grpc')
    pairs = [_audited(files, tmp_path_factory.mktemp('pair')) for files in PAIRS.values()]
    with ThreadPoolExecutor(len(pairs)) as pool:
        fates = list(pool.map(lambda pair: _try(grpc, pair), pairs))
    return dict(zip(PAIRS, zip(pairs, fates)))


@pytest.mark.parametrize('name', PAIRS)
def test_a_silent_call_is_cut_where_the_rule_says_so(name: str, tried: dict[str, tuple[Keepalive, Fate]]) -> None:
    pair, fate = tried[name]
    if pair.reported & {'time_s', 'min_time_s'}:
        assert fate.call.startswith('UNAVAILABLE')
        assert 'too_many_pings' in fate.call.lower().replace(' ', '_')
    else:
        assert fate.call == 'done'


@pytest.mark.parametrize('name', PAIRS)
def test_an_idle_connection_is_closed_where_the_rule_says_so(
    name: str, tried: dict[str, tuple[Keepalive, Fate]]
) -> None:
    pair, fate = tried[name]
    assert fate.closed_idle == (
        'permit_without_stream' in pair.reported or ('time_s' in pair.reported and pair.idle_pings)
    )


def test_the_core_reads_no_variable_for_keepalive(module: Callable[[str], ModuleType]) -> None:
    """The names of variables that the library does read are in its binary; none of the rule's is."""
    binary = Path(module('grpc._cython.cygrpc').__file__ or '').read_bytes()
    assert b'GRPC_VERBOSITY' in binary
    assert b'grpc.keepalive_time_ms' in binary
    for name in (b'GRPC_KEEPALIVE', b'GRPC_ARG_KEEPALIVE', b'GRPC_HTTP2_M', b'GRPC_ARG_HTTP2_M'):
        assert name not in binary
