"""nginx.conf: which value holds at a location, what an include hides, who shares a listener."""

import pytest

from configaudit.extract.services.nginx import read
from configaudit.model import Component, Unknown
from configaudit.places import Document


def components(text: str, kind: str) -> list[Component]:
    return [found for found in read(Document('site.conf', 'nginx', text.encode())).components if found.kind.name == kind]


def one(text: str, kind: str) -> Component:
    (found,) = components(text, kind)
    return found


LOCATION = 'server {{ {server} location / {{ proxy_pass http://{target}; {location} }} }}'


def route(target: str = 'app:80', server: str = '', location: str = '') -> Component:
    return one(LOCATION.format(server=server, target=target, location=location), 'proxy-route')


def test_values_are_inherited_from_the_server() -> None:
    found = route(server='proxy_http_version 1.1; proxy_read_timeout 5m;')
    assert found['protocol_http'].value == '1.1'
    assert found['read_timeout_s'].value == 300
    assert found['send_timeout_s'].origin == 'default'


def test_headers_of_the_server_do_not_hold_where_a_location_sets_one() -> None:
    assert route(server='proxy_set_header Connection "";')['connection'].value == ''
    hidden = route(server='proxy_set_header Connection "";', location='proxy_set_header Host $host;')
    assert (hidden['connection'].value, hidden['connection'].origin) == ('close', 'default')


def test_an_include_beside_a_pass_makes_what_is_missing_unknown() -> None:
    found = route(location='include proxy_params;')
    with pytest.raises(Unknown):
        _ = found['connection'].value
    with pytest.raises(Unknown):
        _ = found['protocol_http'].value


@pytest.mark.parametrize(('header', 'path', 'websocket'), [
    ('"Upgrade"', '/ws/', True), ('"Upgrade"', '/', False), ('"upgrade"', '/v1/socket.io/', True), ('""', '/ws', False),
])  # fmt: skip
def test_websocket_routes(header: str, path: str, websocket: bool) -> None:
    text = f'server {{ location {path} {{ proxy_pass http://a:1; proxy_set_header Upgrade $u; proxy_set_header Connection {header}; }} }}'
    assert one(text, 'proxy-route')['websocket'].value is websocket


@pytest.mark.parametrize(('text', 'upstreams'), [
    ('upstream a { server b:1; } server { location / { proxy_pass http://a; } }', [('a', False)]),
    ('upstream a { server b:1; } server { location / { proxy_pass http://a:80/x; } }', [('a', False), ('a:80', True)]),
    ('server { location / { proxy_pass http://elsewhere; } }', []),
    ('http { server { location / { proxy_pass http://elsewhere; } } }', [('elsewhere', True)]),
    ('http { include conf.d/*.conf; server { location / { proxy_pass http://elsewhere; } } }', []),
    ('server { location / { set $b http://a:1; proxy_pass $b; } }', []),
    ('stream { upstream a { server b:1; } server { listen 1; proxy_pass a; } }', []),
    ('server { location /a { proxy_pass http://x:1/a; } location /b { proxy_pass http://x:1/b; } }', [('x:1', True)]),
])  # fmt: skip
def test_upstreams(text: str, upstreams: list[tuple[str, bool]]) -> None:
    found = [(one.name, one['direct'].value) for one in components(text, 'proxy-upstream')]
    assert found == upstreams


def test_an_upstream_knows_its_routes_and_servers() -> None:
    text = 'upstream a { server b:1; server [::1]:8000 backup; server unix:/run/a.sock; keepalive 8; } server { location / { grpc_pass grpc://a; } }'
    found = one(text, 'proxy-upstream')
    assert found['targets'].value == (('b', '1'), ('[::1]', '8000'), ('unix:/run/a.sock', ''))
    assert (found['keepalive'].value, found['grpc'].value) == (8, 'grpc_pass')
    assert len(found.peers('proxy-route')) == 1


def test_an_upstream_whose_routes_stand_elsewhere_is_open() -> None:
    with pytest.raises(Unknown):
        one('upstream a { server b:1; }', 'proxy-upstream').peers('proxy-route').some()


def test_http2_belongs_to_the_address() -> None:
    text = 'server { listen 443 ssl http2; location / { proxy_pass http://a:1; } } server { listen 443 ssl; listen 8443 ssl; }'
    assert [found['http2'].value for found in components(text, 'proxy-listener')] == [True, True, False]


@pytest.mark.parametrize('switch', ['http { http2 on; server { listen 443 ssl; } }', 'server { http2 on; listen 443 ssl; }'])
def test_http2_by_its_own_directive(switch: str) -> None:
    assert one(switch, 'proxy-listener')['http2'].value is True


def test_the_process() -> None:
    text = 'worker_processes auto; events { worker_connections 4096; } http { limit_conn_zone $server_name zone=s:1m; limit_conn_zone $binary_remote_addr zone=ip:1m; server { limit_conn s 900; limit_conn ip 5000; location / { proxy_pass http://a:1; } } }'
    found = one(text, 'nginx')
    assert (found['worker_connections'].value, found['client_limit'].value, found['proxies'].value) == (4096, 900, True)
    assert not found['worker_nofile'].is_set


def test_a_part_of_a_configuration_is_no_process() -> None:
    assert components('server { listen 80; }', 'nginx') == []


@pytest.mark.parametrize(('own', 'seconds'), [('grpc_read_timeout 9m; proxy_read_timeout 5s;', 540), ('proxy_read_timeout 5s;', 60)])
def test_a_grpc_pass_has_clocks_of_its_own(own: str, seconds: float) -> None:
    (found,) = components(f'server {{ {own} location / {{ grpc_pass grpc://app:50051; }} }}', 'proxy-route')
    assert (found['read_timeout_s'].value, found['protocol_http'].value) == (seconds, '2')
