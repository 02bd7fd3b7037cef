"""SARIF 2.1.0 for code scanning: rules with their help, results with regions and fixes, what was not audited as notifications.

Specification: OASIS SARIF 2.1.0. Fixes are byte regions, whose new content the specification wants in base64.
"""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from configaudit import VERSION
from configaudit.model import Rule
from configaudit.report import Options
from configaudit.report.document import docs_of, document
from configaudit.report.escape import json_text, visible
from configaudit.result import Result

Values = dict[str, Any]

SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
_LEVELS = {'error': 'error', 'warning': 'warning', 'advice': 'note'}
_PROBLEMS = {'error': 'error', 'warning': 'warning', 'advice': 'recommendation'}
_ROOT = '%SRCROOT%'


def render(result: Result, options: Options) -> str:
    """The report as one SARIF run."""
    whole = document(result)
    found = (item.rule for item in (*result.findings, *(hidden.finding for hidden in result.suppressed)))
    rules = list({rule.id: rule for rule in (*result.registry.rules, *found)}.values())
    index = {rule.id: at for at, rule in enumerate(rules)}
    run = {
        'tool': {'driver': {'name': 'configaudit', 'version': VERSION, 'rules': [_rule(rule) for rule in rules]}},
        'columnKind': 'unicodeCodePoints',
        'invocations': [_invocation(result, whole)],
        'results': [_result(item, index) for item in whole['findings']] + [_hidden(item, index) for item in whole['suppressed']],
        'properties': {'summary': whole['summary']},
    }
    return json_text({'$schema': SCHEMA, 'version': '2.1.0', 'runs': [run]})


def _rule(rule: Rule) -> Values:
    paragraphs = _paragraphs(rule.doc) or [rule.id]
    facts = _facts(rule)
    text = [*paragraphs, *(f'{name}: {value}' for name, value in facts)]
    markdown = [*paragraphs, *(f'**{name}:** {value}' for name, value in facts)]
    return {
        'id': rule.id,
        'shortDescription': {'text': _message(paragraphs[0])},
        'fullDescription': {'text': _message(' '.join(paragraphs))},
        'help': {'text': _help(text), 'markdown': _help(markdown)},
        'defaultConfiguration': {'level': _LEVELS[rule.severity]},
        'properties': {
            'precision': rule.confidence,
            'problem.severity': _PROBLEMS[rule.severity],
            'tags': ['configuration', *rule.on, *rule.checklist],
            'docs': docs_of(rule.id),
        },
    }


def _paragraphs(doc: str) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    blocks = '\n'.join(line.strip() for line in doc.strip().splitlines()).split('\n\n')
    return [' '.join(block.split()) for block in blocks if block.strip()]


def _facts(rule: Rule) -> list[tuple[str, str]]:
    facts = {
        'Effect': rule.effect, 'Side effect': rule.side_effect, 'Holds for versions': rule.versions, 'Source': rule.source,
        'Options': ', '.join(f'{name}={value}' for name, value in rule.options.items()),
    }  # fmt: skip
    return [(name, value) for name, value in facts.items() if value]


def _result(item: Values, index: dict[str, int]) -> Values:
    out: Values = {
        'ruleId': item['rule'],
        'ruleIndex': index[item['rule']],
        'level': _LEVELS[item['severity']],
        'message': {'text': _message(item['message'])},
        'locations': [_location(item['location']) | _logical(item)],
        'partialFingerprints': {'configaudit/v1': item['fingerprint']},
        'properties': {name: item[name] for name in ('severity', 'confidence', 'values', 'checklist', 'effect', 'side_effect', 'source', 'docs')},
    }
    if item['related']:
        out['relatedLocations'] = [
            {'id': number, **_location(near['location']), 'message': {'text': _message(near['message'])}}
            for number, near in enumerate(item['related'], 1)
        ]
    if item['fix'] and item['fix']['edits']:
        out['fixes'] = [_fix(item['fix'])]
    return out


def _hidden(item: Values, index: dict[str, int]) -> Values:
    """A suppressed finding: suppressions inside the file or object are `inSource`, all others `external`."""
    kind = 'inSource' if item['by'] in ('comment', 'annotation') else 'external'
    return _result(item, index) | {'suppressions': [{'kind': kind, 'status': 'accepted', 'justification': visible(item['reason'])}]}


def _logical(item: Values) -> Values:
    if not item['component']:
        return {}
    return {'logicalLocations': [{'fullyQualifiedName': visible(item['component'])}]}


def _location(at: Values) -> Values:
    place: Values = {'artifactLocation': _artifact(at['path'])}
    if at['line']:
        place['region'] = {
            'startLine': at['line'],
            'startColumn': at['column'] or 1,
            'endLine': at.get('end_line') or at['line'],
            'endColumn': at.get('end_column') or at['column'] or 1,
        }
    return {'physicalLocation': place}


def _artifact(path: str) -> Values:
    """A path as a URI: relative ones to the root of the sources."""
    try:
        uri = quote(path.encode('utf-8', 'surrogateescape'), safe='/')
    except UnicodeEncodeError:
        uri = quote(visible(path), safe='/')
    return {'uri': f'file://{uri}'} if path.startswith('/') else {'uri': uri, 'uriBaseId': _ROOT}


def _fix(fix: Values) -> Values:
    files: dict[str, list[Values]] = {}
    for edit in fix['edits']:
        files.setdefault(edit['path'], []).append(_replacement(edit))
    return {
        'description': {'text': _message(fix['description'] + ('' if fix['safe'] else ' (unsafe: weigh it first)'))},
        'artifactChanges': [{'artifactLocation': _artifact(path), 'replacements': edits} for path, edits in files.items()],
    }


def _replacement(edit: Values) -> Values:
    region: Values = {'deletedRegion': {'byteOffset': edit['start'], 'byteLength': edit['end'] - edit['start']}}
    if edit['text']:
        region['insertedContent'] = {'binary': b64encode(edit['text'].encode('utf-8', 'replace')).decode(), 'text': edit['text']}
    return region


def _invocation(result: Result, whole: Values) -> Values:
    notes = [
        {
            'level': 'error' if item.fatal else 'warning',
            'message': {'text': _message(f'{shown["kind"]}: {shown["message"]}')},
            'locations': [_location(shown)],
        }
        for item, shown in zip(result.errors, whole['errors'])
    ]
    notes += [
        {'level': 'note', 'message': {'text': _message(f'skipped: {item["reason"]}')}, 'locations': [_location({**item, 'line': 0})]}
        for item in whole['skipped']
    ]
    notes += [
        {'level': 'note', 'message': {'text': _message(f'not assessed on {count} components: {reason}')}, 'associatedRule': {'id': item['rule']}}
        for item in whole['summary']['not_assessed_by_rule']
        for reason, count in item['reasons'].items()
    ]
    return {'executionSuccessful': not any(error.fatal for error in result.errors), 'toolExecutionNotifications': notes}


def _message(text: str) -> str:
    """A message string: braces doubled, so that nothing is a placeholder; brackets escaped, so that nothing is a link."""
    return _literal(visible(text)).replace('[', '\\[').replace(']', '\\]')


def _help(paragraphs: Iterable[str]) -> str:
    return _literal('\n\n'.join(map(visible, paragraphs)))


def _literal(text: str) -> str:
    return text.replace('{', '{{').replace('}', '}}')
