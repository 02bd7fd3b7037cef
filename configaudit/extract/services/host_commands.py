"""Commands that tune the host: `sysctl -w`, and writes into /proc/sys and /sys/block, of any process or script."""

import os.path
import re
from collections.abc import Iterable, Iterator

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.services.sysctl import is_node, sysctl_component
from configaudit.extract.services.udev import scheduler_component
from configaudit.extract.words import Word
from configaudit.model import Component, Slot

MARKERS = ('sysctl', '/proc/sys/', '/queue/scheduler')
_WRITE = re.compile(
    r"""\becho\s+(?:-[ne]+\s+)?(?P<quote>["']?)(?P<value>[\w-]+(?:[ \t]+\w+)*?)(?P=quote)\s*"""
    r"""(?:>>?|\|\s*(?:sudo\s+)?tee(?:\s+-a)?)\s*(?P<path>/(?:proc/sys|sys/block)/[\w./*?\[\]-]+)"""
)
_BLOCK = re.compile(r'/sys/block/(?P<device>[^/]+)/queue/scheduler$')


def read_process(process: Process, invocations: Iterable[Invocation], stores: Stores) -> list[Component]:
    """What the commands of a process set on the host it runs on."""
    owner = process.component.identity
    node = process.component.kind.name == 'container' or is_node(process.component.place.document)
    found = [component for one in invocations for component in sysctl_command(one.argv, owner, node)]
    for word in (*(process.entrypoint or ()), *(process.arguments or ())):
        found.extend(writes(word, owner, node))
    return found


def sysctl_command(argv: tuple[Word, ...], owner: str, node: bool) -> Iterator[Component]:
    """The parameters that one `sysctl [-w] key=value ...` sets; nothing for any other command."""
    if not argv or os.path.basename(argv[0].value) != 'sysctl':
        return
    for word in argv[1:]:
        name, equals, value = word.value.partition('=')
        if not equals or name.startswith('-'):
            continue
        place = word.place.part(len(name) + 1, len(word.value)) if word.pure else word.place
        slot = Slot('argument', place) if word.pure else None
        yield sysctl_component(
            name.strip().replace('/', '.'),
            value,
            place,
            word.place,
            owner,
            form='command',
            node=node,
            slot=slot,
            reason=word.reason,
        )


def writes(script: Word, owner: str, node: bool) -> Iterator[Component]:
    """What `echo value > /proc/sys/...` and `... | tee /sys/block/.../scheduler` set in a script."""
    for match in _WRITE.finditer(script.value):
        line = script.value[script.value.rfind('\n', 0, match.start()) + 1 : match.start()]
        if '#' in line:
            continue
        place = script.place.part(*match.span('value')) if script.pure else script.place
        slot = Slot('argument', place) if script.pure else None
        device = _BLOCK.match(match['path'])
        if device is not None:
            yield scheduler_component(match['value'], device['device'], place, owner, slot)
        elif match['path'].startswith('/proc/sys/'):
            name = match['path'].removeprefix('/proc/sys/').replace('/', '.')
            yield sysctl_component(name, match['value'], place, place, owner, form='command', node=node, slot=slot)
