"""The launch document as text, Markdown and JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from configaudit.prelaunch import Answer, Launch
from configaudit.report.document import document, findings, locator, reasons
from configaudit.report.escape import json_text, visible
from configaudit.report.markdown import _safe as markdown_text
from configaudit.result import Result

FORMATS = ('text', 'markdown', 'json')
_MARKS = {'pass': 'PASS', 'fail': 'FAIL', 'not applicable': 'n/a', 'not assessed': 'OPEN'}
Values = dict[str, Any]


def render(form: str, launch: Launch, result: Result) -> str:
    """The document in a format of FORMATS."""
    items = [_item(answer, result) for answer in launch.answers]
    beyond = findings(result._replace(findings=launch.others), locator())
    if form == 'json':
        return json_text(_json(items, beyond, result))
    return (_text if form == 'text' else _markdown)(items, beyond)


def _item(answer: Answer, result: Result) -> Values:
    item = answer.item
    return {
        'tag': item.tag, 'title': item.title, 'outcome': answer.outcome, 'effect': item.effect, 'side_effect': item.side_effect,
        'note': item.caution, 'source': item.source,
        'findings': findings(result._replace(findings=answer.findings), locator()),
        'passed': [{'rule': rule, 'components': count} for rule, count in answer.passed],
        'not_assessed': [
            {'reason': reason, 'count': count} for reason, count in reasons(result._replace(not_assessed=answer.not_assessed))
        ],
    }  # fmt: skip


def _json(items: list[Values], beyond: list[Values], result: Result) -> Values:
    whole = document(result)
    return {
        'schema': 1, 'checklist': 'july', 'items': items, 'summary': _counts(items), 'other_findings': beyond,
        'errors': whole['errors'], 'skipped': whole['skipped'],
    }  # fmt: skip


def _counts(items: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    counts = dict.fromkeys(_MARKS, 0)
    for item in items:
        counts[item['outcome']] += 1
    return counts


def _headline(items: Iterable[Mapping[str, Any]]) -> str:
    return ', '.join(f'{count} {outcome}' for outcome, count in _counts(items).items())


def _at(found: Mapping[str, Any]) -> str:
    place = found['location']
    return f'{place["path"]}:{place["line"]}:{place["column"]}'


def _severities(found: Iterable[Mapping[str, Any]]) -> str:
    counts: dict[str, int] = {}
    for item in found:
        counts[item['severity']] = counts.get(item['severity'], 0) + 1
    return ', '.join(f'{counts[name]} {name}' for name in ('error', 'warning', 'advice') if name in counts)


def _fix(found: Mapping[str, Any]) -> str:
    fix = found['fix']
    if not fix:
        return ''
    commands = '; '.join(fix['commands'])
    return f'{fix["description"]}{" (safe)" if fix["safe"] else ""}{": " + commands if commands else ""}'


def _text(items: list[Values], beyond: list[Values]) -> str:
    lines = ['Launch checklist (July tuning list)', _headline(items), '']
    for number, item in enumerate(items, 1):
        lines.append(f'{number:2}. {_MARKS[item["outcome"]]:4}  {item["title"]}')
        lines.extend(f'          {line}' for line in _details(item))
    lines += ['', f'Beyond the list: {_severities(beyond) or "nothing found"}']
    lines.extend(f'    {visible(line)}' for found in beyond if found['severity'] == 'error' for line in (f'{_at(found)}  {found["message"]} [{found["rule"]}]',))
    return '\n'.join(lines) + '\n'


def _details(item: Values) -> Iterator[str]:
    """What a person needs to decide on one item, a line each."""
    for found in item['findings']:
        yield visible(f'{_at(found)}  {found["severity"]}: {found["message"]} [{found["rule"]}]')
        for near in found['related']:
            yield visible(f'  see {_at(near)} {near["message"]}')
        if fix := _fix(found):
            yield visible(f'  fix: {fix}')
    for entry in item['not_assessed']:
        yield visible(f'not assessed, {entry["count"]}x: {entry["reason"]}')
    for entry in item['passed']:
        yield visible(f'{entry["rule"]} passed on {entry["components"]}')
    if item['outcome'] in ('fail', 'not assessed'):
        yield f'expected: {item["effect"]}; side effect: {item["side_effect"]}'
        yield f'note: {item["note"]}'


def _markdown(items: list[Values], beyond: list[Values]) -> str:
    rows = [
        f'| {number} | {markdown_text(item["title"])} | **{item["outcome"]}** | {markdown_text(item["effect"])} | {markdown_text(item["side_effect"])} |'
        for number, item in enumerate(items, 1)
    ]
    parts = [
        '# Launch checklist', f'{_headline(items)}.',
        '\n'.join(['| # | Item | Outcome | Expected effect | Side effect |', '| --- | --- | --- | --- | --- |', *rows]),
    ]  # fmt: skip
    for number, item in enumerate(items, 1):
        parts += [f'## {number}. {markdown_text(item["title"])}: {item["outcome"]}', *_sections(item)]
    parts += ['## Beyond the list', markdown_text(_severities(beyond)) or 'Nothing found.']
    errors = [f'- {markdown_text(_at(found))} {markdown_text(found["message"])}' for found in beyond if found['severity'] == 'error']
    return '\n\n'.join([*parts, *(['\n'.join(errors)] if errors else [])]) + '\n'


def _sections(item: Values) -> Iterator[str]:
    lines = []
    for found in item['findings']:
        lines.append(f'- **{found["severity"]}** {markdown_text(_at(found))}: {markdown_text(found["message"])} ({markdown_text(found["rule"])})')
        lines.extend(f'  - see {markdown_text(_at(near))} {markdown_text(near["message"])}' for near in found['related'])
        if fix := _fix(found):
            lines.append(f'  - fix: {markdown_text(fix)}')
    lines.extend(f'- not assessed {entry["count"]} times: {markdown_text(entry["reason"])}' for entry in item['not_assessed'])
    lines.extend(f'- {markdown_text(entry["rule"])} passed on {entry["components"]}' for entry in item['passed'])
    if lines:
        yield '\n'.join(lines)
    yield f'*Note.* {markdown_text(item["note"])} ({markdown_text(item["source"])})'
