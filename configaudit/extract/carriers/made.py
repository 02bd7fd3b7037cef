"""Nodes that no file holds as they are: a mapping with the parts of a pod gathered from where a custom resource keeps them.

Every value keeps the place where it is written, so findings and fixes lead to the resource itself.
"""

from typing import Any

from configaudit.parse.tree import Map, Scalar, Seq


def changed(node: Map, **values: Map | Seq | Scalar | None) -> Map:
    """A copy of a mapping with other values under some keys; None is left out. New keys stand where the mapping begins."""
    made = Map(node.start, node.flow)
    made.end, made.merged = node.end, node.merged
    given = {key: value for key, value in values.items() if value is not None}
    made.update(node)
    made.update(given)
    first = next(iter(node.names.values()), None)
    made.names = {**(dict.fromkeys(given, first) if first is not None else {}), **node.names}
    return made


def renamed(node: Map, **names: str) -> Map:
    """A mapping of some entries of another, under other keys: renamed(spec, env='envs')."""
    made = Map(node.start, node.flow)
    made.end = node.end
    for new, old in names.items():
        if old in node:
            made[new] = node[old]
            if old in node.names:
                made.names[new] = node.names[old]
    return made


def gathered(at: Map, *nodes: Map) -> Map:
    """A mapping that stands where `at` does, with the entries of several others; of one key the last counts."""
    made = Map(at.start, at.flow)
    made.end = at.end
    for node in nodes:
        made.update(node)
        made.names.update(node.names)
    return made


def listed(around: Map | Seq, *items: Any) -> Seq:
    """A list of nodes that stands where another collection does."""
    made = Seq(around.start, around.flow)
    made.end = around.end
    made.extend(item for item in items if item is not None)
    return made
