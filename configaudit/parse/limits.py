"""/etc/security/limits.conf and limits.d. Source: limits.conf(5); a # starts a comment anywhere."""

from typing import NamedTuple

from configaudit.parse.entries import Edit, Problem, Word
from configaudit.parse.lines import append_line, lines
from configaudit.patterns import regex

FIELD = regex(r'[^ \t\r\f\v]+')


class LimitsRow(NamedTuple):
    """`type` (soft, hard, -) and `item` in lower case; item and value are empty in `domain -` (no limits at all)."""

    domain: Word
    type: Word
    item: Word
    value: Word


class LimitsFile(NamedTuple):
    rows: tuple[LimitsRow, ...]
    problems: tuple[Problem, ...]


def read(text: str) -> LimitsFile:
    """Rows in order. What follows a fourth field is ignored, as pam_limits does."""
    rows: list[LimitsRow] = []
    problems: list[Problem] = []
    for start, end in lines(text):
        comment = text.find('#', start, end)
        stop = end if comment < 0 else comment
        fields = [Word(found.group(), *found.span()) for found in FIELD.finditer(text, start, stop)]
        if len(fields) == 2 and fields[1].text == '-':
            nothing = Word('', fields[1].end, fields[1].end)
            rows.append(LimitsRow(fields[0], fields[1], nothing, nothing))
        elif len(fields) >= 4:
            rows.append(LimitsRow(fields[0], _lower(fields[1]), _lower(fields[2]), fields[3]))
        elif fields:
            problems.append(Problem(fields[0].start, fields[-1].end, 'a row is: domain type item value'))
    return LimitsFile(tuple(rows), tuple(problems))


def _lower(word: Word) -> Word:
    return word._replace(text=word.text.lower())


def replace(row: LimitsRow, value: str) -> Edit:
    return Edit(row.value.start, row.value.end, value)


def insert(text: str, domain: str, kind: str, item: str, value: str) -> Edit:
    """A row as the last line: the last match wins."""
    return append_line(text, f'{domain} {kind} {item} {value}')
