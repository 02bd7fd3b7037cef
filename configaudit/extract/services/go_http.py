"""HTTP in Go source: clients that carry a total timeout, and whether streams go through them; transports that lose HTTP/2."""

import math
from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_values import LOCKED, NANOSECONDS, setting_at
from configaudit.knowledge.service_kinds import HTTP_CLIENT, HTTP_TRANSPORT
from configaudit.model import Component, Setting
from configaudit.parse.golang import Scope, Source
from configaudit.patterns import regex
from configaudit.places import Place

_STREAM_WORDS = regex(rb'text/event-stream|\bhttp\.Flusher\b|"\[DONE\]"|"data: ?"|`data: ?`')
_STREAM_NAME = regex(r'(?:(?:^|_|(?<=[a-z0-9]))Stream|^stream)(?:ing|ed|s)?(?:[A-Z_]|$)')
_DECIDED = regex(rb'ForceAttemptHTTP2|TLSNextProto|NextProtos|SetHTTP2|http2\.Configure|http2\.Transport|\bProtocols\b')
"""Words by which a file shows that somebody thought of HTTP/2."""
_GATEWAY = regex(rb'ReverseProxy|text/event-stream|/completions|http\.Flusher')
"""Words of a program that hands many requests on: there the protocol matters."""
_COMMENT = regex(rb'//[^\n]*')


def http_components(source: Source) -> Iterator[Component]:
    """Every http.Client literal with a Timeout, and of a gateway every http.Transport literal with a TLS configuration of its own."""
    if 'net/http' not in source.imports.values():
        return
    yield from _transports(source)
    number = 0
    for scope in source.scopes:
        for literal in scope.literals:
            if source.name_of(literal.child_by_field_name('type')) != 'net/http.Client':
                continue
            timeout = (source.fields(literal) or {}).get('Timeout')
            if timeout is None:
                continue
            limit = setting_at(source, scope, 'timeout_s', timeout, NANOSECONDS, 's')
            if limit.is_known and not limit.known_value:
                limit = limit._replace(known_value=math.inf)
            path = source.document.path
            component = Component(HTTP_CLIENT, path.rpartition('/')[2], f'go/{path}/http-client/{number}', source.place(literal), {'timeout_s': limit})
            stream = _stream(source, scope, literal)
            if stream is not None:
                component.settings['streams'] = Setting('streams', True, stream)
            number += 1
            yield component


def _transports(source: Source) -> Iterator[Component]:
    if not _GATEWAY.search(source.data):
        return
    decided = _DECIDED.search(source.data) is not None
    for scope in source.scopes:
        for literal in scope.literals:
            if source.name_of(literal.child_by_field_name('type')) != 'net/http.Transport':
                continue
            custom = (source.fields(literal) or {}).get('TLSClientConfig')
            if custom is not None:
                path, place = source.document.path, source.place(custom)
                settings = {'own_tls': Setting('own_tls', True, place, locked=LOCKED), 'http2_decided': Setting('http2_decided', decided, place)}
                yield Component(HTTP_TRANSPORT, path.rpartition('/')[2], f'go/{path}/http-transport/{literal.start_byte}', source.place(literal), settings)


def _stream(source: Source, scope: Scope, literal: Any) -> Place | None:
    """Where a function that sends requests with this client, or calls one that does, reads a stream."""
    local, field = _names(source, scope, literal)
    senders = [user for user in source.scopes if any(_sends(source, call, local if user is scope or scope is source.package else '', field) for call in user.calls)]
    names = {_name(source, user) for user in senders} - {''}
    callers = [user for user in source.scopes if user not in senders and any(_calls(source, call) in names for call in user.calls)]
    return next((found for user in (*senders, *callers) if (found := _reads_stream(source, user)) is not None), None)


def _sends(source: Source, call: Any, local: str, field: str) -> bool:
    receiver, method = source.method(call)
    if method not in ('Do', 'Get', 'Post'):
        return False
    return (bool(local) and receiver == local) or (bool(field) and '.' in receiver and receiver.rpartition('.')[2] == field)


def _name(source: Source, scope: Scope) -> str:
    name = scope.node.child_by_field_name('name')
    return source.text(name) if name is not None else ''


def _calls(source: Source, call: Any) -> str:
    """The name of the file's own function or method that a call may call."""
    function = call.child_by_field_name('function')
    return '' if source.called(call) else source.text(function).rpartition('.')[2] if function.type in ('identifier', 'selector_expression') else ''


def _names(source: Source, scope: Scope, literal: Any) -> tuple[str, str]:
    """The variable that holds a client, and the field it is put into: by a struct literal or by assignment."""
    node = literal.parent if literal.parent is not None and literal.parent.type == 'unary_expression' else literal
    local = next((name for name, values in scope.bound.items() if any(value is not None and value.id in (node.id, literal.id) for value in values)), '')
    if '.' in local:
        return '', local.rpartition('.')[2]
    holder = node.parent
    if holder is not None and holder.type == 'literal_element' and holder.parent is not None and holder.parent.type == 'keyed_element':
        key = holder.parent.child_by_field_name('key')
        if key is not None and key.id != holder.id:
            return local, source.text(key)
    return local, _field_of(source, scope, local) if local else ''


def _field_of(source: Source, scope: Scope, local: str) -> str:
    """The field of a struct literal that a variable is put into: `&Client{http: local}`."""
    for literal in scope.literals:
        for key, value in (source.fields(literal) or {}).items():
            if source.text(value) == local:
                return key
    return ''


def _reads_stream(source: Source, scope: Scope) -> Place | None:
    """Where a function shows that it hands an answer on piece by piece: server-sent events, a flushed response, a body given to a stream reader."""
    start = scope.node.start_byte
    text = _COMMENT.sub(lambda found: b' ' * len(found[0]), source.data[start : scope.node.end_byte])
    found = _STREAM_WORDS.search(text)
    if found is not None:
        at = len(source.data[: start + found.start()].decode('utf-8', 'replace'))
        return Place(source.document, at, at + len(found[0].decode('utf-8', 'replace')))
    streams = _STREAM_NAME.search(_name(source, scope)) is not None
    for call in scope.calls:
        function = call.child_by_field_name('function')
        if streams and source.called(call) in ('bufio.NewReader', 'bufio.NewScanner') and any(source.text(argument).endswith('.Body') for argument in source.arguments(call)[:1]):
            return source.place(function)
        name = source.text(function).rpartition('.')[2]
        if _STREAM_NAME.search(name) and any(source.text(argument).endswith('.Body') for argument in source.arguments(call)):
            return source.place(function)
    return None
