"""The plugin's own test, with configaudit's kit."""

from pathlib import Path

import pytest

from configaudit.config import Config
from configaudit.testkit import Case, cases, check_case

CONFIG = Config(plugins=('house',))
CASES = list(cases(Path(__file__).parent / 'fixtures'))


@pytest.mark.parametrize('case', CASES, ids=str)
def test_case(case: Case, tmp_path: Path) -> None:
    assert check_case(case, tmp_path, CONFIG)
