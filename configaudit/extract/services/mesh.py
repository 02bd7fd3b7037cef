"""Istio's traffic settings: DestinationRule, and clusters that an EnvoyFilter changes."""

from collections.abc import Iterator

from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.extract.settings import read_settings
from configaudit.knowledge.proxy_kinds import UPSTREAM
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, key_place, mapping, maps, place_of, text
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
