"""Workflow commands: GitHub shows each as an annotation on the changed line."""

from collections.abc import Iterator
from typing import Any

from configaudit.report import Options
from configaudit.report.document import errors, findings, locator, reasons
from configaudit.report.escape import visible
from configaudit.result import Result

_LEVELS = {'error': 'error', 'warning': 'warning', 'advice': 'notice'}


def render(result: Result, options: Options) -> str:
    """One command a finding, one an unread file, and one that counts what was not assessed."""
    lines = [_finding(item) for item in findings(result, locator())]
    lines += [
        _command('error', {'file': item['path'], 'line': item['line'] or 1, 'title': f'not audited: {item["kind"]}'}, item['message'])
        for item in errors(result)
    ]
    if result.not_assessed:
        why = '; '.join(f'{count} x {reason}' for reason, count in reasons(result)[:3])
        lines.append(_command('notice', {'title': f'configaudit: {len(result.not_assessed)} not assessed'}, why))
    return ''.join(f'{line}\n' for line in lines)


def _finding(item: dict[str, Any]) -> str:
    at = item['location']
    properties = {'file': at['path'], 'line': at['line'], 'endLine': at['end_line'], 'col': at['column']}
    if at['end_line'] == at['line']:
        properties['endColumn'] = max(at['end_column'] - 1, at['column'])
    properties['title'] = f'{item["severity"]}: {item["rule"]}'
    return _command(_LEVELS[item['severity']], properties, *_message(item))


def _message(item: dict[str, Any]) -> Iterator[str]:
    yield item['message']
    for name in ('effect', 'side_effect'):
        if item[name]:
            yield f'{name.replace("_", " ")}: {item[name]}'
    if item['fix']:
        yield f'fix: {item["fix"]["description"]}'


def _command(level: str, properties: dict[str, Any], *lines: str) -> str:
    """A command; line ends between `lines` survive as escapes, whatever stands in them is data."""
    given = ','.join(f'{name}={_property(str(value))}' for name, value in properties.items())
    return f'::{level} {given}::' + '%0A'.join(_data(visible(line)) for line in lines)


def _data(text: str) -> str:
    return text.replace('%', '%25').replace('\r', '%0D').replace('\n', '%0A')


def _property(text: str) -> str:
    return _data(visible(text)).replace(':', '%3A').replace(',', '%2C')
