"""How messages name the release of an engine: one way of saying it, known or not."""

from configaudit.knowledge.versions import release as version_of
from configaudit.model import Component, Unknown

PRODUCTS = {
    'vllm': 'vLLM', 'sglang': 'SGLang', 'tgi': 'TGI', 'triton': 'Triton', 'ollama': 'Ollama', 'llama.cpp-server': 'llama.cpp', 'tensorrt-llm': 'TensorRT-LLM',
    'lmdeploy': 'LMDeploy', 'torchserve': 'TorchServe', 'tf-serving': 'TensorFlow Serving',
}  # fmt: skip


def release(engine: Component) -> str:
    """The engine's version, how it was found, and whether the data reach it; or that it is unknown and why."""
    product = PRODUCTS[engine.kind.name]
    if engine.version is None:
        return f'{product} of unknown version ({engine.version_from})'
    return f'{product} {engine.version} ({"; ".join(filter(None, (engine.version_from, engine.note)))})'


def is_among(engine: Component, first: str, before: str = '') -> bool:
    """Whether the engine's release is at least `first` and older than `before`. Unknown when it is not known: ask last."""
    if engine.version is None:
        span = f'from {first} on' + (f' and before {before}' if before else '')
        raise Unknown(f'it holds for releases {span}, and the version is not known ({engine.version_from})')
    return bool(version_of(first) <= engine.version and not (before and engine.version >= version_of(before)))
