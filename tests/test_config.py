"""The configuration: found, read, checked with places, and applied to rules."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from configaudit import cli
from configaudit.config import Config, find, read_config, rebase
from configaudit.errors import UsageError
from configaudit.selection import Choices, Override, Scope, in_objects, in_paths, matches
from configaudit.suppression_rules import RULES

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: ml}
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.10.2
      args: [--model=/m, --max-num-seqs=512]
      resources: {limits: {nvidia.com/gpu: 1}}
"""
RULE = 'vllm-batch-too-wide'


def read(tmp_path: Path, text: str, name: str = 'configaudit.yaml', *, trusted: bool = False) -> Config:
    (tmp_path / name).write_text(text)
    return read_config(str(tmp_path / name), trusted=trusted, today='2026-08-01')


FULL = """\
required-version: '>=0.1'
select: [vllm, july]
ignore: pool-unbounded
severity: {vllm-batch-too-wide: warning, vllm-trust-remote-code: off}
rules: {vllm-batch-too-wide: {limit: 256}}
exclude: [examples/, '*.bak.yaml']
overrides:
  - paths: [dev/]
    objects: Deployment/ml/chat
    ignore: july-1
    reason: nobody waits
    expires: 2026-12-31
ignores:
  - {rule: vllm-batch-too-wide, path: a.yaml, object: chat, reason: swept, expires: 2027-01-31}
service: {longest_generation_s: 2m, max_ttft_s: 1.5, target_rps: 40}
engine_version: {vllm: 0.10}
gpu: H100
links: [{client: gateway, server: orders}]
complete: true
profile: throughput
plugins: [house]
fail-on: error
min-confidence: medium
baseline: known.json
values: prod.yaml
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    config = read(tmp_path, FULL)
    context, choices = config.context, config.choices
    assert (context.service.longest_generation_s, context.service.max_ttft_s, context.service.target_rps) == (120, 1.5, 40)
    assert choices.service == {'longest_generation_s': 120, 'max_ttft_s': 1.5, 'target_rps': 40}
    assert (context.gpu, context.complete, context.profile, context.links) == ('H100', True, 'throughput', (('gateway', 'orders'),))
    assert context.engine_versions == {'vllm': '0.10'}
    assert (choices.select, choices.ignore, choices.profile) == (('vllm', 'july'), ('pool-unbounded',), 'throughput')
    assert choices.severity == {'vllm-batch-too-wide': 'warning', 'vllm-trust-remote-code': 'off'}
    assert choices.rules == {'vllm-batch-too-wide': {'limit': 256}}
    assert choices.overrides == (Override(Scope(('dev/',), ('Deployment/ml/chat',)), (), ('july-1',)),)
    assert (config.exclude, config.plugins, config.fail_on) == (('examples/', '*.bak.yaml'), ('house',), 'error')
    assert (config.min_confidence, config.baseline) == ('medium', str(tmp_path / 'known.json'))
    assert config.values == (str(tmp_path / 'prod.yaml'),)
    [ignored] = config.ignored
    assert (ignored.rules, ignored.scope, ignored.expires) == (('vllm-batch-too-wide',), Scope(('a.yaml',), ('chat',)), '2027-01-31')


def test_pyproject_says_the_same(tmp_path: Path) -> None:
    config = read(tmp_path, """\
[project]
name = "x"
[tool.configaudit]
fail-on = "error"
select = ["vllm"]
engine_version = "0.10.2"
[tool.configaudit.rules.vllm-batch-too-wide]
limit = 256
[tool.configaudit.service]
longest_generation_s = 120
[[tool.configaudit.ignores]]
rule = "vllm-batch-too-wide"
reason = "swept"
expires = 2027-01-31
[[tool.configaudit.ignores]]
rule = ["a-b", "c-d"]
reason = "known"
""", 'pyproject.toml')  # fmt: skip
    assert (config.fail_on, config.choices.select, config.context.engine_versions) == ('error', ('vllm',), {'': '0.10.2'})
    assert config.choices.rules == {'vllm-batch-too-wide': {'limit': 256}}
    assert config.context.service.longest_generation_s == 120
    assert [(item.rules, item.expires) for item in config.ignored] == [(('vllm-batch-too-wide',), '2027-01-31'), (('a-b', 'c-d'), '')]


@pytest.mark.parametrize(('text', 'message'), [
    ('selct: [vllm]\n', "configaudit.yaml:1:1: unknown key 'selct': did you mean 'select'?"),
    ('service:\n  longest_generation: 3\n', "configaudit.yaml:2:3: unknown key 'longest_generation' in service: did you mean 'longest_generation_s'?"),
    ('service: {max_ttft_s: soon}\n', "configaudit.yaml:1:23: service.max_ttft_s: 'soon' stands where seconds, or a duration such as '90s' or '2m' belongs"),
    ('fail-on: warn\n', "configaudit.yaml:1:10: fail-on: 'warn' is none of error, warning, advice, never; did you mean 'warning'?"),
    ('severity:\n  a: fatal\n', 'configaudit.yaml:2:6: severity.a:'),
    ('complete: maybe\n', "configaudit.yaml:1:11: complete: 'maybe' stands where true or false belongs"),
    ('ignores:\n  - {rule: a}\n', "configaudit.yaml:2:6: ignores[0]: 'reason' is missing"),
    ('ignores:\n  - {rule: a, reason: b, expires: 2027-13-01}\n', 'a date such as 2027-01-31'),
    ('overrides: {}\n', 'overrides: a mapping stands where a list belongs'),
    ('- a\n', 'the file: a list stands where a mapping belongs'),
    ('select: [[a]]\n', 'select: a list stands where a text or a list of texts belongs'),
    ('select: a\nselect: b\n', "configaudit.yaml:2:1: 'select' stands twice"),
    ('select: [a\n', 'configaudit.yaml:2:1: '),
    ("required-version: '>=9'\n", 'written for configaudit >=9, and this is'),
    ("required-version: 'abc'\n", 'not a version range'),
    ('rule-files: [x.py]\n', 'counts only in a file that --config names'),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def test_empty_file_is_the_default(tmp_path: Path) -> None:
    config = read(tmp_path, '# nothing yet\n')
    assert config._replace(path='', root='', today='') == Config()


def test_trusted_file_may_name_rule_files(tmp_path: Path) -> None:
    assert read(tmp_path, 'rule-files: [x.py]\n', trusted=True).rule_files == (str(tmp_path / 'x.py'),)


def test_found_upwards_to_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / 'repo' / 'deploy' / 'prod'
    inner.mkdir(parents=True)
    (tmp_path / 'configaudit.yaml').write_text('')
    assert find(str(inner)) == str(tmp_path / 'configaudit.yaml')
    (tmp_path / 'repo' / '.git').mkdir()
    assert find(str(inner)) == ''
    (tmp_path / 'repo' / 'pyproject.toml').write_text('[tool.other]\n')
    assert find(str(inner)) == ''
    (tmp_path / 'repo' / 'pyproject.toml').write_text('[tool.configaudit]\n')
    assert find(str(inner)) == str(tmp_path / 'repo' / 'pyproject.toml')
    (tmp_path / 'repo' / 'configaudit.yaml').write_text('')
    assert find(str(inner)) == str(tmp_path / 'repo' / 'configaudit.yaml')


@pytest.mark.parametrize(('pattern', 'within', 'expected'), [
    ('examples/', 'deploy', 'examples/'),
    ('/deploy/old/', 'deploy', '/old/'),
    ('deploy/old.yaml', 'deploy', '/old.yaml'),
    ('*/old.yaml', 'deploy', '/old.yaml'),
    ('**/old.yaml', 'deploy', '/**/old.yaml'),
    ('charts/old.yaml', 'deploy', ''),
    ('!deploy/keep.yaml', 'deploy', '!/keep.yaml'),
    ('deploy/a/b.yaml', 'deploy/a', '/b.yaml'),
    ('deploy/old.yaml', '', 'deploy/old.yaml'),
])  # fmt: skip
def test_patterns_are_relative_to_the_file(pattern: str, within: str, expected: str) -> None:
    assert rebase(pattern, within) == expected


@pytest.mark.parametrize(('selector', 'expected'), [
    ('suppression-unused', True), ('suppression-*', True), ('suppression', True), ('advice', True), ('*', True),
    ('suppression-unuse', False), ('supp', False), ('warning', False), ('july', False),
])  # fmt: skip
def test_selectors(selector: str, expected: bool) -> None:
    assert matches(selector, RULES[0]) is expected


@pytest.mark.parametrize(('patterns', 'path', 'expected'), [
    ((), 'a/b.yaml', True), (('a/',), 'a/b.yaml', True), (('b.yaml',), 'a/b.yaml', True), (('/b.yaml',), 'a/b.yaml', False),
    (('a/**',), 'a/x/b.yaml', True), (('*.yml',), 'a/b.yaml', False), (('a',), 'a/b.yaml', True),
])  # fmt: skip
def test_paths(patterns: tuple[str, ...], path: str, expected: bool) -> None:
    assert in_paths(patterns, path) is expected


def found_in(run: Callable[..., object], files: dict[str, str], config: Config) -> list[str]:
    result = run(files, config)
    return [f'{item.component.name} {item.severity}' for item in result.findings if item.rule.id == RULE]  # type: ignore[attr-defined]


TWO = {'dev/a.yaml': POD % 'one', 'prod/b.yaml': POD % 'two'}


@pytest.mark.parametrize(('choices', 'expected'), [
    (Choices(), 2),
    (Choices(ignore=(RULE,)), 0),
    (Choices(ignore=('july-1',)), 0),
    (Choices(select=('vllm',)), 2),
    (Choices(select=('triton',)), 0),
    (Choices(select=('vllm',), ignore=('vllm-b*',)), 0),
    (Choices(severity={RULE: 'off'}), 0),
    (Choices(severity={'vllm': 'off', RULE: 'error'}), 2),
    (Choices(rules={RULE: {'limit': 512}}), 0),
    (Choices(overrides=(Override(Scope(('dev/',)), ignore=(RULE,)),)), 1),
    (Choices(overrides=(Override(Scope(('dev/',)), select=('triton',)),)), 1),
    (Choices(overrides=(Override(Scope((), ('Pod/ml/two',)), rules={RULE: {'limit': 512}}),)), 1),
    (Choices(overrides=(Override(Scope((), ('two',)), severity={RULE: 'off'}),)), 1),
    (Choices(overrides=(Override(Scope(('dev/',), ('two',)), severity={RULE: 'off'}),)), 2),
])  # fmt: skip
def test_choices_decide_what_runs(run: Callable[..., object], choices: Choices, expected: int) -> None:
    assert len(found_in(run, TWO, Config(choices=choices))) == expected


def test_severity_is_replaced(run: Callable[..., object]) -> None:
    levels = {line.split()[1] for line in found_in(run, TWO, Config(choices=Choices(severity={'vllm': 'advice', RULE: 'error'})))}
    assert levels == {'error'}


def test_no_ignores_turns_ignores_off_and_keeps_the_command_lines(run: Callable[..., object]) -> None:
    choices = Choices(ignore=(RULE,), severity={RULE: 'off'}, overrides=(Override(Scope(), ignore=(RULE,)),))
    assert found_in(run, TWO, Config(choices=choices)) == []
    assert len(found_in(run, TWO, Config(choices=choices, ignores=False))) == 2
    assert found_in(run, TWO, Config(choices=choices._replace(always_ignore=(RULE,)), ignores=False)) == []


@pytest.mark.parametrize(('choices', 'message'), [
    (Choices(select=('vlm-batch-too-wide',)), "no rule is called 'vlm-batch-too-wide', did you mean 'vllm-batch-too-wide'?"),
    (Choices(rules={RULE: {'limits': 3}}), "vllm-batch-too-wide has no option 'limits': did you mean 'limit'?"),
    (Choices(rules={RULE: {'limit': 'many'}}), "limit is 'many', not like its default 128"),
    (Choices(rules={RULE: {'limit': True}}), 'limit is True'),
    (Choices(rules={'vllm': {'limit': 3}}), "rules: 'vllm' is not the id of a rule"),
    (Choices(overrides=(Override(Scope(), ignore=('nothing-like-it',)),)), "no rule is called 'nothing-like-it'"),
])  # fmt: skip
def test_names_that_no_rule_has_are_refused(run: Callable[..., object], choices: Choices, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(TWO, Config(choices=choices))
    assert message in str(caught.value)


@pytest.mark.parametrize(('text', 'message'), [
    ('gpu: H100\nselect: [vllm, vlm-batch]\n', "configaudit.yaml:2:16: no rule is called 'vlm-batch'"),
    ('severity:\n  vllm-batch-unst: off\n', "configaudit.yaml:2:3: no rule is called 'vllm-batch-unst', did you mean 'vllm-batch-unset'?"),
    ('ignores:\n  - rule: [nosuch]\n    reason: x\n', "configaudit.yaml:2:12: no rule is called 'nosuch'"),
    ('rules:\n  vllm-batch-too-wide:\n    limt: 3\n', "configaudit.yaml:3:5: rules: vllm-batch-too-wide has no option 'limt'"),
    ('rules: {vllm-batch-too-wid: {limit: 3}}\n', "configaudit.yaml:1:9: rules: 'vllm-batch-too-wid' is not the id of a rule, did you mean"),
    ('engine_version: {vlm: 0.9.1}\n', "configaudit.yaml:1:18: engine_version: no engine is called 'vlm': did you mean 'vllm'?"),
    ('engine_version: soon\n', "configaudit.yaml:1:17: engine_version: 'soon' is not a version such as 0.10.2"),
    ('gpu: H10O\n', "configaudit.yaml:1:6: gpu: 'H10O' is no GPU that is known here"),
    ('values: prod.yaml\n', 'configaudit.yaml:1:9: prod.yaml: No such file or directory'),
    ("required-version: '>=9'\n", 'configaudit.yaml:1:1: written for configaudit >=9'),
    ('gpu: H100\nrule-files: x.py\n', 'configaudit.yaml:2:1: rule-files counts only in a file that --config names'),
])  # fmt: skip
def test_what_means_nothing_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'pod.yaml').write_text(POD % 'chat')
    (tmp_path / 'configaudit.yaml').write_text(text)
    assert cli.run(['check']) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize('arguments', [('--select', 'nosuch'), ('--gpu', 'nosuch'), ('--engine-version', 'nosuch=0.9'), ('--values', 'nosuch')])
def test_what_the_command_line_names_is_not_laid_to_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'pod.yaml').write_text(POD % 'chat')
    (tmp_path / 'configaudit.yaml').write_text('fail-on: never\n')
    assert cli.run(['check', *arguments]) == 2
    said = capsys.readouterr().err
    assert 'nosuch' in said
    assert 'configaudit.yaml' not in said


def test_rules_of_kinds_that_were_not_met_are_known(run: Callable[..., object]) -> None:
    run({'a.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {}\n'}, Config(choices=Choices(ignore=(RULE,))))


def test_objects(run: Callable[..., object]) -> None:
    result = run({'a.yaml': POD % 'one'}, Config())
    engine = next(item for item in result.components if item.kind.name == 'vllm')  # type: ignore[attr-defined]
    for pattern, expected in (('Pod/ml/one', True), ('Pod/*/one', True), ('Pod/ml', True), ('engine', True), ('Pod/ml/on', False), ('ml/one', False)):
        assert in_objects((pattern,), engine) is expected, pattern


def test_nothing_of_the_file_reader_is_imported_without_a_file() -> None:
    code = "import configaudit.audit, sys; print(sorted({'configaudit.config_file', 'configaudit.config_schema', 'difflib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout.strip() == '[]'


@pytest.mark.parametrize('text', [
    'rules: {a: {b: &0 [x]}}\n' + 'ignore: &a [x]\n', 'a: &a [*a]\n', '\0', '\ufeffselect: vllm\n', '{' * 5000, '[' * 150 + ']' * 150, '? [a]\n: b\n', '--- a\n--- b\n',
    '!!python/object:os.system x\n', 'rules: {a: {b: &z [1]}, c: {d: ' + '[*z, ' * 50 + ']' * 50 + '}}\n', '<<: {select: vllm}\n', 'select: !!binary aGk=\n', '\x85', '1: 2\n',
])  # fmt: skip
def test_hostile_files_are_read_or_refused(tmp_path: Path, text: str) -> None:
    for name, head in (('configaudit.yaml', ''), ('pyproject.toml', '[tool.configaudit]\n')):
        with suppress(UsageError):
            assert read(tmp_path, head + text, name).root == ''


def test_an_alias_bomb_is_refused(tmp_path: Path) -> None:
    lines = ['rules:', '  a: &a0 {x: 1}', *(f'  b{n}: &a{n} {{{", ".join(f"k{k}: *a{n - 1}" for k in range(9))}}}' for n in range(1, 12))]
    with pytest.raises(UsageError, match='over 100000 values'):
        read(tmp_path, '\n'.join(lines))


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='over 1 MiB'):
        read(tmp_path, '#' * 2**20 + '\n')
