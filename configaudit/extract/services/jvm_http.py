"""HTTP clients in Java and Kotlin source: OkHttp, java.net.http, reactor-netty and Spring's request factories.

Sources: OkHttpClient.kt and Dispatcher.kt (timeouts 10 s, no call timeout, 5 queued calls to a host); java.net.http.HttpRequest.Builder.timeout (until the
head of the answer, before JDK 26); reactor-netty HttpClient.responseTimeout (between reads).
"""

import math
from collections.abc import Iterator

from configaudit.extract.services.jvm_objects import Made, objects_of
from configaudit.extract.services.jvm_values import LOCKED, component, last, place_of
from configaudit.knowledge.generation_routes import evidence
from configaudit.knowledge.service_kinds import HTTP_CLIENT
from configaudit.model import Component, Setting
from configaudit.parse.jvm import Expr, Scope, Source, dotted, links
from configaudit.patterns import regex
from configaudit.places import Place

_PRODUCTS = {
    'okhttp': 'OkHttp', 'java': 'java.net.http', 'request': 'java.net.http', 'reactor': 'reactor-netty', 'factory': 'Spring RestTemplate',
}  # fmt: skip
_TIMEOUTS = {
    'okhttp': (('callTimeout', 'timeout_s'), ('readTimeout', 'gap_timeout_s')), 'java': (), 'request': (('timeout', 'first_byte_timeout_s'),),
    'reactor': (('responseTimeout', 'gap_timeout_s'),), 'factory': (('setReadTimeout', 'gap_timeout_s'), ('readTimeout', 'gap_timeout_s')),
}  # fmt: skip
"""Calls that set a limit; a bare number is milliseconds."""
_FACTORIES = ('SimpleClientHttpRequestFactory', 'HttpComponentsClientHttpRequestFactory', 'JdkClientHttpRequestFactory')
_OKHTTP = ('okhttp3', 'com.squareup.okhttp')
_OKHTTP_GAP_S = 10
_STREAM = regex(rb'"text/event-stream"|"\[DONE\]"|"data: ?"|MediaType\.TEXT_EVENT_STREAM')
_EVENT_SOURCE = regex(rb'\bEventSources?\b')
"""okhttp-sse ends the call timeout when an answer begins: its streams are not cut by it."""
_ONCE = regex(r'^(?:main|init\w*|setUp|configure\w*|create\w*|build\w*|new\w*|get\w*|provide\w*|make\w*|start\w*|open\w*|connect\w*|afterPropertiesSet)$')
"""Functions that make what others use."""
_SENDS = {'okhttp': ('newCall', 'newWebSocket'), 'java': ('send', 'sendAsync')}


def http_components(source: Source) -> Iterator[Component]:
    """Every client that says a timeout, is made for one request, or reads a stream."""
    made = objects_of(source, _kind, builders=False)
    answers = _answers(source) if made else None
    stream = _stream(source) if len({one.kind for one in made} - {'request'}) < 2 else None
    for number, one in enumerate(made):
        settings: dict[str, Setting] = {}
        for method, name in _TIMEOUTS[one.kind]:
            setting = last(source, name, [call for call in one.called(method) if call.arguments], 'ms')
            if setting is not None:
                settings[name] = setting._replace(known_value=math.inf) if setting.is_known and not setting.known_value else setting
        place = _per_request(source, one)
        if place is not None:
            settings['per_request'] = Setting('per_request', True, place, locked=LOCKED)
        if not settings and ((stream is None and answers is None) or one.kind != 'okhttp'):
            continue
        if stream is not None:
            settings['streams'] = Setting('streams', True, stream)
        if answers is not None:
            settings['answers'] = answers
        if one.kind == 'okhttp' and _QUEUED.search(source.data) and b'maxRequestsPerHost' not in source.data:
            settings['connections'] = Setting('connections', _OKHTTP_QUEUED, source.place(one.birth.node), 'default', source='OkHttp Dispatcher.maxRequestsPerHost', locked=LOCKED)
        settings['product'] = Setting('product', _PRODUCTS[one.kind], place_of(source, one))
        partial = 'its options come from elsewhere in the program' if one.birth.kind == 'parameter' else ''
        if one.kind == 'okhttp' and not partial:
            settings.setdefault('gap_timeout_s', Setting('gap_timeout_s', _OKHTTP_GAP_S, source.place(one.birth.node), 'default', source='OkHttp default', locked=LOCKED))
        yield component(HTTP_CLIENT, source, one, settings, number, partial)


def _kind(source: Source, expr: Expr) -> str:
    if expr.kind in ('new', 'parameter'):
        if expr.name in ('OkHttpClient', 'OkHttpClient.Builder') and any(source.comes_from(expr.name, package) for package in _OKHTTP):
            return 'okhttp' if expr.kind == 'new' or expr.name.endswith('Builder') else ''
        return 'factory' if expr.name in _FACTORIES and source.comes_from(expr.name, 'org.springframework') else ''
    owner = dotted(expr.of) if expr.kind == 'call' else ''
    if owner == 'HttpClient' and expr.name in ('newHttpClient', 'newBuilder') and source.comes_from(owner, 'java.net.http'):
        return 'java'
    if owner == 'HttpRequest' and expr.name == 'newBuilder' and source.comes_from(owner, 'java.net.http'):
        return 'request'
    return 'reactor' if owner == 'HttpClient' and expr.name == 'create' and source.comes_from(owner, 'reactor.netty') else ''


def _stream(source: Source) -> Place | None:
    """Where a file shows that answers are read piece by piece."""
    found = None if _EVENT_SOURCE.search(source.data) else _STREAM.search(_without_comments(source.data))
    if found is None:
        return None
    start, end = (len(source.data[:at].decode('utf-8', 'replace')) for at in found.span())
    return Place(source.document, start, end)


_QUEUED = regex(rb'\.enqueue\s*\(|\bEventSources?\b')
_OKHTTP_QUEUED = 5
_TEXT = regex(rb'"([^"\n]*/[^"\n]*)"')


def _answers(source: Source) -> Setting | None:
    """The address in a file by which it asks for generated text."""
    text = _without_comments(source.data)
    for found in _TEXT.finditer(text):
        why = evidence(found[1].decode('utf-8', 'replace'), (), ())
        if why:
            start, end = (len(source.data[:at].decode('utf-8', 'replace')) for at in found.span())
            return Setting('answers', why, Place(source.document, start, end))
    return None


_COMMENT = regex(rb'/\*[\s\S]*?\*/|(?<![:"])//[^\n]*')


def _without_comments(data: bytes) -> bytes:
    return _COMMENT.sub(lambda found: b' ' * len(found[0]), data)


def _per_request(source: Source, made: Made) -> Place | None:
    """Where a client is made in the function that sends with it, and kept nowhere."""
    scope = made.scope
    if made.kind not in _SENDS or scope.outer is None or made.birth.kind == 'parameter' or not _is_called_often(source, scope):
        return None
    if any(name not in scope.names for name in made.holders):  # a field keeps it
        return None
    sends = [call for call in made.calls if call.name in _SENDS[made.kind]]
    handed = any(dotted(argument) in made.holders for event in scope.events for link in links(event.expr) for argument in link.arguments)
    return source.place(made.birth.node) if sends and not handed else None


def _is_called_often(source: Source, scope: Scope) -> bool:
    name = scope.node.child_by_field_name('name')
    return scope.node.type in ('method_declaration', 'function_declaration') and name is not None and not _ONCE.match(source.text(name))
