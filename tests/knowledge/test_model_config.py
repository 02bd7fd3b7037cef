"""What a config.json says, by family."""

from typing import Any

import pytest

from configaudit.knowledge.model_config import model_of

PLAIN: dict[str, Any] = {
    'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, 'num_attention_heads': 32, 'num_key_value_heads': 8,
    'max_position_embeddings': 8192, 'torch_dtype': 'bfloat16',
}  # fmt: skip


@pytest.mark.parametrize(
    ('changes', 'facts'),
    [
        ({}, {'heads': 32, 'kv_heads': 8, 'head_dim': 128, 'context': 8192, 'full_layers': 32, 'bytes_per_parameter': 2.0, 'dtype': 'bfloat16'}),
        ({'num_key_value_heads': None}, {'kv_heads': 32}),
        ({'head_dim': 256}, {'head_dim': 256}),
        ({'rope_scaling': {'rope_type': 'llama3', 'factor': 8.0}}, {'context': 8192}),
        ({'rope_scaling': {'type': 'linear', 'factor': 4.0}}, {'context': 32768}),
        ({'rope_scaling': {'rope_type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 8192}}, {'context': 32768}),
        ({'rope_scaling': {'rope_type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 2048}}, {'context': 8192}),
        ({'rope_scaling': {'rope_type': 'longrope', 'factor': 4.0}}, {'context': 8192, 'stretched': True}),
        ({'model_type': 'mistral', 'sliding_window': 4096}, {'full_layers': 0, 'window': 4096}),
        ({'model_type': 'qwen2', 'sliding_window': 4096, 'use_sliding_window': False}, {'full_layers': 32, 'window': 0}),
        ({'model_type': 'gemma3_text', 'sliding_window': 1024}, {'full_layers': 5, 'window': 1024}),
        ({'layer_types': ['full_attention', 'sliding_attention'] * 16, 'sliding_window': 128}, {'full_layers': 16, 'window': 128}),
        ({'layer_types': ['linear_attention'] * 24 + ['full_attention'] * 8}, {'full_layers': 8, 'window': 0}),
        ({'model_type': 'some_new_family'}, {'full_layers': 0}),
        ({'kv_lora_rank': 512, 'qk_rope_head_dim': 64, 'model_type': 'deepseek_v3'}, {'mla': True, 'mla_elements': 576}),
        ({'quantization_config': {'quant_method': 'fp8'}}, {'quantization': 'fp8', 'bytes_per_parameter': 1.0}),
        ({'quantization_config': {'quant_method': 'gptq', 'bits': 8}}, {'quantization': 'gptq', 'bytes_per_parameter': 1.0}),
        ({'quantization_config': {'quant_method': 'compressed-tensors'}}, {'bytes_per_parameter': 0.5}),
        ({'quantization_config': {'quant_method': 'modelopt', 'quant_algo': 'FP8'}}, {'bytes_per_parameter': 1.0}),
    ],
)
def test_shape(changes: dict[str, Any], facts: dict[str, Any]) -> None:
    model = model_of({**PLAIN, **changes}, 'here')
    assert model is not None
    assert {name: getattr(model, name) for name in facts} == facts


def test_a_text_model_inside_and_the_size_of_its_weights() -> None:
    model = model_of({'model_type': 'gemma3', 'vision_config': {}, 'text_config': PLAIN}, 'here', 16_000_000_000)
    assert model is not None
    assert (model.heads, model.parameters) == (32, 8.0)


@pytest.mark.parametrize('config', [{}, {'hidden_size': 'wide'}, {**PLAIN, 'num_attention_heads': 0}, {**PLAIN, 'num_hidden_layers': True}, {**PLAIN, 'max_position_embeddings': None}])
def test_what_says_too_little_is_no_model(config: dict[str, Any]) -> None:
    assert model_of(config, 'here') is None
