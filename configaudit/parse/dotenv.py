"""Flat key/value files: .env (Compose, python-dotenv), `docker run --env-file`, Java .properties.

Sources: Compose "env file" syntax, docker run reference, java.util.Properties#load. `${VAR}` in values is left as
written: who interpolates, and from where, is the reader's business.
"""

import re

from configaudit.parse.entries import Edit, Entry, File, Problem, replace
from configaudit.parse.escapes import well_formed
from configaudit.parse.lines import BLANK, append_line, lines, quote_of, trim
from configaudit.patterns import regex
from configaudit.units import HOLE

__all__ = ['insert', 'insert_property', 'read_env', 'read_properties', 'replace', 'replace_env', 'replace_property']

KEY = regex(r'[ \t\r\n]*(?:export[ \t]+)?([^\s=#\'"]+)[ \t]*(=?)[ \t]*')
QUOTED = regex(r'"([^"\\]*(?:\\.[^"\\]*)*)"|\'([^\']*)\'', re.DOTALL)
COMMENT = regex(r'(?:^|[ \t])#')
ENV_ESCAPE = regex(r'\\([nrt"\\$])')
ENV_ESCAPES = {'n': '\n', 'r': '\r', 't': '\t'}
PROPERTY_KEY = regex(r'[^\\=: \t\f\r\n]*(?:\\(?:\r?\n[ \t\f]*|.)[^\\=: \t\f\r\n]*)*', re.DOTALL)
SEPARATOR = regex(r'[ \t\f]*(?:\\\r?\n[ \t\f]*)*[=:]?[ \t\f]*(?:\\\r?\n[ \t\f]*)*')
JOINT = regex(r'\\(?:\r\n|\n|\r)[ \t\f]*')
PROPERTY_ESCAPE = regex(r'\\(?:u([0-9A-Fa-f]{4})|(.?))', re.DOTALL)
PROPERTY_ESCAPES = {'n': '\n', 'r': '\r', 't': '\t', 'f': '\f'}


def read_env(text: str, *, literal: bool = False) -> File:
    """Assignments in order; a key alone takes its value from the environment, so that is a HOLE.

    `literal` is the rule of `docker run --env-file`: no quotes, no trailing comments, no export.
    """
    entries: list[Entry] = []
    problems: list[Problem] = []
    resume = 0
    for line in lines(text):
        start, end = trim(text, *line)
        if start < resume or start == end or text[start] == '#':
            continue
        key = KEY.match(text, start, end)
        if literal:
            entries.append(_literal(text, start, line.end))
        elif key is None or (not key[2] and key.end() < end):
            problems.append(Problem(start, end, 'not an assignment'))
        elif not key[2]:
            entries.append(Entry('', key[1], HOLE, *key.span(1), key.end(1), key.end(1)))
        elif text[key.end() : key.end() + 1] in ('"', "'") and key.end() < end:
            quoted = QUOTED.match(text, key.end())
            resume = quoted.end() if quoted else len(text)
            if quoted:
                entries.append(_quoted(key, quoted))
            else:
                problems.append(Problem(key.end(), len(text), 'a quote is not closed'))
        else:
            comment = COMMENT.search(text[key.end() : end])
            value = trim(text, key.end(), key.end() + comment.start() if comment else end)
            entries.append(Entry('', key[1], text[value.start : value.end], *key.span(1), *value))
    return File(tuple(entries), (), tuple(problems))


def _literal(text: str, start: int, end: int) -> Entry:
    equals = text.find('=', start, end)
    if equals < 0:
        key_end = trim(text, start, end).end
        return Entry('', text[start:key_end], HOLE, start, key_end, key_end, key_end)
    return Entry('', text[start:equals], text[equals + 1 : end], start, equals, equals + 1, end)


def _quoted(key: re.Match[str], quoted: re.Match[str]) -> Entry:
    group = 1 if quoted[1] is not None else 2
    value = quoted[group]
    if group == 1:
        value = ENV_ESCAPE.sub(lambda escape: ENV_ESCAPES.get(escape[1], escape[1]), value)
    return Entry('', key[1], value, *key.span(1), *quoted.span(group))


def replace_env(text: str, entry: Entry, value: str) -> Edit:
    """A new value, in the quotes that are there, or in new ones when it needs them."""
    quote = quote_of(text, entry.start, entry.end)
    escaped = re.sub(r'(["\\$])', r'\\\1', value).replace('\n', '\\n') if quote != "'" else value
    if quote or not re.search(r'[\s#"\'\\]', value):
        return Edit(entry.start, entry.end, escaped if quote else value)
    return Edit(entry.start, entry.end, f'"{escaped}"')


def insert(text: str, key: str, value: str) -> Edit:
    """`key=value` as the last line (the last assignment wins)."""
    return append_line(text, f'{key}={value}')


def read_properties(text: str) -> File:
    """Java properties: `=`, `:` or a blank separates, a backslash continues the line, # and ! start comments."""
    entries: list[Entry] = []
    resume = 0
    for start, end in lines(text):
        first = trim(text, start, end).start
        if start < resume or first == end or text[first] in '#!':
            continue
        # A lone backslash joins nothing to the next line, which may still be a comment (Properties.LineReader).
        if text[first:end] == '\\' and end < len(text):
            continue
        end = _continued(text, end)
        resume = end
        key = PROPERTY_KEY.match(text, first, end)
        key_end = key.end() if key else first
        separator = SEPARATOR.match(text, key_end, end)
        value_start = separator.end() if separator else key_end
        value = _plain(text[value_start:end])
        entries.append(Entry('', _plain(text[first:key_end]), value, first, key_end, value_start, end))
    return File(tuple(entries), (), ())


def _continued(text: str, end: int) -> int:
    """End of the logical line whose first line ends at `end`: an odd number of backslashes continues it."""
    while True:
        at = end
        while at > 0 and text[at - 1] == '\\':
            at -= 1
        stop = text.find('\n', end)
        if (end - at) % 2 == 0 or stop < 0:
            return end
        following = text.find('\n', stop + 1)
        following = len(text) if following < 0 else following
        end = following - 1 if text.endswith('\r', stop + 1, following) else following


def _plain(raw: str) -> str:
    if '\\' not in raw:
        return raw
    joined = JOINT.sub('', raw)
    return well_formed(PROPERTY_ESCAPE.sub(_character, joined))


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else PROPERTY_ESCAPES.get(escape[2], escape[2])


def replace_property(entry: Entry, value: str) -> Edit:
    """A new value, escaped."""
    return Edit(entry.start, entry.end, _escaped(value))


def insert_property(text: str, key: str, value: str) -> Edit:
    """`key=value` as the last line."""
    return append_line(text, f'{key}={_escaped(value)}')


def _escaped(value: str) -> str:
    escaped = value.replace('\\', '\\\\').replace('\n', '\\n')
    return '\\' + escaped if escaped[:1] and escaped[0] in BLANK else escaped
