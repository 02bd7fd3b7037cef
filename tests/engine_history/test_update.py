"""The command, with an index and releases made here."""

import json
from pathlib import Path

import pytest

from configaudit.knowledge.versions import release
from tools.engine_history import __main__ as command
from tools.engine_history.index import Release

from .samples import OLD, SGLANG_OLD

LATER = {**OLD, 'vllm/scripts.py': OLD['vllm/scripts.py'].replace('"--config"', '"--config-file"').replace('default=""', 'default="x"')}
PUBLISHED = {'0.6.0': OLD, '0.6.1': OLD, '0.7.0': LATER}


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Puts releases of vLLM where the index would be; the names of those that are read."""
    asked: list[str] = []

    def sources(engine: str, one: Release, folder: Path) -> dict[str, str]:
        asked.append(one.name)
        if one.name == '0.7.0' and 'broken' in folder.name:
            raise OSError('no answer')
        return PUBLISHED[one.name]

    monkeypatch.setattr(command, 'fetch', lambda project: [])
    monkeypatch.setattr(command, 'releases', lambda files, since: [Release(name, release(name), ()) for name in PUBLISHED])
    monkeypatch.setattr(command, 'sources', sources)
    return asked


def run(folder: Path, *more: str) -> int:
    return command.main(['update', '--engine', 'vllm', '--output', str(folder), *more])


def test_only_what_is_new_is_read(published: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, '--release', '0.6.0') == 0
    assert published == ['0.6.0']
    capsys.readouterr()
    assert run(tmp_path) == 0
    assert published == ['0.6.0', '0.6.1', '0.7.0']
    assert capsys.readouterr().out == "== 0.6.1\nno change\n== 0.7.0\n+ flag --config-file\n- flag --config\n"
    found = json.loads((tmp_path / 'vllm.json').read_text())
    assert found['versions'] == ['0.6.0', '0.6.1', '0.7.0']
    assert [(each['first'], each['last']) for each in found['flags']['--config']] == [('0.6.0', '0.6.1')]
    before = (tmp_path / 'vllm.json').read_bytes()
    assert run(tmp_path) == 0
    assert (tmp_path / 'vllm.json').read_bytes() == before
    assert run(tmp_path, '--rebuild') == 0
    assert (tmp_path / 'vllm.json').read_bytes() == before


def test_no_prose_is_written(published: list[str], tmp_path: Path) -> None:
    run(tmp_path)
    text = (tmp_path / 'vllm.json').read_text()
    assert 'Name of the model' not in text
    assert 'help' not in text


def test_a_release_that_cannot_be_read_is_told_and_the_rest_is_written(published: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, '--cache', str(tmp_path / 'broken')) == 1
    assert '0.7.0: no answer' in capsys.readouterr().err
    assert json.loads((tmp_path / 'vllm.json').read_text())['versions'] == ['0.6.0', '0.6.1']


def test_an_unknown_release(published: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, '--release', '9.9.9') == 1
    assert 'not in the index' in capsys.readouterr().err


def test_the_other_engine(published: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, 'sources', lambda engine, one, folder: SGLANG_OLD)
    assert command.main(['update', '--engine', 'sglang', '--output', str(tmp_path)]) == 0
    found = json.loads((tmp_path / 'sglang.json').read_text())
    assert sorted(found['flags']) == ['--model-path', '--schedule-policy', '--tensor-parallel-size']
