"""Traefik: the same options in YAML, TOML, flags, labels and objects, and what routes take from middlewares and transports."""

import math
from collections.abc import Callable

import pytest

from configaudit.extract.services.traefik_options import flat_toml, names_below, under
from configaudit.model import Component
from configaudit.places import Document, locate
from configaudit.result import Result

Run = Callable[..., Result]


def of(result: Result, kind: str) -> list[Component]:
    return [component for component in result.components if component.kind.name == kind]


ENTRY = {
    'traefik.yml': 'entryPoints:\n  web:\n    address: ":80"\n    transport:\n      respondingTimeouts:\n        writeTimeout: 90s\n      lifeCycle:\n        graceTimeOut: 42\n',
    'traefik.toml': '[entryPoints.web]\naddress = ":80"\n[entryPoints.web.transport]\nrespondingTimeouts.writeTimeout = "90s"\nlifeCycle.graceTimeOut = 42\n',
    'compose.yaml': 'services:\n  t:\n    image: traefik:v3.1\n    command:\n      - --entryPoints.web.address=:80\n      - --entrypoints.web.transport.respondingTimeouts.writeTimeout=90s\n      - --entrypoints.web.transport.lifecycle.graceTimeOut=42\n',
}


@pytest.mark.parametrize('name', ENTRY)
def test_an_entry_point_is_a_server_however_it_is_written(run: Run, name: str) -> None:
    (server,) = of(run({name: ENTRY[name]}), 'http-server')
    assert (server.name, server['product'].value) == ('web', 'traefik')
    assert (server['write_timeout_s'].value, server['graceful_s'].value) == (90, 42)


@pytest.mark.parametrize(('text', 'write', 'graceful'), [('{}', math.inf, 10), ('{transport: {respondingTimeouts: {writeTimeout: 0}}}', math.inf, 10), ('{transport: {lifeCycle: {graceTimeOut: 0}}}', math.inf, 0)])
def test_what_holds_without_limits(run: Run, text: str, write: float, graceful: float) -> None:
    (server,) = of(run({'traefik.yaml': f'entryPoints:\n  web: {text}\n'}), 'http-server')
    assert (server['write_timeout_s'].value, server['graceful_s'].value) == (write, graceful)


ROUTED = 'http:\n  routers:\n    a:\n      rule: Host(`a.test`) && (Path(`/x`) || PathPrefix("/y"))\n      service: s\n      middlewares: [all@file]\n  services:\n    s:\n      loadBalancer:\n        serversTransport: own\n        servers:\n          - url: http://b:1/\n          - url: h2c://c:2\n'
PARTS = 'http:\n  middlewares:\n    all:\n      chain:\n        middlewares: [held]\n    held:\n      buffering: {}\n  serversTransports:\n    own:\n      forwardingTimeouts:\n        responseHeaderTimeout: 7s\n        idleConnTimeout: 3s\n'


def test_a_route_takes_what_its_chain_and_its_transport_set(run: Run) -> None:
    result = run({'routes.yaml': ROUTED, 'parts.yaml': PARTS})
    (route,), (upstream,) = of(result, 'proxy-route'), of(result, 'proxy-upstream')
    assert (route['path'].value, route['server_name'].value, route['targets'].value) == ('/x /y', 'a.test', (('b', '1'), ('c', '2')))
    assert route['buffering'].value
    assert (route['first_byte_timeout_s'].value, upstream['idle_timeout_s'].value, upstream['protocol_http'].value) == (7, 3, '2')
    assert locate(route['first_byte_timeout_s'].place).path.endswith('parts.yaml')


def test_of_two_middlewares_of_one_name_none_is_guessed(run: Run) -> None:
    (route,) = of(run({'routes.yaml': ROUTED, 'a.yaml': PARTS, 'b.yaml': PARTS}), 'proxy-route')
    assert not route['buffering'].is_set


@pytest.mark.parametrize(
    ('labels', 'targets'),
    [
        ('[traefik.http.routers.r.rule=Host(`a`)]', (('web', '80'),)),
        ('[traefik.http.routers.r.rule=Host(`a`), traefik.http.services.s.loadbalancer.server.port=9]', (('web', '9'),)),
        ('{traefik.http.routers.r.rule: Host(`a`), traefik.http.services.s.loadbalancer.server.port: "9"}', (('web', '9'),)),
        ('[traefik.http.routers.r.rule=Host(`a`), traefik.http.routers.r.service=api@internal]', ()),
        ('[traefik.http.routers.r.rule=Host(`a`), traefik.http.routers.r.service=s, "traefik.http.services.s.loadbalancer.server.port=${P}"]', (('web', '80'),)),
    ],
)  # fmt: skip
def test_a_container_serves_what_its_labels_route(run: Run, labels: str, targets: tuple[tuple[str, str], ...]) -> None:
    (route,) = of(run({'compose.yaml': f'services:\n  web:\n    image: a:1\n    labels: {labels}\n'}), 'proxy-route')
    assert route['targets'].value == targets


def test_objects_name_services_across_namespaces(run: Run) -> None:
    text = 'apiVersion: traefik.io/v1alpha1\nkind: IngressRoute\nmetadata: {name: r, namespace: n}\nspec:\n  routes:\n    - match: PathPrefix(`/a`)\n      services: [{name: s, namespace: m, port: 81}]\n    - match: PathPrefix(`/b`)\n      services: [{name: d, kind: TraefikService}]\n'
    (route,) = of(run({'r.yaml': text}), 'proxy-route')
    assert route['targets'].value == (('s.m', '81'),)


def test_objects_of_another_group_are_left_alone(run: Run) -> None:
    assert of(run({'m.yaml': 'apiVersion: other.test/v1\nkind: Middleware\nmetadata: {name: a}\nspec: {buffering: {}}\n'}), 'proxy-middleware') == []


def test_tables_in_arrays_have_their_index_in_brackets() -> None:
    document = Document('a.toml', 'traefik', b'[http.services.s.loadBalancer]\n[[http.services.s.loadBalancer.servers]]\nurl = "http://a"\n')
    options = flat_toml(document)
    assert options['http.services.s.loadbalancer.servers[0].url'].value == 'http://a'
    assert names_below(options, 'http.services') == ['s']
    assert list(under(options, 'http.services.s.loadbalancer.servers[0]')) == ['url']


def test_routers_to_one_server_share_it(run: Run) -> None:
    text = 'services:\n  web:\n    image: a:1\n    labels:\n      - traefik.http.routers.a.rule=Path(`/a`)\n      - traefik.http.routers.a.service=one\n      - traefik.http.routers.b.rule=Path(`/b`)\n      - traefik.http.routers.b.service=two\n      - traefik.http.services.one.loadbalancer.server.port=9\n      - traefik.http.services.two.loadbalancer.server.port=9\n'
    result = run({'compose.yaml': text})
    (upstream,) = of(result, 'proxy-upstream')
    assert len(upstream.peers('proxy-route')) == 2
