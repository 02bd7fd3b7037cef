"""SkyPilot tasks: `setup` and `run` are scripts, `accelerators` names the GPUs, `envs` and `secrets` are their variables.

Source: SkyPilot documentation, reference/yaml-spec. A variable that is null is given on the command line.
"""

from collections.abc import Iterator

from configaudit import units
from configaudit.extract.process import Nested, Process, Reading, Variable, nothing
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.carrier_kinds import SKY_TASK
from configaudit.knowledge.gpus import lookup
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Scalar, Seq, get, items, key_place, mapping, place_of, plain, text
from configaudit.patterns import regex
from configaudit.places import Document
from configaudit.units import HOLE

_BESIDE = ('resources', 'service', 'num_nodes', 'envs', 'secrets', 'file_mounts', 'workdir', 'pool')
_SCRIPTS = ('setup', 'run')
_CONTAINERS = regex(r'\b(?:docker|podman|nerdctl)\s+run\b')


def is_task(root: Map) -> bool:
    """Whether a document is a task: scripts beside what they need."""
    return any(isinstance(root.get(key), Scalar) for key in _SCRIPTS) and any(key in root for key in _BESIDE) and 'apiVersion' not in root


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """The task, its process, and scripts that start containers as documents of their own."""
    reading = nothing()
    name = text(root, 'name') or document.path.rpartition('/')[2]
    key = 'run' if 'run' in root else 'setup'
    component = Component(SKY_TASK, name, f'sky/{name}', key_place(document, root, key), {}, scope=document.path, partial=partial)
    variables = tuple(_variables(document, root))
    scripts = [word for key in _SCRIPTS if (word := word_of(document, root.get(key))) is not None and word.value.strip()]
    image = _image(document, root)
    settings = component.settings
    settings['env'] = Setting('env', {variable.name: variable for variable in variables}, component.place)
    settings['words'] = Setting('words', tuple(scripts), component.place)
    if image is not None:
        settings['image'] = Setting('image', image.value, image.place, reason=image.reason, locked='it is an image_id')
    _accelerators(document, root, settings)
    reading.components.append(component)
    reading.processes.append(Process(component, image, None, tuple(scripts), variables, shell=True, partial=partial, syntax='shell', form='shell_word'))
    reading.nested.extend(Nested('task.sh', word) for word in scripts if _CONTAINERS.search(word.value))
    return reading


def _variables(document: Document, root: Map) -> Iterator[Variable]:
    for key in ('envs', 'secrets'):
        held = mapping(root, key)
        for name, node in held.items() if held is not None else ():
            place = key_place(document, held or root, name)
            word = word_of(document, node) if text(node) is not None else None
            yield Variable(name, word or Word(HOLE, place, False, f'{name} is given on the command line'), place)


def _image(document: Document, root: Map) -> Word | None:
    """`image_id: docker:REFERENCE`; machine images say nothing of what runs."""
    word = word_of(document, get(root, 'resources', 'image_id'))
    if word is None or not word.value.startswith('docker:'):
        return None
    return word._replace(value=word.value.removeprefix('docker:'), place=word.place.part(7, len(word.value)) if word.pure else word.place)


def _accelerators(document: Document, root: Map, settings: dict[str, Setting]) -> None:
    """`H100:8`, or a list or mapping of which any one is taken; `any_of` and `ordered` list whole resources."""
    resources = mapping(root, 'resources')
    if resources is None:
        return
    options = [resources, *(item for key in ('any_of', 'ordered') for item in items(resources, key) if isinstance(item, Map))]
    named = [(option, option['accelerators']) for option in options if 'accelerators' in option]
    pairs = [pair for _, node in named for pair in _pairs(node)]
    if not pairs:
        return
    place = place_of(document, named[0][1])
    products = tuple(dict.fromkeys(product for product, _ in pairs))
    counts = tuple(dict.fromkeys(count for _, count in pairs))
    one = len(products) == 1 and HOLE not in products[0]
    settings['gpu_product'] = Setting('gpu_product', products[0] if one else None, place, reason='' if one else 'any of several', candidates=() if one else products)
    reason = '' if len(counts) == 1 and counts[0] is not None else 'the number of GPUs is one of several'
    if (text(root, 'num_nodes') or '1') != '1':
        reason = 'the task runs on several nodes'
    if any(lookup(product) for product in products):
        settings['gpu_resource'] = Setting('gpu_resource', 'nvidia.com/gpu', place)
    settings['gpu_limit'] = Setting('gpu_limit', counts[0] if not reason else None, place, reason=reason)


def _pairs(node: object) -> Iterator[tuple[str, int | None]]:
    if isinstance(node, Map):
        for name, count in node.items():
            product, _, number = name.partition(':')
            yield product, units.integer(plain(count)) or units.integer(number) or 1
    elif isinstance(node, Seq):
        for item in node:
            yield from _pairs(item)
    elif isinstance(node, Scalar) and text(node) is not None:
        product, _, number = node.value.partition(':')
        yield product.strip(), units.integer(number.strip()) if number else 1
