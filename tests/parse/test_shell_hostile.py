"""Hostile scripts: never an exception, no deep recursion, no superlinear time."""

from __future__ import annotations

import random
import sys
import time

import pytest

from configaudit.parse.shell import commands

FRAGMENTS = (
    *'\'"`$\\(){}[];&|<>#=! \n\r\t*@~+-:/\ufffc\x00é\ud800', '$(', '${', '$((', '))', '"$@"', '${A[@]}', 'A=(',
    'A+=', 'A=1 ', ':-', '<<E\n', 'E\n', '<<-', 'if ', 'then ', 'elif ', 'else ', 'fi ', 'for ', 'in ', 'do ',
    'done ', 'while ', 'case ', 'esac ', ';;', 'function ', 'f() ', '[[ ', ']] ', 'eval ', "bash -c '", 'exec ',
    'set -- ', 'shift ', 'read A ', 'export ', 'local ', '$A', '$1', "$'", '\\x', '\\\n', '\r\n', '2>&1 ', '>(',
    'unset A ', 'f ', 'abc ', '$(A)', '$$(A)',
)  # fmt: skip


@pytest.mark.parametrize('seed', range(40))
def test_random_scripts_never_raise(seed: int) -> None:
    chooser = random.Random(seed)
    for _ in range(25):
        text = ''.join(chooser.choices(FRAGMENTS, k=chooser.randrange(1, 120)))
        for command in commands(text, {'A': 'a "b $A'}):
            assert 0 <= command.start <= command.end <= len(text)
            assert command.argv
            for token in command.argv:
                assert 0 <= token.start <= token.end <= len(text), text
                assert ''.join(part.value for part in token.parts) == token.value
                assert not (token.pure and token.reason)


NESTED = [
    '$(', '"$(', '${X:-', '"${X:-', '(', '{ ', 'if ', 'while ', 'for i in a; do ', 'case a in b) ', 'f() { ',
    'f() ', 'function f ', 'eval ', '`', '<(', '> >(', '$((', 'A=(', 'a && ', 'a | ', '! ', '[[ ', 'else ',
]  # fmt: skip


@pytest.mark.parametrize('fragment', NESTED)
def test_nesting_is_capped(fragment: str) -> None:
    depth = len(_frames())
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 600)
    try:
        commands(fragment * 5000)
    finally:
        sys.setrecursionlimit(limit)


def test_chain_of_calls_is_capped() -> None:
    text = ''.join(f'f{number}() {{ f{number + 1}; }}\n' for number in range(3000)) + 'f0\n'
    assert len(commands(text)) == 3001


def test_call_of_itself_ends() -> None:
    assert len(commands('f() { f; x; }; f')) == 3


REPEATED = {
    'plain': ('', 'x --a 1\n'),
    'doubled variable': ('A=aaaaaaaa\n', 'A="$A$A"\n'),
    'accumulated variable': ('', 'A="$A x"\n'),
    'accumulated array': ('', 'A+=(x)\n'),
    'large array': (f'A=({"x " * 20_000})\n', 'c "${A[@]}"\n'),
    'last element': (f'A=({"x " * 20_000})\n', 'c ${A[19999]}\n'),
    'large function': ('f() { ' + ''.join(f'v{number}=1;' for number in range(5_000)) + '}\n', 'f\n'),
    'large script': (f'A="{"a b;" * 20_000}"\n', 'eval "$A"\n'),
    'conditional': ('', 't && A="$A x"\n'),
    'unclosed index': ('', 'a[ '),
    'heredocs': ('', '<<A '),
    'backquotes': ('', '` '),
    'escapes': ('', '\\`'),
}


@pytest.mark.parametrize('name', REPEATED)
def test_time_is_linear(name: str) -> None:
    head, body = REPEATED[name]
    text = head + body * (100_000 // len(body))
    begin = time.process_time()
    commands(text)
    assert time.process_time() - begin < 15


def _frames() -> list[object]:
    found: list[object] = []
    frame = sys._getframe()
    while frame:
        found.append(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return found
