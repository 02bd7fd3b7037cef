"""haproxy.cfg: which backends are read, and which timeout, in which unit, holds for them."""

import math

import pytest

from configaudit.extract.services.haproxy import read
from configaudit.model import Component, Unknown
from configaudit.places import Document, locate

CONFIG = 'defaults\n  mode http\n  timeout server 30s # short\n\nbackend a\n  server s 10.0.0.1:8000 check\n'


def routes(text: str, kind: str = 'proxy-route') -> list[Component]:
    return [found for found in read(Document('haproxy.cfg', 'haproxy', text.encode())).components if found.kind.name == kind]


@pytest.mark.parametrize(('own', 'seconds', 'line'), [
    ('', 30, 3), ('  timeout server 5m\n', 300, 7), ('  timeout server 90000\n', 90, 7), ('  timeout server 2h\n', 7200, 7), ('  #timeout server 5m\n', 30, 3),
])  # fmt: skip
def test_a_backend_goes_before_its_defaults(own: str, seconds: float, line: int) -> None:
    (found,) = routes(CONFIG + own)
    assert found['read_timeout_s'].value == seconds
    assert locate(found['read_timeout_s'].place).line == line
    assert found['targets'].value == (('10.0.0.1', '8000'),)


def test_defaults_hold_for_what_follows_them() -> None:
    text = CONFIG + 'defaults\n  mode http\n  timeout server 5s\nlisten b\n  bind :80\n  server s vllm:8000\n'
    assert [(found.name, found['read_timeout_s'].value) for found in routes(text)] == [('a', 30), ('b', 5)]


def test_servers_found_by_name_are_read() -> None:
    (found,) = routes('defaults\n  mode http\nbackend a\n  server-template s 3 vllm.chat.svc.cluster.local:8000 check\n')
    assert found['targets'].value == (('vllm.chat.svc.cluster.local', '8000'),)


def test_tcp_and_what_has_no_servers_is_left_alone() -> None:
    assert routes('defaults\n  mode tcp\nbackend a\n  server s a:1\n') == []
    assert routes('defaults\n  mode http\nbackend a\n  balance leastconn\nfrontend f\n  bind :80\n') == []


def test_a_time_that_is_none_is_unknown() -> None:
    (found,) = routes(CONFIG + '  timeout server "${SECONDS}"\n')
    with pytest.raises(Unknown):
        _ = found['read_timeout_s'].value


def test_retries_count_unless_posts_are_left_out() -> None:
    (found,) = routes(CONFIG + '  retries 2\n  retry-on all-retryable-errors\n')
    assert (found['retry_on'].value, found['attempts'].value) == ('all-retryable-errors', 2)
    (found,) = routes(CONFIG + '  retry-on all-retryable-errors\n  http-request disable-l7-retry if METH_POST\n')
    assert not found['retry_on'].is_set


@pytest.mark.parametrize(
    ('defaults', 'own', 'count', 'wait', 'is_set'),
    [
        ('timeout connect 4s', 'server a b:1 maxconn 9', 9, 4, False), ('timeout connect 4s\n  timeout queue 1m', 'server a b:1 maxconn 9', 9, 60, True),
        ('default-server maxconn 7', 'timeout queue 500\n  server a b:1', 7, 0.5, True), ('default-server maxconn 7', 'default-server maxconn 8\n  server a b:1', 8, math.inf, False),
        ('timeout connect 4s', 'server a b:1', math.inf, math.inf, False),
    ],
)  # fmt: skip
def test_how_long_requests_wait_for_a_server(defaults: str, own: str, count: float, wait: float, is_set: bool) -> None:
    (found,) = routes(f'defaults\n  mode http\n  {defaults}\nbackend a\n  {own}\n')
    assert (found['server_requests'].value, found['queue_timeout_s'].value, found['queue_timeout_s'].is_set) == (count, wait, is_set)


def test_named_defaults_are_taken_in() -> None:
    text = 'defaults base\n  mode http\n  timeout server 5s\ndefaults slow from base\n  timeout server 9m\ndefaults last\n  mode tcp\nbackend a from slow\n  server s b:1\nbackend c from base\n  server s b:1\nbackend d\n  server s b:1\n'
    assert [(found.name, found['read_timeout_s'].value) for found in routes(text)] == [('a', 540), ('c', 5)]


@pytest.mark.parametrize(('server', 'protocol'), [('server s b:1', '1.1'), ('server s b:1 proto h2 check', '2'), ('default-server proto h2\n  server s b:1', '2')])
def test_the_protocol_of_servers(server: str, protocol: str) -> None:
    (found,) = routes(f'backend a\n  mode http\n  {server}\n', 'proxy-upstream')
    assert found['protocol_http'].value == protocol
