"""Go functions that answer requests, and what of a request and its answer they lose or hand on."""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_cancel import Helpers, detached
from configaudit.extract.services.go_handlers import GIN, REQUEST, WRITER, Function, functions
from configaudit.extract.services.go_streams import GENERATION_WORDS, STREAM_WORDS, found_in
from configaudit.knowledge.service_kinds import HTTP_HANDLER
from configaudit.model import Component, Setting
from configaudit.parse.golang import Source
from configaudit.parse.grammar import below
from configaudit.patterns import regex
from configaudit.places import Place

_PLAIN_WRITERS = ('io.Copy', 'io.CopyBuffer', 'io.CopyN', 'io.WriteString', 'net/http.Error', 'net/http.NewResponseController', 'fmt.Fprint', 'fmt.Fprintf', 'fmt.Fprintln')
"""Functions that are given the writer and set no header of the other server's."""
_FILTERS = regex(rb'\b(?:if|switch|continue)\b')


def handlers(source: Source) -> Iterator[Component]:
    """The functions of a file that answer requests, or are given the context of one, and lose something."""
    helpers = Helpers(source)
    for function in functions(source):
        settings: dict[str, Setting] = {}
        calls = tuple(detached(source, function, helpers))
        shown = found_in(source, function.node, GENERATION_WORDS)
        streams = found_in(source, function.node, STREAM_WORDS)
        if calls and (shown or streams or hands_on(source, function)):
            settings['detached'] = Setting('detached', calls, calls[0][1])
        if function.is_handler:
            _take(settings, 'headers_lost', _lost(source, function))
            _take(settings, 'headers_whole', _whole(source, function))
        _take(settings, 'streams', streams if b'SetWriteDeadline' not in source.data[function.node.start_byte : function.node.end_byte] else None)
        if settings:
            _take(settings, 'generates', (shown or streams) if function.is_handler else None)
            yield _component(source, function.node, settings)
    yield from _limited(source)


def _take(settings: dict[str, Setting], name: str, place: Place | None) -> None:
    if place is not None:
        settings[name] = Setting(name, True, place)


def _component(source: Source, node: Any, settings: dict[str, Setting]) -> Component:
    path, named = source.document.path, node.child_by_field_name('name') or node
    settings['written_in'] = Setting('written_in', 'Go', source.place(named))
    name = source.text(named) if node.type in ('function_declaration', 'method_declaration') else path.rpartition('/')[2]
    return Component(HTTP_HANDLER, name, f'go/{path}/http-handler/{node.start_byte}', source.place(named), settings)


def hands_on(source: Source, function: Function) -> bool:
    """Whether a function sends the method or the body of the request that it answers to another server."""
    request = function.named(REQUEST) or f'{function.named(GIN)}.Request'
    wanted = (f'{request}.Body', f'{request}.Method')
    return any(source.text(argument) in wanted for call in function.calls if source.called(call).startswith('net/http.NewRequest') for argument in source.arguments(call))


def _lost(source: Source, function: Function) -> Place | None:
    """Where the status of another server's answer is sent, when no header of it is."""
    writer, gin = function.named(WRITER), function.named(GIN)
    writer = writer or (f'{gin}.Writer' if gin else '')
    text = source.text(function.node)
    if not writer or '.Body' not in text or f'{writer}.Header()' in text or (gin and f'{gin}.Header(' in text):
        return None
    found = None
    for call in function.calls:
        arguments = source.arguments(call)
        given = {source.text(argument) for argument in arguments}
        if source.method(call) in ((writer, 'WriteHeader'), (gin, 'Status')) and any(value.endswith('.StatusCode') for value in given):
            found = found or source.place(call.child_by_field_name('function'))
        elif given & {writer, gin or writer} and source.called(call) not in _PLAIN_WRITERS:
            return None
    return found


def _whole(source: Source, function: Function) -> Place | None:
    """Where every header of the request is put into another one, and none is taken out."""
    request = function.named(REQUEST) or (f'{function.named(GIN)}.Request' if function.named(GIN) else '')
    text = source.text(function.node)
    if not request or f'{request}.Header' not in text or '.Header.Del(' in text or 'ReverseProxy' in text:
        return None
    given = {source.text(argument) for call in function.calls for argument in source.arguments(call)}
    for node in below(function.node):
        if node.type == 'assignment_statement' and _copies(source, node, request, given):
            return source.place(node)
        if node.type == 'for_statement' and _loops(source, node, request):
            return source.place(node.named_children[0])
    return None


def _copies(source: Source, node: Any, request: str, given: set[str]) -> bool:
    left, right = (source.text(node.child_by_field_name(side)) for side in ('left', 'right'))
    return left.endswith('.Header') and right in (f'{request}.Header', f'{request}.Header.Clone()') and left not in given


def _loops(source: Source, node: Any, request: str) -> bool:
    clause = node.named_children[0]
    right = clause.child_by_field_name('right') if clause.type == 'range_clause' else None
    body = node.child_by_field_name('body')
    if right is None or body is None or source.text(right) != f'{request}.Header':
        return False
    text = source.data[body.start_byte : body.end_byte]
    return not _FILTERS.search(text) and b'.Header' in text and f'{request}.Header' not in text.decode('utf-8', 'replace')


def _limited(source: Source) -> Iterator[Component]:
    """Handlers that stream, given to http.TimeoutHandler by name."""
    streaming = {source.text(name): found for scope in source.scopes[1:] if (name := scope.node.child_by_field_name('name')) is not None and (found := found_in(source, scope.node, STREAM_WORDS))}
    for scope in source.scopes:
        for call in scope.calls:
            arguments = source.arguments(call)
            if source.called(call) != 'net/http.TimeoutHandler' or len(arguments) != 3:
                continue
            inner = source.settled(arguments[0], scope)
            wrapped = source.arguments(inner)[0] if inner.type == 'call_expression' and source.called(inner) == 'net/http.HandlerFunc' else inner
            name = source.text(wrapped).rpartition('.')[2]
            if name in streaming:
                place = source.place(call.child_by_field_name('function'))
                settings = {'time_limited': Setting('time_limited', True, place), 'streams': Setting('streams', True, streaming[name])}
                yield _component(source, call, settings)
