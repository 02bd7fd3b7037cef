"""Functions of Go source that answer HTTP requests: net/http, gin and echo.

fasthttp (fiber) is left out: it does not tell a handler that its client has gone.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.parse.golang import Scope, Source

REQUEST = 'net/http.Request'
WRITER = 'net/http.ResponseWriter'
CONTEXT = 'context.Context'
GIN = 'github.com/gin-gonic/gin.Context'
_ECHO = ('github.com/labstack/echo/v4.Context', 'github.com/labstack/echo/v5.Context', 'github.com/labstack/echo.Context')
_FUNCTIONS = ('function_declaration', 'method_declaration', 'func_literal')
_DEEPEST = 4
"""Of functions inside functions: a handler is hardly deeper."""
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
        nodes, calls = _walk(scope.node)
        for node in nodes:
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


def _walk(top: Any) -> tuple[list[Any], dict[int, list[Any]]]:
    """The functions of a declaration, and the calls that each makes itself before it returns."""
    nodes: list[Any] = []
    calls: dict[int, list[Any]] = {}
    stack: list[tuple[Any, int | None, int]] = [(top, None, 0)]
    while stack:
        node, home, depth = stack.pop()
        if node.type in _FUNCTIONS:
            home, depth = node.id, depth + 1
            if depth <= _DEEPEST:
                nodes.append(node)
        elif node.type in ('go_statement', 'defer_statement'):
            home = None
        elif node.type == 'call_expression' and home is not None:
            calls.setdefault(home, []).append(node)
        stack.extend((child, home, depth) for child in reversed(node.named_children))
    return nodes, calls
