"""What shows that a proxied path streams generated text: an engine behind it, the path of an API, the name of a server.

Sources: OpenAI, Anthropic, Ollama and TGI API references (paths); Ollama's and Gradio's default ports.
"""

from collections.abc import Iterable

from configaudit.patterns import regex

_PATHS = regex(
    r'/v1/(?:chat/)?completions|/chat/completions|/v1/messages|/v1/responses|/generate_stream|/api/generate\b|/v1/chat/'
)
_OTHER_PATHS = regex(
    r'embed|rerank|tokenize|/models?\b|/files|metrics|health|/ready|/live|/docs|/openapi|/static|/assets|/images?|/audio|/favicon|/login|/auth'
    r'|/admin|/ui\b|\\\.|/_next|/grafana|/score|/classify|/ping|/status|/info|/upload|/download|/events?$'
    r'|/api/(?:tags|ps|version|show|pull|push|create|copy|delete|blobs)\b',
)
_SERVERS = regex(
    r'(?:^|[-_.])(?:vllm|sglang|tgi|ollama|llamacpp|llama|llms?|litellm|lmdeploy|trtllm|text-?generation(?:-inference)?|openai|anthropic|openrouter|groq|generativelanguage|chatqna'
    r'|deepseek|qwen|mistral|mixtral|gemma)\d*(?:$|[-_.\d])'
)
_NOT_SERVERS = regex(
    r'(?:^|[-_.])(?:ui|webui|frontend|fe|web|admin|dashboard|docs?|grafana|prometheus|exporter|metrics|db|redis|postgres|qdrant|milvus|chroma'
    r'|embed(?:d?ing|der)?s?|rerank(?:er|ing)?|tei|auth|oauth2?|login|static|cdn|epp|ext-?proc|extproc|whisper|tts|asr|sd|comfyui|guard(?:rails?)?|callback|worker|optimi[sz]er|bench(?:mark)?|manager|controller|operator|monitor|registry|portal'
    r'|console|eval(?:uation|uator)?|ops|tracing|langfuse|docs-?site)'
    r'(?:$|[-_.\d])'
)
_PORTS = {'11434': 'the port of Ollama', '7860': 'the port of Gradio'}
STREAMS = ('vllm', 'sglang', 'tgi', 'ollama', 'llama.cpp-server', 'tensorrt-llm', 'lmdeploy')
"""Engines that stream generated text over HTTP."""
_SHORT_MODELS = regex(r'embed|rerank|\bbge-|\bgte-|\be5-|whisper|classif|reward')


def answers_shortly(model: object) -> bool:
    """Whether a model's name says that it generates no text."""
    return isinstance(model, str) and _SHORT_MODELS.search(model.lower()) is not None


def evidence(path: str, hosts: Iterable[tuple[str, str]], names: Iterable[str]) -> str:
    """How a path, the (host, port) behind it or the names around it say that text is generated there; '' when nothing does."""
    path = path.lower()
    found = _PATHS.search(path)
    if found is not None:
        return f'the path {found[0]}'
    if _OTHER_PATHS.search(path):
        return ''
    pairs = list(hosts)
    words = [*(host.lower().split('.svc')[0] for host, _ in pairs), *(name.lower() for name in names)]
    if any(_NOT_SERVERS.search(word) for word in words):
        return ''
    named = next((word for word in words if _SERVERS.search(word)), '')
    if named:
        return f'the name {named}'
    port = next((port for _, port in pairs if port in _PORTS), '')
    return _PORTS.get(port, '')
