"""The launch document as text, Markdown and JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from configaudit.prelaunch import Answer, Launch
from configaudit.report.document import document, errors, findings, locator, reasons
from configaudit.report.escape import json_text, visible
from configaudit.report.markdown import safe as markdown_text
from configaudit.report.wording import plural
from configaudit.result import Result

FORMATS = ('text', 'markdown', 'json')
GATES = {0: 'open', 1: 'closed', 3: 'closed, because something could not be audited', 4: 'closed, because nothing to audit was found'}
"""What an exit status means for the launch."""
_MARKS = {'pass': 'PASS', 'fail': 'FAIL', 'not applicable': 'n/a', 'not assessed': 'OPEN'}
Values = dict[str, Any]


def render(form: str, launch: Launch, result: Result, gate: str) -> str:
    """The document in a format of FORMATS. `gate` is the verdict in words, as in GATES."""
    items = [_item(answer, result) for answer in launch.answers]
    beyond = findings(result._replace(findings=launch.others), locator())
    if form == 'json':
        return json_text(_json(items, beyond, result, gate))
    return (_text if form == 'text' else _markdown)(items, beyond, errors(result), gate)


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


def _json(items: list[Values], beyond: list[Values], result: Result, gate: str) -> Values:
    whole = document(result)
    return {
        'schema': 1, 'checklist': 'july', 'gate': gate, 'items': items, 'summary': _counts(items), 'other_findings': beyond,
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
    return ', '.join(plural(counts[name], name) for name in ('error', 'warning', 'advice') if name in counts)


def _fix(found: Mapping[str, Any]) -> str:
    fix = found['fix']
    if not fix:
        return ''
    commands = '; '.join(fix['commands'])
    return f'{fix["description"]}{" (safe)" if fix["safe"] else ""}{": " + commands if commands else ""}'


def _text(items: list[Values], beyond: list[Values], unread: list[Values], gate: str) -> str:
    lines = ['Launch checklist (July tuning list)', f'Gate {gate}: {_headline(items)}', '']
    for number, item in enumerate(items, 1):
        lines.append(f'{number:2}. {_MARKS[item["outcome"]]:4}  {item["title"]}')
        lines.extend(f'          {line}' for line in _details(item))
    lines += ['', f'Beyond the list: {_severities(beyond) or "nothing found"}']
    lines.extend(f'    {visible(line)}' for found in beyond if found['severity'] == 'error' for line in (f'{_at(found)}  {found["message"]} [{found["rule"]}]',))
    lines.extend(visible(f'Not audited: {_unread(error)}') for error in unread)
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
        yield visible(f'{entry["rule"]} passed on {plural(entry["components"], "component")}')
    if item['outcome'] in ('fail', 'not assessed'):
        yield f'expected: {item["effect"]}; side effect: {item["side_effect"]}'
        yield f'note: {item["note"]}'


def _unread(error: Mapping[str, Any]) -> str:
    return f'{error["path"]}{":" + str(error["line"]) if error["line"] else ""}: {error["message"]}'


def _markdown(items: list[Values], beyond: list[Values], unread: list[Values], gate: str) -> str:
    rows = [
        f'| {number} | {markdown_text(item["title"])} | **{item["outcome"]}** | {markdown_text(item["effect"])} | {markdown_text(item["side_effect"])} |'
        for number, item in enumerate(items, 1)
    ]
    parts = [
        '# Launch checklist', f'**Gate {gate}**: {_headline(items)}.',
        '\n'.join(['| # | Item | Outcome | Expected effect | Side effect |', '| --- | --- | --- | --- | --- |', *rows]),
    ]  # fmt: skip
    for number, item in enumerate(items, 1):
        parts += [f'## {number}. {markdown_text(item["title"])}: {item["outcome"]}', *_sections(item)]
    parts += ['## Beyond the list', markdown_text(_severities(beyond)) or 'Nothing found.']
    severe = [f'- {markdown_text(_at(found))} {markdown_text(found["message"])}' for found in beyond if found['severity'] == 'error']
    if severe:
        parts.append('\n'.join(severe))
    if unread:
        parts += ['## Not audited', '\n'.join(f'- {markdown_text(_unread(error))}' for error in unread)]
    return '\n\n'.join(parts) + '\n'


def _sections(item: Values) -> Iterator[str]:
    lines = []
    for found in item['findings']:
        lines.append(f'- **{found["severity"]}** {markdown_text(_at(found))}: {markdown_text(found["message"])} ({markdown_text(found["rule"])})')
        lines.extend(f'  - see {markdown_text(_at(near))} {markdown_text(near["message"])}' for near in found['related'])
        if fix := _fix(found):
            lines.append(f'  - fix: {markdown_text(fix)}')
    lines.extend(f'- not assessed {entry["count"]} times: {markdown_text(entry["reason"])}' for entry in item['not_assessed'])
    lines.extend(f'- {markdown_text(entry["rule"])} passed on {plural(entry["components"], "component")}' for entry in item['passed'])
    if lines:
        yield '\n'.join(lines)
    yield f'*Note.* {markdown_text(item["note"])} ({markdown_text(item["source"])})'
