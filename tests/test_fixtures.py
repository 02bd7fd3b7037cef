"""Every rule proves itself: bad is found exactly as expected, its fix makes good of it, good is silent."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from configaudit import registry
from configaudit.audit import Result, audit
from configaudit.config import Config
from configaudit.places import locate

ROOT = Path(__file__).parent.parent / 'fixtures'


class Case(NamedTuple):
    """One pair of a rule."""

    rule: str
    folder: Path

    @property
    def name(self) -> str:
        return str(self.folder.relative_to(ROOT))


def cases() -> Iterator[Case]:
    for rule in sorted(path for path in ROOT.iterdir() if path.is_dir() and path.name != 'live'):
        folders = [rule] if (rule / 'bad').is_dir() else sorted(path for path in rule.iterdir() if path.is_dir())
        yield from (Case(rule.name, folder) for folder in folders)


CASES = list(cases())


def audit_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.chdir(folder)
    return audit(['.'], Config())


def lines(result: Result, rule: str) -> str:
    """What one rule found, a line each: file:line:column severity message."""
    found = [item for item in result.findings if item.rule.id == rule]
    return ''.join(
        f'{at.path}:{at.line}:{at.column} {item.severity} {item.message}\n' for item in found for at in [locate(item.place)]
    )


def test_every_rule_has_a_fixture() -> None:
    assert {rule.id for rule in registry.load().rules} == {case.rule for case in CASES}


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.name)
def test_bad_is_found(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines(audit_folder(case.folder / 'bad', monkeypatch), case.rule) == (case.folder / 'expected.txt').read_text()


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.name)
def test_good_is_silent_and_free_of_errors(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    result = audit_folder(case.folder / 'good', monkeypatch)
    assert lines(result, case.rule) == ''
    assert [f'{item.rule.id}: {item.message}' for item in result.findings if item.severity == 'error'] == []
    assert result.errors == ()


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.name)
def test_fix_makes_good_of_bad(case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from configaudit.fix import apply_fixes

    work = tmp_path / 'work'
    shutil.copytree(case.folder / 'bad', work)
    findings = [item for item in audit_folder(work, monkeypatch).findings if item.rule.id == case.rule and item.fix]
    if not any(change.slot for item in findings for change in (item.fix.changes if item.fix else ())):
        pytest.skip('this rule offers no edit')
    apply_fixes(findings, unsafe=True)
    for path in sorted((case.folder / 'good').rglob('*')):
        if path.is_file():
            assert (work / path.relative_to(case.folder / 'good')).read_bytes() == path.read_bytes()
