"""Where Go source shows that an answer is handed on piece by piece, and that it is generated text."""

from collections.abc import Iterator
from typing import Any

from configaudit.parse.golang import Scope, Source
from configaudit.patterns import regex
from configaudit.places import Place

STREAM_WORDS = regex(rb'text/event-stream|\bhttp\.Flusher\b|"\[DONE\]"|"data: ?"|`data: ?`|\.SSEvent\(|\b(?i:flusher)\w*\.Flush\(\)|\.Writer\.Flush\(\)|\bNewResponseController\(\w+\)\.Flush\(')
_STREAM_NAME = regex(r'(?:(?:^|_|(?<=[a-z0-9]))Stream|^stream)(?:ing|ed|s)?(?:[A-Z_]|$)')
GENERATION_WORDS = regex(rb'text/event-stream|/completions\b|/v1/(?:chat|messages|responses|generate)|/generate(?:_stream)?\b|api/chat\b|api/generate\b|:streamGenerateContent|\b(?:vllm|sglang)\b')
_ASKED = regex(rb'"stream"\]?\s*[:=]\s*true\b|\bStream:\s*(?:true|openai\.Bool\(true\)|param\.NewOpt\(true\))')
"""A request that asks for a stream."""
_COMMENT = regex(rb'//[^\n]*')


def found_in(source: Source, node: Any, words: Any) -> Place | None:
    """The first of some words in a piece of the file, comments left out."""
    start = node.start_byte
    text = _COMMENT.sub(lambda found: b' ' * len(found[0]) if source.data[start + found.start() - 1 : start + found.start()] != b':' else found[0], source.data[start : node.end_byte])
    found = words.search(text)
    if found is None:
        return None
    at = len(source.data[: start + found.start()].decode('utf-8', 'replace'))
    return Place(source.document, at, at + len(found[0].decode('utf-8', 'replace')))


def stream_of(source: Source, scope: Scope, local: str, field: str) -> Place | None:
    """Where a function that sends requests with a client, or calls one that does, reads a stream."""
    senders = [user for user in source.scopes if any(sends(source, call, local if user is scope or scope is source.package else '', field) for call in user.calls)]
    names = {name_of(source, user) for user in senders} - {''}
    callers = [user for user in source.scopes if user not in senders and any(called_here(source, call) in names for call in user.calls)]
    return next((found for user in (*senders, *callers) if (found := reads_stream(source, user)) is not None), None)


def sends(source: Source, call: Any, local: str, field: str) -> bool:
    """Whether a call sends a request with the client of a variable or field."""
    receiver, method = source.method(call)
    if method not in ('Do', 'Get', 'Post'):
        return False
    return (bool(local) and receiver == local) or (bool(field) and '.' in receiver and receiver.rpartition('.')[2] == field)


def name_of(source: Source, scope: Scope) -> str:
    """The name of a function; '' for the file outside of functions."""
    name = scope.node.child_by_field_name('name')
    return source.text(name) if name is not None else ''


def called_here(source: Source, call: Any) -> str:
    """The name of the file's own function or method that a call may call."""
    function = call.child_by_field_name('function')
    return '' if source.called(call) else source.text(function).rpartition('.')[2] if function.type in ('identifier', 'selector_expression') else ''


def reads_stream(source: Source, scope: Scope) -> Place | None:
    """Where a function shows that it hands an answer on piece by piece: server-sent events, a flushed response, a body given to a stream reader."""
    return found_in(source, scope.node, STREAM_WORDS) or next(_readers(source, scope), None)


def _readers(source: Source, scope: Scope) -> Iterator[Place]:
    streams = _STREAM_NAME.search(name_of(source, scope)) is not None or found_in(source, scope.node, _ASKED) is not None
    for call in scope.calls:
        function = call.child_by_field_name('function')
        if streams and source.called(call) in ('bufio.NewReader', 'bufio.NewScanner') and any(source.text(argument).endswith('.Body') for argument in source.arguments(call)[:1]):
            yield source.place(function)
        name = source.text(function).rpartition('.')[2]
        if _STREAM_NAME.search(name) and any(source.text(argument).endswith('.Body') for argument in source.arguments(call)):
            yield source.place(function)
