"""`configaudit engine`: what one release has, and the history of one name."""

import json

import pytest

from configaudit import cli
from configaudit.release_sheet import sheet


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.run(['engine', *words]) == 0
    return capsys.readouterr().out


def default(version: str, gpu: str, flag: str, usage: str = 'server', engine: str = 'vllm') -> str:
    return next(row.default for row in sheet(engine, version, gpu, usage).rows if row.flag.option == flag)


@pytest.mark.parametrize(
    ('version', 'gpu', 'flag', 'expected'),
    [
        ('0.8.5', 'A100-80G', '--max-num-seqs', '1024'),
        ('0.10.2', 'A100-80G', '--max-num-seqs', '256'),
        ('0.10.2', 'H100', '--max-num-seqs', '1024'),
        ('0.10.2', '', '--max-num-seqs', '256 or 1024'),
        ('0.30.0', 'B200', '--max-num-batched-tokens', '16384'),
        ('0.16.0', '', '--gpu-memory-utilization', '0.9'),
        ('0.33.0', '', '--gpu-memory-utilization', '0.92'),
        ('0.33.0', 'p5.48xlarge', '--max-num-batched-tokens', '8192'),
        ('0.6.0', '', '--enable-chunked-prefill', 'false or true'),
    ],
)
def test_defaults_are_those_of_the_release_on_the_gpu(version: str, gpu: str, flag: str, expected: str) -> None:
    assert default(version, gpu, flag) == expected


def test_a_program_has_other_batch_limits_than_a_server() -> None:
    assert default('0.16.0', 'H100', '--max-num-batched-tokens', 'library') == '16384'


def test_sglang_has_a_sheet_too() -> None:
    assert default('0.5.9', 'H100', '--chunked-prefill-size', engine='sglang') == '8192'


def test_the_history_of_a_flag_says_where_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown(capsys, 'vllm', '0.33.0', 'swap_space')
    assert '--swap-space (flag): gone (last in 0.17.1)' in page
    assert 'drop it' in page


def test_variables_and_metrics_have_a_history(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown(capsys, 'vllm', '0.33.0', 'VLLM_USE_V1', 'vllm:gpu_cache_usage_perc')
    assert 'VLLM_USE_V1 (environment variable): gone' in page
    assert 'vllm:gpu_cache_usage_perc (metric): not emitted' in page


def test_json_has_values_and_what_they_depend_on(capsys: pytest.CaptureFixture[str]) -> None:
    held = json.loads(shown(capsys, 'vllm', '0.10.2', '-f', 'json'))
    flags = {row['flag']: row for row in held['flags']}
    assert flags['--max-num-seqs']['candidates'] == [256, 1024]
    assert flags['--max-num-seqs']['default'] is None
    assert flags['--gpu-memory-utilization']['default'] == 0.9
    assert flags['--block-size']['choices'] == ['1', '8', '16', '32', '64', '128']


def test_markdown_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, 'vllm', '0.10.2', '-f', 'markdown').splitlines()
    assert lines[0] == '## vLLM 0.10.2'
    row = next(line for line in lines if line.startswith('| --tensor-parallel-size'))
    assert row.count('|') == 6


@pytest.mark.parametrize('form', ['text', 'markdown', 'json'])
def test_servers_without_a_history_show_their_settings(capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert 'OLLAMA_NUM_PARALLEL' in shown(capsys, 'ollama', '-f', form)


def test_a_release_that_was_not_examined_says_so() -> None:
    assert 'newer than the data' in sheet('vllm', '9.0.0').note
    assert 'older than the data' in sheet('vllm', '0.1.0').note


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (('vlm', '0.10.2'), 'no engine is called'),
        (('vllm', 'ten'), 'not a version'),
        (('vllm', '0.10.2', 'max_num_sesq'), 'did you mean --max-num-seqs'),
        (('vllm', '0.10.2', '--gpu', 'H1000'), 'no GPU is called'),
    ],
)
def test_wrong_words_are_named(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['engine', *words]) == 2
    assert message in capsys.readouterr().err


def test_a_flag_is_asked_for_as_it_is_written_on_a_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown(capsys, 'vllm', '0.10.2', '--gpu', 'H100', '--max-num-seqs', '-tp')
    assert '--max-num-seqs (flag): there' in page
    assert '--tensor-parallel-size (flag): there' in page


def test_an_empty_list_is_no_mapping(capsys: pytest.CaptureFixture[str]) -> None:
    assert '0.32.0 - 0.33.0  json; default empty' in shown(capsys, 'vllm', '0.32.0', '--allowed-origins')


@pytest.mark.parametrize('flag', ['--mem-fraction-static', 'mem_fraction_static', 'mem-fraction-static'])
def test_a_flag_may_be_named_as_on_the_command_line_or_in_a_program(capsys: pytest.CaptureFixture[str], flag: str) -> None:
    assert '--mem-fraction-static (flag): there' in shown(capsys, 'sglang', 'newest', flag)


@pytest.mark.parametrize(('word', 'engine'), [('llama.cpp', 'llama.cpp-server'), ('llama-server', 'llama.cpp-server'), ('TensorRT-LLM', 'tensorrt-llm'), ('trtllm', 'tensorrt-llm'), ('vLLM', 'vLLM')])
def test_engines_have_the_names_that_people_use(capsys: pytest.CaptureFixture[str], word: str, engine: str) -> None:
    assert shown(capsys, word).startswith(engine)


@pytest.mark.parametrize('words', [('OLLAMA_NUM_PARALLEL',), ('0.12.0', 'ollama_num_parallel')])
def test_a_server_without_history_shows_the_setting_that_is_named(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    page = shown(capsys, 'ollama', *words)
    assert 'OLLAMA_NUM_PARALLEL' in page
    assert 'OLLAMA_MAX_QUEUE' not in page


def test_a_word_that_names_nothing_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(['engine', 'ollama', 'OLLAMA_NUM_PARALEL']) == 2
    assert "no setting 'OLLAMA_NUM_PARALEL'" in capsys.readouterr().err
    assert cli.run(['engine', 'vllm', '--gpuu', 'H100']) == 2
