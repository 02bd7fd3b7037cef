"""A `check` that is read without click means what click makes of it."""

import click
import pytest

from configaudit.command import quick
from configaudit.command.check import command
from configaudit.command.checking import OPTIONS

PLAIN = (
    '',
    '.',
    'a b -',
    '-f json a',
    '--format=sarif a b',
    'a --format github --no-config --fail-on never',
    '--select vllm --select=db,http a --ignore x',
    '-j 4 -v --strict a',
    '--report-only a b --fix',
    '--diff --unsafe-fixes --gpu H100 --engine-version vllm=0.10.2 a',
    '--output sarif=a.sarif --output json=b.json --today 2026-01-01',
    '--config c.yaml --rules r --baseline= --color never',
)
FOR_CLICK = ('--help', '-h', '--fromat json', '-f', '-f nothing', '-fjson', '-vj4', '-v=1', '--verbose=1', '-j -1', '-j x', '-- -a', '--gpu -x', '--no')


@pytest.mark.parametrize('line', PLAIN)
def test_a_plain_line_is_read_as_click_reads_it(line: str) -> None:
    context = click.Context(command)
    command.parse_args(context, line.split())
    expected = dict(context.params)
    assert quick.read(line.split(), OPTIONS) == (expected.pop('paths'), expected)


@pytest.mark.parametrize('line', FOR_CLICK)
def test_anything_else_is_left_to_click(line: str) -> None:
    assert quick.read(line.split(), OPTIONS) is None


def test_the_lines_try_every_kind_of_option() -> None:
    assert {option.key for option in OPTIONS} == {item.name for item in command.params} - {'paths'}
