"""Builders and configurations in Java and Kotlin source: where each is made, and every call that sets it up."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from configaudit.parse.jvm import Expr, Scope, Source, dotted, links

Births = Callable[[Source, Expr], str]
"""What an expression makes: a name of the caller's, or ''."""


class Call(NamedTuple):
    """One call on an object."""

    name: str
    arguments: tuple[Expr, ...]
    certain: bool
    """It happens wherever the object is made."""
    scope: Scope


class Made:
    """An object, and what is called on it."""

    def __init__(self, kind: str, birth: Expr, scope: Scope, certain: bool = True) -> None:
        self.kind = kind
        self.birth = birth
        self.scope = scope
        self.calls: list[Call] = []
        self.whole = certain
        """All that is called on it is seen."""
        self.holders: set[str] = set()

    def called(self, *names: str) -> list[Call]:
        """The calls of these names."""
        return [call for call in self.calls if call.name in names]


def objects_of(source: Source, births: Births, builders: bool = True) -> list[Made]:
    """Every object that `births` knows. `builders`: one that is handed on before it is built may be set up elsewhere."""
    found: list[Made] = []
    fields: dict[str, list[Made]] = {}
    for scope in source.scopes:
        held: dict[str, list[Made]] = {}
        for name, kind in scope.types.items():
            parameter = Expr('parameter', kind, scope.node)
            if kind[:1].isupper() and scope.outer is not None and scope.values(name) == [None] and births(source, parameter):
                made = Made(births(source, parameter), parameter, scope, False)
                found.append(made)
                held[name] = [made]
        for event in scope.events:
            objects = _follow(source, scope, event.expr, births, found, lambda name, held=held: held.get(name) or fields.get(name) or [])  # type: ignore[misc]
            if event.holder and objects:
                owner = fields if scope.outer is None or event.holder not in scope.names else held
                owner.setdefault(event.holder, []).extend(made for made in objects if made not in owner.get(event.holder, ()))
                for made in objects:
                    made.holders.add(event.holder)
        if builders:
            _hand_on(scope, held, fields)
    return [made for made in found if made.calls or made.birth.kind != 'parameter']


def _follow(source: Source, scope: Scope, expr: Expr, births: Births, found: list[Made], holding: Callable[[str], list[Made]]) -> list[Made]:
    """The objects that a chain makes or goes on with; its calls are noted on them."""
    objects: list[Made] = []
    for link in links(expr):
        if link.kind == 'cast' and not objects and link.arguments:
            objects = list(holding(dotted(link.arguments[0]).removeprefix('this.')))
            if not objects and births(source, Expr('parameter', link.name, link.node)):
                objects = [Made(births(source, Expr('parameter', link.name, link.node)), Expr('parameter', link.name, link.node), scope, False)]
                found.extend(objects)
            continue
        kind = births(source, link) if not objects else ''
        if kind:
            objects = [Made(kind, link, scope)]
            taken = [made for argument in link.arguments for made in holding(dotted(argument).removeprefix('this.')) if made.kind == kind]
            if taken:  # `new HikariDataSource(config)`: the configuration tells all
                objects = taken
            else:
                found.extend(objects)
        elif not objects and link.kind in ('name', 'field'):
            objects = list(holding(dotted(link).removeprefix('this.')))
        elif link.kind == 'call':
            for made in objects:
                made.calls.extend(_calls(source, scope, link, made))
    return objects


def _calls(source: Source, scope: Scope, link: Expr, made: Made) -> Iterator[Call]:
    """A call, or those in the block of an `apply`."""
    for item in [part for argument in link.arguments if argument.kind == 'block' for part in argument.arguments] or [link]:
        birth = made.birth.node if made.scope is scope and made.birth.kind != 'parameter' else item.node if made.birth.kind == 'parameter' else scope.node
        for one in links(item):
            if one.kind == 'call':
                yield Call(one.name, one.arguments, source.is_certain(one.node, birth), scope)


def _hand_on(scope: Scope, held: dict[str, list[Made]], fields: dict[str, list[Made]]) -> None:
    """Mark what is given to another function, or returned, before it is built."""
    for event in scope.events:
        for link in links(event.expr):
            for argument in link.arguments:
                name = dotted(argument).removeprefix('this.')
                for made in held.get(name) or fields.get(name) or ():
                    made.whole = False
    for name in scope.returned:
        for made in held.get(name.removeprefix('this.')) or fields.get(name.removeprefix('this.')) or ():
            made.whole = False
