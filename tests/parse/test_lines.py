import pytest

from configaudit.parse.entries import Edit
from configaudit.parse.lines import Span, insert_in_block, inside_quotes, lines, logical_lines, outer_span, trim
from configaudit.places import Segment


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def test_only_newlines_end_a_line() -> None:
    text = 'a\u2028b\r\nc\x0bd\n\ne'
    assert [text[start:end] for start, end in lines(text)] == ['a\u2028b', 'c\x0bd', '', 'e']


def test_trim_keeps_wide_blanks() -> None:
    assert trim(' \t\u3000x \r', 0, 6) == (2, 4)


@pytest.mark.parametrize(
    ('text', 'inner'),
    [
        ('"a"', 'a'),
        ("'a b'", 'a b'),
        ('""', ''),
        ('"', '"'),
        ('"a"b"', '"a"b"'),
        (r'"a\"b"', r'a\"b'),
        ('"a\'', '"a\''),
    ],
)
def test_inside_quotes(text: str, inner: str) -> None:
    start, end = inside_quotes(text, 0, len(text))
    assert text[start:end] == inner


def test_logical_lines_keep_offsets() -> None:
    text = 'x=1 \\\r\n# no\r\n  two\r\ny=\\\\\r\n'
    first, second = logical_lines(text, '#')
    assert first.text.split() == ['x=1', 'two']
    assert text[first.start + first.text.index('two') :].startswith('two')
    assert second.text == 'y=\\\\'


def test_outer_span_across_a_joint() -> None:
    segments = (Segment(0, 10, 4), Segment(4, 20, 3))
    assert outer_span(segments, 1, 6) == (11, 22)
    assert outer_span(segments, 4, 7) == (20, 23)
    assert outer_span(segments, 3, 4) == (13, 14)


@pytest.mark.parametrize(
    ('text', 'inner', 'child', 'expected'),
    [
        ('a {\n  b;\n}\n', Span(3, 9), 6, 'a {\n  b;\n  new;\n}\n'),
        ('a {\n}\n', Span(3, 4), None, 'a {\n    new;\n}\n'),
        ('a { b; }', Span(3, 7), 4, 'a { b; new; }'),
        ('a {}', Span(3, 3), None, 'a { new; }'),
    ],
)
def test_insert_in_block(text: str, inner: Span, child: int | None, expected: str) -> None:
    assert applied(text, insert_in_block(text, inner, 'new;', child)) == expected
