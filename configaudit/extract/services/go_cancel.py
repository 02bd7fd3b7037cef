"""Calls of a Go handler to other servers that go on when its own client has gone: requests without the context of the one that is answered."""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_handlers import GIN, Function
from configaudit.extract.services.go_streams import called_here, name_of
from configaudit.parse.golang import MAX_DEPTH, Scope, Source
from configaudit.patterns import regex
from configaudit.places import Place

_ROOTS = ('context.Background', 'context.TODO')
_DERIVED = regex(r'context\.With(?:Cancel|Timeout|Deadline|Value)(?:Cause)?$')
_SHORTCUTS = ('net/http.Get', 'net/http.Post', 'net/http.PostForm', 'net/http.Head')
_GENERATION = regex(
    r'Create(?:Chat)?Completion(?:Stream)?$|Create(?:Embeddings?|Response)$|Generate(?:Content|Stream|Text)?(?:Stream)?$|ChatCompletions?(?:Stream)?$|SendMessageStream$|Model(?:Stream)?Infer$'
)
"""Methods of the usual clients of models; the context is their first argument."""
_STUB = regex(r'(?:^|\.)New\w*Client\(')
_GIVEN = regex(rb'\.WithContext\(|\.Clone\(\s*\w*[cC](?:tx|ontext)\b')

_SENT = regex(rb'\.(?:Do|RoundTrip)\(')
_ANSWERS = regex(rb'http\.ResponseWriter|gin\.Context|echo\.Context')

Detached = tuple[str, Place]
"""What is called, and where."""


class Helpers:
    """The functions of a file that are given no context, and their calls that outlive a request."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._scopes = {name_of(source, scope): scope for scope in source.scopes[1:] if not _takes_context(source, scope)}
        self._found: dict[str, tuple[Detached, ...]] = {}

    def calls(self, name: str) -> tuple[Detached, ...]:
        """Those of a function that is called by this name."""
        if name not in self._found:
            scope = self._scopes.get(name)
            self._found[name] = tuple(self._read(name, scope)) if scope is not None else ()
        return self._found[name]

    def _read(self, name: str, scope: Scope) -> Iterator[Detached]:
        given = _gives(self.source, scope.node)
        for call in scope.calls:
            words = _without_context(self.source, scope, call, '', given)
            if words and _direct(call, scope):
                yield f'{words}, in {name}', self.source.place(call.child_by_field_name('function'))


def detached(source: Source, function: Function, helpers: Helpers) -> Iterator[Detached]:
    """The calls of a function, and of helpers of the file that it calls without its context."""
    given, gin = _gives(source, function.node), function.named(GIN)
    for call in function.calls:
        words = _without_context(source, function.scope, call, gin, given)
        if words:
            yield words, source.place(call.child_by_field_name('function'))
        elif function.is_handler:
            yield from helpers.calls(called_here(source, call))


def _gives(source: Source, node: Any) -> bool:
    """Whether a function gives a request its context afterwards, or only makes it for another to send."""
    span = (source.data, node.start_byte, node.end_byte)
    return _GIVEN.search(*span) is not None or (_SENT.search(*span) is None and _ANSWERS.search(*span) is None)


def _direct(call: Any, scope: Scope) -> bool:
    node = call.parent
    while node is not None and node.id != scope.node.id:
        if node.type in ('go_statement', 'defer_statement', 'func_literal'):
            return False
        node = node.parent
    return True


def _takes_context(source: Source, scope: Scope) -> bool:
    listed = scope.node.child_by_field_name('parameters')
    return listed is None or regex(r'[cC]ontext|http\.Request|\bCtx\b').search(source.text(listed)) is not None


def _without_context(source: Source, scope: Scope, call: Any, gin: str, given: bool) -> str:
    """How a call to another server is named that has no context, or one that nobody cancels; '' for any other call."""
    name, arguments = source.called(call), source.arguments(call)
    if name == 'net/http.NewRequest':
        return '' if given else 'http.NewRequest'
    if name in _SHORTCUTS:
        return f'http.{name.rpartition(".")[2]}'
    if not arguments:
        return ''
    method = source.method(call)[1]
    if name == 'net/http.NewRequestWithContext':
        if gin and source.text(arguments[0]) == gin and b'ContextWithFallback' not in source.data:
            return 'http.NewRequestWithContext with the gin.Context, which is never done without ContextWithFallback'
        return 'http.NewRequestWithContext with a context that no request ends' if rootless(source, scope, arguments[0]) else ''
    if _GENERATION.match(method) or _is_stub(source, scope, call):
        return f'{method} with a context that no request ends' if rootless(source, scope, arguments[0]) else ''
    return ''


def _is_stub(source: Source, scope: Scope, call: Any) -> bool:
    """Whether a call goes through a gRPC stub that the function or file makes: `pb.NewModelClient(conn)`."""
    values = scope.values(source.method(call)[0])
    return b'google.golang.org/grpc' in source.data and len(values) == 1 and values[0] is not None and _STUB.search(source.text(values[0])) is not None


def rootless(source: Source, scope: Scope, node: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether an expression is a context that no request cancels: Background, TODO, or one with a timeout made from them."""
    node = source.settled(node, scope)
    if node.type != 'call_expression' or not depth:
        return False
    name, arguments = source.called(node), source.arguments(node)
    if name in _ROOTS:
        return True
    return bool(_DERIVED.match(name) and arguments) and rootless(source, scope, arguments[0], depth - 1)
