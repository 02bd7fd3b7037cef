import pytest

from configaudit.parse.escapes import unescape, well_formed


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
