"""Istio's traffic settings: DestinationRule, VirtualService, and clusters that an EnvoyFilter changes."""

import math
from collections.abc import Iterator

from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.extract.settings import read_settings, setting
from configaudit.knowledge.proxy_kinds import ROUTE, UPSTREAM
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, items, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Place


def read_destination_rule(owner: Owner, root: Map) -> Reading:
    """A component for every traffic policy: the host's own, each subset's, each port's."""
    reading = nothing()
    host = text(root, 'spec', 'host')
    spec = mapping(root, 'spec')
    if host is None or spec is None:
        return reading
    for part, holder, policy, port in _policies(spec):
        document = owner.document
        place = key_place(document, holder, 'trafficPolicy') if policy is holder.get('trafficPolicy') else place_of(document, policy)
        settings: dict[str, Setting] = {}
        read_settings(document, policy, UPSTREAM, settings)
        if not settings:
            continue
        settings['product'] = Setting('product', 'istio', place)
        settings['targets'] = Setting('targets', ((host, port),), place_of(document, spec['host']))
        mode = text(policy, 'tls', 'mode')
        settings['tls'] = Setting('tls', mode in ('SIMPLE', 'MUTUAL'), place)
        identity = '/'.join(filter(None, (owner.identity, part)))
        slot = Slot('yaml_edit', Place(document, policy.start, policy.start))
        reading.components.append(
            Component(UPSTREAM, host, identity, place, settings, slot=slot, partial=owner.partial, scope=owner.namespace)
        )
    return reading


def _policies(spec: Map) -> Iterator[tuple[str, Map, Map, str]]:
    """(part, the mapping around, the policy, port) of every traffic policy."""
    holders = [('', spec), *((text(subset, 'name') or '-', subset) for subset in maps(spec, 'subsets'))]
    for part, holder in holders:
        policy = mapping(holder, 'trafficPolicy')
        if policy is None:
            continue
        yield part, holder, policy, ''
        for level in maps(policy, 'portLevelSettings'):
            port = text(level, 'port', 'number') or ''
            yield f'{part}:{port}', holder, level, port


def read_virtual_service(owner: Owner, root: Map) -> Reading:
    """A component for every HTTP route: where it leads, its time limit and its retries."""
    reading = nothing()
    document = owner.document
    spec = mapping(root, 'spec')
    hosts, gateways = (tuple(filter(None, map(plain, items(spec, key)))) for key in ('hosts', 'gateways'))
    for at, http in enumerate(maps(root, 'spec', 'http')):
        places = [(text(route, 'destination', 'host') or '', text(route, 'destination', 'port', 'number') or '') for route in maps(http, 'route')]
        if not any(host for host, _ in places):
            continue
        place = key_place(document, http, 'route')
        paths = [text(match, 'uri', how) or '' for match in maps(http, 'match') for how in ('prefix', 'exact', 'regex')]
        path = ' '.join(filter(None, paths)) or '/'
        settings = {
            'product': Setting('product', 'istio', place), 'path': Setting('path', path, place),
            'targets': Setting('targets', tuple(places), place), 'target': Setting('target', places[0][0], place),
            'hosts': Setting('hosts', tuple(map(str, hosts)), place), 'in_mesh': Setting('in_mesh', not gateways or 'mesh' in gateways, place),
        }  # fmt: skip
        if 'timeout' in http:
            settings['total_timeout_s'] = _limit(setting('total_timeout_s', document, http, 'timeout', 's'))
        retries = mapping(http, 'retries')
        if retries is None and 'retries' not in http:
            slot = Slot('yaml_edit', Place(document, http.start, http.start), ('retries',))
            settings['attempts'] = Setting('attempts', 2, place, 'default', owner.partial, slot=slot, source='Istio VirtualService, HTTPRetry: 2 by default')
        for name, key, unit in (('attempts', 'attempts', 'count'), ('per_try_timeout_s', 'perTryTimeout', 's'), ('retry_on', 'retryOn', 'text')):
            if retries is not None and key in retries:
                settings[name] = setting(name, document, retries, key, unit)
        slot = Slot('yaml_edit', Place(document, http.start, http.start))
        name = text(http, 'name') or f'{path} to {places[0][0]}'
        reading.components.append(Component(ROUTE, name, f'{owner.identity}/http/{at}', place, settings, slot=slot, partial=owner.partial, scope=owner.namespace))
    return reading


def _limit(given: Setting) -> Setting:
    """A timeout in which 0 means none."""
    return given._replace(known_value=math.inf) if given.known_value == 0 else given


def read_envoy_filter(owner: Owner, root: Map) -> Reading:
    """Clusters that a filter adds whole, or changes in part."""
    from configaudit.extract.services.envoy import cluster_of

    reading = nothing()
    for patch in maps(root, 'spec', 'configPatches'):
        value = mapping(patch, 'patch', 'value')
        if text(patch, 'applyTo') != 'CLUSTER' or not value:
            continue
        added = text(patch, 'patch', 'operation') == 'ADD'
        partial = owner.partial or ('' if added else 'an EnvoyFilter changes a cluster that is written elsewhere')
        service = text(patch, 'match', 'cluster', 'service') or ''
        cluster = cluster_of(owner.document, value, {}, partial, service or text(value, 'name') or owner.name)
        cluster.identity = f'{owner.identity}/{cluster.name}'
        cluster.scope = owner.namespace
        if service:
            port = text(patch, 'match', 'cluster', 'portNumber') or ''
            cluster.settings['targets'] = Setting('targets', ((service, port),), cluster.place)
        reading.components.append(cluster)
    return reading
