"""Fixing as a whole: fixes that meet at one place, files that cannot be written, diffs that tell no secrets."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from configaudit import cli
from configaudit.audit import audit
from configaudit.config import Config
from configaudit.findings import Error
from configaudit.fix_rounds import fix_all
from configaudit.report.patch import patch
from configaudit.result import Result

ROOT = Path(__file__).parent.parent
FIX = ['check', '--no-config', '--fix', '--unsafe-fixes', '--fail-on', 'never']


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / 'examples', tmp_path / 'examples')
    monkeypatch.chdir(tmp_path)
    return tmp_path / 'examples' / 'vllm' / 'deployment.yaml'


def test_the_shipped_example_is_fixed_into_valid_files(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several blocks are inserted at the end of one mapping and of its parents."""
    assert cli.run(FIX) == 0
    assert ', 0 fixable left' in capsys.readouterr().err
    workload = next(yaml.safe_load_all(example.read_text()))
    pod = workload['spec']['template']['spec']
    container = pod['containers'][0]
    assert [mount['name'] for mount in container['volumeMounts']] == ['models', 'shm']
    assert [volume['name'] for volume in pod['volumes']] == ['models', 'shm']
    assert container['readinessProbe']['httpGet']['port'] == 8000
    assert container['startupProbe']['httpGet']['path'] == '/health'
    assert pod['terminationGracePeriodSeconds'] == 90 + container['lifecycle']['preStop']['sleep']['seconds']
    assert workload['spec']['strategy']['rollingUpdate'] == {'maxSurge': 0}


def test_a_line_at_the_end_of_an_embedded_file_is_a_line_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    conf = 'events {\n  worker_connections 10240;\n}\nhttp {\n  server {\n    location / {\n      proxy_pass http://a:80;\n    }\n  }\n  }\n'
    body = ''.join(f'    {line}\n' for line in conf.splitlines())
    text = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  nginx.conf: |\n{body}  other: x\n'
    (tmp_path / 'a.yaml').write_text(text)
    cli.run([*FIX, '--select', 'nginx-worker-rlimit-unset'])
    fixed = yaml.safe_load((tmp_path / 'a.yaml').read_text())['data']
    assert fixed == {'nginx.conf': conf + 'worker_rlimit_nofile 65536;\n', 'other': 'x'}


def test_fixing_again_changes_nothing_and_the_diff_says_what_fix_does(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = example.read_text()
    assert cli.run(['check', '--no-config', '--diff', '--unsafe-fixes']) == 1
    shown = capsys.readouterr().out
    assert example.read_text() == before
    cli.run(FIX)
    added = [line for line in example.read_text().splitlines() if line not in before.splitlines()]
    assert added
    assert all(f'+{line}\n' in shown for line in added)
    fixed = example.read_text()
    capsys.readouterr()
    cli.run(FIX)
    assert 'fixed 0 findings in 0 files' in capsys.readouterr().err
    assert example.read_text() == fixed


def test_a_flag_that_is_spelled_right_is_not_added_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'run.sh').write_text('docker run vllm/vllm-openai:v0.10.2 --model /m --max-num-seqs 64 --gpu-memory-utilisation 0.8\n')
    cli.run(['check', '--no-config', '--fix', '--unsafe-fixes', '--fail-on', 'never', '--select', 'vllm', 'run.sh'])
    text = (tmp_path / 'run.sh').read_text()
    assert '--gpu-memory-utilization 0.8' in text
    assert text.count('--gpu-memory-utili') == 1


def test_an_edit_that_breaks_its_file_is_taken_back(example: Path) -> None:
    paths = ('examples',)
    path = 'examples/vllm/deployment.yaml'

    def judge(contents: Mapping[str, bytes]) -> Result:
        result = audit(paths, Config(contents=contents))
        broken = (Error(path, 1, 1, 'syntax', 'broken'),) if path in contents else ()
        return result._replace(errors=(*result.errors, *broken))

    fixed = fix_all(audit(paths, Config()), judge, unsafe=True)
    assert sorted(fixed.new) == [f'examples/vllm/{name}' for name in ('90-inference.conf', 'config.pbtxt', 'gateway.yaml')]
    reasons = {reason for finding, reason in fixed.refused if finding.place.document.path == path}
    assert reasons == {'the file could not be read any more after it'}


def test_a_file_that_cannot_be_written_is_said_and_is_3(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, 'Permission denied')

    monkeypatch.setattr(os, 'replace', refuse)
    before = example.read_text()
    assert cli.run(FIX) == 3
    assert 'deployment.yaml: not written: Permission denied' in capsys.readouterr().err
    assert example.read_text() == before
    assert [name for name in os.listdir(example.parent) if name.startswith('.configaudit')] == []


def test_a_diff_tells_no_secrets_and_obeys_no_file() -> None:
    old = 'env:\n- {name: API_TOKEN, value: "hunter2hunter2"}\n- url: "postgres://u:s3cr3t@db/x?pool_max_conns=120"\n# \x1b[2J\u202e \r#\n'
    shown = patch({'a.yaml': old.encode()}, {'a.yaml': old.replace('120', '49').encode()})
    assert not shown.exact
    assert '+- url: "postgres://u:***@db/x?pool_max_conns=49"\n' in shown.text
    for hidden in ('hunter2', 's3cr3t', '\x1b', '\u202e', ' \r#'):
        assert hidden not in shown.text


def test_a_diff_hides_the_values_of_a_secret_object() -> None:
    old = b'kind: Secret\nstringData:\n  plain: s3cr3t\n---\nkind: Pod\nspec:\n  replicas: 1\n'
    shown = patch({'a.yaml': old}, {'a.yaml': old.replace(b': 1', b': 2')})
    assert 's3cr3t' not in shown.text
    assert '-  replicas: 1\n+  replicas: 2\n' in shown.text


@pytest.mark.parametrize('old', [b'a: 1\r\nb: 2\r\n', b'a: 1', b'a: 1\x0bb\n', '\u2028a: 1\n'.encode()])
def test_a_diff_keeps_line_ends(old: bytes) -> None:
    shown = patch({'/etc/a': old}, {'/etc/a': old.replace(b'1', b'3')})
    assert shown.text.startswith('--- a/etc/a\n+++ b/etc/a\n@@ -1')
    assert shown.text.count('\n-') == 1
    assert ('\\ No newline' in shown.text) == (not old.endswith(b'\n'))
    assert ('\r\n' in shown.text) == (b'\r\n' in old)
