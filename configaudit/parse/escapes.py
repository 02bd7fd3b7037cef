"""Backslash escapes of quoted strings."""

import re
from collections.abc import Mapping

from configaudit.patterns import regex

C_ESCAPES = dict(zip('abfnrtv', '\a\b\f\n\r\t\v', strict=True)) | {'\\': '\\', '"': '"', "'": "'"}
_SURROGATE = regex(rb'(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}')
ESCAPE = regex(r'\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{1,3})|(.))', re.DOTALL)


def unescape(text: str, plain: Mapping[str, str] = C_ESCAPES) -> str:
    r"""Replace C-like escapes (`\n`, `\x41`, `\101`, `\u00e9`); an unknown one stays as written."""
    if '\\' not in text:
        return text

    def character(match: re.Match[str]) -> str:
        *hexadecimal, octal, other = match.groups()
        if other is not None:
            return plain.get(other, match.group())
        digits = next((group for group in hexadecimal if group), None)
        return code_point(int(digits, 16) if digits else int(octal, 8))

    return well_formed(ESCAPE.sub(character, text))


def without_surrogates(json: bytes) -> bytes:
    r"""JSON in which escaped surrogates (`\ud83d\ude80`), which YAML does not know, are as many U+FFFD; its length is kept."""
    if b'\\ud' not in json and b'\\uD' not in json:
        return json
    return _SURROGATE.sub(rb'\1\\ufffd', json)


def code_point(number: int) -> str:
    """The character, or U+FFFD where Unicode has none."""
    return chr(number) if number <= 0x10FFFF else '\ufffd'


def well_formed(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates: those could not be printed."""
    return text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')
