"""llm-d modelservice: the pods of `decode` and `prefill`, with the words that `modelCommand` puts before their arguments.

Source: llm-d-incubation/llm-d-modelservice, charts/llm-d-modelservice/templates/_helpers.tpl, decode-deployment.yaml, decode-lws.yaml.
"""

from collections.abc import Iterator

from configaudit import units
from configaudit.extract.carriers.kubernetes import read_workload
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.carriers.values_pod import SUPPLIED, is_off
from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.words import Word, word_of
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Scalar, get, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document
from configaudit.units import HOLE

_ROLES = ('decode', 'prefill')
_LOCKED = 'the chart writes it'


def is_modelservice(root: Map) -> bool:
    """Whether values are for this chart."""
    return any(any(maps(root, role, 'containers')) for role in _ROLES)


def read_modelservice(document: Document, root: Map) -> Reading:
    """The pods of both roles. Lists are replaced as a whole, so a container that stands here is complete."""
    reading = nothing()
    for role in _ROLES:
        spec = mapping(root, role)
        if spec is None or is_off(spec) or not any(maps(spec, 'containers')):
            continue
        kind = 'LeaderWorkerSet' if plain(root.get('multinode')) is True else 'Deployment'
        owner = Owner(document, kind, '', role, '', SUPPLIED)
        made = read_workload(owner, spec, [(owner, spec, spec)])
        for component in made.components:
            if component.kind.name == 'container':
                _gpus(document, root, spec, component)
        containers = {text(item, 'name') or '-': item for item in maps(spec, 'containers')}
        made.processes[:] = [_started(document, root, spec, containers.get(process.component.name), process) for process in made.processes]
        reading.add(made)
    return reading


def _gpus(document: Document, root: Map, spec: Map, container: Component) -> None:
    """The chart asks for tensor x local data parallel GPUs where the values ask for none; other accelerators have other names."""
    container.slots = None
    tensor = get(spec, 'parallelism', 'tensor')
    kind = text(root, 'accelerator', 'type') or 'nvidia'
    if container['gpu_limit'].is_set or not isinstance(tensor, Scalar) or kind != 'nvidia' or mapping(root, 'accelerator', 'dra') is not None:
        return
    size, local = units.integer(plain(tensor)), units.integer(plain(get(spec, 'parallelism', 'dataLocal'))) or 1
    if size and 'data' not in (mapping(spec, 'parallelism') or ()):
        place = place_of(document, tensor)
        container.settings['gpu_limit'] = Setting('gpu_limit', size * local, place)
        container.settings['gpu_resource'] = Setting('gpu_resource', 'nvidia.com/gpu', place)


def _started(document: Document, root: Map, spec: Map, item: Map | None, process: Process) -> Process:
    node = item.get('modelCommand') if item is not None else None
    how = text(node) or 'custom'
    if how == 'custom' or item is None:
        return process._replace(partial='' if process.entrypoint else process.partial)
    program = Word('vllm', place_of(document, node), False, locked=_LOCKED)
    words = (*_model(document, root, how), *_port(document, root, spec), *_parallel(document, spec), *(process.arguments or ()))
    entry = (program, program._replace(value='serve')) if how == 'vllmServe' else None
    return process._replace(entrypoint=entry, arguments=words, partial='' if process.arguments else process.partial)


def _model(document: Document, root: Map, how: str) -> Iterator[Word]:
    artifacts = mapping(root, 'modelArtifacts')
    uri = word_of(document, get(artifacts, 'uri'))
    if uri is None or artifacts is None:
        return
    protocol, _, rest = uri.value.partition('://')
    if protocol in ('hf', 'pvc', 'pvc+hf') and rest:
        model = {'hf': rest, 'pvc': '/model-cache/' + rest.partition('/')[2]}.get(protocol, '/'.join(rest.split('/')[-2:]))
        if how == 'imageDefault':
            yield Word('--model', uri.place, False, locked=_LOCKED)
        yield uri._replace(value=model.strip('"'), pure=False, locked=_LOCKED)
    name = word_of(document, artifacts.get('name'))
    if name is not None and name.value:
        yield Word('--served-model-name', key_place(document, artifacts, 'name'), False, locked=_LOCKED)
        yield name


def _port(document: Document, root: Map, spec: Map) -> Iterator[Word]:
    """The service's port, or behind the routing proxy of a decode pod the port that it passes on to."""
    proxy = mapping(root, 'routing', 'proxy')
    direct = spec is root.get('prefill') or plain(get(proxy, 'enabled')) is False
    found = word_of(document, get(root, 'routing', 'servicePort') if direct else get(proxy, 'targetPort'))
    place = key_place(document, root, 'routing')
    yield Word('--port', place, False, locked=_LOCKED)
    yield found or Word(HOLE, place, False, "it is among the chart's own values")


def _parallel(document: Document, spec: Map) -> Iterator[Word]:
    parallelism = mapping(spec, 'parallelism')
    for key, flag in (('tensor', '--tensor-parallel-size'), ('data', '--data-parallel-size'), ('dataLocal', '--data-parallel-size-local')):
        size = units.integer(plain(get(parallelism, key)))
        word = word_of(document, get(parallelism, key))
        if size and size > 1 and word is not None and parallelism is not None:
            yield Word(flag, key_place(document, parallelism, key), False, locked=_LOCKED)
            yield word
