"""nofile rows of limits.conf and limits.d. Source: limits.conf(5)."""

import math

from configaudit import units
from configaudit.extract.process import Reading
from configaudit.extract.services.sysctl import is_node
from configaudit.knowledge.host_kinds import NOFILE_LIMIT
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse import limits
from configaudit.places import Document, Place

_UNLIMITED = ('unlimited', 'infinity', '-1')


def read(document: Document) -> Reading:
    """One component for every nofile row; all of one file are each other's peers."""
    node = is_node(document)
    components = [
        _component(document, row, node) for row in limits.read(document.text).rows if row.item.text == 'nofile'
    ]
    every = Peers.of(components, True)
    for component in components:
        component.peer_map['nofile-limit'] = every
    return Reading(components, [], [], [])


def _component(document: Document, row: limits.LimitsRow, node: bool) -> Component:
    domain, place = Place(document, row.domain.start, row.domain.end), Place(document, row.value.start, row.value.end)
    value = math.inf if row.value.text in _UNLIMITED else units.integer(row.value.text)
    reason = '' if value is not None else f'{row.value.text!r} is not a number of files'
    settings = {
        'limit': Setting('limit', value, place, reason=reason, slot=Slot('limits', place)),
        'domain': Setting('domain', row.domain.text, domain),
        'type': Setting('type', row.type.text, Place(document, row.type.start, row.type.end)),
        'node': Setting('node', node, domain),
    }
    name = f'{row.domain.text} {row.type.text}'
    return Component(NOFILE_LIMIT, name, f'{document.called.rpartition("/")[2]}/{name} nofile', domain, settings)
