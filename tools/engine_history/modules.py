"""The modules of a release: what their names stand for, through imports, without importing anything."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from .values import ClassRef, FunctionRef


class Import(NamedTuple):
    """`from module import name` (name '' for `import module`)."""

    module: str
    name: str


Definition = ast.ClassDef | ast.FunctionDef | ast.expr | Import


@lru_cache(maxsize=512)
def parse(text: str) -> ast.Module:
    """Releases share most of their files, and a text is parsed once."""
    return ast.parse(text)


def _imports(node: ast.stmt, package: str) -> Iterator[tuple[str, Definition]]:
    if isinstance(node, ast.ImportFrom):
        base = package
        for _ in range(node.level - 1):
            base = base.rpartition('.')[0]
        source = '.'.join(filter(None, (base if node.level else '', node.module or '')))
        for alias in node.names:
            yield alias.asname or alias.name, Import(source, alias.name)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name, Import(alias.name, '')


def definitions(body: Iterable[ast.stmt], package: str) -> dict[str, Definition]:
    """Name -> what it is bound to at the top of a module; in alternatives (if, try) the first one counts."""
    found: dict[str, Definition] = {}
    for node in body:
        found.update(_imports(node, package))
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            named = [target.id for target in node.targets if isinstance(target, ast.Name)]
            # A class that is rebuilt under its own name (`X = defstruct(X)`) is still that class.
            found.update({name: node.value for name in named if not isinstance(found.get(name), ast.ClassDef)})
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
        elif type(node).__name__ == 'TypeAlias':
            found[node.name.id] = node.value  # type: ignore[attr-defined]
        elif isinstance(node, (ast.If, ast.Try)):
            handlers = [each.body for each in node.handlers] if isinstance(node, ast.Try) else []
            for block in (node.body, *handlers, node.orelse):
                for name, value in definitions(block, package).items():
                    found.setdefault(name, value)
    return found


def last_name(node: ast.AST) -> str:
    """`c` of `a.b.c`, and of `c`; '' of anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ''


class Modules:
    """The modules of one release by their dotted names."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._found: dict[str, dict[str, Definition]] = {}

    def path(self, module: str) -> str:
        """The file of a module, '' when it is not among those that are read."""
        base = module.replace('.', '/')
        return next((path for path in (f'{base}.py', f'{base}/__init__.py') if path in self._sources), '')

    def names(self, module: str) -> dict[str, Definition]:
        """What the names of a module are bound to; empty for a module that is not read."""
        if module not in self._found:
            path = self.path(module)
            package = module if path.endswith('__init__.py') else module.rpartition('.')[0]
            found = definitions(parse(self._sources[path]).body, package) if path else {}
            self._found[module] = found
        return self._found[module]

    def resolve(self, module: str, name: str) -> tuple[str, Definition] | None:
        """The module that defines a name and its definition there; an `Import` with name '' is a module."""
        seen = set()
        while (module, name) not in seen:
            seen.add((module, name))
            found = self.names(module).get(name)
            if found is None:
                sub = f'{module}.{name}'
                return (sub, Import(sub, '')) if self.path(sub) else self._starred(module, name)
            if not isinstance(found, Import) or not found.name:
                return module, found
            module, name = found.module, found.name
        return None

    def _starred(self, module: str, name: str) -> tuple[str, Definition] | None:
        star = self.names(module).get('*')
        return self.resolve(star.module, name) if isinstance(star, Import) else None

    def find_class(self, module: str, name: str) -> ClassRef | None:
        found = self.resolve(module, name)
        return ClassRef(found[0], found[1]) if found and isinstance(found[1], ast.ClassDef) else None

    def find_function(self, module: str, name: str) -> FunctionRef | None:
        found = self.resolve(module, name)
        return FunctionRef(found[0], found[1]) if found and isinstance(found[1], ast.FunctionDef) else None

    def bases(self, cls: ClassRef) -> list[ClassRef]:
        """The base classes that the sources define."""
        named = [base.id for base in cls.node.bases if isinstance(base, ast.Name)]
        return [base for name in named if (base := self.find_class(cls.module, name))]

    def lineage(self, cls: ClassRef) -> Iterator[ClassRef]:
        """The class and its base classes, nearest first."""
        yield cls
        for base in self.bases(cls):
            yield from self.lineage(base)

    def member(self, cls: ClassRef, name: str, *, after: ClassRef | None = None) -> tuple[ClassRef, Definition] | None:
        """The class that defines a member, and the definition; `after`: only its ancestors."""
        order = list(self.lineage(cls))
        start = order.index(after) + 1 if after in order else 0
        for each in order[start:]:
            found = definitions(each.node.body, '').get(name)
            if found is not None and not isinstance(found, Import):
                return each, found
        return None

    def fields(self, cls: ClassRef) -> dict[str, tuple[ClassRef, ast.AnnAssign]]:
        """Name -> the class that declares it and the declaration, as a dataclass orders its fields."""
        found: dict[str, tuple[ClassRef, ast.AnnAssign]] = {}
        for each in reversed(list(self.lineage(cls))):
            for node in each.node.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found[node.target.id] = (each, node)
        return found
