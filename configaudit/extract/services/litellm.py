"""LiteLLM's proxy configuration: how long its router waits and how often it tries, what stands behind it, and keys that stand in the file.

Sources: LiteLLM docs, Timeouts and config.yaml; litellm 1.110: router_core.py (num_retries: the OpenAI SDK's 2), completion_timeout.py (600 s for
chat when nothing is set; 6000 s in older releases). Its timeout is handed to httpx, where it is the longest silence (GAP), not a total.
"""

from collections.abc import Iterator

from configaudit.extract.process import Reading, Variable, nothing
from configaudit.extract.services.pool_drafts import component_of
from configaudit.extract.services.pool_files import tree_drafts
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.generation_routes import answers_shortly
from configaudit.knowledge.proxy_kinds import ROUTE
from configaudit.knowledge.service_kinds import LITELLM
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Seq, get, key_place, mapping, text
from configaudit.patterns import regex
from configaudit.places import Document
from configaudit.units import HOLE

_URL = regex(r'https?://(\[[^\]]+\]|[^/:?#\s]+)(?::(\d+))?')
_PRIVATE = regex(r'127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.')
_FROM_ENVIRONMENT = 'os.environ/'
_RETRIES = 2
_WAITS_S = 600
_OTHER_MODES = ('embedding', 'rerank', 'image_generation', 'audio_transcription', 'audio_speech', 'moderation')
_KEYS = (('general_settings', 'master_key'), ('general_settings', 'database_url'), ('router_settings', 'redis_password'), ('litellm_settings', 'cache_params', 'password'))
_WAITS = (('router_settings', 'timeout'), ('litellm_settings', 'request_timeout'))
_TRIES = (('router_settings', 'num_retries'), ('litellm_settings', 'num_retries'))


def is_proxy(root: Map) -> bool:
    """Whether a mapping is the configuration of LiteLLM's proxy."""
    models = root.get('model_list')
    return isinstance(models, Seq) and any(isinstance(model, Map) and 'litellm_params' in model for model in models)


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """The proxy, its route to the models, and the pool to its database."""
    reading = nothing()
    file = document.path.rpartition('/')[2]
    reading.components.extend(component_of(draft, file, f'{file}/{draft.key}', '', partial) for draft in tree_drafts(document, root))
    reading.components.append(_proxy(document, root, partial))
    reading.components.extend(_routes(document, root, partial))
    return reading


def read_values(document: Document, root: Map, partial: str) -> Reading:
    """The configuration that a chart's values hold."""
    inner = next((found for key in ('proxy_config', 'proxyConfig', 'config') if (found := mapping(root, key)) is not None and is_proxy(found)), None)
    return read_tree(document, inner, partial) if inner is not None else nothing()


def _proxy(document: Document, root: Map, partial: str) -> Component:
    file = document.path.rpartition('/')[2]
    place = key_place(document, root, 'model_list')
    keys = {}
    for path in _KEYS:
        word = word_of(document, get(root, *path))
        if word is not None and not word.value.startswith(_FROM_ENVIRONMENT):
            keys['_'.join(path[1:])] = Variable('_'.join(path[1:]), word, word.place)
    for number, (_, parameters) in enumerate(_models(root)):
        word = word_of(document, parameters.get('api_key'))
        if word is not None and not word.value.startswith(_FROM_ENVIRONMENT) and not _is_inside(text(parameters, 'api_base') or ''):
            keys[f'api_key {number}'] = Variable('api_key', word, word.place)
    return Component(LITELLM, file, f'{file}/litellm', place, {'env': Setting('env', keys, place)}, partial=partial)


def _is_inside(base: str) -> bool:
    """Whether a model's server is one of the own network, which takes any key that it was told: a bare name, a Service, a private address."""
    found = _URL.match(base)
    host = found[1].lower() if found is not None else ''
    return bool(host) and ('.' not in host or '.svc' in host or host.endswith(('.internal', '.local', '.lan')) or _PRIVATE.match(host) is not None)


def _models(root: Map) -> Iterator[tuple[Map, Map]]:
    for model in root['model_list']:
        parameters = mapping(model, 'litellm_params') if isinstance(model, Map) else None
        if parameters is not None:
            yield model, parameters


def _routes(document: Document, root: Map, partial: str) -> Iterator[Component]:
    """A route for the models of one timeout: most configurations have one for all."""
    groups: dict[tuple[str, str, str], list[tuple[Map, Map]]] = {}
    for model, parameters in _models(root):
        if _generates(model, parameters):
            key = tuple(text(parameters, name) or '' for name in ('timeout', 'stream_timeout', 'max_retries'))
            groups.setdefault(key, []).append((model, parameters))  # type: ignore[arg-type]
    file = document.path.rpartition('/')[2]
    for number, models in enumerate(groups.values()):
        model, parameters = models[0]
        place = key_place(document, parameters, 'api_base' if 'api_base' in parameters else 'model') if parameters else key_place(document, model, 'litellm_params')
        settings = {'product': Setting('product', 'litellm', place), 'path': Setting('path', '/v1/chat/completions', place, 'default')}
        settings['read_timeout_s'] = _waits(document, root, parameters)
        settings['attempts'] = _tries(document, root)
        name = text(model, 'model_name') or file
        settings['answers'] = Setting('answers', f'the model {name}', key_place(document, model, 'model_name') if 'model_name' in model else place)
        bases = [word for _, own in models if (word := word_of(document, own.get('api_base'))) is not None and not word.value.startswith(_FROM_ENVIRONMENT)]
        hosts = [found for word in bases if (found := _URL.match(word.value)) is not None and HOLE not in found[1]]
        if hosts:
            settings['target'] = Setting('target', bases[0].value, bases[0].place)
            settings['targets'] = Setting('targets', tuple(dict.fromkeys((found[1], found[2] or '') for found in hosts)), bases[0].place)
        yield Component(ROUTE, f'litellm {name}', f'{file}/litellm/routes/{number}', place, settings, partial=partial)


def _generates(model: Map, parameters: Map) -> bool:
    mode = get(model, 'model_info', 'mode')
    name = text(parameters, 'model') or ''
    return (mode is None or text(mapping(model, 'model_info') or model, 'mode') not in _OTHER_MODES) and not answers_shortly(name.rpartition('/')[2])


def _waits(document: Document, root: Map, parameters: Map) -> Setting:
    """The silence that is allowed before the first token: of a stream `stream_timeout`, else `timeout`, else what holds for all."""
    words = [(parameters, 'stream_timeout'), (parameters, 'timeout'), *((mapping(root, path[0]), path[1]) for path in (('router_settings', 'stream_timeout'), *_WAITS))]
    for node, key in words:
        word = word_of(document, node.get(key)) if node is not None else None
        if word is not None:
            return setting_of('read_timeout_s', _known(word), 's', {'read_timeout_s': (0,)})
    place = key_place(document, root, 'litellm_settings' if 'litellm_settings' in root else 'model_list')
    return Setting('read_timeout_s', _WAITS_S, place, 'default', source='litellm 1.110, completion_timeout.py; older releases: 6000 s')


def _tries(document: Document, root: Map) -> Setting:
    for part, key in _TRIES:
        node = mapping(root, part)
        word = word_of(document, node.get(key)) if node is not None else None
        if word is not None:
            return setting_of('attempts', _known(word), 'count')
    return Setting('attempts', _RETRIES, key_place(document, root, 'model_list'), 'default', source='litellm 1.110, router_core.py')


def _known(word: Word) -> Word:
    if word.value.startswith(_FROM_ENVIRONMENT):
        return word._replace(value=HOLE, pure=False, reason=f'it is taken from ${word.value.removeprefix(_FROM_ENVIRONMENT)}')
    return word
