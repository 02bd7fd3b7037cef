"""Testing rules by fixtures, for the built-in ones and for plugins: `fixtures/<rule-id>/{bad,good}` and `expected.txt`.

A rule with several cases has folders of that form below its own. Nothing here needs a test framework:
what is wrong is an AssertionError.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from configaudit.audit import audit, audit_node
from configaudit.config import Config
from configaudit.fix_plan import applied, plan
from configaudit.host.archive import load_sysroot
from configaudit.places import locate
from configaudit.result import Result

NOT_RULES = frozenset(('live',))
"""Folders beside the rules' own that hold other things."""


class Case(NamedTuple):
    """One pair of a rule."""

    rule: str
    folder: Path
    name: str

    def __str__(self) -> str:
        return self.name


def cases(root: Path) -> Iterator[Case]:
    """The cases of every rule below a folder, sorted."""
    for rule in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in NOT_RULES):
        folders = [rule] if (rule / 'bad').is_dir() else sorted(path for path in rule.iterdir() if path.is_dir())
        yield from (Case(rule.name, folder, folder.relative_to(root).as_posix()) for folder in folders)


def audit_folder(folder: Path, config: Config = Config()) -> Result:  # noqa: B008 - immutable
    """The result for a folder, with paths relative to it; one that holds /proc or /sys is audited as a host."""
    if is_host(folder):
        return audit_node(load_sysroot(str(folder)), config)
    with _working_in(folder):
        return audit(['.'], config)


def is_host(folder: Path) -> bool:
    """Whether a folder is a captured host."""
    return (folder / 'proc').is_dir() or (folder / 'sys').is_dir()


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def lines(result: Result, rule: str) -> str:
    """What one rule found, a line each: path:line:column severity message."""
    found = [item for item in result.findings if item.rule.id == rule]
    return ''.join(
        f'{at.path}:{at.line}:{at.column} {item.severity} {item.message}\n' for item in found for at in [locate(item.place)]
    )


def check_bad(case: Case, config: Config = Config()) -> None:  # noqa: B008
    """The rule finds in `bad` exactly what `expected.txt` says."""
    found = lines(audit_folder(case.folder / 'bad', config), case.rule)
    _same(found, (case.folder / 'expected.txt').read_text('utf-8'), f'{case.name}: bad is found otherwise than expected.txt says')


def check_good(case: Case, config: Config = Config()) -> None:  # noqa: B008
    """`good` is silent for the rule, free of errors of every rule, and read without a problem."""
    result = audit_folder(case.folder / 'good', config)
    _same(lines(result, case.rule), '', f'{case.name}: good is not silent')
    errors = [f'{item.rule.id}: {item.message}\n' for item in result.findings if item.severity == 'error']
    _same(''.join(errors), '', f'{case.name}: good has errors')
    _same(''.join(f'{item.path}: {item.message}\n' for item in result.errors), '', f'{case.name}: good cannot be read')


def check_fix(case: Case, work: Path, config: Config = Config()) -> bool:  # noqa: B008
    """The rule's fix turns a copy of `bad` in the folder `work` into `good`. False where the rule offers no edit."""
    from configaudit.fix import apply_fixes

    if is_host(case.folder / 'bad'):
        return _check_plan(case, config)
    copy = work / 'bad'
    shutil.copytree(case.folder / 'bad', copy)
    findings = [item for item in audit_folder(copy, config).findings if item.rule.id == case.rule and item.fix]
    if not any(change.slot for item in findings for change in (item.fix.changes if item.fix else ())):
        return False
    with _working_in(copy):
        apply_fixes(findings, unsafe=True)
    good = case.folder / 'good'
    for path in sorted(file for file in good.rglob('*') if file.is_file()):
        name = path.relative_to(good)
        _same((copy / name).read_bytes().decode('latin-1'), path.read_bytes().decode('latin-1'), f'{case.name}: the fix of {name}')
    return True


def _check_plan(case: Case, config: Config) -> bool:
    """What the plan of a host would change silences the rule. False where it changes nothing."""
    snapshot = load_sysroot(str(case.folder / 'bad'))
    planned = plan(item for item in audit_node(snapshot, config).findings if item.rule.id == case.rule)
    _same(lines(audit_node(applied(snapshot, planned), config), case.rule) if planned else '', '', f'{case.name}: the plan leaves')
    return bool(planned)


def check_case(case: Case, work: Path, config: Config = Config()) -> bool:  # noqa: B008
    """All three checks; False where the rule offers no edit."""
    check_bad(case, config)
    check_good(case, config)
    return check_fix(case, work, config)


def _same(found: str, expected: str, what: str) -> None:
    if found != expected:
        import difflib

        difference = difflib.ndiff(expected.splitlines(keepends=True), found.splitlines(keepends=True))
        raise AssertionError(f'{what}:\n{"".join(difference)}')
