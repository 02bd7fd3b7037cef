"""Protobuf text format: Triton's config.pbtxt, TensorFlow Serving's batching_parameters.txt.

Source: protobuf.dev, "Text Format Language Specification".
"""

import re
from typing import NamedTuple, TypeAlias, Union

from configaudit.parse.entries import Edit, Problem
from configaudit.parse.escapes import unescape
from configaudit.parse.lines import Span, append_line, insert_in_block, quote_of

DEPTH = 100
TOKEN = re.compile(
    r'[ \t\r\n\f\v]+|\#[^\n]*'
    r'|(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*\')'
    r'|(?P<scalar>[^\s\#"\'{}\[\]<>:,;]+)|(?P<mark>.)',
    re.DOTALL,
)
CLOSING = {'{': '}', '<': '>', '[': ']'}

Value: TypeAlias = Union[str, 'Message', tuple['Field', ...]]


class Field(NamedTuple):
    """A field; the items of a list are fields of the same name. A scalar's span is inside its quotes."""

    name: str
    value: Value
    name_start: int
    start: int
    end: int


class Message(NamedTuple):
    """Fields in order; the span is the content between the delimiters (the whole text at the top)."""

    fields: tuple[Field, ...]
    start: int
    end: int

    def get(self, name: str) -> Field | None:
        """The first field of that name."""
        return next(iter(self.all(name)), None)

    def all(self, name: str) -> list[Field]:
        """Every value of a repeated field, lists and repetition alike."""
        found: list[Field] = []
        for field in self.fields:
            if field.name == name:
                found.extend(field.value if _is_list(field) else [field])  # type: ignore[arg-type]
        return found


class Pbtxt(NamedTuple):
    message: Message
    problems: tuple[Problem, ...]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Broken(Exception):
    """Reading cannot go on: nested too deep."""


def _is_list(field: Field) -> bool:
    return isinstance(field.value, tuple) and not isinstance(field.value, Message)


class _Reader:
    def __init__(self, text: str) -> None:
        found = (_Token(match.lastgroup, match[0], *match.span()) for match in TOKEN.finditer(text) if match.lastgroup)
        self.tokens = [*found, _Token('end', '', len(text), len(text))]
        self.at = 0
        self.problems: list[Problem] = []

    def peek(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.tokens[self.at]
        self.at += token.kind != 'end'
        return token

    def complain(self, token: _Token, message: str) -> None:
        self.problems.append(Problem(token.start, token.end, message))
