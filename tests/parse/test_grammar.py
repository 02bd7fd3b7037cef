"""No text ends the process or keeps a grammar for long, whatever its size allows."""

import subprocess
import sys
import time

import pytest

from configaudit.parse.grammar import (
    GRAMMARS,
    MAX_BYTES,
    MAX_CHAIN,
    MAX_NESTING,
    MAX_SECONDS,
    Unreadable,
    first_error,
    tree_of,
)

_WORST = {
    'go': ('case a:', '"\\', 'a(go /*a ', 'a:b,', '`'), 'java': ('a<', 'a ', '"a', '"""', 'a->'), 'kotlin': ('a:', 'fun a()', 'val a=', 'a?', 'a<', '"""'),
    'javascript': ('a=a=/\n${', 'a=if(a)async ', '"a', 'a,'), 'typescript': ('type A=', 'a<', '"a', '<a>'), 'tsx': ('<a>', 'a<', '<a b=', '{a}'),
    'rust': ('a<', '"a', "'a", 'a!(', '|a|'), 'terraform': ('${', '<<A\n', '"a', 'a=', '/*'),
}  # fmt: skip
"""Pieces of text that, repeated, took seconds to minutes without limits."""
_PARSE = """
import sys
from configaudit.parse.grammar import Unreadable, tree_of
try:
    tree_of(sys.argv[1], sys.stdin.buffer.read())
except Unreadable:
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(('form', 'piece'), [(form, piece) for form, pieces in _WORST.items() for piece in pieces])
def test_the_worst_texts_end_in_time(form: str, piece: str) -> None:
    pytest.importorskip(GRAMMARS[form].package)
    data = (piece * (MAX_BYTES // len(piece))).encode()
    done = subprocess.run([sys.executable, '-c', _PARSE, form], input=data, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.parametrize('form', GRAMMARS)
@pytest.mark.parametrize(
    ('text', 'reason'),
    [('x' * (MAX_BYTES + 1), 'KiB'), ('(' * (MAX_NESTING + 1), 'nest'), ('"' + '(' * (MAX_NESTING + 1), 'nest'), ('a<' * (MAX_CHAIN + 1), 'angle brackets')],
)  # fmt: skip
def test_what_a_parser_is_not_given(form: str, text: str, reason: str) -> None:
    pytest.importorskip(GRAMMARS[form].package)
    with pytest.raises(Unreadable, match=reason):
        tree_of(form, text.encode())


def test_a_grammar_that_takes_too_long_is_stopped() -> None:
    pytest.importorskip('tree_sitter_go')
    started = time.thread_time()
    with pytest.raises(Unreadable, match='needs more than'):
        tree_of('go', b'case a:' * 36_000)
    assert time.thread_time() - started < 4 * MAX_SECONDS


@pytest.mark.parametrize(('form', 'text'), [('go', 'package a\n\nvar s = `' + '(' * 300 + '`\n'), ('java', 'class A { String s = "' + '(' * 300 + '"; }'), ('terraform', 'a = <<X\n' + '(' * 300 + '\nX\n')])
def test_brackets_in_literals_do_not_count(form: str, text: str) -> None:
    pytest.importorskip(GRAMMARS[form].package)
    assert first_error(form, text.encode()) is None
