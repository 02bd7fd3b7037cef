"""What a chart's values say of one container: a pod in which only that is known, as the templates supply the rest."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from configaudit.extract.carriers.kubernetes import read_workload
from configaudit.extract.carriers.pods import Owner, environment
from configaudit.extract.process import Process, Reading, Variable
from configaudit.extract.words import Word, word_of
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Scalar, Seq, key_place, mapping, place_of, text
from configaudit.places import Document
from configaudit.units import HOLE

SUPPLIED = "the chart's templates supply the rest"
ADDS = 'the chart may add to it'
_POD_KEYS = ('nodeSelector', 'affinity')
_LISTS = ('env', 'extraEnv', 'extraEnvVars', 'envVars', 'environment', 'environmentVariables', 'extraEnvironment')
_COUNTS = ('replicaCount', 'replicas')


class Part(NamedTuple):
    """One container that values describe."""

    name: str
    """Its keys in the values, which is what it is called."""
    kind: str
    """The kind of object that the chart makes of it; 'chart values' where that is not known."""
    holder: Map
    """The mapping that describes it."""
    image: Word | None
    command: tuple[Word, ...] | None = None
    arguments: tuple[Word, ...] | None = None
    unseen: str = ADDS
    """Why the command line may hold more than is shown, or ''."""
    form: str = 'yaml_item'
    variables: tuple[Variable, ...] = ()
    """What the chart makes of other values."""


def read_part(document: Document, part: Part) -> Reading:
    """The workload, pod and container of a part, and its process."""
    container = _container(part.holder)
    spec = Map(part.holder.start, part.holder.flow)
    for key in _POD_KEYS:
        if mapping(part.holder, key) is not None:
            spec[key] = part.holder[key]
    if isinstance(part.holder.get('nodeSelectorTerms'), Seq) and 'affinity' not in spec:
        spec['affinity'] = _nested(part.holder, 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms')
    spec['containers'] = Seq(part.holder.start, part.holder.flow)
    spec['containers'].append(container)
    spec.names = dict(part.holder.names)
    owner = Owner(document, part.kind, '', part.name, '', SUPPLIED)
    reading = read_workload(owner, part.holder, [(owner, spec, spec)])
    _adapt(document, part, reading)
    return reading


def _nested(holder: Map, *path: str) -> Map:
    """A value of the holder below the mappings in which a pod has it."""
    value = holder[path[-1]]
    for key in reversed(path):
        outer = Map(holder.start, holder.flow)
        outer[key] = value
        outer.names = {key: holder.names[path[-1]]}
        value = outer
    return outer


def _container(holder: Map) -> Map:
    """The mapping as a container: only what means the same in every chart."""
    item = Map(holder.start, holder.flow)
    resources = mapping(holder, 'resources')
    if resources is not None:
        item['resources'] = resources
    item.names = dict(holder.names)
    return item


def _adapt(document: Document, part: Part, reading: Reading) -> None:
    """Give the components what the values say in their own way."""
    process = reading.processes[0]
    for component in reading.components:
        component.slots = None  # keys of a pod mean nothing here
    container = process.component
    container.name = part.name
    container.identity = f'{part.kind}/{part.name}/container'
    variables = tuple({found.name: found for found in (*part.variables, *variables_of(document, part.holder))}.values())
    container.settings['env'] = Setting('env', {variable.name: variable for variable in variables}, container.place)
    words = (*(part.command or ()), *(part.arguments or ()))
    container.settings['words'] = Setting('words', words, container.place)
    if part.image is not None:
        reason = '' if part.image.known else part.image.reason or 'not known'
        container.settings['image'] = Setting('image', part.image.value, part.image.place, reason=reason, locked=part.image.locked)
    _replicas(document, part.holder, reading.components[0])
    reading.processes[0] = Process(
        container, part.image, part.command, part.arguments, variables, process.imported, partial=part.unseen, form=part.form,
    )  # fmt: skip


def _replicas(document: Document, holder: Map, owner: Component) -> None:
    for key in _COUNTS:
        count = text(holder, key)
        if count is not None and count.isdigit():
            owner.settings['replicas'] = Setting('replicas', int(count), place_of(document, holder[key]))
            return


def variables_of(document: Document, holder: Map) -> Iterator[Variable]:
    """The variables under any of the usual keys, a list as in a pod or a mapping of names."""
    for key in _LISTS:
        node = holder.get(key)
        if isinstance(node, Seq):
            shim = Map(holder.start, holder.flow)
            shim['env'] = node
            yield from environment(document, shim)[0]
        elif isinstance(node, Map):
            yield from _named(document, node)


def _named(document: Document, node: Map) -> Iterator[Variable]:
    for name, child in node.items():
        word = word_of(document, child)
        if word is not None and (word.value or child.style):
            yield Variable(name, word, key_place(document, node, name))


def words_of(document: Document, nodes: Iterable[Any]) -> tuple[Word, ...]:
    """The items of a list as words."""
    return tuple(word for node in nodes if (word := word_of(document, node)) is not None)


def is_off(node: Mapping[str, Any]) -> bool:
    """Whether a part of the values is not in force: `enabled: false` and its like."""
    return any((text(node, key) or '').lower() == 'false' for key in ('enabled', 'enable', 'create', 'deploy', 'install'))


def image_of(document: Document, node: Any, tag: Any = None) -> Word | None:
    """The reference that a chart puts together from `repository` and `tag`, at the place of the tag; of a string, itself."""
    if isinstance(node, Scalar):
        whole = word_of(document, node)
        return _tagged(document, whole, tag) if whole is not None and whole.value else None
    repository = next((found for key in ('repository', 'name', 'image') if (found := word_of(document, node.get(key))) and found.value), None)
    if repository is None:
        return None
    registry = text(node, 'registry') or text(node, 'hub')
    base = repository._replace(value=f'{registry}/{repository.value}') if registry else repository
    digest = word_of(document, node.get('digest'))
    if digest is not None and digest.value.startswith('sha256:'):
        return Word(f'{base.value}@{digest.value}', digest.place, False, locked='it is put together from several values')
    return _tagged(document, base, node.get('tag'))


def _tagged(document: Document, base: Word, node: Any) -> Word:
    if '@' in base.value or ':' in base.value.rpartition('/')[2]:
        return base
    tag = word_of(document, node) if text(node) else None
    if tag is None:
        return Word(f'{base.value}:{HOLE}', base.place, False, 'its tag is not among these values')
    return Word(f'{base.value}:{tag.value}', tag.place, False, tag.reason, 'it is put together from several values')
