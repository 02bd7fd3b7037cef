"""Helm charts: values beside templates, and the template that a rendered document came from."""

import os.path
from collections.abc import Callable
from typing import Any

from configaudit.extract.words import Word
from configaudit.parse.scalars import content
from configaudit.parse.tree import Map, Scalar
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.patterns import regex
from configaudit.places import Document

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
        return self._of(chart)

    def _of(self, chart: str) -> Lookup | None:
        if chart not in self._known:
            parent, below, name = chart.rpartition('/charts/')
            outer = self._of(parent) if below and parent and os.path.isfile(os.path.join(parent, 'Chart.yaml')) else None
            files = [os.path.join(chart, 'values.yaml'), *(() if outer is not None else self._extra)]
            self.files.extend(files)
            own = lookup([tree for file in files if (tree := _read(file)) is not None])
            self._known[chart] = _overridden(own, outer, name) if outer is not None else own
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


def _overridden(own: Lookup | None, outer: Lookup, name: str) -> Lookup:
    """The values of a chart inside another one, whose values for it count."""

    def find(path: str) -> Word | None:
        given = outer(path if path.startswith('global.') else f'{name}.{path}')
        return given if given is not None else own(path) if own is not None else None

    return find


def lookup(trees: list[tuple[Document, Map]]) -> Lookup | None:
    """What `.Values` is with these values files, the last first; None without one."""
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
