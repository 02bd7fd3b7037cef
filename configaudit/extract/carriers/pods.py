"""Pod specs, of whatever object: pods, containers and the processes they run."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit import units
from configaudit.extract.carriers.gpu_labels import gpu_labels, noted
from configaudit.extract.process import Imported, Mount, Process, Reference, Variable
from configaudit.extract.services.pod_sysctls import pod_sysctls
from configaudit.extract.settings import read_settings
from configaudit.extract.words import Word, is_continued, is_open, word_of
from configaudit.knowledge.kinds import CONTAINER, POD
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, Scalar, Seq, get, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document, Place

_GPU = ('nvidia.com/gpu', 'amd.com/gpu', 'gpu.intel.com/xe', 'gpu.intel.com/i915')
_GPU_KINDS = ('nvidia.com/mig-', 'nvidia.com/gpu.', 'habana.ai/gaudi', 'google.com/tpu', 'aws.amazon.com/neuron', 'huawei.com/', 'cambricon.com/')
"""Beginnings of names that count devices; nvidia.com/gpumem and gpucores count parts of one."""


class Owner(NamedTuple):
    """The object around a pod spec."""

    document: Document
    kind: str
    namespace: str
    name: str
    part: str = ''
    partial: str = ''

    @property
    def identity(self) -> str:
        """What the object is, without file or line."""
        return '/'.join(filter(None, (self.kind, self.namespace, self.name, self.part)))


class PodParts(NamedTuple):
    """What one pod spec yields."""

    pod: Component
    containers: list[Component]
    processes: list[Process]
    sysctls: list[Component]


def read_pod(owner: Owner, template: Map, spec: Map) -> PodParts:
    """A pod template (or Pod) with its containers and processes."""
    document = owner.document
    partial = owner.partial or ('' if _has_image(spec) else 'a pod template without an image')
    if not partial and is_open(document, spec) and not any(maps(spec, 'containers')):
        partial = 'filled by a template'
    settings: dict[str, Setting] = {}
    read_settings(document, spec, POD, settings)
    slot = Slot('yaml_edit', Place(document, spec.start, spec.start))
    pod = Component(
        POD, owner.name, f'{owner.identity}/pod', _pod_place(document, template, spec), settings,
        slot=slot, partial=partial, scope=owner.namespace,
    )  # fmt: skip
    _pod_facts(document, template, spec, pod, owner)
    volumes = {text(volume, 'name') or '': volume for volume in maps(spec, 'volumes')}
    containers, processes = [], []
    for role in ('containers', 'initContainers'):
        for item in maps(spec, role):
            container, process = _read_container(owner, item, volumes, role, partial, is_open(document, spec))
            containers.append(container)
            processes.append(process)
    _sum_gpus(pod, containers)
    return PodParts(pod, containers, processes, pod_sysctls(owner, spec, pod))


def _has_image(spec: Map) -> bool:
    return any('image' in item for item in maps(spec, 'containers'))


def _pod_place(document: Document, template: Map, spec: Map) -> Place:
    return key_place(document, template, 'spec') if template.get('spec') is spec else place_of(document, spec)


def _pod_facts(document: Document, template: Map, spec: Map, pod: Component, owner: Owner) -> None:
    labels = mapping(template, 'metadata', 'labels')
    if labels is not None:
        place = key_place(document, mapping(template, 'metadata') or labels, 'labels')
        pod.settings['labels'] = Setting('labels', plain(labels), place)
    pod.settings['object_kind'] = Setting('object_kind', owner.kind, pod.place)
    scrape = get(template, 'metadata', 'annotations', 'prometheus.io/scrape')
    if isinstance(scrape, Scalar) and scrape.value == 'true':
        port = text(template, 'metadata', 'annotations', 'prometheus.io/port')
        pod.settings['scraped_port'] = Setting('scraped_port', port, place_of(document, scrape))
        path = text(template, 'metadata', 'annotations', 'prometheus.io/path')
        if path is not None:
            pod.settings['scraped_path'] = Setting('scraped_path', path, place_of(document, scrape))
    labels_of_nodes = gpu_labels(document, spec)
    if labels_of_nodes is not None:
        pod.settings['gpu_labels'] = labels_of_nodes
    noted(document, template, pod)
    claims = tuple(
        name for volume in maps(spec, 'volumes') if (name := text(volume, 'persistentVolumeClaim', 'claimName'))
    )
    if claims:
        pod.settings['rwo_claims'] = Setting('rwo_claims', claims, key_place(document, spec, 'volumes'))


def _read_container(
    owner: Owner, item: Map, volumes: dict[str, Map], role: str, partial: str, open_pod: bool
) -> tuple[Component, Process]:
    document = owner.document
    name = text(item, 'name') or '-'
    settings: dict[str, Setting] = {}
    read_settings(document, item, CONTAINER, settings)
    component = Component(
        CONTAINER, name, f'{owner.identity}/{role}/{name}', place_of(document, item), settings,
        slot=Slot('yaml_edit', Place(document, item.start, item.start)), partial=partial, scope=owner.namespace,
    )  # fmt: skip
    _gpus(document, item, settings)
    _ports(document, item, settings, open_pod)
    mounts = _mounts(document, item, volumes, settings, open_pod or is_open(document, item))
    sidecar = role == 'initContainers' and text(item, 'restartPolicy') == 'Always'
    settings['init'] = Setting('init', role == 'initContainers' and not sidecar, component.place)
    settings['sidecar'] = Setting('sidecar', sidecar, component.place)
    command, arguments = _words(document, item, 'command'), _words(document, item, 'args')
    not_strings = [node for key in ('command', 'args') for node in _not_strings(get(item, key))]
    if not_strings:
        places = tuple(place_of(document, node) for node in not_strings)
        settings['non_string_args'] = Setting('non_string_args', places, places[0])
    variables, imported = environment(document, item)
    env = {variable.name: variable for variable in variables}
    open_args = partial or ('filled by a template' if is_open(document, item) or any(is_continued(document, item.get(key)) for key in ('command', 'args')) else '')
    settings['env'] = Setting('env', env, key_place(document, item, 'env'))
    image = word_of(document, item.get('image'))
    if image is not None and 'image' in settings and not image.known:
        settings['image'] = settings['image']._replace(known_value=image.value)
    settings['imported'] = Setting('imported', imported, component.place, reason=open_args)
    settings['words'] = Setting('words', (*(command or ()), *(arguments or ())), component.place)
    process = Process(
        component, image, command, arguments,
        variables, imported, mounts, partial=open_args,
    )  # fmt: skip
    return component, process


def _words(document: Document, item: Map, key: str) -> tuple[Word, ...] | None:
    node = item.get(key)
    if isinstance(node, Seq):
        return tuple(word for child in node if (word := word_of(document, child)) is not None)
    if isinstance(node, Scalar) and node.value:
        word = word_of(document, node)
        return (word,) if word else None
    return None


def _not_strings(node: Any) -> Iterator[Any]:
    for child in node if isinstance(node, Seq) else ():
        if isinstance(child, Scalar) and not isinstance(plain(child), (str, type(None))):
            yield child  # the API server takes null as an empty text


def _gpus(document: Document, item: Map, settings: dict[str, Setting]) -> None:
    for side, name in (('limits', 'gpu_limit'), ('requests', 'gpu_request')):
        held: Map | dict[str, Any] = mapping(item, 'resources', side) or {}
        for key, node in held.items():
            if (key.strip() in _GPU or key.strip().startswith(_GPU_KINDS)) and isinstance(node, Scalar):
                count = units.integer(plain(node))
                reason = '' if count is not None else 'filled by a template'
                place = place_of(document, node)
                settings[name] = Setting(name, count, place, reason=reason, slot=Slot('yaml_edit', place))
                settings['gpu_resource'] = Setting('gpu_resource', key.strip(), key_place(document, held, key))  # type: ignore[arg-type]


def _sum_gpus(pod: Component, containers: list[Component]) -> None:
    limits = [c['gpu_limit'] for c in containers if c['gpu_limit'].is_set and not c['init'].known_value]
    if not limits:
        return
    unknown = next((limit.reason for limit in limits if not limit.is_known), '')
    total = 0 if unknown else sum(int(limit.known_value) for limit in limits)  # type: ignore[call-overload]
    pod.settings['gpus'] = Setting('gpus', total, limits[0].place, reason=unknown)


def _ports(document: Document, item: Map, settings: dict[str, Setting], open_pod: bool) -> None:
    ports: dict[str, int | None] = {}
    for port in maps(item, 'ports'):
        number = units.integer(plain(port.get('containerPort')))
        ports[text(port, 'name') or str(number)] = number
    unseen = open_pod or is_open(document, item) or None in ports.values()
    if ports or unseen:
        settings['ports'] = Setting('ports', ports, key_place(document, item, 'ports'), reason='filled by a template' if unseen else '')


def _mounts(
    document: Document, item: Map, volumes: dict[str, Map], settings: dict[str, Setting], is_open_here: bool
) -> dict[str, Mount]:
    files: dict[str, Mount] = {}
    seen: dict[str, dict[str, Any]] = {}
    for mount in maps(item, 'volumeMounts'):
        path, volume = text(mount, 'mountPath') or '', volumes.get(text(mount, 'name') or '')
        source = next((key for key in volume or {} if key != 'name'), '')
        seen[path.rstrip('/')] = {
            'source': source, 'volume': text(mount, 'name'), 'read_only': text(mount, 'readOnly') == 'true',
            'sub_path': text(mount, 'subPath') or text(mount, 'subPathExpr'), 'place': place_of(document, mount['mountPath']) if path else place_of(document, mount),
        }  # fmt: skip
        if volume is not None and path.rstrip('/') == '/dev/shm':
            _shm(document, mount, volume, settings)
        for kind, key, field in (('ConfigMap', 'configMap', 'name'), ('Secret', 'secret', 'secretName')):
            name = text(volume, key, field)
            if name:
                renamed = {text(entry, 'path') or '': text(entry, 'key') or '' for entry in maps(volume, key, 'items')}
                sub_path = text(mount, 'subPath') or ''
                files[path] = Mount(kind, name, renamed.get(sub_path, sub_path), renamed)
    place = key_place(document, item, 'volumeMounts')
    reason = 'filled by a template' if is_open_here else ''
    if seen or reason:
        settings['mounts'] = Setting('mounts', seen, place, reason=reason)
    if '/dev/shm' not in seen and reason:
        settings['shm'] = Setting('shm', None, place, reason=reason)
    return files


def _shm(document: Document, mount: Map, volume: Map, settings: dict[str, Setting]) -> None:
    """How /dev/shm is backed: its volume type, medium and size limit in bytes (None: no limit)."""
    empty = mapping(volume, 'emptyDir')
    size = units.quantity(plain(get(empty, 'sizeLimit')) or '') if empty is not None else None
    value = {'source': next((key for key in volume if key != 'name'), ''), 'medium': text(empty, 'medium'), 'size': size}
    settings['shm'] = Setting('shm', value, place_of(document, mount))


def environment(document: Document, item: Map) -> tuple[tuple[Variable, ...], tuple[Imported, ...]]:
    """The variables of a container, and what `envFrom` takes in."""
    variables: list[Variable] = []
    for entry in maps(item, 'env'):
        name = text(entry, 'name')
        if not name:
            continue
        place = place_of(document, entry['name'])
        word = word_of(document, entry.get('value'))
        reference = _reference(document, entry)
        variables.append(Variable(name, word or reference or Word('', place, False), place))
    imported = tuple(
        Imported(kind, text(entry, key, 'name') or '', text(entry, 'prefix') or '', place_of(document, entry))
        for entry in maps(item, 'envFrom')
        for kind, key in (('ConfigMap', 'configMapRef'), ('Secret', 'secretRef'))
        if key in entry
    )
    return tuple(variables), imported


def _reference(document: Document, entry: Map) -> Reference | None:
    source = mapping(entry, 'valueFrom')
    if source is None:
        return None
    place = key_place(document, entry, 'valueFrom')
    for kind, key in (('ConfigMap', 'configMapKeyRef'), ('Secret', 'secretKeyRef')):
        if key in source:
            optional = text(source, key, 'optional') == 'true'
            return Reference(kind, text(source, key, 'name') or '', text(source, key, 'key') or '', place, optional)
    field = text(source, 'fieldRef', 'fieldPath')
    resource = text(source, 'resourceFieldRef', 'resource')
    return Reference('field' if field else 'resource', field or resource or '', '', place)
