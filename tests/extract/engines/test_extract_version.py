"""Where an engine's version comes from."""

from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit.config import read_config
from configaudit.model import Component
from configaudit.result import Result

Read = Callable[..., Component]
Engines = Callable[..., list[Component]]
DOCKERFILE = 'FROM nvidia/cuda:12.8.0-base\n{}\nENTRYPOINT ["vllm", "serve", "/m/x"]\n'
SOME_PATHS = """engine_version: 0.16.0
gpu: H200
overrides:
  - paths: old/
    engine_version: {vllm: 0.8.5}
    gpu: T4
"""
ANNOTATED = """apiVersion: v1
kind: Pod
metadata:
  name: p
  annotations:
    configaudit.io/engine-version: {}
spec:
  containers:
    - name: c
      image: acme/llm:latest
      command: [vllm, serve, /m/x]
"""


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


@pytest.mark.parametrize(
    ('line', 'version', 'found'),
    [
        ('ARG VLLM_VERSION=v0.10.2', '0.10.2', 'build argument VLLM_VERSION=0.10.2'),
        ('ENV VLLM_VERSION "0.10.2"', '0.10.2', 'build argument VLLM_VERSION=0.10.2'),
        ('RUN uv pip install "vllm[audio]==0.10.2"', '0.10.2', 'pip pin vllm==0.10.2'),
        ('COPY docker/requirements.txt /tmp/', '0.9.2', 'pip pin vllm==0.9.2 in docker/requirements.txt'),
        ('RUN pip install llm-vllm==0.1.2', 'None', 'image tag'),
        ('ARG VLLM_VERSION=latest', 'None', 'image tag'),
    ],
)
def test_by_the_image_file(engines: Engines, line: str, version: str, found: str) -> None:
    (one,) = engines({'Dockerfile': DOCKERFILE.format(line), 'docker/requirements.txt': 'torch==2.8.0\nvllm==0.9.2  # pinned\n'})
    assert str(one.version) == version
    assert one.version_from.startswith(found)


@pytest.mark.parametrize(('text', 'version'), [('0.10.2', '0.10.2'), ('v0.9.0', '0.9.0'), ('sglang=0.5.3, vllm=0.8.5', '0.8.5'), ('soon', 'None')])
def test_by_annotation(engines: Engines, text: str, version: str) -> None:
    (one,) = engines({'pod.yaml': ANNOTATED.format(text)})
    assert str(one.version) == version


def test_for_some_paths(run: Callable[..., Result], tmp_path: Path, pod: Callable[..., str]) -> None:
    text = pod('acme/llm:latest', '[vllm, serve, /m/x]')
    files = {'old/pod.yaml': text, 'new/pod.yaml': text.replace('name: p', 'name: q'), 'c.yaml': SOME_PATHS}
    (tmp_path / 'c.yaml').write_text(SOME_PATHS)
    config = read_config(str(tmp_path / 'c.yaml'), trusted=True)
    found = [item for item in run(files, config).components if item.kind.name == 'vllm']
    versions = {item.place.document.path: (str(item.version), item['gpu'].value.name) for item in found}
    assert versions == {'old/pod.yaml': ('0.8.5', 'T4'), 'new/pod.yaml': ('0.16.0', 'H200')}


def test_by_an_annotation_on_the_object(engines: Engines) -> None:
    text = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
  annotations: {configaudit.io/engine-version: 0.9.2, configaudit.io/gpu: H200}
spec:
  template:
    metadata: {annotations: {configaudit.io/gpu: L4}}
    spec:
      containers:
        - {name: c, image: "acme/llm:latest", command: [vllm, serve, /m/x]}
"""
    (one,) = engines({'deployment.yaml': text})
    assert (str(one.version), one.version_from, one['gpu'].value.name) == ('0.9.2', 'annotation', 'L4')


def test_an_annotation_that_says_nothing_is_named(engines: Engines) -> None:
    text = ANNOTATED.format('soon').replace('configaudit.io/engine-version', 'configaudit.io/gpu: H1000\n    configaudit.io/engine-version')
    (one,) = engines({'pod.yaml': text})
    assert one.version_from == "the annotation 'soon' is no version"
    assert one['gpu'].reason == "the annotation 'H1000' names no GPU that is known here"
