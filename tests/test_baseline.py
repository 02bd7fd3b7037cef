"""Baselines: what is known stays quiet, what is new or one too many does not, reasons survive."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit import baseline, cli
from configaudit.errors import UsageError
from configaudit.result import Result

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.10.2
      args: [--model=/m, --max-num-seqs=%d]
"""
RULE = 'vllm-batch-too-wide'
SELECT = ['--select', RULE, '--fail-on', 'advice', '--no-config']


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / 'a.yaml').write_text(POD % ('one', 512))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str) -> int:
    return cli.run(['check', *SELECT, '--baseline', baseline.DEFAULT, *arguments])


def create() -> int:
    return cli.run(['baseline', 'create', *SELECT[:2], '--no-config'])


def test_known_findings_are_quiet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['check', *SELECT]) == 1
    assert create() == 0
    assert '.configaudit-baseline.json: 1 finding' in capsys.readouterr().err
    assert check('-f', 'json') == 0
    report = json.loads(capsys.readouterr().out)
    assert report['findings'] == []
    assert [(item['rule'], item['reason']) for item in report['suppressed']] == [(RULE, 'in the baseline')]


def test_the_file_is_sorted_and_readable(folder: Path) -> None:
    (folder / 'b.yaml').write_text(POD % ('two', 600) + '---\n' + POD % ('two', 700))
    create()
    held = json.loads((folder / baseline.DEFAULT).read_text())
    assert held['schema'] == 1
    rows = [(row['rule'], row['object'], row['count']) for row in held['findings']]
    assert rows == [(RULE, 'Pod/one/containers/engine/vllm', 1), (RULE, 'Pod/two/containers/engine/vllm', 2)]
    assert all(len(row['fingerprint']) == 32 for row in held['findings'])


def test_moving_and_rewording_changes_nothing(folder: Path) -> None:
    create()
    (folder / 'deep').mkdir()
    (folder / 'a.yaml').rename(folder / 'deep' / 'z.yaml')
    (folder / 'deep' / 'z.yaml').write_text('# moved\n\n' + POD % ('one', 640))
    assert check() == 0


def test_a_second_copy_is_new(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create()
    (folder / 'copy.yaml').write_text(POD % ('one', 512))
    assert check('-f', 'json') == 1
    report = json.loads(capsys.readouterr().out)
    assert len(report['findings']) == len(report['suppressed']) == 1


def test_another_object_is_new(folder: Path) -> None:
    create()
    (folder / 'a.yaml').write_text(POD % ('other', 512))
    assert check() == 1


def test_stale_entries_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create()
    (folder / 'a.yaml').write_text(POD % ('one', 64))
    assert check() == 0
    assert '1 finding of the baseline gone' in capsys.readouterr().err


def test_no_ignores_leaves_it_out(folder: Path) -> None:
    create()
    assert check('--no-ignores') == 1


def test_the_configuration_may_name_it(folder: Path) -> None:
    create()
    (folder / 'configaudit.yaml').write_text(f'baseline: {baseline.DEFAULT}\nselect: {RULE}\nfail-on: advice\n')
    assert cli.run(['check']) == 0
    (folder / 'sub').mkdir()
    assert cli.run(['check', '--no-config', '--fail-on=advice', '--select', RULE]) == 1


def test_create_does_not_overwrite(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create()
    assert create() == 2
    assert 'baseline update' in capsys.readouterr().err


def test_update_keeps_reasons(folder: Path) -> None:
    (folder / 'b.yaml').write_text(POD % ('two', 600))
    create()
    file = folder / baseline.DEFAULT
    held = json.loads(file.read_text())
    for row in held['findings']:
        row['reason'] = 'swept'
    file.write_text(json.dumps(held))
    (folder / 'b.yaml').write_text(POD % ('three', 600))
    assert cli.run(['baseline', 'update', '--select', RULE, '--no-config']) == 0
    rows = [(row['object'].split('/')[1], row.get('reason')) for row in json.loads(file.read_text())['findings']]
    assert rows == [('one', 'swept'), ('three', None)]
    before = file.read_bytes()
    cli.run(['baseline', 'update', '--select', RULE, '--no-config'])
    assert file.read_bytes() == before


@pytest.mark.parametrize('text', ['', '[]', '{"findings": []}', '{"schema": 1}', '{"schema": 1, "findings": [{"rule": "a"}]}', '[' * 100_000])
def test_a_file_that_is_no_baseline(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (folder / baseline.DEFAULT).write_text(text)
    assert check() == 2
    assert 'not a baseline file' in capsys.readouterr().err


def test_missing_file_and_other_schema(folder: Path) -> None:
    with pytest.raises(UsageError, match='No such file'):
        baseline.read('gone.json')
    (folder / 'b.json').write_text('{"schema": 2, "findings": []}')
    with pytest.raises(UsageError, match='schema 2, not 1'):
        baseline.read('b.json')


def test_entries_survive_writing(run: Callable[..., Result], tmp_path: Path) -> None:
    entries = baseline.entries_of(run({'a.yaml': POD % ('one', 512)}).findings)
    (tmp_path / 'b.json').write_text(baseline.dump(entries))
    assert baseline.read(str(tmp_path / 'b.json')) == entries
    assert len(entries) > 1


def test_nothing_to_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(['baseline', 'create']) == 4
    assert cli.run(['baseline', 'update', '--allow-empty']) == 0
