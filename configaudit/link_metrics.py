"""Queries to the engines whose metrics they ask for, and to the names that rules of the run make up themselves."""

from collections.abc import Mapping

from configaudit.context import Context
from configaudit.knowledge.engine_kinds import ENGINES
from configaudit.knowledge.versions import parse
from configaudit.link import nearest
from configaudit.model import Component, Peers


def link_metrics(by_kind: Mapping[str, list[Component]], context: Context) -> None:
    """Give every asker its engines, the names made elsewhere, and the versions that a person gives. Runs after workloads are linked."""
    askers = by_kind.get('metric-query', [])
    made = frozenset(name for asker in askers for name in asker['defines'].value)
    for asker in askers:
        asker.settings['known_elsewhere'] = asker['defines']._replace(name='known_elsewhere', known_value=made)
        given = {kind: parse(context.assumed_versions.get(kind) or context.version_of(kind, asker)) for kind in ENGINES}
        asker.settings['stated'] = asker['defines']._replace(name='stated', known_value=given)
        for kind in ENGINES:
            asker.peer_map[kind] = Peers.of(_asked(asker, by_kind.get(kind, [])), context.complete)


def _asked(asker: Component, engines: list[Component]) -> list[Component]:
    """The engines that a query is about: those of an autoscaler's target, else those nearest in the folder tree."""
    target = asker['target_name'].value
    scaled = [engine for engine in engines if target and any(workload.name == target for workload in engine.peers('workload'))]
    return nearest(asker, scaled or engines)
