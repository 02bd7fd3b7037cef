"""Rules for the environment of vLLM engines: variables that are gone, that break serving, that Kubernetes adds."""

from collections.abc import Iterator
from typing import Any

from configaudit.knowledge.flags import catalogue
from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Slot, rule
from configaudit.units import boolean

from .releases import release


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
        if not name.startswith('VLLM_'):
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
    port = engine['port']
    places = (port.place, *port.uses)
    if port.is_set and any('VLLM_PORT' in place.text for place in places):
        yield Problem(port.uses[0] if port.uses else port.place, '--port takes VLLM_PORT, which vLLM uses for its internal ports: name the variable otherwise')


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
