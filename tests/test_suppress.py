"""Suppression: by comment, by annotation, by configuration; and what is said about suppressions."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from configaudit.config import Config, Ignored
from configaudit.places import Document, Place, locate
from configaudit.result import Result
from configaudit.selection import Choices, Scope
from configaudit.suppression_marks import annotations, comments, marks

Run = Callable[..., Result]
RULE = 'vllm-batch-too-wide'
DAY = Config(today='2026-08-01')
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: chat
{head}spec:
  containers:
{above}    - name: engine{behind_name}
      image: vllm/vllm-openai:v0.10.2
      args:
        - --model=/m
{before}        - --max-num-seqs=512{behind}
{after}      resources: {{limits: {{nvidia.com/gpu: 1}}}}
"""


def pod(head: str = '', above: str = '', behind_name: str = '', before: str = '', behind: str = '', after: str = '') -> str:
    return POD.format(head=head, above=above, behind_name=behind_name, before=before, behind=behind, after=after)


def told(result: Result, *rules: str) -> list[str]:
    """What was found, as 'line rule', of some rules and of those about suppressions."""
    return [
        f'{locate(item.place).line} {item.rule.id}' for item in result.findings if item.rule.id in rules or item.rule.id.startswith('suppression')
    ]


IGNORE = f'# configaudit: ignore[{RULE}]'


@pytest.mark.parametrize('text', [
    pod(behind=f'  {IGNORE} swept'),
    pod(before=f'        {IGNORE} swept\n'),
    pod(before=f'        {IGNORE} swept\n        # and another comment\n'),
    pod(behind_name=f'  {IGNORE} swept'),
    pod(above=f'    {IGNORE} swept\n'),
    pod(behind='  # configaudit: ignore[vllm-request-logging-on, vllm-batch-*] swept').replace('/m\n', '/m\n'),
    f'# configaudit: ignore-file[{RULE}] swept\n' + pod(),
    pod(head='  annotations:\n    configaudit.io/ignore: "vllm-batch-too-wide: swept"\n'),
    pod(head='  annotations:\n    configaudit.io/ignore: |\n      vllm-batch-too-wide @engine: swept\n'),
    pod(head='  annotations:\n    configaudit.io/ignore: |\n      vllm-batch-too-wide @engine.max-num-seqs: swept\n'),
    pod(behind=f'  {IGNORE} until 2026-08-02: swept'),
    pod(behind=f'  #configaudit:ignore[{RULE}]').replace('\n', '\r\n'),
])  # fmt: skip
def test_suppressed(run: Run, text: str) -> None:
    result = run({'a.yaml': text}, DAY)
    assert RULE not in [item.rule.id for item in result.findings]
    assert [item.finding.rule.id for item in result.suppressed] == [RULE]
    assert not [line for line in told(result) if 'request-logging' not in line and 'unused' not in line]


@pytest.mark.parametrize(('text', 'expected'), [
    (pod(after=f'        {IGNORE} below\n'), ['11 vllm-batch-too-wide', '12 suppression-unused']),
    (pod(before=f'        {IGNORE} a blank line\n\n'), ['11 suppression-unused', '13 vllm-batch-too-wide']),
    (pod(behind='  # configaudit: ignore[*] all'), ['11 suppression-invalid', '11 vllm-batch-too-wide']),
    (pod(behind='  # configaudit: ignore all'), ['11 suppression-invalid', '11 vllm-batch-too-wide']),
    (pod(behind='  # configaudit: ignore[] all'), ['11 suppression-invalid', '11 vllm-batch-too-wide']),
    (pod(behind='  # configaudit: ignore[error] all'), ['11 suppression-invalid', '11 vllm-batch-too-wide']),
    (pod(behind='  # configaudit: ignore[vllm-batch-to-wide] typo'), ['11 suppression-invalid', '11 vllm-batch-too-wide']),
    (pod(behind=f'  {IGNORE} until tomorrow: x'), ['11 suppression-invalid', '11 vllm-batch-too-wide']),
    (pod(behind=f'  {IGNORE} until 2026-08-01: over'), ['11 suppression-expired', '11 vllm-batch-too-wide']),
    ('\n' * 20 + f'# configaudit: ignore-file[{RULE}] late\n' + pod(), ['21 suppression-invalid', '32 vllm-batch-too-wide']),
    (pod(head='  annotations:\n    configaudit.io/ignore: |\n      vllm-batch-too-wide @proxy: other\n'), ['7 suppression-unused', '14 vllm-batch-too-wide']),
    (pod(head='  annotations:\n    configaudit.io/ignore: |\n\n      vllm-batch-too-wide @engine.port: other\n'), ['8 suppression-unused', '15 vllm-batch-too-wide']),
    (pod(head='  annotations:\n    configaudit.io/ignore: "@engine"\n'), ['6 suppression-invalid', '13 vllm-batch-too-wide']),
    (pod(behind='  # see the configaudit docs, ignore[x] helps'), ['11 vllm-batch-too-wide']),
])  # fmt: skip
def test_not_suppressed(run: Run, text: str, expected: list[str]) -> None:
    result = run({'a.yaml': text}, DAY)
    assert sorted(told(result, RULE)) == sorted(expected)
    assert result.suppressed == ()


def test_no_ignores(run: Run) -> None:
    config = DAY._replace(ignores=False, ignored=(configured(),))
    result = run({'a.yaml': f'# configaudit: ignore-file[{RULE}] x\n' + pod(behind=f'  {IGNORE}')}, config)
    assert told(result, RULE) == ['12 vllm-batch-too-wide']


def test_a_suppression_is_not_unused_while_its_rule_is_off(run: Run) -> None:
    text = pod(after=f'        {IGNORE} below\n')
    assert told(run({'a.yaml': text}, DAY._replace(choices=Choices(ignore=(RULE,))))) == []
    assert told(run({'a.yaml': text}, DAY._replace(choices=Choices(severity={'suppression-unused': 'off'})))) == []


def test_a_reason_is_asked_for_on_request(run: Run) -> None:
    text = pod(behind=f'  {IGNORE}')
    assert told(run({'a.yaml': text}, DAY)) == []
    config = DAY._replace(choices=Choices(severity={'suppression-without-reason': 'warning'}))
    assert told(run({'a.yaml': text}, config)) == ['11 suppression-without-reason']


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
{object}spec:
  selector: {{matchLabels: {{app: chat}}}}
  template:
    metadata:
      labels: {{app: chat}}
{template}    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.10.2
          args: [--model=/m, --max-num-seqs=512]
        - name: second
          image: vllm/vllm-openai:v0.10.2
          args: [--model=/m, --max-num-seqs=600]
"""


def deployment(object: str = '', template: str = '') -> str:  # noqa: A002
    return DEPLOYMENT.format(object=object, template=template)


@pytest.mark.parametrize(('text', 'expected'), [
    (deployment(object='  annotations: {configaudit.io/ignore: vllm-batch-too-wide}\n'), 0),
    (deployment(template='      annotations: {configaudit.io/ignore: vllm-batch-too-wide}\n'), 0),
    (deployment(template='      annotations: {configaudit.io/ignore: "vllm-batch-too-wide @second: x"}\n'), 1),
    (deployment(template='      annotations: {configaudit.io/ignore: "vllm-batch-too-wide @third: x"}\n'), 2),
    (deployment() + '---\n' + (POD.format(head='  annotations: {configaudit.io/ignore: vllm-batch-too-wide}\n', above='', behind_name='', before='', behind='', after='')), 2),
])  # fmt: skip
def test_annotations_reach_what_is_in_the_object(run: Run, text: str, expected: int) -> None:
    assert [item.rule.id for item in run({'a.yaml': text}, DAY).findings].count(RULE) == expected


def test_an_annotation_reaches_flags_that_stand_in_a_configmap(run: Run) -> None:
    text = deployment(template='      annotations: {configaudit.io/ignore: "vllm-batch-too-wide @engine: x"}\n').replace(
        'args: [--model=/m, --max-num-seqs=512]', 'args: [--model=/m, --max-num-seqs=$(SEQS)]\n          env: [{name: SEQS, valueFrom: {configMapKeyRef: {name: c, key: seqs}}}]'
    )
    values = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {seqs: "700"}\n'
    lines = [locate(item.place) for item in run({'a.yaml': text, 'b.yaml': values}, DAY).findings if item.rule.id == RULE]
    assert [(at.path, at.line) for at in lines] == [('a.yaml', 19)]
    lines = [locate(item.place) for item in run({'a.yaml': text.replace('@engine', '@second'), 'b.yaml': values}, DAY).findings if item.rule.id == RULE]
    assert [at.path for at in lines] == ['b.yaml']


@pytest.mark.parametrize(('name', 'text'), [
    ('run.sh', f'#!/bin/bash\n{IGNORE} swept\nvllm serve /m \\\n  --port 8000 \\\n  --max-num-seqs 512\n'),
    ('Dockerfile', f'FROM vllm/vllm-openai:v0.10.2\n{IGNORE} swept\nCMD ["--model=/m", "--max-num-seqs=512"]\n'),
    ('Dockerfile', f'FROM vllm/vllm-openai:v0.10.2\nCMD ["--model=/m", \\\n{IGNORE} swept\n "--max-num-seqs=512"]\n'),
    ('vllm.service', f'[Service]\n{IGNORE} swept\nExecStart=/opt/bin/vllm serve /m --max-num-seqs 512\n'),
    ('compose.yaml', f'services:\n  chat:\n    image: vllm/vllm-openai:v0.10.2\n    {IGNORE} swept\n    command: --model=/m --max-num-seqs=512\n'),
    ('a.yaml', pod().replace(
        '      args:\n        - --model=/m\n        - --max-num-seqs=512\n',
        f'      command: [bash, -c]\n      args:\n        - |\n          {IGNORE} swept\n          exec vllm serve /m \\\n            --max-num-seqs 512\n',
    )),
])  # fmt: skip
def test_every_format_with_comments(run: Run, name: str, text: str) -> None:
    plain = run({name: text.replace('ignore', 'nothing')}, DAY)
    assert RULE in [item.rule.id for item in plain.findings]
    result = run({name: text}, DAY)
    assert told(result, RULE) == []
    assert RULE in [item.finding.rule.id for item in result.suppressed]


def configured(path: tuple[str, ...] = (), objects: tuple[str, ...] = (), expires: str = '', rules: tuple[str, ...] = (RULE,)) -> Ignored:
    return Ignored(rules, Scope(path, objects), 'known', expires, Place(Document('configaudit.yaml', 'yaml', b'ignores: []\n'), 0, 7))


@pytest.mark.parametrize(('ignored', 'expected'), [
    (configured(), []),
    (configured(('a.yaml',)), []),
    (configured((), ('Pod/chat',)), []),
    (configured(('/deploy/*.yaml',)), ['11 vllm-batch-too-wide']),
    (configured((), ('Pod/other',)), ['11 vllm-batch-too-wide']),
    (configured((), (), '2026-08-02'), []),
    (configured((), (), '2026-08-01'), ['11 vllm-batch-too-wide', '1 suppression-expired']),
    (configured((), ('Pod/chat',), rules=('vllm-trust-remote-code',)), ['11 vllm-batch-too-wide', '1 suppression-unused']),
    (configured(('gone/b.yaml',)), ['11 vllm-batch-too-wide', '1 suppression-unused']),
])  # fmt: skip
def test_ignores_of_the_configuration(run: Run, ignored: Ignored, expected: list[str]) -> None:
    result = run({'a.yaml': pod()}, DAY._replace(ignored=(ignored,)))
    assert told(result, RULE) == expected
    assert [item.by for item in result.suppressed] == ['configuration'] * (not expected)


def test_expired_overrides_are_reported(run: Run) -> None:
    assert told(run({'a.yaml': pod()}, DAY._replace(expired=(configured(expires='2026-01-01', rules=()),)))) == ['1 suppression-expired']


def test_suppressed_findings_carry_the_reason(run: Run) -> None:
    [item] = run({'a.yaml': pod(behind=f'  {IGNORE} until 2027-01-31: swept in July')}, DAY).suppressed
    assert (item.reason, item.by) == ('swept in July', 'comment')


def test_one_of_several_sharing_a_value_may_be_suppressed_at_the_value(run: Run) -> None:
    text = 'apiVersion: v1\nkind: List\nitems:\n' + ''.join(
        f'  - kind: Pod\n    apiVersion: v1\n    metadata: {{name: p{number}}}\n    spec:\n      containers:\n'
        f'        - {{name: e, image: "vllm/vllm-openai:v0.10.2", args: {value}}}\n'
        for number, value in enumerate(('&a [--model=/m, "--max-num-seqs=512"]  # configaudit: ignore[vllm-batch-too-wide] x\n         ', '*a'))
    )
    result = run({'a.yaml': text}, DAY)
    assert told(result, RULE) == []
    assert len([item for item in result.suppressed if item.finding.rule.id == RULE]) == 2


def test_marks_are_read_once_for_each_comment() -> None:
    found = list(comments('a', b'x # configaudit: ignore[a] r\n# configaudit: ignore[b]\n# configaudit: ignore[c]\ny\n'))
    assert [(mark.rules, mark.first, mark.last) for mark in found] == [(('a',), 1, 1), (('b',), 4, 4), (('c',), 4, 4)]


@pytest.mark.parametrize(('text', 'lines'), [
    ('# configaudit: ignore[a]\ncmd \\\n --x \\\n --y\nnext\n', (2, 4)),
    ('# configaudit: ignore[a]\r\ncmd \\\r\n --y\r\nnext\r\n', (2, 3)),
    ('x\r# configaudit: ignore[a]\ry\r', (3, 3)),
    ('x\u2028\x0c\n# configaudit: ignore[a]\ny\n', (3, 3)),
    ('x  # configaudit: ignore[a]', (1, 1)),
    ('# configaudit: ignore[a]', (1, 1)),
    ('CMD a \\\n# configaudit: ignore[a]\n  b \\\n  c\nd\n', (3, 4)),
])  # fmt: skip
def test_lines_that_a_comment_covers(text: str, lines: tuple[int, int]) -> None:
    assert [(mark.first, mark.last) for mark in comments('a', text.encode())] == [lines]


def test_hostile_files_take_no_time(run: Run) -> None:
    start = time.process_time()
    assert len(list(comments('a', b'# configaudit: ignore[a] x\n' * 50_000))) == 50_000
    bomb = 'configaudit.io/ignore: x\na0: &a0 [x]\n' + ''.join(f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * 9)}]\n' for n in range(1, 30))
    assert list(annotations('a.yaml', f'apiVersion: v1\nkind: Pod\n{bomb}'.encode())) == []
    assert time.process_time() - start < 5


def test_of_two_reasons_the_first_line_gives_the_one(run: Run) -> None:
    text = pod(behind_name=f'  {IGNORE} at the container', behind=f'  {IGNORE} at the value')
    assert [item.reason for item in run({'a.yaml': text}, DAY).suppressed] == ['at the container']


PIECES = ('# configaudit: ignore', '[', ']', 'a-b', '*', ',', ' until ', '2027-01-31', ':', '\n', '\r', '\\\n', '-file', 'configaudit.io/ignore', ': |\n  ', '@c.s', '\0', '\xe9', '"', '{', '}', '    ')


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(''.join))
@settings(max_examples=300, deadline=None)
def test_marks_survive_anything(text: str) -> None:
    data = f'apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    configaudit.io/ignore: {text}'.encode()
    for mark in marks({'a.yaml': data, 'b.sh': text.encode('latin-1')}):
        at = locate(mark.place)
        assert at.line >= 1
        assert mark.problem or mark.rules or mark.span is None
