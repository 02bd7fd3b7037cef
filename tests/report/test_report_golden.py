"""The whole output of every format for one fixed result. CONFIGAUDIT_GOLDEN=write rewrites the files: read the diff."""

import os
from pathlib import Path

import pytest

from configaudit.report import REPORTERS, Options, render
from configaudit.result import Result

FOLDER = Path(__file__).parent / 'golden'
CASES = {
    **{f'{name}.{ending}': (name, Options()) for name, ending in (
        ('text', 'txt'), ('json', 'json'), ('sarif', 'sarif'), ('github', 'txt'), ('gitlab', 'json'), ('junit', 'xml'), ('markdown', 'md'),
    )},
    'text-verbose.txt': ('text', Options(verbose=True)),
    'text-narrow.txt': ('text', Options(width=60, show_fix=False)),
    'text-color.txt': ('text', Options(color=True)),
}  # fmt: skip


@pytest.mark.parametrize('name', CASES)
def test_output_is_as_pinned(name: str, sample: Result) -> None:
    file = FOLDER / name
    output = render(*CASES[name][:1], sample, CASES[name][1])
    if os.environ.get('CONFIGAUDIT_GOLDEN') == 'write':
        file.write_text(output, encoding='utf-8', newline='')
    assert output == file.read_text(encoding='utf-8')


def test_every_format_is_pinned() -> None:
    assert {name for name, _ in CASES.values()} == set(REPORTERS)
