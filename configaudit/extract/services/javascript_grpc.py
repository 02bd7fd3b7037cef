"""gRPC channels and servers in JavaScript source: @grpc/grpc-js, and NestJS on top of it.

Defaults and names: grpc-js 1.14, transport.js (no pings; `permit_without_calls` is compared with === 1), server.js (the server does not
police pings), README, Supported Channel Options.
"""

import math
from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.javascript_settings import (
    LOCKED,
    Option,
    component,
    default,
    fold,
    head_of,
    is_local,
    options_of,
    target_of,
    text_of,
)
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_SERVER
from configaudit.model import Component, Setting
from configaudit.parse.grammar import below
from configaudit.parse.javascript import Fields, Scope, Source
from configaudit.parse.javascript_values import Unfolded
from configaudit.places import Place

_GRPC = '@grpc/grpc-js.'
_CREDENTIALS = (_GRPC + 'credentials.', _GRPC + 'ChannelCredentials.')
_CLIENT = {'grpc.keepalive_time_ms': Option('time_s', 1000, (-1,)), 'grpc.keepalive_timeout_ms': Option('timeout_s', 1000)}
_SERVER = {
    **_CLIENT, 'grpc.max_concurrent_streams': Option('max_concurrent_streams'), 'grpc.max_connection_age_ms': Option('max_connection_age_s', 1000), 'grpc.max_connection_age_grace_ms': Option('max_connection_age_grace_s', 1000),
}  # fmt: skip
_PERMIT = 'grpc.keepalive_permit_without_calls'
_UNSEEN = 'its options come from elsewhere in the program'
_NO_POLICE = 'grpc-js, server.js: the server does not police pings'
KNOWN = frozenset((
    'grpc.ssl_target_name_override', 'grpc.primary_user_agent', 'grpc.secondary_user_agent', 'grpc.default_authority', 'grpc.keepalive_time_ms',
    'grpc.keepalive_timeout_ms', 'grpc.keepalive_permit_without_calls', 'grpc.service_config', 'grpc.max_concurrent_streams',
    'grpc.initial_reconnect_backoff_ms', 'grpc.max_reconnect_backoff_ms', 'grpc.use_local_subchannel_pool', 'grpc.max_send_message_length',
    'grpc.max_receive_message_length', 'grpc.enable_http_proxy', 'grpc.default_compression_algorithm', 'grpc.enable_channelz',
    'grpc.dns_min_time_between_resolutions_ms', 'grpc.enable_retries', 'grpc.max_connection_age_ms', 'grpc.max_connection_age_grace_ms',
    'grpc.max_connection_idle_ms', 'grpc.per_rpc_retry_buffer_size', 'grpc.retry_buffer_size', 'grpc.service_config_disable_resolution',
    'grpc.client_idle_timeout_ms', 'grpc.lb.ring_hash.ring_size_cap', 'grpc.server_call_metric_recording',
))  # fmt: skip
"""Channel options that grpc-js reads; it ignores every other one."""


def grpc_components(source: Source) -> Iterator[Component]:
    """The channels a file opens and the servers it makes."""
    if not any(name.startswith('@grpc/grpc-js') for name in source.imports.values()) and b'@grpc/grpc-js' not in source.data:
        return
    for scope in source.scopes:
        for call in scope.calls:
            if call.type != 'new_expression':
                continue
            made = _server(source, scope, call) if source.called(call, scope) == _GRPC + 'Server' else _client(source, scope, call)
            if made is not None:
                yield made


def _client(source: Source, scope: Scope, call: Any) -> Component | None:
    """`new Stub(address, grpc.credentials.createInsecure(), options)`: what the second argument is tells that it is a channel."""
    arguments = source.arguments(call)
    if len(arguments) < 2:
        return None
    fields = source.fields(arguments[2], scope) if len(arguments) > 2 else Fields({}, True)
    if not _has_credentials(source, scope, arguments[1]) and not any(key.startswith('grpc.') for key in fields.values):
        return None
    target = target_of(source, scope, arguments[0])
    if 'target' in target and 'variable' not in target and is_local(str(target['target'].known_value)):
        return None
    settings = {**client_options(source, scope, fields, source.place(head_of(call))), **target}
    return component(GRPC_CLIENT, source, head_of(call), settings, '' if fields.complete else _UNSEEN)


def client_options(source: Source, scope: Scope, fields: Fields, place: Place) -> dict[str, Setting]:
    """What the options of a channel say; `place` is where it is made."""
    settings = _read(source, scope, fields, _CLIENT)
    policy = fields.values.get('grpc.service_config')
    if policy is not None:
        text = text_of(source, scope, policy)
        shown = text if text is not None else source.text(source.settled(policy, scope))
        settings['round_robin'] = Setting('round_robin', 'round_robin' in shown, source.place(policy))
    settings['max_pings'] = Setting('max_pings', 0, place, 'default', source='only the C core stops after some pings without data')
    return settings


def _has_credentials(source: Source, scope: Scope, node: Any) -> bool:
    """Whether an argument is what grpc-js makes credentials with, by itself or as one of two."""
    return any(found.type == 'call_expression' and source.called(found, scope).startswith(_CREDENTIALS) for found in below(source.settled(node, scope)))


def _server(source: Source, scope: Scope, call: Any) -> Component:
    arguments = source.arguments(call)
    fields = source.fields(arguments[0], scope) if arguments else Fields({}, True)
    settings = {**server_options(source, scope, fields, source.place(head_of(call))), **_port(source)}
    return component(GRPC_SERVER, source, head_of(call), settings, '' if fields.complete else _UNSEEN)


def server_options(source: Source, scope: Scope, fields: Fields, place: Place) -> dict[str, Setting]:
    """What the options of a server say; `place` is where it is made."""
    settings = _read(source, scope, fields, _SERVER)
    settings['min_time_s'] = default('min_time_s', 0, place, _NO_POLICE)
    settings['max_ping_strikes'] = default('max_ping_strikes', 0, place, _NO_POLICE)
    settings['permit_without_stream'] = default('permit_without_stream', True, place, _NO_POLICE)
    settings.setdefault('time_s', default('time_s', math.inf, place, 'grpc-js, server.js: keepalive is off'))
    return settings


def _port(source: Source) -> dict[str, Setting]:
    """The port that the file's only `bindAsync` names."""
    bound = [(scope, call) for scope in source.scopes for call in scope.calls if source.text(call.child_by_field_name('function') or call).endswith('.bindAsync')]
    arguments = source.arguments(bound[0][1]) if len(bound) == 1 else []
    text = text_of(source, bound[0][0], arguments[0]) if arguments else None
    port = (text or '').rpartition(':')[2]
    return {'port': Setting('port', port, source.place(arguments[0]))} if port.isdigit() else {}


def _read(source: Source, scope: Scope, fields: Fields, known: dict[str, Option]) -> dict[str, Setting]:
    settings = options_of(source, scope, fields.values, known).settings
    permit = fields.values.get(_PERMIT)
    if permit is not None and known is _CLIENT:
        settings['permit_without_stream'] = found = _permit(source, scope, permit)
        if source.text(source.settled(permit, scope)) == 'true':
            settings['without_effect'] = Setting('without_effect', ((_PERMIT, found.place, 'grpc-js takes the number 1, not true'),), found.place)
    unread = [(key, source.place(node.parent if node.parent.type == 'pair' else node)) for key, node in fields.values.items() if node is not None and _is_unread(key)]
    if unread:
        settings['unread'] = Setting('unread', tuple(unread), unread[0][1])
    return settings


def _permit(source: Source, scope: Scope, node: Any) -> Setting:
    """grpc-js compares with === 1: `true` permits nothing."""
    try:
        value, _ = fold(source, scope, node)
    except Unfolded:
        return Setting('permit_without_stream', None, source.place(node), reason='the program works it out', locked=LOCKED)
    return Setting('permit_without_stream', value == 1 and not isinstance(value, bool), source.place(node), locked=LOCKED)


def _is_unread(key: str) -> bool:
    return key.startswith('grpc.') and key not in KNOWN
