"""Kubernetes objects: workloads of every kind that has a pod template, and the objects around them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial as partial_function
from itertools import zip_longest
from typing import Any

from configaudit.extract.carriers.gpu_labels import noted
from configaudit.extract.carriers.kserve import RUNTIME, settled_runtime, used_runtime, with_containers, with_runtime
from configaudit.extract.carriers.objects import OBJECTS
from configaudit.extract.carriers.pods import Owner, read_pod
from configaudit.extract.carriers.resources import Amend, Part, parts_of
from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.api import removed_api
from configaudit.extract.settings import read_settings
from configaudit.knowledge.kinds import WORKLOAD
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse.tree import Map, Seq, get, key_place, mapping, maps, text
from configaudit.places import Document, Place

Path = tuple[str, ...]
_TEMPLATE: tuple[Path, ...] = (('spec', 'template'),)
TEMPLATES: dict[str, tuple[Path, ...]] = {
    'Pod': ((),),
    **dict.fromkeys(('Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job', 'Rollout'), _TEMPLATE),
    'CronJob': (('spec', 'jobTemplate', 'spec', 'template'),),
    'LeaderWorkerSet': (('spec', 'leaderWorkerTemplate', 'leaderTemplate'), ('spec', 'leaderWorkerTemplate', 'workerTemplate')),
    'PodTemplate': (('template',),),
}  # fmt: skip
"""Where the pod templates of known workloads stand; of any other kind they are searched for."""

_LONG_RUNNING = frozenset(TEMPLATES) - {'Job', 'CronJob', 'PodTemplate'}
_SEARCH_DEPTH = 12
_BASE = 'services that are based on it add to it'
INSTALL_CHARTS = ('HelmRelease', 'HelmChart', 'HelmChartConfig', 'Application')


def read_object(document: Document, root: Map, partial: str) -> Reading:
    """One Kubernetes object. `partial` says why nothing may be called missing in it."""
    kind = text(root, 'kind') or ''
    if kind == 'List' or (kind.endswith('List') and isinstance(root.get('items'), Seq)):
        reading = nothing()
        for item in maps(root, 'items'):
            reading.add(read_object(document, item, partial))
        return reading
    owner = Owner(
        document, kind, text(root, 'metadata', 'namespace') or '', text(root, 'metadata', 'name') or '-', '', partial
    )
    handler: Callable[[Owner, Map], Reading] | None = OBJECTS.get(kind)
    if kind == 'Service' and (text(root, 'apiVersion') or '').startswith('serving.knative.dev/'):
        handler = None  # a workload of Knative's
    reading = handler(owner, root) if handler else nothing()
    amend: Amend | None = None
    if kind == 'InferenceService' and (whole := with_containers(root)) is not None:
        amend = partial_function(with_runtime, root=whole)
        root, owner = whole, owner._replace(partial=owner.partial or RUNTIME)
        used = used_runtime(owner, root)
        reading.data.extend([used] if used is not None else [])
    elif kind in ('ServingRuntime', 'ClusterServingRuntime'):
        amend = settled_runtime
    elif kind == 'LLMInferenceServiceConfig':
        owner = owner._replace(partial=owner.partial or _BASE)  # runs only as a part of services, which add to it
    elif kind == 'LLMInferenceService':
        from configaudit.extract.carriers.kserve_llm import with_preset

        amend = partial_function(with_preset, document, root)
    removed = removed_api(owner, root)
    if removed is not None:
        reading.components.append(removed)
    if kind in INSTALL_CHARTS and reading.processes:
        return reading  # pod specs among chart values are read as what the chart makes of them
    parts = list(parts_of(owner, root)) or [Part(spec_owner, spec, amend, template) for spec_owner, template, spec in _pod_specs(kind, root, owner)]
    if parts and kind not in ('ConfigMap', 'Secret'):
        pods = [(part.owner, part.template or part.spec, part.spec) for part in parts]
        reading.add(read_workload(owner._replace(partial=parts[0].owner.partial), root, pods, [part.amend for part in parts]))
    return reading


def _pod_specs(kind: str, root: Map, owner: Owner) -> Iterator[tuple[Owner, Map, Map]]:
    """(owner with the part's name, template, spec) of every pod spec in an object."""
    paths = TEMPLATES.get(kind)
    if paths is None:
        if b'containers' not in owner.document.parsed and kind != 'InferenceService':
            return
        yield from _search(root, owner, (), _SEARCH_DEPTH)
        return
    for path in paths:
        template = mapping(root, *path)
        spec = mapping(template, 'spec')
        if template is not None and spec is not None:
            yield owner._replace(part=path[-1] if len(paths) > 1 else ''), template, spec


def _search(node: Map, owner: Owner, path: Path, depth: int) -> Iterator[tuple[Owner, Map, Map]]:
    """Pod specs anywhere in an unknown kind: a mapping whose `containers` are mappings with a name or image."""
    for key, value in node.items():
        if isinstance(value, Map) and depth:
            if _is_pod_spec(value):
                template = node if key == 'spec' else value
                yield owner._replace(part='.'.join(path if key == 'spec' else (*path, key))), template, value
            yield from _search(value, owner, (*path, key), depth - 1)
        elif isinstance(value, Seq) and depth and key not in ('containers', 'initContainers'):
            for number, item in enumerate(value[:200]):
                if isinstance(item, Map):
                    yield from _search(item, owner, (*path, key, text(item, 'name') or text(item, 'groupName') or str(number)), depth - 1)


def _is_pod_spec(value: Map) -> bool:
    found = list(maps(value, 'containers'))
    return bool(found) and any('image' in item or 'name' in item for item in found)


def read_workload(owner: Owner, root: Map, pods: list[tuple[Owner, Map, Map]], amends: Sequence[Amend | None] = ()) -> Reading:
    """The workload of an object, its pods with their containers, acquainted with one another. `pods`: owner, template, spec.

    `amends`: for each pod what is done to the process of its first container.
    """
    document = owner.document
    settings: dict[str, Setting] = {}
    read_settings(document, root, WORKLOAD, settings)
    spec = mapping(root, 'spec')
    place = key_place(document, root, 'spec' if spec is not None else 'kind')
    slot = Slot('yaml_edit', Place(document, root.start, root.start))
    settings['object_kind'] = Setting('object_kind', owner.kind, key_place(document, root, 'kind'))
    settings['serves'] = Setting('serves', owner.kind in _LONG_RUNNING or owner.kind not in TEMPLATES, place)
    workload = Component(
        WORKLOAD, owner.name, owner.identity, place, settings, slot=slot, partial=owner.partial, scope=owner.namespace
    )
    reading = nothing()
    reading.components.append(workload)
    parts = [read_pod(*found) for found in pods]
    for part, amend in zip_longest(parts, amends):
        noted(document, root, part.pod)
        reading.components.extend((part.pod, *part.containers, *part.sysctls))
        part.pod.peer_map.update(workload=Peers.of([workload], True), container=Peers.of(part.containers, True))
        for container in part.containers:
            container.peer_map.update(workload=Peers.of([workload], True), pod=Peers.of([part.pod], True))
        if amend is not None and part.processes:
            part.processes[0] = amend(part.processes[0])
        reading.processes.extend(part.processes)
    workload.peer_map['pod'] = Peers.of([part.pod for part in parts], True)
    return reading


def is_kubernetes(root: Any) -> bool:
    """Whether a document is a Kubernetes object (or a list of them)."""
    return isinstance(root, Map) and 'kind' in root and ('apiVersion' in root or isinstance(get(root, 'items'), Seq))
