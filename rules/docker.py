"""Rules for containers outside Kubernetes, whoever starts them: shared memory, GPUs, open ports."""

from collections.abc import Iterator

from configaudit.knowledge.carrier_kinds import SHM_DEFAULT
from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Slot, Unknown, rule
from configaudit.units import HOLE, show_bytes

_NCCL = 'vLLM docs, deployment/docker; NCCL docs, troubleshooting, shared memory; vllm-project/vllm#1710'
_SHARES = {'vllm': 'gpu_memory_utilization', 'sglang': 'mem_fraction_static'}
_VISIBLE = ('CUDA_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES')


@rule(
    'compose-shm-default',
    on='compose-service',
    severity='error',
    source=_NCCL,
    effect='the engine starts',
    side_effect='the host may give that much memory to /dev/shm',
)
def compose_shm_default(service: Component) -> Iterator[Problem]:
    """An engine on several GPUs dies at start when /dev/shm is Docker's 64 MiB.

    NCCL and the workers exchange data through /dev/shm. Set `shm_size`, `ipc: host`, or mount the host's /dev/shm.
    """
    yield from _small_shm(service, '16gb')


@rule(
    'docker-run-shm-default',
    on='docker-run',
    severity='error',
    source=_NCCL,
    effect='the engine starts',
    side_effect='the host may give that much memory to /dev/shm',
)
def docker_run_shm_default(container: Component) -> Iterator[Problem]:
    """An engine on several GPUs dies at start when /dev/shm is Docker's 64 MiB.

    NCCL and the workers exchange data through /dev/shm. Give `--shm-size=16g`, `--ipc=host`, or mount the host's
    /dev/shm.
    """
    yield from _small_shm(container, '16g')


def _small_shm(container: Component, wanted: str) -> Iterator[Problem]:
    engines = container.peers('engine')
    if not engines:
        raise NotApplicable('no inference engine')
    for engine in engines:
        gpus = engine['world_size']
        if gpus.value < 2 or _environment(engine).get('NCCL_SHM_DISABLE') == '1':
            continue
        size, ipc = container['shm_size'], container['ipc'].value
        if ipc not in ('private', 'shareable') or '/dev/shm' in container['mounts'].value:
            continue
        if size.value <= SHM_DEFAULT:
            yield Problem(
                gpus,
                '{value} GPUs exchange data through /dev/shm, which has {size} here: NCCL fails when it starts',
                size=show_bytes(size.value),
                see=[('the container', container.place)],
                fix=size.set(wanted),
                detail=engine.identity,
            )


@rule(
    'gpu-memory-oversubscribed',
    on=('compose-service', 'docker-run', 'command'),
    severity='error',
    source='vllm-project/vllm#14376, #20305: the share counts the whole GPU, whoever uses it',
    effect='both engines start',
)
def gpu_memory_oversubscribed(carrier: Component) -> Iterator[Problem]:
    """Engines on one GPU whose memory shares add up to more than 1: the second one fails at start, again and again.

    Services without `profiles` start with every profile; a device reservation by count always gives the first GPUs.
    Shares are taken at their defaults where none is given.
    """
    beside = carrier.peers('compose-service') or carrier.peers('beside')
    earlier = [other for other in beside[: beside.index(carrier)] if other.peers('engine')] if carrier in beside else []
    if not earlier or not carrier.peers('engine'):
        raise NotApplicable('no other engine runs beside it')
    for engine in carrier.peers('engine'):
        name = _SHARES.get(engine.kind.name)
        if name is None:
            continue
        for device in _devices(engine, carrier):
            for group in _running_with(carrier, earlier):
                others = [
                    peer for other in group for peer in other.peers('engine')
                    if peer.kind.name in _SHARES and device in _devices(peer, other)
                ]  # fmt: skip
                total = _share(engine) + sum(map(_share, others))
                if others and total > 1.0001:
                    setting = engine[name]
                    yield Problem(
                        setting,
                        '{share} of GPU {gpu} beside {others} makes {total}, over 1',
                        share=_share(engine),
                        gpu=device,
                        total=round(total, 4),
                        others=', '.join(f'{_share(peer):g} of {peer.name}' for peer in others),
                        see=[(f'share of {peer.name}', peer[_SHARES[peer.kind.name]]) for peer in others],
                        detail=f'{engine.identity} {device}',
                    )
                    return


def _running_with(carrier: Component, earlier: list[Component]) -> Iterator[list[Component]]:
    """The carriers that run together with this one, for every profile that may be active."""

    def profiles(component: Component) -> tuple[str, ...]:
        return tuple(component['profiles'].value) if component.kind.name == 'compose-service' else ()

    active = profiles(carrier) or ('', *(name for other in earlier for name in profiles(other)))
    for profile in dict.fromkeys(active):
        yield [other for other in earlier if not profiles(other) or profile in profiles(other)]


def _environment(engine: Component) -> dict[str, str]:
    """Variables of an engine as text."""
    return {name: word.value for name, word in engine['environment'].value.items()}


def _devices(engine: Component, carrier: Component) -> tuple[str, ...]:
    """The GPUs that an engine takes: the first of those that it sees."""
    needed = engine['world_size'].value * (engine['data_parallel_size'].value or 1 if engine.kind.name == 'vllm' else 1)
    seen = carrier['gpus'].value
    environment = _environment(engine)
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
    share = min(setting.candidates) if not setting.is_known and setting.candidates else setting.value
    if share is None:
        raise Unknown(f'{setting.name}: the engine works it out at start')
    return float(share)


@rule(
    'redis-published-without-password',
    on=('compose-service', 'docker-run'),
    severity='warning',
    source='Redis docs, security; docker-library/redis (protected mode is off); Docker docs, packet filtering',
    effect='only this host reaches it',
    side_effect='clients on other hosts lose the port',
)
def redis_published(container: Component) -> Iterator[Problem]:
    """Redis without a password on a published port is open to everybody who reaches the host.

    Docker publishes on every interface and past most host firewalls. Drop the port (services of one project reach
    each other without it), bind it to 127.0.0.1, or set `requirepass`.
    """
    if container['role'].value != 'redis':
        raise NotApplicable('not Redis')
    spoken, names = ' '.join(container['words'].value), ' '.join(container['env'].value)
    guarded = (
        'requirepass' in spoken
        or 'aclfile' in spoken
        or '.conf' in spoken
        or 'PASSWORD' in names.replace('ALLOW_EMPTY_PASSWORD', '')
    )
    configured = 'ARGS' in names or any(path.endswith('.conf') or '/etc' in path for path in container['mounts'].value)
    if guarded or configured or ('bitnami' in container['image'].value and 'ALLOW_EMPTY_PASSWORD' not in names):
        raise NotApplicable('it may have a password')
    for port in container['ports'].value:
        if port.is_public and port.container in ('6379', '6379-6379'):
            local = f'127.0.0.1:{port.host}:{port.container}'
            written = port.place.text in (f'{port.host}:{port.container}', port.container)
            change = Change(
                Slot('argument', port.place) if written else None,
                local,
                'ports',
                '' if written else 'it is put together from several parts',
            )
            yield Problem(
                port.place,
                'Redis without a password is published on every interface, port {port}',
                port=port.host or 'any',
                fix=Fix((change,)),
                detail=port.container,
            )
