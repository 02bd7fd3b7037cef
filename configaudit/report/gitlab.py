"""GitLab's code quality report: a JSON list that merge requests compare by fingerprint."""

from typing import Any

from configaudit.report import Options
from configaudit.report.document import errors, findings, locator
from configaudit.report.escape import json_text, visible
from configaudit.result import Result

_SEVERITIES = {'error': 'critical', 'warning': 'major', 'advice': 'info'}


def render(result: Result, options: Options) -> str:
    """One issue a finding or unread file."""
    issues = [
        _issue(item['rule'], f'{item["rule"]}: {item["message"]}', _SEVERITIES[item['severity']], item['fingerprint'], item['location'])
        for item in findings(result, locator())
    ]
    for item in errors(result):
        line = item['line'] or 1
        place = {'path': item['path'], 'line': line, 'end_line': line}
        issues.append(_issue('not-audited', item['message'], 'blocker', _fingerprint(item), place))
    return json_text(_unique(issues))


def _issue(check: str, description: str, severity: str, fingerprint: str, at: dict[str, Any]) -> dict[str, Any]:
    return {
        'type': 'issue',
        'check_name': check,
        'description': visible(description),
        'categories': ['Bug Risk'],
        'severity': severity,
        'fingerprint': fingerprint,
        'location': {'path': at['path'], 'lines': {'begin': at['line'], 'end': at['end_line']}},
    }


def _fingerprint(item: dict[str, Any]) -> str:
    from configaudit.engine import fingerprint

    return fingerprint('not-audited', item['path'], item['kind'])


def _unique(issues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The issues with equal fingerprints numbered: GitLab drops all but one of them otherwise."""
    seen: dict[str, int] = {}
    for issue in issues:
        number = seen[issue['fingerprint']] = seen.get(issue['fingerprint'], 0) + 1
        if number > 1:
            issue['fingerprint'] += f'-{number}'
    return issues
