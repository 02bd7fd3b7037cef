"""Every rule proves itself: bad is found exactly as expected, its fix makes good of it, good is silent."""

from pathlib import Path

import pytest

from configaudit import registry, testkit
from configaudit.testkit import Case

ROOT = Path(__file__).parent.parent / 'fixtures'
CASES = list(testkit.cases(ROOT))


def test_every_rule_has_a_fixture() -> None:
    assert {rule.id for rule in registry.load().rules} == {case.rule for case in CASES}


@pytest.mark.parametrize('case', CASES, ids=str)
def test_bad_is_found(case: Case) -> None:
    testkit.check_bad(case)


@pytest.mark.parametrize('case', CASES, ids=str)
def test_good_is_silent_and_free_of_errors(case: Case) -> None:
    testkit.check_good(case)


@pytest.mark.parametrize('case', CASES, ids=str)
def test_fix_makes_good_of_bad(case: Case, tmp_path: Path) -> None:
    if not testkit.check_fix(case, tmp_path):
        pytest.skip('this rule offers no edit')
