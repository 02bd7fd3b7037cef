"""Java and Kotlin source in one shape: expressions, what names stand for, and the calls of every function in the order of the text."""

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, Optional

from configaudit.parse.grammar import place_of, tree_of
from configaudit.places import Document, Place

MAX_DEPTH = 20
"""Of values inside one another."""
MAX_LINKS = 200
"""Of calls in one chain."""


class Expr(NamedTuple):
    """An expression. `kind`: name, field, call, new, cast, number, text, bool, binary, unary, property (of Spring), block (of an `apply`), or other."""

    kind: str
    name: str
    """Of a call its method, of `new` and a cast the type, of an operation its operator, of a literal its text."""
    node: Any
    of: Optional['Expr'] = None
    """What a call or a field is taken of."""
    arguments: tuple['Expr', ...] = ()


class Event(NamedTuple):
    """A chain of calls, and the variable or field that its result is put into, or ''."""

    holder: str
    expr: Expr


class Scope:
    """A function, or the classes of the file outside of functions."""

    def __init__(self, node: Any, outer: Optional['Scope'] = None) -> None:
        self.node = node
        self.outer = outer
        self.names: dict[str, list[Expr | None]] = {}
        """Name -> the expressions it is bound to; None for what no expression shows."""
        self.types: dict[str, str] = {}
        """Parameter -> its type as it is written."""
        self.events: list[Event] = []
        self.returned: set[str] = set()

    def values(self, name: str) -> list[Expr | None]:
        """Everything that a name is bound to, here or outside."""
        found = self.names.get(name)
        return found if found is not None else self.outer.values(name) if self.outer is not None else []

    def assign(self, name: str, value: Expr | None) -> None:
        """One more value of a name that is declared here or outside; the properties of an `apply` block are no names."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        if scope is not None:
            scope.names[name].append(value)


class Language(NamedTuple):
    """What differs between the languages."""

    name: str
    form: str
    functions: frozenset[str]
    branches: frozenset[str]
    """Nodes under which a call may not happen."""
    members: Callable[['Source', Any], Iterator[Any]]
    """Imports, fields and functions of a file."""
    walk: Callable[['Source', Any, Scope], None]


class Source:
    """A parsed file. A function with a syntax error is left out, and so is one without any of `words`."""

    def __init__(self, document: Document, language: Language, words: Collection[bytes]) -> None:
        self.document = document
        self.language = language
        self.data = data = document.parsed[document.bom :]
        self.imports: dict[str, str] = {}
        """Simple name -> full name."""
        self.packages: list[str] = []
        """Of imports with a star."""
        self.package = Scope(tree_of(language.form, data))
        self.scopes = [self.package]
        functions = []
        for node in language.members(self, self.package.node):
            if node.type not in language.functions:
                language.walk(self, node, self.package)
            elif not node.has_error and any(data.find(word, node.start_byte, node.end_byte) >= 0 for word in words):
                functions.append(node)
        for node in functions:
            self.scopes.append(scope := Scope(node, self.package))
            language.walk(self, node, scope)

    def text(self, node: Any) -> str:
        """What stands in the file."""
        return self.data[node.start_byte : node.end_byte].decode('utf-8', 'replace')

    def place(self, node: Any) -> Place:
        """Where a node stands."""
        return place_of(self.document, self.data, node)

    def add_import(self, name: str) -> None:
        """Take in 'a.b.C' or 'a.b.*'."""
        package, _, last = name.rpartition('.')
        if last == '*':
            self.packages.append(package)
        else:
            self.imports[last] = name

    def comes_from(self, name: str, prefix: str) -> bool:
        """Whether a type, as it is written, is imported from below a package."""
        first = name.partition('.')[0]
        full = self.imports.get(first, name if first[:1].islower() else '')
        return full.startswith(prefix) or (not full and any(package.startswith(prefix) for package in self.packages))

    def is_certain(self, node: Any, birth: Any) -> bool:
        """Whether a call happens wherever the object that is born at another node does."""
        while node is not None and not (node.start_byte <= birth.start_byte and birth.end_byte <= node.end_byte):
            if node.type in self.language.branches and not self._applies(node):
                return False
            node = node.parent
        return True

    def _applies(self, node: Any) -> bool:
        """Whether a lambda is that of `apply` and the like, which always runs."""
        if node.type != 'lambda_literal' or node.parent is None or node.parent.parent is None:
            return False
        start = node.parent.parent.start_byte
        return re.search(rb'\b(?:apply|also|run|let|with)\s*(?:\([^()]*\)\s*)?$', self.data[start : node.start_byte][-200:]) is not None


def dotted(expr: Expr | None) -> str:
    """'a.b.C' of names and fields, or ''."""
    parts: list[str] = []
    while expr is not None and expr.kind in ('name', 'field') and len(parts) < 20:
        parts.append(expr.name)
        expr = expr.of
    return '.'.join(reversed(parts)) if expr is None else ''


def links(expr: Expr) -> list[Expr]:
    """A chain from its start: `a.b(1).c(2)` is a, a.b(1), a.b(1).c(2)."""
    found = [expr]
    while found[-1].kind in ('call', 'field') and found[-1].of is not None and len(found) < MAX_LINKS:
        found.append(found[-1].of)
    return found[::-1]


def settled(expr: Expr, scope: Scope) -> Expr:
    """The expression that a name stands for, when it is bound once."""
    for _ in range(MAX_DEPTH):
        if expr.kind == 'cast' and expr.arguments:
            expr = expr.arguments[0]
            continue
        is_own = expr.kind == 'field' and expr.of is not None and expr.of.kind == 'name' and (expr.of.name == 'this' or expr.of.name[:1].isupper())
        if expr.kind != 'name' and not is_own:
            return expr
        where = scope
        while is_own and where.outer is not None:
            where = where.outer
        values = where.values(expr.name)
        if len(values) != 1 or values[0] is None:
            return expr
        expr = values[0]
    return expr
