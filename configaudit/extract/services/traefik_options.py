"""Traefik's options in one form: path in lower case -> the word that stands there, whatever wrote it."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, Scalar, Seq
from configaudit.places import Document, Place

Options: TypeAlias = Mapping[str, Word]
_DEPTH = 20


def flat_tree(document: Document, root: Map) -> dict[str, Word]:
    """The scalars of a YAML tree; an empty mapping stands as its own key."""
    found: dict[str, Word] = {}
    _flatten(document, root, '', found, _DEPTH)
    return found


def _flatten(document: Document, node: Any, path: str, found: dict[str, Word], depth: int) -> None:
    if depth == 0:
        return
    if isinstance(node, Map):
        for key, value in node.items():
            _flatten(document, value, f'{path}.{key}'.lower().lstrip('.'), found, depth - 1)
        if not node and path:
            found[path] = Word('', Place(document, node.start, node.start + 1), False)
    elif isinstance(node, Seq):
        for at, item in enumerate(node):
            _flatten(document, item, f'{path}[{at}]', found, depth - 1)
    elif isinstance(node, Scalar):
        word = word_of(document, node)
        if word is not None:
            found[path] = word


def flat_toml(document: Document) -> dict[str, Word]:
    """The entries of a TOML file; an array's items share its place."""
    from configaudit.parse import toml

    found: dict[str, Word] = {}
    file = toml.read(document.text)
    for table in file.tables:
        found[_joined(table.path)] = Word('', Place(document, table.start, table.end), False)
    for entry in file.entries:
        place, path = Place(document, entry.start, entry.end), _joined(entry.path)
        values = entry.value if isinstance(entry.value, list) else [entry.value]
        for at, value in enumerate(values):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            found[f'{path}[{at}]' if isinstance(entry.value, list) else path] = Word(text, place, False)
    return found


def _joined(path: tuple[str, ...]) -> str:
    """A path in which an index stands in brackets, as in the other forms."""
    text = ''
    for part in path:
        text += f'[{part}]' if part.isdigit() and text else f'.{part}'
    return text.lstrip('.').lower()


def flat_words(words: Iterable[Word]) -> dict[str, Word]:
    """The flags of a command line, '--a.b=c', '--a.b c' and '--a.b' alone."""
    found: dict[str, Word] = {}
    waiting = ''
    for word in words:
        if word.value.startswith('--'):
            name, equals, value = word.value[2:].partition('=')
            waiting = '' if equals else name.lower()
            place = word.place.part(len(name) + 3, len(word.value)) if equals and word.pure else word.place
            found[name.lower()] = word.tail or word._replace(value=value if equals else 'true', place=place)
        elif waiting:
            found[waiting] = word
            waiting = ''
    return found


def under(options: Options, path: str) -> dict[str, Word]:
    """The options below a path, their paths from there."""
    prefix = path.lower() + '.'
    inner = {key[len(prefix) :]: word for key, word in options.items() if key.startswith(prefix)}
    return inner or ({'': options[path.lower()]} if path.lower() in options else {})


def names_below(options: Options, path: str) -> list[str]:
    """The names right below a path."""
    prefix = path.lower() + '.'
    return list(dict.fromkeys(key[len(prefix) :].partition('.')[0].partition('[')[0] for key in options if key.startswith(prefix)))
