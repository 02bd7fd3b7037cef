"""Whose server a file describes: of a file in a ConfigMap the one process that mounts it, of a Node.js program the one that starts it."""

import os.path
from collections.abc import Iterable, Iterator

from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.model import Component, Peers

_SCRIPTS = ('.js', '.mjs', '.cjs', '.ts', '.mts')


def is_unclaimed(component: Component) -> bool:
    """Whether it is a server that a file inside another or a Node.js program describes, and no process is known to run it."""
    if component.kind.name != 'http-server' or 'carrier' in component.peer_map:
        return False
    return component.place.document.outer is not None or component.place.document.path.endswith(_SCRIPTS)


def claim(components: Iterable[Component], processes: Iterable[Process], stores: Stores) -> None:
    """Peers `carrier` of such servers, and `http-server` of their carriers; a process that has a server already keeps that one."""
    servers = [component for component in components if is_unclaimed(component)]
    claims: dict[Component, list[Component]] = {}
    for process in processes:
        if process.component.peers('http-server'):
            continue
        words = list(_mounted(process, stores)) if process.files else []
        found = [server for server in servers if any(_holds(word, server) for word in words)] or _started(process, servers)
        for server in found:
            claims.setdefault(server, []).append(process.component)
    for server, carriers in claims.items():
        if len(carriers) == 1:
            server.peer_map['carrier'] = Peers.of(carriers, True)
            for owner in (carriers[0], *carriers[0].peers('pod')):
                owner.peer_map['http-server'] = Peers.of([*owner.peers('http-server'), server], True)


def _started(process: Process, servers: list[Component]) -> list[Component]:
    """The only server of the name that `node dist/server.js` has, whatever a compiler made of its ending."""
    words = ' '.join(word.value for word in (*(process.entrypoint or ()), *(process.arguments or ()))).split()
    runs = next((at for at, word in enumerate(words) if os.path.basename(word) == 'node'), None)
    given = [word for word in words[runs + 1 :] if not word.startswith('-')] if runs is not None else []
    stems = [_stem(word) for word in given if word.endswith(_SCRIPTS)] or [_stem(word) for word in given[:1]]  # node finds dist/main.js as dist/main
    found = [server for server in servers if server.place.document.outer is None and _stem(server.place.document.path) in stems]
    return found if len(found) == 1 else []


def _stem(path: str) -> str:
    name = os.path.basename(path)
    return os.path.splitext(name)[0] if name.endswith(_SCRIPTS) else name


def _mounted(process: Process, stores: Stores) -> Iterator[Word]:
    for kind, name, key, *_ in process.files.values():
        data = stores.find(kind, process.component.scope, name) if kind == 'ConfigMap' else None
        yield from (word for own, word in (data.values if data is not None else {}).items() if not key or own == key)


def _holds(word: Word, server: Component) -> bool:
    text, at = word.place.outermost(), server.place.outermost()
    return text.document is at.document and text.start <= at.start < text.end
