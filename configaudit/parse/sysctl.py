"""sysctl.conf and sysctl.d. Source: sysctl.d(5), sysctl.conf(5). Comments are whole lines that start with # or ;."""

import re
from typing import NamedTuple

from configaudit.parse.entries import Edit, Entry, Problem, Word, replace
from configaudit.parse.lines import append_line, delete_line, lines, trim

__all__ = ['SysctlFile', 'delete_line', 'insert', 'normalised', 'read', 'replace']

SWAPPED = str.maketrans('./', '/.')


class SysctlFile(NamedTuple):
    """Assignments, and the keys that a bare `-key` takes out of the globs."""

    entries: tuple[Entry, ...]
    excluded: tuple[Word, ...]
    problems: tuple[Problem, ...]


def read(text: str) -> SysctlFile:
    """Keys are normalised and may be globs; the `-` before a key (ignore failures) is not part of it."""
    entries: list[Entry] = []
    excluded: list[Word] = []
    problems: list[Problem] = []
    for line in lines(text):
        start, end = trim(text, *line)
        if start == end or text[start] in '#;':
            continue
        equals = text.find('=', start, end)
        optional = text[start] == '-'
        key_start, key_end = trim(text, start + optional, end if equals < 0 else equals)
        key = normalised(text[key_start:key_end])
        if equals >= 0 and key:
            value = trim(text, equals + 1, end)
            entries.append(Entry('', key, text[value.start : value.end], key_start, key_end, *value))
        elif optional and key:
            excluded.append(Word(key, key_start, key_end))
        else:
            problems.append(Problem(start, end, 'not an assignment'))
    return SysctlFile(tuple(entries), tuple(excluded), tuple(problems))


def normalised(key: str) -> str:
    """The dotted form: when the first separator is a slash, dots and slashes swap (`net/ipv4/conf/eth0.5/x`)."""
    first = re.search('[./]', key)
    return key.translate(SWAPPED) if first and first.group() == '/' else key


def insert(text: str, key: str, value: str) -> Edit:
    """`key = value` as the last line."""
    return append_line(text, f'{key} = {value}')
