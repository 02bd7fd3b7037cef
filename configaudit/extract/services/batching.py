"""Batchers of serving frameworks: Triton, TorchServe, TensorFlow Serving, KServe, Ray Serve, BentoML."""

from collections.abc import Callable, Iterator

from configaudit import units
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.ray_serve import ray_deployments
from configaudit.extract.words import word_of
from configaudit.knowledge.batching_kinds import BATCHER, DEFAULTS, SCALE_MS
from configaudit.model import Component, Setting, Slot
from configaudit.parse import pbtxt
from configaudit.parse.dotenv import read_properties
from configaudit.parse.tree import Map, key_place, mapping, maps, text
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_CONTINUED = regex(r'\\(\r?\n)')
_JSON_KEYS = ('models', 'model_snapshot')


def read(document: Document) -> Reading:
    """A file of its own: config.pbtxt, batching_parameters.txt, TorchServe's config.properties."""
    reader: dict[str, Callable[[Document], Iterator[Component]]] = {'pbtxt': _triton, 'tf-batching': _tf_serving, 'torchserve': _torchserve}
    reading = nothing()
    reading.components.extend(reader[document.format](document))
    if document.format == 'pbtxt' and 'tensorrtllm' in document.text:
        from configaudit.extract.services.triton_models import trtllm_model

        reading.components.extend(trtllm_model(document))
    return reading


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """Ray Serve's and BentoML's YAML."""
    reading = nothing()
    reading.components.extend(_ray(document, root, partial))
    reading.components.extend(ray_deployments(document, root, partial))
    reading.components.extend(_bentoml(document, root, partial))
    return reading


def read_inference_service(owner: Owner, root: Map) -> Reading:
    """The batchers of a KServe InferenceService; its pods are read like those of any object."""
    reading = nothing()
    for part in ('predictor', 'transformer', 'explainer'):
        holder = mapping(root, 'spec', part)
        batcher = mapping(holder, 'batcher')
        if holder is None or batcher is None:
            continue
        document = owner.document
        place = key_place(document, holder, 'batcher')
        settings = _tree_settings(document, batcher, {'window_ms': ('maxLatency', 'ms'), 'batch_size': ('maxBatchSize', 'count')})
        _default(settings, 'kserve', place, _slot(document, batcher, 'maxLatency'), owner.partial)
        component = _component('kserve', f'{owner.name}.{part}', f'{owner.identity}/{part}/batcher', place, settings, owner.partial)
        component.scope = owner.namespace
        reading.components.append(component)
    return reading


def _component(product: str, name: str, identity: str, place: Place, settings: dict[str, Setting], partial: str = '') -> Component:
    settings['product'] = Setting('product', product, place)
    return Component(BATCHER, name, identity, place, settings, partial=partial)


def _default(settings: dict[str, Setting], product: str, place: Place, slot: Slot | None, partial: str = '') -> None:
    """The product's own window and batch size where the file sets none."""
    window, size, source = DEFAULTS[product]
    settings.setdefault('window_ms', Setting('window_ms', window, place, 'default', partial, (), slot, 'ms', source))
    settings.setdefault('batch_size', Setting('batch_size', size, place, 'default', partial, source=source))


def _slot(document: Document, node: Map, key: str) -> Slot:
    return Slot('yaml_edit', Place(document, node.start, node.start), (key,))


def _value(name: str, raw: str, place: Place, unit: str, slot: Slot) -> Setting:
    """A number of a file; a window is converted to ms from the unit that the file writes."""
    if HOLE in raw:
        return Setting(name, None, place, 'inherited', 'filled by a template', slot=slot, unit=unit)
    value = units.integer(raw) if unit == 'count' else units.number(raw)
    reason = '' if value is not None else f'{raw!r} is not a number'
    if value is not None and unit in SCALE_MS and name.endswith('_ms'):
        value = value * SCALE_MS[unit]
    return Setting(name, value, place, reason=reason, slot=slot, unit=unit)


Fields = dict[str, tuple[str, str]]


def _tree_settings(document: Document, node: Map, fields: Fields) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, (key, unit) in fields.items():
        word = word_of(document, node.get(key))
        if word is not None:
            found[name] = _value(name, word.value, word.place, unit, Slot('yaml_edit', word.place))
    return found


def _pbtxt_settings(document: Document, message: pbtxt.Message, fields: Fields) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, (key, unit) in fields.items():
        field = message.get(key)
        if field is not None and isinstance(field.value, pbtxt.Message):
            field = field.value.get('value')
        if field is not None and isinstance(field.value, str):
            place = Place(document, field.start, field.end)
            found[name] = _value(name, field.value, place, unit, Slot('pbtxt', place))
    return found


def _message(message: pbtxt.Message, *path: str) -> pbtxt.Message | None:
    for name in path:
        field = message.get(name)
        if field is None or not isinstance(field.value, pbtxt.Message):
            return None
        message = field.value
    return message


def _triton(document: Document) -> Iterator[Component]:
    """`dynamic_batching` and `sequence_batching.oldest` of a model; a model without batches has no batcher."""
    root = pbtxt.read(document.text).message
    whole = _pbtxt_settings(document, root, {'batch_size': ('max_batch_size', 'count')})
    name, backend = (root.get(key) for key in ('name', 'backend'))
    backend = backend or root.get('platform')
    for path in (('dynamic_batching',), ('sequence_batching', 'oldest')):
        message, field = _message(root, *path), root.get(path[0])
        if message is None or field is None:
            continue
        place = Place(document, field.name_start, field.name_start + len(field.name))
        settings = {**whole, **_pbtxt_settings(document, message, {'window_ms': ('max_queue_delay_microseconds', 'us')})}
        window = Slot('pbtxt', Place(document, message.start, message.start), ('max_queue_delay_microseconds',))
        _default(settings, 'triton', place, window)
        settings['batch_size'] = whole.get('batch_size') or Setting('batch_size', None, place, 'default', 'the backend may complete the configuration')
        if path == ('dynamic_batching',):
            _triton_queue(document, message, place, settings)
        if backend is not None:
            settings['backend'] = Setting('backend', backend.value, place)
        label = str(name.value) if name is not None else document.path.rpartition('/')[0].rpartition('/')[2]
        yield _component('triton', label, f'{label}/{path[0]}', place, settings)


def _triton_queue(document: Document, message: pbtxt.Message, place: Place, settings: dict[str, Setting]) -> None:
    fields = [field for field in message.fields if field.name == 'preferred_batch_size']
    if fields:
        at = Place(document, fields[0].name_start, fields[-1].end)
        sizes = tuple(str(size.value) for size in message.all('preferred_batch_size'))
        slot = Slot('pbtxt', at) if _fills_its_line(document.text, at) else None
        settings['preferred_sizes'] = Setting('preferred_sizes', sizes, at, slot=slot)
    policy = _message(message, 'default_queue_policy')
    if policy is not None:
        settings.update(_pbtxt_settings(document, policy, {
            'queue_size': ('max_queue_size', 'count'), 'queue_timeout_ms': ('default_timeout_microseconds', 'us'),
        }))  # fmt: skip
    holder, key = (message, 'default_queue_policy') if policy is None else (policy, 'max_queue_size')
    slot = Slot('pbtxt', Place(document, holder.start, holder.start), (key,))
    settings.setdefault('queue_size', Setting('queue_size', 0, place, 'default', slot=slot, source='Triton ModelQueuePolicy'))
    settings.setdefault('queue_timeout_ms', Setting('queue_timeout_ms', 0, place, 'default', source='Triton ModelQueuePolicy'))
    priorities = message.get('priority_queue_policy')
    settings['queue_policies'] = Setting('queue_policies', priorities.name if priorities else '', place)


def _fills_its_line(text: str, place: Place) -> bool:
    """Whether nothing else stands on the line of a span: it can be deleted as a line."""
    line = text[text.rfind('\n', 0, place.start) + 1 :].partition('\n')[0]
    return line.strip() == text[place.start : place.end]


def _tf_serving(document: Document) -> Iterator[Component]:
    root = pbtxt.read(document.text).message
    settings = _pbtxt_settings(document, root, {
        'window_ms': ('batch_timeout_micros', 'us'), 'batch_size': ('max_batch_size', 'count'), 'queue_size': ('max_enqueued_batches', 'count'),
    })  # fmt: skip
    if not settings:
        return
    place = next(iter(settings.values())).place
    _default(settings, 'tf-serving', place, Slot('pbtxt', Place(document, 0, 0), ('batch_timeout_micros',)))
    yield _component('tf-serving', document.path.rpartition('/')[2], 'batching_parameters', place, settings)


def _torchserve(document: Document) -> Iterator[Component]:
    """Models that config.properties registers, each version with its batch size and delay."""
    for entry in read_properties(document.text).entries:
        if entry.key not in _JSON_KEYS:
            continue
        # The same length as the file's text, so that offsets in the JSON are offsets in the file.
        raw = _CONTINUED.sub(lambda joint: ' ' * len(joint[0]), document.text[entry.start : entry.end])
        try:
            roots = parse(raw.encode()).roots
        except SyntaxProblem:
            continue
        root = roots[0] if roots and isinstance(roots[0], Map) else None
        models = mapping(root, 'models') if entry.key == 'model_snapshot' else root
        for model, versions in (models or {}).items():
            for version, node in versions.items() if isinstance(versions, Map) else ():
                if isinstance(node, Map):
                    yield _torchserve_model(document, entry.start, node, f'{model}/{version}')


def _torchserve_model(document: Document, base: int, node: Map, label: str) -> Component:
    def at(place_key: str, value: bool) -> Place:
        mark = node[place_key] if value else node.names[place_key]
        quoted = 1 if mark.style else 0
        return Place(document, base + mark.start_mark.index + quoted, base + mark.end_mark.index - quoted)

    settings: dict[str, Setting] = {}
    for name, key, unit in (('window_ms', 'maxBatchDelay', 'ms'), ('batch_size', 'batchSize', 'count'), ('response_timeout_s', 'responseTimeout', 's')):
        raw = text(node, key)
        if raw is not None:
            place = at(key, True)
            settings[name] = _value(name, raw, place, unit, Slot('properties', place))
    place = at('batchSize', False) if 'batch_size' in settings else at(next(iter(node)), False) if node else Place(document, base, base + 1)
    _default(settings, 'torchserve', place, None)
    return _component('torchserve', label, f'models/{label}', place, settings)


def _ray(document: Document, root: Map, partial: str) -> Iterator[Component]:
    """Deployments whose `user_config` carries the batching parameters that Ray's own examples pass on."""
    applications = list(maps(root, 'applications')) or [root]
    for application in applications:
        name = text(application, 'name') or 'default'
        for deployment in maps(application, 'deployments'):
            config = mapping(deployment, 'user_config')
            if config is None:
                continue
            settings = _tree_settings(document, config, {'window_ms': ('batch_wait_timeout_s', 's'), 'batch_size': ('max_batch_size', 'count')})
            if 'window_ms' not in settings:
                continue
            label = f'{name}.{text(deployment, "name") or "-"}'
            yield _component('ray-serve', label, f'ray-serve/{label}', settings['window_ms'].place, settings, partial)


def _bentoml(document: Document, root: Map, partial: str) -> Iterator[Component]:
    """`batching:` of every runner, of one runner, of one service."""
    for group in ('runners', 'services'):
        holder = mapping(root, group)
        for name, node in ((group, holder), *((holder or {}).items())):
            batching = mapping(node, 'batching')
            if not isinstance(node, Map) or batching is None or text(batching, 'enabled') in ('false', 'False'):
                continue
            place = key_place(document, node, 'batching')
            settings = _tree_settings(document, batching, {'window_ms': ('max_latency_ms', 'ms'), 'batch_size': ('max_batch_size', 'count')})
            _default(settings, 'bentoml', place, _slot(document, batching, 'max_latency_ms'), partial)
            label = name if name == group else f'{group}.{name}'
            yield _component('bentoml', label, f'bentoml/{label}', place, settings, partial)

