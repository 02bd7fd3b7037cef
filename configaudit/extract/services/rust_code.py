"""Rust programs: what their source sets up with tonic (gRPC), sqlx, r2d2 and bb8 (pools), and reqwest (HTTP clients).

Defaults: tonic 0.14 transport/channel/endpoint.rs and transport/server/mod.rs (pings off, timeout 20 s, the server polices none); sqlx-core
pool/options.rs (10 connections, 30 s to get one, idle 10 min, lifetime 30 min), the same in r2d2 and bb8; reqwest ClientBuilder::timeout
runs until the body has ended.
"""

import math
from collections.abc import Iterator
from typing import Any

from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.source_role import SHORT_LIVED, is_served
from configaudit.extract.words import Word
from configaudit.knowledge.service_kinds import GRPC_CLIENT, GRPC_SERVER, HTTP_CLIENT
from configaudit.model import Component, Kind, Setting
from configaudit.parse.grammar import Unreadable
from configaudit.parse.rust import Chain, Source, Unfolded
from configaudit.patterns import regex
from configaudit.places import Document, Place

_LOCKED, _WORKED_OUT, _WRITTEN_IN = 'it is a program', 'the program works it out', 'Rust'
_TRANSPORT = 'tonic::transport::'
_CHANNELS = tuple(f'{_TRANSPORT}{name}' for name in ('Endpoint::from_static', 'Endpoint::from_shared', 'Endpoint::new', 'Channel::from_static', 'Channel::from_shared', 'Channel::builder'))
_CLIENT = {'http2_keep_alive_interval': 'time_s', 'keep_alive_timeout': 'timeout_s', 'keep_alive_while_idle': 'permit_without_stream'}
_SERVER = {
    'http2_keepalive_interval': 'time_s', 'http2_keepalive_timeout': 'timeout_s', 'max_connection_age': 'max_connection_age_s',
    'max_connection_age_grace': 'max_connection_age_grace_s', 'max_concurrent_streams': 'max_concurrent_streams',
}  # fmt: skip
_POOL = {
    'max_connections': 'max_open', 'max_size': 'max_open', 'min_connections': 'min_idle', 'min_idle': 'min_idle', 'acquire_timeout': 'wait_timeout_s',
    'connection_timeout': 'wait_timeout_s', 'idle_timeout': 'idle_timeout_s', 'max_lifetime': 'max_lifetime_s',
}  # fmt: skip
_POOLS = {
    'sqlx::postgres::PgPoolOptions::new': ('sqlx', 'postgres'), 'sqlx::mysql::MySqlPoolOptions::new': ('sqlx', 'mysql'),
    'r2d2::Pool::builder': ('r2d2', ''), 'diesel::r2d2::Pool::builder': ('r2d2', ''), 'bb8::Pool::builder': ('bb8', ''),
}  # fmt: skip
_CONNECTORS = ('connect', 'connect_lazy')
_CLIENTS = ('reqwest::Client::builder', 'reqwest::ClientBuilder::new')
_STREAMS = regex(rb'\.bytes_stream\(\)|text/event-stream|\.eventsource\(|\bEventSource::')
_LOCAL = regex(r'(?:[a-z]+:/*)?(?:localhost|127\.[\d.]+|\[::1?\]|0\.0\.0\.0)(?:[:/]|$)|unix:')
_MANAGERS = ((regex(rb'\bPgConnection\b|\bPostgresConnectionManager\b|AsyncPgConnection'), 'postgres'), (regex(rb'\bMysqlConnection\b'), 'mysql'))
_EXTRACTORS = regex(rb'\b(?:State|Json|Path|Query|Extension|HttpRequest|HeaderMap)\b|\bweb::|\bRequest<')
_NO_POLICE = 'tonic Server: no policy for pings'


def read(document: Document) -> Reading | None:
    """The clients, servers and pools of a file; None when it has none, or is no part of a service."""
    if not is_served(document.below) or b'@generated' in document.data[:600]:
        return None
    try:
        source = Source(document)
    except Unreadable:
        return None
    reading = nothing()
    numbers: dict[str, int] = {}
    chains = list(source.chains())
    for chain in chains:
        made = _made(source, chain, chains)
        if made is not None:
            number = numbers[made.kind.name] = numbers.get(made.kind.name, -1) + 1
            made.identity = f'rust/{document.path}/{made.kind.name}/{number}'
            reading.components.append(made)
    return reading if reading.components else None


def _made(source: Source, chain: Chain, chains: list[Chain]) -> Component | None:
    if chain.start in _CHANNELS:
        return _channel(source, chain)
    if chain.start == _TRANSPORT + 'Server::builder':
        return _server(source, chain)
    if chain.start in _POOLS:
        return _pool(source, chain)
    if chain.start in _CLIENTS:
        return _http(source, chain, sum(other.start in _CLIENTS for other in chains) == 1)
    if chain.start == 'reqwest::Client::new' and _in_handler(source, chain.function):
        place = _place(source, chain)
        return _component(HTTP_CLIENT, source, chain, {'product': Setting('product', 'reqwest', place), **_anew(place)})
    return None


def _channel(source: Source, chain: Chain) -> Component | None:
    arguments = source.arguments(chain.call)
    settings = dict(_settings(source, chain, _CLIENT))
    try:
        target = source.value(arguments[0], chain.function) if arguments else None
    except Unfolded:
        target = None
    if isinstance(target, str):
        if _LOCAL.match(target):
            return None
        settings['target'] = Setting('target', target, source.place(arguments[0]), locked=_LOCKED)
    return _component(GRPC_CLIENT, source, chain, settings)


def _server(source: Source, chain: Chain) -> Component:
    place = _place(source, chain)
    settings = dict(_settings(source, chain, _SERVER))
    for name, known in (('min_time_s', 0), ('max_ping_strikes', 0), ('permit_without_stream', True)):
        settings[name] = Setting(name, known, place, 'default', source=_NO_POLICE, locked=_LOCKED)
    settings.setdefault('time_s', Setting('time_s', math.inf, place, 'default', source='tonic Server: keepalive is off', locked=_LOCKED))
    return _component(GRPC_SERVER, source, chain, settings)


def _pool(source: Source, chain: Chain) -> Component | None:
    name = chain.function.child_by_field_name('name')
    if name is not None and SHORT_LIVED.search(source.text(name)):
        return None
    library, product = _POOLS[chain.start]
    product = product or next((name for pattern, name in _MANAGERS if pattern.search(source.data)), '')
    if not product:
        return None
    place = _place(source, chain)
    settings = dict(_settings(source, chain, _POOL))
    if _in_handler(source, chain.function):
        settings['per_request'] = Setting('per_request', True, place)
    if b'statement_cache_capacity' in source.data:
        settings['statement_cache'] = Setting('statement_cache', None, place, reason=_WORKED_OUT)
    settings.update(_host(source, chain))
    settings['product'] = Setting('product', product, place)
    settings['written_in'] = Setting('written_in', _WRITTEN_IN, place)
    path = source.document.path
    return component_of(Draft('code', library, settings, place), path.rpartition('/')[2], '', path, '')


def _host(source: Source, chain: Chain) -> dict[str, Setting]:
    """The host of the URL that a pool is connected with, where the program writes it."""
    arguments = [argument for method in _CONNECTORS if method in chain.methods for argument in source.arguments(chain.methods[method])[:1]]
    try:
        url = source.value(arguments[0], chain.function) if len(arguments) == 1 else None
    except Unfolded:
        return {}
    dsn = parse_dsn(Word(url, source.place(arguments[0]), False, locked=_LOCKED)) if isinstance(url, str) else None
    return {'host': Setting('host', dsn.host, source.place(arguments[0]))} if dsn is not None and dsn.host else {}


def _anew(place: Place) -> dict[str, Setting]:
    """A client that a handler makes: it is dropped, and its connections closed, when the handler returns."""
    return {'per_request': Setting('per_request', True, place), 'closes': Setting('closes', True, place)}


def _http(source: Source, chain: Chain, only: bool) -> Component:
    place = _place(source, chain)
    settings = dict(_settings(source, chain, {'timeout': 'timeout_s', 'read_timeout': 'gap_timeout_s'}))
    stream = _STREAMS.search(source.data) if only else None
    if stream is not None:
        at = len(source.data[: stream.start()].decode('utf-8', 'replace'))
        settings['streams'] = Setting('streams', True, Place(source.document, at, at + len(stream[0])))
    if _in_handler(source, chain.function):
        settings.update(_anew(place))
    settings['product'] = Setting('product', 'reqwest', place)
    return _component(HTTP_CLIENT, source, chain, settings)


def _settings(source: Source, chain: Chain, names: dict[str, str]) -> Iterator[tuple[str, Setting]]:
    """The settings that methods of a chain give; `None` is no limit."""
    for method, name in names.items():
        call = chain.methods.get(method)
        arguments = source.arguments(call) if call is not None else []
        if len(arguments) != 1:
            continue
        place = source.place(arguments[0])
        unit = 's' if name.endswith('_s') else ''
        try:
            value = source.value(arguments[0], chain.function)
        except Unfolded:
            yield name, Setting(name, None, place, reason=_WORKED_OUT, unit=unit, locked=_LOCKED)
            continue
        if not isinstance(value, str):
            yield name, Setting(name, math.inf if value is None else value, place, unit=unit, locked=_LOCKED)


def _in_handler(source: Source, function: Any) -> bool:
    """Whether a function takes what a request brings: an extractor of axum or actix-web among its parameters."""
    parameters = function.child_by_field_name('parameters') if function.type == 'function_item' else None
    return parameters is not None and _EXTRACTORS.search(source.data, parameters.start_byte, parameters.end_byte) is not None


def _place(source: Source, chain: Chain) -> Place:
    return source.place(chain.call.child_by_field_name('function'))


def _component(kind: Kind, source: Source, chain: Chain, settings: dict[str, Setting]) -> Component:
    place = _place(source, chain)
    settings['written_in'] = Setting('written_in', _WRITTEN_IN, place)
    return Component(kind, source.document.path.rpartition('/')[2], '', place, settings)
