"""The contract of the command line: exit statuses, streams, options, and that it starts lean."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from configaudit import VERSION, cli
from configaudit.command import group
from configaudit.config import read_config

RULE = 'vllm-batch-too-wide'
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.10.2
      args: [--model=/m, --max-num-seqs=%d]
"""
BROKEN = 'apiVersion: v1\nkind: Pod\nspec: [\n'
PROBE = """\
from configaudit.model import Problem, Unknown, rule

@rule('probe', on='vllm', severity=%r, confidence=%r, source='test')
def probe(engine):
    '''Probe.'''
    %s
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / '.git').mkdir()
    (tmp_path / 'pod.yaml').write_text(POD % ('chat', 512))
    return tmp_path


def probe(folder: Path, severity: str = 'warning', does: str = "yield Problem(engine.place, 'x')", confidence: str = 'high') -> list[str]:
    (folder / 'probe.py').write_text(PROBE % (severity, confidence, does))
    return ['check', '--rules', 'probe.py', '--select', 'probe']


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[dict[str, object]]]:
    capsys.readouterr()
    cli.run(['check', '-f', 'json', *arguments])
    held: dict[str, list[dict[str, object]]] = json.loads(capsys.readouterr().out)
    return held


def paths_of(held: dict[str, list[dict[str, object]]]) -> set[object]:
    return {item['location']['path'] for item in held['findings']}  # type: ignore[index]


# Exit statuses


@pytest.mark.parametrize(('severity', 'arguments', 'status'), [
    ('error', (), 1), ('warning', (), 1), ('advice', (), 0),
    ('error', ('--fail-on', 'error'), 1), ('warning', ('--fail-on', 'error'), 0), ('advice', ('--fail-on', 'advice'), 1), ('error', ('--fail-on', 'never'), 0),
])  # fmt: skip
def test_findings(folder: Path, severity: str, arguments: tuple[str, ...], status: int) -> None:
    assert cli.run([*probe(folder, severity), *arguments]) == status


@pytest.mark.parametrize(('severity', 'arguments', 'status'), [
    ('error', ('--strict',), 1), ('warning', ('--strict',), 1), ('advice', ('--strict',), 0), ('error', (), 0),
    ('error', ('--strict', '--fail-on', 'never'), 0),
])  # fmt: skip
def test_strict_counts_what_was_not_assessed(folder: Path, severity: str, arguments: tuple[str, ...], status: int) -> None:
    assert cli.run([*probe(folder, severity, "raise Unknown('unseen'); yield"), *arguments]) == status


def test_a_template_that_cannot_be_read_counts_where_it_is_named_alone_or_strict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'templates').mkdir()
    (tmp_path / 'templates' / 'a.yaml').write_text('apiVersion: v1\nkind: Pod\nspec: {{ .Values.a }}\n x: [}\n')
    monkeypatch.chdir(tmp_path)
    assert cli.run(['check', '.']) == cli.run(['check', 'templates/a.yaml']) == 3
    (tmp_path / 'service.yaml').write_text('apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 1}]}\n')
    assert cli.run(['check', '.']) == 0
    assert cli.run(['check', '.', '--strict']) == 3


def test_nothing_to_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(['check']) == 4
    assert cli.run(['check', '--allow-empty']) == 0
    (tmp_path / 'notes.yaml').write_text('a: b\n')
    assert cli.run(['check']) == 4
    assert cli.run(['check', 'notes.yaml']) == 4


def test_what_is_lost_beats_findings_and_emptiness(folder: Path) -> None:
    (folder / 'broken.yaml').write_text(BROKEN)
    assert cli.run(probe(folder)) == 3
    assert cli.run(['check', 'broken.yaml']) == 3
    assert cli.run(['check', 'pod.yaml', '--fail-on', 'never']) == 0


def test_a_foreign_broken_file_counts_only_when_it_is_named(folder: Path) -> None:
    (folder / 'foreign.yaml').write_text('- image: [\n  spec: }\n')
    command = ['--select', RULE, '--fail-on', 'error']
    assert cli.run(['check', *command]) == 0
    assert cli.run(['check', 'pod.yaml', 'foreign.yaml', *command]) == 3


@pytest.mark.parametrize(('arguments', 'message'), [
    (['check', 'gone.yaml'], 'gone.yaml: No such file or directory'),
    (['check', '--formt', 'json'], '--formt'),
    (['check', '-f', 'xml'], 'xml'),
    (['check', '--output', 'sarif'], "'sarif' is not FORMAT=FILE"),
    (['check', '--output', 'xml=a'], "'xml=a' is not FORMAT=FILE"),
    (['check', '--output', 'json=no/such/folder'], 'no/such/folder: No such file or directory'),
    (['check', '--config', 'gone.yaml'], 'gone.yaml: No such file or directory'),
    (['check', '--config', 'a', '--no-config'], 'exclude each other'),
    (['check', '--baseline', 'gone.json'], 'gone.json: No such file'),
    (['check', '--values', 'gone.yaml'], 'gone.yaml: No such file'),
    (['check', '--today', 'tomorrow'], 'not a date'),
    (['check', '--engine-version', 'vllm=new'], "'new' is not a version"),
    (['check', '--select', 'vllm-batch-too-wid'], "did you mean 'vllm-batch-too-wide'?"),
    (['check', '--unsafe-fixes'], 'goes with --fix or --diff'),
    (['check', '--fix', '--diff'], 'exclude each other'),
    (['check', '--fix', '-'], 'standard input cannot be changed'),
    (['check', '--diff', '-', '--stdin-filename', 'pod.yaml'], 'standard input cannot be changed'),
    (['chek'], "no command 'chek': did you mean 'check'?"),
    (['pod.yaml'], 'did you mean `configaudit check pod.yaml`?'),
    (['explain', 'vllm-batch'], "no rule is called 'vllm-batch'"),
    (['rules', '--select', 'nonsense'], "no rule is called 'nonsense'"),
    (['init', '-o', 'pod.yaml'], 'pod.yaml exists already'),
])  # fmt: skip
def test_wrong_usage_is_one_line_on_stderr(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert cli.run(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count('\n') == 1
    assert captured.err.startswith('configaudit: ')
    assert captured.out == ''


def test_wrong_usage_beats_what_is_lost(folder: Path) -> None:
    (folder / 'broken.yaml').write_text(BROKEN)
    assert cli.run(['check', '--select', 'nonsense']) == 2
    (folder / 'configaudit.yaml').write_text('selct: a\n')
    assert cli.run(['check']) == 2
    assert cli.run(['check', '--no-config']) == 3


def test_a_failure_of_the_tool_is_3_with_a_hint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = probe(folder, does="raise ValueError('of a rule'); yield")
    assert cli.run(command) == 3
    captured = capsys.readouterr()
    assert captured.err == 'configaudit: internal error: ValueError: of a rule (probe.py:6, in probe); run again with -v for the traceback, and please report it\n'
    assert captured.out == ''
    assert cli.run([*command, '-v']) == 3
    assert 'Traceback' in capsys.readouterr().err


def test_interrupted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(probe(folder, does='raise KeyboardInterrupt; yield')) == 130
    assert capsys.readouterr().err.strip() == 'configaudit: interrupted'


def test_a_signal_ends_the_process_with_130(folder: Path) -> None:
    probe(folder, does='import time; print("ready", flush=True); time.sleep(30); yield')
    command = [sys.executable, '-m', 'configaudit', 'check', '--rules', 'probe.py', '--select', 'probe']

    def listen() -> None:
        """A test run in the background of a shell ignores SIGINT, and so would what it starts."""
        signal.signal(signal.SIGINT, signal.default_int_handler)

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listen) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == 'ready\n'
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert (process.returncode, error.strip()) == (130, 'configaudit: interrupted')


def test_a_reader_that_goes_away_is_no_failure(folder: Path) -> None:
    for number in range(400):
        (folder / f'p{number}.yaml').write_text(POD % (f'p{number}', 512))
    command = f'{sys.executable} -m configaudit check -f json --fail-on advice; echo "rc $?" >&2'
    done = subprocess.run(['bash', '-c', f'({command}) | head -c 10 >/dev/null'], capture_output=True, text=True)
    assert done.stderr == 'rc 1\n'


# Streams and options


def test_stdout_holds_only_the_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(['check', '-f', 'json', '-v'])
    captured = capsys.readouterr()
    assert json.loads(captured.out)['schema'] == 1
    assert 'configuration: none' in captured.err
    assert 'read pod.yaml: ' in captured.err


def test_several_formats_in_one_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(['check', '-f', 'json', '--output', 'json=a.json', '--output', 'markdown=b.md'])
    assert (folder / 'a.json').read_text() == capsys.readouterr().out
    assert (folder / 'b.md').read_text().startswith('## ')


@pytest.mark.parametrize('form', ['text', 'json', 'sarif', 'github', 'gitlab', 'junit', 'markdown'])
def test_every_format_names_the_rule(folder: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert cli.run(['check', '--select', RULE, '--fail-on', 'advice', '-f', form]) == 1
    assert RULE in capsys.readouterr().out.replace('\\-', '-')


def test_standard_input(folder: Path) -> None:
    command = [sys.executable, '-m', 'configaudit', 'check', '-', '-f', 'json', '--select', RULE]
    for arguments, path in (([], '<stdin>'), (['--stdin-filename', 'x/pod.yaml'], 'x/pod.yaml')):
        done = subprocess.run([*command, *arguments], input=POD % ('chat', 512), capture_output=True, text=True)
        assert paths_of(json.loads(done.stdout)) == {path}, done.stderr


def test_report_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'other.yaml').write_text(POD % ('other', 512))
    (folder / 'clean.yaml').write_text(POD % ('clean', 64))
    (folder / 'broken.yaml').write_text(BROKEN)
    only = ('--select', RULE, '--fail-on', 'advice', '--report-only')
    assert paths_of(report(capsys, *only, './other.yaml')) == {'other.yaml'}
    assert cli.run(['check', *only, str(folder / 'other.yaml')]) == 1
    assert cli.run(['check', *only, 'clean.yaml']) == 0
    assert cli.run(['check', *only, 'clean.yaml', '--report-only', 'broken.yaml']) == 3
    capsys.readouterr()
    assert cli.run(['check', '.', *only, 'clean.yaml', 'gone.yaml']) == 0
    assert capsys.readouterr().err == 'configaudit: --report-only gone.yaml: no such file\n'
    assert cli.run(['check', '.', *only, 'clean.yaml', 'broken.yaml']) == 3
    (folder / 'deep').mkdir()
    (folder / 'deep' / 'pod.yaml').write_text(POD % ('deep', 512))
    assert paths_of(report(capsys, '.', *only, 'deep/', 'clean.yaml', '-v')) == {'deep/pod.yaml'}
    assert paths_of(report(capsys, '.', '--select', RULE, '--report-only=other.yaml', 'deep')) == {'other.yaml'}


def test_select_and_ignore_take_lists(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = {item['rule'] for item in report(capsys, '--select', f'{RULE}, vllm-memory-share-unset')['findings']}
    assert chosen == {RULE, 'vllm-memory-share-unset'}
    rest = {item['rule'] for item in report(capsys, '--ignore', 'vllm-memory*', '--ignore', RULE)['findings']}
    assert not chosen & rest


def test_the_command_line_adds_to_the_files_ignores(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'configaudit.yaml').write_text('ignore: vllm-memory-share-unset\nselect: triton\n')
    found = {item['rule'] for item in report(capsys, '--select', 'vllm', '--ignore', RULE)['findings']}
    assert not {RULE, 'vllm-memory-share-unset'} & found
    found = {item['rule'] for item in report(capsys, '--select', 'vllm', '--ignore', RULE, '--no-ignores')['findings']}
    assert 'vllm-memory-share-unset' in found
    assert RULE not in found


@pytest.mark.parametrize(('confidence', 'least', 'count'), [
    ('low', 'low', 1), ('low', 'medium', 0), ('medium', 'medium', 1), ('medium', 'high', 0), ('high', 'high', 1),
])  # fmt: skip
def test_min_confidence(folder: Path, capsys: pytest.CaptureFixture[str], confidence: str, least: str, count: int) -> None:
    arguments = probe(folder, confidence=confidence)[1:]
    assert len(report(capsys, *arguments, '--min-confidence', least)['findings']) == count


def test_exclude(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'old').mkdir()
    (folder / 'old' / 'pod.yaml').write_text(POD % ('old', 512))
    assert paths_of(report(capsys)) == {'pod.yaml', 'old/pod.yaml'}
    assert paths_of(report(capsys, '--exclude', 'old/')) == {'pod.yaml'}


def test_exclude_of_a_configuration_above(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / 'sub' / 'old').mkdir(parents=True)
    (folder / 'sub' / 'old' / 'pod.yaml').write_text(POD % ('old', 512))
    (folder / 'sub' / 'pod.yaml').write_text(POD % ('new', 512))
    (folder / 'configaudit.yaml').write_text(f'exclude: [sub/old/]\nselect: {RULE}\noverrides: [{{paths: sub/pod.yaml, ignore: {RULE}}}]\n')
    monkeypatch.chdir(folder / 'sub')
    assert report(capsys)['findings'] == []
    assert paths_of(report(capsys, '--no-ignores')) == {'pod.yaml'}


def test_engine_version_and_gpu(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'pod.yaml').write_text((POD % ('chat', 512)).replace('v0.10.2', 'latest'))

    def version(*arguments: str) -> object:
        return next(item['engine_version'] for item in report(capsys, *arguments)['components'] if item['kind'] == 'vllm')

    assert version() is None
    assert version('--engine-version', '0.11.0') == version('--engine-version', 'sglang=0.4', '--engine-version', 'vllm=0.11.0') == '0.11.0'
    assert version('--engine-version', 'sglang=0.4') is None
    (folder / 'configaudit.yaml').write_text('engine_version: 0.9.1\n')
    assert version() == '0.9.1'
    assert version('--engine-version', 'vllm=0.11.0') == '0.11.0'


def test_color_only_on_demand(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, colored in (([], False), (['--color', 'never'], False), (['--color', 'always'], True)):
        cli.run(['check', *arguments])
        assert ('\x1b[' in capsys.readouterr().out) is colored


def test_diff_and_fix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / 'pod.yaml').read_text()
    command = ['check', '--select', RULE, '--fail-on', 'advice']
    assert cli.run([*command, '--diff']) == 0
    assert capsys.readouterr().out == ''
    assert cli.run([*command, '--diff', '--unsafe-fixes']) == 1
    out = capsys.readouterr().out
    assert '-      args: [--model=/m, --max-num-seqs=512]\n+      args: [--model=/m, --max-num-seqs=128]\n' in out
    assert (folder / 'pod.yaml').read_text() == before
    assert cli.run([*command, '--fix']) == 1
    assert (folder / 'pod.yaml').read_text() == before
    assert cli.run([*command, '--fix', '--unsafe-fixes']) == 0
    assert (folder / 'pod.yaml').read_text() == before.replace('512', '128')
    assert 'fixed 1 finding in 1 file, 0 fixable left' in capsys.readouterr().err
    assert cli.run([*command, '--diff', '--unsafe-fixes']) == 0


def test_output_does_not_depend_on_order_or_hash_seed(folder: Path) -> None:
    for number in range(3):
        (folder / f'p{number}.yaml').write_text(POD % (f'p{number}', 500 + number))
    seen = set()
    for seed, names in (('0', ['p0.yaml', 'p1.yaml', 'p2.yaml']), ('1', ['p2.yaml', 'p0.yaml', 'p1.yaml']), ('2', ['p1.yaml', 'p2.yaml', 'p0.yaml'])):
        command = [sys.executable, '-m', 'configaudit', 'check', '-f', 'json', *names]
        seen.add(subprocess.run(command, capture_output=True, env={**os.environ, 'PYTHONHASHSEED': seed}).stdout)
    assert len(seen) == 1


def test_dates_come_from_the_command_line_or_the_build(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'configaudit.yaml').write_text(f'ignores: [{{rule: {RULE}, reason: x, expires: 2026-08-01}}]\nselect: {RULE}\nfail-on: advice\n')
    assert cli.run(['check', '--today', '2026-07-31']) == 0
    assert cli.run(['check', '--today', '2026-08-01']) == 1
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '1785542399')  # 2026-07-31 23:59:59 UTC
    assert cli.run(['check']) == 0
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '1785542400')
    assert cli.run(['check']) == 1


# Other commands


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['--version']) == 0
    assert capsys.readouterr().out == f'configaudit {VERSION}\n'
    for name in ('', *group.COMMANDS):
        assert cli.run([*filter(None, [name]), '--help']) == 0
        assert f'Usage: configaudit{" " if name else ""}{name}' in capsys.readouterr().out


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 2
    assert 'configaudit check' in capsys.readouterr().err


def test_init_writes_a_configuration_that_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['init']) == 0
    assert cli.run(['init']) == 2
    assert cli.run(['check', '--fail-on', 'never']) == 0
    text = (folder / 'configaudit.yaml').read_text()
    (folder / 'configaudit.yaml').write_text(re.sub(r'^#(?! \S)', '', text, flags=re.MULTILINE))
    assert cli.run(['check', '--fail-on', 'never', '-v']) == 0
    said = capsys.readouterr().err
    assert 'configuration: configaudit.yaml' in said
    assert 'read configaudit.yaml' not in said
    config = read_config('configaudit.yaml', trusted=False)
    assert (config.context.gpu, config.choices.rules, len(config.ignored)) == ('H100', {RULE: {'limit': 256}}, 1)


def test_rules_in_three_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['rules', '--select', 'july-1']) == 0
    table = capsys.readouterr().out
    assert table.splitlines()[-1] == f'{len(table.splitlines()) - 1} rules'
    assert cli.run(['rules', '--select', 'july-1', '-f', 'json']) == 0
    rows = json.loads(capsys.readouterr().out)['rules']
    assert len(rows) == len(table.splitlines()) - 1
    batch = next(row for row in rows if row['id'] == RULE)
    assert batch['options']['limit'] == 128
    assert batch['checklist'] == ['july-1']
    assert cli.run(['rules', '-f', 'markdown']) == 0
    assert f'| [{RULE}]({RULE}.md) |' in capsys.readouterr().out


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['explain', RULE]) == 0
    out = capsys.readouterr().out
    for part in (RULE, 'Why', 'Effect', 'Side effect', 'Evidence', 'Applies to', 'limit: 128', 'Example', '+        - --max-num-seqs=128'):
        assert part in out, part
    assert cli.run(['explain', 'suppression-unused', '-f', 'markdown']) == 0
    assert capsys.readouterr().out.startswith('# suppression-unused')


def test_start_is_lean(folder: Path) -> None:
    code = 'import configaudit.cli, sys; configaudit.cli.run(["check", "-f", "gitlab", "--output", "gitlab=out"]); print(*sys.modules, file=sys.stderr)'
    loaded = set(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stderr.split())
    unwanted = {'rich', 'asyncio', 'logging', 'dataclasses', 'importlib.metadata', 'traceback'}
    unwanted |= {f'configaudit.{name}' for name in ('prelaunch', 'explain', 'config_file', 'config_schema', 'baseline', 'testkit')}
    assert 'configaudit.audit' in loaded
    assert loaded & unwanted == set()
