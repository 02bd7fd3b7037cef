"""`configaudit upgrade`: what changes between two releases, for everybody and for some files."""

import json
from pathlib import Path
from typing import Any

import pytest

from configaudit import cli
from configaudit.upgrade import difference, releases

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.8.5
          args: [--model=/models/chat, --max-model-len=16384, %s]
          env: [{name: VLLM_ATTENTION_BACKEND, value: FLASHINFER}]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / '.git').mkdir()
    return tmp_path


def upgraded(folder: Path, capsys: pytest.CaptureFixture[str], arguments: str, before: str, after: str, *words: str) -> tuple[int, dict[str, Any]]:
    (folder / 'chat.yaml').write_text(DEPLOYMENT % arguments)
    code = cli.run(['upgrade', 'vllm', before, after, 'chat.yaml', '-f', 'json', *words])
    return code, json.loads(capsys.readouterr().out)


def test_a_flag_that_goes_breaks_the_file_at_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, held = upgraded(folder, capsys, '--swap-space=8', '0.8.5', '0.18.1')
    assert code == 1
    found = {item['rule']: item for item in held['appear']}
    assert found['vllm-flag-removed']['location']['line'] == 12
    assert found['vllm-flag-removed']['severity'] == 'error'
    assert 'vllm-environment-removed' in found


def test_what_both_releases_say_is_not_repeated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, held = upgraded(folder, capsys, '--no-such-flag', '0.16.0', '0.17.1')
    assert (code, held['appear']) == (0, [])


def test_defaults_move_only_where_nobody_set_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = {item['name']: item for item in upgraded(folder, capsys, '--seed=1', '0.19.1', '0.20.2')[1]['defaults']}
    share = moved['--gpu-memory-utilization']
    assert (share['before'], share['after'], share['not_set_at'][0]['location']['line']) == ('0.9', '0.92', 12)
    held = upgraded(folder, capsys, '--gpu-memory-utilization=0.9', '0.19.1', '0.20.2')[1]
    assert '--gpu-memory-utilization' not in {item['name'] for item in held['defaults']}


def test_the_gpu_decides_whether_the_batch_moves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def batch(*words: str) -> dict[str, Any]:
        moved = {item['name']: item for item in upgraded(folder, capsys, '--seed=1', '0.8.5', '0.10.2', *words)[1]['defaults']}
        return moved.get('--max-num-seqs', {})

    assert (batch('--gpu', 'A100-80G')['before'], batch('--gpu', 'A100-80G')['after']) == ('1024', '256')
    assert batch('--gpu', 'H100') == {}
    assert '1024 -> 256 on A100-80GB' in batch()['depends_on']


def test_without_files_everything_that_differs_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    found = difference(releases('vllm', '0.8.5', '0.16.0', ''))
    assert {item.name: item.use for item in found.gone}['--guided-decoding-backend'].startswith('--structured-outputs-config.backend')
    assert '--attention-backend' in {item.name for item in found.new}
    assert 'VLLM_ATTENTION_BACKEND' in {item.name for item in found.variables_gone}
    assert 'vllm:gpu_cache_usage_perc' in {item.name for item in found.metrics_gone}
    assert ('--seed', 'none', '0') in {(item.name, item.before, item.after) for item in found.defaults}
    assert cli.run(['upgrade', 'vllm', '0.8.5', '0.16.0']) == 0
    assert 'Flags that are gone' in capsys.readouterr().out


def test_a_switch_that_loses_its_value_is_written_otherwise() -> None:
    found = {item.name: item for item in difference(releases('vllm', '0.8.0', '0.8.5', '')).syntax}
    assert (found['--enable-chunked-prefill'].before, found['--enable-chunked-prefill'].after) == ('switch or =true/=false', 'switch with --no-')


def test_markdown_and_text_show_the_same_findings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'chat.yaml').write_text(DEPLOYMENT % '--swap-space=8')
    for form, place in (('text', 'chat.yaml:12:'), ('markdown', 'chat.yaml:12:')):
        assert cli.run(['upgrade', 'vllm', '0.8.5', '0.18.1', 'chat.yaml', '-f', form]) == 1
        page = capsys.readouterr().out
        assert place in page
        assert 'Breaks (1)' in page.replace('\\', '')


def test_files_without_the_engine_are_nothing_to_judge(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'other.yaml').write_text('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n')
    assert cli.run(['upgrade', 'vllm', '0.8.5', '0.16.0', 'other.yaml']) == 4
    assert 'No vLLM engine in 1 file' in capsys.readouterr().out


@pytest.mark.parametrize('words', [['chat.yaml'], []])
def test_a_release_does_not_differ_from_itself(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    (folder / 'chat.yaml').write_text(DEPLOYMENT % '--swap-space=8')
    assert cli.run(['upgrade', 'vllm', '0.16.0', '0.16.0', *words]) == 0
    assert 'Nothing ' in capsys.readouterr().out


@pytest.mark.parametrize(('model', 'moves'), [('--model=/models/chat', False), ('serve, /models/chat', False), ('--port=8000', True)])
def test_the_default_model_moves_only_for_an_engine_that_names_none(folder: Path, capsys: pytest.CaptureFixture[str], model: str, moves: bool) -> None:
    (folder / 'chat.yaml').write_text((DEPLOYMENT % '--max-num-seqs=64').replace('--model=/models/chat', model))
    cli.run(['upgrade', 'vllm', '0.8.5', '0.16.0', 'chat.yaml', '-f', 'json'])
    held = json.loads(capsys.readouterr().out)
    assert ('--model' in {row['name'] for row in held['defaults']}) is moves


def test_namesakes_in_two_files_are_told_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, gpu in (('dev', 'A100-80G'), ('prod', 'H100')):
        (folder / f'{name}.yaml').write_text((DEPLOYMENT % '--port=8000').replace('{name: chat}', f'{{name: chat, annotations: {{configaudit.io/gpu: {gpu}}}}}', 1))
    cli.run(['upgrade', 'vllm', '0.10.2', '0.16.0', 'dev.yaml', 'prod.yaml', '-f', 'json'])
    held = json.loads(capsys.readouterr().out)
    assert len(held['engines']) == 2
    assert '--max-num-seqs' not in {row['name'] for row in held['defaults']}  # 256 on the one and 1024 on the other, before and after


def test_markdown_needs_no_arrow_between_its_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'chat.yaml').write_text(DEPLOYMENT % '--max-num-seqs=64')
    cli.run(['upgrade', 'vllm', '0.8.5', '0.16.0', 'chat.yaml', '-f', 'markdown'])
    assert '| none | 0 |' in capsys.readouterr().out


def test_only_engines_with_a_history_can_be_upgraded(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['upgrade', 'ollama', '0.1.0', '0.2.0']) == 2
    assert 'no history by release' in capsys.readouterr().err


def test_renamed_metrics_name_their_successor_and_counters_keep_their_name() -> None:
    found = difference(releases('vllm', '0.8.5', '0.16.0', ''))
    gone = {item.name: item.use for item in found.metrics_gone}
    assert gone['vllm:gpu_cache_usage_perc'] == 'vllm:kv_cache_usage_perc'
    assert gone['vllm:gpu_prefix_cache_hits_total'] == 'vllm:prefix_cache_hits_total'
    assert gone['vllm:num_requests_swapped'].endswith('vllm:num_preemptions_total')
    assert 'vllm:prompt_tokens_total' not in {*gone, *(item.name for item in found.metrics_new)}  # registered with and without _total


def test_a_dashboard_by_itself_is_judged_as_the_later_release(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'chat.json').write_text('{"schemaVersion": 39, "panels": [{"targets": [{"expr": "vllm:gpu_cache_usage_perc"}]}]}')
    cli.run(['upgrade', 'vllm', '0.10.2', '0.16.0', 'chat.json', '-f', 'json'])
    assert '"metric-removed"' in capsys.readouterr().out


def test_a_flag_that_goes_has_no_default_that_moves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, held = upgraded(folder, capsys, '--max-num-seqs=64', '0.8.5', '0.18.1')
    assert '--swap-space' not in {row['name'] for row in held['defaults']}
