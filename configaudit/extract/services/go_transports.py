"""HTTP transports in Go source: how many connections they keep, which protocol they lose, whether they notice a dead one.

Defaults: net/http (2 idle connections a host, 100 in all for http.DefaultTransport), golang.org/x/net/http2 (no health pings).
"""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.services.go_values import LOCKED, NANOSECONDS, setting_at
from configaudit.knowledge.service_kinds import HTTP_TRANSPORT
from configaudit.model import Component, Setting
from configaudit.parse.golang import Scope, Source
from configaudit.patterns import regex
from configaudit.places import Place

TRANSPORT = 'net/http.Transport'
_HTTP2 = 'golang.org/x/net/http2.'
_DECIDED = regex(rb'ForceAttemptHTTP2|TLSNextProto|NextProtos|SetHTTP2|http2\.Configure|http2\.Transport|\bProtocols\b')
"""Words by which a file shows that somebody thought of HTTP/2."""
_GATEWAY = regex(rb'ReverseProxy|text/event-stream|/completions|http\.Flusher')
"""Words of a program that hands many requests on: there the protocol matters."""
_POOL = {'MaxIdleConnsPerHost': 'idle_per_host', 'MaxIdleConns': 'idle_total', 'MaxConnsPerHost': 'connections'}
_DIALS = ('DialContext', 'DialTLSContext', 'Dial', 'DialTLS')
"""Fields of a transport that turn HTTP/2 off as its TLSClientConfig does: with cleartext there is none to lose."""
_NO_API = 'golang.org/x/net/http2 has no WithTransport'
_URL = regex(rb'"(http://[^"/\s]+)')
_HERE = regex(rb'http://(?:localhost|127\.|0\.0\.0\.0|\[::1?\]|169\.254\.)')
_PINGS = ('ReadIdleTimeout', 'PingTimeout')


def transports(source: Source) -> Iterator[Component]:
    """The transports of a file that are judged by themselves."""
    gateway = _GATEWAY.search(source.data) is not None
    for scope in source.scopes:
        for literal in scope.literals:
            kind = source.name_of(literal.child_by_field_name('type'))
            settings = _plain(source, scope, literal, gateway) if kind == TRANSPORT else _http2(source, scope, literal) if kind == _HTTP2 + 'Transport' else None
            if settings:
                yield _component(source, literal, settings)
        for call in scope.calls:
            if source.called(call) == _HTTP2 + 'WithTransport':
                function = call.child_by_field_name('function')
                yield _component(source, function, {'no_such_api': Setting('no_such_api', _NO_API, source.place(function))})


def pool_of(source: Source, scope: Scope, literal: Any) -> dict[str, Setting]:
    """What a transport's literal, and assignments to its fields, say of the connections it keeps."""
    fields = dict(source.fields(literal) or {})
    holder = _holder(scope, literal)
    for field in (*_POOL, 'DisableKeepAlives', 'ResponseHeaderTimeout') if holder else ():
        values = scope.bound.get(f'{holder}.{field}', [])
        if values and values[-1] is not None:
            fields[field] = values[-1]
    settings = {name: setting_at(source, scope, name, fields[field]) for field, name in _POOL.items() if field in fields}
    if 'ResponseHeaderTimeout' in fields:
        settings['first_byte_timeout_s'] = setting_at(source, scope, 'first_byte_timeout_s', fields['ResponseHeaderTimeout'], NANOSECONDS, 's')
    return settings


def _holder(scope: Scope, literal: Any) -> str:
    wanted = (literal.id, literal.parent.id if literal.parent is not None else None)
    return next((name for name, values in scope.bound.items() if any(value is not None and value.id in wanted for value in values)), '')


def _plain(source: Source, scope: Scope, literal: Any, gateway: bool) -> dict[str, Setting]:
    fields = source.fields(literal) or {}
    settings: dict[str, Setting] = {}
    over_tls = b'https://' in source.data and b'"unix"' not in source.data
    own = next((field for field in ('TLSClientConfig', *(_DIALS if over_tls else ())) if field in fields), '')
    if gateway and own:
        place = source.place(fields[own])
        settings['turns_http2_off'] = Setting('turns_http2_off', 'TLS configuration' if own == 'TLSClientConfig' else 'dialer', place, locked=LOCKED)
        settings['http2_decided'] = Setting('http2_decided', _DECIDED.search(source.data) is not None, place)
    if gateway and 'ForceAttemptHTTP2' in fields and b'SetUnencryptedHTTP2' not in source.data:
        _cleartext(source, settings, setting_at(source, scope, 'wants_http2', fields['ForceAttemptHTTP2']))
    if gateway and 'DisableKeepAlives' in fields:
        settings['keepalives_off'] = setting_at(source, scope, 'keepalives_off', fields['DisableKeepAlives'])
    return settings


def _http2(source: Source, scope: Scope, literal: Any) -> dict[str, Setting]:
    fields = source.fields(literal)
    if fields is None:
        return {}
    settings = {'product': Setting('product', 'x/net/http2', source.place(literal))}
    holder = _holder(scope, literal)
    later = holder and any(f'{holder}.{field}' in scope.bound for field in _PINGS)
    if 'ReadIdleTimeout' in fields:
        settings['health_ping_s'] = setting_at(source, scope, 'health_ping_s', fields['ReadIdleTimeout'], NANOSECONDS, 's')
    elif later:
        settings['health_ping_s'] = Setting('health_ping_s', None, source.place(literal), reason='the program sets it later')
    if 'AllowHTTP' not in fields and not (holder and f'{holder}.AllowHTTP' in scope.bound):
        _cleartext(source, settings, Setting('wants_http2', True, source.place(literal)))
    return settings


def _cleartext(source: Source, settings: dict[str, Setting], wants: Setting) -> None:
    """The http:// address of a file that has no https:// one."""
    found = next((found for found in _URL.finditer(source.data) if not _HERE.match(found[1])), None)
    if found is None or b'https://' in source.data:
        return
    at = len(source.data[: found.start(1)].decode('utf-8', 'replace'))
    text = found[1].decode('utf-8', 'replace')
    settings['wants_http2'] = wants
    settings['cleartext_url'] = Setting('cleartext_url', text, Place(source.document, at, at + len(text)))


def _component(source: Source, node: Any, settings: dict[str, Setting]) -> Component:
    path = source.document.path
    return Component(HTTP_TRANSPORT, path.rpartition('/')[2], f'go/{path}/http-transport/{node.start_byte}', source.place(node), settings)
