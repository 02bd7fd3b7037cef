"""Helm charts: values beside templates, and rendered output led back to the template it came from."""

import os.path
from collections.abc import Callable
from typing import Any

from configaudit.extract.words import Word
from configaudit.parse.scalars import content
from configaudit.parse.tree import Map, Scalar
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.patterns import regex
from configaudit.places import Document, Place, locate

Lookup = Callable[[str], 'Word | None']
_SOURCE = regex(rb'\A(?:---[^\n]*\n)?(?:\s*\n)*# Source: ([^\n\r]+)')
MAX_VALUES = 4 * 2**20


class Charts:
    """The values of every chart met, read once."""

    def __init__(self, extra: tuple[str, ...] = ()) -> None:
        self._extra = extra
        self._known: dict[str, Lookup | None] = {}
        self.files: list[str] = []
        """Values files that were looked for."""

    def values_for(self, path: str) -> Lookup | None:
        """The lookup for a template's `.Values`, from values.yaml in its chart and the files given by option."""
        before, found, _ = path.rpartition('/templates/')
        if not found and not path.startswith('templates/'):
            return None
        chart = before or '.'
        if chart not in self._known:
            files = [os.path.join(chart, 'values.yaml'), *self._extra]
            self.files.extend(files)
            self._known[chart] = _lookup([tree for file in files if (tree := _read(file)) is not None])
        return self._known[chart]


def _read(path: str) -> tuple[Document, Map] | None:
    try:
        with open(path, 'rb') as file:
            data = file.read(MAX_VALUES)
        roots = parse(data).roots
    except (OSError, SyntaxProblem):
        return None
    document = Document(os.path.normpath(path).replace(os.sep, '/'), 'yaml', data)
    return (document, roots[0]) if roots and isinstance(roots[0], Map) else None


def _lookup(trees: list[tuple[Document, Map]]) -> Lookup | None:
    if not trees:
        return None

    def find(path: str) -> Word | None:
        for document, root in reversed(trees):
            node: Any = root
            for key in path.split('.'):
                node = node.get(key) if isinstance(node, Map) else None
            if isinstance(node, Scalar) and (node.value or node.style):
                if not node.style and node.value in ('null', '~'):
                    return None
                return Word(node.value, content(document, node))
        return None

    return find


def rendered_from(data: bytes) -> str:
    """The template that `helm template` says a document came from, or ''."""
    match = _SOURCE.match(data[:4096])
    return match[1].decode('utf-8', 'replace').strip() if match else ''


class Templates:
    """Leads places in rendered output back to the lines of their templates, where those are on disk."""

    def __init__(self) -> None:
        self._known: dict[str, Document | None] = {}

    def place(self, place: Place, source: str) -> Place | None:
        """The line of the template that wrote the line of a place; None when it cannot be told."""
        document = self._document(source)
        if document is None:
            return None
        outer = place.outermost()
        at = locate(outer)
        lines = outer.document.data.decode('utf-8', 'replace').splitlines()
        number = at.line - outer.document.line
        wanted = lines[number].strip() if number < len(lines) else ''
        key = wanted.removeprefix('- ').split(':')[0].split('=')[0].strip('"\' ')
        offset = 0
        best: Place | None = None
        for line in document.text.splitlines(keepends=True):
            body = line.strip()
            start = offset + line.find(body)
            if body == wanted:
                return Place(document, start, start + len(body))
            if best is None and key and key in body and not body.startswith('#'):
                best = Place(document, start, start + len(body))
            offset += len(line)
        return best or Place(document, 0, 0)

    def _document(self, source: str) -> Document | None:
        if source not in self._known:
            self._known[source] = self._read(source)
        return self._known[source]

    @staticmethod
    def _read(source: str) -> Document | None:
        clean = os.path.normpath(source)
        if os.path.isabs(clean) or clean.startswith('..'):
            return None
        for path in (clean, clean.partition('/')[2], os.path.join('charts', clean)):
            if path and os.path.isfile(path):
                try:
                    with open(path, 'rb') as file:
                        return Document(path.replace(os.sep, '/'), 'template', file.read(MAX_VALUES), note='it is written by a template')
                except OSError:
                    return None
        return None
