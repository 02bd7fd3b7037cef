"""What a container is for: whether it serves an engine, who looks after its pod, what it must load before it answers."""

import re
from typing import NamedTuple

from configaudit.knowledge.images import identify
from configaudit.knowledge.models import weight_bytes
from configaudit.model import Component, NotApplicable
from configaudit.patterns import regex
from configaudit.places import Place

AS_WRITTEN = frozenset((
    'Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'LeaderWorkerSet', 'Rollout', 'CloneSet',
    'StormService', 'RoleSet', 'ModelServing',
))  # fmt: skip
"""Kinds whose pod spec runs as it stands; operators of other kinds add probes, volumes and lifetimes of their own."""
BRING_PROBES = ('DynamoGraphDeployment', 'DynamoComponentDeployment', 'LLMInferenceService', 'LLMInferenceServiceConfig', 'NIMService')
"""Kinds whose operator or presets add a startup probe."""
HEALTH = {
    'vllm': '/health', 'sglang': '/health', 'tgi': '/health', 'triton': '/v2/health/ready', 'ollama': '/', 'llama.cpp-server': '/health',
    'tensorrt-llm': '/health', 'lmdeploy': '/health', 'torchserve': '/ping',
}  # fmt: skip
"""Where each engine answers that it can serve."""
OPENS_AT_ONCE = ('ollama',)
"""Engines that listen within a second and load a model when somebody asks for it."""
NO_ANSWERS = ('--is-embedding', '--embedding', '--embeddings', '--rerank', '--reranking')
"""Switches of SGLang and llama.cpp that make a server of vectors and scores."""
SHORT_ANSWERS = ('torchserve', 'tf-serving')
"""Engines whose answers take milliseconds, as a rule."""
_RUNS_ON_CPU = ('ollama', 'llama.cpp-server', *SHORT_ANSWERS)
_GATEWAYS = regex(
    r'(?:^|/)(?:litellm[\w-]*|portkey-?[\w-]*gateway|one-api|new-api|bifrost|open-webui|lmstack-router|vllm-router|[\w-]*semantic-router'
    r'|sgl-router|llm-gateway)(?=[:@]|$)',
    re.IGNORECASE,
)
"""Images of programs that pass requests on to inference servers."""
_UPSTREAM = ('vllm/vllm-openai', 'lmsysorg/sglang', 'huggingface/text-generation-inference')
_IDLE = regex(
    r'(?:^|[\s;&/])(?:sleep\s+(?:infinity|inf|\d{4,}|\d+[dh])|tail\s+-f\s+/dev/null|nvidia-smi'
    r'|while\s+(?:true|:)\s*;\s*do\s+sleep\s+\S+?\s*;\s*done\s*;?)\s*$'
)
_CACHE_VARIABLES = ('HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'TRANSFORMERS_CACHE', 'HF_HOME')
_CACHE_OPTIONS = ('--download-dir', '--huggingface-hub-cache')
_NOT_STORAGE = ('configMap', 'secret', 'downwardAPI', 'projected')
_SYSTEM_PATHS = ('/dev', '/etc', '/tmp', '/var/log', '/run', '/proc', '/sys', '/usr')


def object_kind(container: Component) -> str:
    """The kind of the object that the container's pod belongs to."""
    return str(container.peer('pod')['object_kind'].value)


def runs_as_written(container: Component) -> None:
    """NotApplicable where an operator completes the pod spec: what is missing in it says nothing."""
    kind = object_kind(container)
    if kind not in AS_WRITTEN:
        raise NotApplicable(f'the operator of {kind} adds to the pod spec')


def runs_for_long(container: Component) -> None:
    """NotApplicable for what runs once: init containers, Jobs."""
    if container['init'].value or not container.peer('workload')['serves'].value:
        raise NotApplicable('it runs once')


def idles(container: Component) -> bool:
    """Whether the container only waits for somebody to open a shell in it (`sleep infinity`), or just shows its GPUs."""
    return _IDLE.search(' '.join(str(word.value) for word in container['words'].value)) is not None


def serving_engine(container: Component) -> Component:
    """The engine that answers requests in this container; NotApplicable for all others, workers of a group among them."""
    runs_for_long(container)
    engines = container.peers('engine')
    if not engines:
        raise NotApplicable('no inference server runs in it')
    if container.peer('pod').identity.endswith('workerTemplate/pod') and len(container.peer('workload').peers('pod')) > 1:
        raise NotApplicable('the leader of its group answers')
    engine = engines[0]
    if engine['command'].known_value == 'dynamo':
        raise NotApplicable('a Dynamo worker answers through its frontend')
    for option in engine['options'].value:
        rank = option.value.value if option.value is not None else ''
        if option.name == '--headless' or (option.name == '--node-rank' and rank.isdigit() and rank != '0'):
            raise NotApplicable('it is a worker that answers nobody')
    return engine


def generates(engine: Component) -> None:
    """NotApplicable for an engine that embeds or ranks: it decodes nothing, keeps no KV cache between steps, and answers in milliseconds."""
    for option in engine['options'].known_value or ():  # type: ignore[attr-defined]
        word = option.value.value if option.value is not None else ''
        if option.name in ('--task', '--runner') and word not in ('auto', 'generate'):
            raise NotApplicable(f'it runs {word}, not generation')
        if option.name in NO_ANSWERS and not option.negated:
            raise NotApplicable('it embeds or ranks')


def needs_gpu(engine: Component) -> bool:
    """Whether the engine works on GPUs: some run on CPUs as well, and their container tells."""
    return engine.kind.name not in _RUNS_ON_CPU or any(container['gpu_limit'].is_set for container in engine.peers('container'))


class Scrape(NamedTuple):
    """What has Prometheus read an engine's metrics, and the path that it asks."""

    place: Place
    path: str


def scraped(engine: Component) -> Scrape | None:
    """What has Prometheus scrape the engine's port, where that is certain: a monitor's endpoint, or annotations of the pod."""
    for container in engine.peers('container'):
        pod = container.peer('pod')
        alone = len([other for other in pod.peers('container') if not other['init'].known_value]) == 1
        ports = {str(engine['port'].known_value), *(name for name, number in container['ports'].value.items() if number == engine['port'].known_value)}
        if alone:
            ports |= set(container['ports'].value)
        annotated = pod['scraped_port']
        if annotated.is_set and (str(annotated.known_value) in ports or (alone and annotated.known_value is None)):
            return Scrape(annotated.place, str(pod['scraped_path'].value))
        named = {port['name']: str(port['target']) for service in pod.peers('service') for port in service['ports'].value}
        for monitor in pod.peers('monitor'):
            for endpoint in monitor['endpoints'].value:
                through = named.get(endpoint['port'], '') if monitor['object_kind'].value == 'ServiceMonitor' else endpoint['port']
                if (endpoint['target'] or through) in ports:
                    return Scrape(endpoint['place'], endpoint['path'])
    return None


def is_gateway(container: Component) -> bool:
    """Whether the image is a known gateway in front of inference servers."""
    image = container['image']
    return image.is_known and _GATEWAYS.search(str(image.known_value or '')) is not None


def hub_model(engine: Component) -> str:
    """The model's name on the hub, or '' when it is a local path or in a bucket."""
    model = str(engine['model'].value or '')
    parts = model.split('/')
    named = len(parts) == 2 and all(parts) and '://' not in model and parts[0] not in ('.', '..', 'models', 'model', 'mnt', 'data')
    return model if named and not model.startswith(('~', '$', '{')) else ''


def is_small(model: str, limit: float = 2 * 2**30) -> bool:
    """Whether the weights are known to be few enough that their download is no matter."""
    size = weight_bytes(model)
    return size is not None and size < limit


def stated_cache_path(engine: Component) -> str | None:
    """The folder in which an engine keeps what it downloads, where its flags or environment say one."""
    environment = engine['environment'].value
    for option in engine['options'].value:
        if option.name in _CACHE_OPTIONS and option.value is not None:
            return str(option.value.value).rstrip('/')
    for name in _CACHE_VARIABLES:
        if name in environment and environment[name].value:
            return str(environment[name].value).rstrip('/')
    if 'XDG_CACHE_HOME' in environment:
        return f'{environment["XDG_CACHE_HOME"].value.rstrip("/")}/huggingface'
    return f'{environment["HOME"].value.rstrip("/")}/.cache/huggingface' if 'HOME' in environment and engine.kind.name != 'tgi' else None


def cache_path(engine: Component) -> str:
    """The folder in which an engine keeps what it downloads: the stated one, or that of the upstream image."""
    return stated_cache_path(engine) or ('/data' if engine.kind.name == 'tgi' else '/root/.cache/huggingface')


def is_upstream(container: Component) -> bool:
    """Whether the image is an engine project's own, whose folders are known."""
    return identify(str(container['image'].known_value or '')).repository.endswith(_UPSTREAM)


def keeps_downloads(container: Component, engine: Component) -> bool:
    """Whether a volume covers the cache folder, or may do so in an image whose folders are not known."""
    path = cache_path(engine)
    upstream = is_upstream(container)
    for mounted, mount in container['mounts'].value.items():
        if mount['source'] in _NOT_STORAGE or mounted.startswith('/dev/'):
            continue
        if '\ufffc' in path or path == mounted or path.startswith(mounted + '/') or mounted.startswith(path + '/'):
            return True
        if 'huggingface' in mounted or '.cache' in mounted:
            return True
        if not upstream and not mounted.startswith(_SYSTEM_PATHS):
            return True
    return False


def downloads_at_start(container: Component, engine: Component) -> bool:
    """Whether every start fetches the model from the hub before the server answers."""
    model = hub_model(engine)
    offline = engine['environment'].value.get('HF_HUB_OFFLINE')
    if not model or (offline is not None and offline.value.lower() in ('1', 'true', 'yes', 'on')):
        return False
    return not keeps_downloads(container, engine)
