"""KServe's LLMInferenceService: what it adds to the command line that its presets and base configurations hold.

Source: kserve config/llmisvcconfig/*.yaml, pkg/controller/v1alpha2/llmisvc/config_merge.go.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from configaudit.extract.carriers.interpolation import split
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Data, Keys, Process, Reading, nothing
from configaudit.extract.words import Word, word_of
from configaudit.model import Setting
from configaudit.parse.tree import Map, key_place, mapping, maps, text
from configaudit.places import Document, Place
from configaudit.units import HOLE

PRESETS = 'KServe merges its presets into it'
_ALWAYS = (('tensor', '--tensor-parallel-size'),)
_MULTI_NODE = (('data', '--data-parallel-size'), ('dataLocal', '--data-parallel-size-local'), ('pipeline', '--pipeline-parallel-size'))
"""Fields of `parallelism` and the flags that the presets make of them; all but the first only with workers."""
_PRESET = 'kserve-config-llm-template'
_PRESET_NAMESPACE = 'kserve'


def with_preset(document: Document, root: Map, process: Process) -> Process:
    """The main container of a service without a command: `vllm serve` with the options that the service adds; the router's own is a scheduler."""
    spec = mapping(root, 'spec')
    component = process.component
    if process.entrypoint is not None or component.name != 'main' or spec is None or '/spec.router.' in component.identity:
        return process
    holder = mapping(spec, 'prefill') if '/spec.prefill.' in component.identity else spec
    more = next((variable.value for variable in process.environment if variable.name == 'VLLM_ADDITIONAL_ARGS'), None)
    own = (*(_split(more) if isinstance(more, Word) else ()), *(process.arguments or ()))
    words = (*_parallel(document, holder or spec), *own)
    if not words or (not own and component.identity.endswith('worker/containers/main')):
        return process  # a worker repeats what its leader is told
    place = words[0].place
    program = (Word('vllm', place, False), Word('serve', place, False), Word(HOLE, place, False, 'it stands in the volume that KServe mounts'))
    references = tuple(name for reference in maps(spec, 'baseRefs') if (name := text(reference, 'name')))
    alone = mapping(spec, 'prefill') is None and mapping(spec, 'worker') is None
    return process._replace(
        entrypoint=program[:2], arguments=(program[2], *words), partial=PRESETS, keys=None if process.arguments else Keys(None, '-', False),
        settle=partial(_with_image, (*((_PRESET,) if alone else ()), *references), place),
    )  # fmt: skip


def _split(text: Word) -> tuple[Word, ...]:
    """The words of a variable; of folded text none is taken out, since a line end that is left would end the command."""
    words = split(text, {})
    outer = text.place.document.outer
    if outer is None or '\n' not in outer.text:
        return words
    return tuple(word._replace(locked='the text is folded over several lines') for word in words)


def _parallel(document: Document, holder: Map) -> Iterator[Word]:
    parallelism = mapping(holder, 'parallelism')
    if parallelism is None:
        return
    for field, flag in (*_ALWAYS, *(_MULTI_NODE if 'worker' in holder else ())):
        value = word_of(document, parallelism.get(field))
        if value is not None:
            yield from (Word(flag, key_place(document, parallelism, field)), value)


def _with_image(references: tuple[str, ...], place: Place, process: Process, stores: Any) -> Process:
    """The image that the last of the configurations in the run names, unless the service names one."""
    if process.image is not None:
        return process
    scopes = (process.component.scope, _PRESET_NAMESPACE)
    found = [data for name in references for scope in scopes if (data := stores.find('LLMInferenceServiceConfig', scope, name)) is not None]
    image = next((data.values['image'] for data in reversed(found) if 'image' in data.values), None)
    if image is None:
        return process._replace(image=Word(HOLE, place, False, 'its preset names the image'))
    process.component.settings.setdefault('image', Setting('image', image.value, image.place, 'inherited'))
    return process._replace(image=image._replace(use=place))


def configuration(owner: Owner, root: Map) -> Reading:
    """An LLMInferenceServiceConfig as what a service that names it takes from it."""
    reading = nothing()
    container = next((item for item in maps(root, 'spec', 'template', 'containers') if text(item, 'name') == 'main'), None)
    image = word_of(owner.document, container.get('image')) if container is not None else None
    reading.data.append(Data(owner.kind, owner.namespace, owner.name, {'image': image} if image is not None else {}, owner.partial))
    return reading
