import pytest

from configaudit.knowledge.models import (
    MODELS,
    bytes_per_parameter,
    is_published,
    least_weight_bytes,
    lookup,
    parameters_from_name,
    weight_bytes,
)


@pytest.mark.parametrize(
    ('model_id', 'source', 'context'),
    [
        ('Qwen/Qwen3-32B', 'Qwen/Qwen3-32B', 40960),
        ('Qwen/Qwen3-32B-AWQ', 'Qwen/Qwen3-32B', 40960),
        ('Qwen/Qwen3-30B-A3B', 'Qwen/Qwen3-30B-A3B', 40960),
        ('Qwen/Qwen3-30B-A3B-Instruct-2507-FP8', 'Qwen/Qwen3-30B-A3B-Instruct-2507', 262144),
        ('meta-llama/Meta-Llama-3-8B-Instruct', 'meta-llama/Meta-Llama-3-8B-Instruct', 8192),
        ('meta-llama/Meta-Llama-3.1-8B-Instruct', 'meta-llama/Llama-3.1-8B-Instruct', 131072),
        ('meta-llama/Llama-3.3-70B-Instruct', 'meta-llama/Llama-3.3-70B-Instruct', 131072),
        ('/models/Llama-2-7b-chat-hf/', 'meta-llama/Llama-2-7b-chat-hf', 4096),
        ('deepseek-ai/DeepSeek-R1', 'deepseek-ai/DeepSeek-V3', 163840),
        ('deepseek-ai/DeepSeek-R1-Distill-Qwen-7B', 'deepseek-ai/DeepSeek-R1-Distill-Qwen-7B', 131072),
        ('mistralai/Mixtral-8x7B-Instruct-v0.1', 'mistralai/Mixtral-8x7B-Instruct-v0.1', 32768),
        ('openai/gpt-oss-20b', 'openai/gpt-oss-20b', 131072),
        ('deepseek-ai/DeepSeek-R1-0528-Qwen3-8B', 'deepseek-ai/DeepSeek-R1-0528-Qwen3-8B', 131072),
        ('facebook/opt-125m', 'facebook/opt-125m', 2048),
        ('/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0a1b', 'Qwen/Qwen3-8B', 40960),
        ('google/codegemma-1.1-7b-it', 'google/gemma-7b-it', 8192),
        ('mistralai/Mistral-7B-Instruct-v0.1', 'mistralai/Mistral-7B-Instruct-v0.1', 32768),
    ],
)
def test_lookup(model_id: str, source: str, context: int) -> None:
    model = lookup(model_id)
    assert model is not None
    assert (model.source, model.context) == (source, context)


@pytest.mark.parametrize(
    'model_id',
    [
        '',
        'acme/private-model',
        'acme/DeepSeek-R1-Chat-Mistral-7B',
        'acme/gpt-oss-20b-pruned-6b',
        'Qwen/Qwen2.5-7B-Instruct-1M',
        'Qwen/Qwen3-8B2',
        'microsoft/Phi-4-multimodal-instruct',
        '\ufffc',
    ],
)
def test_unknown_models(model_id: str) -> None:
    assert lookup(model_id) is None


def test_every_row_finds_its_own_source_first() -> None:
    for _, model in MODELS:
        assert lookup(model.source) == model


def test_shapes_are_sane() -> None:
    for _, model in MODELS:
        assert model.heads % model.kv_heads == 0
        assert model.active is None or model.active < model.parameters


def test_kv_bytes_of_llama_8b() -> None:
    model = lookup('meta-llama/Llama-3.1-8B-Instruct')
    assert model is not None
    assert model.kv_bytes_per_token() == 131072  # 32 layers x 2 x 8 heads x 128 x 2 bytes
    assert model.kv_bytes_per_token(1) == 65536


def test_kv_bytes_of_latent_attention() -> None:
    model = lookup('deepseek-ai/DeepSeek-V3')
    assert model is not None
    assert model.kv_bytes_per_token() == 61 * 576 * 2


@pytest.mark.parametrize(
    ('model_id', 'parameters'),
    [
        ('Qwen/Qwen3-32B', 32e9),
        ('meta-llama/Llama-3.1-70b', 70e9),
        ('Qwen/Qwen3-0.6B', 0.6e9),
        ('facebook/opt-125m', 125e6),
        ('Qwen/Qwen3-30B-A3B', 30e9),
        ('acme/model-7B-AWQ', 7e9),
        ('acme/model_13b_int4', 13e9),
        ('mistralai/Mixtral-8x7B', None),
        ('meta-llama/Llama-4-Maverick-17B-128E', None),
        ('acme/base-model', None),
        ('acme/merge-7B-13B', None),
    ],
)
def test_parameters_from_name(model_id: str, parameters: float | None) -> None:
    assert parameters_from_name(model_id) == parameters


@pytest.mark.parametrize(
    ('model_id', 'quantization', 'dtype', 'size'),
    [
        ('Qwen/Qwen3-8B', '', 'auto', 2.0),
        ('Qwen/Qwen3-8B', 'fp8', 'auto', 1.05),
        ('Qwen/Qwen3-8B', '', 'float32', 4.0),
        ('Qwen/Qwen3-8B-AWQ', '', 'auto', 0.6),
        ('Qwen/Qwen3-8B-FP8', '', 'auto', 1.05),
        ('openai/gpt-oss-120b', '', 'auto', 0.56),
        ('deepseek-ai/DeepSeek-V3', '', 'auto', 1.0),
    ],
)
def test_bytes_per_parameter(model_id: str, quantization: str, dtype: str, size: float) -> None:
    assert bytes_per_parameter(model_id, quantization, dtype) == size


def test_weight_bytes() -> None:
    assert weight_bytes('acme/model-7B') == 14e9
    assert weight_bytes('acme/model') is None
    assert weight_bytes('mistralai/Mixtral-8x7B-v0.1') == pytest.approx(93.4e9)


@pytest.mark.parametrize(
    ('model_id', 'published'),
    [
        ('Qwen/Qwen3-32B', True),
        ('qwen/qwen3-32b', True),
        ('Qwen/Qwen3-32B-AWQ', True),
        ('meta-llama/Meta-Llama-3.1-8B-Instruct', True),
        ('Qwen/Qwen3-8B-Base', False),
        ('acme/Qwen3-32B', False),
        ('/models/Qwen3-32B', False),
        ('Qwen3-32B', False),
    ],
)
def test_published(model_id: str, published: bool) -> None:
    model = lookup(model_id)
    assert model is not None
    assert is_published(model_id, model) is published


@pytest.mark.parametrize(
    ('model_id', 'quantization', 'gigabytes'),
    [
        ('Qwen/Qwen3-32B', '', 65.6),
        ('Qwen/Qwen3-32B', 'fp8', 32.8),
        ('Qwen/Qwen3-32B', 'bitsandbytes', 16.4),
        ('Qwen/Qwen3-32B', 'some-new-method', 16.4),
        ('Qwen/Qwen3-32B-AWQ', '', 16.4),
        ('acme/Qwen3-32B-GGUF', '', 0.0),
        ('deepseek-ai/DeepSeek-R1', 'fp8', 671.0),
    ],
)
def test_least_weights(model_id: str, quantization: str, gigabytes: float) -> None:
    model = lookup(model_id)
    assert model is not None
    assert least_weight_bytes(model, model_id, quantization) / 1e9 == pytest.approx(gigabytes)


def test_least_cache_of_one_sequence() -> None:
    gemma, llama = lookup('google/gemma-3-27b-it'), lookup('meta-llama/Llama-3.1-8B-Instruct')
    assert gemma is not None
    assert llama is not None
    assert llama.kv_bytes(1000) == 1000 * 131072
    assert gemma.kv_bytes(100_000) == (10 * 100_000 + 52 * 1024) * 2 * 16 * 128 * 2  # 52 of 62 layers keep a window of 1024
    assert gemma.kv_bytes(100) == 62 * 100 * 2 * 16 * 128 * 2
