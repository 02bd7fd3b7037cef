"""Kernel parameters: sysctl.conf, files of sysctl.d, and single ones for carriers that set them otherwise.

Source: sysctl.d(5), sysctl.conf(5).
"""

import re
from functools import lru_cache

from configaudit import units
from configaudit.extract.process import Reading
from configaudit.knowledge.host_kinds import SYSCTL
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse import sysctl
from configaudit.patterns import regex
from configaudit.places import Document, Place

_NODE = regex(
    r'kube|k8s|containerd|cri-?o\b|bottlerocket|openshift|calico|cilium|flannel|bridge-nf-call|\b(?:eks|gke|aks|k3s|rke2?)\b',
    re.IGNORECASE,
)
_COMMENT = regex(r'\s+[#;].*')
_OPEN = ('{{', '{%', '${', '<%', '@@')


@lru_cache(maxsize=8)
def is_node(document: Document) -> bool:
    """Whether a file's name or text, or that of the file around it, shows that its host runs Kubernetes."""
    if _NODE.search(document.path) or _NODE.search(document.text):
        return True
    return document.outer is not None and is_node(document.outer.document)


def read(document: Document) -> Reading:
    """One component for every assignment, in order; all of one file are each other's peers."""
    node = is_node(document)
    owner = document.called.rpartition('/')[2]
    components = [
        sysctl_component(
            entry.key, entry.value, Place(document, entry.start, entry.end),
            Place(document, entry.key_start, entry.key_end), owner, node=node,
            slot=Slot('sysctl', Place(document, entry.start, entry.end)),
        )
        for entry in sysctl.read(document.text).entries
    ]  # fmt: skip
    every = Peers.of(components, True)
    for component in components:
        component.peer_map['sysctl'] = every
    return Reading(components, [], [], [])


def sysctl_component(
    name: str,
    text: str,
    place: Place,
    name_place: Place,
    owner: str,
    *,
    form: str = 'file',
    scope: str = 'host',
    node: bool = False,
    slot: Slot | None = None,
    reason: str = '',
) -> Component:
    """A parameter that somebody sets. `place` is its value's; `reason` says why the value is unknown, or ''."""
    spelled = _COMMENT.sub('', text).strip()
    words = ' '.join(spelled.split())
    whole = units.integer(words) if words.lstrip('-').isdigit() else None
    if not reason and (units.HOLE in words or any(mark in words for mark in _OPEN)):
        reason = 'filled by a template'
    if len(spelled) < len(text) and text.startswith(spelled) and place.end - place.start == len(text):
        place = place.part(0, len(spelled))
        slot = slot._replace(place=place) if slot is not None else None
    settings = {
        'name': Setting('name', name, name_place),
        'value': Setting(
            'value', None if reason else words if whole is None else whole, place, reason=reason, slot=slot
        ),
        'scope': Setting('scope', scope, name_place),
        'form': Setting('form', form, name_place),
        'node': Setting('node', node, name_place),
    }
    return Component(SYSCTL, name, f'{owner}/{name}', name_place, settings)
