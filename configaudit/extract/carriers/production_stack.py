"""VLLMRuntime of the vLLM production stack: fields that its operator turns into arguments of `vllm serve`.

Source: vllm-project/production-stack operator/internal/controller/vllmruntime_controller.go (deploymentForVLLMRuntime).
"""

from collections.abc import Iterator
from functools import partial

from configaudit import units
from configaudit.extract.carriers.made import changed, gathered, listed, renamed
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.carriers.resources import Part, joined, plain_variables, with_image
from configaudit.extract.process import Keys, Process, Variable
from configaudit.extract.words import Word, word_of
from configaudit.model import Setting, Slot
from configaudit.parse.tree import Map, Scalar, get, items, key_place, mapping, plain, text
from configaudit.places import Document, Place

_VALUES = (
    ('model', 'toolCallParser', '--tool-call-parser'), ('model', 'maxModelLen', '--max-model-len'), ('model', 'dtype', '--dtype'),
    ('vllmConfig', 'tensorParallelSize', '--tensor-parallel-size'), ('model', 'maxNumSeqs', '--max-num-seqs'),
    ('vllmConfig', 'gpuMemoryUtilization', '--gpu-memory-utilization'), ('vllmConfig', 'maxLoras', '--max-loras'),
)  # fmt: skip
"""Fields whose value is passed on when it is neither 0 nor empty."""
_ADDED = {flag: (holder, field) for holder, field, flag in _VALUES if field != 'gpuMemoryUtilization'}
"""Fields that a fix may add; gpuMemoryUtilization must be a string."""
_SWITCHES = (('model', 'enableLoRA', '--enable-lora'), ('model', 'enableTool', '--enable-auto-tool-choice'))
_EITHER_WAY = (('enableChunkedPrefill', 'enable-chunked-prefill'), ('enablePrefixCaching', 'enable-prefix-caching'))
"""Fields of vllmConfig that are false when nobody sets them, and then passed as `--no-...`."""


def vllm_runtime(owner: Owner, root: Map) -> Iterator[Part]:
    """The pod of a VLLMRuntime."""
    spec = mapping(root, 'spec')
    config, deployment = mapping(spec, 'vllmConfig'), mapping(spec, 'deploymentConfig')
    if spec is None or config is None or deployment is None:
        return
    own = [renamed(config, env='env')]
    resources = mapping(deployment, 'resources')
    if resources is not None:
        kind = text(resources, 'gpuType') or 'nvidia.com/gpu'
        held = renamed(resources, cpu='cpu', memory='memory', **{kind: 'gpu'})
        own.append(changed(renamed(deployment, resources='resources'), resources=changed(renamed(resources), limits=held, requests=held)))
    container = gathered(deployment, renamed(mapping(root, 'metadata') or spec, name='name'), *own)
    yield Part(owner, changed(renamed(deployment), containers=listed(deployment, container)), partial(_runtime, owner.document, spec))


def _runtime(document: Document, spec: Map, process: Process) -> Process:
    config, deployment = spec['vllmConfig'], spec['deploymentConfig']
    parts = (word_of(document, get(deployment, 'image', key)) for key in ('registry', 'name'))
    process = with_image(process, joined(*parts, glue='/'), 'the runtime names no image')
    process.component.settings['shm'] = _shm(document, deployment)
    for pod in process.component.peers('pod'):
        pod.settings['host_ipc'] = Setting('host_ipc', False, pod.place, 'default')
    process = plain_variables(process, tuple(_generation(document, config)))
    place = key_place(document, spec, 'vllmConfig')
    extra = [word for node in items(config, 'extraArgs') if (word := word_of(document, node)) is not None]
    model = word_of(document, get(spec, 'model', 'modelURL'))
    words = (*([model] if model is not None else ()), *_arguments(document, spec, place), *extra)
    program = tuple(Word(value, place, False) for value in ('vllm', 'serve'))
    keys = Keys(Slot('yaml_edit', Place(document, spec.start, spec.start)), '-', False, _ADDED)
    return process._replace(entrypoint=program, arguments=words, keys=keys, partial='')


def _arguments(document: Document, spec: Map, place: Place) -> Iterator[Word]:
    port = word_of(document, spec['vllmConfig'].get('port'))
    if port is not None:
        yield from (Word('--port', port.place, False), port)
    yield from (Word('--host', place, False), Word('0.0.0.0', place, False))
    for holder, field, flag in _SWITCHES:
        if text(spec, holder, field) == 'true':
            yield Word(flag, key_place(document, spec[holder], field), False)
    config = spec['vllmConfig']
    for field, name in _EITHER_WAY:
        at = key_place(document, config, field) if field in config else place
        yield Word(f'--{name}' if text(config, field) == 'true' else f'--no-{name}', at, False)
    for holder, field, flag in _VALUES:
        node = get(spec, holder, field)
        value = word_of(document, node)
        if isinstance(node, Scalar) and value is not None and value.value not in ('', '0'):
            yield from (Word(flag, key_place(document, spec[holder], field)), value)


def _generation(document: Document, config: Map) -> Iterator[Variable]:
    if 'v1' in config:
        place = key_place(document, config, 'v1')
        yield Variable('VLLM_USE_V1', Word('1' if plain(config['v1']) is True else '0', place, False), place)


def _shm(document: Document, deployment: Map) -> Setting:
    """/dev/shm: the container's default unless `shmSize` asks for memory."""
    node = deployment.get('shmSize')
    place = key_place(document, deployment, 'shmSize') if node is not None else key_place(document, deployment, next(iter(deployment), ''))
    slot = Slot('yaml_edit', Place(document, deployment.start, deployment.start), ('shmSize',))
    size = units.quantity(plain(node) or '') if node is not None else None
    value = {'source': 'emptyDir', 'medium': 'Memory', 'size': size} if node is not None else None
    return Setting('shm', value, place, 'explicit' if node is not None else 'default', slot=slot, unit='bytes')
