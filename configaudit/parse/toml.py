"""TOML with positions: containerd's config.toml, crio.conf, pyproject.toml. Source: TOML v1.0.0.

Lenient where the grammar is of no use here: duplicate keys are kept in order, dates stay text.
"""

import re
from typing import NamedTuple

from configaudit.parse.entries import Edit, Problem
from configaudit.parse.escapes import unescape
from configaudit.parse.lines import append_line, insert_below, newline
from configaudit.patterns import regex

DEPTH = 100
BLANK = regex(r'[ \t]*')
SPACE = regex(r'(?:[ \t\r\n]+|#[^\n]*)*')
LINE_END = regex(r'[ \t]*(?:#[^\n]*)?(?:\r?\n|\r?\Z)')
BARE_KEY = regex('[A-Za-z0-9_\ufffc-]+')
BASIC = regex(r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"')
LITERAL = regex(r"'([^'\n]*)'")
MULTI_BASIC = regex(r'"""(?:\r?\n)?([^"\\]*(?:(?:\\.|"{1,2}(?!"))[^"\\]*)*"{0,2})"""', re.DOTALL)
MULTI_LITERAL = regex(r"'''(?:\r?\n)?([^']*(?:'{1,2}(?!')[^']*)*'{0,2})'''")
FOLDED = regex(r'\\[ \t]*\r?\n[ \t\r\n]*')
SCALAR = regex(r'[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.+Zz-]+|[^\s,\]}#=\[{"\']+')
INTEGER = regex(r'[+-]?(?:0|[1-9](?:_?[0-9])*)|0x[0-9A-Fa-f][0-9A-Fa-f_]*|0o[0-7][0-7_]*|0b[01][01_]*')
FLOAT = regex(r'[+-]?[0-9](?:_?[0-9])*(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9][0-9_]*)?|[+-]?(?:inf|nan)')
ESCAPES = {'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r', '"': '"', '\\': '\\', 'e': '\x1b'}


class TomlEntry(NamedTuple):
    """A leaf: inline tables are taken apart, arrays are lists; the span is the whole value, quotes included.

    A table in an array has its index as a step of the path: ('plugins', '0', 'name').
    """

    path: tuple[str, ...]
    value: object
    key_start: int
    start: int
    end: int


class TomlTable(NamedTuple):
    """A `[table]` or `[[table]]` header, brackets included."""

    path: tuple[str, ...]
    start: int
    end: int


class TomlFile(NamedTuple):
    entries: tuple[TomlEntry, ...]
    tables: tuple[TomlTable, ...]
    problems: tuple[Problem, ...]

    def get(self, *path: str) -> TomlEntry | None:
        return next((entry for entry in self.entries if entry.path == path), None)


class _Broken(Exception):
    """Cannot be read: where, and why. With `rest` nothing after it can be read either."""

    def __init__(self, at: int, message: str, *, rest: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.rest = rest


def read(text: str) -> TomlFile:
    """Entries in order; after an error reading goes on with the next line."""
    entries: list[TomlEntry] = []
    tables: list[TomlTable] = []
    problems: list[Problem] = []
    counts: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    at = _skip(SPACE, text, 0)
    while at < len(text):
        start = at
        try:
            if text[at] == '[':
                path, is_array, at = _header(text, at)
                table = _indexed(path, is_array, counts)
                tables.append(TomlTable(table, start, at))
            else:
                at = _assignment(text, at, table, entries, 0)
            ending = LINE_END.match(text, at)
            if ending is None:
                raise _Broken(at, 'the line should end here')
            at = ending.end()
        except _Broken as broken:
            stop = -1 if broken.rest else text.find('\n', broken.at)
            at = len(text) if stop < 0 else stop + 1
            problems.append(Problem(start, at, broken.message))
        at = _skip(SPACE, text, at)
    return TomlFile(tuple(entries), tuple(tables), tuple(problems))


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _header(text: str, at: int) -> tuple[tuple[str, ...], bool, int]:
    is_array = text.startswith('[[', at)
    brackets = 1 + is_array
    path, at = _key(text, _skip(BLANK, text, at + brackets))
    if not text.startswith(']' * brackets, at):
        raise _Broken(at, 'the table header is not closed')
    return path, is_array, at + brackets


def _indexed(path: tuple[str, ...], is_array: bool, counts: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """The path with the index of the last element behind every array of tables in it."""
    found: tuple[str, ...] = ()
    for depth, step in enumerate(path, 1):
        found += (step,)
        if is_array and depth == len(path):
            counts[found] = counts.get(found, -1) + 1
        if found in counts:
            found += (str(counts[found]),)
    return found


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """A dotted key and the offset after it and its blanks."""
    path: list[str] = []
    while len(path) < DEPTH:
        if text.startswith(('"', "'"), at):
            step, at = _string(text, at)
        elif bare := BARE_KEY.match(text, at):
            step, at = bare[0], bare.end()
        else:
            raise _Broken(at, 'a key belongs here')
        path.append(step)
        at = _skip(BLANK, text, at)
        if not text.startswith('.', at):
            return tuple(path), at
        at = _skip(BLANK, text, at + 1)
    raise _Broken(at, 'nested too deep')


def _assignment(text: str, at: int, table: tuple[str, ...], entries: list[TomlEntry], depth: int) -> int:
    """Read `key = value` into `entries`; the offset after it."""
    key_start = at
    path, at = _key(text, at)
    if len(table) + len(path) > DEPTH:
        raise _Broken(at, 'nested too deep')
    if not text.startswith('=', at):
        raise _Broken(at, 'an = belongs here')
    at = start = _skip(BLANK, text, at + 1)
    if text.startswith('{', at):
        return _inline_table(text, at, table + path, entries, depth + 1)
    value, at = _value(text, at, depth)
    entries.append(TomlEntry(table + path, value, key_start, start, at))
    return at


def _inline_table(text: str, at: int, table: tuple[str, ...], entries: list[TomlEntry], depth: int) -> int:
    if depth > DEPTH:
        raise _Broken(at, 'nested too deep')
    at = _skip(SPACE, text, at + 1)
    while not text.startswith('}', at):
        at = _skip(SPACE, text, _assignment(text, at, table, entries, depth))
        if text.startswith(',', at):
            at = _skip(SPACE, text, at + 1)
        elif not text.startswith('}', at):
            raise _Broken(at, 'the inline table is not closed')
    return at + 1


def _value(text: str, at: int, depth: int) -> tuple[object, int]:
    if text.startswith(('"', "'"), at):
        return _string(text, at)
    if text.startswith('[', at):
        return _array(text, at, depth + 1)
    if text.startswith('{', at):
        inner: list[TomlEntry] = []
        end = _inline_table(text, at, (), inner, depth + 1)
        return {'.'.join(entry.path): entry.value for entry in inner}, end
    scalar = SCALAR.match(text, at)
    if scalar is None:
        raise _Broken(at, 'a value belongs here')
    return _scalar(scalar[0]), scalar.end()


def _array(text: str, at: int, depth: int) -> tuple[list[object], int]:
    if depth > DEPTH:
        raise _Broken(at, 'nested too deep')
    values: list[object] = []
    at = _skip(SPACE, text, at + 1)
    while not text.startswith(']', at):
        value, at = _value(text, at, depth)
        values.append(value)
        at = _skip(SPACE, text, at)
        if text.startswith(',', at):
            at = _skip(SPACE, text, at + 1)
        elif not text.startswith(']', at):
            raise _Broken(at, 'the array is not closed')
    return values, at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    quote = text[at]
    multi = text.startswith(quote * 3, at)
    pattern = (MULTI_BASIC if multi else BASIC) if quote == '"' else (MULTI_LITERAL if multi else LITERAL)
    found = pattern.match(text, at)
    if found is None:
        raise _Broken(at, 'the string is not closed', rest=multi)
    content = FOLDED.sub('', found[1]) if multi and quote == '"' else found[1]
    return unescape(content, ESCAPES) if quote == '"' else content, found.end()


def _scalar(text: str) -> object:
    """A boolean, an integer, a float, or the text itself (dates, template holes)."""
    if text in ('true', 'false'):
        return text == 'true'
    # int() refuses more than 4300 digits; TOML integers have at most 19.
    if INTEGER.fullmatch(text) and len(text) < 100:
        return int(text.replace('_', ''), 0)
    if FLOAT.fullmatch(text):
        return float(text.replace('_', ''))
    return text


def render(value: object) -> str:
    """A Python value as TOML: str, bool, int, float or a list of them."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, list):
        return '[' + ', '.join(render(item) for item in value) + ']'
    if isinstance(value, str):
        escaped = value.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
        return f'"{escaped}"'
    return str(value)


def replace(entry: TomlEntry, value: object) -> Edit:
    return Edit(entry.start, entry.end, render(value))


def insert(text: str, file: TomlFile, table: tuple[str, ...], key: str, value: object) -> Edit:
    """`key = value` below the table's header (a new table at the end where there is none)."""
    line = f'{key} = {render(value)}'
    headers = [header for header in file.tables if header.path == table]
    if headers:
        indent = text[text.rfind('\n', 0, headers[-1].start) + 1 : headers[-1].start]
        return insert_below(text, headers[-1].end, indent + line)
    if not table:
        return Edit(0, 0, line + newline(text))
    name = '.'.join(step if BARE_KEY.fullmatch(step) else render(step) for step in table)
    return append_line(text, f'{newline(text)}[{name}]{newline(text)}{line}')
