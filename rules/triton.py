"""Rules for the Triton Inference Server itself; its batchers and gRPC settings are judged with those of others."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule
from configaudit.units import show_bytes


@rule(
    'triton-model-control-poll', on='triton', severity='warning', source='Triton docs, user_guide/model_management: Model Control Mode POLL',
    side_effect='models are loaded and unloaded through the API, or by a restart',
)  # fmt: skip
def model_control_poll(server: Component) -> Iterator[Problem]:
    """Triton loads whatever lies in the repository at the moment it looks: a model that is half copied, or one that somebody put there.

    Its documentation advises against polling in production.
    """
    mode = server['model_control_mode']
    if mode.is_set and mode.value == 'poll':
        yield Problem(mode, '--model-control-mode=poll loads models that are still being copied: use explicit, or none', fix=mode.set('explicit'))


@rule(
    'triton-python-shared-memory-short', on='triton', severity='error', source='Triton python_backend README, Managing Shared Memory; server#6195',
    side_effect='what is written there counts against the memory limit',
)  # fmt: skip
def python_shared_memory_short(server: Component) -> Iterator[Problem]:
    """Models in Python do not load: each instance takes its share of /dev/shm at start, and a container's default is 64 MiB.

    Since 23.x an instance takes 1 MiB unless `--backend-config=python,shm-default-byte-size` says otherwise, and grows.
    """
    size = server['python_shm_bytes']
    if not size.is_set:
        raise NotApplicable('instances take 1 MiB and grow')
    for container in server.peers('container'):
        pod = container.peer('pod')
        if container['shm'].value is None and not pod['host_ipc'].value and size.value > _DEFAULT:
            yield Problem(size, 'every instance of a Python model takes {size} of /dev/shm, which is 64Mi by default: it does not load', size=show_bytes(size.value))
    for service in server.peers('compose-service'):
        shm = service['shm_size']
        if service['ipc'].value == 'private' and size.value > shm.value:
            yield Problem(size, 'every instance of a Python model takes {size} of /dev/shm, which is {shm}: it does not load', size=show_bytes(size.value), shm=show_bytes(shm.value), see=[('shared memory', shm)])


_DEFAULT = 64 * 2**20
"""Bytes of /dev/shm in a container that mounts nothing there."""
