"""Lazy patterns behave like compiled ones, and compile once, at the first use."""

import re

import pytest

from configaudit import patterns
from configaudit.patterns import regex


def test_it_is_compiled_at_the_first_use_only(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(patterns.re, 'compile', lambda source, flags: compiled.append(source) or re.Pattern)
    lazy = regex('a+')
    assert compiled == []
    assert lazy.match is re.Pattern.match
    assert lazy.search is re.Pattern.search
    assert compiled == ['a+']


def test_it_matches_text_and_bytes() -> None:
    found = regex(r'(\d+)', re.MULTILINE).search('ab 12')
    assert found is not None
    assert found[1] == '12'
    assert regex(rb'x').sub(b'y', b'axa') == b'aya'


def test_an_unknown_attribute_is_an_error() -> None:
    with pytest.raises(AttributeError):
        regex('a').no_such_method  # noqa: B018
