"""SARIF: valid, exact, and silent where a viewer would obey."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sarif_subset import LOG

from configaudit.report import render
from configaudit.result import Result


def run_of(result: Result) -> dict[str, Any]:
    return dict(json.loads(render('sarif', result))['runs'][0])


@pytest.mark.parametrize('name', ['sample', 'hostile'])
def test_valid(name: str, request: pytest.FixtureRequest) -> None:
    log = json.loads(render('sarif', request.getfixturevalue(name)))
    jsonschema.Draft202012Validator(LOG).validate(log)


@pytest.mark.skipif('CONFIGAUDIT_SARIF_SCHEMA' not in os.environ, reason='names no copy of the official schema')
@pytest.mark.parametrize('name', ['sample', 'hostile'])
def test_valid_officially(name: str, request: pytest.FixtureRequest) -> None:
    schema = json.loads(Path(os.environ['CONFIGAUDIT_SARIF_SCHEMA']).read_text())
    validator = jsonschema.validators.validator_for(schema)
    validator(schema, format_checker=validator.FORMAT_CHECKER).validate(json.loads(render('sarif', request.getfixturevalue(name))))


def test_rule_index_points_to_the_rule(sample: Result) -> None:
    run = run_of(sample)
    rules = [rule['id'] for rule in run['tool']['driver']['rules']]
    assert [rules[item['ruleIndex']] for item in run['results']] == [item['ruleId'] for item in run['results']]


def test_fix_is_the_byte_edit(sample: Result) -> None:
    fix = run_of(sample)['results'][1]['fixes'][0]['artifactChanges'][0]
    replacement = fix['replacements'][0]
    region = replacement['deletedRegion']
    data = sample.findings[1].place.document.data
    new = data[: region['byteOffset']] + base64.b64decode(replacement['insertedContent']['binary'])
    assert new.endswith(b'terminationGracePeriodSeconds: 90')
    assert fix['artifactLocation']['uri'] == 'deploy/chat.yaml'


def test_suppressed_and_not_audited(sample: Result) -> None:
    run = run_of(sample)
    assert run['results'][-1]['suppressions'] == [{'kind': 'inSource', 'status': 'accepted', 'justification': 'measured, DB-17'}]
    assert not any('suppressions' in item for item in run['results'][:-1])
    invocation = run['invocations'][0]
    assert not invocation['executionSuccessful']
    assert [item['level'] for item in invocation['toolExecutionNotifications']] == ['error', 'note', 'note', 'note']


def test_no_placeholder_and_no_link(one: Any) -> None:
    run = run_of(one('a: b\n', 'b', 'use {0} or [this](1)'))
    assert run['results'][0]['message']['text'] == 'use {{0}} or \\[this\\](1)'


@pytest.mark.parametrize(
    ('path', 'uri'),
    [
        ('a b/ü%.yaml', 'a%20b/%C3%BC%25.yaml'),
        ('a:b.yaml', 'a%3Ab.yaml'),
        ('<stdin>', '%3Cstdin%3E'),
        ('a\udcff.yaml', 'a%FF.yaml'),
        ('/proc/sys/net', 'file:///proc/sys/net'),
    ],
)
def test_path_is_a_uri(path: str, uri: str, one: Any) -> None:
    at = run_of(one('a: b\n', 'b', path=path))['results'][0]['locations'][0]['physicalLocation']['artifactLocation']
    assert at['uri'] == uri
    assert ('uriBaseId' in at) == (not path.startswith('/'))
