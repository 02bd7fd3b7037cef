"""Functions of Go source that answer HTTP requests: net/http, gin and echo.

fasthttp (fiber) is left out: it does not tell a handler that its client has gone.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.parse.golang import Scope, Source
from configaudit.parse.grammar import below

REQUEST = 'net/http.Request'
WRITER = 'net/http.ResponseWriter'
CONTEXT = 'context.Context'
GIN = 'github.com/gin-gonic/gin.Context'
_ECHO = ('github.com/labstack/echo/v4.Context', 'github.com/labstack/echo/v5.Context', 'github.com/labstack/echo.Context')
_FUNCTIONS = ('function_declaration', 'method_declaration', 'func_literal')
_WORDS = (b'http.Request', b'gin.Context', b'echo.Context', b'context.Context')


class Function(NamedTuple):
    """A function with a request, or the context of one, in reach."""

    node: Any
    scope: Scope
    parameters: dict[str, str]
    """Name -> full type name, without `*`."""
    calls: tuple[Any, ...]
    """Those that it makes itself before it returns: none of a goroutine, a deferred one, or a function it hands on."""

    def named(self, *types: str) -> str:
        """The parameter of one of some types, or ''."""
        return next((name for name, kind in self.parameters.items() if kind in types and name != '_'), '')

    @property
    def is_handler(self) -> bool:
        """Whether a router calls it with a request."""
        return bool(self.named(REQUEST, GIN, *_ECHO))

    @property
    def context(self) -> str:
        """How the request's context is reached."""
        request, gin, echo = self.named(REQUEST), self.named(GIN), self.named(*_ECHO)
        if request:
            return f'{request}.Context()'
        return f'{gin}.Request.Context()' if gin else f'{echo}.Request().Context()' if echo else self.named(CONTEXT)


def functions(source: Source) -> Iterator[Function]:
    """The functions, literals included, that are given a request or a context."""
    for scope in source.scopes[1:]:
        text = source.data[scope.node.start_byte : scope.node.end_byte]
        if not any(word in text for word in _WORDS):
            continue
        calls = _by_function(scope)
        for node in below(scope.node):
            if node.type in _FUNCTIONS:
                found = Function(node, scope, parameters_of(source, node), tuple(calls.get(node.id, ())))
                if found.context:
                    yield found


def parameters_of(source: Source, node: Any) -> dict[str, str]:
    """Parameter -> full name of its type."""
    found: dict[str, str] = {}
    listed = node.child_by_field_name('parameters')
    for declared in listed.named_children if listed is not None else ():
        kind = declared.child_by_field_name('type') if declared.type == 'parameter_declaration' else None
        while kind is not None and kind.type == 'pointer_type':
            kind = kind.named_children[0]
        for name in declared.children_by_field_name('name') if kind is not None else ():
            found[source.text(name)] = source.name_of(kind) or source.text(kind)
    return found


def _by_function(scope: Scope) -> dict[int | None, list[Any]]:
    found: dict[int | None, list[Any]] = {}
    for call in scope.calls:
        found.setdefault(_home(call), []).append(call)
    return found


def _home(node: Any) -> int | None:
    """The function whose own work a call is; None for one that runs beside it or after it."""
    node = node.parent
    while node is not None and node.type not in _FUNCTIONS:
        if node.type in ('go_statement', 'defer_statement'):
            return None
        node = node.parent
    return node.id if node is not None else None
