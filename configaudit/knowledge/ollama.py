"""Ollama: which variables a release reads, what it makes of their values, and what holds where nobody sets one.

Sources: ollama/ollama envconfig/config.go, llm/server.go, llm/llama_server.go and server/sched.go at the tags v0.1.30 to v0.32.15
(every `"OLLAMA_..."` of the Go files at every tag).
"""

import re

from configaudit.knowledge.defaults import Default, certain, derived, one_of
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, release
from configaudit.patterns import regex

CONFIG = 'ollama envconfig/config.go'
ROUTES = 'ollama server/routes.go: context by VRAM'
GIB = 2**30

_VARIABLES = (
    ('', 'DEBUG HOST KEEP_ALIVE LLM_LIBRARY MAX_VRAM MODELS NOPRUNE ORIGINS'),
    ('0.1.32', 'TMPDIR'), ('0.1.33', 'MAX_LOADED_MODELS NUM_PARALLEL RUNNERS_DIR'), ('0.1.34', 'MAX_QUEUE'), ('0.1.39', 'FLASH_ATTENTION NOHISTORY'),
    ('0.1.45', 'INTEL_GPU SCHED_SPREAD'), ('0.3.10', 'GPU_OVERHEAD LOAD_TIMEOUT'), ('0.3.13', 'MULTIUSER_CACHE'), ('0.5.0', 'KV_CACHE_TYPE'),
    ('0.5.12', 'NEW_ENGINE'), ('0.5.13', 'CONTEXT_LENGTH REGISTRY_MAXSTREAMS'), ('0.6.0', 'EXPERIMENT'), ('0.6.7', 'LIBRARY_PATH'), ('0.8.0', 'AUTH'),
    ('0.11.5', 'NEW_ESTIMATES'), ('0.12.0', 'REMOTES'), ('0.12.10', 'CORS DOT_COM_URL UPDATE_URL'), ('0.12.11', 'VULKAN'), ('0.14.0', 'AGENT_DISABLE_BASH AGENT_DISABLE_WEBSEARCH BACKEND'),
    ('0.16.0', 'EDITOR'), ('0.16.2', 'NO_CLOUD'), ('0.18.0', 'CLOUD_BASE_URL'), ('0.18.3', 'DEBUG_LOG_REQUESTS'), ('0.23.0', 'API_KEY'),
    ('0.23.3', 'MAX_TRANSFER_STREAMS'), ('0.30.0', 'GO_TEMPLATE IGPU_ENABLE LLAMA_CPP_COMPAT'), ('0.32.0', 'AGENT_DISABLE_SHELL'), ('0.32.2', 'SKILLS'),
)  # fmt: skip
FIRST: dict[str, str] = {f'OLLAMA_{name}': since for since, names in _VARIABLES for name in names.split()}
"""Variable -> the first release that reads it; '' where that is 0.1.30 or older."""
LAST: dict[str, str] = {
    'OLLAMA_INTEL_GPU': '0.12.10', 'OLLAMA_MULTIUSER_CACHE': '0.24.0', 'OLLAMA_NEW_ENGINE': '0.24.0', 'OLLAMA_NEW_ESTIMATES': '0.11.10',
    'OLLAMA_REGISTRY_MAXSTREAMS': '0.31.1', 'OLLAMA_RUNNERS_DIR': '0.3.10', 'OLLAMA_TMPDIR': '0.6.5', 'OLLAMA_BACKEND': '0.15.5',
    'OLLAMA_UPDATE_URL': '0.22.1', 'OLLAMA_AGENT_DISABLE_BASH': '0.31.1',
}  # fmt: skip
"""Variables that are gone -> the last release that reads them."""
MEANT: dict[str, str] = {
    'OLLAMA_NUM_CTX': 'OLLAMA_CONTEXT_LENGTH', 'OLLAMA_CTX': 'OLLAMA_CONTEXT_LENGTH', 'OLLAMA_CONTEXT_SIZE': 'OLLAMA_CONTEXT_LENGTH',
    'OLLAMA_MAX_CONTEXT': 'OLLAMA_CONTEXT_LENGTH', 'OLLAMA_CONTEXT_WINDOW': 'OLLAMA_CONTEXT_LENGTH', 'OLLAMA_KV_CACHE': 'OLLAMA_KV_CACHE_TYPE',
    'OLLAMA_PARALLEL': 'OLLAMA_NUM_PARALLEL', 'OLLAMA_MAX_PARALLEL': 'OLLAMA_NUM_PARALLEL', 'OLLAMA_NUM_PARALLEL_REQUESTS': 'OLLAMA_NUM_PARALLEL',
    'OLLAMA_CORS_ORIGINS': 'OLLAMA_ORIGINS', 'OLLAMA_ALLOWED_ORIGINS': 'OLLAMA_ORIGINS', 'OLLAMA_CORS_ALLOW_ORIGIN': 'OLLAMA_ORIGINS',
    'OLLAMA_MODELS_DIR': 'OLLAMA_MODELS', 'OLLAMA_MODEL_DIR': 'OLLAMA_MODELS', 'OLLAMA_MODELS_PATH': 'OLLAMA_MODELS',
    'OLLAMA_KEEPALIVE': 'OLLAMA_KEEP_ALIVE', 'OLLAMA_MAX_QUEUE_SIZE': 'OLLAMA_MAX_QUEUE', 'OLLAMA_FLASH_ATTN': 'OLLAMA_FLASH_ATTENTION',
}  # fmt: skip
"""Names that people write and no release reads -> the variable that does what they mean."""

COUNTS = ('OLLAMA_NUM_PARALLEL', 'OLLAMA_MAX_LOADED_MODELS', 'OLLAMA_MAX_QUEUE', 'OLLAMA_CONTEXT_LENGTH', 'OLLAMA_GPU_OVERHEAD')
TIMES = ('OLLAMA_KEEP_ALIVE', 'OLLAMA_LOAD_TIMEOUT')
SWITCHES = ('OLLAMA_FLASH_ATTENTION', 'OLLAMA_NOPRUNE', 'OLLAMA_SCHED_SPREAD', 'OLLAMA_DEBUG_LOG_REQUESTS', 'OLLAMA_NO_CLOUD')
CACHE_TYPES = ('f16', 'q8_0', 'q4_0')
"""OLLAMA_KV_CACHE_TYPE until 0.24; from 0.30 on the value goes to llama-server as it is."""
LLAMA_SERVER = release('0.30.0')
"""From here on `llama-server` runs the models."""
LLAMA_CACHE_TYPES = ('f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'iq4_nl', 'q5_0', 'q5_1')
NEWEST = release('0.32.15')
ANY_WORD_IS_TRUE = release('0.3.2')
"""Since then a switch that is set to a word that is no Go bool is on."""
_TRUE, _FALSE = ('1', 't', 'T', 'TRUE', 'true', 'True'), ('0', 'f', 'F', 'FALSE', 'false', 'False')
_PART = regex(r'(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)')
_SECONDS = {'ns': 1e-9, 'us': 1e-6, 'µs': 1e-6, 'μs': 1e-6, 'ms': 1e-3, 's': 1.0, 'm': 60.0, 'h': 3600.0}
_COUNT = regex(r'\d+', re.ASCII)


def stripped(text: str) -> str:
    """A value as Ollama takes it: without blanks and quotes around it."""
    return text.strip().strip('"\'')


def count(text: str) -> int | None:
    """A whole number as Go's ParseUint reads it; None for anything else: Ollama then warns and uses its default."""
    return int(text) if _COUNT.fullmatch(text) else None


def duration(text: str) -> float | None:
    """Seconds of a Go duration ('5m', '1h30m', '-1') or a bare number; None for anything else, which is ignored."""
    bare = text[1:] if text[:1] in ('-', '+') else text
    sign = -1.0 if text.startswith('-') else 1.0
    if _COUNT.fullmatch(bare):
        return sign * float(bare)
    parts = _PART.findall(bare)
    if not parts or ''.join(number + unit for number, unit in parts) != bare:
        return None
    return sign * sum(float(number) * _SECONDS[unit] for number, unit in parts)


def switch(text: str) -> bool | None:
    """A truth value as Go's ParseBool reads it; None for anything else, which Ollama takes for true."""
    return True if text in _TRUE else False if text in _FALSE else None


def num_parallel(version: Version | None) -> Default:
    """Requests that one model answers at once."""
    if version is None:
        return one_of({1, 2, 4}, CONFIG, 'it depends on the release')
    if version >= release('0.10.0'):
        return certain(1, CONFIG)
    if version < release('0.2.0'):
        return certain(1, CONFIG)
    return one_of({1, 2} if version >= release('0.6.7') else {1, 4}, 'ollama server/sched.go: defaultParallel', 'it depends on free memory')


def context_length(version: Version | None, gpu: Gpu | None) -> Default:
    """Tokens of context of a model whose Modelfile and request name none."""
    if version is None:
        return derived(CONFIG, 'it is 2048, 4096 or follows the VRAM, by release')
    if version < release('0.6.7'):
        return certain(2048, CONFIG)
    if version < release('0.15.5'):
        return certain(4096, CONFIG)
    if gpu is None:
        return one_of({4096, 32768, 262144}, ROUTES, 'it follows the VRAM of all GPUs')
    memory = gpu.memory_gib
    return certain(4096 if memory < 23 else 32768 if memory < 47 else 262144, ROUTES, 'one GPU')
