"""Heaps that a runtime manages itself, set apart from the container's limit: the JVM's -Xmx, Node's old space."""

from collections.abc import Iterator, Sequence

from configaudit.extract.commands import Invocation, environment_seen
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.knowledge.service_kinds import HEAP
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.patterns import regex

_JAVA = ('JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', 'JAVA_OPTS', 'JVM_OPTS', '_JAVA_OPTIONS', 'ES_JAVA_OPTS', 'KAFKA_HEAP_OPTS', 'CATALINA_OPTS')
_XMX = regex(r'(?:^|\s)-Xmx(\d+)([kKmMgGtT]?)(?=\s|$)')
_OLD_SPACE = regex(r'(?:^|\s)--max[-_]old[-_]space[-_]size=(\d+)(?=\s|$)')


def heaps(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The heap sizes that a container's environment or command line sets."""
    carrier = process.component
    if 'memory_limit' not in carrier.kind.settings:
        return []
    found = list(_found(process, invocations, stores))
    components = []
    for runtime, heap in found[-1:]:
        settings = {'runtime': Setting('runtime', runtime, heap.place), 'heap': heap, 'memory_limit': memory_limit(carrier)}
        component = Component(
            HEAP, carrier.name, f'{carrier.identity}/heap', carrier.place, settings, partial=process.partial, scope=carrier.scope
        )
        component.peer_map['carrier'] = Peers.of([carrier], True)
        components.append(component)
    return components


def memory_limit(carrier: Component) -> Setting:
    """The container's memory limit, by whichever key its carrier writes it."""
    limit = carrier['memory_limit']
    if not limit.is_set and 'deploy_memory' in carrier.kind.settings and carrier['deploy_memory'].is_set:
        return carrier['deploy_memory']._replace(name='memory_limit')
    return limit


def _found(process: Process, invocations: Sequence[Invocation], stores: Stores) -> Iterator[tuple[str, Setting]]:
    environment = environment_seen(process, invocations, stores)
    for name, word in environment.items():
        if name in _JAVA or name == 'NODE_OPTIONS':
            yield from _sizes('JVM' if name in _JAVA else 'Node.js', word)
    for invocation in invocations:
        for word in invocation.argv or invocation.arguments:
            if word.value.startswith('-Xmx'):
                yield from _sizes('JVM', word)
            elif word.value.startswith(('--max-old-space-size=', '--max_old_space_size=')):
                yield from _sizes('Node.js', word)


def _sizes(runtime: str, word: Word) -> Iterator[tuple[str, Setting]]:
    matches = list((_XMX if runtime == 'JVM' else _OLD_SPACE).finditer(word.value))
    for match in matches[-1:]:
        scale = 1024 ** ' kmgt'.index(match[2].lower() or ' ') if runtime == 'JVM' else 2**20
        size = int(match[1]) * scale
        start, end = match.start(1), match.end()
        place = word.place.part(start, end) if word.pure else word.place
        yield runtime, Setting('heap', size, place, slot=Slot('argument', place) if word.pure else None, locked=word.locked, unit='bytes')
