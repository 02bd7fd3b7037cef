"""What the README and the docs tell people to type works, and so do the hooks."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
import yaml

from configaudit import cli
from configaudit.command import group

ROOT = Path(__file__).parent.parent
COMMAND = re.compile(r'(?:^|[|/] *|run: |`)(configaudit (?:check|prelaunch|baseline|rules|explain|init|graph)\b[^`\n|]*)', re.MULTILINE)
FILES = ('README.md', 'CONTRIBUTING.md', *(f'docs/{path.name}' for path in sorted((ROOT / 'docs').glob('*.md'))))
COMMANDS = sorted({
    (name, found.split(' #')[0].strip().rstrip('\\'))
    for name in FILES for found in COMMAND.findall((ROOT / name).read_text()) if '[' not in found
})  # fmt: skip


@pytest.mark.parametrize(('name', 'line'), COMMANDS)
def test_commands_have_the_options_that_they_are_shown_with(name: str, line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command | None = group.main
    context = click.Context(group.main)
    while isinstance(command, click.Group) and words:
        command = command.get_command(context, words.pop(0))
    assert command is not None
    command.make_context(line, words)


def test_commands_are_found() -> None:
    lines = {line for _, line in COMMANDS}
    assert {'configaudit check examples', 'configaudit prelaunch deploy/ --output markdown=launch.md'} <= lines
    assert any(line.startswith('configaudit baseline create') for line in lines)


@pytest.mark.parametrize(('example', 'names', 'status'), [
    (True, ['notes.md'], 0), (True, ['vllm/gateway.yaml', 'notes.md'], 1), (True, ['vllm/gateway.yaml', 'gone.yaml'], 1), (False, ['notes.md'], 0),
])  # fmt: skip
def test_the_hook_reports_on_changed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: bool, names: list[str], status: int
) -> None:
    """A repository without anything to audit must not stop every commit."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / '.git').mkdir()
    (tmp_path / 'notes.md').write_text('# Notes\n')
    if example:
        shutil.copytree(ROOT / 'examples' / 'vllm', tmp_path / 'vllm')
    hook = next(item for item in yaml.safe_load((ROOT / '.pre-commit-hooks.yaml').read_text()) if item['id'] == 'configaudit')
    assert cli.run([*shlex.split(hook['entry'])[1:], *names]) == status


def test_the_whole_repository_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / '.git').mkdir()
    hook = next(item for item in yaml.safe_load((ROOT / '.pre-commit-hooks.yaml').read_text()) if item['id'] == 'configaudit-all')
    assert cli.run(shlex.split(hook['entry'])[1:]) == 0
