"""Pools of nodes that an autoscaler starts (Karpenter, GKE compute classes): which GPU their nodes have."""

from collections.abc import Iterable, Iterator
from typing import Any

from configaudit.extract.carriers.gpu_labels import MAX_ALTERNATIVES, Labels, required_labels, telling
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.knowledge.objects import NODE_POOL
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, get, key_place, mapping, maps, text

_BY_NAME = ('karpenter.sh/nodepool', 'karpenter.sh/provisioner-name', 'cloud.google.com/compute-class')
"""Labels by which a pod asks for a pool."""


def read_pool(owner: Owner, root: Map) -> Reading:
    """A NodePool, Provisioner or ComputeClass: the labels of the nodes that it may start."""
    spec = mapping(root, 'spec')
    reading = nothing()
    if spec is None:
        return reading
    labels = {key: str(value) for at in (('template', 'metadata', 'labels'), ('labels',)) for key, value in _texts(mapping(spec, *at))}
    fixed: Labels = tuple(item for item in labels.items() if telling(item[0]))
    found = list(_classes(spec)) or [(*fixed, *more) for more in _karpenter(owner, spec)]
    place = key_place(owner.document, root, 'spec')
    settings = {'gpu_labels': Setting('gpu_labels', tuple(found), place), 'labels': Setting('labels', labels, place)}
    reading.components.append(Component(NODE_POOL, owner.name, owner.identity, place, settings, partial=owner.partial))
    return reading


def _texts(node: Map | None) -> Iterator[tuple[str, Any]]:
    for key in node or ():
        yield key, text(node, key) or ''


def _classes(spec: Map) -> Iterator[Labels]:
    """A compute class: one alternative for each of its priorities."""
    for priority in maps(spec, 'priorities'):
        for label, value in (
            ('cloud.google.com/gke-accelerator', text(priority, 'gpu', 'type')), ('node.kubernetes.io/instance-type', text(priority, 'machineType')),
            ('cloud.google.com/machine-family', text(priority, 'machineFamily')),
        ):  # fmt: skip
            if value:
                yield ((label, value),)
                break


def _karpenter(owner: Owner, spec: Map) -> list[Labels]:
    holder = mapping(spec, 'template', 'spec') or spec
    return required_labels(owner.document, get(holder, 'requirements'))


def join_pools(components: Iterable[Component]) -> None:
    """Give pods that ask for a pool the labels of its nodes."""
    known = list(components)
    pools = [component for component in known if component.kind is NODE_POOL]
    for pod in (component for component in known if pools and component.kind.name == 'pod'):
        labels = pod['gpu_labels']
        if labels.is_set and labels.is_known:
            joined = tuple(each for node in labels.value for each in _joined(node, pools))
            reason = 'many kinds of nodes are allowed' if len(joined) > MAX_ALTERNATIVES else ''
            pod.settings['gpu_labels'] = labels._replace(known_value=joined, reason=reason)


def _joined(node: Labels, pools: list[Component]) -> list[Labels]:
    asked = [pool for pool in pools for key, value in node if (key in _BY_NAME and value == pool.name) or pool['labels'].value.get(key) == value]
    return [(*node, *more) for pool in asked for more in pool['gpu_labels'].value] or [node]
