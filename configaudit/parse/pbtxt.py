"""Protobuf text format: Triton's config.pbtxt, TensorFlow Serving's batching_parameters.txt.

Source: protobuf.dev, "Text Format Language Specification".
"""

import re
from typing import NamedTuple, TypeAlias, Union

from configaudit.parse.entries import Edit, Problem
from configaudit.parse.escapes import unescape
from configaudit.parse.lines import Span, append_line, insert_in_block, quote_of
from configaudit.patterns import regex

DEPTH = 100
TOKEN = regex(
    r'[ \t\r\n\f\v]+|\#[^\n]*'
    r'|(?P<string>"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|\'[^\'\\\n]*(?:\\[^\n][^\'\\\n]*)*\')|(?P<broken>["\'][^\n]*)'
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
        """Every value of a repeated field, whether written as a list or field by field."""
        return [item for field in self.fields if field.name == name for item in _items(field)]


class Pbtxt(NamedTuple):
    message: Message
    problems: tuple[Problem, ...]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def _items(field: Field) -> tuple[Field, ...]:
    if isinstance(field.value, str | Message):
        return (field,)
    return field.value


def read(text: str) -> Pbtxt:
    """The fields, and what was no field; reading stops where messages nest more than 100 deep."""
    reader = _Reader(text)
    fields = reader.fields('', 0)
    return Pbtxt(Message(fields, 0, len(text)), tuple(reader.problems))


class _Reader:
    """The tokens, the index of the next one, and the problems so far."""

    def __init__(self, text: str) -> None:
        found = (_Token(match.lastgroup, match[0], *match.span()) for match in TOKEN.finditer(text) if match.lastgroup)
        self.tokens = [*found, _Token('end', '', len(text), len(text))]
        self.at = 0
        self.problems: list[Problem] = []

    def take(self) -> _Token:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def skip(self, marks: str) -> bool:
        """Pass one of these marks when it is next."""
        token = self.tokens[self.at]
        found = token.kind == 'mark' and token.text in marks
        self.at += found
        return found

    def complain(self, token: _Token, message: str) -> None:
        self.problems.append(Problem(token.start, token.end, message))

    def fields(self, closing: str, depth: int) -> tuple[Field, ...]:
        """Fields up to `closing`, which is left for the caller."""
        found: list[Field] = []
        while (token := self.tokens[self.at]).kind != 'end' and not (closing and token.text == closing):
            self.at += 1
            if token.kind == 'scalar' or token.text == '[':
                field = self.field(token if token.kind == 'scalar' else self.extension(token), depth)
                found += [field] if field else []
            elif token.text not in (',', ';'):
                self.complain(token, 'a field name belongs here')
        return tuple(found)

    def extension(self, opening: _Token) -> _Token:
        """`[package.name]` or `[type.googleapis.com/name]` as a name."""
        name = self.take()
        end = name.end
        if self.tokens[self.at].text == ']':
            end = self.take().end
        else:
            self.complain(opening, 'the extension name is not closed')
        return _Token('scalar', f'[{name.text}]', opening.start, end)

    def field(self, name: _Token, depth: int) -> Field | None:
        colon = self.skip(':')
        token = self.tokens[self.at]
        if token.text in CLOSING or (colon and token.kind in ('scalar', 'string')):
            return self.value(name, depth)
        self.complain(name, 'a value is missing')
        return None

    def value(self, name: _Token, depth: int) -> Field | None:
        token = self.take()
        if token.kind == 'string':
            return self.string(name, token)
        if token.kind == 'scalar':
            return Field(name.text, token.text, name.start, token.start, token.end)
        if depth == DEPTH:
            self.complain(token, 'nested too deep')
            self.at = len(self.tokens) - 1
            return None
        closing = CLOSING[token.text]
        content = self.items(name, depth + 1) if token.text == '[' else self.fields(closing, depth + 1)
        last = self.tokens[self.at]
        if not self.skip(closing):
            self.complain(token, f'{token.text} is not closed')
        value = content if token.text == '[' else Message(content, token.end, last.start)
        return Field(name.text, value, name.start, token.start, last.end)

    def items(self, name: _Token, depth: int) -> tuple[Field, ...]:
        """The items of a list up to its bracket, which is left for the caller."""
        found: list[Field] = []
        while (token := self.tokens[self.at]).kind != 'end' and token.text != ']':
            if token.kind in ('scalar', 'string') or token.text in ('{', '<'):
                item = self.value(name, depth)
                found += [item] if item else []
            else:
                self.at += 1
                if token.text != ',':
                    self.complain(token, 'a list item belongs here')
        return tuple(found)

    def string(self, name: _Token, first: _Token) -> Field:
        """Adjacent strings are one value; its span runs from the first opening to the last closing quote."""
        parts = [first]
        while self.tokens[self.at].kind == 'string':
            parts.append(self.take())
        value = ''.join(unescape(part.text[1:-1]) for part in parts)
        quoted = first.text[0] == parts[-1].text[0]
        return Field(name.text, value, name.start, first.start + quoted, parts[-1].end - quoted)


def replace(text: str, field: Field, value: str) -> Edit:
    """A new scalar; inside quotes it is escaped."""
    quote = quote_of(text, field.start, field.end)
    if quote:
        value = value.replace('\\', '\\\\').replace(quote, '\\' + quote).replace('\n', '\\n')
    return Edit(field.start, field.end, value)


def insert(text: str, message: Message, name: str, value: str) -> Edit:
    """`name: value` (value as written, quotes included) as the last field of the message."""
    if (message.start, message.end) == (0, len(text)):
        return append_line(text, f'{name}: {value}')
    child = message.fields[0].name_start if message.fields else None
    return insert_in_block(text, Span(message.start, message.end), f'{name}: {value}', child)
