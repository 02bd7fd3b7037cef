"""Kong's declarative configuration: where services lead, and which clock holds."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def routes(result: Result) -> list[Component]:
    return [component for component in result.components if component.kind.name == 'proxy-route']


@pytest.mark.parametrize(
    ('service', 'targets', 'seconds'),
    [
        ('url: http://a.b:8000/x', (('a.b', '8000'),), 60), ('{host: up, port: 81, read_timeout: 900000}', (('up', '81'),), 900), ('{url: "https://a/", read_timeout: "5000"}', (('a', ''),), 5),
    ],
)  # fmt: skip
def test_a_service_is_a_route(run: Run, service: str, targets: tuple[tuple[str, str], ...], seconds: float) -> None:
    (route,) = routes(run({'kong.yml': f'_format_version: "3.0"\nservices:\n  - {service}\n'}))
    assert (route['targets'].value, route['read_timeout_s'].value) == (targets, seconds)


def test_paths_and_names_of_its_routes(run: Run) -> None:
    text = '_format_version: "3.0"\nservices:\n  - url: http://a:1\n    routes:\n      - {paths: [/v1/a], hosts: [x.test]}\n      - {paths: [/v1/b]}\n'
    (route,) = routes(run({'kong.yaml': text}))
    assert (route['path'].value, route['hosts'].value) == ('/v1/a /v1/b', ('x.test',))


def test_a_service_without_an_address_is_left_alone(run: Run) -> None:
    assert routes(run({'kong.yaml': '_format_version: "3.0"\nservices:\n  - name: a\n  - 3\n'})) == []


def test_a_number_that_is_none_is_unknown(run: Run) -> None:
    (route,) = routes(run({'kong.yaml': '_format_version: "3.0"\nservices:\n  - {host: a, read_timeout: 60s}\n'}))
    assert not route['read_timeout_s'].is_known
