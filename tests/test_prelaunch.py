"""The launch document: ten items, four outcomes, and the gate."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit import cli
from configaudit.config import Config
from configaudit.findings import NotAssessed
from configaudit.prelaunch import ITEMS, assess
from configaudit.result import Result

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:%s
      args: [--model=/m, --max-num-seqs=%d, --gpu-memory-utilization=0.85]  # configaudit: ignore[vllm-batch-too-wide] x
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / 'pod.yaml').write_text(POD % ('v0.10.2', 512))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcomes(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, str]]:
    status = cli.run(['prelaunch', '-f', 'json', *arguments])
    return status, {item['tag']: item['outcome'] for item in json.loads(capsys.readouterr().out)['items']}


def test_ten_items_each_with_its_words() -> None:
    assert [item.tag for item in ITEMS] == [f'july-{number}' for number in range(1, 11)]
    for item in ITEMS:
        assert all(item), item.tag


def test_outcomes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = outcomes(capsys)
    assert status == 1
    assert found['july-1'] == 'fail'
    assert found['july-2'] == 'pass'
    assert found['july-9'] == 'not applicable'
    (folder / 'pod.yaml').write_text(POD % ('v0.10.2', 64))
    assert outcomes(capsys)[1]['july-1'] == 'pass'
    (folder / 'pod.yaml').write_text((POD % ('v0.10.2', 64)).replace('=64', '=$(SEQS)'))
    assert outcomes(capsys)[1]['july-1'] == 'not assessed'


def test_suppressions_do_not_open_the_gate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcomes(capsys)[1]['july-1'] == 'fail'
    assert outcomes(capsys, '--ignores')[1]['july-1'] != 'fail'


def with_outcomes(result: Result, **changes: object) -> dict[str, str]:
    changed = result._replace(findings=(), not_assessed=(), passed={}, not_applicable={})._replace(**changes)  # type: ignore[arg-type]
    return {answer.item.tag: answer.outcome for answer in assess(changed).answers}


def test_pass_needs_a_rule_that_passed(run: Callable[..., Result]) -> None:
    result = run({'pod.yaml': POD % ('v0.10.2', 512)}, Config(ignores=False))
    [batch] = [item for item in result.registry.rules if item.id == 'vllm-batch-too-wide']
    batch = batch._replace(severity='advice')
    open_one = NotAssessed(batch, result.components[0], 'a template')
    assert with_outcomes(result)['july-1'] == 'not applicable'
    assert with_outcomes(result, not_assessed=(open_one,))['july-1'] == 'not assessed'
    assert with_outcomes(result, not_assessed=(open_one,), passed={batch.id: 1})['july-1'] == 'pass'
    severe = open_one._replace(rule=batch._replace(severity='warning'))
    assert with_outcomes(result, not_assessed=(severe,), passed={batch.id: 1})['july-1'] == 'not assessed'
    assert with_outcomes(result, findings=result.findings, passed={batch.id: 1})['july-1'] == 'fail'
    assert with_outcomes(result, passed={'another-rule': 1})['july-1'] == 'not applicable'


GATE = """\
from configaudit.model import NotApplicable, Problem, Unknown, rule

@rule('gate-probe', on='vllm', severity={severity!r}, source='test', checklist={checklist!r})
def probe(engine):
    '''A rule that {does}.'''
    {does}
    yield
"""


@pytest.mark.parametrize(('severity', 'checklist', 'does', 'arguments', 'status'), [
    ('advice', 'july-4', 'yield Problem(engine.place, "x")', (), 1),
    ('advice', 'july-4', 'yield Problem(engine.place, "x")', ('--fail-on', 'warning'), 0),
    ('advice', 'july-4', 'yield Problem(engine.place, "x")', ('--fail-on', 'never'), 0),
    ('warning', 'july-4', 'raise Unknown("unseen")', (), 1),
    ('warning', 'july-4', 'raise Unknown("unseen")', ('--no-strict',), 0),
    ('advice', 'july-4', 'raise Unknown("unseen")', (), 0),
    ('warning', '', 'raise Unknown("unseen")', (), 0),
    ('error', '', 'yield Problem(engine.place, "x")', (), 1),
    ('warning', '', 'yield Problem(engine.place, "x")', (), 0),
    ('error', 'july-4', 'raise NotApplicable("no")', (), 0),
])  # fmt: skip
def test_the_gate(folder: Path, severity: str, checklist: str, does: str, arguments: tuple[str, ...], status: int) -> None:
    text = GATE.format(severity=severity, checklist=(checklist,) if checklist else (), does=does).replace('yield\n', 'return\n')
    (folder / 'probe.py').write_text(text if 'yield' in does else text.replace('    return\n', '    yield\n'))
    assert cli.run(['prelaunch', '--rules', 'probe.py', '--select', 'gate-probe', *arguments]) == status


def test_nothing_to_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(['prelaunch']) == 4
    assert cli.run(['prelaunch', '--allow-empty']) == 0


def test_what_cannot_be_read_closes_the_gate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'broken.yaml').write_text('apiVersion: v1\nkind: Pod\nspec: [\n')
    assert cli.run(['prelaunch']) == 3
    said = capsys.readouterr().out
    assert 'Gate closed, because something could not be audited: ' in said
    assert 'Not audited: broken.yaml:4: ' in said


def test_the_document_in_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['prelaunch', '--output', 'markdown=launch.md', '--output', 'json=launch.json']) == 1
    assert capsys.readouterr().out.splitlines()[1].startswith('Gate closed: ')
    assert (folder / 'launch.md').read_text().startswith('# Launch checklist\n\n**Gate closed**: ')
    assert json.loads((folder / 'launch.json').read_text())['gate'] == 'closed'
    assert cli.run(['prelaunch', '--output', 'sarif=launch.sarif']) == 2
    assert 'with a format of text, markdown, json' in capsys.readouterr().err


def test_text_and_markdown_say_what_the_json_says(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(['prelaunch', '-f', 'text'])
    text = capsys.readouterr().out
    cli.run(['prelaunch', '-f', 'markdown'])
    markdown = capsys.readouterr().out
    for item in ITEMS:
        assert item.title in text
        assert item.title.split(':')[0].replace('-', '\\-') in markdown
    assert ' 1. FAIL  Batch width' in text
    assert 'pod.yaml:8:' in text
    assert 'side effect: peak throughput about -15 %' in text
    assert '| **fail** |' in markdown


def test_content_of_files_is_escaped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'pod.yaml').write_text((POD % ('v0.10.2', 512)).replace('name: chat', 'name: "<b>x\\e[31m"'))
    for form in ('text', 'markdown', 'json'):
        cli.run(['prelaunch', '-f', form])
        out = capsys.readouterr().out
        assert '\x1b' not in out
        assert form != 'markdown' or '<b>' not in out


