"""Markdown for pull request comments and job summaries: a table for every file."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from configaudit.patterns import regex
from configaudit.report import Options
from configaudit.report.document import errors, findings, locator, summary
from configaudit.report.escape import visible
from configaudit.report.wording import headline
from configaudit.result import Result

_MARKUP = regex(r'[\\`*\[\]<>#|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.', re.IGNORECASE)
"""Emphasis, code, links, HTML, entities, mathematics, table cells, and what turns bare addresses into links."""
_MENTION = regex(r'@(?=\w)')


def render(result: Result, options: Options) -> str:
    """The report as GitHub flavoured Markdown."""
    counts = summary(result)
    parts = ['## Configuration audit', headline(counts)]
    for path, group in groupby(findings(result, locator()), lambda item: str(item['location']['path'])):
        parts += [f'### {safe(path)}', table(('Severity', 'Place', 'Rule', 'Finding'), map(_row, group))]
    if result.errors:
        rows = ((_place(item), safe(item['kind']), safe(item['message'])) for item in errors(result))
        parts += ['### Not audited', table(('Place', 'Kind', 'Reason'), rows)]
    if result.not_assessed:
        parts += ['### Not assessed', table(('Rule', 'Times', 'Reasons'), map(_not_assessed, counts['not_assessed_by_rule']))]
    return '\n\n'.join(parts) + '\n'


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    at = item['location']
    return f'**{item["severity"]}**', f'{at["line"]}:{at["column"]}', safe(item['rule']), '<br>'.join(_words(item))


def _words(item: dict[str, Any]) -> Iterator[str]:
    yield safe(item['message'])
    for near in item['related']:
        yield f'see {_place(near["location"])} {safe(near["message"])}'
    if item['effect']:
        yield f'effect: {safe(item["effect"])}'
    if item['side_effect']:
        yield f'side effect: {safe(item["side_effect"])}'
    if item['fix']:
        yield f'fix: {safe(item["fix"]["description"])}'


def _not_assessed(item: dict[str, Any]) -> tuple[str, ...]:
    return safe(item['rule']), str(item['count']), '<br>'.join(f'{safe(reason)} ({count})' for reason, count in item['reasons'].items())


def _place(item: dict[str, Any]) -> str:
    return safe(f'{item["path"]}:{item["line"]}:{item["column"]}')


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [f'| {" | ".join(heads)} |', '|' + ' --- |' * len(heads)]
    return '\n'.join([*lines, *(f'| {" | ".join(row)} |' for row in rows)])


def safe(text: str) -> str:
    """Text that Markdown shows as it is: no markup, HTML, link, autolink or mention survives."""
    return _MENTION.sub('@<!-- -->', _MARKUP.sub(r'\\\g<0>', visible(text)))
