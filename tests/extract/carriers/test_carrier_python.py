"""Python programs: the engines they make or start, and the silence about all others."""

from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.fix import Refusal, edits_of
from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
HEAD = 'from vllm import LLM, AsyncEngineArgs\nimport sglang as sgl\nfrom ray.serve.llm import LLMConfig\nimport subprocess, sys\n'


def engines(result: Result) -> list[Component]:
    return [component for component in result.components if 'engine' in component.kind.traits]


def test_keywords_are_the_engine_s_flags(run: Run) -> None:
    text = HEAD + 'N = 64 * 4\nllm = LLM("Qwen/Qwen3-8B", max_num_seqs=N, enable_prefix_caching=False, enforce_eager=False, swap_space=8)\n'
    (engine,) = engines(run({'serve.py': text, 'requirements.txt': 'vllm==0.17.1\n'}))
    assert (str(engine.version), engine.version_from) == ('0.17.1', 'pip pin vllm==0.17.1 in requirements.txt')
    assert engine['model'].value == 'Qwen/Qwen3-8B'
    assert (engine['max_num_seqs'].value, locate(engine['max_num_seqs'].place).line) == (256, 5)
    assert engine['enable_prefix_caching'].value is False
    assert not engine['enforce_eager'].is_set
    assert engine['swap_space'].value == 8


@pytest.mark.parametrize(
    ('call', 'more', 'tokens'),
    [
        ('LLM(model="m")', '', {8192, 16384}),
        ('AsyncEngineArgs(model="m")', '', {2048}),
        ('AsyncEngineArgs(model="m")', 'context = UsageContext.OPENAI_API_SERVER\n', {2048, 8192}),
        ('LLMConfig(model_loading_config=dict(model_source="m"), engine_kwargs=dict(dtype="auto"))', '', {2048, 8192}),
    ],
)
def test_defaults_are_those_of_the_usage(run: Run, call: str, more: str, tokens: set[int]) -> None:
    (engine,) = engines(run({'serve.py': f'{HEAD}{more}x = {call}\n', 'requirements.txt': 'vllm==0.16.0\n'}))
    found = engine['max_num_batched_tokens']
    assert set(found.candidates or (found.known_value,)) == tokens


def test_an_offline_program_keeps_nobody_waiting(run: Run) -> None:
    result = run({'a.py': HEAD + 'a = LLM("m", max_num_seqs=512)\nb = AsyncEngineArgs(model="m", max_num_seqs=512)\n'})
    assert [locate(item.place).line for item in result.findings if item.rule.id == 'vllm-batch-too-wide'] == [6]


def test_an_accelerator_and_a_kv_cache_that_it_cannot_hold(run: Run) -> None:
    text = HEAD + 'c = LLMConfig(accelerator_type="A10G", model_loading_config={"model_id": "q"}, engine_kwargs={"kv_cache_dtype": "fp8"})\n'
    result = run({'app.py': text, 'requirements.txt': 'vllm==0.11.0\n'})
    assert engines(result)[0]['gpu'].value.name == 'A10G'
    assert 'vllm-kv-cache-fp8-unsupported' in {item.rule.id for item in result.findings}


def test_sglang_and_a_server_started_from_a_list(run: Run) -> None:
    start = 'subprocess.Popen([sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", "m", "--max-num-seqs", str(n)])\n'
    sglang, vllm = engines(run({'a.py': f'{HEAD}e = sgl.Engine(model_path="m", mem_fraction_static=0.95)\n{start}'}))
    assert (sglang.kind.name, sglang['mem_fraction_static'].value) == ('sglang', 0.95)
    assert vllm['model'].value == 'm'
    assert not vllm['max_num_seqs'].is_known


@pytest.mark.parametrize(
    ('text', 'seqs', 'open_ended'),
    [
        ('subprocess.run(["vllm", "serve", "m", "--max-num-seqs", "8"])', 8, False),
        ('cmd = ["vllm", "serve", "m", "--max-num-seqs", "8"]\ncmd += extra\nsubprocess.run(cmd)', 8, True),
        ('cmd = ["vllm", "serve", "m"]\nsubprocess.Popen(" ".join(cmd + ["--max-num-seqs=8"]), shell=True)', 8, False),
        ('subprocess.run(["vllm", "serve", "m", *more, "--max-num-seqs", "8"])', 8, True),
        ('N = 8\nsubprocess.run(shlex.split(f"vllm serve m --max-num-seqs {N}"))', 8, False),
        ('os.system("vllm serve m --max-num-seqs 8")', 8, False),
    ],
)
def test_words_that_start_a_server(run: Run, text: str, seqs: int, open_ended: bool) -> None:
    (engine,) = engines(run({'a.py': f'import os, shlex, subprocess\n{text}\n'}))
    assert engine['max_num_seqs'].value == seqs
    assert bool(engine.partial) is open_ended


@pytest.mark.parametrize('text', ['subprocess.run(["ls", "vllm"])', 'subprocess.run(cmd)', 'subprocess.run(["echo", "vllm serve m"])', 'os.system(x)'])
def test_other_commands_start_none(run: Run, text: str) -> None:
    assert run({'a.py': f'import os, subprocess\nimport vllm\n{text}\n'}).components == ()


def test_what_is_not_shown_leaves_the_rest_open(run: Run) -> None:
    first, second, third = engines(run({'a.py': f'{HEAD}k = dict(max_num_seqs=8)\na = LLM("m", **k)\nb = LLM("m", **kwargs)\nc = LLM("m", max_num_seqs=args.n)\n'}))
    assert first['max_num_seqs'].value == 8
    assert not first.partial
    assert second.partial
    assert not third['max_num_seqs'].is_known
    assert not third.partial


def test_only_constants_of_a_program_are_replaced(run: Run) -> None:
    before = 'a = LLM("m", gpu_memory_utilization=0.99, enforce_eager=True)\nN = 0.99\nb = LLM("m", gpu_memory_utilization=N)\n'
    words = 'subprocess.run(["vllm", "serve", "m", "--gpu-memory-utilization", "0.99", "--max-num-seqs=512"])\n'
    result = run({'a.py': HEAD + before + words})
    plans = [edits_of(item) for item in result.findings if item.fix is not None]
    text = (HEAD + before + words).encode()
    edits = {edit for made in plans if not isinstance(made, Refusal) for edit in made}
    assert {(text[edit.start : edit.end], edit.text) for edit in edits} == {(b'0.99', '0.85'), (b'"0.99"', '"0.85"')}
    assert len(edits) == 2
    assert {made.reason for made in plans if isinstance(made, Refusal)} == {'it is a program'}


@pytest.mark.parametrize('path', ['tests/serve.py', 'test_serve.py', 'serve_test.py', 'benchmarks/run.py', 'backend/test.py'])
def test_tests_are_no_deployment(run: Run, path: str) -> None:
    assert run({path: HEAD + 'a = LLM("m", max_num_seqs=512)\n'}).components == ()


def test_an_example_is_judged_by_what_it_says_only(run: Run) -> None:
    result = run({'examples/a.py': HEAD + 'a = LLM("m", gpu_memory_utilization=0.99)\n'})
    assert {item.rule.id for item in result.findings} == {'vllm-memory-share-high'}


@pytest.mark.parametrize('text', ['import os\n', 'import vllm\ndef f(:\n', '# import vllm\nx = 1\n', 'import vllm\nx = "caf\udce9"\n'])
def test_other_programs_are_nobody_s_business(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / 'a.py').write_bytes(text.encode('utf-8', 'surrogateescape'))
    monkeypatch.chdir(tmp_path)
    result = audit(['.'], Config())
    assert (result.components, result.errors, result.skipped, result.files) == ((), (), (), 0)


def test_a_named_program_that_does_not_parse_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'a.py').write_text('import vllm\ndef f(:\n')
    (tmp_path / 'b.py').write_text('print(1)\n')
    monkeypatch.chdir(tmp_path)
    (error,) = audit(['a.py'], Config()).errors
    assert (error.path, error.line, error.kind) == ('a.py', 2, 'python')
    result = audit(['b.py'], Config())
    assert (result.errors, [item.path for item in result.skipped]) == ((), ['b.py'])
