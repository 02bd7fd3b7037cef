"""Every format: the same findings, nothing hostile obeyed, no secret, no difference between runs."""

import json
import re
import xml.etree.ElementTree as Xml
from collections.abc import Callable
from typing import Any

import pytest
from markdown_it import MarkdownIt

from configaudit.report import REPORTERS, Options, render
from configaudit.report.document import document
from configaudit.result import Result

UNSAFE = re.compile('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]')
LOOKS = {'plain': Options(), 'verbose': Options(verbose=True)}
every_format = pytest.mark.parametrize('name', REPORTERS)


@every_format
@pytest.mark.parametrize('look', LOOKS)
def test_nothing_hostile_gets_through(name: str, look: str, hostile: Result) -> None:
    output = render(name, hostile, LOOKS[look])
    assert UNSAFE.search(output) is None
    output.encode()
    commands = [line for line in output.splitlines() if line.lstrip().startswith('::')]
    assert all(name == 'github' and line.startswith(('::error file=', '::notice title=')) for line in commands)
    if name in ('text', 'github'):
        assert '##[' not in output


def test_coloured_text_has_no_foreign_escape(hostile: Result) -> None:
    output = render('text', hostile, Options(color=True, verbose=True))
    assert UNSAFE.search(re.sub(r'\x1b\[[0-9;]*m', '', output)) is None
    assert re.sub(r'\x1b\[[0-9;]*m', '', output).rstrip() == re.sub(r' +$', '', render('text', hostile, Options(verbose=True)), flags=re.MULTILINE).rstrip()


@every_format
def test_the_same_findings_stand_in_each(name: str, sample: Result) -> None:
    output = render(name, sample)
    places = {(item['rule'], item['location']['path'], item['location']['line']) for item in document(sample)['findings']}
    assert len(places) == 5
    for rule, path, line in places:
        assert rule in output
        assert path in output
        assert str(line) in output


@every_format
def test_stable(name: str, sample: Result) -> None:
    assert render(name, sample) == render(name, sample)
    assert render(name, sample).endswith('\n')


SECRET = 'hunter2xyz99'
LEAKS: dict[str, tuple[str, str]] = {
    'name on the line before': (f'env:\n  - name: DB_PASSWORD\n    value: {SECRET}\n', SECRET),
    'name on the line after': (f'env:\n  - value: {SECRET}\n    name: DB_PASSWORD\n', SECRET),
    'flow mapping': (f'env: [{{name: API_KEY, value: {SECRET}}}, 512]\n', '512'),
    'flag and item': (f'args:\n  - --api-key\n  - {SECRET}\n', SECRET),
    'flag and word': (f'run: vllm serve --api-key {SECRET} --max 512\n', '512'),
    'json arguments': (f'args: ["--api-key", "{SECRET}", "512"]\n', '512'),
    'url': (f'DATABASE_URL=postgres://user:{SECRET}@db:5432/x?pool=512\n', '512'),
    'go dsn': (f'x := "user:{SECRET}@tcp(db:3306)/x?pool=512"\n', '512'),
    'block below a secret key': (f'password: |\n  {SECRET}\n  512\n', SECRET),
    'block below a secret value': (f'env:\n  - name: TLS_SECRET\n    value: |\n      {SECRET}\n', SECRET),
    'secret object': (f'apiVersion: v1\nkind: Secret\nstringData:\n  nginx.conf: {SECRET}\n', SECRET),
    'words': ('password: correct horse hunter2xyz99\nmore: 512\n', 'horse'),
    'default of a variable': (f'image: ${{DB_PASSWORD:-{SECRET}}}\n', 'image'),
    'header': (f'  proxy_set_header X-Api-Key {SECRET};\n', 'X-Api-Key'),
    'bearer': (f'  - Authorization: Bearer {SECRET}\n', 'Bearer'),
    'quoted with spaces': (f'DB_PASSWORD="a {SECRET}" x=512\n', '512'),
}


@every_format
@pytest.mark.parametrize('leak', LEAKS)
def test_no_secret_of_the_source_is_shown(name: str, leak: str, one: Callable[..., Result]) -> None:
    output = render(name, one(*LEAKS[leak]), Options(verbose=True))
    assert SECRET not in output


def test_the_lines_are_shown_at_all(one: Callable[..., Result]) -> None:
    assert 'value: ***' in render('text', one(*LEAKS['name on the line before']))


@every_format
@pytest.mark.parametrize(
    'text', ['HF_TOKEN=hf_abcdefghijkl', 'redis://:hunter2xyz99@cache', 'password: hunter2xyz99', '"api_key": "hunter2xyz99"'],
)
def test_no_secret_in_texts(name: str, text: str, one: Callable[..., Result]) -> None:
    output = render(name, one('a: b\n', 'b', text, values={'value': text, 'password': 'hunter2xyz99', 'map': {'token': 'hunter2xyz99'}}))
    assert 'hunter2xyz99' not in output
    assert 'hf_abcdefghijkl' not in output


def test_junit_is_well_formed(hostile: Result, sample: Result) -> None:
    root = Xml.fromstring(render('junit', hostile))
    assert '<script>' in (root.find('.//failure') or root[0][0][0]).attrib['message']
    root = Xml.fromstring(render('junit', sample))
    for suite in (root, *root):
        cases = suite.findall('.//testcase')
        counted = {name: len(suite.findall(f'.//{tag}')) for name, tag in (('failures', 'failure'), ('errors', 'error'), ('skipped', 'skipped'))}
        assert {name: int(suite.attrib[name]) for name in counted} == counted
        assert int(suite.attrib['tests']) == len(cases)


def test_markdown_shows_text_only(hostile: Result) -> None:
    html = MarkdownIt('gfm-like', {'linkify': False, 'html': True}).render(render('markdown', hostile))
    assert '<script' not in html
    assert '<a ' not in html
    assert '<code' not in html
    assert '@admins' not in html
    assert '&lt;script&gt;' in html
    assert {len(re.findall('<td', row)) for row in re.findall(r'<tr>(?:(?!</tr>).)*<td.*?</tr>', html, re.DOTALL)} <= {3, 4}


def test_github_escapes(one: Callable[..., Result]) -> None:
    output = render('github', one('a: b\n', 'b', '50% is\nwrong', path='x,y:z\n.yaml'))
    head, _, text = output.removeprefix('::error ').partition('::')
    assert head.startswith('file=x%2Cy%3Az\\n.yaml,line=1,endLine=1,col=4,endColumn=4,title=')
    assert text.startswith('50%25 is\\nwrong')


def test_gitlab(sample: Result) -> None:
    issues = json.loads(render('gitlab', sample))
    assert [item['severity'] for item in issues] == ['info', 'critical', 'info', 'major', 'major', 'blocker']
    assert len({item['fingerprint'] for item in issues}) == len(issues)
    assert all(item.keys() >= {'description', 'check_name', 'fingerprint', 'severity', 'location'} for item in issues)
    twice = sample._replace(findings=sample.findings[:1] * 2)
    assert len({item['fingerprint'] for item in json.loads(render('gitlab', twice))}) == 3


def test_json_keeps_the_contract(sample: Result) -> None:
    whole = json.loads(render('json', sample))
    assert list(whole) == ['schema', 'findings', 'not_assessed', 'suppressed', 'skipped', 'errors', 'components', 'summary']
    assert whole['schema'] == 1
    item: dict[str, Any] = whole['findings'][1]
    assert list(item) == [
        'rule', 'severity', 'confidence', 'message', 'values', 'component', 'checklist', 'location', 'related', 'fix', 'effect',
        'side_effect', 'source', 'docs', 'fingerprint',
    ]  # fmt: skip
    assert item['values'] == {'value': 30, 'longest': 60.0, 'limit': 'unlimited'}
    assert item['location'] == {'path': 'deploy/chat.yaml', 'line': 8, 'column': 38, 'end_line': 8, 'end_column': 40}
    assert list(item['fix']) == ['safe', 'description', 'edits', 'commands']
    assert list(item['fix']['edits'][0]) == ['path', 'start', 'end', 'text']
    assert whole['findings'][2]['fix'] is None
    assert whole['findings'][4]['fix']['edits'] == []
    assert whole['suppressed'][0]['reason'] == 'measured, DB-17'
    assert list(whole['components'][0]) == ['kind', 'name', 'engine_version', 'version_from', 'location']
    assert whole['summary']['severity'] == {'error': 1, 'warning': 2, 'advice': 2}
    assert whole['summary']['not_assessed'] == 3


def test_json_keeps_hostile_text_as_data(hostile: Result) -> None:
    whole = json.loads(render('json', hostile))
    assert whole['findings'][0]['message'] == hostile.findings[0].message


def test_an_edit_with_a_credential_is_not_shown(one: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    from configaudit import fix
    from configaudit.model import Change, Fix

    monkeypatch.setattr(fix, 'edits_of', lambda finding: (fix.FileEdit('a.yaml', 0, 1, 'password: hunter2xyz99'),))
    result = one('a: b\n', 'b', fix=Fix((Change(None, 1, 'a'),)))
    assert json.loads(render('json', result))['findings'][0]['fix']['edits'] == []


def test_plain_text_needs_no_rich(sample: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def guarded(name: str, *rest: Any) -> Any:
        assert not name.startswith('rich'), name
        return real(name, *rest)

    monkeypatch.setattr(builtins, '__import__', guarded)
    render('text', sample)
