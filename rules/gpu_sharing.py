"""Rules for engines that share a GPU: beside each other in a script, as services, or in time slices."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Unknown, rule
from configaudit.patterns import regex
from configaudit.units import HOLE

from .engines import container_of

_SHARES = {'vllm': 'gpu_memory_utilization', 'sglang': 'mem_fraction_static'}
_BACKGROUND = regex(r'(?<![&>|])&(?![&>])')
_BRANCH = regex(r'\b(?:if|elif|else|case|for|while|until|wait)\b|;;')
_VISIBLE = ('CUDA_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES')


@rule(
    'gpu-memory-oversubscribed',
    on=('compose-service', 'docker-run', 'command', 'container'),
    severity='error',
    source='vllm-project/vllm#14376, #20305: the share counts the whole GPU, whoever uses it',
    effect='both engines start',
)
def gpu_memory_oversubscribed(carrier: Component) -> Iterator[Problem]:
    """Engines on one GPU whose memory shares add up to more than 1: the second one fails at start, again and again.

    Services without `profiles` start with every profile; a device reservation by count always gives the first GPUs.
    A script may start one server in the background and another after it. Shares are taken at their defaults where none is given.
    """
    beside = carrier.peers('compose-service') or carrier.peers('beside')
    earlier = [other for other in beside[: beside.index(carrier)] if other.peers('engine')] if carrier in beside else []
    engines = [engine for engine in carrier.peers('engine') if engine.kind.name in _SHARES]
    if not engines or not (earlier or engines[1:]):
        raise NotApplicable('no other engine runs beside it')
    for engine in engines:
        groups = [[(peer, other) for other in group for peer in other.peers('engine')] for group in _running_with(carrier, earlier)]
        problem = _oversubscribed(engine, carrier, [[*group, *_in_background(engine, engines, carrier)] for group in groups])
        if problem is not None:
            yield problem
            return


def _oversubscribed(engine: Component, carrier: Component, groups: list[list[tuple[Component, Component]]]) -> Problem | None:
    """The first GPU on which an engine and those that run with it, each with its carrier, ask for more than there is."""
    for device in _devices(engine, carrier):
        for group in groups:
            others = [peer for peer, other in group if peer.kind.name in _SHARES and device in _devices(peer, other)]
            total = _share(engine) + sum(map(_share, others))
            if others and total > 1.0001:
                return Problem(
                    engine[_SHARES[engine.kind.name]],
                    '{share} of GPU {gpu} beside {others} makes {total}, over 1',
                    share=_share(engine),
                    gpu=device,
                    total=round(total, 4),
                    others=', '.join(f'{_share(peer):g} of {peer.name}' for peer in others),
                    see=[(f'share of {peer.name}', peer[_SHARES[peer.kind.name]]) for peer in others],
                    detail=f'{engine.identity} {device}',
                )
    return None


def _in_background(engine: Component, engines: list[Component], carrier: Component) -> list[tuple[Component, Component]]:
    """The servers that the same script starts in the background before this one, in no branch; each with its carrier."""
    found = []
    for other in engines[: engines.index(engine)]:
        document, start = other.place.document, other.place.end
        between = document.text[start : engine.place.start] if engine.place.document is document else ''
        if _BACKGROUND.search(between) and not _BRANCH.search(between):
            found.append((other, carrier))
    return found


def _running_with(carrier: Component, earlier: list[Component]) -> Iterator[list[Component]]:
    """The carriers that run together with this one, for every profile that may be active."""

    def profiles(component: Component) -> tuple[str, ...]:
        return tuple(component['profiles'].value) if component.kind.name == 'compose-service' else ()

    active = profiles(carrier) or ('', *(name for other in earlier for name in profiles(other)))
    for profile in dict.fromkeys(active):
        yield [other for other in earlier if not profiles(other) or profile in profiles(other)]


def _devices(engine: Component, carrier: Component) -> tuple[str, ...]:
    """The GPUs that an engine takes: the first of those that it sees."""
    needed = engine['world_size'].value * (engine['data_parallel_size'].value or 1 if engine.kind.name == 'vllm' else 1)
    seen = tuple(map(str, range(carrier['gpu_limit'].value))) if carrier.kind.name == 'container' else carrier['gpus'].value
    environment = {variable: word.value for variable, word in engine['environment'].value.items()}
    chosen = next((environment[name] for name in _VISIBLE if name in environment), None)
    if chosen is not None and HOLE in chosen:
        raise NotApplicable('the visible GPUs are not known')
    if chosen is not None:
        indices = [part.strip() for part in chosen.split(',') if part.strip()]
        if seen != ('all',) and all(index.isdigit() and int(index) < len(seen) for index in indices):
            indices = [seen[int(index)] for index in indices]
        return tuple(indices[:needed])
    return tuple(map(str, range(needed))) if seen == ('all',) else tuple(seen[:needed])


def _share(engine: Component) -> float:
    """The share of a GPU's memory; the smallest that a default may be."""
    setting = engine[_SHARES[engine.kind.name]]
    if engine.kind.name == 'vllm' and engine['kv_cache_memory_bytes'].is_set:
        raise NotApplicable('the size of a cache is set, which counts instead of the share')
    share = min(setting.candidates) if not setting.is_known and setting.candidates else setting.value
    if share is None:
        raise Unknown(f'{setting.name}: the engine works it out at start')
    return float(share)


@rule(
    'gpu-slice-memory-unsplit', on=tuple(_SHARES), severity='warning', source='NVIDIA k8s-device-plugin docs, time-slicing and renameByDefault; vllm#20305, vllm#14376',
    effect='engines that share a GPU start together', side_effect='less KV cache for each',
)  # fmt: skip
def gpu_slice_memory_unsplit(engine: Component, *, most: float = 0.5) -> Iterator[Problem]:
    """A GPU that is shared in time slices is not split in memory: the engine takes its share of the whole, and the next one does not start.

    Told by the resource nvidia.com/gpu.shared. A share is always one of the whole GPU, so those of all that share it must add up to less than 1.
    """
    container, share = container_of(engine), engine[_SHARES[engine.kind.name]]
    if container['gpu_resource'].known_value != 'nvidia.com/gpu.shared' or (engine.kind.name == 'vllm' and engine['kv_cache_memory_bytes'].is_set):
        raise NotApplicable('it is given a GPU of its own, or sets the size of its cache')
    taken = share.known_value if share.is_known else min(share.candidates, default=None)
    if taken is None:
        raise Unknown(f'{share.name}: {share.reason}')
    if float(taken) > most:  # type: ignore[arg-type]
        message = 'the engine takes {taken} of a GPU that is shared in time slices: a second one like it does not start'
        yield Problem(share, message, taken=taken, most=most, see=[('the slice', container['gpu_resource'])], fix=share.set(0.45))
