"""Custom resources that keep a pod's parts where no `containers` list shows them: which module reads which, and what it gives."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

from configaudit.extract.carriers.made import changed, renamed
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Process, Variable
from configaudit.extract.words import Word
from configaudit.model import Setting
from configaudit.parse.tree import Map, mapping, text
from configaudit.units import HOLE


def as_read(process: Process) -> Process:
    """The process as its container says it, complete: the operator adds no arguments."""
    return process._replace(partial='')


Amend = Callable[[Process], Process]


class Part(NamedTuple):
    """One pod of a resource, gathered from its fields."""

    owner: Owner
    spec: Map
    amend: Amend | None = as_read
    """What the fields say of the first container's process beyond the gathered container."""
    template: Map | None = None
    """The pod template around the spec, where there is one; of a resource its annotations, which a person notes version and GPU in."""


READERS: dict[tuple[str, str], tuple[str, str]] = {
    ('nvidia.com', 'DynamoGraphDeployment'): ('runners', 'dynamo_graph'),
    ('nvidia.com', 'DynamoComponentDeployment'): ('runners', 'dynamo_component'),
    ('ome.io', 'ServingRuntime'): ('runners', 'ome'),
    ('ome.io', 'ClusterServingRuntime'): ('runners', 'ome'),
    ('ome.io', 'InferenceService'): ('runners', 'ome'),
    ('inference.llmaz.io', 'BackendRuntime'): ('runners', 'llmaz'),
    ('inference.llmaz.io', 'Playground'): ('runners', 'playground'),
    ('apps.nvidia.com', 'NIMService'): ('runners', 'nim'),
    ('apps.nvidia.com', 'NIMPipeline'): ('runners', 'nim'),
    ('kubeai.org', 'Model'): ('model_resources', 'kubeai'),
    ('kaito.sh', 'Workspace'): ('model_resources', 'kaito'),
    ('kaito.sh', 'InferenceSet'): ('model_resources', 'kaito'),
    ('production-stack.vllm.ai', 'VLLMRuntime'): ('production_stack', 'vllm_runtime'),
    ('workload.serving.volcano.sh', 'ModelBooster'): ('model_resources', 'kthena'),
}
"""API group and kind -> the module beside this one and its function (owner, object) -> parts."""


def parts_of(owner: Owner, root: Map) -> Iterator[Part]:
    """The pods of a resource that this module's table names; nothing is called missing in them: an operator completes them."""
    group = (text(root, 'apiVersion') or '').partition('/')[0]
    found = READERS.get((group, owner.kind))
    if found is None:
        return
    reader: Callable[[Owner, Map], Iterator[Part]] = getattr(import_module('configaudit.extract.carriers.' + found[0]), found[1])
    annotations = mapping(root, 'metadata', 'annotations')
    noted = renamed(annotations, **{key: key for key in annotations if key.startswith('configaudit.io/')}) if annotations is not None else None
    for part in reader(owner._replace(partial=owner.partial or f'the operator of {owner.kind} completes it'), root):
        yield part._replace(template=changed(part.spec, metadata=changed(noted, annotations=noted)) if noted else None)


def joined(*words: Word | None, glue: str = ':') -> Word | None:
    """Several words that an operator puts together ('repository' and 'tag'); it stands where the last one does."""
    given = [word for word in words if word is not None and word.value]
    if not given:
        return None
    if len(given) == 1:
        return given[0]
    reason = next((word.reason for word in given if word.reason), '')
    return given[-1]._replace(value=glue.join(word.value for word in given), pure=False, reason=reason, locked='it is put together from several parts')


def with_image(process: Process, image: Word | None, unnamed: str) -> Process:
    """The process with the image that the fields give; `unnamed` says who names it where they give none."""
    settings, place = process.component.settings, process.component.place
    if image is None:
        return process._replace(image=Word(HOLE, place, False, unnamed), partial='')
    settings['image'] = Setting('image', image.value, image.place, 'explicit', '' if image.known else image.reason or 'not known', locked=image.locked)
    return process._replace(image=image, partial='')


def plain_variables(process: Process, variables: tuple[Variable, ...]) -> Process:
    """The process with more variables, which count over those of its container."""
    environment = (*process.environment, *variables)
    seen = {variable.name: variable for variable in environment}
    process.component.settings['env'] = Setting('env', seen, process.component.place)
    return process._replace(environment=environment)
