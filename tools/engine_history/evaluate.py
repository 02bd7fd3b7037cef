"""Expressions of a release's source as values, as far as they are fixed in the source."""

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from .modules import Definition, Import, Modules
from .values import UNKNOWN, Applied, ClassRef, FunctionRef, Member, Name, Unknown

Scope = dict[str, Any]

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, box: item in box,
    ast.NotIn: lambda item, box: item not in box,
}
COLLECTIONS: dict[str, Callable[[Any], Any]] = {'list': list, 'sorted': sorted, 'set': set, 'tuple': tuple, 'dict': dict}
# What the expression `.x()` of a known string, list or dictionary gives.
METHODS = {'keys', 'values', 'items', 'replace', 'lower', 'upper', 'strip', 'lstrip', 'copy', 'get', 'pop', 'join', 'split'}
ENUMS = {'Enum', 'StrEnum', 'IntEnum'}
LIMIT = 64  # nested definitions that refer to one another


def known(*values: Any) -> bool:
    """Whether no value is open, not even inside a sequence."""
    return not any(isinstance(each, (Unknown, Applied, Name, ClassRef, FunctionRef)) for each in values)


class Evaluator:
    """Reads the expressions of one release. Subclasses add what a call does."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self._depth = 0

    def value(self, node: ast.expr, module: str, scope: Scope) -> Any:
        """The value of an expression; what depends on the running engine is `UNKNOWN`."""
        if self._depth > LIMIT:
            return UNKNOWN
        self._depth += 1
        try:
            method = getattr(self, f'_{type(node).__name__.lower()}', None)
            return method(node, module, scope) if method else UNKNOWN
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError):
            return UNKNOWN
        finally:
            self._depth -= 1

    def values(self, nodes: Iterable[ast.expr], module: str, scope: Scope) -> list[Any]:
        """The items of a display or of a call; `*x` gives those of x."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.iterate(self.value(node.value, module, scope))
                found.extend(inner if inner is not None else [UNKNOWN])
            else:
                found.append(self.value(node, module, scope))
        return found

    def iterate(self, value: Any) -> list[Any] | None:
        """The items of a value that can be looped over, None when they are open."""
        if isinstance(value, ClassRef):
            return [Member(name, item) for name, item in self._enum_items(value)]
        if isinstance(value, (Unknown, Name, Applied, FunctionRef, Member, str)):
            return None
        return list(value) if hasattr(value, '__iter__') else None

    def _enum_items(self, cls: ClassRef) -> list[tuple[str, Any]]:
        found = []
        for number, node in enumerate(each for each in cls.node.body if isinstance(each, ast.Assign)):
            if isinstance(node.targets[0], ast.Name):
                item = self.value(node.value, cls.module, {})
                found.append((node.targets[0].id, number + 1 if isinstance(item, Applied) else item))
        return found

    def named(self, module: str, name: str) -> Any:
        """What a name of a module stands for."""
        found = self.modules.resolve(module, name)
        return self.defined(*found) if found else Name(name)

    def defined(self, module: str, found: Definition) -> Any:
        if isinstance(found, ast.ClassDef):
            return ClassRef(module, found)
        if isinstance(found, ast.FunctionDef):
            return FunctionRef(module, found)
        return Name(found.module) if isinstance(found, Import) else self.value(found, module, {})

    def _constant(self, node: ast.Constant, module: str, scope: Scope) -> Any:
        return node.value

    def _name(self, node: ast.Name, module: str, scope: Scope) -> Any:
        return scope[node.id] if node.id in scope else self.named(module, node.id)

    def _list(self, node: ast.List, module: str, scope: Scope) -> Any:
        return self.values(node.elts, module, scope)

    def _tuple(self, node: ast.Tuple, module: str, scope: Scope) -> Any:
        return tuple(self.values(node.elts, module, scope))

    def _set(self, node: ast.Set, module: str, scope: Scope) -> Any:
        return set(self.values(node.elts, module, scope))

    def _dict(self, node: ast.Dict, module: str, scope: Scope) -> Any:
        found: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values):
            value = self.value(item, module, scope)
            if key is None:
                found.update(value if isinstance(value, dict) else {})
            else:
                found[self.value(key, module, scope)] = value
        return found

    def _joinedstr(self, node: ast.JoinedStr, module: str, scope: Scope) -> Any:
        parts = [
            self.value(part.value if isinstance(part, ast.FormattedValue) else part, module, scope)
            for part in node.values
        ]
        return ''.join(map(str, parts)) if known(*parts) else UNKNOWN

    def _unaryop(self, node: ast.UnaryOp, module: str, scope: Scope) -> Any:
        value = self.value(node.operand, module, scope)
        if not known(value):
            return UNKNOWN
        return not value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else UNKNOWN

    def _binop(self, node: ast.BinOp, module: str, scope: Scope) -> Any:
        sides = self.value(node.left, module, scope), self.value(node.right, module, scope)
        return OPERATORS[type(node.op)](*sides) if known(*sides) else UNKNOWN

    def _boolop(self, node: ast.BoolOp, module: str, scope: Scope) -> Any:
        values = [self.value(each, module, scope) for each in node.values]
        if not known(*values):
            return UNKNOWN
        return all(values) if isinstance(node.op, ast.And) else any(values)

    def _compare(self, node: ast.Compare, module: str, scope: Scope) -> Any:
        left, right = self.value(node.left, module, scope), self.value(node.comparators[0], module, scope)
        return COMPARISONS[type(node.ops[0])](left, right) if known(left, right) else UNKNOWN

    def _ifexp(self, node: ast.IfExp, module: str, scope: Scope) -> Any:
        test = self.value(node.test, module, scope)
        return self.value(node.body if test else node.orelse, module, scope) if known(test) else UNKNOWN

    def _subscript(self, node: ast.Subscript, module: str, scope: Scope) -> Any:
        box = self.value(node.value, module, scope)
        return box[self.value(node.slice, module, scope)] if known(box) else UNKNOWN

    def _listcomp(self, node: ast.ListComp, module: str, scope: Scope) -> Any:
        loop = node.generators[0]
        items = self.iterate(self.value(loop.iter, module, scope))
        if items is None or len(node.generators) > 1 or loop.ifs or not isinstance(loop.target, ast.Name):
            return UNKNOWN
        return [self.value(node.elt, module, {**scope, loop.target.id: item}) for item in items]

    def _lambda(self, node: ast.Lambda, module: str, scope: Scope) -> Any:
        return Applied('lambda', () if node.args.args else (self.value(node.body, module, scope),))

    def _attribute(self, node: ast.Attribute, module: str, scope: Scope) -> Any:
        return self.attribute(self.value(node.value, module, scope), node.attr)

    def attribute(self, box: Any, name: str) -> Any:
        """`box.name` of a module, a class or a member of an enumeration."""
        if isinstance(box, Name):
            if box.text.endswith('.envs'):
                return UNKNOWN  # the environment of the running engine decides
            return self.named(box.text, name) if self.modules.path(box.text) else Name(f'{box.text}.{name}')
        if isinstance(box, Member):
            return getattr(box, name, UNKNOWN)
        return self.member(box, name) if isinstance(box, ClassRef) else UNKNOWN

    def member(self, cls: ClassRef, name: str, after: ClassRef | None = None) -> Any:
        """An attribute of a class: a method, or the default of a field."""
        found = self.modules.member(cls, name, after=after)
        if found is None:
            return UNKNOWN
        where, what = found
        if isinstance(what, ast.FunctionDef):
            return FunctionRef(where.module, what, cls)
        value = self.defined(where.module, what)
        if any(ast.unparse(base).rpartition('.')[2] in ENUMS for base in where.node.bases):
            return Member(name, value)
        return self.field_default(value) if isinstance(value, Applied) else value

    def field_default(self, value: Any) -> Any:
        """The default that `field(...)` or `Field(...)` declares; any other value as it is."""
        if not isinstance(value, Applied) or value.function.rpartition('.')[2] not in ('field', 'Field'):
            return value
        keywords = dict(value.keywords)
        if 'default' in keywords:
            return keywords['default']
        factory = keywords.get('default_factory')
        empty: dict[str, Any] = {'list': [], 'dict': {}, 'set': []}
        if isinstance(factory, Name):
            return empty.get(factory.text, UNKNOWN)
        if isinstance(factory, Applied) and factory.function == 'lambda' and factory.arguments:
            return factory.arguments[0]
        return value.arguments[0] if value.arguments and not factory else UNKNOWN

    def _call(self, node: ast.Call, module: str, scope: Scope) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            box = self.value(node.func.value, module, scope)
            if isinstance(box, (str, list, dict, set, tuple)) and type(box) in (str, list, dict, set, tuple):
                return getattr(box, node.func.attr)(*self.values(node.args, module, scope))
        function = self.value(node.func, module, scope)
        arguments = self.values(node.args, module, scope)
        keywords: dict[str, Any] = {}
        for each in node.keywords:
            item = self.value(each.value, module, scope)
            keywords.update({each.arg: item} if each.arg else item if isinstance(item, dict) else {})
        return self.call(function, arguments, keywords, node, module, scope)

    def call(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], node: ast.Call, module: str, scope: Scope
    ) -> Any:
        """What a call gives: a collection, a number, or the call itself."""
        name = function.text if isinstance(function, Name) else ast.unparse(node.func)
        if name in COLLECTIONS and len(arguments) == 1 and not keywords:
            items = self.iterate(arguments[0])
            return UNKNOWN if items is None else COLLECTIONS[name](arguments[0] if name == 'dict' else items)
        if name in COLLECTIONS and not arguments:
            return COLLECTIONS[name](()) if name != 'dict' else dict(keywords)
        if name in ('int', 'float', 'str') and known(*arguments) and len(arguments) == 1:
            return {'int': int, 'float': float, 'str': str}[name](arguments[0])
        return Applied(name, tuple(arguments), tuple(keywords.items()))
