"""What is wrong with a document as text: keys that stand twice in one mapping."""

from configaudit.knowledge.objects import DOCUMENT
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, text
from configaudit.parse.yaml import Duplicate
from configaudit.places import Document, Place


def duplicate_keys(document: Document, root: Map, duplicates: tuple[Duplicate, ...]) -> list[Component]:
    """One component for a document with keys that stand twice; a template may choose between them."""
    places = tuple((found.key, _place(document, found.key, found.first), _place(document, found.key, found.second)) for found in duplicates)
    if document.template is not None:
        places = tuple(place for place in places if b'{' not in _between(document, place[1], place[2]))
    if not places:
        return []
    name = text(root, 'metadata', 'name') or document.path.rpartition('/')[2]
    kind = text(root, 'kind') or 'document'
    identity = '/'.join(filter(None, (kind, text(root, 'metadata', 'namespace'), name, 'document')))
    return [Component(DOCUMENT, name, identity, places[0][2], {'duplicates': Setting('duplicates', places, places[0][2])})]


def _place(document: Document, key: str, start: int) -> Place:
    quote = document.text[start : start + 1] in ('"', "'")
    return Place(document, start, start + len(key) + 2 * quote)


def _between(document: Document, first: Place, second: Place) -> bytes:
    """The original text between two keys; in a template an action there may choose one of them."""
    base = document.base
    return document.data[document.byte_of(first.end) - base : document.byte_of(second.start) - base]
