"""`configaudit graph`: exit statuses, streams, selection, and the same bytes for the same input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from configaudit import cli

ROOT = Path(__file__).parent.parent
SERVICE = 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 1}]}\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / '.git').mkdir()


def graph(*arguments: str, seed: str = '0') -> bytes:
    done = subprocess.run(
        [sys.executable, '-m', 'configaudit', 'graph', '--no-config', *arguments], capture_output=True, cwd=ROOT,
        env={**os.environ, 'PYTHONHASHSEED': seed}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize('form', ['text', 'json', 'mermaid', 'dot'])
def test_the_same_input_gives_the_same_bytes(form: str) -> None:
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / 'examples').rglob('*') if path.is_file())
    first = graph(*files, '--format', form, seed='1')
    assert b'postgres' in first
    assert graph(*reversed(files), '--format', form, '--jobs', '2', seed='77') == first


def test_many_files_give_the_same_bytes() -> None:
    first = graph('fixtures', '--format', 'text', '--all', seed='3')
    assert graph('fixtures', '--format', 'text', '--all', '--jobs', '2', seed='12') == first


def test_findings_do_not_change_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['graph', str(ROOT / 'examples')]) == 0
    assert '✗ error' in capsys.readouterr().out


def test_what_cannot_be_read_is_3(tmp_path: Path) -> None:
    (tmp_path / 'a.yaml').write_text(SERVICE)
    (tmp_path / 'b.yaml').write_text('apiVersion: v1\nkind: Pod\nspec: [\n')
    assert cli.run(['graph', '.', '--all']) == 3


@pytest.mark.parametrize(('arguments', 'word'), [
    (['.', '--around', 'nobody'], '--around nobody'), (['.', '--kind', 'pool'], '--kind pool'), (['.', '--severity', 'error'], '--severity error'),
    (['.'], '--all draws them'), (['empty'], 'nothing to draw'),
])  # fmt: skip
def test_nothing_to_draw_is_4_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str) -> None:
    (tmp_path / 'a.yaml').write_text(SERVICE)
    (tmp_path / 'empty').mkdir()
    assert cli.run(['graph', *arguments]) == 4
    assert word in capsys.readouterr().err


@pytest.mark.parametrize('arguments', [['--kind', 'gizmo'], ['--format', 'png'], ['--severity', 'high'], ['gone.yaml']])
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    assert cli.run(['graph', *arguments]) == 2


def test_svg_without_graphviz_is_2_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv('PATH', '')
    assert cli.run(['graph', str(ROOT / 'examples'), '--format', 'svg']) == 2
    assert 'install Graphviz' in capsys.readouterr().err


def test_output_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['graph', str(ROOT / 'examples'), '-f', 'json', '--output', 'graph.json']) == 0
    assert capsys.readouterr().out == ''
    assert json.loads((tmp_path / 'graph.json').read_text())['schema'] == 1
    assert cli.run(['graph', str(ROOT / 'examples'), '--output', 'gone/graph.txt']) == 2


def test_colour_stays_out_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['graph', str(ROOT / 'examples'), '--color', 'always']) == 0
    assert '\x1b' in capsys.readouterr().out
    assert cli.run(['graph', str(ROOT / 'examples'), '--color', 'always', '--output', 'graph.txt']) == 0
    assert '\x1b' not in (tmp_path / 'graph.txt').read_text()


def test_a_large_flowchart_is_said_to_be_too_large_for_mermaid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = (ROOT / 'examples' / 'vllm' / 'deployment.yaml').read_text()
    for number in range(90):
        (tmp_path / f'{number}.yaml').write_text(one.replace('chat', f'chat-{number}').replace('32768', f'{32768 + number}'))
    assert cli.run(['graph', '.', '-f', 'mermaid']) == 0
    assert 'maxTextSize' in capsys.readouterr().err


def test_the_baseline_takes_findings_off_the_picture(capsys: pytest.CaptureFixture[str]) -> None:
    example = str(ROOT / 'examples' / 'vllm' / 'deployment.yaml')
    assert cli.run(['baseline', 'create', example]) == 0
    capsys.readouterr()
    assert cli.run(['graph', example, '--baseline', '.configaudit-baseline.json']) == 0
    assert 'no finding' in capsys.readouterr().out
