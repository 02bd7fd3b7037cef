"""What the readers of every language share in folding constants."""

from collections.abc import Mapping

from configaudit.patterns import regex

_ESCAPE = regex(r'\\(.)')


class Unfolded(Exception):
    """A value that only running the program would tell; the text says why, `variable` which variable of the environment tells it, where that is known."""

    def __init__(self, reason: str = '', variable: str = '') -> None:
        super().__init__(reason)
        self.variable = variable


def unescaped(text: str, escapes: Mapping[str, str]) -> str:
    """A string's text with its simple escapes replaced. Raises Unfolded for any other."""
    if '\\' not in text:
        return text
    if any(letter not in escapes for letter in _ESCAPE.findall(text)):
        raise Unfolded
    return _ESCAPE.sub(lambda found: escapes[found[1]], text)
