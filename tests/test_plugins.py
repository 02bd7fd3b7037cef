"""Rules from outside: packages by entry point, files by --rules; and the worked example of the docs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from configaudit import cli
from configaudit.config import Config
from configaudit.errors import UsageError
from configaudit.registry import load

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / 'tests' / 'plugin_example'
RULE = 'house-batch-odd'


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example package as an installer would leave it."""
    info = tmp_path / 'site' / 'house_rules-1.0.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n')
    table = re.search(r'\[project\.entry-points\."(.+)"\]\n(\w+) = "(\w+)"', (EXAMPLE / 'pyproject.toml').read_text())
    assert table is not None
    (info / 'entry_points.txt').write_text(f'[{table[1]}]\n{table[2]} = {table[3]}\n')
    monkeypatch.syspath_prepend(str(info.parent))
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.delitem(sys.modules, 'house_rules', raising=False)


def audit_bad(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    monkeypatch.chdir(EXAMPLE / 'fixtures' / RULE / 'bad')
    status = cli.run(['check', '--fail-on=advice', '--select', RULE, *arguments])
    return status, capsys.readouterr().out


@pytest.mark.usefixtures('installed')
def test_a_named_plugin_is_loaded(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / 'c.yaml').write_text('plugins: [house]\nrules: {house-batch-odd: {multiple: 4}}\n')
    status, out = audit_bad(capsys, monkeypatch, '--config', str(tmp_path / 'c.yaml'))
    assert status == 1
    assert '90 sequences are no multiple of 4' in out


@pytest.mark.usefixtures('installed')
def test_a_plugin_that_nobody_names_is_not_loaded(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, _ = audit_bad(capsys, monkeypatch, '--no-config')
    assert status == 2
    assert 'house_rules' not in sys.modules


def test_a_plugin_that_is_not_installed_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="plugin 'nowhere' is not installed"):
        load((), ('nowhere',))


def test_a_file_of_rules(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, out = audit_bad(capsys, monkeypatch, '--no-config', '--rules', str(EXAMPLE / 'house_rules.py'))
    assert status == 1
    assert '90 sequences are no multiple of 8' in out


@pytest.mark.parametrize(('text', 'status', 'message'), [
    ('x = 1\n', 0, ''),
    ('raise ValueError("broken")\n', 3, 'ValueError: broken (a.py:1'),
    (None, 2, 'a.py: No such file'),
])  # fmt: skip
def test_a_file_that_is_no_module_of_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str | None, status: int, message: str
) -> None:
    if text is not None:
        (tmp_path / 'a.py').write_text(text)
    monkeypatch.chdir(EXAMPLE / 'fixtures' / RULE / 'bad')
    assert cli.run(['check', '--fail-on', 'never', '--rules', str(tmp_path / 'a.py')]) == status
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures('installed')
def test_explain_and_rules_know_plugins(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['explain', RULE, '--plugin', 'house']) == 0
    assert 'A batch width that is no multiple of 8' in capsys.readouterr().out
    assert cli.run(['rules', '--plugin', 'house', '--select', 'house']) == 0
    assert capsys.readouterr().out.startswith('house-batch-odd  advice')


def test_the_audited_tree_cannot_name_files_of_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / 'evil.py').write_text('open("ran", "w")\n')
    (tmp_path / 'configaudit.yaml').write_text('rule-files: [evil.py]\n')
    monkeypatch.chdir(tmp_path)
    assert cli.run(['check']) == 2
    assert not (tmp_path / 'ran').exists()
    assert 'rule-files counts only' in capsys.readouterr().err


def test_two_rules_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / 'a.py').write_text((EXAMPLE / 'house_rules.py').read_text().replace(RULE, 'vllm-batch-too-wide'))
    with pytest.raises(UsageError, match='two rules are called vllm-batch-too-wide'):
        load(None, Config().plugins, (str(tmp_path / 'a.py'),))


def test_the_docs_show_the_example_as_it_is() -> None:
    blocks = re.findall(r'```python\n(.*?)```', (ROOT / 'docs' / 'plugins.md').read_text(), re.DOTALL)
    for name, block in zip(('house_rules.py', 'test_house_rules.py'), blocks, strict=True):
        assert block in (EXAMPLE / name).read_text()


def test_the_example_tests_itself() -> None:
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir', str(EXAMPLE), '-c', '/dev/null', str(EXAMPLE)]
    assert subprocess.run(command, capture_output=True, text=True, cwd=EXAMPLE).returncode == 0
