"""Fixtures shared by all tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.findings import Finding
from configaudit.places import locate
from configaudit.result import Result

Audit = Callable[..., list[str]]


def show(finding: Finding) -> str:
    """A finding as tests name it: file:line:column rule-id."""
    at = locate(finding.place)
    return f'{at.path}:{at.line}:{at.column} {finding.rule.id}'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Audit texts by file name, as if they were a folder: run({'a.yaml': '...'})."""

    def run_texts(files: dict[str, str], config: Config | None = None) -> Result:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, newline='')
        monkeypatch.chdir(tmp_path)
        result = audit(['.'], config or Config())
        assert [error.message for error in result.errors if error.kind == 'internal'] == []
        return result

    return run_texts


@pytest.fixture
def found(run: Callable[..., Result]) -> Audit:
    """Audit texts and name what one rule (or every rule) finds: 'file:line:column rule-id'."""

    def names(files: dict[str, str], *rules: str, config: Config | None = None) -> list[str]:
        return [show(item) for item in run(files, config).findings if not rules or item.rule.id in rules]

    return names
