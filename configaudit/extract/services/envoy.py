"""Envoy's static configuration: its clusters, and which of them must speak gRPC. Source: Envoy v3 API, Cluster."""

import math
from collections.abc import Iterator
from typing import Any

from configaudit import units
from configaudit.extract.process import Reading, nothing
from configaudit.extract.settings import setting
from configaudit.extract.words import is_open, word_of
from configaudit.knowledge.proxy_kinds import UPSTREAM
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, Seq, get, items, key_place, mapping, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document, Place

OPTIONS = regex(r'envoy\.extensions\.upstreams\.http\.v3\.HttpProtocolOptions$')
_DEPTH = 60


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """The clusters of a bootstrap file, or of a file that only lists clusters."""
    reading = nothing()
    grpc = dict(_grpc_users(root, _DEPTH))
    for holder in (mapping(root, 'static_resources') or root,):
        for cluster in maps(holder, 'clusters'):
            reading.components.append(cluster_of(document, cluster, grpc, partial))
    if b'route' in document.parsed:
        from configaudit.extract.services.envoy_routes import routes_of

        reading.components.extend(routes_of(document, root, partial))
    return reading


def _grpc_users(node: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Clusters that Envoy itself calls by gRPC, or routes gRPC to, with the field that says so."""
    if depth == 0:
        return
    if isinstance(node, Seq):
        for item in node:
            yield from _grpc_users(item, depth - 1)
    if not isinstance(node, Map):
        return
    name = text(node, 'envoy_grpc', 'cluster_name')
    if name:
        yield name, 'envoy_grpc'
    routed = text(node, 'route', 'cluster')
    if routed and get(node, 'match', 'grpc') is not None:
        yield routed, 'a route for gRPC only'
    for value in node.values():
        yield from _grpc_users(value, depth - 1)


def cluster_of(document: Document, cluster: Map, grpc: dict[str, str], partial: str, name: str = '') -> Component:
    """One cluster: protocol, keepalive, limits, addresses."""
    name = name or text(cluster, 'name') or '-'
    place = key_place(document, cluster, 'name' if 'name' in cluster else next(iter(cluster), ''))
    settings = {
        'product': Setting('product', 'envoy', place),
        'targets': Setting('targets', tuple(_targets(cluster)), place),
        'tls': Setting('tls', get(cluster, 'transport_socket') is not None, place),
        'grpc': Setting('grpc', _why_grpc(cluster, grpc, name), place),
    }
    partial = partial or ('filled by a template' if is_open(document, cluster) else '')
    _protocol(document, cluster, place, settings, partial)
    if get(cluster, 'circuit_breakers') is None:
        settings['breaker'] = Setting('breaker', 1024, place, 'default', partial, source='Envoy v3 API, CircuitBreakers.Thresholds')
    for thresholds in maps(cluster, 'circuit_breakers', 'thresholds'):
        if text(thresholds, 'priority') in (None, 'DEFAULT'):
            at = place_of(document, thresholds)
            settings['breaker'] = Setting('breaker', None, at)
        if 'max_connections' in thresholds and text(thresholds, 'priority') in (None, 'DEFAULT'):
            settings['max_connections'] = setting('max_connections', document, thresholds, 'max_connections', 'count')
    if get(cluster, 'outlier_detection', 'max_ejection_percent') is not None:
        settings['ejects_percent'] = setting('ejects_percent', document, cluster['outlier_detection'], 'max_ejection_percent', 'count')
    panic = mapping(cluster, 'common_lb_config', 'healthy_panic_threshold')
    settings['panic_percent'] = Setting('panic_percent', 50, place, 'default', partial, source='Envoy v3 API, CommonLbConfig.healthy_panic_threshold')
    if panic is not None:
        settings['panic_percent'] = setting('panic_percent', document, panic, 'value', 'count') if 'value' in panic else Setting('panic_percent', 0, place)
    probes = mapping(cluster, 'upstream_connection_options', 'tcp_keepalive')
    if probes or get(cluster, 'health_checks'):
        settings['probed'] = Setting('probed', True, place)
    if 'connect_timeout' in cluster:
        settings['connect_timeout_s'] = setting('connect_timeout_s', document, cluster, 'connect_timeout', 's')
    if 'max_requests_per_connection' in cluster:
        settings['max_requests'] = setting('max_requests', document, cluster, 'max_requests_per_connection', 'count')
    file = document.path.rpartition('/')[2]
    slot = Slot('yaml_edit', Place(document, cluster.start, cluster.start))
    return Component(UPSTREAM, name, f'{file}/cluster/{name}', place, settings, slot=slot, partial=partial)


def _targets(cluster: Map) -> Iterator[tuple[str, str]]:
    for group in maps(cluster, 'load_assignment', 'endpoints'):
        for endpoint in maps(group, 'lb_endpoints'):
            address = mapping(endpoint, 'endpoint', 'address', 'socket_address')
            if address is not None:
                yield text(address, 'address') or '', text(address, 'port_value') or ''
    for host in maps(cluster, 'hosts'):
        yield text(host, 'socket_address', 'address') or '', text(host, 'socket_address', 'port_value') or ''


def _why_grpc(cluster: Map, grpc: dict[str, str], name: str) -> str:
    checks = get(cluster, 'health_checks')
    for check in (*items(checks), checks):
        if get(check, 'grpc_health_check') is not None:
            return 'grpc_health_check'
    return grpc.get(name, '')


def _protocol(document: Document, cluster: Map, place: Place, settings: dict[str, Setting], partial: str) -> None:
    """Which HTTP the cluster speaks: HTTP/1.1 where nothing says otherwise."""
    extensions: dict[str, Any] = mapping(cluster, 'typed_extension_protocol_options') or {}
    options = next((value for key, value in extensions.items() if OPTIONS.search(key)), None)
    for holder in (mapping(options, 'common_http_protocol_options'), mapping(cluster, 'common_http_protocol_options')):
        if holder is not None and 'idle_timeout' in holder:
            settings['idle_timeout_s'] = setting('idle_timeout_s', document, holder, 'idle_timeout', 's')
    for holder, version in _candidates(cluster, options):
        for key, spelled in version.items():
            if key in holder:
                at = key_place(document, holder, key)
                settings['protocol_http'] = Setting('protocol_http', spelled, at)
                _keepalive(document, mapping(holder, key), settings)
                if 'ping_interval_s' not in settings and not partial:
                    slot = Slot('yaml_edit', Place(document, holder.start, holder.start), (key, 'connection_keepalive'))
                    settings['ping_interval_s'] = Setting('ping_interval_s', math.inf, at, 'default', slot=slot)
                return
    reason = partial or ('' if isinstance(options, Map) or options is None else 'filled by a template')
    settings['protocol_http'] = Setting('protocol_http', '1.1', place, 'default', reason, source='Envoy v3 API, Cluster')


def _candidates(cluster: Map, options: Any) -> Iterator[tuple[Map, dict[str, str]]]:
    """The mappings that may name the protocol, each with what its keys mean."""
    if isinstance(options, Map):
        yield options, {'auto_config': 'alpn', 'use_downstream_protocol_config': 'client'}
        explicit = mapping(options, 'explicit_http_config')
        if explicit is not None:
            yield explicit, {'http2_protocol_options': '2', 'http3_protocol_options': '3', 'http_protocol_options': '1.1'}
    yield cluster, {'http2_protocol_options': '2', 'http_protocol_options': '1.1'}


def _keepalive(document: Document, options: Map | None, settings: dict[str, Setting]) -> None:
    alive = mapping(options, 'connection_keepalive')
    if alive is None:
        return
    for name, key in (('ping_interval_s', 'interval'), ('ping_timeout_s', 'timeout')):
        word = word_of(document, alive.get(key))
        if word is None:
            continue
        value = units.seconds(word.value) if word.known else None
        reason = '' if value is not None else word.reason or f'{word.value!r} is no duration'
        settings[name] = Setting(name, value if value else math.inf, word.place, reason=reason, slot=Slot('yaml_edit', place_of(document, alive[key])))
