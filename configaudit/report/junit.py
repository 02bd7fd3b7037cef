"""JUnit XML: a suite for every file, a failure for every finding, what was not assessed as skipped."""

from typing import Any, NamedTuple

from configaudit.report import Options
from configaudit.report.document import document
from configaudit.report.escape import visible
from configaudit.result import Result


class Case(NamedTuple):
    """A test case: what was asked, and how it went (failure, error or skipped)."""

    path: str
    name: str
    outcome: str
    kind: str
    message: str
    text: str


def render(result: Result, options: Options) -> str:
    """The report as JUnit XML."""
    whole = document(result)
    cases = [*map(_failure, whole['findings']), *map(_error, whole['errors']), *map(_skipped, whole['not_assessed'])]
    suites: dict[str, list[Case]] = {}
    for case in cases:
        suites.setdefault(case.path, []).append(case)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="configaudit" {_counts(cases)}>']
    for path, group in sorted(suites.items()):
        lines.append(f'  <testsuite name="{_attribute(path)}" {_counts(group)}>')
        for case in group:
            lines += _case(case)
        lines.append('  </testsuite>')
    return '\n'.join([*lines, '</testsuites>', ''])


def _failure(item: dict[str, Any]) -> Case:
    at = item['location']
    lines = [f'{at["path"]}:{at["line"]}:{at["column"]} {item["severity"]}: {item["message"]}']
    lines += [f'related: {near["location"]["path"]}:{near["location"]["line"]} {near["message"]}' for near in item['related']]
    lines += [f'{name.replace("_", " ")}: {item[name]}' for name in ('effect', 'side_effect', 'source') if item[name]]
    if item['fix']:
        lines.append(f'fix: {item["fix"]["description"]}')
    return Case(at['path'], f'{item["rule"]} {item["component"]}', 'failure', item['severity'], item['message'], '\n'.join(map(visible, lines)))


def _error(item: dict[str, Any]) -> Case:
    text = f'{item["path"]}:{item["line"]}:{item["column"]} {item["message"]}'
    return Case(item['path'], 'read', 'error', item['kind'], item['message'], visible(text))


def _skipped(item: dict[str, Any]) -> Case:
    return Case(item['location']['path'], f'{item["rule"]} {item["component"]}', 'skipped', 'not assessed', item['reason'], '')


def _counts(cases: list[Case]) -> str:
    outcomes = [case.outcome for case in cases]
    return (
        f'tests="{len(cases)}" failures="{outcomes.count("failure")}" '
        f'errors="{outcomes.count("error")}" skipped="{outcomes.count("skipped")}"'
    )


def _case(case: Case) -> list[str]:
    head = f'    <testcase name="{_attribute(case.name)}" classname="{_attribute(case.path)}" file="{_attribute(case.path)}">'
    message = f'message="{_attribute(case.message)}"'
    if case.outcome == 'skipped':
        return [head, f'      <skipped {message}/>', '    </testcase>']
    outcome = f'      <{case.outcome} type="{_attribute(case.kind)}" {message}>{_escape(case.text)}</{case.outcome}>'
    return [head, outcome, '    </testcase>']


def _attribute(text: str) -> str:
    return _escape(visible(text)).replace('"', '&quot;')


def _escape(text: str) -> str:
    return text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
