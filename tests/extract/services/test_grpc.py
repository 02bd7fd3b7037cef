"""gRPC ends in configuration: which pairs fit."""

from collections.abc import Callable

import pytest

from configaudit.config import Config
from configaudit.context import Context

Found = Callable[..., list[str]]
SERVER = 'spring:\n  application: {{name: {name}}}\ngrpc:\n  server:\n    port: 9090\n{rest}'
PUNISHED, UNMATCHED, OFF, IGNORED = 'grpc-keepalive-punished', 'grpc-keepalive-unmatched', 'grpc-keepalive-off', 'grpc-keepalive-without-effect'


def client(rest: str, address: str = 'dns:///embedder:9090') -> str:
    return f'grpc:\n  client:\n    embed:\n      address: {address}\n{rest}'


ON = '      enableKeepAlive: true\n      keepAliveTime: {time}\n'


@pytest.mark.parametrize(
    ('of_client', 'of_server', 'rules'),
    [
        (ON.format(time='30s'), '', [PUNISHED]),
        (ON.format(time='30'), '', [PUNISHED]),
        (ON.format(time='30s'), '    permitKeepAliveTime: 15s\n', []),
        (ON.format(time='5m'), '', []),
        (ON.format(time='30s') + '      keepAliveWithoutCalls: true\n', '    permitKeepAliveTime: 15s\n', [PUNISHED]),
        (ON.format(time='30s') + '      keepAliveWithoutCalls: true\n', '    permitKeepAliveTime: 15s\n    permitKeepAliveWithoutCalls: true\n', []),
        ('', '', [OFF]),
        ('      keepAliveTime: 30s\n', '', [IGNORED]),
        ('      keepAliveTimeout: 5s\n', '', [IGNORED]),
        ('      enableKeepAlive: false\n      keepAliveTimeout: 5s\n', '', []),
        ('      enableKeepAlive: true\n', '', []),
    ],
)
def test_pairs(found: Found, of_client: str, of_server: str, rules: list[str]) -> None:
    files = {'a/application.yml': client(of_client), 'b/application.yml': SERVER.format(name='embedder', rest=of_server)}
    assert [item.rpartition(' ')[2] for item in found(files, PUNISHED, UNMATCHED, OFF, IGNORED)] == rules


def test_a_server_of_another_name_is_not_the_peer(found: Found) -> None:
    files = {'a/application.yml': client(ON.format(time='30s')), 'b/application.yml': SERVER.format(name='other', rest='')}
    assert [item.rpartition(' ')[2] for item in found(files, PUNISHED, UNMATCHED)] == [UNMATCHED]


TRITON = (
    'apiVersion: v1\nkind: Service\nmetadata: {name: embedder}\nspec: {selector: {app: t}}\n---\n'
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: t}\nspec:\n  template:\n    metadata: {labels: {app: t}}\n    spec:\n      containers:\n'
    '        - name: t\n          image: nvcr.io/nvidia/tritonserver:24.10-py3\n          command: [tritonserver, --model-repository=/m%s]\n'
)


@pytest.mark.parametrize(
    ('flags', 'is_punished'),
    [
        ('', True),
        (', --grpc-http2-min-recv-ping-interval-without-data=10000', False),
        (', --grpc-http2-min-recv-ping-interval-without-data=60000', True),
        (', --grpc-http2-max-ping-strikes=0', False),
    ],
)
def test_triton_behind_a_service(found: Found, flags: str, is_punished: bool) -> None:
    files = {'app/application.yml': client(ON.format(time='30s')), 'triton.yaml': TRITON % flags}
    assert bool(found(files, PUNISHED)) is is_punished


def test_a_declared_link(found: Found) -> None:
    files = {
        'a/application.yml': client(ON.format(time='30s'), 'static://10.0.0.7:9090'),
        'b/application.yml': SERVER.format(name='embedder', rest=''),
    }
    config = Config(context=Context(links=(('embed', 'embedder'),)))
    assert found(files, PUNISHED, config=config) == ['a/application.yml:6:22 grpc-keepalive-punished']


@pytest.mark.parametrize(
    ('name', 'is_found'),
    [
        ('GRPC_KEEPALIVE_TIME_MS', True), ('GRPC_ARG_KEEPALIVE_TIMEOUT_MS', True), ('grpc.keepalive_time_ms', True),
        ('GRPC_VERBOSITY', False), ('GRPC_KEEPALIVE_TIME', False), ('GRPC_PORT', False), ('GRPC_ENABLE_FORK_SUPPORT', False),
    ],
)  # fmt: skip
def test_environment_that_nothing_reads(found: Found, name: str, is_found: bool) -> None:
    text = f'services:\n  a:\n    image: example.com/a:1\n    environment:\n      {name}: "1"\n'
    assert bool(found({'compose.yaml': text}, 'grpc-keepalive-env-unread')) is is_found
