"""gRPC channels and servers in Python source: the channel arguments of the C core.

Defaults: gRPC doc/keepalive.md; names: include/grpc/impl/channel_arg_names.h.
"""

import ast
from collections.abc import Iterator

from configaudit.extract.services.python_values import WORKED_OUT, keywords, setting_at
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_SERVER
from configaudit.model import Component, Kind, Setting
from configaudit.parse.python import Source, Unfolded
from configaudit.patterns import regex

_CHANNELS = {'grpc.insecure_channel': 1, 'grpc.aio.insecure_channel': 1, 'grpc.secure_channel': 2, 'grpc.aio.secure_channel': 2}
"""Function -> where its options stand."""
_HANDED = ('grpc_options', 'channel_options')
"""Keywords by which a library's own client takes the options of its channel (etcd3, Qdrant, Temporal)."""
_LISTENS = ('add_insecure_port', 'add_secure_port')
_SERVERS = {'grpc.server': 3, 'grpc.aio.server': 3}
_LOCAL = regex(r'(?:[a-z]+:/*)?(?:localhost|127\.[\d.]+|\[::1?\]|0\.0\.0\.0)(?::|$)|unix:')
_CLIENT = {
    'grpc.keepalive_time_ms': ('time_s', 1000), 'grpc.keepalive_timeout_ms': ('timeout_s', 1000),
    'grpc.keepalive_permit_without_calls': ('permit_without_stream', 1), 'grpc.http2.max_pings_without_data': ('max_pings', 1),
    'grpc.lb_policy_name': ('round_robin', 1), 'grpc.service_config': ('round_robin', 1),
}  # fmt: skip
_SERVER = {
    'grpc.http2.min_ping_interval_without_data_ms': ('min_time_s', 1000), 'grpc.http2.max_ping_strikes': ('max_ping_strikes', 1),
    'grpc.keepalive_permit_without_calls': ('permit_without_stream', 1), 'grpc.keepalive_time_ms': ('time_s', 1000),
    'grpc.keepalive_timeout_ms': ('timeout_s', 1000), 'grpc.max_connection_age_ms': ('max_connection_age_s', 1000),
    'grpc.max_connection_age_grace_ms': ('max_connection_age_grace_s', 1000), 'grpc.max_concurrent_streams': ('max_concurrent_streams', 1),
}  # fmt: skip
_PINGS = regex(r'GRPC_ARG_\w+$|grpc\.(?:http2\.)?\w*(?:keepalive|ping)\w*$')
"""Names that mean keepalive and pings."""
KNOWN = frozenset((
    'grpc.keepalive_time_ms', 'grpc.keepalive_timeout_ms', 'grpc.keepalive_permit_without_calls', 'grpc.http2.max_pings_without_data',
    'grpc.http2.min_ping_interval_without_data_ms', 'grpc.http2.max_ping_strikes', 'grpc.http2.ping_timeout_ms',
    'grpc.http2.ack_pings', 'grpc.http2.max_inflight_pings', 'grpc.http2.ping_on_rst_stream_percent', 'grpc.http2.min_time_between_pings_ms',
    'grpc.http2.min_sent_ping_interval_without_data_ms',
))  # fmt: skip
"""Those of them that the core reads, or read in earlier releases."""


def grpc_components(source: Source) -> Iterator[Component]:
    """The channels a file opens and the servers it makes."""
    number = 0
    for name, call in source.calls():
        if name not in _CHANNELS and name not in _SERVERS:
            handed = next((word.value for word in call.keywords if word.arg in _HANDED), None)
            settings, partial = _arguments(source, handed, _CLIENT)
            if settings:
                settings.setdefault('max_pings', Setting('max_pings', 2, source.place(call.func), 'default', source='gRPC core default'))
                yield _component(GRPC_CLIENT, source, call, settings, partial, number)
                number += 1
            continue
        is_client = name in _CHANNELS
        given, unseen = keywords(source, call)
        at = _CHANNELS[name] if is_client else _SERVERS[name]
        options = given.get('options') or (call.args[at] if len(call.args) > at and not any(isinstance(item, ast.Starred) for item in call.args) else None)
        settings, partial = _arguments(source, options, _CLIENT if is_client else _SERVER)
        target = given.get('target') or (call.args[0] if is_client and call.args else None)
        if is_client and target is not None:
            try:
                text = str(source.value(target))
            except Unfolded:
                text = ''
            if _LOCAL.match(text):
                continue
            if text:
                settings['target'] = setting_at(source, 'target', target)
        if not is_client:
            settings.update(_port(source))
        if is_client:
            settings.setdefault('max_pings', Setting('max_pings', 2, source.place(call.func), 'default', source='gRPC core default'))
        yield _component(GRPC_CLIENT if is_client else GRPC_SERVER, source, call, settings, partial or unseen, number)
        number += 1


def _port(source: Source) -> dict[str, Setting]:
    """The one port that the file's servers listen on: `server.add_insecure_port('[::]:50051')`."""
    found: dict[str, Setting] = {}
    for call in source.nodes:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _LISTENS and call.args:
            try:
                port = str(source.value(call.args[0])).rpartition(':')[2]
            except Unfolded:
                return {}
            if port.isdigit():
                found[port] = Setting('port', port, source.place(call.args[0]))
    return {'port': next(iter(found.values()))} if len(found) == 1 else {}


def _arguments(source: Source, options: ast.expr | None, names: dict[str, tuple[str, int]]) -> tuple[dict[str, Setting], str]:
    """The settings of `options=[('grpc.keepalive_time_ms', 1000), ...]`, and why there may be more."""
    if options is None or (isinstance(options, ast.Constant) and options.value is None):
        return {}, ''
    first, changed = source.first(options)
    if not isinstance(first, (ast.List, ast.Tuple)):
        return {}, WORKED_OUT
    settings: dict[str, Setting] = {}
    unread = []
    for item in first.elts:
        pair = source.settled(item)
        if not isinstance(pair, (ast.Tuple, ast.List)) or len(pair.elts) != 2:
            changed = True
            continue
        try:
            key = str(source.value(pair.elts[0]))
        except Unfolded:
            changed = True
            continue
        if key in names:
            setting, scale = names[key]
            found = setting_at(source, setting, pair.elts[1], 's' if scale > 1 else '', scale)
            if setting == 'round_robin':
                found = found._replace(known_value='round_robin' in str(found.known_value) or (setting in settings and settings[setting].known_value is True))
            settings[setting] = found._replace(known_value=bool(found.known_value)) if setting == 'permit_without_stream' else found
        elif _PINGS.match(key) and key not in KNOWN:
            unread.append((key, source.place(pair.elts[0])))
    if unread:
        settings['unread'] = Setting('unread', tuple(unread), unread[0][1])
    return settings, WORKED_OUT if changed else ''


def _component(kind: Kind, source: Source, call: ast.Call, settings: dict[str, Setting], partial: str, number: int) -> Component:
    path = source.document.path
    place = source.place(call.func)
    settings['written_in'] = Setting('written_in', 'Python', place)
    return Component(kind, path.rpartition('/')[2], f'python/{path}/{kind.name}/{number}', place, settings, partial=partial)
