"""What the engines' parsers make of a value; the verdicts are those of the real parsers (tests/real/test_engine_parsers.py)."""

import pytest

from configaudit.knowledge.flag_values import refusal
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.versions import parse


@pytest.mark.parametrize(
    ('engine', 'version', 'option', 'text', 'reason'),
    [
        ('vllm', '0.16.0', '--max-model-len', '8k', ''),
        ('vllm', '0.16.0', '--max-model-len', 'auto', ''),
        ('vllm', '0.10.2', '--max-model-len', 'auto', 'whole number'),
        ('vllm', '0.16.0', '--max-num-seqs', '8k', 'whole number'),
        ('vllm', '0.16.0', '--gpu-memory-utilization', '1.5', 'at most 1'),
        ('vllm', '0.16.0', '--dtype', 'FLOAT16', 'one of'),
        ('vllm', '0.16.0', '--kv-transfer-config', '{"a": 1', 'no JSON'),
        ('vllm', '0.16.0', '--kv-transfer-config', '{"a": 80g}', ''),
        ('vllm', '0.16.0', '--kv-transfer-config', 'word', 'no JSON'),
        ('vllm', '0.9.0.1', '--limit-mm-per-prompt', 'image=1', ''),
        ('vllm', '0.9.2', '--limit-mm-per-prompt', 'image=1,video=0', ''),
        ('vllm', '0.9.2', '--limit-mm-per-prompt', '{"image": 1', 'no JSON'),
        ('vllm', '0.10.0', '--limit-mm-per-prompt', 'image=1', 'no JSON'),
        ('vllm', '0.16.0', '--hf-overrides', 'word', ''),
        ('vllm', '0.16.0', '--lora-modules', 'a=/b', ''),
        ('vllm', '0.16.0', '--lora-modules', 'a', 'name=path'),
        ('vllm', '0.16.0', '--quantization', 'ascend', ''),
        ('vllm', '0.16.0', '--quantization', 'None', ''),
        ('sglang', '0.5.23', '--max-running-requests', 'None', 'whole number'),
        ('sglang', '0.5.9', '--context-length', '8k', 'whole number'),
    ],
)
def test_refusal(engine: str, version: str, option: str, text: str, reason: str) -> None:
    flag = catalogue(engine).flag(option, parse(version))
    assert flag is not None
    found = refusal(engine, flag, text, parse(version))
    assert reason in found
    assert bool(found) == bool(reason)
