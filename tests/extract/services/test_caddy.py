"""Caddyfile: what is passed on, and which options hold for it."""

import math

import pytest

from configaudit.extract.services.caddy import read
from configaudit.model import Component
from configaudit.places import Document, locate


def components(text: str, kind: str = 'proxy-route') -> list[Component]:
    found = read(Document('Caddyfile', 'caddyfile', text.encode())).components
    return [component for component in found if component.kind.name == kind]


@pytest.mark.parametrize(
    ('text', 'path', 'targets'),
    [
        ('a.test {\n reverse_proxy b:1 c:2\n}\n', '/', (('b', '1'), ('c', '2'))),
        ('a.test {\n reverse_proxy /v1/* b:1\n}\n', '/v1/', (('b', '1'),)),
        ('a.test {\n @m path /x /y\n reverse_proxy @m https://b\n}\n', '/x /y', (('b', '443'),)),
        ('a.test {\n @m {\n  method POST\n  path /x\n }\n handle @m {\n  reverse_proxy b\n }\n}\n', '/x', (('b', '80'),)),
        ('a.test {\n handle_path /p/* {\n  route {\n   reverse_proxy {\n    to b:1\n   }\n  }\n }\n}\n', '/p/', (('b', '1'),)),
        ('a.test\nreverse_proxy b:1\n', '/', (('b', '1'),)),
        ('(s) {\n reverse_proxy {args[0]}:{args.1}\n}\na.test {\n import s b 9\n}\n', '/', (('b', '9'),)),
        ('a.test {\n reverse_proxy {$B:b:5}\n}\n', '/', (('b', '5'),)),
    ],
)  # fmt: skip
def test_where_requests_go(text: str, path: str, targets: tuple[tuple[str, str], ...]) -> None:
    (route,) = components(text)
    assert (route['path'].value, route['targets'].value) == (path, targets)


def test_options_of_a_proxy_and_their_places() -> None:
    text = 'a {\n reverse_proxy h2c://b:1 {\n  flush_interval -1\n  response_buffers 1MiB\n  transport http {\n   read_timeout 1m30s\n   response_header_timeout 0\n   keepalive off\n  }\n }\n}\n'
    (route,), (upstream,) = components(text), components(text, 'proxy-upstream')
    assert route['buffering'].value
    assert route['ignore_client_abort'].value
    assert (route['read_timeout_s'].value, locate(route['read_timeout_s'].place).line) == (90, 6)
    assert route['first_byte_timeout_s'].value == math.inf
    assert (upstream['idle_timeout_s'].value, upstream['protocol_http'].value) == (0, '2')


def test_nothing_is_limited_unless_the_file_says_so() -> None:
    (route,), (upstream,) = components('a {\n reverse_proxy b:1\n}\n'), components('a {\n reverse_proxy b:1\n}\n', 'proxy-upstream')
    assert (route['read_timeout_s'].value, route['read_timeout_s'].is_set, route['buffering'].value, upstream['idle_timeout_s'].value) == (math.inf, False, False, 120)


@pytest.mark.parametrize(('match', 'again'), [('method POST', True), ('path /a', True), ('method GET', False), ('expression {method}.startsWith("P")', False)])
def test_only_a_match_that_takes_post_sends_it_again(match: str, again: bool) -> None:
    (route,) = components(f'a {{\n reverse_proxy b:1 {{\n  lb_retries 2\n  lb_retry_match {{\n   {match}\n  }}\n }}\n}}\n')
    assert route['retry_on'].is_set is again


def test_servers_of_the_global_options() -> None:
    (server,) = components('{\n grace_period 30s\n servers :443 {\n  timeouts {\n   write 5m\n   idle 2m\n  }\n }\n}\na {\n reverse_proxy b:1\n}\n', 'http-server')
    assert [server[name].value for name in ('write_timeout_s', 'idle_timeout_s', 'graceful_s')] == [300, 120, 30]


def test_an_import_or_a_variable_leaves_things_open() -> None:
    (route,) = components('a {\n reverse_proxy {$B} {\n  import common.conf\n }\n}\n')
    assert not route['target'].is_known
    assert not route['read_timeout_s'].is_known
    assert components('a {\n import s\n}\n(s) {\n import s\n reverse_proxy b:1\n}\n')


@pytest.mark.parametrize(('address', 'hosts'), [('a.test', ('a.test',)), ('http://a.test:8080, b.test', ('a.test', 'b.test')), (':80', ()), ('https://a.test/x', ('a.test',))])
def test_the_names_of_a_site(address: str, hosts: tuple[str, ...]) -> None:
    (route,) = components(f'{address} {{\n reverse_proxy b:1\n}}\n')
    assert route['hosts'].value == hosts


@pytest.mark.parametrize(
    ('encode', 'packs'),
    [
        ('encode gzip zstd', True), ('encode', True), ('encode /static/* gzip', False), ('encode @plain gzip', False), ('encode {\n  gzip 6\n  minimum_length 256\n }', True),
        ('encode {\n  gzip\n  match {\n   header Content-Type text/*\n   header Content-Type application/json*\n  }\n }', True),
        ('encode {\n  gzip\n  match {\n   header Content-Type text/html*\n   header Content-Type application/json*\n  }\n }', False),
        ('encode {\n  gzip\n  match header Content-Type text/event-stream*\n }', True), ('log', False),
    ],
)  # fmt: skip
def test_what_compresses_event_streams(encode: str, packs: bool) -> None:
    for text in (f'a.test {{\n {encode}\n reverse_proxy b:80\n}}\n', f'a.test {{\n handle /v1/* {{\n  {encode}\n  reverse_proxy b:80\n }}\n}}\n'):
        (route,) = components(text)
        assert route['gzip'].is_set is packs
