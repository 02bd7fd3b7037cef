"""KServe InferenceServices whose container is a `model`: what is written of it, the serving runtime supplies the rest.

Source: KServe v1beta1 API, PredictorSpec, ModelSpec (an inlined Container) and the predictors of single frameworks.
"""

from collections.abc import Iterator

from configaudit.extract.carriers.made import changed, listed
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.parse.tree import Map, mapping, text
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


def with_runtime_image(process: Process, root: Map) -> Process:
    """Without an image of its own, a container that a vLLM runtime runs has one that nobody sees."""
    formats = (text(root, 'spec', 'predictor', 'model', 'modelFormat', 'name') or '').lower()
    legacy = mapping(root, 'spec', 'predictor', 'huggingface') is not None
    if process.image is not None or not (formats in _VLLM_FORMATS or legacy):
        return process
    image = Word(HOLE, process.component.place, False, 'its serving runtime names the image')
    return process._replace(image=image, arguments=tuple(_for_engine(process.arguments or ())))


def _for_engine(arguments: tuple[Word, ...]) -> Iterator[Word]:
    """The arguments that the model server passes on."""
    own = False
    for word in arguments:
        name = word.value.partition('=')[0].replace('_', '-')
        own = name in _SERVER_OPTIONS if word.value.startswith('-') else own
        if not own:
            yield word
