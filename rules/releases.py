"""How messages name the release of an engine: one way of saying it, known or not."""

from configaudit.model import Component

PRODUCTS = {
    'vllm': 'vLLM', 'sglang': 'SGLang', 'tgi': 'TGI', 'triton': 'Triton', 'ollama': 'Ollama', 'llama.cpp-server': 'llama.cpp', 'tensorrt-llm': 'TensorRT-LLM',
    'lmdeploy': 'LMDeploy', 'torchserve': 'TorchServe', 'tf-serving': 'TensorFlow Serving',
}  # fmt: skip


def release(engine: Component) -> str:
    """The engine's version and how it was found, or that it is unknown and why."""
    product = PRODUCTS[engine.kind.name]
    if engine.version is None:
        return f'{product} of unknown version ({engine.version_from})'
    return f'{product} {engine.version} ({engine.version_from})'
