"""Whose server a file in a ConfigMap configures: that of the one process that mounts it."""

from collections.abc import Iterable, Iterator

from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.model import Component, Peers


def is_unclaimed(component: Component) -> bool:
    """Whether it is a server that a file inside another describes, and no process is known to run it."""
    return component.kind.name == 'http-server' and 'carrier' not in component.peer_map and component.place.document.outer is not None


def claim(components: Iterable[Component], processes: Iterable[Process], stores: Stores) -> None:
    """Peers `carrier` of such servers, and `http-server` of their carriers; a process that has a server already keeps that one."""
    servers = [component for component in components if is_unclaimed(component)]
    claims: dict[Component, list[Component]] = {}
    for process in processes:
        if process.files and not process.component.peers('http-server'):
            words = list(_mounted(process, stores))
            for server in servers:
                if any(_holds(word, server) for word in words):
                    claims.setdefault(server, []).append(process.component)
    for server, carriers in claims.items():
        if len(carriers) == 1:
            server.peer_map['carrier'] = Peers.of(carriers, True)
            for owner in (carriers[0], *carriers[0].peers('pod')):
                owner.peer_map['http-server'] = Peers.of([*owner.peers('http-server'), server], True)


def _mounted(process: Process, stores: Stores) -> Iterator[Word]:
    for kind, name, key, *_ in process.files.values():
        data = stores.find(kind, process.component.scope, name) if kind == 'ConfigMap' else None
        yield from (word for own, word in (data.values if data is not None else {}).items() if not key or own == key)


def _holds(word: Word, server: Component) -> bool:
    text, at = word.place.outermost(), server.place.outermost()
    return text.document is at.document and text.start <= at.start < text.end
