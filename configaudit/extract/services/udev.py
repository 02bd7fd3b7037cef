"""udev rules that set an I/O scheduler. Source: udev(7)."""

from configaudit.extract.process import Reading
from configaudit.knowledge.host_kinds import IO_SCHEDULER
from configaudit.model import Component, Setting, Slot
from configaudit.parse import udev
from configaudit.places import Document, Place

_ATTRIBUTE = 'queue/scheduler'


def read(document: Document) -> Reading:
    """One component for every rule that sets a scheduler, without those that a later rule of the same match overrides."""
    found: dict[tuple[tuple[str, ...], ...], Component] = {}
    for rule in udev.read(document.text).rules:
        for term in rule.terms:
            if term.key == 'ATTR' and term.attribute == _ATTRIBUTE and term.operator in ('=', ':='):
                matches = tuple(sorted(
                    (other.key, other.attribute, other.operator, other.value)
                    for other in rule.terms if other.operator in ('==', '!=')
                ))  # fmt: skip
                found[matches] = _component(document, rule, term)
    return Reading(list(found.values()), [], [], [])


def _component(document: Document, rule: udev.UdevRule, term: udev.UdevTerm) -> Component:
    place = Place(document, term.start, term.end)
    known = {('ACTION', ''), ('SUBSYSTEM', ''), ('KERNEL', ''), ('ATTR', 'queue/rotational')}
    more = any(other.operator in ('==', '!=') and ((other.key.removesuffix('S'), other.attribute) not in known or other.operator == '!=' ) and other.key not in ('ACTION', 'SUBSYSTEM') for other in rule.terms)
    return scheduler_component(
        term.value, _match(rule, 'KERNEL', ''), place, document.called.rpartition('/')[2], Slot('udev', place),
        rotational=_match(rule, 'ATTR', 'queue/rotational'), conditional=more or 'GOTO=' in document.text,
    )  # fmt: skip


def _match(rule: udev.UdevRule, key: str, attribute: str) -> str:
    """The pattern that a rule demands of a key, or ''."""
    terms = (term for term in rule.terms if term.key in (key, key + 'S') and term.attribute == attribute)
    return next((term.value for term in terms if term.operator == '=='), '')


def scheduler_component(
    scheduler: str, device: str, place: Place, owner: str, slot: Slot | None = None, *, rotational: str = '', conditional: bool = False
) -> Component:
    """A scheduler that somebody sets for devices: `device` a name or pattern as in udev's KERNEL, '' for any."""
    settings = {
        'scheduler': Setting('scheduler', scheduler, place, slot=slot),
        'device': Setting('device', device, place),
        'rotational': Setting('rotational', rotational, place),
        'conditional': Setting('conditional', conditional, place),
    }
    return Component(IO_SCHEDULER, device or 'any device', f'{owner}/{device}/{rotational}', place, settings)
