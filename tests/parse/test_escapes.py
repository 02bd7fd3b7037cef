import pytest

from configaudit.parse.escapes import unescape, well_formed, without_surrogates


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        (r'a\tb', 'a\tb'),
        (r'\x41\102\u00e9', 'AB\u00e9'),
        (r'\q', r'\q'),
        (r'\ud83d\ude00', '\U0001f600'),
        (r'\ud800', '\ufffd'),
        (r'\U00110000', '\ufffd'),
        ('\\', '\\'),
    ],
)
def test_unescape(text: str, expected: str) -> None:
    assert unescape(text) == expected


def test_well_formed_can_be_encoded() -> None:
    assert well_formed('a\udc80').encode() == 'a\ufffd'.encode()


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        (rb'"\ud83d\ude80 a"', rb'"\ufffd\ufffd a"'),
        (rb'"\uD83D\uDE80"', rb'"\ufffd\ufffd"'),
        (rb'"C:\\udata \u00e9 \\\\ud83d"', rb'"C:\\udata \u00e9 \\\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
    ],
)
def test_surrogates_of_json_keep_their_length(text: bytes, expected: bytes) -> None:
    assert without_surrogates(text) == expected
