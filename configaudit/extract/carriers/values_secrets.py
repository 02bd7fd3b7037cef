"""Credentials among chart values: what a key calls a token, password or key, for the rule that knows their shapes."""

from collections.abc import Iterator

from configaudit.extract.process import Reading
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.objects import SECRET
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Scalar, Seq, place_of
from configaudit.patterns import regex
from configaudit.places import Document

_KEYS = regex(r'token|key|secret|password', 2)
_DEPTH = 8


def read_secrets(document: Document, root: Map, reading: Reading) -> None:
    """Add a component with the values whose keys name a credential and that no process of the reading holds already."""
    seen = {value.place.start for process in reading.processes for variable in process.environment if isinstance(value := variable.value, Word)}
    values = {path: word for path, word in _named(document, root, (), _DEPTH) if word.place.start not in seen}
    if values:
        name = document.path.rpartition('/')[2]
        secret = Component(SECRET, name, f'chart values/{name}/credentials', place_of(document, root), {})
        secret.settings['values'] = Setting('values', values, secret.place)
        reading.components.append(secret)


def _named(document: Document, node: Map | Seq, path: tuple[str, ...], depth: int) -> Iterator[tuple[str, Word]]:
    pairs = node.items() if isinstance(node, Map) else ((str(at), item) for at, item in enumerate(node[:200]))
    for key, value in pairs:
        if isinstance(value, (Map, Seq)) and depth:
            yield from _named(document, value, (*path, key), depth - 1)
        elif isinstance(value, Scalar) and value.value and _KEYS.search(key):
            word = word_of(document, value)
            if word is not None and word.known:
                yield '.'.join((*path, key)), word
