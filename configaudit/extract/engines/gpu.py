"""On which GPU an engine runs: by node labels, by the name of the resource, or as a person says."""

from collections.abc import Iterable

from configaudit.context import Context
from configaudit.extract.carriers.gpu_labels import ANNOTATION
from configaudit.extract.commands import Invocation
from configaudit.knowledge.gpus import Gpu, lookup, of_family, possible
from configaudit.model import Component, Setting
from configaudit.patterns import regex
from configaudit.places import Place
from configaudit.units import integer

NOT_SHOWN = 'the files do not show which GPU it runs on'
_PRODUCTS = ('configaudit.io/gpu', 'nvidia.com/gpu.product', 'cloud.google.com/gke-accelerator', 'amd.com/gpu.product-name')
"""Labels that name the GPU itself: they win over those that name a machine, and over what a cluster calls its nodes."""
_EXACT = ('configaudit.io/gpu', 'cloud.google.com/gke-accelerator')
"""Labels in which a bare a100 is the 40 GB card."""
_PARTITION = 'cloud.google.com/gke-gpu-partition-size'
_MEMORY = 'nvidia.com/gpu.memory'  # MiB, by GPU feature discovery
_FAMILIES = ('/instance-family', '/machine-family')  # of Karpenter and of Google; the group may be a template's
_OWN_NAME = regex(r'nodepool|agentpool|node[-_]?group|compute-class')
"""Labels whose value a cluster's owner made up: it names no product."""
_SLICES = frozenset(('nvidia.com/gpumem', 'nvidia.com/gpucores', 'nvidia.com/gpumem-percentage'))


def engine_gpu(invocation: Invocation, place: Place, context: Context) -> Setting:
    """The GPU: known, one of several (candidates), or unknown."""
    carrier = invocation.process.component
    found, at = _by_labels(carrier)
    if not found and (product := carrier.settings.get('gpu_product')) is not None:
        named = product.candidates or ((product.known_value,) if product.is_known else ())
        read = _exactly if carrier.kind.name == 'sky-task' else possible
        found, at = _together([read(str(name)) for name in named]), product.place
    resource = str(carrier.settings['gpu_resource'].known_value) if 'gpu_resource' in carrier.settings else ''
    if 'mig-' in resource and (part := lookup(resource)):
        found = tuple(dict.fromkeys(_part(gpu, part) for gpu in found)) or (part,)
    if not found and (given := lookup(context.gpu_of(carrier))):
        found = (given,)
    if len(found) == 1 and not _is_sliced(carrier):
        return Setting('gpu', found[0], at or place)
    names = ' or '.join(gpu.name or gpu.slice or f'{gpu.memory_gib:.0f} GiB' for gpu in found)
    reason = 'it is given a part of a GPU' if found and _is_sliced(carrier) else f'it runs on {names}' if found else _wrong_note(carrier) or NOT_SHOWN
    return Setting('gpu', None, at or place, reason=reason, candidates=() if _is_sliced(carrier) else found)


def _wrong_note(carrier: Component) -> str:
    """What a person noted that names no GPU, in words; '' where nobody did."""
    for pod in carrier.peers('pod'):
        note = next((value for labels in pod['gpu_labels'].known_value or () for key, value in labels if key == ANNOTATION), '')  # type: ignore[attr-defined]
        if note:
            return f'the annotation {note!r} names no GPU that is known here'
    return ''


def _exactly(text: str) -> tuple[Gpu, ...]:
    """SkyPilot's names tell sizes apart: A100 is the card of 40 GB."""
    found = lookup(text)
    return (found,) if found else ()


def _by_labels(carrier: Component) -> tuple[tuple[Gpu, ...], Place | None]:
    for pod in carrier.peers('pod'):
        labels = pod['gpu_labels']
        if labels.is_set and labels.is_known:
            return _together([_of_node(dict(node)) for node in labels.value]), labels.place
    return (), None


def _together(parts: Iterable[tuple[Gpu, ...]]) -> tuple[Gpu, ...]:
    """All alternatives; none where one of them says nothing."""
    found: dict[Gpu, None] = {}
    for part in parts:
        if not part:
            return ()
        found.update(dict.fromkeys(gpu._replace(gpus=1) for gpu in part))
    return tuple(found)


def _of_node(labels: dict[str, str]) -> tuple[Gpu, ...]:
    """The GPUs that a node with these labels may have."""
    ranked = sorted(labels.items(), key=lambda item: _PRODUCTS.index(item[0]) if item[0] in _PRODUCTS else len(_PRODUCTS))
    found: tuple[Gpu, ...] = ()
    for key, value in ranked:
        if not found and not _OWN_NAME.search(key):
            family = of_family(value) if key.endswith(_FAMILIES) else None
            exact = lookup(value) if key in _EXACT else family
            found = (exact,) if exact else possible(value)
    part = lookup(f'mig-{labels[_PARTITION]}') if labels.get(_PARTITION) else None
    if part:
        return tuple(_part(gpu, part) for gpu in found)
    memory = integer(labels.get(_MEMORY, ''))
    if not memory:
        return found
    fitting = tuple(gpu for gpu in found if abs(gpu.memory_gib - memory / 1024) < 0.05 * gpu.memory_gib)
    return fitting or (found if found else (Gpu('', round(memory / 1024, 1), None, ''),))


def _part(gpu: Gpu, part: Gpu) -> Gpu:
    """A MIG slice of a GPU whose product is known too."""
    return gpu._replace(memory_gib=part.memory_gib, slice=part.slice)


def _is_sliced(carrier: Component) -> bool:
    """Whether a device plugin gives it a part of a GPU's memory (HAMi's nvidia.com/gpumem)."""
    resources = carrier.settings.get('resources')
    held = resources.known_value if resources is not None else None
    sides = held.values() if isinstance(held, dict) else ()
    return any(str(key) in _SLICES for side in sides if isinstance(side, dict) for key in side)
