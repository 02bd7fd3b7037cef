"""gRPC ends of NestJS: objects with `transport: Transport.GRPC` that a module registers as clients or an application listens with.

@nestjs/microservices 12.1, client-grpc.js and server-grpc.js: `channelOptions` go to grpc-js as they are, and the fields of `keepalive`
replace those of the same meaning; without credentials the channel is not encrypted.
"""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.javascript_grpc import client_options, server_options
from configaudit.extract.services.javascript_settings import component, is_local, scope_around, target_of, text_of
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_SERVER
from configaudit.model import Component, Setting
from configaudit.parse.grammar import below
from configaudit.parse.javascript import Fields, Scope, Source

_KEEPALIVE = {
    'keepaliveTimeMs': 'grpc.keepalive_time_ms', 'keepaliveTimeoutMs': 'grpc.keepalive_timeout_ms',
    'keepalivePermitWithoutCalls': 'grpc.keepalive_permit_without_calls',
}  # fmt: skip
_CLIENTS = ('ClientsModule.register', 'ClientsModule.registerAsync', 'ClientProxyFactory.create', 'Client')
_SERVERS = ('createMicroservice', 'connectMicroservice')
_UNSEEN = 'its options come from elsewhere in the program'


def nest_components(source: Source) -> Iterator[Component]:
    """The clients a file registers and the servers it starts."""
    if b'@nestjs/microservices' not in source.data or b'Transport.GRPC' not in source.data:
        return
    for node in below(source.root):
        if node.type != 'object':
            continue
        scope = scope_around(source, node)
        fields = source.fields(node, scope).values
        transport = fields.get('transport')
        if transport is not None and source.text(transport) == 'Transport.GRPC' and fields.get('options') is not None:
            made = _end(source, scope, transport, fields['options'], True if 'name' in fields else _is_client(source, node))
            if made is not None:
                yield made


def _is_client(source: Source, node: Any) -> bool | None:
    """Whether what an object is given to makes clients of it, or a server; None for neither. One with a `name` is a client wherever it stands."""
    while node is not None:
        if node.type == 'call_expression':
            called = source.text(node.child_by_field_name('function')).partition('<')[0]
            if called in _CLIENTS:
                return True
            if called.rpartition('.')[2] in _SERVERS:
                return False
        node = node.parent
    return None


def _end(source: Source, scope: Scope, transport: Any, options: Any, client: bool | None) -> Component | None:
    given = source.fields(options, scope)
    channel = _part(source, scope, given, 'channelOptions')
    keepalive = _part(source, scope, given, 'keepalive')
    values = {**channel.values, **{_KEEPALIVE[key]: value for key, value in keepalive.values.items() if key in _KEEPALIVE}}
    complete = given.complete and channel.complete and keepalive.complete
    url, place = given.values.get('url'), source.place(transport)
    if client:
        target = target_of(source, scope, url)
        if 'target' in target and 'variable' not in target and is_local(str(target['target'].known_value)):
            return None
        settings = {**client_options(source, scope, Fields(values, complete), place), **target}
        return component(GRPC_CLIENT, source, transport, settings, '' if complete else _UNSEEN)
    if client is None:
        return None
    settings = server_options(source, scope, Fields(values, complete), place)
    port = (text_of(source, scope, url) or '').rpartition(':')[2] if url is not None else ''
    if port.isdigit():
        settings['port'] = Setting('port', port, source.place(url))
    return component(GRPC_SERVER, source, transport, settings, '' if complete else _UNSEEN)


def _part(source: Source, scope: Scope, fields: Fields, name: str) -> Fields:
    """The object in a field; nothing where the field is not written."""
    node = fields.values.get(name)
    return source.fields(node, scope) if node is not None else Fields({}, name not in fields.values)
