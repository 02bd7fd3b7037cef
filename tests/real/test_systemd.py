"""systemd takes the units of the fixtures, and takes a comment behind a value as part of the value."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which('systemd-analyze') is None, reason='the program systemd-analyze is missing'),
]

ROOT = Path(__file__).parents[2] / 'fixtures'
UNITS = sorted(path for path in ROOT.rglob('*.service') if path.is_file())
DROP_INS = sorted(ROOT.rglob('*.service.d/*.conf'))


def _complaints(folder: Path, name: str, text: str, drop_in: str = '') -> str:
    """What systemd says to a unit whose program exists."""
    (folder / name).write_text(re.sub(r'^(ExecStart=)\S+', r'\1/bin/true', text, flags=re.MULTILINE))
    if drop_in:
        (folder / f'{name}.d').mkdir()
        (folder / f'{name}.d' / 'own.conf').write_text(drop_in)
    said = subprocess.run(
        ['systemd-analyze', 'verify', '--man=no', str(folder / name)], capture_output=True, text=True, timeout=30
    )
    assert said.returncode == 0, said.stderr
    return said.stderr


@pytest.mark.parametrize(
    'path', [path for path in UNITS if 'good' in path.parts], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_systemd_has_nothing_to_say_to_a_good_unit(path: Path, tmp_path: Path) -> None:
    assert _complaints(tmp_path, path.name, path.read_text('utf-8')) == ''


@pytest.mark.parametrize('path', DROP_INS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_systemd_has_nothing_to_say_to_a_drop_in(path: Path, tmp_path: Path) -> None:
    name = path.parent.name.removesuffix('.d')
    assert _complaints(tmp_path, name, '[Service]\nExecStart=/bin/true\n', path.read_text('utf-8')) == ''


def test_a_drop_in_is_really_read(tmp_path: Path) -> None:
    said = _complaints(tmp_path, 'docker.service', '[Service]\nExecStart=/bin/true\n', '[Service]\nLimitNOFILE=many\n')
    assert 'many' in said


def test_a_comment_behind_a_value_is_part_of_it(tmp_path: Path) -> None:
    said = _complaints(
        tmp_path, 'router.service', (ROOT / 'systemd-inline-comment/bad/router.service').read_text('utf-8')
    )
    assert "'router   # not root'" in said
