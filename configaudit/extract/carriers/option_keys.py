"""Options that a resource spells as the keys of a mapping, as the words of a command line."""

import json
from collections.abc import Iterator

from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, Node, Scalar, key_place, place_of, plain
from configaudit.places import Document


def as_arguments(document: Document, options: Map) -> tuple[Word, ...]:
    """`key: value` as `--key value`, switches with their truth value behind them, an empty value as nothing: what kthena and KAITO make of it."""
    words: list[Word] = []
    for key, node in options.items():
        words.append(_name(document, options, key))
        value = _value(document, node)
        if value is not None and value.value:
            words.append(value)
    return tuple(words)


def as_keywords(document: Document, options: Map) -> tuple[Word, ...]:
    """Keyword arguments of a Python engine: a switch that is on as `--key`, one that is off as `--no-key`, None as nothing."""
    return tuple(_keywords(document, options))


def _keywords(document: Document, options: Map) -> Iterator[Word]:
    for key, node in options.items():
        given = plain(node)
        if given is None:
            continue
        name = _name(document, options, key)
        if given is False:
            yield name._replace(value=f'--no-{key}')
        else:
            yield name
            value = _value(document, node) if given is not True else None
            if value is not None:
                yield value


def _name(document: Document, options: Map, key: str) -> Word:
    return Word('--' + key, key_place(document, options, key))


def _value(document: Document, node: Node) -> Word | None:
    """A value as one word; a mapping or list as JSON, which no fix may write."""
    if isinstance(node, Scalar):
        return word_of(document, node)
    return Word(json.dumps(plain(node)), place_of(document, node), False)
