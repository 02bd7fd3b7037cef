"""What stands around a directive of a Caddyfile: snippets that are imported, matchers, the path that remains."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from configaudit.parse.caddyfile import Directive
from configaudit.parse.entries import Word
from configaudit.patterns import regex
from configaudit.places import Document

_DEPTH = 10
_ARGUMENT = regex(r'\{args(?:\.(\d+)|\[(\d+)\])\}')


class Scope(NamedTuple):
    """A file and its snippets by name."""

    document: Document
    snippets: Mapping[str, Directive]


def called(directive: Directive) -> str:
    """The name of a snippet `(name) { ... }`, or ''."""
    text = directive.name
    return text[1:-1] if directive.block is not None and text.startswith('(') and text.endswith(')') else ''


def inlined(scope: Scope, holder: Directive, depth: int = _DEPTH) -> Iterator[Directive]:
    """The directives of a block with its own snippets in place of their imports; the import of a file stays."""
    for item in holder.block or ():
        snippet = scope.snippets.get(item.args[0].text) if item.name == 'import' and item.args else None
        if snippet is None:
            yield item
        elif depth:
            filled = _filled(snippet, item.args[1:])
            yield from inlined(scope, filled, depth - 1)


def children(scope: Scope, holder: Directive) -> list[Directive]:
    return list(inlined(scope, holder))


def _filled(directive: Directive, arguments: tuple[Word, ...]) -> Directive:
    """A snippet with the arguments of its import; the places stay those of the snippet."""
    if not arguments:
        return directive
    words = tuple(word._replace(text=_ARGUMENT.sub(lambda found: _argument(found[1] or found[2], arguments), word.text)) for word in directive.words)
    block = None if directive.block is None else tuple(_filled(item, arguments) for item in directive.block)
    return directive._replace(words=words, block=block)


def _argument(index: str, arguments: tuple[Word, ...]) -> str:
    return arguments[int(index)].text if int(index) < len(arguments) else ''


def path_of(directive: Directive, matchers: Mapping[str, Directive], outer: str) -> str:
    """The path that a directive serves: its own matcher's, else the one around it."""
    first = directive.args[0].text if directive.args else ''
    if first.startswith('/'):
        return first
    if first.startswith('@') and first in matchers:
        named = matchers[first]
        lines = [named._replace(words=named.args), *(named.block or ())]
        paths = [word.text for line in lines if line.name in ('path', 'path_regexp') for word in line.args]
        return ' '.join(paths) or outer
    return outer
