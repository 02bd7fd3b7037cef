"""A fix is told in the words of the file that it changes, never in our own names."""

import json
from pathlib import Path

import pytest

from configaudit import cli

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.10.2
      args: %s
"""
GO = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: example/web:1
      env:
        - name: GOMAXPROCS
          value: "64"
      resources: {limits: {cpu: "2"}}
"""
UNIT = '[Service]\nExecStart=/usr/bin/vllm serve m\n'


@pytest.mark.parametrize(('name', 'text', 'rule', 'description'), [
    ('pod.yaml', POD % '[--model=/m, --max-num-seqs=512]', 'vllm-batch-too-wide', 'set --max-num-seqs to 128'),
    ('pod.yaml', POD % '[--model=/m, --max_num_seqs, "512"]', 'vllm-batch-too-wide', 'set --max_num_seqs to 128'),
    ('pod.yaml', POD % '[--model=/m]', 'vllm-batch-unset', 'add --max-num-seqs 128'),
    ('pod.yaml', POD % '[--model=org/m, --trust-remote-code]', 'vllm-trust-remote-code', 'remove --trust-remote-code'),
    ('pod.yaml', POD % '[--model=/m, --max-num-seqs, 64]', 'container-argument-not-string', 'put 64 in quotes'),
    ('pod.yaml', GO, 'gomaxprocs-above-cpu-limit', 'set GOMAXPROCS to 2'),
    ('pod.yaml', GO.replace('- name: GOMAXPROCS\n          value: "64"', '- {name: GOMAXPROCS, value: "64"}'), 'gomaxprocs-above-cpu-limit', 'set GOMAXPROCS to 2'),
    ('config.pbtxt', 'name: "m"\ndynamic_batching { max_queue_delay_microseconds: 90000 }\n', 'batching-window-long', 'set max_queue_delay_microseconds to 30000'),
    ('config.pbtxt', 'name: "m"\ndynamic_batching { preferred_batch_size: [4] }\n', 'triton-preferred-batch-size', 'remove preferred_batch_size'),
    ('sysctl.d/a.conf', 'net.core.somaxconn = 128\n', 'sysctl-somaxconn-low', 'set net.core.somaxconn to 4096'),
    ('vllm.service', UNIT, 'systemd-restart-unset', 'add Restart=on-failure'),
    ('compose.yaml', 'services:\n  a:\n    image: nginx:1.27.3\n', 'compose-nofile-unset', 'add ulimits.nofile: {soft: 65536, hard: 1048576}'),
])  # fmt: skip
def test_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, text: str, rule: str, description: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    cli.run(['check', '-f', 'json', '--no-config', '--select', rule])
    [finding] = json.loads(capsys.readouterr().out)['findings']
    assert finding['fix']['description'].split(': not written')[0] == description
