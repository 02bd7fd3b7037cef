"""Rules for the environment of vLLM engines: variables that are gone, that break serving, that Kubernetes adds."""

import re
from collections.abc import Iterator
from typing import Any

from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.images import identify
from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Setting, Severity, Slot, rule
from configaudit.patterns import regex
from configaudit.places import Place
from configaudit.units import boolean

from .releases import release

_OTHERS = regex(r'VLLM_(ASCEND|TPU|NEURON|HPU|GAUDI|SPYRE|RBLN|OMNI|MUSA|MACA|METAX|KUNLUN|OPENVINO|IREE|METAL|GAUDI2)_.*|VLLM\w*(_SERVICE_|_PORT_|_TCP)\w*|VLLM_ELASTIC_EP_SCALE_UP_LAUNCH')
"""Variables of plugins and forks, those that Kubernetes makes of Services, and one that vLLM reads outside its list."""


def variable(engine: Component, name: str) -> Any:
    """An environment variable of the engine as a word (value, place), or None."""
    return engine['environment'].value.get(name)


@rule('vllm-environment-removed', on='vllm', severity='warning', source='vllm/envs.py of the releases')
def environment_removed(engine: Component) -> Iterator[Problem]:
    """A variable that this release no longer reads is ignored without an error: the engine runs with other settings than the file says."""
    if engine.version is None:
        raise NotApplicable('the version is not known')
    known = catalogue('vllm')
    for name, word in sorted(engine['environment'].value.items()):
        if not name.startswith('VLLM_') or _OTHERS.fullmatch(name):
            continue
        status = known.env_status(name, engine.version)
        if status.state != 'removed' or status.between is None:
            continue
        harmless = name == 'VLLM_USE_V1' and word.value in ('1', 'true')
        message = '{name} is not read by {engine}: it was last in {last}; {use}'
        use = status.replacement or 'drop it'
        use = use if use.startswith('drop') else f'use {use}'
        yield Problem(
            word.use or word.place, message, name=name, engine=release(engine), last=status.between[0], use=use,
            severity='advice' if harmless or not status.exact else None, detail=name,
        )  # fmt: skip


@rule('vllm-environment-unknown', on='vllm', severity='warning', source='vllm/envs.py of the releases')
def environment_unknown(engine: Component) -> Iterator[Problem]:
    """No release reads a variable of this name: it is ignored without an error, and the engine runs with other settings than the file says.

    From 0.17.0 the log names such variables. Variables of plugins, and those that the file itself uses in a command, are left alone; in an
    image that is not the project's own only misspelt names are reported.
    """
    if _is_strict(engine):
        raise NotApplicable('the engine stops at start: vllm-environment-rejected')
    known, upstream = catalogue('vllm'), f'/{identify(str(engine["image"].known_value or "")).repository}'.endswith('/vllm/vllm-openai')
    for name, word in sorted(engine['environment'].value.items()):
        if not name.startswith('VLLM_') or _OTHERS.fullmatch(name) or known.env_status(name, engine.version).state not in ('unknown', 'too-new'):
            continue
        written = as_written(engine, name)
        place = written.place if written is not None else word.use or word.place
        if re.search(rf'\$[({{]*{name}\b', place.document.text):
            continue
        found = _unread(engine, known, name, upstream)
        if found is not None:
            message, severity, near = found
            yield Problem(place, message, name=name, engine=release(engine), near=near, severity=severity, fix=respelt(written, name, near), detail=name)


def _unread(engine: Component, known: Catalogue, name: str, upstream: bool) -> tuple[str, Severity | None, str] | None:
    """What to say of a variable that the release does not read: a message, its severity, the name that was meant."""
    status = known.env_status(name, engine.version)
    if status.state == 'too-new':
        first = status.between[1] if status.between else ''
        return f'{{name}} is not known to {{engine}} and ignored: later releases read it, from {first} on', None if status.exact and upstream else 'advice', ''
    from difflib import get_close_matches  # 5 ms, needed only for a name that nothing reads

    names = [other for other in known.variables if known.env_status(other, engine.version).state == 'known']
    near = next(iter(get_close_matches(name, names, n=1, cutoff=0.9)), '')
    if near:
        return '{name} is not known to {engine} and ignored: did you mean {near}?', None, near
    return ('{name} is not known to any release of vLLM and ignored', 'advice', '') if upstream else None


def as_written(engine: Component, name: str) -> Any:
    """The variable as its carrier writes it, or None."""
    variables = [carrier['env'].value.get(name) for carrier in engine.peers('carrier') if 'env' in carrier.kind.settings]
    return next((variable for variable in variables if variable is not None), None)


def respelt(written: Any, name: str, near: str) -> Fix | None:
    """A fix that spells a variable's name otherwise, where it stands alone."""
    if not near or written is None or written.place.text.strip('"\'') != name:
        return None
    return Fix((Change(Slot('argument', written.place), near, name),))


def _is_strict(engine: Component) -> bool:
    strict = engine['fail_on_environ_validation']
    return strict.is_set and strict.is_known and bool(strict.value)


@rule('vllm-environment-rejected', on='vllm', severity='error', source='vllm/envs.py validate_environ 0.17.1 to 0.33.0')
def environment_rejected(engine: Component) -> Iterator[Problem]:
    """With --fail-on-environ-validation the engine stops at start for every variable named VLLM_... that the release does not read.

    That includes variables of plugins, of the file's own scripts, and those that Kubernetes makes of a Service named vllm.
    """
    if not _is_strict(engine) or engine.version is None:
        raise NotApplicable('the names of variables are not validated, or the version is not known')
    known = catalogue('vllm')
    for name, word in sorted(engine['environment'].value.items()):
        status = known.env_status(name, engine.version)
        if name.startswith('VLLM_') and status.exact and status.state in ('unknown', 'removed', 'too-new'):
            written = as_written(engine, name)
            place = written.place if written is not None else word.use or word.place
            message = '{name} is not known to {engine}: with --fail-on-environ-validation it stops at start'
            yield Problem(place, message, name=name, engine=release(engine), see=[('the validation', engine['fail_on_environ_validation'])], detail=name)


@rule('vllm-multiprocessing-off', on='vllm', severity='warning', side_effect='one process more to watch', source='vllm/envs.py VLLM_ENABLE_V1_MULTIPROCESSING')
def multiprocessing_off(engine: Component) -> Iterator[Problem]:
    """The scheduler shares one process with the HTTP server: tokenising and streaming stall the decode loop. For debugging only."""
    word = variable(engine, 'VLLM_ENABLE_V1_MULTIPROCESSING')
    if word is not None and word.known and boolean(word.value) is False:
        yield Problem(word.place, 'VLLM_ENABLE_V1_MULTIPROCESSING={setting} puts the scheduler into the HTTP server\'s process', setting=word.value, fix=_write(word, '1'))


@rule('vllm-lora-updating-allowed', on='vllm', severity='warning', side_effect='adapters change by a restart only', source='vLLM docs, usage/security; features/lora')
def lora_updating_allowed(engine: Component) -> Iterator[Problem]:
    """Whoever reaches the port can load and unload adapters: from any path or repository, for all users of the server."""
    word = variable(engine, 'VLLM_ALLOW_RUNTIME_LORA_UPDATING')
    if word is not None and word.known and boolean(word.value):
        yield Problem(word.place, 'VLLM_ALLOW_RUNTIME_LORA_UPDATING={setting}: whoever reaches the port can load adapters', setting=word.value, fix=_write(word, 'False'))


@rule('vllm-developer-mode', on='vllm', severity='warning', side_effect='the debugging endpoints are gone', source='vLLM docs, usage/security')
def developer_mode(engine: Component) -> Iterator[Problem]:
    """Development switches open endpoints that reset caches, put the engine to sleep or run pickled code: not for a server that others reach."""
    for name in ('VLLM_SERVER_DEV_MODE', 'VLLM_ALLOW_INSECURE_SERIALIZATION'):
        word = variable(engine, name)
        if word is not None and word.known and boolean(word.value):
            yield Problem(word.place, '{name}={setting} opens endpoints for development to everybody who reaches the port', name=name, setting=word.value, fix=_write(word, '0'), detail=name)


def _write(word: Any, value: str) -> Fix | None:
    if not word.pure or word.use is not None:
        return None
    return Fix((Change(Slot('argument', word.place), value, 'environment', word.locked),))


@rule('vllm-port-from-service-link', on='vllm', severity='error', source='vllm#5867; vLLM docs, configuration/env_vars')
def port_from_service_link(engine: Component) -> Iterator[Problem]:
    """VLLM_PORT is the first port that vLLM opens for itself, not the API's: used for both, they clash, and a Service named vllm overwrites it."""
    port, host = engine['port'], engine['host']
    if port.is_set and (place := _named(engine, port, 'VLLM_PORT')) is not None:
        message = '--port takes VLLM_PORT, which vLLM uses for its internal ports: name the variable otherwise'
        yield Problem(place, message, severity=None if 'VLLM_PORT' in engine['environment'].value else 'warning')
    if host.is_set and (place := _named(engine, host, 'VLLM_HOST_IP')) is not None:
        message = '--host takes VLLM_HOST_IP, the address that vLLM gives its own processes: name the variable otherwise'
        yield Problem(place, message, severity='warning', detail='host')


def _named(engine: Component, setting: Setting, name: str) -> Place | None:
    """Where a setting takes its value from this variable of the environment; a script's own and a program's are none."""
    reads = re.compile(rf'(?:\$[({{]?|(?:environ|getenv)\W{{1,2}}(?:get\W{{1,2}})?){name}\b')
    place = next((place for place in (*setting.uses, setting.place) if reads.search(place.text)), None)
    if place is None or name in engine['environment'].value:
        return place
    return None if re.search(rf'(?m)^\s*{name}=', place.document.text) else place


@rule('vllm-service-link-clash', on='vllm', severity='error', side_effect='the variables of Services are gone: programs have to use DNS names', source='vllm#15613, vllm#34199')
def service_link_clash(engine: Component) -> Iterator[Problem]:
    """A Service named vllm makes Kubernetes set VLLM_PORT=tcp://..., which vLLM reads as a number and stops.

    Kubernetes adds variables named after every Service of the namespace to each pod unless enableServiceLinks is false.
    """
    known = catalogue('vllm')
    for pod in engine.peers('pod'):
        links = pod['service_links']
        for service in pod.peers('scope-service'):
            name = service.name.upper().replace('-', '_') + '_PORT'
            if known.env_status(name, engine.version).state != 'known' or name in engine['environment'].value:
                continue
            headless = service['cluster_ip'].known_value == 'None' or service['type'].known_value == 'ExternalName'
            if headless or not links.value:
                continue
            message = 'Service {service} makes Kubernetes set {name}=tcp://..., which vLLM reads as a port number and stops; set enableServiceLinks: false'
            yield Problem(links, message, service=service.name, name=name, see=[('the Service', service.place)], fix=links.set(False), detail=name)
