"""Values of Helm charts: containers are told by their image and arguments, whatever the chart.

Values come in layers, and templates add to them: what is not here may stand elsewhere, so nothing is called missing. Charts whose
templates are known (production-stack, llm-d modelservice) have modules of their own.
"""

from collections.abc import Iterator
from functools import partial as bind
from posixpath import dirname, join

from configaudit.extract.carriers.values_llmd import is_modelservice, read_modelservice
from configaudit.extract.carriers.values_pod import Part, image_of, is_off, read_part, words_of
from configaudit.extract.carriers.values_recipes import flag_words, recipe_parts
from configaudit.extract.carriers.values_secrets import read_secrets
from configaudit.extract.carriers.values_stack import is_stack, read_stack
from configaudit.extract.charts import lookup
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.images import identify
from configaudit.model import Setting
from configaudit.parse.tree import Map, Scalar, Seq, mapping, plain, text
from configaudit.patterns import regex
from configaudit.places import Document
from configaudit.units import HOLE

_CHEAP = regex(
    rb'vllm|sglang|text-generation-inference|tgi|ollama|tritonserver|litellm|llama|lmdeploy|trtllm|tensorrt|torchserve|vLLM|SGLang|llm-d|nim/|VLLM'
)
_ARGUMENTS = (
    'args', 'extraArgs', 'extra_args', 'additionalArgs', 'extraArguments', 'additionalArguments', 'arguments', 'serverArgs', 'engineArgs',
    'vllmArgs', 'sglangArgs', 'containerArgs', 'extraCmdArgs', 'cmdArgs', 'extraFlags', 'modelArgs',
)  # fmt: skip
_BESIDE = ('model', 'vllm', 'sglang', 'server', 'engine')
"""Mappings beside the one image of a chart that hold the arguments of what it runs."""
_NAME = regex(r'[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*')
_COMMANDS = ('command', 'cmd', 'customCommand')
_GATEWAYS = regex(r'(?:^|/)(?:litellm[\w-]*|lmstack-router|vllm-router|sgl-router|open-webui)(?=[:@]|$)')
_SERVERS = {'vllm': ('vllm', 'serve'), 'sglang': ('python3', '-m', 'sglang.launch_server')}
_OTHERS = ('apiVersion', 'jobs', 'suite')
"""Keys of manifests and workflows; a list of `tests` is a helm-unittest suite."""
_DEPTH = 7
_NAMED = 'chart values'


def is_values(document: Document, root: Map) -> bool:
    """Whether a document holds chart values with an inference server among them."""
    if _CHEAP.search(document.parsed) is None or any(key in root for key in _OTHERS) or isinstance(root.get('tests'), Seq):
        return False
    return is_stack(root) or is_modelservice(root) or any(True for _ in _every(document, root))


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """The containers that values describe, objects among the values, credentials of a known shape."""
    if document.template is not None and document.values is None:
        document.values = lookup([(document, root)])  # charts render strings among their values with the values themselves
    reading = nothing()
    known = 'servingEngineSpec' if is_stack(root) else ''
    if known:
        reading.add(read_stack(document, root))
    if is_modelservice(root):
        reading.add(read_modelservice(document, root))
    for part in _every(document, root):
        if known and part.name.startswith(known):
            continue
        made = read_part(document, part)
        made.processes[:] = [process._replace(settle=bind(_settle, text(mapping(part.holder, 'image'), 'tag'))) for process in made.processes]
        reading.add(made)
    _objects(document, root, reading, partial)
    read_secrets(document, root, reading)
    return reading


def _every(document: Document, root: Map) -> Iterator[Part]:
    yield from recipe_parts(document, root)
    yield from _parts(document, root, (), _DEPTH)


def _objects(document: Document, root: Map, reading: Reading, partial: str) -> None:
    """Whole manifests in a list: `extraObjects`, `extraResources`, `extraManifests`."""
    from configaudit.extract.carriers.kubernetes import is_kubernetes, read_object

    for value in root.values():
        for item in value if isinstance(value, Seq) else ():
            if is_kubernetes(item):
                reading.add(read_object(document, item, partial))


def _parts(document: Document, node: Map, path: tuple[str, ...], depth: int) -> Iterator[Part]:
    """Every container below a mapping whose image is an inference server or a gateway in front of some."""
    if path and is_off(node):
        return
    part = _part(document, node, path)
    if part is not None:
        yield part
    for key, value in node.items():
        if isinstance(value, Map) and depth and key != 'image':
            yield from _parts(document, value, (*path, key), depth - 1)
        elif isinstance(value, Seq) and depth and key not in ('containers', 'initContainers') and key not in _ARGUMENTS:
            for number, item in enumerate(value[:200]):
                if isinstance(item, Map) and 'apiVersion' not in item:
                    yield from _parts(document, item, (*path, key, text(item, 'name') or str(number)), depth - 1)


def _part(document: Document, node: Map, path: tuple[str, ...]) -> Part | None:
    inner = node.get('image')
    beside = 'repository' in node and isinstance(node.get('tag'), Scalar)
    image = image_of(document, inner, node.get('tag')) if isinstance(inner, Scalar | Map) else image_of(document, node) if beside else None
    command, arguments = _list(document, node, _COMMANDS), _list(document, node, _ARGUMENTS)
    for child in (mapping(node, key) for key in _BESIDE if not path):
        if child is not None and not is_off(child):
            arguments = arguments or _list(document, child, _ARGUMENTS)
    if isinstance(inner, Map):
        command, arguments = command or _list(document, inner, _COMMANDS), arguments or _list(document, inner, _ARGUMENTS)
    arguments = arguments or _mapped(document, node)
    name = '.'.join(path) or document.path.rpartition('/')[2]
    served = image is not None and (identify(image.value).engine or _GATEWAYS.search(image.value))
    if not served:
        return _catalogued(document, node, arguments, name)
    if isinstance(inner, Scalar) and command is None and arguments is None and 'resources' not in node and 'tag' not in node:
        return None  # a name of an image among others: nothing says that it runs
    return Part(name, _NAMED, node, image, command, arguments)


def _list(document: Document, node: Map, keys: tuple[str, ...]) -> tuple[Word, ...] | None:
    """The words of every list under one of the keys."""
    found = [node[key] for key in keys if isinstance(node.get(key), Seq) and node[key]]
    words = words_of(document, (child for child in (item for seq in found for item in seq) if isinstance(child, Scalar)))
    return words or None


def _mapped(document: Document, node: Map) -> tuple[Word, ...] | None:
    """Flags as a mapping of names to values; what a false one becomes differs from chart to chart."""
    flags = next((found for key in _ARGUMENTS if (found := mapping(node, key)) is not None), None)
    named = [key for key in flags if _NAME.fullmatch(key) and isinstance(flags[key], Scalar) and plain(flags[key]) not in (False, None)] if flags else []
    return tuple(word for key in named for word in flag_words(document, flags or node, key)) or None


def _catalogued(document: Document, node: Map, arguments: tuple[Word, ...] | None, name: str) -> Part | None:
    """`{engine: VLLM, url: hf://..., args: [...]}`, an entry of KubeAI's catalogue of models."""
    engine = word_of(document, node.get('engine'))
    if engine is None or engine.value.lower() not in _SERVERS or arguments is None or text(node, 'url') is None:
        return None
    url = word_of(document, node['url'])
    start = Word('', engine.place, False, locked='KubeAI writes it')
    command = tuple(start._replace(value=value) for value in _SERVERS[engine.value.lower()])
    model = url._replace(value=url.value.partition('://')[2].partition('?')[0], pure=False) if url is not None else None
    shown = (model,) if model is not None and engine.value.lower() == 'vllm' else ()
    return Part(name, _NAMED, node, None, (*command, *shown), arguments)


def _settle(tag: str | None, process: Process, stores: Stores) -> Process:
    """A tag that is left out of values.yaml is the chart's appVersion, where its template says so and Chart.yaml lies beside."""
    image, document = process.image, process.component.place.document
    if image is None or tag or not image.value.endswith(':' + HOLE) or document.path.rpartition('/')[2] != 'values.yaml':
        return process
    chart = stores.files.at(join(dirname(document.path), 'Chart.yaml'))
    names = ('deployment', 'statefulset')
    templates = (stores.files.at(join(dirname(document.path), 'templates', f'{name}.yaml')) for name in names)
    version = _APP_VERSION.search(chart.value) if chart is not None else None
    if version is None or not any(found is not None and 'Chart.AppVersion' in found.value for found in templates):
        return process
    whole = image._replace(value=image.value.removesuffix(HOLE) + version[1], reason='', locked='it is the appVersion of the chart')
    process.component.settings['image'] = Setting('image', whole.value, whole.place, locked=whole.locked)
    return process._replace(image=whole)


_APP_VERSION = regex(r'''(?m)^appVersion:\s*["']?([\w.+-]+)''')
