"""From findings to bytes: every carrier that a fix can write into, and everything that it must leave alone."""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit import cli
from configaudit.fix import Refusal, apply_fixes, edits_of, is_current, plan
from configaudit.fix_rounds import fix_all, write
from configaudit.result import Result

Run = Callable[..., Result]
WIDE = 'vllm-batch-too-wide'
UNSET = 'vllm-batch-unset'
IMAGE = 'vllm/vllm-openai:v0.10.2'
FLAGS = '--gpu-memory-utilization 0.85 --max-model-len 8192'


def pod(container: str) -> str:
    """A pod with one container, its fields as YAML in a flow or block that starts at column 6."""
    return f'apiVersion: v1\nkind: Pod\nmetadata: {{name: chat}}\nspec:\n  containers:\n    - name: engine\n      image: {IMAGE}\n{container}'


def compose(service: str) -> str:
    return f'services:\n  chat:\n    image: {IMAGE}\n{service}'


def unit(command: str) -> str:
    return f'[Unit]\nDescription=chat\n\n[Service]\nExecStart={command}\n'


def fixed(run: Run, name: str, text: str, rule: str, **more: str) -> str:
    """The file after the fixes of one rule."""
    result = run({name: text, **more})
    findings = [item for item in result.findings if item.rule.id == rule]
    assert findings, [item.rule.id for item in result.findings]
    done = apply_fixes(findings, unsafe=True)
    assert done.applied, done.refused
    return Path(name).read_bytes().decode()


def refusal(run: Run, files: dict[str, str], rule: str) -> str:
    """Why the fix of a rule is not written."""
    found = [edits_of(item) for item in run(files).findings if item.rule.id == rule]
    assert found
    assert isinstance(found[0], Refusal), found
    return found[0].reason


@pytest.mark.parametrize(
    ('name', 'before', 'after'),
    [
        ('pod.yaml', pod('      args: [--model, m/x, --max-num-seqs, "512"]\n'), pod('      args: [--model, m/x, --max-num-seqs, "128"]\n')),
        ('pod.yaml', pod("      args: ['--model=m/x', '--max-num-seqs=512'] # c\n"), pod("      args: ['--model=m/x', '--max-num-seqs=128'] # c\n")),
        ('pod.yaml', pod('      args:\r\n        - --model=m/x\r\n        - --max-num-seqs=512 # c'), pod('      args:\r\n        - --model=m/x\r\n        - --max-num-seqs=128 # c')),
        ('bom.yaml', '\ufeff' + pod('      args: [--model=m/x, --max-num-seqs=512] # é\n'), '\ufeff' + pod('      args: [--model=m/x, --max-num-seqs=128] # é\n')),
        (
            'pod.yaml',
            pod('      command: [sh, -c]\n      args:\n        - |\n          exec vllm serve m/x \\\n            --max-num-seqs 512 \\\n            --port 8000\n'),
            pod('      command: [sh, -c]\n      args:\n        - |\n          exec vllm serve m/x \\\n            --max-num-seqs 128 \\\n            --port 8000\n'),
        ),
        ('pod.yaml', pod('      command: [sh, -c, "vllm serve m/x --max-num-seqs 512"]\n'), pod('      command: [sh, -c, "vllm serve m/x --max-num-seqs 128"]\n')),
        (
            'pod.yaml',
            pod('      command: ["sh", "-c", "vllm serve \\"m/x\\" \\\\\\n --max-num-seqs 512"]\n'),
            pod('      command: ["sh", "-c", "vllm serve \\"m/x\\" \\\\\\n --max-num-seqs 128"]\n'),
        ),
        (
            'pod.yaml',
            pod('      args: [--model=m/x, --max-num-seqs=$(SEQS)]\n      env:\n        - {name: SEQS, value: "512"}\n'),
            pod('      args: [--model=m/x, --max-num-seqs=$(SEQS)]\n      env:\n        - {name: SEQS, value: "128"}\n'),
        ),
        (
            'pod.json',
            '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"name": "e", "image": "vllm/vllm-openai:v0.10.2", "args": ["--model=m/x", "--max-num-seqs=512"]}]}}',
            '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"name": "e", "image": "vllm/vllm-openai:v0.10.2", "args": ["--model=m/x", "--max-num-seqs=128"]}]}}',
        ),
        ('compose.yaml', compose('    command: --model m/x --max-num-seqs 512\n'), compose('    command: --model m/x --max-num-seqs 128\n')),
        ('compose.yaml', compose('    command: "--model m/x --max-num-seqs 512"\n'), compose('    command: "--model m/x --max-num-seqs 128"\n')),
        ('compose.yaml', compose('    command: >-\n      --model m/x\n      --max-num-seqs 512\n'), compose('    command: >-\n      --model m/x\n      --max-num-seqs 128\n')),
        ('Dockerfile', f'FROM {IMAGE}\nCMD ["--model=m/x", "--max-num-seqs=512"]\n', f'FROM {IMAGE}\nCMD ["--model=m/x", "--max-num-seqs=128"]\n'),
        ('Dockerfile', f'FROM {IMAGE}\nENTRYPOINT exec vllm serve m/x \\\n    --max-num-seqs 512\n', f'FROM {IMAGE}\nENTRYPOINT exec vllm serve m/x \\\n    --max-num-seqs 128\n'),
        ('chat.service', unit('/usr/bin/vllm serve m/x --max-num-seqs 512'), unit('/usr/bin/vllm serve m/x --max-num-seqs 128')),
        ('chat.service', unit('/usr/bin/vllm serve m/x \\\n  --max-num-seqs=512'), unit('/usr/bin/vllm serve m/x \\\n  --max-num-seqs=128')),
        ('run.sh', '#!/bin/sh\nSEQS=512\nvllm serve m/x --max-num-seqs "$SEQS" # c\n', '#!/bin/sh\nSEQS=128\nvllm serve m/x --max-num-seqs "$SEQS" # c\n'),
        ('run.sh', '#!/bin/sh\nvllm serve m/x --max-num-seqs "512"\n', '#!/bin/sh\nvllm serve m/x --max-num-seqs "128"\n'),
    ],
)  # fmt: skip
def test_a_value_is_replaced_where_it_stands(run: Run, name: str, before: str, after: str) -> None:
    assert fixed(run, name, before, WIDE) == after


@pytest.mark.parametrize(
    ('name', 'before', 'after'),
    [
        ('pod.yaml', pod('      args:\n      - --model=m/x # c\n'), pod('      args:\n      - --model=m/x # c\n      - --max-num-seqs=128\n')),
        ('pod.yaml', pod('      args: ["--model", "m/x"]\n'), pod('      args: ["--model", "m/x", "--max-num-seqs=128"]\n')),
        ('pod.yaml', pod('      args:\n      - --model\n      - m/x'), pod('      args:\n      - --model\n      - m/x\n      - --max-num-seqs=128')),
        (
            'pod.yaml',
            pod('      command: [sh, -c]\n      args:\n        - |\n          vllm serve m/x \\\n            --port 8000\n          echo done\n'),
            pod('      command: [sh, -c]\n      args:\n        - |\n          vllm serve m/x \\\n            --port 8000 \\\n            --max-num-seqs=128\n          echo done\n'),
        ),
        (
            'pod.yaml',
            pod('      command: ["sh", "-c", "vllm serve m/x \\\\\\n --port 80"]\n'),
            pod('      command: ["sh", "-c", "vllm serve m/x \\\\\\n --port 80 \\\\\\n --max-num-seqs=128"]\n'),
        ),
        ('pod.yaml', pod("      command: [sh, -c, 'vllm serve m/x --served-model-name ''x'' --port 80']\n"), pod("      command: [sh, -c, 'vllm serve m/x --served-model-name ''x'' --port 80 --max-num-seqs=128']\n")),
        ('pod.yaml', pod('      command:\n        - sh\n        - -c\n        - vllm serve m/x\n'), pod('      command:\n        - sh\n        - -c\n        - vllm serve m/x --max-num-seqs=128\n')),
        ('compose.yaml', compose('    command: "--model m/x"\n'), compose('    command: "--model m/x --max-num-seqs=128"\n')),
        ('compose.yaml', compose('    command: --model m/x # c\n'), compose('    command: --model m/x --max-num-seqs=128 # c\n')),
        ('compose.yaml', compose('    command: >\n      --model m/x\n      --port 80\n    restart: always\n'), compose('    command: >\n      --model m/x\n      --port 80 --max-num-seqs=128\n    restart: always\n')),
        ('compose.yaml', compose('    command: [--model, m/x]\n'), compose('    command: [--model, m/x, --max-num-seqs=128]\n')),
        *(
            ('compose.yaml', compose(f'    command: {line}\n'), compose(f'    command: {longer}\n'))
            for line, longer in (
                ('--model m/x --port ${PORT:-80}', '--model m/x --port ${PORT:-80} --max-num-seqs=128'),
                ('--model m/x --port=${PORT:-80}', '--model m/x --port=${PORT:-80} --max-num-seqs=128'),
                ('--model m/x --port "${PORT:-${OTHER:-80}}"', '--model m/x --port "${PORT:-${OTHER:-80}}" --max-num-seqs=128'),
                ('["--model", "m/x", "--port", "${PORT:-80}"]', '["--model", "m/x", "--port", "${PORT:-80}", "--max-num-seqs=128"]'),
                ('["--model", "m/x", "--port=${PORT:-80}"]', '["--model", "m/x", "--port=${PORT:-80}", "--max-num-seqs=128"]'),
                ("\"--model m/x --port '${PORT:-80}'\"", "\"--model m/x --port '${PORT:-80}' --max-num-seqs=128\""),
            )
        ),
        ('run.sh', '#!/bin/sh\nvllm serve m/x --port ${PORT:-80}\n', '#!/bin/sh\nvllm serve m/x --port ${PORT:-80} --max-num-seqs=128\n'),
        ('run.sh', '#!/bin/sh\nvllm serve m/x --port="${PORT:-80}" | tee log\n', '#!/bin/sh\nvllm serve m/x --port="${PORT:-80}" --max-num-seqs=128 | tee log\n'),
        ('run.sh', '#!/bin/sh\nPORT=80\nvllm serve m/x --port $PORT\n', '#!/bin/sh\nPORT=80\nvllm serve m/x --port $PORT --max-num-seqs=128\n'),
        ('Dockerfile', f'FROM {IMAGE}\nCMD ["--model", "m/x"]\n', f'FROM {IMAGE}\nCMD ["--model", "m/x", "--max-num-seqs=128"]\n'),
        ('Dockerfile', f'FROM {IMAGE}\nENTRYPOINT vllm serve m/x \\\n    --port 80\n', f'FROM {IMAGE}\nENTRYPOINT vllm serve m/x \\\n    --port 80 --max-num-seqs=128\n'),
        ('Dockerfile', f'FROM {IMAGE}\nCMD vllm serve m/x | tee log\n', f'FROM {IMAGE}\nCMD vllm serve m/x --max-num-seqs=128 | tee log\n'),
        ('chat.service', unit('/usr/bin/vllm serve m/x \\\n  --port=80'), unit('/usr/bin/vllm serve m/x \\\n  --port=80 \\\n  --max-num-seqs=128')),
        ('run.sh', '#!/bin/sh\nvllm serve "m/x" 2>&1 | tee log\n', '#!/bin/sh\nvllm serve "m/x" --max-num-seqs=128 2>&1 | tee log\n'),
        ('run.sh', f'#!/bin/sh\ndocker run --gpus all --shm-size 1g {IMAGE} --model m/x\n', f'#!/bin/sh\ndocker run --gpus all --shm-size 1g {IMAGE} --model m/x --max-num-seqs=128\n'),
    ],
)  # fmt: skip
def test_a_flag_is_added_where_it_belongs(run: Run, name: str, before: str, after: str) -> None:
    assert fixed(run, name, before, UNSET) == after


def test_a_flag_does_not_come_between_another_and_its_value_from_an_env_file(run: Run) -> None:
    before = compose('    command: --model m/x --port ${PORT}\n')
    assert fixed(run, 'compose.yaml', before, UNSET, **{'.env': 'PORT=80\n'}) == before.replace('${PORT}', '${PORT} --max-num-seqs=128')


def ray_service(model: str) -> str:
    """A RayService whose Serve configuration is a string; `model` follows engine_kwargs."""
    lines = ['applications:', '- args:', '    llm_configs:', '    - model_loading_config: {model_id: m/x}', '      engine_kwargs:', *model.splitlines()]
    body = ''.join(f'    {line}\n' for line in lines)
    return f'apiVersion: ray.io/v1\nkind: RayService\nmetadata: {{name: chat}}\nspec:\n  serveConfigV2: |\n{body}  rayClusterConfig: {{}}\n'


@pytest.mark.parametrize('after', ['', '      accelerator_type: L4\n', '\n# closing\n      accelerator_type: L4\n'])
def test_a_key_is_added_to_a_mapping_inside_a_string(run: Run, after: str) -> None:
    before = '        max_model_len: 8192\n'
    text = fixed(run, 'ray.yaml', ray_service(before + after), UNSET)
    assert text == ray_service(before + '        max_num_seqs: 128\n' + after)


def test_a_place_that_cannot_be_told_is_refused(run: Run) -> None:
    text = pod('      command: [sh, -c, "vllm serve m/x --max-num-seqs=\\u0035\\u0031\\u0032"]\n')
    assert 'escapes' in refusal(run, {'pod.yaml': text}, WIDE)


SHARED = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: engine}
data:
  SEQS: "512"
"""


def workload(name: str) -> str:
    return f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
    - name: engine
      image: {IMAGE}
      args: [--model=m/x, --max-num-seqs=$(SEQS)]
      env:
        - name: SEQS
          valueFrom: {{configMapKeyRef: {{name: engine, key: SEQS}}}}
"""


def test_the_value_of_one_consumer_is_changed_at_its_source(run: Run) -> None:
    assert 'SEQS: "128"' in fixed(run, 'a.yaml', SHARED + workload('one'), WIDE)


def test_a_value_with_several_consumers_is_refused(run: Run) -> None:
    reason = refusal(run, {'a.yaml': SHARED + workload('one') + workload('two')}, WIDE)
    assert reason == 'several take it from ConfigMap engine: Pod/one/containers/engine, Pod/two/containers/engine'


def test_a_value_behind_a_yaml_alias_is_refused(run: Run) -> None:
    text = 'x-args: &args ["--model=m/x", "--max-num-seqs=512"]\n' + compose('    command: *args\n')
    assert 'anchor' in refusal(run, {'compose.yaml': text}, WIDE)


def test_a_merged_mapping_is_refused(run: Run) -> None:
    text = f'x-base: &base\n  image: {IMAGE}\n  command: ["--model=m/x", "--max-num-seqs=512"]\nservices:\n  one:\n    <<: *base\n  two:\n    <<: *base\n'
    assert 'anchor' in refusal(run, {'compose.yaml': text}, WIDE)


@pytest.mark.parametrize(
    ('text', 'reason'),
    [
        (pod('      args: [--model={{ .Values.model }}, --max-num-seqs=512]\n'), 'template'),
        ('---\n# Source: chat/templates/pod.yaml\n' + pod('      args: [--model=m/x, --max-num-seqs=512]\n'), 'rendered from chat/templates/pod.yaml'),
        ('# Code generated by the platform; DO NOT EDIT.\n' + pod('      args: [--model=m/x, --max-num-seqs=512]\n'), 'generated'),
    ],
)
def test_what_a_program_writes_is_refused(run: Run, text: str, reason: str) -> None:
    assert reason in refusal(run, {'pod.yaml': text}, WIDE)


def test_overlapping_edits_are_skipped_and_come_with_the_next_run(run: Run) -> None:
    files = {'pod.yaml': pod('      args: [--model=m/x]\n')}
    findings = [item for item in run(files).findings if item.rule.id in (UNSET, 'vllm-memory-share-unset')]
    planned, applied, refused = plan(findings, unsafe=True)
    assert [len(edits) for edits in planned.values()] == [1]
    assert len(applied) == 1
    assert [reason for _, reason in refused] == ['it overlaps with another fix: run again']


def test_safe_fixes_alone_are_written_unless_asked(run: Run) -> None:
    findings = [item for item in run({'pod.yaml': pod('      args: [--model=m/x, --max-num-seqs=512]\n')}).findings if item.rule.id == WIDE]
    assert not apply_fixes(findings).applied


FILE = pod('      args: [--model=m/x, --max-num-seqs=512]\n')


def test_links_stay_links_and_modes_stay(run: Run, tmp_path: Path) -> None:
    real = tmp_path / 'elsewhere' / 'pod.yaml'
    real.parent.mkdir()
    real.write_text(FILE)
    real.chmod(0o640)
    (tmp_path / 'pod.yaml').symlink_to(real)
    findings = [item for item in run({}).findings if item.rule.id == WIDE]
    apply_fixes(findings, unsafe=True)
    assert (tmp_path / 'pod.yaml').is_symlink()
    assert '--max-num-seqs=128' in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in real.parent.iterdir()) == ['pod.yaml']


def test_a_file_that_changed_since_it_was_read_is_left_alone(run: Run) -> None:
    result = run({'pod.yaml': FILE})
    Path('pod.yaml').write_text('# new\n' + FILE)
    fixed = fix_all(result, lambda _: result, unsafe=True)
    assert not fixed.new
    assert {reason for _, reason in fixed.refused} >= {'the file has changed since it was read'}
    finding = next(item for item in result.findings if item.rule.id == WIDE)
    assert is_current(finding, 'pod.yaml', FILE.encode())


def test_a_file_that_changes_while_fixes_are_made_is_not_overwritten(run: Run) -> None:
    result = run({'pod.yaml': FILE})
    fixed = fix_all(result, lambda _: result._replace(findings=()), unsafe=True)
    Path('pod.yaml').write_text('# mine\n')
    [(path, error)] = write(fixed)
    assert (path, error.strerror) == ('pod.yaml', 'it has changed since it was read')
    assert Path('pod.yaml').read_text() == '# mine\n'


def test_a_read_only_file_is_said_and_the_others_are_fixed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run({'a.yaml': FILE, 'b.yaml': FILE.replace('chat', 'other')})
    os.chmod('a.yaml', 0o444)
    assert cli.run(['check', '--no-config', '--fix', '--unsafe-fixes', '--fail-on', 'never', '.']) == 3
    assert 'a.yaml: not written: the file is read-only' in capsys.readouterr().err
    assert Path('a.yaml').read_text() == FILE
    assert '--max-num-seqs=128' in Path('b.yaml').read_text()
    assert not [name for name in os.listdir('.') if re.match(r'\.configaudit', name)]
