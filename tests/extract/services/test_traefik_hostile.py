"""Traefik's options in any order and shape: nothing that is written ends the reading."""

import random
from collections.abc import Callable

from configaudit.extract.services.traefik import Origin, dynamic_components, static_components
from configaudit.extract.words import Word
from configaudit.places import Document, Place
from configaudit.result import Result

_PARTS = ('http', 'entrypoints', 'web', 'routers', 'services', 'middlewares', 'serverstransports', 'serverstransport', 'a', 'a[0]', '', 'rule', 'service', 'loadbalancer', 'servers[0]', 'url', 'buffering', 'retry', 'status', 'forwardingtimeouts', 'address', 'transport')
_VALUES = ('', 'a', '1', 'http://', 'http://[::1', 'Host(`', 'Path(`/a`) && Host(`b`', '${X}', 'a@file', '-1', 'x' * 500, '0s', '9m')


def test_any_options_are_read() -> None:
    document = Document('a', 'string', b'x')
    for seed in range(2000):
        rng = random.Random(seed)
        options = {'.'.join(rng.choice(_PARTS) for _ in range(rng.randrange(1, 7))): Word(rng.choice(_VALUES), Place(document, 0, 1)) for _ in range(12)}
        origin = Origin('a')
        assert all(component.name is not None for component in (*static_components(options, origin), *dynamic_components(options, origin)))


def test_any_labels_are_read(run: Callable[..., Result]) -> None:
    rng = random.Random(1)
    for _ in range(40):
        names = ['.'.join(rng.choice(_PARTS) for _ in range(rng.randrange(0, 6))) for _ in range(8)]
        labels = ''.join(f'      - "traefik.http.{name}={rng.choice(_VALUES)}"\n' for name in names)
        assert not run({'compose.yaml': f'services:\n  a:\n    image: a:1\n    labels:\n{labels}'}).errors
