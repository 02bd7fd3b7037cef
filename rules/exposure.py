"""Rules for engines that are reached from outside: a Service that opens them to everybody, and what a key does not guard."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Unknown, rule

from .serving import serving_engine

_KEYS: dict[str, tuple[str, ...]] = {
    'vllm': ('VLLM_API_KEY',), 'tgi': ('API_KEY',), 'sglang': (), 'llama.cpp-server': ('LLAMA_API_KEY', 'LLAMA_ARG_API_KEY_FILE'), 'lmdeploy': (),
    'ollama': (), 'tensorrt-llm': (),
}  # fmt: skip
"""Engines, and the variables that set a key: Ollama and trtllm-serve have none at all."""
_OPTIONS = ('--api-key', '--api-keys', '--api-key-file')
_INTERNAL = ('internal', 'private')


def _has_key(engine: Component) -> bool:
    """Whether requests need a key; Unknown where variables or arguments are not seen."""
    if any(option.name in _OPTIONS for option in engine['options'].value):
        return True
    if any(name in engine['environment'].value for name in _KEYS[engine.kind.name]):
        return True
    for container in engine.peers('container'):
        if container['imported'].value:
            raise Unknown('variables come from a ConfigMap or Secret')
    if engine.partial:
        raise Unknown(engine.partial)
    return False


def _behind(service: Component) -> Iterator[Component]:
    """The engines that a Service sends to directly, past no other container of their pod."""
    for pod in service.peers('pod'):
        for container in pod.peers('container'):
            names = container['ports'].value
            for engine in container.peers('engine'):
                if engine.kind.name not in _KEYS or not engine['port'].is_known:
                    continue
                targets = {str(names.get(str(port['target']), port['target'])) for port in service['ports'].value}
                if str(engine['port'].value) in targets and serving_engine(container) is engine:
                    yield engine


def _opens(service: Component) -> str:
    """Who reaches a Service from outside the cluster; NotApplicable when nobody does."""
    kind, notes = service['type'].value, service['annotations'].value or {}
    ranges = service['source_ranges']
    if kind not in ('LoadBalancer', 'NodePort') or (ranges.is_set and (not ranges.is_known or '0.0.0.0/0' not in ranges.value)):
        raise NotApplicable('it is reached inside the cluster, or from chosen networks only')
    if kind == 'NodePort':
        return 'everybody who reaches a node'
    if any('load-balancer' in key and ('internal' in key.lower() or str(value).lower() in _INTERNAL) and str(value).lower() != 'false' for key, value in notes.items()):
        raise NotApplicable('its load balancer is internal')
    return 'everybody who reaches the load balancer, which is public unless an annotation says otherwise'


@rule('engine-open-without-key', on='service', severity='warning', source='vLLM docs, usage/security; Kubernetes docs, concepts/services-networking/service', effect='only clients with a key are served', side_effect='clients have to send the key')
def engine_open_without_key(service: Component) -> Iterator[Problem]:
    """A Service of type LoadBalancer or NodePort opens the engine to everybody, and the engine asks for no key.

    Whoever finds it uses the GPUs, reads the metrics and may fetch addresses inside the network through image links. Put a gateway in
    front, keep the load balancer internal, limit loadBalancerSourceRanges, or set an API key. For a NodePort it is advice.
    """
    who = _opens(service)
    for engine in _behind(service):
        if not _has_key(engine):
            message = 'a {type} opens the engine to {who}, and it asks for no API key'
            kind = service['type'].value
            yield Problem(service['type'], message, type=kind, who=who, see=[('the engine', engine.place)], severity='advice' if kind == 'NodePort' else None)
            return


@rule('vllm-key-guards-part', on='service', severity='advice', source='vLLM docs, usage/security: API key authentication limitations')
def vllm_key_guards_part(service: Component) -> Iterator[Problem]:
    """vLLM's API key guards the paths below /v1 (newer releases: /v2 and /inference too): /metrics, /tokenize, /pooling, /invocations stay open.

    Let a proxy in front pass only the paths that clients need.
    """
    who = _opens(service)
    for engine in _behind(service):
        if engine.kind.name == 'vllm' and _has_key(engine):
            yield Problem(service['type'], 'a {type} opens the engine to {who}: its API key guards only what lies below /v1', type=service['type'].value, who=who, see=[('the engine', engine.place)])
            return
