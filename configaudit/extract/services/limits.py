"""nofile rows of limits.conf and limits.d. Source: limits.conf(5)."""

import math

from configaudit import units
from configaudit.extract.process import Reading
from configaudit.extract.services.sysctl import is_node
from configaudit.extract.words import Word
from configaudit.knowledge.host_kinds import NOFILE_LIMIT
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse import limits
from configaudit.parse.entries import Word as Span
from configaudit.places import Document, Place

_UNLIMITED = ('unlimited', 'infinity', '-1')


def read(document: Document) -> Reading:
    """One component for every nofile row; all of one file are each other's peers."""
    node, owner = is_node(document), document.called.rpartition('/')[2]
    components = []
    for row in limits.read(document.text).rows:
        if row.item.text == 'nofile':
            domain, kind, value = (_word(document, span) for span in (row.domain, row.type, row.value))
            components.append(limit_component(domain, kind, value, owner, node, Slot('limits', value.place)))
    every = Peers.of(components, True)
    for component in components:
        component.peer_map['nofile-limit'] = every
    return Reading(components, [], [], [])


def _word(document: Document, span: Span) -> Word:
    return Word(span.text, Place(document, span.start, span.end))


def limit_component(domain: Word, kind: Word, value: Word, owner: str, node: bool, slot: Slot | None) -> Component:
    """A limit of open files that PAM gives a domain's sessions; `kind` is soft, hard or '-'."""
    count = math.inf if value.value in _UNLIMITED else units.integer(value.value)
    reason = value.reason or ('' if count is not None else f'{value.value!r} is not a number of files')
    settings = {
        'limit': Setting('limit', count, value.place, reason=reason, slot=slot),
        'domain': Setting('domain', domain.value, domain.place),
        'type': Setting('type', kind.value, kind.place),
        'node': Setting('node', node, domain.place),
    }
    name = f'{domain.value} {kind.value}'
    component = Component(NOFILE_LIMIT, name, f'{owner}/{name} nofile', domain.place, settings)
    component.peer_map['nofile-limit'] = Peers.of([component], True)
    return component
