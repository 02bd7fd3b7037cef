"""Helm: rendered charts lead back to their templates, raw charts to their values; nothing is missing beside an include."""

from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.fix import apply_fixes
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]

TEMPLATE = """\
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
spec:
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: engine
      image: "vllm/vllm-openai:{{ .Values.image.tag }}"
      args:
        - --model=org/m
        - "--max-num-seqs={{ .Values.engine.seqs }}"
        - --gpu-memory-utilization
        - {{ .Values.engine.memory | quote }}
        - --kv-cache-dtype=fp8_e5m2
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
"""
VALUES = 'image: {tag: v0.10.2}\nengine:\n  seqs: 512 # é\n  memory: "0.97"\n'
RENDERED = """\
---
# Source: {source}
apiVersion: v1
kind: Pod
metadata:
  name: rel
spec:
  containers:
    - name: engine
      image: "vllm/vllm-openai:v0.10.2"
      args:
        - --model=org/m
        - "--max-num-seqs=512"
        - --gpu-memory-utilization
        - "0.97"
        - --kv-cache-dtype=fp8_e5m2
      resources:
        limits:
          nvidia.com/gpu: "0"
"""
BATCH, SHARE = 'vllm-batch-too-wide', 'vllm-memory-share-high'


def places(result: Result, *rules: str) -> list[str]:
    found = [(item.rule.id, locate(item.place)) for item in result.findings if item.rule.id in rules]
    return [f'{at.path}:{at.line}:{at.column} {rule}' for rule, at in found]


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Audit a text on standard input, and paths, in a folder of files."""

    def run_piped(text: str, files: dict[str, str], *paths: str) -> Result:
        for name, body in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(body, newline='')
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr('sys.stdin', TextIOWrapper(BytesIO(text.encode())))
        return audit([*paths, '-'], Config())

    return run_piped


@pytest.mark.parametrize(
    ('folder', 'source'), [('chat', 'chat/templates/pod.yaml'), ('.', 'chat/templates/pod.yaml'), ('charts/chat', 'chat/templates/pod.yaml')]
)
def test_a_rendered_line_leads_to_its_template(piped: Run, folder: str, source: str) -> None:
    path = f'{folder}/templates/pod.yaml'.removeprefix('./')
    result = piped(RENDERED.format(source=source), {path: TEMPLATE})
    assert places(result, BATCH, SHARE) == [f'{path}:14:27 {BATCH}', f'{path}:16:9 {SHARE}']
    batch = next(item for item in result.findings if item.rule.id == BATCH)
    word, where = batch.related[-1]
    assert (word, locate(where).path, locate(where).line) == ('rendered here', '<stdin>', 13)


def test_an_unchanged_line_keeps_its_column(piped: Run) -> None:
    template = TEMPLATE.replace('{{ .Values.engine.seqs }}', '512')
    result = piped(RENDERED.format(source='chat/templates/pod.yaml'), {'chat/templates/pod.yaml': template})
    assert places(result, BATCH) == [f'chat/templates/pod.yaml:14:27 {BATCH}']
    (at,) = [locate(item.place) for item in result.findings if item.rule.id == BATCH]
    assert at.end_column == 30


@pytest.mark.parametrize('source', ['../out/templates/pod.yaml', '/etc/templates/pod.yaml', 'link/templates/pod.yaml', 'nowhere/templates/pod.yaml'])
def test_a_template_outside_or_absent_is_not_opened(piped: Run, tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path.parent / f'{tmp_path.name}-out' / 'templates'
    outside.mkdir(parents=True)
    (outside / 'pod.yaml').write_text(TEMPLATE)
    (tmp_path / 'link').symlink_to(outside.parent)
    text = RENDERED.format(source=source.replace('../out', f'../{outside.parent.name}'))
    result = piped(text, {'a.txt': ''})
    assert places(result, BATCH) == [f'<stdin>:13:27 {BATCH}']


def test_raw_and_rendered_copies_are_one_finding(piped: Run) -> None:
    files = {'chat/templates/pod.yaml': TEMPLATE, 'chat/values.yaml': VALUES}
    result = piped(RENDERED.format(source='chat/templates/pod.yaml'), files, 'chat')
    assert places(result, BATCH) == [f'chat/values.yaml:3:9 {BATCH}']
    batch = next(item for item in result.findings if item.rule.id == BATCH)
    assert [word for word, _ in batch.related] == ['also used here', 'rendered here']


def test_values_are_reported_and_fixed_where_they_stand(run: Run, tmp_path: Path) -> None:
    result = run({'chat/templates/pod.yaml': TEMPLATE, 'chat/values.yaml': VALUES})
    assert places(result, BATCH, SHARE) == [f'chat/values.yaml:3:9 {BATCH}', f'chat/values.yaml:4:12 {SHARE}']
    apply_fixes([item for item in result.findings if item.rule.id == BATCH], unsafe=True)
    assert (tmp_path / 'chat/values.yaml').read_text() == VALUES.replace('512', '128')
    assert (tmp_path / 'chat/templates/pod.yaml').read_text() == TEMPLATE


def test_given_values_win(run: Run, tmp_path: Path) -> None:
    (tmp_path / 'prod.yaml').write_text('engine: {seqs: 600}\n')
    result = run({'chat/templates/pod.yaml': TEMPLATE, 'chat/values.yaml': VALUES}, Config(values=('prod.yaml',)))
    assert places(result, BATCH, SHARE) == [f'chat/values.yaml:4:12 {SHARE}', f'prod.yaml:1:16 {BATCH}']


def test_a_chart_inside_another_takes_the_outer_values(run: Run) -> None:
    files = {
        'top/Chart.yaml': 'name: top\n', 'top/values.yaml': 'chat:\n  engine: {seqs: 700}\n',
        'top/charts/chat/templates/pod.yaml': TEMPLATE, 'top/charts/chat/values.yaml': VALUES,
    }  # fmt: skip
    assert places(run(files), BATCH, SHARE) == [f'top/charts/chat/values.yaml:4:12 {SHARE}', f'top/values.yaml:2:18 {BATCH}']


OPEN = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  template:
    spec:
      INCLUDE
      containers:
        - name: engine
          INCLUDE
          image: vllm/vllm-openai:v0.10.2
          args:
            INCLUDE
            - --model=org/m
            - --tensor-parallel-size=2
          resources:
            INCLUDE
            limits: {nvidia.com/gpu: 2}
"""
MISSING = ('requests-missing', 'readiness-probe-missing', 'liveness-probe-missing', 'engine-shm-default', 'vllm-max-model-len-unset', 'model-cache-missing', 'grace-shorter-than-generation')


@pytest.mark.parametrize(
    'action',
    [
        '{{- include "more" . | nindent NN }}', '{{ include "more" . | nindent NN }}', '{{- toYaml .Values.more | nindent NN }}', '{{ include "more" . }}',
        '{{- with .Values.more }}\nII{{- toYaml . | nindent NN }}\nII{{- end }}', '{{- range .Values.more }}\nII{{ . }}\nII{{- end }}', '{{ more | to_nice_yaml }}',
    ],
)  # fmt: skip
@pytest.mark.parametrize('last', [False, True])
def test_nothing_is_missing_beside_an_include(run: Run, action: str, last: bool) -> None:
    lines = []
    for line in OPEN.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(line.replace('INCLUDE', action.replace('NN', str(len(indent))).replace('II', indent)))
    if last:  # behind what is written instead of before it
        body, hidden = [], []
        for line in OPEN.splitlines():
            (hidden if 'INCLUDE' in line else body).append(line)
        lines = body + [line.replace('INCLUDE', action.replace('NN', str(len(line) - 7)).replace('II', ' ' * (len(line) - 7))) for line in reversed(hidden)]
    assert places(run({'chat/templates/d.yaml': '\n'.join(lines) + '\n'}), *MISSING) == []


def test_a_conditional_first_key_leaves_the_mapping_open(run: Run) -> None:
    text = OPEN.replace('      INCLUDE\n      containers', '      {{- if .Values.grace }}\n      terminationGracePeriodSeconds: 9\n      {{- end }}\n      containers')
    text = '\n'.join(line for line in text.splitlines() if 'INCLUDE' not in line)
    found = places(run({'chat/templates/d.yaml': text}), 'model-cache-missing', 'engine-shm-default', 'requests-missing')
    assert found == ['chat/templates/d.yaml:16:11 requests-missing']


def test_an_item_of_values_written_out_stands_at_the_action_behind_its_key(run: Run) -> None:
    template = (
        'apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  containers:\n    - name: engine\n      image: vllm/vllm-openai:v0.10.2\n'
        '      {{- with .Values.args }}\n      args:\n      {{- toYaml . | nindent 8 }}\n      {{- end }}\n      {{- with .Values.env }}\n      env:\n'
        '      {{- toYaml . | nindent 8 }}\n      {{- end }}\n'
    )
    rendered = (
        '---\n# Source: chat/templates/pod.yaml\napiVersion: v1\nkind: Pod\nmetadata:\n  name: rel\nspec:\n  containers:\n    - name: engine\n'
        '      image: vllm/vllm-openai:v0.10.2\n      args:\n        - --model=org/m\n        - --port=8000\n        - --dtype=auto\n        - --max-num-seqs=512\n'
    )
    result = run({'chat/templates/pod.yaml': template, 'out.yaml': rendered})
    assert places(result, BATCH) == ['chat/templates/pod.yaml:11:7 vllm-batch-too-wide']


@pytest.mark.parametrize(
    ('lines', 'silent'),
    [
        ('        - --model=org/m\n        {{- toYaml .Values.more | nindent 8 }}\n', True),
        ('        - --model=org/m\n        {{- toYaml .Values.more | nindent 8 }}\n      resources: {}\n', True),
        ('        {{- with .Values.more }}\n        {{- toYaml . | nindent 8 }}\n        {{- end }}\n        - --model=org/m\n', True),
        ('        - --model=org/m\n        {{ toYaml .Values.more }}\n', True),
        ('        {{- toYaml .Values.more | nindent 8 }}\n', True),
        ('        - --model=org/m\n      env:\n        {{- toYaml .Values.more | nindent 8 }}\n', False),
    ],
)
def test_arguments_that_values_add_may_hold_any_flag(run: Run, lines: str, silent: bool) -> None:
    text = f'apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n    - name: c\n      image: vllm/vllm-openai:v0.10.2\n      args:\n{lines}'
    found = places(run({'chat/templates/d.yaml': text}), 'vllm-max-model-len-unset', 'vllm-batch-unset')
    assert (found == []) is silent
