"""Files that a process opens: keys of mounted ConfigMaps, files of the run that are mounted or named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.fix import apply_fixes
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
Found = Callable[..., list[str]]

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.10.2
"""
KEYS = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: files}
data:
  serve.yaml: |
    model: org/m
    max-num-seqs: 512
  start.sh: |
    #!/bin/bash
    set -e
    exec vllm serve org/m \\
      --max-num-seqs 512
"""
OPTIONS = KEYS.partition('  start.sh')[0]
COMPOSE = """\
services:
  chat:
    image: vllm/vllm-openai:v0.10.2
    command: [--config, /etc/engine/serve.yaml]
    volumes: ["{volume}"]
"""


@pytest.mark.parametrize(
    ('mount', 'volume', 'path'),
    [
        ('{name: f, mountPath: /etc/engine}', '{name: files}', '/etc/engine/serve.yaml'),
        ('{name: f, mountPath: /etc/engine/}', '{name: files}', '/etc/engine/serve.yaml'),
        ('{name: f, mountPath: /own.yaml, subPath: serve.yaml}', '{name: files}', '/own.yaml'),
        ('{name: f, mountPath: /etc/engine}', '{name: files, items: [{key: serve.yaml, path: a/b.yaml}]}', '/etc/engine/a/b.yaml'),
        ('{name: f, mountPath: /b.yaml, subPath: a/b.yaml}', '{name: files, items: [{key: serve.yaml, path: a/b.yaml}]}', '/b.yaml'),
    ],
)
def test_options_of_a_mounted_key(found: Found, mount: str, volume: str, path: str) -> None:
    text = f'{POD}      args: [--config, {path}]\n      volumeMounts: [{mount}]\n  volumes: [{{name: f, configMap: {volume}}}]\n{OPTIONS}'
    assert found({'a.yaml': text}, 'vllm-batch-too-wide') == ['a.yaml:18:19 vllm-batch-too-wide']


def test_a_key_that_is_not_mounted_hides_options(run: Run) -> None:
    text = (
        f'{POD}      args: [--model=/m/x, --config, /etc/engine/other.yaml]\n'
        f'      volumeMounts: [{{name: f, mountPath: /etc/engine}}]\n  volumes: [{{name: f, configMap: {{name: files}}}}]\n{OPTIONS}'
    )
    assert not [item for item in run({'a.yaml': text}).findings if item.rule.id.startswith('vllm-batch')]


@pytest.mark.parametrize('volume', ['./conf:/etc/engine:ro', './conf/serve.yaml:/etc/engine/serve.yaml'])
def test_a_file_that_compose_mounts(found: Found, volume: str) -> None:
    files = {'a/compose.yaml': COMPOSE.format(volume=volume), 'a/conf/serve.yaml': 'max-num-seqs: 512\n', 'b/conf/serve.yaml': 'max-num-seqs: 8\n'}
    assert found(files, 'vllm-batch-too-wide') == ['a/conf/serve.yaml:1:15 vllm-batch-too-wide']


@pytest.mark.parametrize(
    ('name', 'path'), [('run.sh', 'conf/serve.yaml'), ('run.sh', '/opt/conf/serve.yaml'), ('deep/run.sh', '../conf/serve.yaml')]
)
def test_a_file_of_the_tree_that_a_script_names(run: Run, name: str, path: str) -> None:
    folder = 'opt/conf' if path.startswith('/opt') else 'conf'
    result = run({name: f'#!/bin/sh\nvllm serve --config {path}\n', f'{folder}/serve.yaml': '# é\nmax-num-seqs: 512\n'})
    places = [locate(item.place) for item in result.findings if item.rule.id == 'vllm-batch-too-wide']
    assert [(at.path, at.line, at.column) for at in places] == [(f'{folder}/serve.yaml', 2, 15)]
    assert f'{folder}/serve.yaml' not in {item.path for item in result.skipped}


def test_two_files_that_fit_are_no_answer(run: Run) -> None:
    result = run({'run.sh': '#!/bin/sh\nvllm serve --config /c/serve.yaml\n', 'a/c/serve.yaml': 'max-num-seqs: 512\n', 'b/c/serve.yaml': ''})
    assert not [item for item in result.findings if item.rule.id.startswith('vllm-batch')]


def test_the_fix_is_written_into_the_file(run: Run, tmp_path: Path) -> None:
    result = run({'compose.yaml': COMPOSE.format(volume='./conf:/etc/engine'), 'conf/serve.yaml': '# é\nmax-num-seqs: 512 # why\n'})
    apply_fixes([item for item in result.findings if item.rule.id == 'vllm-batch-too-wide'], unsafe=True)
    assert (tmp_path / 'conf/serve.yaml').read_text() == '# é\nmax-num-seqs: 128 # why\n'


@pytest.mark.parametrize('command', ['[bash, /scripts/start.sh]', '[/scripts/start.sh]', '[bash, -e, /scripts/start.sh, extra]'])
def test_a_mounted_script_is_the_container_s_command(run: Run, command: str) -> None:
    text = f'{POD}      command: {command}\n      volumeMounts: [{{name: f, mountPath: /scripts}}]\n  volumes: [{{name: f, configMap: {{name: files}}}}]\n{KEYS}'
    result = run({'a.yaml': text})
    engines = [component for component in result.components if 'engine' in component.kind.traits]
    assert [(str(engine.version), engine.identity) for engine in engines] == [('0.10.2', 'Pod/chat/containers/engine/vllm')]
    at = locate(engines[0]['max_num_seqs'].place)
    assert (at.line, at.column) == (23, 22)
    assert not [component for component in result.components if component.kind.name == 'command']


def test_a_script_that_nobody_starts_stands_by_itself(run: Run) -> None:
    result = run({'a.yaml': KEYS})
    assert [component.identity for component in result.components if 'engine' in component.kind.traits] == ['script/a.yaml/0/vllm']


def test_a_mounted_program_that_is_no_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = KEYS.replace('start.sh', 'start.py').replace('#!/bin/bash', '#!/usr/bin/env python3')
    (tmp_path / 'a.yaml').write_text(
        f'{POD}      command: [/scripts/start.py]\n      volumeMounts: [{{name: f, mountPath: /scripts}}]\n  volumes: [{{name: f, configMap: {{name: files}}}}]\n{text}'
    )
    monkeypatch.chdir(tmp_path)
    assert not [component for component in audit(['.'], Config()).components if 'engine' in component.kind.traits]
