"""Python source: the calls in it whose names a reader asks for, with constants folded and places kept.

The standard library's `ast` reads it; nothing is imported or run. A name stands for a value when the file binds it once.
"""

import ast
import json
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from configaudit.parse.folding import Unfolded as Unfolded
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

MAX_DEPTH = 20
"""Of values inside one another."""
MAX_STEPS = 5000
"""Of working one value out."""
MAX_TEXT = 4096
_LINE_END = regex(r'\r\n|\r|\n')


class Unreadable(Exception):
    """The text is not Python, or nests deeper than the parser goes."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Source:
    """A parsed file: its calls and the values of its names."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        self.tree = tree_of(self.text)
        self.nodes = list(ast.walk(self.tree))
        """All that the file is made of, outer before inner."""
        self.imports = dict(_imports(self.nodes))
        """Name in the file -> what it stands for: 'LLM' -> 'vllm.LLM'."""
        self._starts = _starts(self.text)
        self._first, self._bound = _bindings(self.nodes)
        self._left = MAX_STEPS
        self._calls: list[tuple[str, ast.Call]] | None = None

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Every call of an imported name, by its full name, in the order of the file."""
        if self._calls is None:
            found = [(name, node) for node in self.nodes if isinstance(node, ast.Call) and (name := self.name_of(node.func))]
            self._calls = sorted(found, key=lambda item: (item[1].lineno, item[1].col_offset))
        yield from self._calls

    def name_of(self, node: ast.expr) -> str:
        """The full name of `LLM` or `vllm.LLM`; '' for what is no imported name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < MAX_DEPTH:
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports:
            return ''
        return '.'.join((self.imports[node.id], *reversed(parts)))

    def settled(self, node: ast.expr) -> ast.expr:
        """The expression that a name stands for, when the file binds it once and changes it nowhere."""
        for _ in range(MAX_DEPTH):
            if not isinstance(node, ast.Name):
                return node
            value = self._bound.get(node.id)
            if value is None:
                return node
            node = value
        return node

    def first(self, node: ast.expr) -> tuple[ast.expr, bool]:
        """What a name is at first, where one plain assignment says so, and whether something may change it later."""
        if not isinstance(node, ast.Name) or node.id not in self._first:
            return node, False
        return self._first[node.id], node.id not in self._bound

    def value(self, node: ast.expr) -> Any:
        """The constant an expression comes to. Raises Unfolded."""
        self._left = MAX_STEPS
        return self._value(node, MAX_DEPTH)

    def outline(self, node: ast.expr) -> str | None:
        """The text that an expression comes to, with a hole for every part that is worked out; None for what is no text in parts."""
        self._left = MAX_STEPS
        node = self.settled(node)
        parts = self._parts(node, MAX_DEPTH) if isinstance(node, (ast.JoinedStr, ast.BinOp)) else None
        return ''.join(parts)[:MAX_TEXT] if parts is not None else None

    def _parts(self, node: ast.expr, depth: int) -> list[str] | None:
        node = self.settled(node)
        self._left -= 1
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [node.value]
        if not depth or self._left < 0:
            return None
        if isinstance(node, ast.JoinedStr):
            return [part for value in node.values for part in self._parts(_part(value), depth - 1) or [HOLE]]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._parts(node.left, depth - 1), self._parts(node.right, depth - 1)
            return [*(left or [HOLE]), *(right or [HOLE])] if left or right else None
        return None

    def _value(self, node: ast.expr, depth: int) -> Any:
        node = self.settled(node)
        self._left -= 1
        if isinstance(node, ast.Constant):
            return node.value
        if not depth or self._left < 0:
            raise Unfolded
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._value(item, depth - 1) for item in node.elts]
        pairs = self.pairs(node)
        if pairs is not None:
            return {name: self._value(item, depth - 1) for name, item in pairs.items()}
        if isinstance(node, ast.JoinedStr):
            return ''.join(str(self._value(_part(part), depth - 1)) for part in node.values)
        return self._computed(node, depth)

    def _computed(self, node: ast.expr, depth: int) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._value(node.operand, depth - 1)
            if isinstance(value, (int, float)):
                return -value
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left, depth - 1), self._value(node.right, depth - 1)
            both_text = isinstance(left, str) and isinstance(right, str) and len(left) + len(right) < MAX_TEXT
            both_numbers = all(isinstance(part, (int, float)) and abs(part) < 2**53 for part in (left, right))
            if isinstance(node.op, ast.Add) and (both_text or both_numbers):
                return left + right
            if isinstance(node.op, ast.Mult) and both_numbers:
                return left * right
        raise Unfolded

    def pairs(self, node: ast.expr) -> dict[str, ast.expr] | None:
        """The entries of `{...}` or `dict(...)` with constant keys; None for anything else."""
        node = self.settled(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == 'dict' and not node.args:
            return {word.arg: word.value for word in node.keywords if word.arg} if all(word.arg for word in node.keywords) else None
        if not isinstance(node, ast.Dict):
            return None
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        return dict(zip(keys, node.values, strict=True)) if all(isinstance(key, str) for key in keys) else None  # type: ignore[arg-type]

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        start = self._index(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return Place(self.document, start, max(start, self._index(node.end_lineno, node.end_col_offset)))  # type: ignore[attr-defined]

    def _index(self, line: int, column: int) -> int:
        begin = self._starts[min(line, len(self._starts)) - 1]
        if self.document.parsed.isascii():
            return begin + column
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return begin + len(self.text[begin:end].encode()[:column].decode('utf-8', 'replace'))


def tree_of(text: str) -> ast.Module:
    """The syntax tree. Raises Unreadable, and nothing else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return ast.parse(text)
    except SyntaxError as error:
        raise Unreadable(error.msg, error.lineno or 1, max(error.offset or 1, 1)) from None
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        raise Unreadable(str(error) or 'nested too deeply') from None


def spelled(value: Any) -> str:
    """A folded value as a word of a command line: mappings and lists of settings are JSON there."""
    return value if isinstance(value, str) else json.dumps(value, default=str) if isinstance(value, (dict, list)) else str(value)


def _part(node: ast.expr) -> ast.expr:
    """What stands in the braces of an f-string, as it is: formatting may change it."""
    if not isinstance(node, ast.FormattedValue):
        return node
    if node.format_spec is not None or node.conversion != -1:
        raise Unfolded
    return node.value


def _starts(text: str) -> list[int]:
    """The offset of every line as Python counts them."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition('.')[0], alias.name if alias.asname else alias.name.partition('.')[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f'{node.module}.{alias.name}'


def _bindings(nodes: Iterable[ast.AST]) -> tuple[Mapping[str, ast.expr], Mapping[str, ast.expr]]:
    """Name -> its value: of names that one plain assignment binds, and of those that nothing else binds or changes."""
    count: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    again: set[str] = set()
    for node in nodes:
        for name in _bound_by(node):
            count[name] = count.get(name, 0) + 1
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if isinstance(target, ast.Name):
            if target.id in values:
                again.add(target.id)
            values[target.id] = value
    first = {name: value for name, value in values.items() if name not in again}
    return first, {name: value for name, value in first.items() if count[name] == 1}


_CHANGES: Collection[str] = ('update', 'append', 'extend', 'insert', 'pop', 'setdefault', 'remove', 'clear')


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Names that a node binds or changes."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition('.')[0]
    elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
        yield node.value.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    elif isinstance(node, ast.Attribute) and node.attr in _CHANGES and isinstance(node.value, ast.Name):
        yield node.value.id
