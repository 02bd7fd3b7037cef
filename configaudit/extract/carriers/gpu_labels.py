"""Which nodes a pod may run on, by the labels that tell the node's GPU: nodeSelector, affinity, annotation."""

from typing import Any

from configaudit.extract.words import word_of
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Scalar, Seq, get, mapping, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document

ANNOTATION = 'configaudit.io/gpu'
VERSION_ANNOTATION = 'configaudit.io/engine-version'
LINKS_ANNOTATION = 'configaudit.io/links'
_TELLING = regex(r'gpu|accelerator|nvidia|instance-(type|family)|machine-(type|family)|compute-class|nodepool|agentpool|node[-_]?group', 2)
"""Keys of node labels that may tell the GPU, the machine, or the pool of nodes."""

Labels = tuple[tuple[str, str], ...]
"""Labels that all hold on one node; an empty value stands for one that cannot be read."""
MAX_ALTERNATIVES = 32


def gpu_labels(document: Document, spec: Map) -> Setting | None:
    """The alternatives of node labels (a node has all of one of them), where any of them may tell the GPU."""
    selector = mapping(spec, 'nodeSelector')
    fixed = tuple((key, _read(document, value), value) for key, value in (selector or {}).items() if _TELLING.search(key))
    always: Labels = tuple((key, value) for key, value, _ in fixed)
    place = place_of(document, fixed[0][2]) if fixed else None
    alternatives: list[Labels] = []
    required = get(spec, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms')
    for term in required if isinstance(required, Seq) else ():
        choices, first = _term(document, term)
        place = place or first
        alternatives.extend((*always, *choice) for choice in choices)
    if place is None:
        return None
    reason = 'many kinds of nodes are allowed' if len(alternatives) > MAX_ALTERNATIVES else ''
    return Setting('gpu_labels', tuple(alternatives) or (always,), place, reason=reason)


def noted(document: Document, holder: Map, pod: Component) -> None:
    """What a person noted on a pod template or the object around it: the GPU the engine's version, what it connects to; the inner note wins."""
    notes = mapping(holder, 'metadata', 'annotations')
    node = get(notes, ANNOTATION)
    if isinstance(node, Scalar) and not any(key == ANNOTATION for labels in pod['gpu_labels'].known_value or () for key, _ in labels):  # type: ignore[attr-defined]
        pod.settings['gpu_labels'] = Setting('gpu_labels', (((ANNOTATION, _read(document, node)),),), place_of(document, node))
    node = get(notes, LINKS_ANNOTATION)
    if isinstance(node, Scalar) and 'links' not in pod.settings:
        names = tuple(filter(None, (part.strip() for part in _read(document, node).replace('\n', ',').split(','))))
        pod.settings['links'] = Setting('links', names, place_of(document, node))
    node = get(notes, VERSION_ANNOTATION)
    if isinstance(node, Scalar) and 'engine_version' not in pod.settings:
        pod.settings['engine_version'] = Setting('engine_version', _read(document, node), place_of(document, node))


def telling(key: str) -> bool:
    """Whether a label of this name may tell the GPU, the machine or the pool of nodes."""
    return _TELLING.search(key) is not None


def required_labels(document: Document, requirements: Any) -> list[Labels]:
    """The combinations of telling labels that a list of expressions (key, operator, values) allows."""
    combinations: list[Labels] = [()]
    for expression in requirements if isinstance(requirements, Seq) else ():
        if _tells(expression):
            key, values = text(expression, 'key') or '', expression['values']
            combinations = [(*labels, (key, _read(document, value))) for labels in combinations for value in values][: MAX_ALTERNATIVES + 1]
    return combinations


def _tells(expression: Any) -> bool:
    values = get(expression, 'values')
    return isinstance(expression, Map) and text(expression, 'operator') == 'In' and isinstance(values, Seq) and bool(values) and telling(text(expression, 'key') or '')


def _term(document: Document, term: Any) -> tuple[list[Labels], Any]:
    """The combinations of telling labels that one term allows, and where the first stands."""
    place = next((place_of(document, expression['values'][0]) for expression in maps(term, 'matchExpressions') if _tells(expression)), None)
    return required_labels(document, get(term, 'matchExpressions')), place


def _read(document: Document, node: Any) -> str:
    word = word_of(document, node)
    return word.value if word is not None and word.known else ''
