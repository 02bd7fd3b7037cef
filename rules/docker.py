"""Rules for containers outside Kubernetes, whoever starts them: shared memory, GPUs, open ports."""

from collections.abc import Iterator

from configaudit.knowledge.carrier_kinds import SHM_DEFAULT
from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Slot, rule
from configaudit.units import show_bytes

_NCCL = 'vLLM docs, deployment/docker; NCCL docs, troubleshooting, shared memory; vllm-project/vllm#1710'


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


def _environment(engine: Component) -> dict[str, str]:
    """Variables of an engine as text."""
    return {name: word.value for name, word in engine['environment'].value.items()}


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
