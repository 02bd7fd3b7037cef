"""What every engine's reader does alike: settings that all engines have, the component, its neighbours."""

from collections.abc import Mapping

from configaudit.context import Context
from configaudit.extract.arguments import Arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.gpu import engine_gpu
from configaudit.extract.engines.launch import Launch
from configaudit.extract.engines.options import marked
from configaudit.extract.engines.version import Release
from configaudit.model import Component, Kind, Peers, Setting
from configaudit.patterns import regex

_MANY_NODES = regex(r'\bray start\b|RAY_START_CMD|multi-node-serving|ray[_-]cluster[_-]size|RAY_ADDRESS|ray symmetric-run|\brun_cluster\.sh\b')
"""Words of a process that joins a Ray cluster before the engine starts."""


def engine_settings(invocation: Invocation, launch: Launch, arguments: Arguments, context: Context) -> dict[str, Setting]:
    """The settings that every engine has."""
    place, image = launch.program, invocation.process.image
    shown = marked(arguments, place)._replace(command_line=launch.arguments)
    settings = {
        'options': Setting('options', shown.options, place),
        'arguments': Setting('arguments', shown, place),
        'environment': Setting('environment', dict(invocation.environment), place),
        'command': Setting('command', launch.command, place),
        'gpu': engine_gpu(invocation, place, context),
        'piped': Setting('piped', invocation.piped, place),
        'ray_cluster': Setting('ray_cluster', _joins_ray(invocation), place),
    }
    if image is not None:
        settings['image'] = Setting('image', image.value, image.place, reason=image.reason if not image.known else '')
    return settings


def _joins_ray(invocation: Invocation) -> bool:
    process = invocation.process
    words = (*(process.entrypoint or ()), *(process.arguments or ()))
    kinds = [str(pod['object_kind'].known_value) for pod in process.component.peers('pod')]
    return (
        any(_MANY_NODES.search(word.value) for word in words)
        or 'RAY_ADDRESS' in invocation.environment
        or any('Ray' in kind for kind in kinds)
    )


def engine_component(
    kind: Kind, invocation: Invocation, launch: Launch, settings: dict[str, Setting], unseen: str, release: Release
) -> Component:
    """The engine's component, acquainted with the container (or unit, or service) that runs it."""
    carrier = invocation.process.component
    before = sum(peer.kind is kind for peer in carrier.peers('engine'))
    number = f'-{before + 1}' if before else ''
    component = Component(
        kind, carrier.name, f'{carrier.identity}/{kind.name}{number}', launch.program, settings,
        partial=unseen, version=release.version, version_from=release.found, scope=carrier.scope,
    )  # fmt: skip
    component.note = release.note
    _link_to_carrier(component, carrier)
    return component


def _link_to_carrier(engine: Component, carrier: Component) -> None:
    """An engine and the component that runs it know each other, and the pod and workload around."""
    engine.peer_map['carrier'] = Peers.of([carrier], True)
    for kind in ('pod', 'workload'):
        if kind in carrier.peer_map:
            engine.peer_map[kind] = carrier.peer_map[kind]
            for owner in carrier.peer_map[kind]:
                owner.peer_map['engine'] = Peers.of([*owner.peers('engine'), engine], True)
    engine.peer_map[carrier.kind.name] = engine.peer_map['carrier']
    carrier.peer_map['engine'] = Peers.of([*carrier.peers('engine'), engine], True)


def product_of(settings: Mapping[str, Setting], names: tuple[str, ...]) -> Setting:
    """GPUs that one replica needs: the product of its parallel sizes, at the place of the first that is set above 1."""
    parts = [settings[name] for name in names]
    above = [part for part in parts if part.is_set and part.known_value != 1]
    given = next(iter(above), None) or next((part for part in parts if part.is_set), parts[0])
    reason = next((part.reason for part in parts if not part.is_known), '')
    size = 1
    for part in parts:
        size *= int(part.known_value or 1) if part.is_known else 1  # type: ignore[call-overload]
    return given._replace(name='world_size', known_value=size, reason=reason, slot=None, candidates=())
