"""Routes of Envoy's own configuration: time limits and retries. Source: Envoy v3 API, RouteAction and RetryPolicy."""

import math
from collections.abc import Iterator
from typing import Any

from configaudit.extract.settings import setting
from configaudit.extract.words import is_open
from configaudit.knowledge.proxy_kinds import ROUTE
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, Seq, get, key_place, mapping, maps, text
from configaudit.places import Document, Place

_DEPTH = 60
_DEFAULT = 'Envoy v3 API, RouteAction.timeout: 15 s for the whole answer'
_IDLE = 'Envoy v3 API, HttpConnectionManager.stream_idle_timeout: 5 minutes'


def routes_of(document: Document, root: Map, partial: str) -> Iterator[Component]:
    """Every route to one cluster, in listeners and in route configurations."""
    for at, (manager, host, route) in enumerate(_found(root, _DEPTH, None)):
        action = mapping(route, 'route')
        cluster = text(action, 'cluster')
        if action is None or cluster is None or get(route, 'match', 'grpc') is not None:
            continue
        yield _route(document, at, manager, host, route, action, cluster, partial)


def _found(node: Any, depth: int, manager: Map | None) -> Iterator[tuple[Map | None, Map, Map]]:
    """(connection manager, virtual host, route) of everything that looks like one."""
    if depth == 0:
        return
    for value in node if isinstance(node, Seq) else node.values() if isinstance(node, Map) else ():
        if isinstance(value, Map):
            inner = value if 'stat_prefix' in value and ('route_config' in value or 'rds' in value) else manager
            if 'domains' in value and 'routes' in value:
                for route in maps(value, 'routes'):
                    yield inner, value, route
            else:
                yield from _found(value, depth - 1, inner)
        elif isinstance(value, Seq):
            yield from _found(value, depth - 1, manager)


def _route(document: Document, at: int, manager: Map | None, host: Map, route: Map, action: Map, cluster: str, partial: str) -> Component:
    place = key_place(document, action, 'cluster')
    match = mapping(route, 'match')
    path = next((found for key in ('prefix', 'path', 'path_separated_prefix') if (found := text(match, key))), None) or text(match, 'safe_regex', 'regex') or '/'
    partial = partial or ('filled by a template' if is_open(document, action) or is_open(document, route) else '')
    slot = Slot('yaml_edit', Place(document, action.start, action.start))
    limit = Slot('yaml_edit', Place(document, action.start, action.start), ('timeout',))
    settings = {
        'product': Setting('product', 'envoy', place), 'path': Setting('path', path, place), 'target': Setting('target', cluster, place),
        'total_timeout_s': Setting('total_timeout_s', 15, place, 'default', partial, slot=limit, source=_DEFAULT),
        'read_timeout_s': Setting('read_timeout_s', 300, place, 'default', partial, source=_IDLE),
    }  # fmt: skip
    for name, holder, key in (('total_timeout_s', action, 'timeout'), ('read_timeout_s', manager, 'stream_idle_timeout'), ('read_timeout_s', action, 'idle_timeout')):
        if holder is not None and key in holder:
            given = setting(name, document, holder, key, 's')
            settings[name] = given._replace(known_value=math.inf) if given.known_value == 0 else given
    longest = _longest(document, manager, action)
    if longest is not None and longest.is_known and float(str(longest.known_value)) < float(str(settings['total_timeout_s'].known_value or 0)):
        settings['total_timeout_s'] = longest
    for item in maps(manager, 'http_filters') if manager is not None else ():
        mode = mapping(item, 'typed_config', 'processing_mode')
        if mode is not None and 'response_body_mode' in mode:
            settings['ext_proc_body'] = setting('ext_proc_body', document, mode, 'response_body_mode', 'text')
            changes = text(item, 'typed_config', 'allow_mode_override') == 'true'
            settings['ext_proc_override'] = Setting('ext_proc_override', changes, settings['ext_proc_body'].place)
    policy = mapping(action, 'retry_policy') or mapping(host, 'retry_policy')
    for name, key, unit in (('attempts', 'num_retries', 'count'), ('per_try_timeout_s', 'per_try_timeout', 's'), ('retry_on', 'retry_on', 'text')):
        if policy is not None and key in policy:
            settings[name] = setting(name, document, policy, key, unit)
    file = document.path.rpartition('/')[2]
    return Component(ROUTE, f'{path} to {cluster}', f'{file}/route/{at}/{cluster}', place, settings, slot=slot, partial=partial)


def _longest(document: Document, manager: Map | None, action: Map) -> Setting | None:
    """How long a stream may live at all: the route's own limit, else the connection manager's; 0 means none."""
    for holder in (mapping(action, 'max_stream_duration'), mapping(manager, 'common_http_protocol_options')):
        if holder is not None and 'max_stream_duration' in holder:
            given = setting('total_timeout_s', document, holder, 'max_stream_duration', 's')
            return given if given.known_value else None
    return None
