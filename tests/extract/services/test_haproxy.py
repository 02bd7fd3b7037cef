"""haproxy.cfg: which backends are read, and which timeout, in which unit, holds for them."""

import pytest

from configaudit.extract.services.haproxy import read
from configaudit.model import Component, Unknown
from configaudit.places import Document, locate

CONFIG = 'defaults\n  mode http\n  timeout server 30s # short\n\nbackend a\n  server s 10.0.0.1:8000 check\n'


def routes(text: str) -> list[Component]:
    return list(read(Document('haproxy.cfg', 'haproxy', text.encode())).components)


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
