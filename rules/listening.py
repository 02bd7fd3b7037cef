"""Rules on who can reach an engine: addresses that only its own container reaches, doors that stand open."""

from collections.abc import Iterator

from configaudit.model import Component, Fix, NotApplicable, Problem, rule

LOOPBACK = ('127.0.0.1', 'localhost', '::1')
_ADDRESS = {'ollama': 'host', 'llama.cpp-server': 'host', 'tensorrt-llm': 'host', 'lmdeploy': 'server_name'}


def _reached_over_network(engine: Component) -> bool:
    """Whether the engine is in a container whose loopback nobody else shares: a pod's own network, or published ports."""
    for pod in engine.peers('pod'):
        return not pod['host_network'].value
    return any(service['ports'].value for service in engine.peers('compose-service')) or any(run['ports'].value for run in engine.peers('docker-run'))


@rule(
    'engine-host-loopback', on=tuple(_ADDRESS), severity='error', side_effect='whoever reaches the network of the container reaches the port',
    source='TensorRT-LLM commands/serve.py: host localhost; llama.cpp tools/server/README.md: host 127.0.0.1; ollama envconfig/config.go',
)  # fmt: skip
def host_loopback(engine: Component) -> Iterator[Problem]:
    """The engine listens on the loopback address of its container: no Service, probe, published port or other container reaches it.

    That is the default of trtllm-serve, of llama-server and of `ollama serve`; the images of llama.cpp and Ollama set 0.0.0.0.

    When it is wrong: a proxy in the same pod is the only client; with a second container in the pod it is a warning.
    """
    host = engine[_ADDRESS[engine.kind.name]]
    if engine['command'].known_value == 'dynamo' or (host.is_known and host.value not in LOOPBACK):
        raise NotApplicable('it listens elsewhere, or answers through a frontend')
    if not _reached_over_network(engine) or host.value not in LOOPBACK:
        raise NotApplicable('it serves no container network')
    beside = any(len([c for c in pod.peers('container') if not c['init'].known_value]) > 1 for pod in engine.peers('pod'))
    word = 'listens on' if host.is_set else 'is given no address and listens on'
    yield Problem(host, '{engine} {word} {value}: nothing outside the container reaches it', engine=engine.kind.name, word=word, severity='warning' if beside else None, fix=_everywhere(engine))


def _everywhere(engine: Component) -> Fix | None:
    """The fix; llama-server takes no `--host=0.0.0.0` in one word, and Ollama's variable holds the port too."""
    host = engine[_ADDRESS[engine.kind.name]]
    if engine.kind.name == 'ollama':
        return host.set(f'0.0.0.0:{engine["port"].known_value}') if host.is_set else None
    return host.set('0.0.0.0') if host.is_set or engine.kind.name != 'llama.cpp-server' else None
