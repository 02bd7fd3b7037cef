"""The shown source line: carets stand under the span, whatever the line is made of."""

import unicodedata

import pytest

from configaudit.places import Document, Place
from configaudit.report.excerpt import excerpt


def columns(text: str) -> int:
    """The width of a text in a terminal."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in 'WF' else 1 for char in text)


def under(source: str, span: str, width: int = 80, secret: bool = False) -> tuple[str, str]:
    """(the printed line, the part of it above the carets)."""
    document = Document('a.yaml', 'yaml', source.encode('utf-8', 'surrogatepass'))
    start = document.text.index(span)
    cut = excerpt(Place(document, start, start + len(span)), width, secret)
    assert cut is not None
    assert columns(cut.text) <= width
    marked, at = '', 0
    for char in cut.text:
        if cut.start <= at < cut.start + cut.length:
            marked += char
        at += columns(char)
    return cut.text, marked


LINES = {
    'plain': ('a: 512', '512', '512'),
    'tab before': ('\ta:\t512', '512', '512'),
    'wide before': ('名前: 大 512', '512', '512'),
    'wide inside': ('a: 大模型', '大模型', '大模型'),
    'combining': ('e\u0301: 512', '512', '512'),
    'escape before': ('\x1b[31m: 512', '512', '512'),
    'bidi inside': ('a: 5\u202e12', '5\u202e12', '5\\u202e12'),
    'after a byte order mark': ('\ufeffa: 512', '512', '512'),
    'command': ('a: ##[x] 512', '512', '512'),
    'after a secret': ('token: abcdefgh, b: 512', '512', '512'),
}


@pytest.mark.parametrize('name', LINES)
def test_carets_stand_under_the_span(name: str) -> None:
    source, span, expected = LINES[name]
    assert under('x: y\n' + source + '\nz: 1\n' if name != 'after a byte order mark' else source, span)[1] == expected


@pytest.mark.parametrize('width', [20, 30, 79])
def test_long_lines_are_cut_around_the_span(width: int) -> None:
    text, marked = under('x ' * 500 + '512' + ' y' * 500, '512', width)
    assert marked == '512'
    assert text[0] == text[-1] == '…'


def test_a_span_longer_than_the_line_is_cut() -> None:
    text, marked = under('a' * 300, 'a' * 300, 40)
    assert text == marked + '…'


def test_span_over_several_lines_ends_with_the_first() -> None:
    assert under('a: |\n  b\n', '|\n  b')[1] == '|'


def test_secret_span_is_masked_whatever_its_name() -> None:
    assert under('a: hunter2\n', 'hunter2', secret=True) == ('a: ***', '***')


def test_empty_place_has_one_caret() -> None:
    document = Document('a', 'yaml', b'a: b\n')
    cut = excerpt(Place(document, 4, 4), 80)
    assert cut is not None
    assert (cut.start, cut.length) == (4, 1)


@pytest.mark.parametrize('source', ['', '\n', 'x' * 30_000])
def test_nothing_to_show(source: str) -> None:
    assert excerpt(Place(Document('a', 'yaml', source.encode()), 0, 0), 80) is None


def test_carriage_returns_end_lines() -> None:
    assert under('a: 1\r\nb: 512\r\nc: 2\r\n', '512') == ('b: 512', '512')
