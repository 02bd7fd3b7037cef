"""Command lines as the parsers of vLLM and SGLang split them."""

from collections.abc import Callable

import pytest

from configaudit.model import Component

Engine = Callable[..., Component]


@pytest.mark.parametrize(
    ('args', 'setting', 'value'),
    [
        ('[/m, --max_num_seqs, "4"]', 'max_num_seqs', 4),
        ('[/m, --max-num-seq=4]', 'max_num_seqs', 4),
        ('[/m, -tp, "2"]', 'tensor_parallel_size', 2),
        ('[/m, --max-model-len, 8k]', 'max_model_len', 8000),
        ('[/m, --max-num-seqs, $(N)]', 'max_num_seqs', 6),
        ('[/m, --max-num-seqs=$(N)]', 'max_num_seqs', 6),
    ],
)
def test_spellings(engine: Engine, args: str, setting: str, value: object) -> None:
    found = engine('vllm/vllm-openai:v0.16.0', '', args, '[{name: N, value: "6"}]')
    assert found[setting].value == value


def test_a_key_takes_the_next_word_whatever_it_is(engine: Engine) -> None:
    arguments = engine('vllm/vllm-openai:v0.16.0', '', '[/m, --kv-transfer-config.kv_role, --port, "8000"]')['arguments'].value
    assert [(option.name, option.key, [word.value for word in option.values]) for option in arguments.options] == [
        ('--kv-transfer-config', 'kv_role', ['--port'])
    ]
    assert [word.value for word in arguments.loose] == ['8000']


def test_sglang_takes_no_underscores(engine: Engine) -> None:
    found = engine('lmsysorg/sglang:v0.5.9', '[python3, -m, sglang.launch_server]', '[--model-path, m, --context_length, "8"]')
    assert found['context_length'].origin == 'default'


@pytest.mark.parametrize(('version', 'name'), [('0.16.0', '--optimization-level'), ('0.10.2', '--compilation-config')])
def test_levels(engine: Engine, version: str, name: str) -> None:
    options = engine(f'vllm/vllm-openai:v{version}', '', '[/m, -O3]')['options'].value
    assert [(option.name, option.value.value) for option in options] == [(name, '3')]
