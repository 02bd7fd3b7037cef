"""Resources that name a model and some options, from which an operator makes the pod: KubeAI, KAITO, kthena's ModelBooster.

Sources: kubeai-project/kubeai internal/modelcontroller/engine_vllm.go, kaito-project/kaito presets/workspace/inference/vllm/inference_api.py,
volcano-sh/kthena pkg/model-booster-controller/convert and utils/template.go (ConvertVLLMArgsFromJson).
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from configaudit.extract.carriers.made import changed, gathered, listed, renamed
from configaudit.extract.carriers.option_keys import as_arguments
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.carriers.resources import Part, plain_variables, with_image
from configaudit.extract.process import Keys, Process, Variable
from configaudit.extract.words import Word, word_of
from configaudit.model import Setting, Slot
from configaudit.parse.tree import Map, get, key_place, mapping, maps, text
from configaudit.patterns import regex
from configaudit.places import Document, Place

_API_SERVER = ('python3', '-m', 'vllm.entrypoints.openai.api_server')
_PROFILE = regex(r'(nvidia|amd)-gpu-([\w-]+):(\d+)')
"""KubeAI's own resource profiles have one GPU each (charts/kubeai/values.yaml)."""


def api_server(place: Place) -> tuple[Word, ...]:
    """The command that operators start vLLM with, where the engine is chosen."""
    return tuple(Word(value, place, False) for value in _API_SERVER)


def kubeai(owner: Owner, root: Map) -> Iterator[Part]:
    """A Model of KubeAI: engine, url and arguments."""
    spec = mapping(root, 'spec')
    engine = text(spec, 'engine')
    if spec is None or engine not in ('VLLM', 'OLlama'):
        return
    container = gathered(spec, renamed(mapping(root, 'metadata') or spec, name='name'), renamed(spec, image='image', args='args', envFrom='envFrom'))
    yield Part(owner, changed(renamed(spec), containers=listed(spec, container)), partial(_kubeai, owner.document, spec, root))


def _kubeai(document: Document, spec: Map, root: Map, process: Process) -> Process:
    place = key_place(document, spec, 'args' if 'args' in spec else 'engine')
    process = with_image(process, process.image, "KubeAI's configuration names the image")
    process = plain_variables(process, tuple(_variables(document, mapping(spec, 'env'))))
    _profile(document, spec, process)
    if text(spec, 'engine') == 'OLlama':
        return process._replace(entrypoint=tuple(Word(value, place, False) for value in ('ollama', 'serve')))
    first = [Word('--model', key_place(document, spec, 'url') if 'url' in spec else place, False)]
    name = word_of(document, get(root, 'metadata', 'name'))
    served = (Word('--served-model-name', place, False), name._replace(pure=False)) if name is not None else ()
    given = process.arguments
    keys = None if given else Keys(None, '-', False)
    return process._replace(entrypoint=api_server(place), arguments=(*first, _source(document, spec, place), *served, *(given or ())), keys=keys)


def _source(document: Document, spec: Map, place: Place) -> Word:
    """What vLLM is told to load: the name on the hub, or what stands in a bucket or volume."""
    url = word_of(document, spec.get('url'))
    if url is None:
        return Word('', place, False)
    if url.value.startswith('hf://') and url.pure:
        return url._replace(value=url.value[5:], place=url.place.part(5, len(url.value)))
    return url._replace(value='/model' if url.value.startswith('pvc://') else url.value, pure=False)


def _variables(document: Document, env: Map | None) -> Iterator[Variable]:
    for name, node in (env or {}).items():
        place = key_place(document, env, name)  # type: ignore[arg-type]
        yield Variable(name, word_of(document, node) or Word('', place, False), place)


def _profile(document: Document, spec: Map, process: Process) -> None:
    """The GPUs of a resource profile that KubeAI ships ('nvidia-gpu-h100:8')."""
    profile = word_of(document, spec.get('resourceProfile'))
    found = _PROFILE.fullmatch(profile.value) if profile is not None else None
    if profile is None or found is None:
        return
    settings = process.component.settings
    settings['gpu_limit'] = Setting('gpu_limit', int(found[3]), profile.place)
    settings['gpu_resource'] = Setting('gpu_resource', f'{found[1]}.com/gpu', profile.place)
    settings['gpu_product'] = Setting('gpu_product', found[2], profile.place)


def kaito(owner: Owner, root: Map) -> Iterator[Part]:
    """A Workspace or InferenceSet of KAITO that runs a preset, whose options a ConfigMap may add to."""
    holder = mapping(root, 'spec', 'template') or root
    inference, resource = mapping(holder, 'inference'), mapping(holder, 'resource')
    preset = mapping(inference, 'preset')
    if inference is None or preset is None:
        return
    selector = renamed(resource, **{'node.kubernetes.io/instance-type': 'instanceType'}) if resource is not None else None
    container = gathered(inference, renamed(preset, name='name'))
    spec = changed(gathered(inference, preset), containers=listed(inference, container), nodeSelector=selector)
    yield Part(owner, spec, partial(_kaito, word_of(owner.document, inference.get('config')), key_place(owner.document, preset, 'name')))


def _kaito(config: Word | None, place: Place, process: Process) -> Process:
    process = with_image(process, None, "KAITO's release names the image")
    arguments = Word('--model', place, False), Word('/workspace/vllm/weights', place, False)
    process = process._replace(entrypoint=api_server(place), arguments=arguments, partial='KAITO adds the options of its preset')
    return process._replace(settle=partial(_with_config, config.value)) if config is not None and config.known else process


def _with_config(name: str, process: Process, stores: Any) -> Process:
    """The options under `vllm:` in the ConfigMap that the resource names."""
    from configaudit.parse import Parsed, nested_documents

    data = stores.find('ConfigMap', process.component.scope, name)
    word = data.values.get('inference_config.yaml') if data is not None else None
    for item in nested_documents('inference_config.yaml', word.value, word.place) if word is not None else ():
        options = mapping(item.root, 'vllm') if isinstance(item, Parsed) else None
        if isinstance(item, Parsed) and options is not None:
            keys = Keys(Slot('yaml_edit', Place(item.document, options.start, options.start)), '-', False)
            return process._replace(arguments=(*(process.arguments or ()), *as_arguments(item.document, options)), keys=keys)
    return process


def kthena(owner: Owner, root: Map) -> Iterator[Part]:
    """A ModelBooster: workers with their options under `config`."""
    for backend in (*maps(root, 'spec', 'backends'), mapping(root, 'spec', 'backend')):
        if backend is None or not (text(backend, 'type') or '').startswith('vLLM'):
            continue
        for worker in maps(backend, 'workers'):
            own = renamed(worker, name='type', image='image', resources='resources')
            container = gathered(worker, own, renamed(backend, env='env', envFrom='envFrom'))
            spec = changed(renamed(worker, affinity='affinity'), containers=listed(worker, container))
            part = '/'.join(filter(None, (text(backend, 'name'), text(worker, 'type'))))
            yield Part(owner._replace(part=part), spec, partial(_kthena, owner.document, backend, worker))


def _kthena(document: Document, backend: Map, worker: Map, process: Process) -> Process:
    options = mapping(worker, 'config')
    place = key_place(document, backend, 'type')
    model = word_of(document, backend.get('modelURI')) or Word('', place, False)
    if model.value.startswith('hf://') and model.pure:
        model = model._replace(value=model.value[5:], place=model.place.part(5, len(model.value)))
    holder = options if options is not None else worker
    slot = Slot('yaml_edit', Place(document, holder.start, holder.start), () if options is not None else ('config',))
    words = as_arguments(document, options) if options is not None else ()
    arguments = (Word('--model', place, False), model, *words)
    place = key_place(document, worker, 'config') if options is not None else place
    return process._replace(entrypoint=api_server(place), arguments=arguments, keys=Keys(slot, '-', False), partial='')
