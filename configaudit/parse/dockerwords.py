"""Words of Dockerfile instructions: exec forms, assignments, quotes and ${VARIABLE} (BuildKit's shell lexer)."""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from configaudit.parse.entries import Entry, Word
from configaudit.parse.escapes import well_formed
from configaudit.parse.lines import inside_quotes, outer_offset, outer_span, trim
from configaudit.patterns import regex
from configaudit.places import Segment
from configaudit.units import HOLE

Lookup = Callable[[str], str | None]

DEPTH = 100
# `ENV A=$A$A` on line after line doubles: beyond this many replaced characters a word is a HOLE.
REPLACED_MAX = 2000
VARIABLE = regex(r'\$(?:([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)(:?[-+?]|[^}]|(?=\})|$))')

JSON_ITEM = regex(r'[ \t]*("[^"\\]*(?:\\.[^"\\]*)*")[ \t]*([,\]])', re.DOTALL)


class Scope(NamedTuple):
    """What variables hold in a stage; `parent` is the scope of the stage that it builds on."""

    env: dict[str, str]
    args: dict[str, str]
    parent: 'Scope | None'


def lookup(scope: Scope, name: str) -> str | None:
    """ENV wins over ARG; None when neither is set as far as the file shows."""
    level: Scope | None = scope
    for _ in range(DEPTH):
        if level is None:
            return scope.args.get(name)
        if name in level.env:
            return level.env[name]
        level = level.parent
    return HOLE


def expand(text: str, at: int, find: Lookup, escape: str = '\\', stop: str = ' \t', depth: int = 0) -> tuple[str, int]:
    """The word at `at` with quotes taken off and variables replaced, and where it ends."""
    parts: list[str] = []
    quote = ''
    replaced = 0
    while at < len(text):
        character = text[at]
        if quote == "'" and character != "'":
            parts.append(character)
        elif character == escape and at + 1 < len(text) and (not quote or text[at + 1] in ('"', '$', escape)):
            at += 1
            parts.append(text[at])
        elif character == quote:
            quote = ''
        elif character in '"\'' and not quote:
            quote = character
        elif not quote and character in stop:
            break
        elif character == '$' and (variable := VARIABLE.match(text, at)):
            value, at = _value(text, variable, find, escape, depth)
            replaced += len(value)
            parts.append(value if replaced <= REPLACED_MAX else '')
            continue
        else:
            parts.append(character)
        at += 1
    return HOLE if replaced > REPLACED_MAX else ''.join(parts), at


def _value(text: str, variable: re.Match[str], find: Lookup, escape: str, depth: int) -> tuple[str, int]:
    plain, braced, operator = variable.groups()
    value = find(plain or braced)
    if plain is not None:
        return HOLE if value is None else value, variable.end()
    if operator and operator[-1] in '-+?' and depth < DEPTH:
        word, end = expand(text, variable.end(), find, escape, '}', depth + 1)
        return _choice(value, operator, word), min(end + 1, len(text))
    end = text.find('}', variable.end())
    known = value is not None and not operator
    return str(value) if known else HOLE, len(text) if end < 0 else end + 1


def _choice(value: str | None, operator: str, word: str) -> str:
    """`:` counts an empty value as unset; what is not set in the file is taken as unset for a default only."""
    present = value is not None and (value != '' or operator[0] != ':')
    if operator[-1] == '-':
        return value if present and value is not None else word
    if operator[-1] == '+':
        return word if present else '' if value is not None else HOLE
    return value if present and value is not None else HOLE


def exec_words(value: str, segments: tuple[Segment, ...]) -> list[Word] | None:
    """The strings of a JSON array; None when it is not one (then it is a shell form, as Docker reads it)."""
    if not value.startswith('['):
        return None
    if value[1:].strip() == ']':
        return []
    words: list[Word] = []
    at, closing = 1, ','
    while closing == ',' and (item := JSON_ITEM.match(value, at)):
        try:
            word = well_formed(json.loads(item[1]))
        except ValueError:
            return None
        opening, end = item.span(1)
        words.append(Word(word, outer_offset(segments, opening) + 1, outer_offset(segments, end - 1)))
        at, closing = item.end(), item[2]
    return words if closing == ']' and not value[at:].strip() else None


def plain_words(value: str, segments: tuple[Segment, ...], find: Lookup, escape: str) -> list[Word]:
    words = []
    at = trim(value, 0, len(value)).start
    while at < len(value):
        word, end = expand(value, at, find, escape)
        words.append(Word(word, *outer_span(segments, *inside_quotes(value, at, end))))
        at = trim(value, end, len(value)).start
    return words


def assignments(name: str, value: str, segments: tuple[Segment, ...], find: Lookup, escape: str) -> list[Entry]:
    """`K=V L=W`, `ARG K`, or the old `ENV K the rest`."""
    pairs = []
    at = trim(value, 0, len(value)).start
    while at < len(value):
        key, key_end = expand(value, at, find, escape, ' \t=')
        start = end = key_end
        content = HOLE
        if value.startswith('=', key_end):
            start += 1
            content, end = expand(value, start, find, escape)
        elif name != 'ARG':
            start = trim(value, key_end, len(value)).start
            content, end = expand(value, start, find, escape, '')
        span = outer_span(segments, *inside_quotes(value, start, end))
        pairs.append(Entry('', key, content, *outer_span(segments, at, key_end), *span))
        at = trim(value, end, len(value)).start
    return pairs
