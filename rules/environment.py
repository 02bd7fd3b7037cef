"""Rules for environment variables in pod specs: what Kubernetes expands, and what it leaves as it stands."""

import re
from collections.abc import Iterator

from configaudit.knowledge.images import identify
from configaudit.model import Component, NotApplicable, Problem, Unknown, rule
from configaudit.patterns import regex

from .serving import AS_WRITTEN, is_gateway, object_kind

_DOC = 'Kubernetes API reference, EnvVar.value'
_WHOLE = regex(r'\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))')
_IN_PATH = regex(r'(?:^|:)\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))(?=[:/]|$)')
_SUBSTITUTED = regex(
    r'^[ \t-]*["\']?(?:name|namespace|image|host|hosts|key|replicas|hostname|cluster|region|size|app|bucket|volumeHandle|server|\w+Name)["\']?:[ \t]*[^\n#$]*\$\{?[A-Za-z_]',
    re.MULTILINE,
)
"""A document that writes variables where Kubernetes never expands any: a program fills it in before it is applied."""
_REFERENCE = regex(r'(\$+)\(([A-Za-z_][\w.-]*)\)')
_INJECTED = regex(r'.*_SERVICE_(HOST|PORT)(_\w+)?|.*_PORT(_\d+_(TCP|UDP)(_\w+)?)?|LWS_\w+|KUBERNETES_\w+')
_SHELLS = frozenset(('sh', 'bash', 'ash', 'dash', 'zsh'))
_OLLAMA_SERVER_ONLY = frozenset(
    ('OLLAMA_NUM_PARALLEL', 'OLLAMA_MAX_LOADED_MODELS', 'OLLAMA_MAX_QUEUE', 'OLLAMA_FLASH_ATTENTION', 'OLLAMA_KV_CACHE_TYPE', 'OLLAMA_SCHED_SPREAD', 'OLLAMA_GPU_OVERHEAD')
)
"""Variables that only the server reads; clients have a KEEP_ALIVE and a CONTEXT_LENGTH of their own."""
_OLLAMA_CLIENTS = regex(r'(?:^|/)(?:open-webui|litellm[\w-]*|anythingllm|n8n|flowise|librechat[\w-]*|lobe-chat|dify-[\w-]+|langflow|nginx|caddy)$')


@rule('env-shell-syntax', on='container', severity='warning', confidence='medium', source=f'{_DOC}: only $(VAR) is expanded')
def env_shell_syntax(container: Component) -> Iterator[Problem]:
    """`$VAR` and `${VAR}` are shell syntax: Kubernetes passes them on letter by letter, and expands only `$(VAR)`.

    When it is wrong: a program such as envsubst fills the file in before it is applied. A document that has such variables
    elsewhere (a name, an image) is taken for one. In custom resources (Flux's HelmRelease) operators and Flux fill them in.
    """
    if object_kind(container) not in (*AS_WRITTEN, 'Job', 'CronJob'):
        raise NotApplicable('an operator, or Flux, may fill the variables in')
    for variable in container['env'].value.values():
        text = getattr(variable.value, 'value', '')
        if '$' not in text:
            continue
        found = _WHOLE.fullmatch(text)
        if found is None and variable.name.endswith('PATH'):
            found = _IN_PATH.search(text)
        if found is None:
            continue
        if _SUBSTITUTED.search(variable.value.place.document.text):
            raise NotApplicable('a program fills the variables in before it is applied')
        name = found[1] or found[2]
        message = '{name} is set to the text {text}: Kubernetes expands only $({variable}), and only when it is defined above'
        yield Problem(variable.value.place, message, name=variable.name, text=found[0].strip(':'), variable=name, detail=variable.name)


@rule('env-reference-undefined', on='container', severity='warning', confidence='medium', source=_DOC)
def env_reference_undefined(container: Component) -> Iterator[Problem]:
    """A `$(VAR)` that no variable defines stays as it is: the program gets the text `$(VAR)`.

    In `env` only variables that stand above count. Judged for inference servers and gateways: elsewhere kustomize still writes `$(VAR)` too.
    """
    if object_kind(container) not in AS_WRITTEN or not (container.peers('engine') or is_gateway(container)):
        raise NotApplicable('its operator, or kustomize, may set variables of its own')
    if not any('$(' in text for text in _texts(container)):
        return
    if container['imported'].value:
        raise Unknown('variables come from a ConfigMap or Secret')
    if container.partial:
        raise Unknown(container.partial)
    variables = list(container['env'].value.values())
    names = {variable.name for variable in variables}
    above: set[str] = set()
    for variable in variables:
        for name in _undefined(getattr(variable.value, 'value', ''), above | {variable.name}):
            where = 'is defined below it' if name in names else 'no variable of the container defines'
            message = '{name} refers to $({other}), which {where}: it stays as text'
            yield Problem(variable.value.place, message, name=variable.name, other=name, where=where, detail=f'{variable.name} {name}')
        above.add(variable.name)
    words = container['words'].value
    if any(word.value.rpartition('/')[2] in _SHELLS for word in words[:2]):
        return
    for word in words:
        for name in _undefined(word.value, names):
            yield Problem(word.place, '$({other}) is an argument, and no variable of the container defines it: it stays as text', other=name, detail=name)


def _texts(container: Component) -> Iterator[str]:
    yield from (word.value for word in container['words'].value)
    yield from (getattr(variable.value, 'value', '') for variable in container['env'].value.values())


def _undefined(text: str, names: set[str]) -> list[str]:
    """Names in `$(NAME)` that are not among those; a doubled dollar sign escapes, a text of several lines is a script."""
    if '$(' not in text or '\n' in text:
        return []
    found = [name for dollars, name in _REFERENCE.findall(text) if len(dollars) % 2]
    return [name for name in found if name.isupper() and name not in names and not _INJECTED.fullmatch(name)]


@rule('ollama-variable-misplaced', on=('container', 'compose-service'), severity='warning', source='ollama envconfig/config.go')
def ollama_variable_misplaced(carrier: Component) -> Iterator[Problem]:
    """A setting of the Ollama server stands at one of its clients: nothing reads it there, and the server runs with its default."""
    names = [name for name in carrier['env'].value if name in _OLLAMA_SERVER_ONLY]
    if not names or carrier.peers('engine'):
        raise NotApplicable('no such variable, or the server itself')
    repository = identify(str(carrier['image'].value or ''))
    if repository.tag == 'ollama' or not _OLLAMA_CLIENTS.search(repository.repository):
        raise NotApplicable('its image may hold a server')
    for name in names:
        variable = carrier['env'].value[name]
        yield Problem(variable.place, '{name} is read by the Ollama server, and this is {image}', name=name, image=repository.repository, detail=name)
