"""Where an engine's version comes from."""

from collections.abc import Callable

import pytest

from configaudit.model import Component

Read = Callable[..., Component]
Engines = Callable[..., list[Component]]


@pytest.mark.parametrize(
    ('image', 'version', 'found'),
    [
        ('vllm/vllm-openai:v0.10.2', '0.10.2', 'image tag v0.10.2'),
        ('vllm/vllm-openai:latest', 'None', "the tag 'latest' moves"),
        ('vllm/vllm-openai@sha256:' + 'a' * 64, 'None', 'pinned by digest, which names no version'),
        ('vllm/vllm-openai', 'None', 'no tag: the registry serves latest'),
    ],
)
def test_by_image(engine: Read, image: str, version: str, found: str) -> None:
    one = engine(image, '', '[--model=/m/x]')
    assert (str(one.version), one.version_from) == (version, found)


def test_by_pip_pin_in_the_script(engines: Engines) -> None:
    (one,) = engines({'serve.sh': '#!/bin/sh\npip install "vllm==0.9.2"\nvllm serve /m/x\n'})
    assert (str(one.version), one.version_from) == ('0.9.2', 'pip pin vllm==0.9.2')


def test_newer_than_the_data_is_said(engine: Read) -> None:
    assert engine('vllm/vllm-openai:v0.99.0', '', '[--model=/m/x]').note.startswith('newer than the data')
