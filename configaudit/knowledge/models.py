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
    """`parameters`, `active` (of a mixture of experts): billions; `parameters` 0: not known. `context`: tokens that vLLM derives.

    `full_layers`: layers whose cache grows with the context (None: all); the others keep `window` tokens, or none.
    `stretched`: LongRoPE, where newer releases take the original context when none is given.
    """

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
    full_layers: int | None = None
    window: int = 0
    dtype: str = 'bfloat16'
    quantization: str = ''  # quant_method of the published weights
    mla_elements: int = MLA_ELEMENTS
    stretched: bool = False

    def kv_bytes_per_token(self, element_bytes: float = 2.0) -> float:
        """Bytes of KV cache for a token over all GPUs. An upper bound for models whose layers have a sliding window."""
        return self.layers * self._elements * element_bytes

    def kv_bytes(self, tokens: int, element_bytes: float = 2.0) -> float:
        """The least bytes of KV cache for one sequence over all GPUs: layers with a window keep no more than that."""
        full = self.layers if self.full_layers is None else self.full_layers
        sliding = (self.layers - full) * min(self.window, tokens) if self.window else 0
        return (full * tokens + sliding) * self._elements * element_bytes

    @property
    def _elements(self) -> int:
        return self.mla_elements if self.mla else 2 * self.kv_heads * self.head_dim


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
    (r'deepseek-r1-0528-qwen3-8b', Model(8.19, 36, 32, 8, 128, 131072, 'deepseek-ai/DeepSeek-R1-0528-Qwen3-8B')),
    (
        r'deepseek-(r1|v3)(?!-distill|-0528-qwen|\.2)',
        Model(671, 61, 128, 128, 128, 163840, 'deepseek-ai/DeepSeek-V3', 37, True, 1.0, quantization='fp8'),
    ),
    (r'deepseek-v3\.2(?!-exp)', Model(685, 61, 128, 128, 128, 163840, 'deepseek-ai/DeepSeek-V3.2', 37, True, 1.0, quantization='fp8')),
    (r'deepseek-v2-lite', Model(15.7, 27, 16, 16, 128, 163840, 'deepseek-ai/DeepSeek-V2-Lite', 2.4, True)),
    (r'kimi-k2-instruct-0905', Model(1026, 61, 64, 64, 128, 262144, 'moonshotai/Kimi-K2-Instruct-0905', 32, True, 1.0, quantization='fp8')),
    (r'kimi-k2-(instruct|base)', Model(1026, 61, 64, 64, 128, 131072, 'moonshotai/Kimi-K2-Instruct', 32, True, 1.0, quantization='fp8')),
    (r'kimi-k2\.5', Model(1026, 61, 64, 64, 128, 262144, 'moonshotai/Kimi-K2.5', 32, True, 0.58, quantization='compressed-tensors')),
    (r'minimax-m2\.5', Model(229, 62, 48, 8, 128, 196608, 'MiniMaxAI/MiniMax-M2.5', 10, False, 1.0, quantization='fp8')),
    (r'minimax-m2\.7', Model(229, 62, 48, 8, 128, 204800, 'MiniMaxAI/MiniMax-M2.7', 10, False, 1.0, quantization='fp8')),
    (r'llama-4-scout-17b-16e', Model(109, 48, 40, 8, 128, 10485760, 'meta-llama/Llama-4-Scout-17B-16E-Instruct', 17, full_layers=12, window=8192)),
    (
        r'llama-4-maverick-17b-128e',
        Model(402, 48, 40, 8, 128, 1048576, 'meta-llama/Llama-4-Maverick-17B-128E-Instruct', 17, full_layers=12, window=8192),
    ),
    (r'llama-3\.1-8b', Model(*_LLAMA_8B, 131072, 'meta-llama/Llama-3.1-8B-Instruct')),
    (r'llama-3\.[13]-70b', Model(*_LLAMA_70B, 131072, 'meta-llama/Llama-3.3-70B-Instruct')),
    (r'llama-3\.1-405b', Model(405.9, 126, 128, 8, 128, 131072, 'meta-llama/Llama-3.1-405B-Instruct')),
    (r'llama-3\.2-1b', Model(1.24, 16, 32, 8, 64, 131072, 'meta-llama/Llama-3.2-1B-Instruct')),
    (r'llama-3\.2-3b', Model(3.21, 28, 24, 8, 128, 131072, 'meta-llama/Llama-3.2-3B-Instruct')),
    (r'llama-3-8b', Model(*_LLAMA_8B, 8192, 'meta-llama/Meta-Llama-3-8B-Instruct')),
    (r'llama-3-70b', Model(*_LLAMA_70B, 8192, 'meta-llama/Meta-Llama-3-70B-Instruct')),
    (r'codellama-34b', Model(33.7, 48, 64, 8, 128, 16384, 'codellama/CodeLlama-34b-Instruct-hf')),
    (r'llama-2-7b', Model(6.74, 32, 32, 32, 128, 4096, 'meta-llama/Llama-2-7b-chat-hf', dtype='float16')),
    (r'llama-2-13b', Model(13.0, 40, 40, 40, 128, 4096, 'meta-llama/Llama-2-13b-chat-hf', dtype='float16')),
    (r'llama-2-70b', Model(69.0, 80, 64, 8, 128, 4096, 'meta-llama/Llama-2-70b-chat-hf', dtype='float16')),
    (r'tinyllama-1\.1b', Model(1.1, 22, 32, 4, 64, 2048, 'TinyLlama/TinyLlama-1.1B-Chat-v1.0')),
    (r'mixtral-8x7b', Model(46.7, 32, 32, 8, 128, 32768, 'mistralai/Mixtral-8x7B-Instruct-v0.1', 12.9)),
    (r'mixtral-8x22b', Model(140.6, 56, 48, 8, 128, 65536, 'mistralai/Mixtral-8x22B-Instruct-v0.1', 39)),
    (r'mistral-7b-(instruct-)?v0\.1', Model(7.24, 32, 32, 8, 128, 32768, 'mistralai/Mistral-7B-Instruct-v0.1', full_layers=0, window=4096)),
    (r'mistral-7b', Model(7.25, 32, 32, 8, 128, 32768, 'mistralai/Mistral-7B-Instruct-v0.3')),
    (r'mistral-small-3\.[12]-24b', Model(24.0, 40, 32, 8, 128, 131072, 'mistralai/Mistral-Small-3.1-24B-Instruct-2503')),
    (r'mistral-small-24b', Model(23.6, 40, 32, 8, 128, 32768, 'mistralai/Mistral-Small-24B-Instruct-2501')),
    (r'qwen2\.5-(coder-)?0\.5b-instruct', Model(0.494, 24, 14, 2, 64, 32768, 'Qwen/Qwen2.5-0.5B-Instruct')),
    (r'qwen2\.5-(coder-)?1\.5b-instruct', Model(1.54, 28, 12, 2, 128, 32768, 'Qwen/Qwen2.5-1.5B-Instruct')),
    (r'qwen2\.5-(coder-)?3b-instruct', Model(3.09, 36, 16, 2, 128, 32768, 'Qwen/Qwen2.5-3B-Instruct')),
    (r'qwen2\.5-(coder-)?7b-instruct(?!-1m)', Model(7.62, 28, 28, 4, 128, 32768, 'Qwen/Qwen2.5-7B-Instruct')),
    (r'qwen2\.5-(coder-)?14b-instruct(?!-1m)', Model(14.8, 48, 40, 8, 128, 32768, 'Qwen/Qwen2.5-14B-Instruct')),
    (r'qwen2\.5-(coder-)?32b-instruct', Model(32.8, 64, 40, 8, 128, 32768, 'Qwen/Qwen2.5-32B-Instruct')),
    (r'qwen2\.5-72b-instruct', Model(72.7, 80, 64, 8, 128, 32768, 'Qwen/Qwen2.5-72B-Instruct')),
    (r'qwen2-7b', Model(7.62, 28, 28, 4, 128, 32768, 'Qwen/Qwen2-7B-Instruct')),
    (r'qwen2\.5-vl-7b', Model(8.29, 28, 28, 4, 128, 128000, 'Qwen/Qwen2.5-VL-7B-Instruct')),
    (r'qwen2\.5-vl-32b', Model(33.5, 64, 40, 8, 128, 128000, 'Qwen/Qwen2.5-VL-32B-Instruct')),
    (r'qwen2\.5-vl-72b', Model(73.4, 80, 64, 8, 128, 128000, 'Qwen/Qwen2.5-VL-72B-Instruct')),
    (r'qwq-32b(?!-preview)', Model(32.8, 64, 40, 8, 128, 40960, 'Qwen/QwQ-32B')),
    (r'qwen3-0\.6b', Model(0.596, 28, 16, 8, 128, 40960, 'Qwen/Qwen3-0.6B')),
    (r'qwen3-1\.7b', Model(1.72, 28, 16, 8, 128, 40960, 'Qwen/Qwen3-1.7B')),
    (r'qwen3-4b-(instruct|thinking)-2507', Model(4.02, 36, 32, 8, 128, 262144, 'Qwen/Qwen3-4B-Instruct-2507')),
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
    (r'qwen3-coder-480b-a35b', Model(480.2, 62, 96, 8, 128, 262144, 'Qwen/Qwen3-Coder-480B-A35B-Instruct', 35)),
    (r'qwen3-next-80b-a3b', Model(81.3, 48, 16, 2, 256, 262144, 'Qwen/Qwen3-Next-80B-A3B-Thinking', 3, full_layers=12)),
    (r'qwen3-vl-2b', Model(2.13, 28, 16, 8, 128, 262144, 'Qwen/Qwen3-VL-2B-Instruct')),
    (r'qwen3-vl-4b', Model(4.44, 36, 32, 8, 128, 262144, 'Qwen/Qwen3-VL-4B-Instruct')),
    (r'qwen3-vl-8b', Model(8.77, 36, 32, 8, 128, 262144, 'Qwen/Qwen3-VL-8B-Instruct')),
    (r'qwen3-vl-32b', Model(33.4, 64, 64, 8, 128, 262144, 'Qwen/Qwen3-VL-32B-Instruct')),
    (r'qwen3-vl-30b-a3b', Model(31.1, 48, 32, 4, 128, 262144, 'Qwen/Qwen3-VL-30B-A3B-Instruct', 3.3)),
    (r'qwen3-vl-235b-a22b', Model(235.7, 94, 64, 4, 128, 262144, 'Qwen/Qwen3-VL-235B-A22B-Instruct', 22)),
    (r'qwen3\.[56]-27b', Model(27.4, 64, 24, 4, 256, 262144, 'Qwen/Qwen3.5-27B', full_layers=16)),
    (r'qwen3\.[56]-35b-a3b', Model(35.1, 40, 16, 2, 256, 262144, 'Qwen/Qwen3.5-35B-A3B', 3, full_layers=10)),
    (r'qwen3\.5-122b-a10b', Model(122.1, 48, 32, 2, 256, 262144, 'Qwen/Qwen3.5-122B-A10B', 10, full_layers=12)),
    (r'qwen3\.5-397b-a17b', Model(397.0, 60, 32, 2, 256, 262144, 'Qwen/Qwen3.5-397B-A17B', 17, full_layers=15)),
    (r'(code)?gemma-(1\.1-)?2b', Model(2.51, 18, 8, 1, 256, 8192, 'google/gemma-2b-it')),
    (r'(code)?gemma-(1\.1-)?7b', Model(8.54, 28, 16, 16, 256, 8192, 'google/gemma-7b-it')),
    (r'gemma-2-2b', Model(2.61, 26, 8, 4, 256, 8192, 'google/gemma-2-2b-it', full_layers=13, window=4096)),
    (r'gemma-2-9b', Model(9.24, 42, 16, 8, 256, 8192, 'google/gemma-2-9b-it', full_layers=21, window=4096)),
    (r'gemma-2-27b', Model(27.2, 46, 32, 16, 128, 8192, 'google/gemma-2-27b-it', full_layers=23, window=4096)),
    (r'gemma-3-1b', Model(1.0, 26, 4, 1, 256, 32768, 'google/gemma-3-1b-it', full_layers=4, window=512)),
    (r'gemma-3-4b', Model(4.3, 34, 8, 4, 256, 131072, 'google/gemma-3-4b-it', full_layers=5, window=1024)),
    (r'gemma-4-26b-a4b', Model(25.8, 30, 16, 2, 512, 262144, 'google/gemma-4-26B-A4B', 4, full_layers=5, window=1024)),
    (r'gemma-4-31b', Model(31.3, 60, 32, 4, 512, 262144, 'google/gemma-4-31B-it', full_layers=10, window=1024)),
    (r'gemma-3-12b', Model(12.2, 48, 16, 8, 256, 131072, 'google/gemma-3-12b-it', full_layers=8, window=1024)),
    (r'gemma-3-27b', Model(27.4, 62, 32, 16, 128, 131072, 'google/gemma-3-27b-it', full_layers=10, window=1024)),
    (r'phi-3-mini-4k', Model(3.82, 32, 32, 32, 96, 4096, 'microsoft/Phi-3-mini-4k-instruct', full_layers=0, window=2047)),
    (r'phi-3(\.5)?-mini(-128k)?', Model(3.82, 32, 32, 32, 96, 131072, 'microsoft/Phi-3.5-mini-instruct', stretched=True)),
    (r'phi-4-mini-instruct', Model(3.84, 32, 24, 8, 128, 131072, 'microsoft/Phi-4-mini-instruct', stretched=True)),
    (r'phi-4(?!-(mini|multimodal))', Model(14.7, 40, 40, 10, 128, 16384, 'microsoft/phi-4')),
    (r'gpt-oss-20b', Model(20.9, 24, 64, 8, 64, 131072, 'openai/gpt-oss-20b', 3.6, False, 0.66, 12, 128, quantization='mxfp4')),
    (r'gpt-oss-120b', Model(116.8, 36, 64, 8, 64, 131072, 'openai/gpt-oss-120b', 5.1, False, 0.56, 18, 128, quantization='mxfp4')),
    (r'glm-4\.5(?!-air|v)', Model(355, 92, 96, 8, 128, 131072, 'zai-org/GLM-4.5', 32)),
    (r'glm-4\.5-air', Model(106, 46, 96, 8, 128, 131072, 'zai-org/GLM-4.5-Air', 12)),
    (r'opt-125m', Model(0.125, 12, 12, 12, 64, 2048, 'facebook/opt-125m', dtype='float16')),
    (r'falcon-40b', Model(41.3, 60, 128, 8, 64, 2048, 'tiiuae/falcon-40b-instruct')),
    (r'falcon-7b', Model(7.22, 32, 71, 1, 64, 2048, 'tiiuae/falcon-7b-instruct')),
    (r'yi-34b(?!-200k)', Model(34.4, 60, 56, 8, 128, 4096, '01-ai/Yi-34B-Chat')),
)

# Bytes for a parameter under a quantisation: 4-bit formats keep scales and some layers at full width.
QUANTISATIONS = (
    (regex(r'awq|gptq|int4|w4a16|nf4|4[-_]?bit|q4|bnb'), 0.6),
    (regex(r'mxfp4|nvfp4|fp4'), 0.6),
    (regex(r'fp8|int8|w8a8|w8a16|8[-_]?bit|q8'), 1.05),
    (regex(r'fp32|float32'), 4.0),
)
_CACHED = regex(r'/models--[^/]+--([^/]+)/snapshots/')  # how huggingface_hub keeps a repository
_SIZE = regex(r'(?<![a-z0-9.])(\d+(?:\.\d+)?)([bmt])(?![a-z0-9])')
_UNITS = {'m': 1e6, 'b': 1e9, 't': 1e12}
_EXPERTS = regex(r'\d+x\d+(\.\d+)?b|(?<![a-z0-9])\d+e(?![a-z0-9])')
_ACTIVE = regex(r'(?<![a-z0-9])a\d+(\.\d+)?b(?![a-z0-9])')


def _name(model_id: str) -> str:
    """The last part of an id or path, lower case, with `-` between words; Meta's own prefix is dropped."""
    path = model_id.strip().rstrip('/').lower()
    cached = _CACHED.search(path) if '/snapshots/' in path else None
    name = (cached[1] if cached else path.rpartition('/')[2]).replace('_', '-')
    return re.sub(r'^(meta-)?llama(?=[234])', 'llama-', name.removeprefix('meta-'))


@cache
def lookup(model_id: str) -> Model | None:
    """The model behind an id ('Qwen/Qwen3-32B-AWQ') or a path that ends in its name; else None."""
    name = _name(model_id)
    found = next((model for pattern, model in MODELS if (name[:2] == pattern[:2] or pattern[0] == '(') and re.match(rf'{pattern}(?![a-z0-9.])', name)), None)
    return found if found is None or _fits(name, found) else None


def _fits(name: str, model: Model) -> bool:
    """Whether no size that the name states is of another model: a distillation carries two names."""
    stated = [float(number) * _UNITS[unit] / 1e9 for number, unit in _SIZE.findall(_ACTIVE.sub('', name))]
    close = [any(known and 0.6 < size / known < 1.6 for known in (model.parameters, model.active)) for size in stated]
    return bool(_EXPERTS.search(name)) or all(close)


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


_NARROW = (
    (regex(r'gguf|exl2'), 0.0),
    (regex(r'awq|gptq|int4|w4a16|nf4|4[-_]?bit|q4|bnb|fp4|bitsandbytes'), 0.5),
    (regex(r'fp8|int8|w8a8|w8a16|8[-_]?bit|q8'), 1.0),
)
"""The least bytes of a parameter: 0 where a file's name says nothing of its width."""



def is_published(model_id: str, model: Model) -> bool:
    """Whether an id is the repository that the row was read from, or its publisher's quantised copy: nobody's fine-tune."""
    owner, _, _ = model_id.strip().lower().partition('/')
    if model_id.count('/') != 1 or owner != model.source.partition('/')[0].lower():
        return False
    name, published = _name(model_id), _name(model.source)
    return name == published or re.sub(r'(-(fp8|awq|gptq|int[48]|dynamic|block))+$', '', name) == published


def least_weight_bytes(model: Model, model_id: str, quantization: str = '') -> float:
    """The least bytes that all weights take on GPUs, by the --quantization option, the name, or as published."""
    width = model.bytes_per_parameter
    for text in (quantization.lower(), _name(model_id)):
        for pattern, size in _NARROW:
            if text and pattern.search(text):
                width = min(width, size)
    if quantization and quantization != model.quantization:
        width = min(width, 1.0 if 'fp8' in quantization else 0.5)
    return model.parameters * 1e9 * width


def weight_bytes(model_id: str, quantization: str = '', dtype: str = 'auto') -> float | None:
    """Estimated bytes of all weights over all GPUs; None when the number of parameters is not known."""
    model = lookup(model_id)
    parameters = model.parameters * 1e9 if model else parameters_from_name(model_id)
    return None if parameters is None else parameters * bytes_per_parameter(model_id, quantization, dtype)
