"""`configaudit node`: the command on captured hosts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from configaudit import cli


def host(root: Path, **files: str) -> Path:
    for name, text in {'/proc/sys/net/core/netdev_max_backlog': '1000', **files}.items():
        path = root / name.lstrip('/')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def report(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = cli.run(['node', '-f', 'json', '--no-config', *words])
    return code, json.loads(capsys.readouterr().out)


def test_a_lowered_file_max_is_found_live_and_in_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = host(tmp_path, **{'/proc/sys/fs/file-max': '65536\n', '/etc/sysctl.d/90-inference.conf': 'fs.file-max = 65536\n'})
    code, held = report(capsys, '--sysroot', str(root))
    places = [item['location']['path'] for item in held['findings'] if item['rule'] == 'sysctl-file-max-lowered']
    assert (code, places) == (1, ['/etc/sysctl.d/90-inference.conf', '/proc/sys/fs/file-max'])


def test_a_snapshot_says_the_same_as_the_host_it_was_taken_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = host(tmp_path / 'root', **{'/proc/sys/vm/overcommit_memory': '2\n', '/proc/sys/kernel/pid_max': '32768\n'})
    kept = tmp_path / 'host.tar.gz'
    first = report(capsys, '--sysroot', str(root), '--save', str(kept))
    assert report(capsys, '--snapshot', str(kept)) == first
    assert {item['rule'] for item in first[1]['findings']} >= {'sysctl-pid-max-low', 'sysctl-overcommit-never'}


def test_values_of_a_container_are_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = host(tmp_path, **{'/proc/sys/net/core/somaxconn': '128\n'})
    (root / 'proc/sys/net/core/netdev_max_backlog').unlink()
    code, held = report(capsys, '--sysroot', str(root))
    reasons = {item['rule']: item['reason'] for item in held['not_assessed']}
    assert 'wrong namespace' in reasons['sysctl-somaxconn-low']
    assert code == 0


def test_one_source_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['node', '--sysroot', '/a', '--snapshot', '/b']) == 2
    assert 'exclude one another' in capsys.readouterr().err


def test_an_empty_tree_is_no_clean_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['node', '--no-config', '--sysroot', str(tmp_path)]) == 4
    assert 'nothing of a host was found' in capsys.readouterr().err


def test_a_file_that_could_not_be_read_is_named_and_its_rules_are_not_assessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe stands for a file without permission: root may read everything."""
    root = host(tmp_path, **{'/proc/sys/vm/swappiness': '60'})
    (root / 'var/lib/kubelet').mkdir(parents=True)
    os.mkfifo(root / 'var/lib/kubelet/config.yaml')
    code, held = report(capsys, '--sysroot', str(root))
    assert code == 0
    assert {'path': '/var/lib/kubelet/config.yaml', 'reason': 'no plain file'} in held['skipped']
    reasons = {item['rule']: item['reason'] for item in held['not_assessed']}
    assert '/var/lib/kubelet/config.yaml: no plain file' in reasons['kubelet-pod-pids-unlimited']
    cli.run(['node', '--no-config', '--sysroot', str(root)])
    assert 'not read: /var/lib/kubelet/config.yaml: no plain file' in capsys.readouterr().err
