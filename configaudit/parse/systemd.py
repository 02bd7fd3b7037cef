"""systemd unit files and drop-ins. Source: systemd.syntax(7), systemd.service(5) (v255).

Comments are whole lines; there are no trailing comments.
"""

from bisect import bisect_left

from configaudit.parse.entries import Edit, Entry, File, Header, Problem, Word, replace
from configaudit.parse.escapes import C_ESCAPES, ESCAPE, unescape
from configaudit.parse.lines import insert_in_section, inside_quotes, logical_lines, newline, trim
from configaudit.patterns import regex
from configaudit.units import HOLE

__all__ = ['assigned', 'environment', 'insert', 'read', 'replace', 'split_command']

ESCAPES = {**C_ESCAPES, 's': ' '}
PREFIX = regex('[-@:+!|]*')


def read(text: str) -> File:
    """Entries in order. A value keeps its length: continuations are blanks, so value[i] stands at start + i."""
    entries: list[Entry] = []
    headers: list[Header] = []
    problems: list[Problem] = []
    for line in logical_lines(text, '#;'):
        start, end = trim(line.text, 0, len(line.text))
        content = line.text[start:end]
        span = line.start + start, line.start + end
        if content.startswith('[') and content.endswith(']'):
            headers.append(Header(content[1:-1], *span))
        elif '=' not in content:
            if content:
                problems.append(Problem(*span, 'neither a section nor an assignment'))
        elif not headers:
            problems.append(Problem(*span, 'assignment before any section is ignored'))
        else:
            entries.append(_entry(headers[-1].name, line.text, line.start))
    return File(tuple(entries), tuple(headers), tuple(problems))


def _entry(section: str, line: str, offset: int) -> Entry:
    equals = line.index('=')
    key_start, key_end = trim(line, 0, equals)
    start, end = trim(line, equals + 1, len(line))
    spans = (position + offset for position in (key_start, key_end, start, end))
    return Entry(section, line[key_start:key_end], line[start:end], *spans)


def assigned(file: File, section: str, key: str) -> tuple[Entry, ...]:
    """What a list setting holds in the end: the entries after the last empty assignment."""
    found: list[Entry] = []
    for entry in file.entries:
        if (entry.section, entry.key) == (section, key):
            if entry.value:
                found.append(entry)
            else:
                found.clear()
    return tuple(found)


def split_command(value: str, offset: int) -> list[Word]:
    """Words of an Exec line whose value starts at `offset`; the prefixes of the program are taken off.

    `%%` is a percent sign, any other specifier is a HOLE; `$VAR` stays, since the unit's environment decides it.
    """
    words = _words(value, offset)
    if words:
        text, start, end = words[0]
        prefix = PREFIX.match(text)
        length = prefix.end() if prefix else 0
        words[0] = Word(text[length:], start + length, end)
    return words


def environment(value: str, offset: int) -> list[tuple[str, str, int, int]]:
    """(name, value, start, end) of each assignment in an Environment= value that starts at `offset`."""
    found = []
    for word, start, end in _words(value, offset):
        name, equals, content = word.partition('=')
        at = value.find('=', start - offset, end - offset)
        if equals and at >= 0:
            inner = inside_quotes(value, at + 1, end - offset)
            found.append((name, content, inner.start + offset, inner.end + offset))
    return found


def _words(value: str, offset: int) -> list[Word]:
    words: list[Word] = []
    at, size = 0, len(value)
    while True:
        while at < size and value[at] in ' \t\r\n':
            at += 1
        if at == size:
            return words
        text, end = _word(value, at)
        inner = inside_quotes(value, at, end)
        words.append(Word(text, inner.start + offset, inner.end + offset))
        at = end


def _word(value: str, at: int) -> tuple[str, int]:
    """The word at `at`, unquoted, and its end. Quotes may open anywhere in a word (extract_first_word)."""
    parts: list[str] = []
    quote = ''
    while at < len(value):
        character = value[at]
        step = 1
        if character == '\\' and (escape := ESCAPE.match(value, at)):
            parts.append(unescape(escape.group(), ESCAPES))
            step = len(escape.group())
        elif character == quote:
            quote = ''
        elif not quote and character in '"\'':
            quote = character
        elif not quote and character in ' \t\r\n':
            break
        elif character == '%' and value[at + 1 : at + 2].isalpha():
            parts.append(HOLE)
            step = 2
        else:
            parts.append(character)
            step = 2 if value.startswith('%%', at) else 1
        at += step
    return ''.join(parts), at


def insert(text: str, section: str, key: str, value: str) -> Edit:
    """`key=value` after the last entry of the section (made at the end of the file where it is missing)."""
    file = read(text)
    ends = [line.end for line in logical_lines(text, '#;')]
    whole = file._replace(
        entries=tuple(entry._replace(end=ends[bisect_left(ends, entry.end)]) for entry in file.entries),
        headers=tuple(header._replace(end=ends[bisect_left(ends, header.end)]) for header in file.headers),
    )
    edit = insert_in_section(text, whole, section, f'{key}={value}')
    # A backslash at the end of the file would pull the new line into the entry above.
    dangling = edit.start == len(text) and text.endswith(('\\', '\\\n', '\\\r\n'))
    return edit._replace(text=newline(text) + edit.text) if dangling else edit
