"""Models of Triton whose backend is an engine of its own: TensorRT-LLM's parameters in config.pbtxt."""

from collections.abc import Iterator

from configaudit import units
from configaudit.knowledge.batching_kinds import TRTLLM_MODEL
from configaudit.model import Component, Setting, Slot
from configaudit.parse import pbtxt
from configaudit.places import Document, Place

_PARAMETERS = {
    'batch_scheduler_policy': 'capacity_scheduler_policy', 'kv_cache_free_gpu_mem_fraction': 'free_gpu_memory_fraction', 'gpt_model_type': 'batching_type',
}  # fmt: skip


def trtllm_model(document: Document) -> Iterator[Component]:
    """The model that a config.pbtxt of the TensorRT-LLM backend describes."""
    root = pbtxt.read(document.text).message
    name, backend = root.get('name'), root.get('backend')
    if backend is None or backend.value != 'tensorrtllm':
        return
    settings: dict[str, Setting] = {}
    for parameter in root.all('parameters'):
        message = parameter.value
        key = message.get('key') if isinstance(message, pbtxt.Message) else None
        value = message.get('value') if isinstance(message, pbtxt.Message) else None
        text = value.value.get('string_value') if value is not None and isinstance(value.value, pbtxt.Message) else None
        named = _PARAMETERS.get(str(key.value)) if key is not None else None
        if named is not None and text is not None and isinstance(text.value, str):
            settings[named] = _setting(document, named, text.value, Place(document, text.start, text.end))
    label = str(name.value) if name is not None else document.path.rpartition('/')[0].rpartition('/')[2]
    place = Place(document, backend.name_start, backend.name_start + len(backend.name))
    yield Component(TRTLLM_MODEL, label, f'{label}/tensorrtllm', place, settings)


def _setting(document: Document, name: str, text: str, place: Place) -> Setting:
    """A parameter; `${...}` is a blank that a script fills."""
    unit = TRTLLM_MODEL.settings[name].unit
    value = units.number(text) if unit == 'number' else text
    reason = 'a script fills it in' if '${' in text else f'{text!r} is not a number' if value is None else ''
    return Setting(name, value, place, reason=reason, slot=Slot('pbtxt', place), unit=unit)
