"""Caddyfile: words, quotes, heredocs, blocks, and what is broken."""

import subprocess
import sys

import pytest

from configaudit.parse.caddyfile import Directive, read


def shape(directives: tuple[Directive, ...]) -> list[object]:
    return [([word.text for word in item.words], None if item.block is None else shape(item.block)) for item in directives]


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ('a b # c\n', [(['a', 'b'], None)]),
        ('a {\n\tb c\n}\n', [(['a'], [(['b', 'c'], None)])]),
        ('a, b,\nc {\n}\n', [(['a,', 'b,', 'c'], [])]),
        ('a b \\\n c\n', [(['a', 'b', 'c'], None)]),
        ('a "b \\"c\\" {" `d\n"e"`\n', [(['a', 'b "c" {', 'd\n"e"'], None)]),
        ('a <<END\n x {\n END\nb\n', [(['a', ' x {\n'], None), (['b'], None)]),
        ('{$H:x} {\n\ta {$P}\n}\n', [(['{$H:x}'], [(['a', '{$P}'], None)])]),
        ('{\n\tdebug\n}\n', [([], [(['debug'], None)])]),
        ('a {\n\tb {path} { # d\n\t}\n}', [(['a'], [(['b', '{path}'], [])])]),
        ('a#b {\n}\n', [(['a#b'], [])]),
        ('a { b }\n', [(['a', '{', 'b'], None)]),
        ('a {\r\n\tb c\r\n}\r\n', [(['a'], [(['b', 'c'], None)])]),
    ],
)  # fmt: skip
def test_words_and_blocks(text: str, found: list[object]) -> None:
    assert shape(read(text).directives) == found


def test_places_are_inside_quotes() -> None:
    text = 'a {\n\tb "c d"\n}\n'
    word = read(text).directives[0].block[0].args[0]  # type: ignore[index]
    assert text[word.start : word.end] == 'c d'


@pytest.mark.parametrize(('text', 'message'), [('a {\nb', '{ is not closed'), ('}\n', 'unexpected }'), ('a {\n' * 200, 'nested too deep')])
def test_what_is_broken_is_said(text: str, message: str) -> None:
    assert message in [problem.message for problem in read(text).problems]


_HOSTILE = """
import random, time
from configaudit.parse.caddyfile import read
for seed in range(%d, %d):
    rng = random.Random(seed)
    read(''.join(rng.choice(['{', '}', '\\n', ' ', 'a', '"', '`', '<<A', 'A', '#', '\\\\', '{$B:c}', ',', '\\r', chr(0xFEFF), '(s)', '@m', 'import s']) for _ in range(400)))
start = time.process_time()
for text in ('{\\n' * 50000, 'a { ' * 50000, '<<A\\nx\\n' * 3000, '"a ' * 50000, '`' * 49999, '}' * 50000, 'a,\\n' * 50000, ' ' * 200000):
    read(text)
assert time.process_time() - start < 10
"""


def test_hostile_input_ends_in_time_and_never_ends_the_process() -> None:
    done = subprocess.run([sys.executable, '-c', _HOSTILE % (0, 300)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
