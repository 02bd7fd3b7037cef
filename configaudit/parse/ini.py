"""my.cnf and pgbouncer.ini, postgresql.conf, redis.conf.

Sources: MySQL "Using Option Files" and mysys/my_default.cc, pgbouncer(5), PostgreSQL "Setting Parameters", redis.conf.
"""

import re

from configaudit.parse.entries import Edit, Entry, File, Header, Problem, Word, replace
from configaudit.parse.escapes import C_ESCAPES, unescape
from configaudit.parse.lines import BLANK, append_line, insert_in_section, inside_quotes, lines, quote_of, trim
from configaudit.patterns import regex

__all__ = [
    'append', 'insert', 'read_ini', 'read_postgresql', 'read_redis', 'redis_words', 'replace', 'replace_postgresql'
]  # fmt: skip

INI_TEXT = regex(r'[^#"\']*(?:(?:"[^"]*(?:"|$)|\'[^\']*(?:\'|$))[^#"\']*)*')
INCLUDE = regex(r'([!%]include(?:dir)?)[ \t]+(.*)')
POSTGRESQL = regex(
    r'[ \t]*([A-Za-z_][A-Za-z0-9_.$]*)(?:[ \t]*=[ \t]*|[ \t]+)'
    r"('[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|[^\s#'=]+)[ \t]*(?:#.*)?$"
)
REDIS_WORD = regex(r'"[^"\\]*(?:\\.[^"\\]*)*"|\'[^\'\\]*(?:\\.[^\'\\]*)*\'|[^ \t\r\f\v]+')


def read_ini(text: str, *, inline_comments: bool = True) -> File:
    """`[section]`, `key = value` and `key` alone; `!include` and `%include` are entries of that name.

    `inline_comments`: a # outside quotes ends the value, as in MySQL's files; PgBouncer knows only comment lines.
    """
    entries: list[Entry] = []
    headers: list[Header] = []
    problems: list[Problem] = []
    for line in lines(text):
        start, end = trim(text, *line)
        if start == end or text[start] in '#;':
            continue
        content = text[start:end]
        section = headers[-1].name if headers else ''
        if content.startswith('['):
            closing = text.find(']', start, end)
            if closing < 0:
                problems.append(Problem(start, end, 'the section header is not closed'))
            else:
                headers.append(Header(text[start + 1 : closing].strip(BLANK), start, closing + 1))
        elif include := INCLUDE.match(content):
            spans = (start + at for group in (1, 2) for at in include.span(group))
            entries.append(Entry(section, include[1], include[2], *spans))
        else:
            entries.append(_ini_entry(text, section, start, end, inline_comments))
    return File(tuple(entries), tuple(headers), tuple(problems))


def _ini_entry(text: str, section: str, start: int, end: int, inline_comments: bool) -> Entry:
    kept = INI_TEXT.match(text, start, end) if inline_comments else None
    end = trim(text, start, kept.end()).end if kept else end
    equals = text.find('=', start, end)
    key_end = trim(text, start, equals if equals >= 0 else end).end
    value = trim(text, equals + 1 if equals >= 0 else key_end, end)
    value = inside_quotes(text, *value)
    return Entry(section, text[start:key_end], text[value.start : value.end], start, key_end, *value)


def insert(text: str, section: str, key: str, value: str) -> Edit:
    """`key = value` after the last entry of the section."""
    return insert_in_section(text, read_ini(text), section, f'{key} = {value}')


def read_postgresql(text: str) -> File:
    """`name = value` or `name value`; names in lower case; include lines are entries of that name."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for line in lines(text):
        start, end = trim(text, *line)
        if start == end or text[start] == '#':
            continue
        found = POSTGRESQL.match(text, start, end)
        if not found:
            problems.append(Problem(start, end, 'not a parameter and a value'))
            continue
        quoted = found[2].startswith("'")
        value_start, value_end = found.start(2) + quoted, found.end(2) - quoted
        value = text[value_start:value_end]
        value = unescape(value.replace("''", "'")) if quoted else value
        entries.append(Entry('', found[1].lower(), value, *found.span(1), value_start, value_end))
    return File(tuple(entries), (), tuple(problems))


def replace_postgresql(text: str, entry: Entry, value: str) -> Edit:
    """A new value, in quotes where it is no simple number or word."""
    escaped = value.replace('\\', '\\\\').replace("'", "''")
    if quote_of(text, entry.start, entry.end):
        return Edit(entry.start, entry.end, escaped)
    simple = re.fullmatch(r'[A-Za-z_][A-Za-z0-9_.:/-]*|-?[0-9.]+[A-Za-z]*', value)
    return Edit(entry.start, entry.end, value if simple else f"'{escaped}'")


def read_redis(text: str) -> File:
    """`directive words...`: keys in lower case, the words unquoted and joined by a blank. Comments are whole lines."""
    entries: list[Entry] = []
    for line in lines(text):
        start, end = trim(text, *line)
        if start == end or text[start] == '#':
            continue
        words = redis_words(text, start, end)
        key, values = words[0], words[1:]
        span = (values[0].start, values[0].end) if len(values) == 1 else (key.end, end)
        if len(values) > 1:
            span = trim(text, key.end, end)
        value = ' '.join(word.text for word in values)
        entries.append(Entry('', key.text.lower(), value, key.start, key.end, *span))
    return File(tuple(entries), (), ())


def redis_words(text: str, start: int, end: int) -> list[Word]:
    """The words between `start` and `end`, unquoted."""
    words = []
    for found in REDIS_WORD.finditer(text, start, end):
        span = inside_quotes(text, *found.span())
        inner = text[span.start : span.end]
        if found[0][0] == '"' and span.start > found.start():
            inner = unescape(inner, C_ESCAPES)
        words.append(Word(inner, *span))
    return words


def append(text: str, line: str) -> Edit:
    """A line at the end: the last assignment wins in postgresql.conf and redis.conf."""
    return append_line(text, line)
