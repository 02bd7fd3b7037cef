"""HTTP in JavaScript source: servers and how long they keep idle connections, clients and the clocks they set.

Node.js http: keepAliveTimeout 5 s, headersTimeout 60 s. Fastify: keepAliveTimeout 72 s. undici, which `fetch` is: 300 s for the head of an
answer and for each silence in it. AbortSignal.timeout runs over the whole answer; axios' timeout runs until the head of the answer and then
over each silence (measured with axios 1.21: 11 pieces 0.3 s apart passed a timeout of 1 s); that of the OpenAI SDK ends with the head (6.49).
"""

import re
from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.javascript_settings import (
    LOCKED,
    Option,
    component,
    default,
    head_of,
    in_handler,
    options_of,
    scope_around,
    setting_at,
    target_of,
    text_of,
)
from configaudit.knowledge.service_kinds import HTTP_CLIENT, HTTP_SERVER
from configaudit.model import Component, Setting
from configaudit.parse.javascript import Fields, Scope, Source
from configaudit.patterns import regex
from configaudit.places import Place

_MS = 1000
_SERVERS = {
    'http.createServer': 'node:http', 'https.createServer': 'node:http', 'http.Server': 'node:http', 'express': 'express', 'fastify': 'fastify', 'fastify.fastify': 'fastify',
    'koa': 'koa', '@nestjs/core.NestFactory.create': 'nestjs', '@hapi/hapi.server': 'hapi', 'restify.createServer': 'restify',
}  # fmt: skip
_TIMES = {
    'keepAliveTimeout': Option('idle_timeout_s', _MS), 'headersTimeout': Option('read_header_timeout_s', _MS),
}  # fmt: skip
_STREAM = regex(rb'text/event-stream|\[DONE\]|["\'`]data: |\.getReader\(\)|responseType:\s*["\']stream["\']|\bstream:\s*true\b|\bfor await\s*\([^)]{0,200}\.body\b')
_PIECES = regex(rb'\.getReader\(|responseType:\s*["\']stream["\']|\bstream:\s*true\b|\bfor await\b|\.body\b(?!\s*[:=(])|\.write\(|\.pipe(?:To|Through)?\(|\byield\b')
"""What takes an answer, or sends one, piece by piece: naming the media type alone does not."""
_SHORT = regex(rb'\bmax_(?:completion_|output_)?tokens["\']?:\s*\d{1,2}\b')
"""A trial of a server: a few tokens are no long answer."""
_GENERATION = regex(rb'/chat/completions\b|/v1/(?:completions|messages|responses)\b|/api/generate\b|/generate_stream\b')
"""Paths of requests for generated text."""
_PIECES = regex(
    rb'\.getReader\(|responseType:\s*["\']stream["\']|\bstream:\s*true\b|\bfor await\b|\.body\b(?!\s*[:=(])|\.write\(|\.pipe(?:To|Through)?\(|\byield\b'
)
"""What takes an answer, or sends one, piece by piece: naming the media type alone does not."""
_SHORT = regex(rb'\bmax_(?:completion_|output_)?tokens["\']?:\s*\d{1,2}\b')
"""A trial of a server: a few tokens are no long answer."""
_KEEPS = regex(rb'\bkeepAliveTimeout\b')
_COMMENT = regex(rb'//[^\n]*|/\*.*?\*/', re.DOTALL)
_AGENT = {'maxSockets': Option('connections'), 'connections': Option('connections')}
_UNDICI = {'bodyTimeout': Option('gap_timeout_s', _MS, (0,)), 'headersTimeout': Option('first_byte_timeout_s', _MS, (0,)), 'connections': Option('connections')}
_AGENTS = {
    'http.Agent': 'node:http', 'https.Agent': 'node:http', 'agentkeepalive': 'agentkeepalive', 'agentkeepalive.HttpsAgent': 'agentkeepalive',
    'undici.Agent': 'undici', 'undici.Pool': 'undici', 'undici.Client': 'undici',
}  # fmt: skip
_UNSEEN = 'its options come from elsewhere in the program'


def http_components(source: Source) -> Iterator[Component]:
    """The servers that a file starts and the clients whose clocks it sets."""
    for scope in source.scopes:
        for call in scope.calls:
            name = source.called(call, scope).removesuffix('.default')
            if name in _SERVERS:
                made = _server(source, scope, call, _SERVERS[name])
            elif name in ('openai.OpenAI', 'openai', 'openai.AzureOpenAI'):
                made = _openai(source, scope, call)
            elif name == 'axios.create':
                made = _axios(source, scope, call)
            elif name in _AGENTS:
                made = _agent(source, scope, call, _AGENTS[name])
            else:
                made = _signal(source, scope, call)
            if made is not None:
                yield made


def _server(source: Source, scope: Scope, call: Any, product: str) -> Component | None:
    """A server that the file lets listen; what it assigns to the server's fields is the server's."""
    name = _name_of(source, call)
    listens = [(other, where) for where in source.scopes for other in where.calls if _method(source, other) == (name, 'listen')] if name else []
    chained = call.parent is not None and call.parent.type == 'member_expression' and source.text(call.parent.child_by_field_name('property')) == 'listen'
    if not listens and not chained:
        return None
    settings: dict[str, Setting] = {}
    product, fields = _server_options(source, scope, call, product)
    settings.update(options_of(source, scope, fields.values, _TIMES).settings)
    names = {name, *(_name_of(source, other) for other, _ in listens)} - {''}
    for holder in names | {f'{name}.server' for name in names}:
        settings.update(_assigned(source, scope, holder))
    known = default('idle_timeout_s', 72 if product == 'fastify' else 5, source.place(head_of(call)), f'{"Fastify" if product == "fastify" else "Node.js"} default')
    seen = fields.complete and _first(source, _KEEPS, 0, len(source.data)) is None
    settings.setdefault('idle_timeout_s', known if seen else known._replace(reason=_UNSEEN))
    settings['product'] = Setting('product', product, source.place(head_of(call)))
    settings.update(_port(source, scope, [*listens, *([(call.parent.parent, scope)] if chained else [])]))
    return component(HTTP_SERVER, source, head_of(call), settings, '' if fields.complete else _UNSEEN)


def _port(source: Source, scope: Scope, listens: list[tuple[Any, Scope]]) -> dict[str, Setting]:
    """The port of the only `listen(3000)` or `listen({ port: 3000 })`, unless the environment says another one."""
    arguments = source.arguments(listens[0][0]) if len(listens) == 1 else []
    where = listens[0][1] if listens else scope
    node = source.fields(arguments[0], where).values.get('port', arguments[0]) if arguments else None
    found = setting_at(source, where, 'port', node, Option('port'))[0] if node is not None and source.settled(node, where).type != 'object' else None
    return {'port': found._replace(known_value=str(found.known_value))} if found is not None and found.is_known else {}


def _server_options(source: Source, scope: Scope, call: Any, product: str) -> tuple[str, Fields]:
    """What serves, and the options it is made with: NestJS stands on Express, or on the adapter that it is given."""
    arguments = source.arguments(call)
    if product == 'nestjs':
        adapter = source.settled(arguments[1], scope) if len(arguments) > 1 else None
        made = source.called(adapter, scope).rpartition('.')[2] if adapter is not None and adapter.type == 'new_expression' else ''
        if made != 'FastifyAdapter':
            return product, Fields({}, adapter is None or adapter.type == 'object' or made == 'ExpressAdapter')
        product, arguments = 'fastify', source.arguments(adapter)
    given = [argument for argument in arguments if source.settled(argument, scope).type == 'object']
    if not given and (product == 'fastify' or len(arguments) > 1):
        return product, Fields({}, not arguments)
    return product, source.fields(given[0], scope) if given else Fields({}, True)


def _assigned(source: Source, scope: Scope, holder: str) -> dict[str, Setting]:
    """`server.keepAliveTimeout = 65_000` anywhere in the file."""
    found: dict[str, Setting] = {}
    for where in source.scopes:
        for field, option in _TIMES.items():
            for value in where.bound.get(f'{holder}.{field}', ()):
                setting = setting_at(source, scope_around(source, value), option.setting, value, option)[0] if value is not None else None
                if setting is not None:
                    found[option.setting] = setting
    return found


def _name_of(source: Source, call: Any) -> str:
    """The variable or field that holds what a call makes, or ''."""
    holder = call.parent
    if holder is not None and holder.type == 'await_expression':
        holder = holder.parent
    if holder is None or holder.type not in ('variable_declarator', 'assignment_expression'):
        return ''
    name = holder.child_by_field_name('name') or holder.child_by_field_name('left')
    return source.text(name) if name is not None else ''


def _method(source: Source, call: Any) -> tuple[str, str]:
    function = call.child_by_field_name('function')
    if function is None or function.type != 'member_expression':
        return '', ''
    return source.text(function.child_by_field_name('object')), source.text(function.child_by_field_name('property'))


def _openai(source: Source, scope: Scope, call: Any) -> Component | None:
    """The OpenAI SDK, where it is told whom to ask: one that asks OpenAI itself is no part of the service."""
    arguments = source.arguments(call)
    fields = source.fields(arguments[0], scope) if arguments else Fields({}, True)
    base = fields.values.get('baseURL')
    target = text_of(source, scope, base) if base is not None else None
    if (target or '').startswith('https://'):
        return None
    known = {'timeout': Option('first_byte_timeout_s', _MS), 'maxRetries': Option('retries')}
    settings = options_of(source, scope, fields.values, known).settings
    place = source.place(head_of(call))
    settings.setdefault('first_byte_timeout_s', default('first_byte_timeout_s', 600, place, 'OpenAI SDK default'))
    settings.setdefault('retries', default('retries', 2, place, 'OpenAI SDK default'))
    if base is not None:
        settings['answers'] = Setting('answers', "a client of OpenAI's library", place)
    settings.update(target_of(source, scope, base))
    return _client(source, call, 'openai', settings, '' if fields.complete else _UNSEEN)


def _axios(source: Source, scope: Scope, call: Any) -> Component | None:
    arguments = source.arguments(call)
    fields = source.fields(arguments[0], scope) if arguments else Fields({}, True)
    limit = options_of(source, scope, fields.values, {'timeout': Option('gap_timeout_s', _MS, (0,))}).settings.get('gap_timeout_s')
    if limit is None:
        return None
    settings = {'gap_timeout_s': limit, 'first_byte_timeout_s': limit._replace(name='first_byte_timeout_s')}
    settings.update(target_of(source, scope, fields.values.get('baseURL')))
    settings.update(_answers(source))
    return _client(source, call, 'axios', settings, '' if fields.complete else _UNSEEN)


def _agent(source: Source, scope: Scope, call: Any, product: str) -> Component | None:
    arguments = source.arguments(call)
    fields = next((source.fields(argument, scope) for argument in arguments if source.settled(argument, scope).type == 'object'), Fields({}, not arguments))
    settings = options_of(source, scope, fields.values, _UNDICI if product == 'undici' else _AGENT).settings
    handler = in_handler(source, scope)
    if not settings and handler is None:
        return None
    if product == 'undici':
        for name in ('gap_timeout_s', 'first_byte_timeout_s'):
            settings.setdefault(name, default(name, 300, source.place(head_of(call)), 'undici default'))
        settings.update(_answers(source))
    if handler is not None:
        settings['per_request'] = Setting('per_request', True, source.place(head_of(call)))
    return _client(source, call, product, settings, '' if fields.complete else _UNSEEN)


def _signal(source: Source, scope: Scope, call: Any) -> Component | None:
    """`fetch(url, { signal: AbortSignal.timeout(30_000) })`: a clock over the whole answer."""
    if _method(source, call) != ('AbortSignal', 'timeout') or source.values('AbortSignal', scope) is not None:
        return None
    arguments = source.arguments(call)
    limit = setting_at(source, scope, 'timeout_s', arguments[0], Option('timeout_s', _MS))[0] if len(arguments) == 1 else None
    if limit is None:
        return None
    stream = _stream(source, scope)
    if stream is None:
        return None
    settings = {'timeout_s': limit, 'streams': Setting('streams', True, stream)}
    return _client(source, call, 'fetch', settings, '')


def _client(source: Source, call: Any, product: str, settings: dict[str, Setting], partial: str) -> Component:
    settings['product'] = Setting('product', product, source.place(head_of(call)), locked=LOCKED)
    return component(HTTP_CLIENT, source, head_of(call), settings, partial)


def _answers(source: Source) -> dict[str, Setting]:
    """What shows that the file asks for generated text: the path of such a request."""
    found = _first(source, _GENERATION, 0, len(source.data))
    return {'answers': Setting('answers', f'a request for {found.document.text[found.start : found.end]}', found)} if found is not None else {}


def _stream(source: Source, scope: Scope) -> Place | None:
    """Where the function shows that it takes a long answer piece by piece."""
    start, end = scope.node.start_byte if scope is not source.file else 0, scope.node.end_byte
    if _first(source, _PIECES, start, end) is None or _first(source, _SHORT, start, end) is not None:
        return None
    return _first(source, _STREAM, start, end)


def _first(source: Source, words: re.Pattern[bytes], start: int, end: int) -> Place | None:
    """The first of some words in a piece of the file, comments left out."""
    text = _COMMENT.sub(lambda found: b' ' * len(found[0]), source.data[start:end])
    found = words.search(text)
    if found is None:
        return None
    at = len(source.data[: start + found.start()].decode('utf-8', 'replace'))
    return Place(source.document, at, at + len(found[0].decode('utf-8', 'replace')))
