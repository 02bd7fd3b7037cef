"""What holds for every fix of every rule, over all fixtures and examples."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import pytest

from configaudit import cli, testkit
from configaudit.audit import audit, audit_node
from configaudit.config import Config
from configaudit.findings import Finding
from configaudit.fix import FileEdit, Refusal, edits_of, splice
from configaudit.fix_plan import applied, plan
from configaudit.fix_rounds import fix_all
from configaudit.host.archive import load_sysroot
from configaudit.result import Result
from configaudit.testkit import Case

ROOT = Path(__file__).parent.parent
CASES = [case for case in testkit.cases(ROOT / 'fixtures') if not testkit.is_host(case.folder / 'bad')]
HOSTS = [case for case in testkit.cases(ROOT / 'fixtures') if testkit.is_host(case.folder / 'bad')]
TRADED = {
    ('vllm-kv-cache-full-precision', 'vllm-kv-cache-fp8-uncalibrated'),  # the side effect, to be measured
    ('argument-flag-and-value-joined', 'vllm-memory-share-unset'),  # only now can the command line be read
    ('grace-shorter-than-generation', 'pre-stop-missing'),  # shown once the period is long enough for it to matter
    ('drain-timeout-exceeds-grace', 'pre-stop-missing'),
}
"""Fixes that are meant to lead to another advice."""


TURNED_DOWN = tuple(f'live/{name}' for name in ('vm.overcommit_memory', 'vm.zone_reclaim_mode', 'vm.swappiness', 'kernel.numa_balancing', 'net.ipv4.tcp_retries2', 'net.ipv4.tcp_slow_start_after_idle'))
"""Parameters that are no ceilings: modes and shares."""


def judged(contents: Mapping[str, bytes]) -> Result:
    return audit(['.'], Config(contents=contents))


def counted(result: Result) -> Counter[str]:
    return Counter(finding.fingerprint for finding in result.findings)


def changed(edits: Iterable[FileEdit]) -> dict[str, bytes]:
    """Path -> content with the edits."""
    paths = {edit.path for edit in edits}
    return {path: splice(Path(path).read_bytes(), [edit for edit in edits if edit.path == path]) for path in paths}


def ceilings(result: Result) -> dict[tuple[str, str], float]:
    """Every limit that may only be raised, with its value."""
    return {
        (component.identity, name): setting.known_value
        for component in result.components
        for name, setting in component.settings.items()
        if name in component.kind.settings and component.kind.settings[name].raise_only
        and setting.is_known and isinstance(setting.known_value, (int, float))
    }  # fmt: skip


def check(finding: Finding, before: Result) -> None:
    """Applied alone, a fix ends its finding, makes no other, keeps every file readable and lowers no ceiling."""
    edits = edits_of(finding)
    if isinstance(edits, Refusal) or not edits:
        return
    contents = changed(edits)
    assert all(contents[path] != Path(path).read_bytes() for path in contents), finding.rule.id
    after = judged(contents)
    was, now = counted(before), counted(after)
    assert now[finding.fingerprint] < was[finding.fingerprint], f'{finding.rule.id} stays'
    more = [item for item in after.findings if now[item.fingerprint] > was[item.fingerprint]]
    assert not [item.message for item in more if (finding.rule.id, item.rule.id) not in TRADED], finding.rule.id
    assert Counter(error.path for error in after.errors) <= Counter(error.path for error in before.errors)
    lower = {key for key, value in ceilings(before).items() if ceilings(after).get(key, value) < value}
    assert not lower, finding.rule.id


@pytest.mark.parametrize('case', CASES, ids=str)
def test_a_fix_alone(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.folder / 'bad')
    before = judged({})
    for finding in before.findings:
        check(finding, before)


@pytest.mark.parametrize('case', HOSTS, ids=str)
def test_the_plan_of_a_host(case: Case) -> None:
    """Carried out alone, the steps of a finding end it, make no other, and lower no ceiling."""
    snapshot = load_sysroot(str(case.folder / 'bad'))
    before = audit_node(snapshot, Config())
    for item in plan(before.findings):
        after = audit_node(applied(snapshot, [item]), Config())
        was, now = counted(before), counted(after)
        assert item.finding.fingerprint not in now, f'{item.finding.rule.id} stays'
        assert not [other.message for other in after.findings if now[other.fingerprint] > was[other.fingerprint]], item.finding.rule.id
        lower = {key for key, value in ceilings(before).items() if ceilings(after).get(key, value) < value}
        assert not {name for name, _ in lower if not name.startswith(TURNED_DOWN)}, item.finding.rule.id


@pytest.mark.parametrize('case', CASES, ids=str)
def test_all_fixes_come_to_an_end(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.folder / 'bad')
    fixed = fix_all(judged({}), judged, unsafe=True)
    again = fix_all(judged(fixed.new), partial(_over, fixed.new), unsafe=True)
    assert again.applied == 0
    assert not {reason for _, reason in fixed.refused} & {'the file could not be read any more after it', 'it overlaps with another fix: run again'}


def _over(base: Mapping[str, bytes], contents: Mapping[str, bytes]) -> Result:
    return judged({**base, **contents})


def test_the_diff_applies_with_patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    program = shutil.which('patch')
    if program is None:
        pytest.skip('patch is not installed')
    shutil.copytree(ROOT / 'examples', tmp_path / 'a')
    crlf = tmp_path / 'a' / 'with space' / 'pod.yaml'
    crlf.parent.mkdir()
    crlf.write_bytes((ROOT / 'fixtures/vllm-batch-too-wide/plain/bad/pod.yaml').read_bytes().rstrip(b'\n').replace(b'\n', b'\r\n'))
    shutil.copytree(tmp_path / 'a', tmp_path / 'b')
    monkeypatch.chdir(tmp_path / 'a')
    assert cli.run(['check', '--no-config', '--diff', '--unsafe-fixes', '.']) == 1
    text = capfdbinary.readouterr().out
    cli.run(['check', '--no-config', '--fix', '--unsafe-fixes', '.'])
    subprocess.run([program, '-p1', '--binary'], input=text, cwd=tmp_path / 'b', check=True)
    for path in (tmp_path / 'a').rglob('*'):
        if path.is_file():
            assert (tmp_path / 'b' / path.relative_to(tmp_path / 'a')).read_bytes() == path.read_bytes(), path
