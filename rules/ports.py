"""Rules for ports and paths that nobody serves: probes, hooks and Services that point past the server."""

from collections.abc import Iterator
from typing import Any

from configaudit.knowledge.images import identify
from configaudit.model import Component, NotApplicable, Problem, Setting, rule
from configaudit.patterns import regex
from configaudit.places import Place
from configaudit.units import HOLE

from .serving import HEALTH, serving_engine

_WRONG = frozenset(('/healthz', '/readyz', '/livez', '/ready', '/live', '/healthcheck', '/health/ready', '/health/live', '/health/liveness', '/health/readiness', '/api/health'))
_WRONG_BY_ENGINE = {
    'vllm': _WRONG | {'/v2/health/ready', '/v2/health/live', '/'},
    'sglang': _WRONG | {'/v2/health/ready', '/v2/health/live'},
    'tgi': _WRONG | {'/v2/health/ready', '/v2/health/live'},
    'triton': _WRONG | {'/health', '/v1/models'},
    'ollama': _WRONG | {'/health', '/v2/health/ready', '/v2/health/live'},
    'llama.cpp-server': _WRONG - {'/api/health'} | {'/v2/health/ready', '/v2/health/live'},
    'tensorrt-llm': _WRONG | {'/v2/health/ready', '/v2/health/live', '/'},
    'lmdeploy': _WRONG | {'/v2/health/ready', '/v2/health/live'},
}
"""Paths that answer 404 in every release."""
_OWN_PATHS = ('--middleware', '--root-path', '--api-server-module', '--api-prefix')
_PORT_EACH = '--data-parallel-multi-port-external-lb'
_PROBES = ('readiness', 'liveness', 'startup')
_LOCAL = regex(r'\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d+)')
_NAME = regex(r'(?=.*[a-z])[a-z0-9][a-z0-9-]*')
_BACKGROUND = regex(r'(?<![&>|])&(?![&>])')


def the_only_server(container: Component) -> Component:
    """The engine of a pod in which nothing else can listen: NotApplicable wherever a second process could."""
    engine = serving_engine(container)
    running = [other for other in container.peer('pod').peers('container') if not other['init'].value]
    if len(running) > 1 or len(container.peers('engine')) > 1:
        raise NotApplicable('several programs run in the pod')
    if any(_BACKGROUND.search(word.value) for word in container['words'].value):
        raise NotApplicable('its script starts other programs')
    return engine


def served_port(container: Component, engine: Component) -> int:
    """The port the engine listens on; NotApplicable where an image may choose another."""
    port = engine['port']
    if any(option.name == _PORT_EACH for option in engine['options'].value):
        raise NotApplicable('each of its data parallel ranks listens on a port of its own')
    if not port.is_set and engine['command'].value == 'entrypoint':
        image = identify(str(container['image'].known_value or ''))
        if image.vendor or not image.repository.endswith(('vllm/vllm-openai', 'lmsysorg/sglang', 'ollama/ollama')):
            raise NotApplicable('the image may choose the port')
    return int(port.value)


def _other_ports(engine: Component) -> set[int]:
    """Ports that other options of the command line name."""
    values = [option.value for option in engine['options'].value if option.name.endswith('-port') and option.value is not None]
    return {int(value.value) for value in values if value.known and value.value.isdigit()}


def _declared(container: Component, port: str) -> int | None:
    """The number behind a probe's port; None for a name that the container does not declare."""
    return int(port) if port.isdigit() else container['ports'].value.get(port)


@rule('probe-path-wrong', on='container', severity='error', source='health routes of the engines', effect='the probe can succeed')
def probe_path_wrong(container: Component) -> Iterator[Problem]:
    """The engine answers 404 under this path: the probe never succeeds, the pod is never ready or is killed again and again."""
    engine = serving_engine(container)
    wrong = _WRONG_BY_ENGINE.get(engine.kind.name, frozenset())
    if any(option.name in _OWN_PATHS for option in engine['options'].value):
        raise NotApplicable('it serves paths of its own')
    for probe in _PROBES:
        path, port = container[f'{probe}_path'], container[f'{probe}_port']
        if not path.is_set or not path.is_known or str(path.value).partition('?')[0] not in wrong:
            continue
        if not port.is_set or not port.is_known or not engine['port'].is_known or _declared(container, str(port.value)) != engine['port'].value:
            continue
        message = 'the {probe} probe asks {value}, which {engine} answers with 404: its health path is {right}'
        right = HEALTH[engine.kind.name]
        yield Problem(path, message, probe=probe, engine=engine.kind.name, right=right, fix=path.set(right))


@rule('probe-port-unserved', on='container', severity='error', source='Kubernetes API reference, HTTPGetAction and TCPSocketAction')
def probe_port_unserved(container: Component) -> Iterator[Problem]:
    """A probe or hook asks a port that nothing serves: a name that the container does not declare, or not the engine's port."""
    for probe in _PROBES:
        for setting in (container[f'{probe}_port'], container[f'{probe}_tcp_port']):
            seen = container['ports'].is_known or container.peers('engine')
            if setting.is_set and setting.is_known and seen and _NAME.fullmatch(str(setting.value)):
                names = container['ports'].value
                if setting.value not in names:
                    known = ', '.join(sorted(names)) or 'none'
                    yield Problem(setting, 'the {probe} probe asks port {value}, a name that the container does not declare ({known})', probe=probe, known=known)
    engine = the_only_server(container)
    port = served_port(container, engine)
    for probe in _PROBES:
        asked = next((found for found in (container[f'{probe}_port'], container[f'{probe}_tcp_port']) if found.is_set), None)
        if asked is not None and asked.is_known:
            number = _declared(container, str(asked.value))
            if number is not None and number != port and number not in _other_ports(engine):
                message = 'the {probe} probe asks port {number}, and {engine} listens on {port}'
                yield Problem(asked, message, probe=probe, number=number, engine=engine.kind.name, port=port, see=[('its port', engine['port'])], fix=asked.set(port))
    yield from _hook(container, engine, port)


def _hook(container: Component, engine: Component, port: int) -> Iterator[Problem]:
    hook = container['pre_stop']
    if not hook.is_set or not hook.is_known:
        return
    asked = sorted({int(number) for text in texts(hook.value) for number in _LOCAL.findall(text)})
    get = hook.value.get('httpGet') if isinstance(hook.value, dict) else None
    if isinstance(get, dict) and not get.get('host') and str(get.get('port')).isdigit():
        asked = [int(get['port'])]
    if asked and port not in asked:
        message = 'the preStop hook asks port {number} of the pod, and {engine} listens on {port}'
        yield Problem(_place_of_port(hook, asked[0]), message, number=asked[0], engine=engine.kind.name, port=port, see=[('its port', engine['port'])])


def _place_of_port(hook: Setting, number: int) -> Setting | Place:
    """Where the hook's script spells the port."""
    document = hook.place.document
    found = (match for match in _LOCAL.finditer(document.text, hook.place.start) if int(match[1]) == number)
    match = next(found, None)
    return Place(document, match.start(1), match.end(1)) if match is not None else hook


def texts(value: Any) -> Iterator[str]:
    """Every text in a value made of mappings and lists."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


@rule('service-port-unserved', on='service', severity='error', source='Kubernetes API reference, ServicePort.targetPort')
def service_port_unserved(service: Component) -> Iterator[Problem]:
    """A Service sends to a port that no container behind it declares or serves: every request there is refused.

    It is advice for one port of several when another one reaches the engine. A headless Service has none: its name leads to the pods themselves.
    """
    pods, ports = service.peers('pod'), service['ports'].value
    if service['cluster_ip'].known_value == 'None':
        raise NotApplicable('it is headless: clients reach the pods at a port of their own choice')
    if not pods or not all(_together(service, pod) for pod in pods) or any(pod.partial for pod in pods):
        raise NotApplicable('the pods behind it do not stand beside it')
    containers = [container for pod in pods for container in pod.peers('container') if not container['init'].value]
    if not all(container['ports'].is_known or container.peers('engine') for container in containers):
        raise NotApplicable('a template fills the ports')
    for port in ports:
        target = str(port['target'] or '')
        names = {name: number for container in containers for name, number in container['ports'].value.items()}
        if not target or HOLE in target or target in names or (target.isdigit() and int(target) in names.values()):
            continue
        if not target.isdigit():
            known = ', '.join(sorted(name for name in names if not name.isdigit())) or 'none'
            message = 'port {number} goes to the container port {target}, a name that no selected pod declares ({known})'
            yield Problem(port['place'], message, number=port['port'], target=target, known=known, detail=target)
        elif (listens := _engine_ports(containers)) and int(target) not in listens:
            message = 'port {number} goes to {target}, and the engine behind it listens on {listens}'
            others = any(str(other['target']) in map(str, listens) or names.get(str(other['target'])) in listens for other in ports)
            yield Problem(port['place'], message, number=port['port'], target=int(target), listens=listens[0], severity='advice' if others else None, detail=target)


def _together(service: Component, pod: Component) -> bool:
    """Whether both stand in one folder: elsewhere a label such as `control-plane: controller` says little, and patches add ports."""
    return service.place.document.path.rpartition('/')[0] == pod.place.document.path.rpartition('/')[0]


def _engine_ports(containers: list[Component]) -> list[int]:
    """The ports of the engines behind a Service, when nothing else can listen there; else nothing."""
    ports: list[int] = []
    for container in containers:
        try:
            engine = the_only_server(container)
            ports.extend((served_port(container, engine), *_triton_ports(engine)))
        except NotApplicable:
            return []
    return ports


def _triton_ports(engine: Component) -> Iterator[int]:
    """What Triton serves beside HTTP: gRPC on 8001, metrics on 8002 unless told otherwise."""
    if engine.kind.name == 'triton':
        given = next((option.value.value for option in engine['options'].value if option.name == '--metrics-port' and option.value is not None), '8002')
        yield int(engine['grpc_port'].value)
        yield int(given) if given.isdigit() else 8002


