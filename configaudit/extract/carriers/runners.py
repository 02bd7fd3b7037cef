"""Resources that hold a whole container under another name: NVIDIA Dynamo, OME, llmaz, NIM.

Sources: ai-dynamo/dynamo deploy/operator/api, sgl-project/ome pkg/apis/ome/v1beta1, InftyAI/llmaz api/inference/v1alpha1,
NVIDIA/k8s-nim-operator api/apps/v1alpha1.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from configaudit.extract.carriers.made import changed, gathered, listed, renamed
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.carriers.resources import Part, joined, with_image
from configaudit.extract.process import Process
from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, get, items, key_place, mapping, maps, text
from configaudit.places import Place

_PROBES = ('livenessProbe', 'readinessProbe', 'startupProbe')


def dynamo_graph(owner: Owner, root: Map) -> Iterator[Part]:
    """DynamoGraphDeployment v1alpha1: a container for every service; v1beta1 has pod templates, which are found as such."""
    for name, service in (mapping(root, 'spec', 'services') or {}).items():
        if isinstance(service, Map):
            yield from _dynamo(owner._replace(part=name), service, name, items(root, 'spec', 'envs'))


def dynamo_component(owner: Owner, root: Map) -> Iterator[Part]:
    """DynamoComponentDeployment v1alpha1: one such service."""
    spec = mapping(root, 'spec')
    if spec is not None:
        yield from _dynamo(owner, spec, 'main', [])


def _dynamo(owner: Owner, service: Map, name: str, shared: list[Any]) -> Iterator[Part]:
    pod, main = mapping(service, 'extraPodSpec'), mapping(service, 'extraPodSpec', 'mainContainer')
    if pod is None or main is None:
        return
    container = gathered(main, renamed(service, **{probe: probe for probe in _PROBES}), main)
    more = {
        'env': [*shared, *items(service, 'envs'), *items(main, 'env')],
        'envFrom': [*_secret(service), *items(main, 'envFrom')],
        'volumeMounts': [*(renamed(mount, name='name', mountPath='mountPoint') for mount in maps(service, 'volumeMounts')), *items(main, 'volumeMounts')],
    }
    lists = {key: listed(main, *nodes) for key, nodes in more.items() if nodes}
    container = changed(container, resources=main.get('resources') or _dynamo_resources(service), **lists)
    yield Part(owner, changed(pod, containers=listed(main, container, *maps(pod, 'containers'))), partial(_dynamo_command, name))


def _secret(service: Map) -> Iterator[Map]:
    """`envFromSecret` as an entry of envFrom."""
    if 'envFromSecret' in service:
        reference = renamed(service, name='envFromSecret')
        yield changed(reference, secretRef=reference)


def _dynamo_resources(service: Map) -> Map | None:
    """`resources` with the GPUs under the name that a container knows them by."""
    resources = mapping(service, 'resources')
    if resources is None:
        return None
    sides = {side: _with_gpu(held) for side in ('limits', 'requests') if (held := mapping(resources, side)) is not None}
    return changed(resources, **sides)


def _with_gpu(held: Map) -> Map:
    kind = text(held, 'gpuType') or 'nvidia.com/gpu'
    return renamed(held, **{kind if key == 'gpu' else key: key for key in held})


def _dynamo_command(name: str, process: Process) -> Process:
    """The container's name is the service's; one argument with spaces and no command is a script."""
    process.component.name = name
    words = process.arguments or ()
    script = process.entrypoint is None and len(words) == 1 and ' ' in words[0].value.strip()
    return process._replace(partial='', shell=script)


def ome(owner: Owner, root: Map) -> Iterator[Part]:
    """Runtimes and services of OME: the engine, the decoder and the router, each with its leader and worker."""
    for role in ('engineConfig', 'decoderConfig', 'routerConfig', 'engine', 'decoder', 'router'):
        config = mapping(root, 'spec', role)
        if config is None:
            continue
        for node in ('', 'leader', 'worker'):
            pod = mapping(config, node) if node else config
            runner = mapping(pod, 'runner')
            if pod is not None and runner is not None:
                part = '/'.join(filter(None, (role, f'{node}Template' if node else '')))
                yield Part(owner._replace(part=part), changed(pod, containers=listed(runner, runner, *maps(pod, 'containers'))))


def llmaz(owner: Owner, root: Map) -> Iterator[Part]:
    """A BackendRuntime: one command and image, and a choice of arguments and resources."""
    spec = mapping(root, 'spec')
    if spec is None:
        return
    own = renamed(spec, command='command', env='envs', lifecycle='lifecycle', **{probe: probe for probe in _PROBES})
    image = joined(word_of(owner.document, spec.get('image')), word_of(owner.document, spec.get('version')))
    for config in maps(spec, 'recommendedConfigs'):
        container = gathered(spec, renamed(config, name='name', args='args', resources='resources'), own)
        pod = changed(renamed(spec), containers=listed(config, container))
        place = key_place(owner.document, config, 'args' if 'args' in config else 'name')
        yield Part(owner._replace(part=text(config, 'name') or '-'), pod, partial(_llmaz, image, place))


_PROGRAMS = {'vllm': ('vllm.entrypoints.openai.api_server', 'vllm/vllm-openai'), 'sglang': ('sglang.launch_server', 'lmsysorg/sglang')}
"""Runtimes that llmaz ships, with their module and image (chart/templates/backends, chart/values.global.yaml)."""


def playground(owner: Owner, root: Map) -> Iterator[Part]:
    """A Playground of llmaz: arguments behind those of its BackendRuntime, which is vLLM's where none is named."""
    config = mapping(root, 'spec', 'backendRuntimeConfig')
    program = _PROGRAMS.get(text(config, 'backendName') or 'vllm')
    if config is None or program is None or 'args' not in config:
        return
    named = mapping(root, 'metadata') or config
    container = gathered(config, renamed(named, name='name'), renamed(config, args='args', env='envs', resources='resources'))
    version = word_of(owner.document, config.get('version'))
    place = key_place(owner.document, config, 'args')
    image = joined(Word(program[1], place, False), version) if version is not None else None
    entry = tuple(Word(value, place, False) for value in ('python3', '-m', program[0]))
    yield Part(owner, changed(renamed(config), containers=listed(config, container)), partial(_playground, image, entry))


def _playground(image: Word | None, entry: tuple[Word, ...], process: Process) -> Process:
    process = with_image(process, image, 'its BackendRuntime names the image')
    return process._replace(entrypoint=entry, partial='its BackendRuntime gives the other arguments')


def _llmaz(image: Word | None, place: Place, process: Process) -> Process:
    """The program stands where a person adds arguments to it: its own words are those of every choice."""
    process = with_image(process, image, 'the runtime names no image')
    entry = process.entrypoint
    return process._replace(entrypoint=(entry[0]._replace(place=place, pure=False), *entry[1:])) if entry else process


def nim(owner: Owner, root: Map) -> Iterator[Part]:
    """A NIMService, or the services of a NIMPipeline."""
    spec = mapping(root, 'spec')
    for service in maps(spec, 'services'):
        own = mapping(service, 'spec')
        if own is not None:
            yield _nim(owner._replace(part=text(service, 'name') or '-'), service, own)
    if spec is not None and 'services' not in spec:
        yield _nim(owner, mapping(root, 'metadata') or spec, spec)


def _nim(owner: Owner, named: Map, spec: Map) -> Part:
    """Its image is a repository and a tag, its probes stand one level deeper."""
    probes = [renamed(own, **{probe: 'probe'}) for probe in _PROBES if (own := mapping(spec, probe)) is not None]
    own = renamed(spec, command='command', args='args', env='env', resources='resources')
    container = gathered(spec, renamed(named, name='name'), own, *probes)
    parts = (word_of(owner.document, get(spec, 'image', key)) for key in ('repository', 'tag'))
    pod = renamed(spec, nodeSelector='nodeSelector', affinity='affinity')
    image = joined(*parts)
    return Part(owner, changed(pod, containers=listed(spec, container)), partial(with_image, image=image, unnamed='the service names no image'))
