"""Ray Serve configuration: the engines of `ray.serve.llm` applications, in files of their own and in a RayService.

Source: ray python/ray/llm/_internal/serve/core/configs/llm_config.py (LLMConfig), engines/vllm/vllm_models.py.
"""

from collections.abc import Iterator
from typing import NamedTuple

from configaudit import units
from configaudit.extract.carriers.made import renamed
from configaudit.extract.carriers.option_keys import as_keywords
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Keys, Nested, Process, Reading, Variable, nothing
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.carrier_kinds import RAY_MODEL
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, get, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document, Place

_OWN_BUNDLES = ('placement_group_config', 'resources_per_bundle', 'accelerator_config', 'use_cpu')
"""Keys that let a replica take other resources than a GPU for each of its workers."""
_SINGLE = ('llm_config', 'prefill_config', 'decode_config')


class Cluster(NamedTuple):
    """What a RayService says of the cluster that runs its application."""

    identity: str
    name: str
    scope: str = ''
    image: Word | None = None
    gpus: Setting | None = None
    """The GPUs of all worker groups at their largest."""


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """A Serve configuration file, or the configuration of one model."""
    from configaudit.extract.services.batching import read_tree as read_batchers

    reading = read_batchers(document, root, partial) if 'applications' in root else nothing()
    reading.add(_models(document, root, Cluster('ray-serve', 'ray-serve')))
    return reading


def read_ray_service(owner: Owner, root: Map) -> Reading:
    """The Serve configuration that a RayService holds as text; what cannot be read of it is left to who reads files in strings."""
    from configaudit.extract.services.batching import read_tree as read_batchers
    from configaudit.parse import Parsed, nested_documents

    word = word_of(owner.document, get(root, 'spec', 'serveConfigV2'))
    reading = nothing()
    if word is None or not word.known:
        return reading
    config = mapping(root, 'spec', 'rayClusterConfig')
    cluster = Cluster(owner.identity, owner.name, owner.namespace, _image(owner.document, config), _gpus(owner.document, config))
    for item in nested_documents('serve_config.yaml', word.value, word.place):
        if isinstance(item, Parsed) and isinstance(item.root, Map):
            reading.add(read_batchers(item.document, item.root, owner.partial))
            reading.add(_models(item.document, item.root, cluster))
        else:
            return Reading([], [], [], [Nested('serve_config.yaml', word)])
    return reading


def _image(document: Document, cluster: Map | None) -> Word | None:
    """The image of the workers; of the head where there are none."""
    groups = [*maps(cluster, 'workerGroupSpecs'), mapping(cluster, 'headGroupSpec')]
    images = [word_of(document, get(group, 'template', 'spec', 'containers', 0, 'image')) for group in groups]
    return next((image for image in images if image is not None), None)


def _gpus(document: Document, cluster: Map | None) -> Setting | None:
    """How many GPUs the worker groups may have together; None where that is not certain."""
    scales = text(cluster, 'enableInTreeAutoscaling') == 'true'
    total = 0
    for group in maps(cluster, 'workerGroupSpecs'):
        pods = units.integer(plain(group.get('maxReplicas' if scales else 'replicas')))
        hosts = units.integer(plain(group.get('numOfHosts'))) if 'numOfHosts' in group else 1
        each = _gpus_of_pod(group)
        if pods is None or hosts is None or each is None:
            return None
        total += pods * hosts * each
    if cluster is None or not total or _gpus_of_pod(mapping(cluster, 'headGroupSpec')) != 0:
        return None
    return Setting('cluster_gpus', total, key_place(document, cluster, 'workerGroupSpecs'))


def _gpus_of_pod(group: Map | None) -> int | None:
    """The GPUs that Ray counts on a pod of a group: those of its containers, unless its start parameters say another number."""
    stated = get(group, 'rayStartParams', 'num-gpus')
    if stated is not None:
        return units.integer(plain(stated))
    held = [get(container, 'resources', 'limits', 'nvidia.com/gpu') for container in maps(group, 'template', 'spec', 'containers')]
    counts = [units.integer(plain(node)) for node in held if node is not None]
    return sum(count for count in counts if count is not None) if None not in counts else None


def _models(document: Document, root: Map, cluster: Cluster) -> Reading:
    reading = nothing()
    for application, config in _configurations(root):
        if (text(config, 'llm_engine') or 'vLLM').lower() != 'vllm':
            continue
        process = _process(document, config, cluster, application)
        if process is not None:
            reading.components.append(process.component)
            reading.processes.append(process)
    return reading


def _configurations(root: Map) -> Iterator[tuple[str, Map]]:
    """(application, LLMConfig) of a Serve configuration; a file may also hold one LLMConfig alone."""
    if 'model_loading_config' in root:
        yield '', root
    for application in maps(root, 'applications'):
        arguments = mapping(application, 'args')
        for config in (*maps(arguments, 'llm_configs'), *(mapping(arguments, key) for key in _SINGLE)):
            if config is not None:
                yield text(application, 'name') or '', config


def _process(document: Document, config: Map, cluster: Cluster, application: str) -> Process | None:
    """One model of an application as if `vllm serve` started it: Ray gives the engine the same arguments by name."""
    source = next((node for key in ('model_source', 'model_id') if (node := get(config, 'model_loading_config', key)) is not None), None)
    options = mapping(config, 'engine_kwargs')
    if source is None and options is None:
        return None
    name = text(config, 'model_loading_config', 'model_id') or '-'
    place = key_place(document, config, 'engine_kwargs' if options is not None else 'model_loading_config')
    identity = '/'.join(filter(None, (cluster.identity, application, name)))
    component = Component(RAY_MODEL, name, identity, place, {}, scope=cluster.scope)
    accelerator = word_of(document, config.get('accelerator_type'))
    if accelerator is not None and accelerator.known:
        component.settings['gpu_product'] = Setting('gpu_product', accelerator.value, accelerator.place)
    if cluster.gpus is not None and not any(key in config for key in _OWN_BUNDLES):
        component.settings['cluster_gpus'] = cluster.gpus
    component.settings.update(_replicas(document, config))
    variables = mapping(config, 'runtime_env', 'env_vars')
    environment = tuple(_variables(document, variables)) if variables is not None else ()
    holder = options if options is not None else config
    keys = Keys(Slot('yaml_edit', Place(document, holder.start, holder.start), () if options is not None else ('engine_kwargs',)), '_', True)
    model = word_of(document, source)
    words = (*((model,) if model is not None else ()), *_engine_arguments(document, options, place))
    program = tuple(Word(value, place, False) for value in ('vllm', 'serve'))
    return Process(component, cluster.image, program, words, environment, syntax='none', keys=keys)


def _replicas(document: Document, config: Map) -> dict[str, Setting]:
    """The fewest replicas that Ray Serve starts, where somebody says so."""
    deployment = mapping(config, 'deployment_config')
    for node in (get(deployment, 'num_replicas'), get(deployment, 'autoscaling_config', 'min_replicas')):
        count = units.integer(plain(node)) if node is not None else None
        if count is not None:
            return {'replicas': Setting('replicas', count, place_of(document, node))}
    return {}


def _engine_arguments(document: Document, options: Map | None, place: Place) -> Iterator[Word]:
    """What the engine gets: without the switch for request logs, which Ray translates for every release; with Ray's executor, the only one it allows."""
    if options is not None:
        yield from as_keywords(document, renamed(options, **{key: key for key in options if key != 'disable_log_requests'}))
    if options is None or 'distributed_executor_backend' not in options:
        yield from (Word('--distributed-executor-backend', place, False), Word('ray', place, False))


def _variables(document: Document, variables: Map) -> Iterator[Variable]:
    for name, node in variables.items():
        place = key_place(document, variables, name)
        yield Variable(name, word_of(document, node) or Word('', place, False), place)
