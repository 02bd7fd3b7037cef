"""Compose's variables and command strings: every word with the text that spells it."""

import random

import pytest

from configaudit.extract.carriers.interpolation import interpolate, split
from configaudit.extract.words import Word
from configaudit.places import Document, Place, locate
from configaudit.units import HOLE


def word(text: str) -> Word:
    return Word(text, Place(Document('c', 'string', text.encode()), 0, len(text)))


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('a  b\tc\n', ['a', 'b', 'c']),
        ('--x "a b" \'c d\' e\\ f', ['--x', 'a b', 'c d', 'e f']),
        ('--a="b c"d ""', ['--a=b cd', '']),
        ('"a\\"b" \'a\\b\'', ['a"b', 'a\\b']),
        ('--n ${N:-3} ${E:-} --m', ['--n', '3', '--m']),
        ('${BOTH:---a 1} z', ['--a', '1', 'z']),
        ('$$HOME ${A:-${B-c}}', ['$HOME', 'c']),
        ('--seqs ${SEQS} ${X:?no}', ['--seqs', HOLE, HOLE]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [found.value for found in split(word(text), {})] == words


@pytest.mark.parametrize(
    ('text', 'number', 'spelled', 'pure'),
    [
        ('--n ${N:-3}', 1, '3', True),
        ("--n '4'", 1, '4', True),
        ('--n=${N:-3}', 0, '3', True),
        ('a${N:-3}b', 0, 'a3b', False),
    ],
)
def test_places(text: str, number: int, spelled: str, pure: bool) -> None:
    found = split(word(text), {})[number]
    value = found.tail or found
    assert (value.place.text, value.pure) == (spelled, pure)


def test_a_value_from_elsewhere_keeps_its_place() -> None:
    elsewhere = word('N=17')
    given = {'N': Word('17', elsewhere.place.part(2, 4))}
    found = split(word('--n ${N:-3}'), given)[1]
    assert (found.value, found.place, found.use is not None) == ('17', given['N'].place, True)


def test_joined_text_leads_back_to_its_parts() -> None:
    found = interpolate(word('x-${N:-345}-y'), {})
    assert found.value == 'x-345-y'
    at = locate(found.place.part(2, 5))
    assert (at.column, at.end_column) == (8, 12)


def test_any_text_is_read() -> None:
    generator = random.Random(7)
    for _ in range(3000):
        text = ''.join(generator.choices('${}:-+?\'"\\ =ab\n', k=generator.randrange(1, 14)))
        for found in (interpolate(word(text), {'a': word('v')}), *split(word(text), {'a': word('v')})):
            locate(found.place)
