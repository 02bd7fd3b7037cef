"""Hostile input: every limit has its message, the rest is audited, nothing crashes, hangs or leaks."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.result import Result

GOOD = """\
apiVersion: v1
kind: Pod
metadata: {name: good}
spec:
  containers:
    - name: e
      image: vllm/vllm-openai:v0.10.2
      args: [--model=/m/x, --max-num-seqs=512]
"""
POD = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n'

CASES: dict[str, bytes | Callable[[], bytes]] = {
    'alias bomb': ('kind: ConfigMap\napiVersion: v1\nx: &a [1]\n' + ''.join(f'y{n}: &b{n} [{", ".join(["*a" if not n else f"*b{n - 1}"] * 9)}]\n' for n in range(30))).encode(),
    'merge bomb': ('kind: Pod\napiVersion: v1\na0: &a0 {k: 1}\n' + ''.join(f'a{n}: &a{n} {{<<: [{", ".join([f"*a{n - 1}"] * 20)}], k{n}: 1}}\n' for n in range(1, 40))).encode(),
    'deep flow sequence': lambda: (POD + '  x: ' + '[' * 10_000).encode(),
    'deep closed flow': lambda: (POD + '  x: ' + '[' * 10_000 + ']' * 10_000).encode(),
    'deep block sequence': lambda: (POD + '  x:\n    ' + '- ' * 10_000 + '1').encode(),
    'deep flow mapping': lambda: (POD + '  x: ' + '{a: ' * 10_000).encode(),
    'deep complex keys': lambda: (POD + '  ' + '? ' * 10_000).encode(),
    'deep block mapping': lambda: ('apiVersion: v1\nkind: Pod\n' + ''.join(' ' * n + f'k{n}:\n' for n in range(2000))).encode(),
    'self reference': (POD + '  a: &x [*x]\n  containers: &c\n    - {name: e, image: vllm/vllm-openai:latest, args: *c}\n').encode(),
    'nul bytes': (POD + '  containers: [{name: "a\0b", image: x}]\n').encode(),
    'invalid utf-8': POD.encode() + b'  containers: [{name: \xff\xfe, image: x}]\n',
    'plain equals sign': (POD + '  x: =\n').encode(),
    'unknown tags': (POD + '  x: !!python/object/apply:os.system ["echo pwned"]\n').encode(),
    'conflict markers': (POD + '<<<<<<< ours\n  a: 1\n=======\n  a: 2\n>>>>>>> theirs\n').encode(),
    'undefined alias': (POD + '  x: *nowhere\n').encode(),
    'one long line': lambda: (POD + '  x: "' + 'a' * 2_000_000 + '"\n').encode(),
    'unclosed action': b'apiVersion: v1\nkind: Pod\nx: {{ .Values.a\n',
    'braces': b'{{' * 50_000,
    'only separators': b'---\n' * 50_000,
}  # fmt: skip


def bytes_of(name: str) -> bytes:
    case = CASES[name]
    return case if isinstance(case, bytes) else case()


@pytest.mark.parametrize('name', CASES)
def test_one_bad_file_hides_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'bad.yaml').write_bytes(bytes_of(name))
    (tmp_path / 'good.yaml').write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    started = time.monotonic()
    result = audit(['.'], Config())
    assert time.monotonic() - started < 10
    assert 'vllm-batch-too-wide' in {item.rule.id for item in result.findings if item.place.outermost().document.path == 'good.yaml'}


@pytest.mark.parametrize('name', ['deep flow sequence', 'deep block sequence', 'nul bytes', 'conflict markers', 'undefined alias', 'deep block mapping'])
def test_what_was_lost_is_said_and_ends_with_3(name: str, tmp_path: Path) -> None:
    (tmp_path / 'bad.yaml').write_bytes(bytes_of(name))
    (tmp_path / 'good.yaml').write_text(GOOD)
    done = subprocess.run([sys.executable, '-m', 'configaudit', 'check', '.', '--no-config'], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert 'bad.yaml' in done.stdout
    assert 'Traceback' not in done.stderr


def test_the_other_documents_of_a_broken_file_are_audited(run: Callable[..., Result]) -> None:
    result = run({'a.yaml': f'{GOOD}---\nkind: Pod\napiVersion: v1\n a: b\n---\n{GOOD.replace("good", "other")}'})
    assert len([item for item in result.findings if item.rule.id == 'vllm-batch-too-wide']) == 2
    assert [(error.line, error.kind) for error in result.errors] == [(12, 'yaml')]


def test_a_huge_document_is_refused_in_little_memory(tmp_path: Path) -> None:
    big = tmp_path / 'big.yaml'
    with open(big, 'wb') as file:
        file.write(b'apiVersion: v1\nkind: ConfigMap\ndata:\n')
        for _ in range(100):
            file.write(b'  k: ' + b'x' * (2**20 - 6) + b'\n')
    (tmp_path / 'good.yaml').write_text(GOOD)
    code = 'import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); from configaudit.__main__ import main; main()'
    done = subprocess.run([sys.executable, '-c', code, 'check', '.', '--no-config'], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert '32 MiB' in done.stdout
    assert 'vllm-batch-too-wide' in done.stdout
    assert resource.RLIMIT_AS


def test_links_in_circles_and_unreadable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'good.yaml').write_text(GOOD)
    (tmp_path / 'loop').symlink_to('.')
    (tmp_path / 'self.yaml').symlink_to('self.yaml')
    (tmp_path / 'dangling.yaml').symlink_to('nowhere.yaml')
    os.mkfifo(tmp_path / 'pipe.yaml')
    monkeypatch.chdir(tmp_path)
    result = audit(['.'], Config())
    assert {error.path for error in result.errors} == {'self.yaml', 'dangling.yaml'}
    assert len({item.place.document.path for item in result.findings}) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason='root reads everything')
def test_a_file_without_permission_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'closed.yaml').write_text(GOOD)
    (tmp_path / 'closed.yaml').chmod(0)
    monkeypatch.chdir(tmp_path)
    assert [error.kind for error in audit(['.'], Config()).errors] == ['unreadable']


def test_utf_16_is_read_and_not_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from configaudit.fix import Refusal, edits_of

    (tmp_path / 'wide.yaml').write_bytes(GOOD.encode('utf-16'))
    monkeypatch.chdir(tmp_path)
    found = [item for item in audit(['.'], Config()).findings if item.rule.id == 'vllm-batch-too-wide']
    assert len(found) == 1
    assert edits_of(found[0]) == Refusal('the file is UTF-16')


@pytest.mark.parametrize(
    ('name', 'text', 'message'),
    [
        ('a.yaml', f'{GOOD}'.replace('args: [', f'args: [{"--served-model-name, m, " * 20_000}'), 'command line over 256 KiB'),
        ('a.yaml', f'{GOOD}'.replace('args: [', f'command: [sh, -c, "{"vllm serve m && " * 20_000} true"]\n      args: ['), 'command line over 256 KiB'),
        ('a.sh', '#!/bin/sh\n' + 'vllm serve m\n' * 50_000, 'script over 512 KiB'),
        ('a.yaml', 'apiVersion: v1\nkind: Pod\nx: [\n---\n' * 3000, '1000 errors in one file'),
    ],
    ids=['arguments', 'script in an argument', 'script', 'errors'],
)
def test_limits_are_said_and_end_with_3(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / 'good.yaml').write_text(GOOD)
    started = time.monotonic()
    done = subprocess.run([sys.executable, '-m', 'configaudit', 'check', '.', '--no-config'], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert time.monotonic() - started < 8
    assert done.returncode == 3
    assert message in done.stdout
    assert 'vllm-batch-too-wide' in done.stdout


def test_a_program_that_its_reader_cannot_take_ends_no_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('tree_sitter_go')
    (tmp_path / 'a.go').write_text('package a\n\nimport "net/http"\n\nvar c = http.Client{Timeout: 1}\n')
    (tmp_path / 'b.conf').write_text('[Service]\nLimitNOFILE=4096 # low\n')
    (tmp_path / 'b.service').write_text('[Service]\nExecStart=/bin/b # says b\n')

    def fails(document: object) -> None:
        raise IndexError('no such child')

    monkeypatch.setattr('configaudit.extract.services.go_code.read', fails)
    monkeypatch.chdir(tmp_path)
    result = audit(['.'], Config())
    assert [(error.path, error.kind, error.fatal) for error in result.errors] == [('a.go', 'internal', True)]
    assert 'systemd-inline-comment' in {finding.rule.id for finding in result.findings}
