"""Threads of numeric libraries (OpenMP, MKL, OpenBLAS), as the environment of a container sets them or leaves them to PyTorch."""

from collections.abc import Sequence

from configaudit.extract.commands import Invocation, environment_seen
from configaudit.extract.environment import Stores, unseen_imports
from configaudit.extract.process import Process
from configaudit.extract.services.values import setting_of
from configaudit.extract.services.workers import processes_of
from configaudit.knowledge.images import identify
from configaudit.knowledge.service_kinds import MATH_THREADS
from configaudit.model import Component, Peers, Setting

VARIABLES = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'NUMEXPR_NUM_THREADS')


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """A component for the first such variable of a container with CPU limits, or for an image of PyTorch that has none."""
    carrier = process.component
    if 'cpu_limit' not in carrier.kind.settings:
        return []
    environment = environment_seen(process, invocations, stores)
    name = next((name for name in VARIABLES if name in environment), '')
    if not name:
        return _left_open(process, stores)
    word = environment[name]
    settings = {
        'threads': setting_of('threads', word, 'count'), 'variable': Setting('variable', name, word.place), 'cpu_limit': carrier['cpu_limit'],
    }  # fmt: skip
    workers = processes_of(process, invocations)
    if workers is not None:
        settings['workers'] = workers._replace(name='workers')
    found = Component(MATH_THREADS, carrier.name, f'{carrier.identity}/{name}', word.place, settings, partial=process.partial, scope=carrier.scope)
    found.peer_map['carrier'] = Peers.of([carrier], True)
    return [found]


_TORCH = ('pytorch', 'torchserve')


def _left_open(process: Process, stores: Stores) -> list[Component]:
    """PyTorch takes a thread for each core that it sees, and sees no quota."""
    carrier, image = process.component, process.image
    if image is None or not image.known or identify(image.value).repository.rpartition('/')[2] not in _TORCH:
        return []
    settings = {'library': Setting('library', 'PyTorch', image.place), 'cpu_limit': carrier['cpu_limit']}
    partial = process.partial or unseen_imports(process, stores)
    found = Component(MATH_THREADS, carrier.name, f'{carrier.identity}/threads', image.place, settings, partial=partial, scope=carrier.scope)
    found.peer_map['carrier'] = Peers.of([carrier], True)
    return [found]
