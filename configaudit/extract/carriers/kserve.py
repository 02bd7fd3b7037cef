"""KServe InferenceServices whose container is a `model`: what is written of it, the serving runtime supplies the rest.

Source: KServe v1beta1 API, PredictorSpec, ModelSpec (an inlined Container) and the predictors of single frameworks.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from configaudit.extract.carriers.made import changed, listed
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Data, Keys, Process, Reading, Variable, nothing
from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, items, mapping, maps, text
from configaudit.units import HOLE

RUNTIME = 'KServe merges a serving runtime into it'
_COMPONENTS = ('predictor', 'transformer', 'explainer')
_MODELS = ('model', 'huggingface', 'triton', 'pytorch', 'tensorflow', 'onnx', 'sklearn', 'xgboost', 'lightgbm', 'paddle', 'pmml')
_VLLM_FORMATS = frozenset(('huggingface', 'vllm'))
"""Model formats whose runtimes pass their arguments on to vLLM."""
_SERVER_OPTIONS = frozenset(
    ['--model-name', '--model-dir', '--model-id', '--model-revision', '--tokenizer-revision', '--backend', '--task', '--max-length', '--disable-lower-case', '--disable-special-tokens', '--return-token-type-ids', '--return-probabilities', '--return-raw-logits', '--predictor-host', '--http-port', '--grpc-port', '--enable-grpc', '--workers', '--max-threads', '--max-asyncio-workers', '--enable-docs-url', '--enable-latency-logging', '--configure-logging', '--log-config-file', '--access-log-format']
)
"""Options of KServe's Hugging Face server itself (python/huggingfaceserver/__main__.py, kserve/model_server.py)."""


def with_containers(root: Map) -> Map | None:
    """The object with each `model` among the containers of its pod; None when it has no model."""
    spec = mapping(root, 'spec')
    found = {name: model for name in _COMPONENTS if (model := _model(mapping(spec, name))) is not None}
    if spec is None or not found:
        return None
    parts = {name: _with_container(spec[name], key) for name, key in found.items()}
    return changed(root, spec=changed(spec, **parts))


def _model(component: Map | None) -> str | None:
    return next((key for key in _MODELS if mapping(component, key) is not None), None)


def _with_container(component: Map, key: str) -> Map:
    model = component[key]
    container = model if 'name' in model else changed(model, name=component.names[key])
    return changed(component, containers=listed(model, container, *component.get('containers', ())))


def with_runtime(process: Process, root: Map) -> Process:
    """A container that a serving runtime completes: with the runtime's own words where the run shows it, else with an image that nobody sees."""
    formats = (text(root, 'spec', 'predictor', 'model', 'modelFormat', 'name') or '').lower()
    legacy = mapping(root, 'spec', 'predictor', 'huggingface') is not None
    name = text(root, 'spec', 'predictor', 'model', 'runtime')
    if name and _is_predictor(process):
        process = process._replace(settle=partial(_merged, name, process))
    if process.image is not None or not (formats in _VLLM_FORMATS or legacy):
        return process
    image = Word(HOLE, process.component.place, False, 'its serving runtime names the image')
    return process._replace(image=image, arguments=tuple(_for_engine(process.arguments or ())))


def _is_predictor(process: Process) -> bool:
    return process.component.identity.endswith('/spec.predictor/containers/' + process.component.name)


def _merged(name: str, written: Process, process: Process, stores: Any) -> Process:
    """The runtime's container and the service's: of image and command the service's own count, its arguments follow the runtime's.

    Source: kserve pkg/controller/v1beta1/inferenceservice/utils/utils.go, MergeRuntimeContainers.
    """
    data = stores.find('ServingRuntime', process.component.scope, name) or stores.find('ClusterServingRuntime', '', name)
    command, arguments = (_listed(data, key) for key in ('command', 'args'))
    if data is None or not (command or written.entrypoint):
        return process
    own = written.arguments or ()
    if command:  # what is missing is added to the service
        command = (command[0]._replace(place=written.component.place, pure=False), *command[1:])
    environment = [Variable(key[4:], word, word.place) for key, word in data.values.items() if key.startswith('env/')]
    return process._replace(
        image=written.image or data.values.get('image'), entrypoint=written.entrypoint or command, arguments=(*_not_overridden(arguments, own), *own),
        environment=(*environment, *written.environment), partial=data.partial, keys=None if own else Keys(None, '-', False), settle=None,
    )  # fmt: skip


def _not_overridden(arguments: tuple[Word, ...], own: tuple[Word, ...]) -> Iterator[Word]:
    """The runtime's arguments without those that the service gives again, which is how it overrides them: of one option the last counts."""
    given = {_flag(word) for word in own if word.value.startswith('--')}
    skipping = False
    for word in arguments:
        skipping = _flag(word) in given if word.value.startswith('-') else skipping
        if not skipping:
            yield word


def _flag(word: Word) -> str:
    return word.value.partition('=')[0].replace('_', '-')


def _listed(data: Data | None, key: str) -> tuple[Word, ...]:
    return tuple(word for name, word in data.values.items() if name.startswith(key + '/')) if data is not None else ()


def runtime(owner: Owner, root: Map) -> Reading:
    """A serving runtime as what an InferenceService that names it takes from it."""
    container = next(maps(root, 'spec', 'containers'), None)
    reading = nothing()
    if container is not None and (text(root, 'apiVersion') or '').startswith('serving.kserve.io/'):
        reading.data.append(Data(owner.kind, owner.namespace, owner.name, dict(_container(owner, container)), owner.partial))
    return reading


def _container(owner: Owner, container: Map) -> Iterator[tuple[str, Word]]:
    document = owner.document
    image = word_of(document, container.get('image'))
    if image is not None:
        yield 'image', image
    for key in ('command', 'args'):
        for number, node in enumerate(items(container, key)):
            word = word_of(document, node)
            if word is not None:
                yield f'{key}/{number}', word
    for entry in maps(container, 'env'):
        word = word_of(document, entry.get('value'))
        if word is not None:
            yield f'env/{text(entry, "name")}', word


USES = 'InferenceService of '
"""Before a runtime's name: the kind of the note that a service in the run uses it."""


def used_runtime(owner: Owner, root: Map) -> Data | None:
    """The note that an InferenceService leaves about the runtime that it names."""
    name = text(root, 'spec', 'predictor', 'model', 'runtime')
    return Data(USES, owner.namespace, name, {}) if name else None


def settled_runtime(process: Process) -> Process:
    """A runtime's own process: where services of the run use it, what they leave unset is asked of them."""
    return process._replace(settle=_settled_runtime)


def _settled_runtime(process: Process, stores: Any) -> Process:
    name = process.component.identity.split('/containers/')[0].split('/')
    used = any(stores.every(USES, part) for part in name[1:])
    return process._replace(partial=process.partial or 'InferenceServices add arguments to it') if used else process


def _for_engine(arguments: tuple[Word, ...]) -> Iterator[Word]:
    """The arguments that the model server passes on."""
    own = False
    for word in arguments:
        name = word.value.partition('=')[0].replace('_', '-')
        own = name in _SERVER_OPTIONS if word.value.startswith('-') else own
        if not own:
            yield word
