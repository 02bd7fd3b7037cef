"""Which processes are inference engines."""

import pytest

from configaudit.extract.node.processes import processes
from configaudit.host.processes import engine_of
from configaudit.host.snapshot import Snapshot


@pytest.mark.parametrize(
    ('program', 'words', 'engine'),
    [
        ('python3', 'python3 -m vllm.entrypoints.openai.api_server --model m', 'vllm'),
        ('python3', '/usr/bin/python3 -u /usr/local/bin/vllm serve m', 'vllm'),
        ('VLLM::EngineCor', 'VLLM::EngineCore', 'vllm'),
        ('sglang::schedul', 'sglang::scheduler_TP0', 'sglang'),
        ('python3', 'python3 -m sglang.launch_server --tp 2', 'sglang'),
        ('text-generation', 'text-generation-launcher --num-shard 2', 'tgi'),
        ('tritonserver', 'tritonserver --model-repository=/m', 'triton'),
        ('python', 'python /srv/vllm-rules/tool.py', ''),
        ('python3', 'python3 -m pytest tests/test_vllm.py', ''),
        ('python3', 'python3 -m sglang_router.launch_router', ''),
        ('bash', '', ''),
        ('python3', '', ''),
        ('python3', 'python3 -m', ''),
    ],
)
def test_an_engine_is_told_by_what_runs(program: str, words: str, engine: str) -> None:
    assert engine_of(program, words) == engine


@pytest.mark.parametrize(
    ('program', 'words', 'spread'),
    [
        ('python3', 'python3 -m vllm.entrypoints.openai.api_server -tp 4', True),
        ('python3', 'python3 -m vllm.entrypoints.openai.api_server --tensor-parallel-size=1', False),
        ('python3', 'python3 -m vllm.entrypoints.openai.api_server', False),
        ('ollama', 'ollama serve', False),
        ('tritonserver', 'tritonserver', None),
        ('VLLM::EngineCor', 'VLLM::EngineCore', None),
        ('VLLM::Worker_TP', 'VLLM::Worker_TP1', True),
    ],
)
def test_over_how_many_gpus_it_runs(program: str, words: str, spread: bool | None) -> None:
    files = {'/proc/9/comm': program, '/proc/9/cmdline': words, '/proc/9/limits': '', '/proc/9/cgroup': '0::/system.slice/chat.service\n'}
    (process,) = processes(Snapshot(files))
    assert (process['spread'].known_value if process['spread'].is_known else None) is spread
    assert process['unit'].value == 'chat.service'
