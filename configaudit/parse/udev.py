"""udev rules files. Source: udev(7)."""

import re
from typing import NamedTuple

from configaudit.parse.entries import Edit, Problem
from configaudit.parse.escapes import unescape
from configaudit.parse.lines import Logical, append_line, logical_lines
from configaudit.patterns import regex

TERM = regex(
    r'([A-Za-z_]+)(?:\{([^}"]*)\})?[ \t]*(==|!=|\+=|-=|:=|=)[ \t]*([ei]{0,2})"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL
)
GAP = regex(r'[ \t\r\f\v,]*')


class UdevTerm(NamedTuple):
    """One match (==, !=) or assignment (=, +=, -=, :=); the span is the value inside its quotes."""

    key: str
    attribute: str
    operator: str
    value: str
    key_start: int
    start: int
    end: int


class UdevRule(NamedTuple):
    terms: tuple[UdevTerm, ...]
    start: int
    end: int


class UdevFile(NamedTuple):
    rules: tuple[UdevRule, ...]
    problems: tuple[Problem, ...]


def read(text: str) -> UdevFile:
    """Rules in order; a rule with a broken term is a problem and no rule, as udev drops it."""
    rules: list[UdevRule] = []
    problems: list[Problem] = []
    for line in logical_lines(text, '#'):
        terms, broken = _terms(line)
        if broken:
            problems.append(broken)
        elif terms:
            rules.append(UdevRule(terms, line.start, line.end))
    return UdevFile(tuple(rules), tuple(problems))


def _terms(line: Logical) -> tuple[tuple[UdevTerm, ...], Problem | None]:
    terms: list[UdevTerm] = []
    at = _skip(line.text, 0)
    while at < len(line.text):
        found = TERM.match(line.text, at)
        if not found:
            return (), Problem(line.start + at, line.start + len(line.text), 'not KEY, operator and "value"')
        key, attribute, operator, prefix, raw = found.groups()
        value = unescape(raw) if 'e' in prefix else raw.replace('\\"', '"')
        start, end = found.span(5)
        terms.append(
            UdevTerm(key, attribute or '', operator, value, line.start + at, line.start + start, line.start + end)
        )
        at = _skip(line.text, found.end())
    return tuple(terms), None


def _skip(text: str, at: int) -> int:
    gap = GAP.match(text, at)
    return gap.end() if gap else at


def replace(term: UdevTerm, value: str) -> Edit:
    return Edit(term.start, term.end, value.replace('"', '\\"'))


def insert(text: str, rule: str) -> Edit:
    """A rule as the last line: the last assignment wins."""
    return append_line(text, rule)
