"""Well-known models: size and shape, and what their weights and KV cache take.

Source of every row: the public config.json (and the weight index, for the parameters) of the repository in the last
column on huggingface.co. Fine-tunes and quantised copies that keep the name have the same shape.
"""

import re
from functools import cache
from typing import NamedTuple

from configaudit.patterns import regex

MLA_ELEMENTS = 576  # DeepSeek: kv_lora_rank 512 + qk_rope_head_dim 64, one vector for a token and layer


class Model(NamedTuple):
    """`parameters`, `active` (of a mixture of experts): billions. `context`: max_position_embeddings, in tokens."""

    parameters: float
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    context: int
    source: str
    active: float | None = None
    mla: bool = False
    bytes_per_parameter: float = 2.0  # as published; below 2 for models published in fp8 or mxfp4

    def kv_bytes_per_token(self, element_bytes: float = 2.0) -> float:
        """Bytes of KV cache for a token over all GPUs. An upper bound for models whose layers have a sliding window."""
        elements = MLA_ELEMENTS if self.mla else 2 * self.kv_heads * self.head_dim
        return self.layers * elements * element_bytes


# (pattern for the last part of the id, lower case; model). First match wins: longer names stand before shorter ones.
_LLAMA_8B, _LLAMA_70B = (8.03, 32, 32, 8, 128), (70.6, 80, 64, 8, 128)
MODELS: tuple[tuple[str, Model], ...] = (
    (r'deepseek-r1-distill-llama-8b', Model(*_LLAMA_8B, 131072, 'deepseek-ai/DeepSeek-R1-Distill-Llama-8B')),
    (r'deepseek-r1-distill-llama-70b', Model(*_LLAMA_70B, 131072, 'deepseek-ai/DeepSeek-R1-Distill-Llama-70B')),
    (
        r'deepseek-r1-distill-qwen-1\.5b',
        Model(1.78, 28, 12, 2, 128, 131072, 'deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B'),
    ),
    (r'deepseek-r1-distill-qwen-7b', Model(7.62, 28, 28, 4, 128, 131072, 'deepseek-ai/DeepSeek-R1-Distill-Qwen-7B')),
    (r'deepseek-r1-distill-qwen-14b', Model(14.8, 48, 40, 8, 128, 131072, 'deepseek-ai/DeepSeek-R1-Distill-Qwen-14B')),
    (r'deepseek-r1-distill-qwen-32b', Model(32.8, 64, 40, 8, 128, 131072, 'deepseek-ai/DeepSeek-R1-Distill-Qwen-32B')),
    (
        r'deepseek-(r1|v3)(?!-distill|\.2)',
        Model(671, 61, 128, 128, 128, 163840, 'deepseek-ai/DeepSeek-V3', 37, True, 1.0),
    ),
    (r'deepseek-v2-lite', Model(15.7, 27, 16, 16, 128, 163840, 'deepseek-ai/DeepSeek-V2-Lite', 2.4, True)),
    (r'kimi-k2-(instruct|base)', Model(1026, 61, 64, 64, 128, 131072, 'moonshotai/Kimi-K2-Instruct', 32, True, 1.0)),
    (r'llama-4-scout-17b-16e', Model(109, 48, 40, 8, 128, 10485760, 'meta-llama/Llama-4-Scout-17B-16E-Instruct', 17)),
    (
        r'llama-4-maverick-17b-128e',
        Model(402, 48, 40, 8, 128, 1048576, 'meta-llama/Llama-4-Maverick-17B-128E-Instruct', 17),
    ),
    (r'llama-3\.1-8b', Model(*_LLAMA_8B, 131072, 'meta-llama/Llama-3.1-8B-Instruct')),
    (r'llama-3\.[13]-70b', Model(*_LLAMA_70B, 131072, 'meta-llama/Llama-3.3-70B-Instruct')),
    (r'llama-3\.1-405b', Model(405.9, 126, 128, 8, 128, 131072, 'meta-llama/Llama-3.1-405B-Instruct')),
    (r'llama-3\.2-1b', Model(1.24, 16, 32, 8, 64, 131072, 'meta-llama/Llama-3.2-1B-Instruct')),
    (r'llama-3\.2-3b', Model(3.21, 28, 24, 8, 128, 131072, 'meta-llama/Llama-3.2-3B-Instruct')),
    (r'llama-3-8b', Model(*_LLAMA_8B, 8192, 'meta-llama/Meta-Llama-3-8B-Instruct')),
    (r'llama-3-70b', Model(*_LLAMA_70B, 8192, 'meta-llama/Meta-Llama-3-70B-Instruct')),
    (r'codellama-34b', Model(33.7, 48, 64, 8, 128, 16384, 'codellama/CodeLlama-34b-Instruct-hf')),
    (r'llama-2-7b', Model(6.74, 32, 32, 32, 128, 4096, 'meta-llama/Llama-2-7b-chat-hf')),
    (r'llama-2-13b', Model(13.0, 40, 40, 40, 128, 4096, 'meta-llama/Llama-2-13b-chat-hf')),
    (r'llama-2-70b', Model(69.0, 80, 64, 8, 128, 4096, 'meta-llama/Llama-2-70b-chat-hf')),
    (r'tinyllama-1\.1b', Model(1.1, 22, 32, 4, 64, 2048, 'TinyLlama/TinyLlama-1.1B-Chat-v1.0')),
    (r'mixtral-8x7b', Model(46.7, 32, 32, 8, 128, 32768, 'mistralai/Mixtral-8x7B-Instruct-v0.1', 12.9)),
    (r'mixtral-8x22b', Model(140.6, 56, 48, 8, 128, 65536, 'mistralai/Mixtral-8x22B-Instruct-v0.1', 39)),
    (r'mistral-7b', Model(7.25, 32, 32, 8, 128, 32768, 'mistralai/Mistral-7B-Instruct-v0.3')),
    (r'mistral-small-24b', Model(23.6, 40, 32, 8, 128, 32768, 'mistralai/Mistral-Small-24B-Instruct-2501')),
    (r'qwen2\.5-(coder-)?0\.5b-instruct', Model(0.494, 24, 14, 2, 64, 32768, 'Qwen/Qwen2.5-0.5B-Instruct')),
    (r'qwen2\.5-(coder-)?1\.5b-instruct', Model(1.54, 28, 12, 2, 128, 32768, 'Qwen/Qwen2.5-1.5B-Instruct')),
    (r'qwen2\.5-(coder-)?3b-instruct', Model(3.09, 36, 16, 2, 128, 32768, 'Qwen/Qwen2.5-3B-Instruct')),
    (r'qwen2\.5-(coder-)?7b-instruct(?!-1m)', Model(7.62, 28, 28, 4, 128, 32768, 'Qwen/Qwen2.5-7B-Instruct')),
    (r'qwen2\.5-(coder-)?14b-instruct(?!-1m)', Model(14.8, 48, 40, 8, 128, 32768, 'Qwen/Qwen2.5-14B-Instruct')),
    (r'qwen2\.5-(coder-)?32b-instruct', Model(32.8, 64, 40, 8, 128, 32768, 'Qwen/Qwen2.5-32B-Instruct')),
    (r'qwen2\.5-72b-instruct', Model(72.7, 80, 64, 8, 128, 32768, 'Qwen/Qwen2.5-72B-Instruct')),
    (r'qwq-32b(?!-preview)', Model(32.8, 64, 40, 8, 128, 40960, 'Qwen/QwQ-32B')),
    (r'qwen3-0\.6b', Model(0.596, 28, 16, 8, 128, 40960, 'Qwen/Qwen3-0.6B')),
    (r'qwen3-1\.7b', Model(1.72, 28, 16, 8, 128, 40960, 'Qwen/Qwen3-1.7B')),
    (r'qwen3-4b(?!-(instruct|thinking)-2507)', Model(4.02, 36, 32, 8, 128, 40960, 'Qwen/Qwen3-4B')),
    (r'qwen3-8b', Model(8.19, 36, 32, 8, 128, 40960, 'Qwen/Qwen3-8B')),
    (r'qwen3-14b', Model(14.8, 40, 40, 8, 128, 40960, 'Qwen/Qwen3-14B')),
    (r'qwen3-32b', Model(32.8, 64, 64, 8, 128, 40960, 'Qwen/Qwen3-32B')),
    (
        r'qwen3-(30b-a3b-(instruct|thinking)-2507|coder-30b-a3b)',
        Model(30.5, 48, 32, 4, 128, 262144, 'Qwen/Qwen3-30B-A3B-Instruct-2507', 3.3),
    ),
    (r'qwen3-30b-a3b', Model(30.5, 48, 32, 4, 128, 40960, 'Qwen/Qwen3-30B-A3B', 3.3)),
    (
        r'qwen3-235b-a22b-(instruct|thinking)-2507',
        Model(235.1, 94, 64, 4, 128, 262144, 'Qwen/Qwen3-235B-A22B-Instruct-2507', 22),
    ),
    (r'qwen3-235b-a22b', Model(235.1, 94, 64, 4, 128, 40960, 'Qwen/Qwen3-235B-A22B', 22)),
    (r'gemma-2-2b', Model(2.61, 26, 8, 4, 256, 8192, 'google/gemma-2-2b-it')),
    (r'gemma-2-9b', Model(9.24, 42, 16, 8, 256, 8192, 'google/gemma-2-9b-it')),
    (r'gemma-2-27b', Model(27.2, 46, 32, 16, 128, 8192, 'google/gemma-2-27b-it')),
    (r'gemma-3-12b', Model(12.2, 48, 16, 8, 256, 131072, 'google/gemma-3-12b-it')),
    (r'gemma-3-27b', Model(27.4, 62, 32, 16, 128, 131072, 'google/gemma-3-27b-it')),
    (r'phi-3-mini-4k', Model(3.82, 32, 32, 32, 96, 4096, 'microsoft/Phi-3-mini-4k-instruct')),
    (r'phi-3(\.5)?-mini(-128k)?', Model(3.82, 32, 32, 32, 96, 131072, 'microsoft/Phi-3.5-mini-instruct')),
    (r'phi-4(?!-(mini|multimodal))', Model(14.7, 40, 40, 10, 128, 16384, 'microsoft/phi-4')),
    (r'gpt-oss-20b', Model(20.9, 24, 64, 8, 64, 131072, 'openai/gpt-oss-20b', 3.6, False, 0.66)),
    (r'gpt-oss-120b', Model(116.8, 36, 64, 8, 64, 131072, 'openai/gpt-oss-120b', 5.1, False, 0.56)),
    (r'glm-4\.5-air', Model(106, 46, 96, 8, 128, 131072, 'zai-org/GLM-4.5-Air', 12)),
    (r'opt-125m', Model(0.125, 12, 12, 12, 64, 2048, 'facebook/opt-125m')),
    (r'falcon-7b', Model(7.22, 32, 71, 1, 64, 2048, 'tiiuae/falcon-7b-instruct')),
    (r'yi-34b(?!-200k)', Model(34.4, 60, 56, 8, 128, 4096, '01-ai/Yi-34B-Chat')),
)

# Bytes for a parameter under a quantisation: 4-bit formats keep scales and some layers at full width.
QUANTISATIONS = (
    (re.compile(r'awq|gptq|int4|w4a16|nf4|4[-_]?bit|q4|bnb'), 0.6),
    (re.compile(r'mxfp4|nvfp4|fp4'), 0.6),
    (re.compile(r'fp8|int8|w8a8|w8a16|8[-_]?bit|q8'), 1.05),
    (re.compile(r'fp32|float32'), 4.0),
)
_SIZE = regex(r'(?<![a-z0-9.])(\d+(?:\.\d+)?)([bmt])(?![a-z0-9])')
_UNITS = {'m': 1e6, 'b': 1e9, 't': 1e12}
_EXPERTS = regex(r'\d+x\d+(\.\d+)?b|(?<![a-z0-9])\d+e(?![a-z0-9])')
_ACTIVE = regex(r'(?<![a-z0-9])a\d+(\.\d+)?b(?![a-z0-9])')


def _name(model_id: str) -> str:
    """The last part of an id or path, lower case, with `-` between words; Meta's own prefix is dropped."""
    name = model_id.strip().rstrip('/').rpartition('/')[2].lower().replace('_', '-')
    return re.sub(r'^(meta-)?llama(?=[234])', 'llama-', name.removeprefix('meta-'))


@cache
def lookup(model_id: str) -> Model | None:
    """The model behind an id ('Qwen/Qwen3-32B-AWQ') or a path that ends in its name; else None."""
    name = _name(model_id)
    return next((model for pattern, model in MODELS if name[:2] == pattern[:2] and re.match(rf'{pattern}(?![a-z0-9.])', name)), None)


def parameters_from_name(model_id: str) -> float | None:
    """Number of parameters that the name states ('Qwen3-32B': 32e9).

    None when it states none, or only the active ones or the size of an expert ('8x7B', '17B-128E').
    """
    name = _name(model_id)
    if _EXPERTS.search(name):
        return None
    sizes = {
        float(number) * {'m': 1e6, 'b': 1e9, 't': 1e12}[unit] for number, unit in _SIZE.findall(_ACTIVE.sub('', name))
    }
    return sizes.pop() if len(sizes) == 1 else None


def bytes_per_parameter(model_id: str, quantization: str = '', dtype: str = 'auto') -> float:
    """By the --quantization option, else the name, else the type asked for, else as the model was published."""
    for text in (quantization.lower(), _name(model_id)):
        for pattern, size in QUANTISATIONS:
            if text and pattern.search(text):
                return size
    if dtype.lower() in ('float', 'float32'):
        return 4.0
    model = lookup(model_id)
    return model.bytes_per_parameter if model else 2.0


def weight_bytes(model_id: str, quantization: str = '', dtype: str = 'auto') -> float | None:
    """Estimated bytes of all weights over all GPUs; None when the number of parameters is not known."""
    model = lookup(model_id)
    parameters = model.parameters * 1e9 if model else parameters_from_name(model_id)
    return None if parameters is None else parameters * bytes_per_parameter(model_id, quantization, dtype)
