"""Heaps that a runtime manages itself, set apart from the container's limit: the JVM's -Xmx or share of it, Node's old space.

Sources: java(1), JDK_JAVA_OPTIONS and the order of options; JDK flags MaxRAMPercentage (25), UseContainerSupport (on), and -Xmx before MaxRAMPercentage.
"""

import os.path
from collections.abc import Iterator, Sequence

from configaudit.extract.commands import Invocation, environment_seen
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.knowledge.service_kinds import HEAP
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.patterns import regex

_JAVA = ('JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', 'JAVA_OPTS', 'JVM_OPTS', 'ES_JAVA_OPTS', 'KAFKA_HEAP_OPTS', 'CATALINA_OPTS')
_LAST = '_JAVA_OPTIONS'
"""Overrides the command line."""
_XMX = regex(r'(?:^|\s)(?:-Xmx|-XX:MaxHeapSize=)(\d+)([kKmMgGtT]?)(?=\s|$)')
_SHARE = regex(r'(?:^|\s)-XX:MaxRAMPercentage=(\d+(?:\.\d+)?)(?=\s|$)')
_OLD_SPACE = regex(r'(?:^|\s)--max[-_]old[-_]space[-_]size=(\d+)(?=\s|$)')
_JVM_OPTION = ('-Xmx', '-XX:MaxHeapSize=', '-XX:MaxRAMPercentage=')
_OTHERWISE = regex(r'(?:^|\s)(?:@\S|-XX:(?:MaxRAM|MaxRAMFraction|Flags|VMOptionsFile|-UseContainerSupport|\+UseZGC)\b|-Xmx|-XX:MaxHeapSize)')
"""Options by which the heap is not a quarter of the limit, or may not be."""
DEFAULT_SHARE = 0.25


def heaps(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The heap sizes that a container's environment or command line sets; of a `java` that says none, the default."""
    carrier = process.component
    if 'memory_limit' not in carrier.kind.settings:
        return []
    limit = memory_limit(carrier)
    words = list(_words(process, invocations, stores))
    found = list(_found(words, limit)) or list(_default(words, invocations, limit))
    components = []
    for runtime, heap in found[-1:]:
        settings = {'runtime': Setting('runtime', runtime, heap.place), 'heap': heap, 'memory_limit': limit}
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


def _words(process: Process, invocations: Sequence[Invocation], stores: Stores) -> Iterator[tuple[str, Word]]:
    """What may hold an option of a runtime, the strongest last."""
    environment = environment_seen(process, invocations, stores)
    yield from (('JVM', environment[name]) for name in _JAVA if name in environment)
    if 'NODE_OPTIONS' in environment:
        yield 'Node.js', environment['NODE_OPTIONS']
    for invocation in invocations:
        for word in invocation.argv or invocation.arguments:
            if word.value.startswith(_JVM_OPTION):
                yield 'JVM', word
            elif word.value.startswith(('--max-old-space-size=', '--max_old_space_size=')):
                yield 'Node.js', word
    if _LAST in environment:
        yield 'JVM', environment[_LAST]


def _found(words: list[tuple[str, Word]], limit: Setting) -> Iterator[tuple[str, Setting]]:
    """Shares of the limit first: a size in bytes overrides them."""
    for runtime, word in words:
        if runtime == 'JVM' and limit.is_set and isinstance(limit.known_value, (int, float)):
            for match in list(_SHARE.finditer(word.value))[-1:]:
                yield runtime, _heap(word, match.start(1), match.end(1), int(limit.known_value * float(match[1]) / 100))
    for runtime, word in words:
        for match in list((_XMX if runtime == 'JVM' else _OLD_SPACE).finditer(word.value))[-1:]:
            scale = 1024 ** ' kmgt'.index(match[2].lower() or ' ') if runtime == 'JVM' else 2**20
            yield runtime, _heap(word, match.start(1), match.end(), int(match[1]) * scale)


def _heap(word: Word, start: int, end: int, size: int) -> Setting:
    place = word.place.part(start, end) if word.pure else word.place
    return Setting('heap', size, place, slot=Slot('argument', place) if word.pure else None, locked=word.locked, unit='bytes')


def _default(words: list[tuple[str, Word]], invocations: Sequence[Invocation], limit: Setting) -> Iterator[tuple[str, Setting]]:
    """A quarter of the limit, where the command line is seen and neither it nor the environment says otherwise."""
    for invocation in invocations:
        argv = invocation.argv
        if not argv or os.path.basename(argv[0].value) != 'java' or invocation.unseen or invocation.unseen_variables or not limit.is_set or not isinstance(limit.known_value, (int, float)):
            continue
        seen = [*argv, *(word for _, word in words)]
        if not any(not word.known or _OTHERWISE.search(word.value) for word in seen):
            yield 'JVM', Setting('heap', int(limit.known_value * DEFAULT_SHARE), argv[0].place, 'default', unit='bytes', source='JDK default: MaxRAMPercentage 25')
