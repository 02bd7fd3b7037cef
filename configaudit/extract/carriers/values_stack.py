"""vLLM production-stack: one Deployment for each entry of `servingEngineSpec.modelSpec`, with argv from its values.

Source: vllm-project/production-stack, helm/templates/deployment-vllm-multi.yaml, _helpers.tpl and ray-cluster.yaml (chart 0.1.11). Helm
replaces lists as a whole, so an entry of `modelSpec` is complete: what it does not say is not passed.
"""

from collections.abc import Iterator

from configaudit import units
from configaudit.extract.carriers.values_pod import Part, image_of, is_off, read_part, words_of
from configaudit.extract.process import Reading, Variable, nothing
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.images import identify
from configaudit.knowledge.versions import release
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, Scalar, get, items, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document, Place

_VALUES = {
    'maxModelLen': '--max-model-len', 'dtype': '--dtype', 'tensorParallelSize': '--tensor-parallel-size', 'maxNumSeqs': '--max-num-seqs',
    'gpuMemoryUtilization': '--gpu-memory-utilization', 'maxLoras': '--max-loras', 'runner': '--runner', 'convert': '--convert',
}  # fmt: skip
_RAY_VALUES = {'pipelineParallelSize': '--pipeline-parallel-size'}
_SWITCHES = {'enableChunkedPrefill': 'enable-chunked-prefill', 'enablePrefixCaching': 'enable-prefix-caching'}
_NEGATIONS_SINCE = release('0.8.5')
"""Before, the parser takes `=False`: the chart of that time passed a value."""
_CONNECTOR = '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'
_SHM = '20Gi'


def is_stack(root: Map) -> bool:
    """Whether values are for this chart."""
    return any(True for _ in maps(root, 'servingEngineSpec', 'modelSpec'))


def read_stack(document: Document, root: Map) -> Reading:
    """The engines of the chart."""
    reading = nothing()
    engines = mapping(root, 'servingEngineSpec')
    if engines is None or (text(engines, 'enableEngine') or '').lower() == 'false':
        return reading
    for spec in maps(engines, 'modelSpec'):
        if not is_off(spec):
            made = read_part(document, _part(document, engines, spec))
            _finish(document, spec, made.components)
            reading.add(made)
    return reading


def _part(document: Document, engines: Map, spec: Map) -> Part:
    image = image_of(document, spec) if 'repository' in spec else None
    ray = not is_off(mapping(spec, 'raySpec') or {'enabled': None}) and text(spec, 'raySpec', 'enabled') == 'true'
    extra = words_of(document, items(spec, 'vllmConfig', 'extraArgs'))
    model = word_of(document, spec.get('modelURL'))
    program = _made('vllm', key_place(document, spec, 'vllmConfig') if 'vllmConfig' in spec else place_of(document, spec))
    command = (program, program._replace(value='serve'), *((model,) if model is not None and model.value else ()))
    return Part(
        text(spec, 'name') or '-', 'RayCluster' if ray else 'Deployment', spec, image, command,
        (*_arguments(document, spec, image, ray), *extra), '', 'yaml_item' if extra else 'values', tuple(_variables(document, engines, spec, ray)),
    )  # fmt: skip


def _made(value: str, place: Place) -> Word:
    """A word that the chart writes because of the value at this place."""
    return Word(value, place, False, locked='the chart writes it')


def _arguments(document: Document, spec: Map, image: Word | None, ray: bool) -> Iterator[Word]:
    if ray:
        place = key_place(document, spec, 'raySpec')
        yield _made('--distributed-executor-backend', place)
        yield _made('ray', place)
    for key, flag in (('enableLoRA', '--enable-lora'), ('enableTool', '--enable-auto-tool-choice')):
        if plain(spec.get(key)) is True:
            yield _made(flag, place_of(document, spec[key]))
    for key, flag in (('toolCallParser', '--tool-call-parser'), ('modelRevision', '--revision')):
        if text(spec, key):
            yield from _valued(document, spec, key, flag)
    config = mapping(spec, 'vllmConfig')
    if config is not None:
        yield from _switches(document, config, image, ray)
        for key, flag in (_VALUES | _RAY_VALUES if ray else _VALUES).items():
            if isinstance(config.get(key), Scalar):
                yield from _valued(document, config, key, flag)
    cache = mapping(spec, 'lmcacheConfig')
    if cache is not None and plain(cache.get('enabled')) is True:
        place = place_of(document, cache['enabled'])
        yield _made('--kv-transfer-config', place)
        yield _made(_CONNECTOR, place)


def _valued(document: Document, holder: Map, key: str, flag: str) -> Iterator[Word]:
    yield _made(flag, key_place(document, holder, key))
    word = word_of(document, holder[key])
    if word is not None:
        yield word


def _switches(document: Document, config: Map, image: Word | None, ray: bool) -> Iterator[Word]:
    version = identify(image.value).version if image is not None and image.known else None
    for key, name in _SWITCHES.items():
        value = plain(config.get(key))
        if value is None or (ray and not value and key == 'enablePrefixCaching'):
            continue
        place = place_of(document, config[key])
        off = f'--{name}=False' if version is not None and version < _NEGATIONS_SINCE else f'--no-{name}'
        yield _made(f'--{name}' if value else off, place)


def _variables(document: Document, engines: Map, spec: Map, ray: bool) -> Iterator[Variable]:
    """Credentials given as they are, and the switch of the engine's generation."""
    for holder, key, name in ((spec, 'hf_token', 'HF_TOKEN'), (engines, 'vllmApiKey', 'VLLM_API_KEY')):
        word = word_of(document, holder.get(key))
        if word is not None and word.value:
            yield Variable(name, word, key_place(document, holder, key))
    config = mapping(spec, 'vllmConfig')
    if config is not None and (ray or text(config, 'v0') == '1'):
        key = 'v1' if ray else 'v0'
        place = place_of(document, config[key]) if key in config else key_place(document, spec, 'vllmConfig')
        yield Variable('VLLM_USE_V1', _made(text(config, 'v1') or '0' if ray else '0', place), place)
    for item in maps(engines, 'env'):
        word, given = word_of(document, item.get('value')), text(item, 'name')
        if word is not None and given:
            yield Variable(given, word, place_of(document, item['name']))


def _finish(document: Document, spec: Map, components: list[Component]) -> None:
    """Requests, limits and shared memory as the chart writes them."""
    pod, container = (next(found for found in components if found.kind.name == name) for name in ('pod', 'container'))
    settings = container.settings
    if not mapping(spec, 'resources'):
        for key, name, convert in (
            ('requestCPU', 'cpu_request', units.quantity), ('limitCPU', 'cpu_limit', units.quantity),
            ('requestMemory', 'memory_request', units.quantity), ('limitMemory', 'memory_limit', units.quantity),
        ):  # fmt: skip
            if isinstance(spec.get(key), Scalar):
                value, place = convert(plain(spec[key])), place_of(document, spec[key])
                settings[name] = Setting(name, value, place, reason='' if value is not None else 'not known', slot=Slot('yaml_edit', place))
        _gpus(document, spec, settings)
        if 'gpu_limit' in settings:
            pod.settings['gpus'] = settings['gpu_limit']._replace(name='gpus')
    pod.settings['host_ipc'] = Setting('host_ipc', plain(get(spec, 'lmcacheConfig', 'enablePD')) is True, pod.place, 'default')
    _shm(document, spec, container)


def _gpus(document: Document, spec: Map, settings: dict[str, Setting]) -> None:
    count = units.integer(plain(spec.get('requestGPU')))
    if not count or 'requestGPUMem' in spec or 'requestGPUMemPercentage' in spec:
        return
    place = place_of(document, spec['requestGPU'])
    for name in ('gpu_limit', 'gpu_request'):
        settings[name] = Setting(name, count, place, slot=Slot('yaml_edit', place))
    settings['gpu_resource'] = Setting('gpu_resource', text(spec, 'requestGPUType') or 'nvidia.com/gpu', place)


def _shm(document: Document, spec: Map, container: Component) -> None:
    """The chart mounts memory at /dev/shm when `tensorParallelSize` is among the values."""
    config = mapping(spec, 'vllmConfig')
    if any((text(mount, 'mountPath') or '').rstrip('/') == '/dev/shm' for mount in maps(spec, 'extraVolumeMounts')):
        return
    if config is None or 'tensorParallelSize' not in config:
        container.settings['shm'] = Setting('shm', None, container.place, 'default')
        return
    node = spec.get('shmSize')
    place = place_of(document, node) if isinstance(node, Scalar) else key_place(document, config, 'tensorParallelSize')
    size = units.quantity(plain(node) if isinstance(node, Scalar) else _SHM)
    container.settings['shm'] = Setting('shm', {'source': 'emptyDir', 'medium': 'Memory', 'size': size}, place)
