"""Annotations of a release's source: which types a field takes, and what Annotated adds to them."""

import ast
from typing import Any, NamedTuple

from .evaluate import Evaluator
from .modules import Import
from .values import ClassRef

BUILTIN = {'int', 'float', 'str', 'bool', 'dict', 'list', 'tuple', 'set'}
ALIASES = {
    'Dict': 'dict',
    'Mapping': 'dict',
    'List': 'list',
    'Sequence': 'list',
    'Tuple': 'tuple',
    'Set': 'set',
    'Iterable': 'list',
}
# Wrappers whose first argument is the type.
WRAPPERS = {'Annotated', 'A', 'SkipValidation', 'Final', 'InitVar', 'Required'}


class Hint(NamedTuple):
    """One type of a union.

    `kind`: int float str bool dict list tuple set none literal class other; `options` of a literal; `items` of a
    collection; `cls` and `is_dataclass` of a class.
    """

    kind: str
    options: tuple[Any, ...] = ()
    items: tuple['Hint', ...] = ()
    cls: ClassRef | None = None
    open_ended: bool = False  # tuple[x, ...]

    @property
    def is_dataclass(self) -> bool:
        if self.cls is None:
            return False
        named = [each.func if isinstance(each, ast.Call) else each for each in self.cls.node.decorator_list]
        return any(ast.unparse(each).rpartition('.')[2] in ('dataclass', 'config') for each in named)


class Annotated(NamedTuple):
    """The types of an annotation and the values beside them in Annotated[...]."""

    hints: tuple[Hint, ...]
    extra: tuple[Any, ...] = ()

    def get(self, kind: str) -> Hint | None:
        return next((hint for hint in self.hints if hint.kind == kind), None)


def annotation(node: ast.expr, module: str, evaluator: Evaluator) -> Annotated:
    """What an annotation says; a name that is not in the sources is a type of kind `other`."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return annotation(ast.parse(node.value, mode='eval').body, module, evaluator)
        return Annotated((Hint('none' if node.value is None else 'other'),))
    if isinstance(node, ast.BinOp):
        left, right = annotation(node.left, module, evaluator), annotation(node.right, module, evaluator)
        return Annotated(left.hints + right.hints, left.extra + right.extra)
    if isinstance(node, ast.Subscript):
        return _subscript(node, module, evaluator)
    return _named(node, module, evaluator)


def _subscript(node: ast.Subscript, module: str, evaluator: Evaluator) -> Annotated:
    name = ast.unparse(node.value).rpartition('.')[2]
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == 'Literal':
        return Annotated((Hint('literal', tuple(_options(parts, module, evaluator))),))
    if name in WRAPPERS:
        inner = annotation(parts[0], module, evaluator)
        return Annotated(inner.hints, inner.extra + tuple(evaluator.values(parts[1:], module, {})))
    if name in ('Optional', 'Union'):
        found = [annotation(part, module, evaluator) for part in parts]
        none = (Hint('none'),) if name == 'Optional' else ()
        return Annotated(tuple(hint for each in found for hint in each.hints) + none)
    kind = ALIASES.get(name, name)
    if kind in ('list', 'tuple', 'set'):
        ellipsis = any(isinstance(part, ast.Constant) and part.value is ... for part in parts)
        items = annotation(parts[0], module, evaluator).hints
        return Annotated((Hint(kind, items=items, open_ended=ellipsis or kind != 'tuple'),))
    return Annotated((Hint(kind if kind in BUILTIN else 'other'),))


def _options(parts: list[ast.expr], module: str, evaluator: Evaluator) -> list[Any]:
    """The options of a Literal, which may hold other literals."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, ast.Constant):
            found.append(part.value)
        else:
            literal = annotation(part, module, evaluator).get('literal')
            found.extend(literal.options if literal else ())
    return found


def _class(cls: ClassRef) -> Hint:
    """A class; one that is made of a dictionary counts as one."""
    dictionary = any(ast.unparse(base).startswith(('dict', 'Dict')) for base in cls.node.bases)
    return Hint('dict') if dictionary else Hint('class', cls=cls)


def _named(node: ast.expr, module: str, evaluator: Evaluator) -> Annotated:
    name = ast.unparse(node)
    last = name.rpartition('.')[2]
    if isinstance(node, ast.Name) and name not in BUILTIN:
        found = evaluator.modules.resolve(module, name)
        if found and isinstance(found[1], ast.ClassDef):
            return Annotated((_class(ClassRef(found[0], found[1])),))
        if found and isinstance(found[1], (ast.Subscript, ast.BinOp)):
            return annotation(found[1], found[0], evaluator)
        if found and isinstance(found[1], ast.Call) and ast.unparse(found[1].func) == 'NewType':
            return Annotated((Hint('class'),))
    if isinstance(node, ast.Attribute):
        box = evaluator.value(node.value, module, {})
        text = getattr(box, 'text', '')
        found = evaluator.modules.resolve(text, node.attr) if text else None
        if found and isinstance(found[1], ast.ClassDef):
            return Annotated((_class(ClassRef(found[0], found[1])),))
        if found and not isinstance(found[1], (Import, ast.FunctionDef, ast.ClassDef)):
            return annotation(found[1], found[0], evaluator)
    kind = ALIASES.get(last, last)
    return Annotated((Hint(kind if kind in BUILTIN else 'other'),))
