"""Kustomize patches: strategic merges and JSON patches (RFC 6902), applied to trees that remember where a value was set.

Source: kustomize's API types Patch and Selector (api/types/patch.go, selector.go); names in a selector are anchored expressions.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from configaudit.extract.carriers.kubernetes import is_kubernetes
from configaudit.parse import Parsed
from configaudit.parse.scalars import inner_document
from configaudit.parse.tree import Map, Scalar, Seq, items, mapping, maps, text
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.places import Document

_MERGE_KEYS = {
    'containers': 'name', 'initContainers': 'name', 'env': 'name', 'volumes': 'name', 'volumeMounts': 'mountPath',
    'ports': 'containerPort', 'imagePullSecrets': 'name', 'hostAliases': 'ip', 'workerGroupSpecs': 'groupName',
}  # fmt: skip
"""The patch merge keys of the Kubernetes API for the lists that matter here."""


class Patch(NamedTuple):
    """A patch and what it is for."""

    document: Document
    root: Any
    """A Map to merge, or a Seq of operations."""
    target: Map | None
    """Its selector; None: the object of the patch's own kind and name."""

    def fits(self, root: Map, own: tuple[str, str]) -> bool:
        """Whether it changes an object of the identity `own`."""
        if self.target is None:
            return isinstance(self.root, Map) and text(self.root, 'kind') == own[0] and identity(self.root) == own
        kind, name = own
        labels = mapping(root, 'metadata', 'labels')
        return (
            _matches(self.target, 'kind', kind)
            and _matches(self.target, 'name', name)
            and _matches(self.target, 'namespace', text(root, 'metadata', 'namespace') or '')
            and 'annotationSelector' not in self.target
            and all(text(labels, key.strip()) == value.strip() for key, value in _pairs(text(self.target, 'labelSelector') or ''))
        )

    def applied(self, root: Map) -> Map:
        """The object with the patch in it; the given one stays as it is."""
        if isinstance(self.root, Map):
            return _named_as(root, _merged(root, self.root, self.document))
        for operation in maps(self.root):
            path = [token.replace('~1', '/').replace('~0', '~') for token in (text(operation, 'path') or '').split('/')[1:]]
            if path and text(operation, 'op') in ('add', 'replace', 'remove'):
                root = _operated(root, path, operation, self.document)
        return root


def _named_as(base: Map, root: Map) -> Map:
    """With the base's own kind and name: with a selector, the patch's may be any."""
    own, metadata = mapping(base, 'metadata'), mapping(root, 'metadata')
    if own is None or metadata is None or identity(base) == identity(root):
        return root
    metadata.update((key, own[key]) for key in ('name',) if key in own)
    root.update((key, base[key]) for key in ('kind',) if key in base)
    return root


def identity(root: Map) -> tuple[str, str]:
    """Kind and name of an object."""
    return text(root, 'kind') or '', text(root, 'metadata', 'name') or ''


def _matches(target: Map, field: str, value: str) -> bool:
    wanted = text(target, field)
    try:
        return not wanted or re.fullmatch(wanted, value) is not None
    except re.error:
        return wanted == value


def _pairs(selector: str) -> Iterator[tuple[str, str]]:
    """Equalities of a label selector; of anything else a pair that no label has."""
    for part in filter(None, selector.split(',')):
        key, equals, value = part.replace('==', '=').partition('=')
        yield (key, value) if equals and '!' not in part else (part, part)


def read_patches(item: Parsed, read: Callable[[str], Iterable[Any]]) -> Iterator[Patch]:
    """The patches that a kustomization names or holds; `read` gives the documents of a file."""
    root = item.root
    entries: list[tuple[Any, Map | None]] = [(node, None) for node in items(root, 'patchesStrategicMerge')]
    for entry in (*maps(root, 'patches'), *maps(root, 'patchesJson6902')):
        entries.append((entry.get('path') if 'path' in entry else entry.get('patch'), mapping(entry, 'target')))
    for node, target in entries:
        if not isinstance(node, Scalar):
            continue
        found = _inline(item.document, node) if '\n' in node.value or node.value[:1] in '[{' else read(node.value)
        for patch in found:
            if isinstance(patch, Parsed) and (is_kubernetes(patch.root) or (target is not None and isinstance(patch.root, Seq))):
                yield Patch(patch.document, patch.root, target)


def _inline(outer: Document, node: Scalar) -> Iterator[Parsed]:
    document = inner_document(outer, node, 'yaml')
    try:
        roots = parse(node.value.encode()).roots
    except SyntaxProblem:
        return
    yield from (Parsed(document, root) for root in roots)


def _merged(base: Map, patch: Map, document: Document) -> Map:
    """A strategic merge: mappings key by key, known lists by their merge key, everything else replaced."""
    result: Map = _copy(base)
    for key, value in patch.items():
        own = base.get(key)
        if key == '$patch':
            continue
        if isinstance(own, Map) and isinstance(value, Map):
            result[key] = _merged(own, value, document)
        elif isinstance(own, Seq) and isinstance(value, Seq) and key in _MERGE_KEYS:
            result[key] = _merged_list(own, value, _MERGE_KEYS[key], document)
        elif isinstance(value, Scalar) and value.value in ('null', '~', '') and not value.style:
            result.pop(key, None)
            result.names.pop(key, None)
        else:
            result[key] = own_document(value, document)
            if key not in result.names:
                result.names[key] = own_document(patch.names[key], document)
    return result


def _merged_list(base: Seq, patch: Seq, merge_key: str, document: Document) -> Seq:
    result: Seq = _copy(base)
    for item in patch:
        name = text(item, merge_key) if isinstance(item, Map) else None
        at = next((at for at, own in enumerate(result) if isinstance(own, Map) and text(own, merge_key) == name and name), None)
        if at is None:
            result.append(own_document(item, document))
        elif text(item, '$patch') == 'delete':
            del result[at]
        else:
            result[at] = _merged(result[at], item, document)
    return result


def _operated(node: Any, path: list[str], operation: Map, document: Document) -> Any:
    """A copy of a tree with one operation done; the same tree where its path leads nowhere."""
    step, rest = path[0], path[1:]
    kind, value = text(operation, 'op'), operation.get('value')
    if isinstance(node, Map):
        if (rest or kind != 'add') and step not in node:
            return node
        made = _copy(node)
        if rest:
            made[step] = _operated(node[step], rest, operation, document)
        elif kind == 'remove':
            made.pop(step)
            made.names.pop(step, None)
        elif value is not None:
            made[step] = own_document(value, document)
            made.names.setdefault(step, own_document(operation['path'], document))
        return made
    return _operated_list(node, path, operation, document) if isinstance(node, Seq) else node


def _operated_list(node: Seq, path: list[str], operation: Map, document: Document) -> Seq:
    step, rest = path[0], path[1:]
    kind, value = text(operation, 'op'), operation.get('value')
    at = len(node) if step == '-' else int(step) if step.isdecimal() else -1
    if not 0 <= at < len(node) + (kind == 'add' and not rest):
        return node
    made: Seq = _copy(node)
    if rest:
        made[at] = _operated(node[at], rest, operation, document)
    elif kind == 'remove':
        del made[at]
    elif value is not None:
        made[at : at + (kind == 'replace')] = [own_document(value, document)]
    return made


def _copy(node: Any) -> Any:
    """A collection anew, with the same children."""
    made: Any = Map(node.start, node.flow) if isinstance(node, Map) else Seq(node.start, node.flow)
    if isinstance(node, Map):
        made.update(node)
        made.names, made.merged = dict(node.names), node.merged
    else:
        made.extend(node)
    made.end = node.end
    if hasattr(node, 'document'):
        made.document = node.document
    return made


def own_document(node: Any, document: Document) -> Any:
    """Mark a node, and all below it, as standing in a document of its own."""
    stack = [node]
    while stack:
        found = stack.pop()
        found.document = document
        if isinstance(found, Map):
            stack.extend(found.values())
            stack.extend(found.names.values())
        elif isinstance(found, Seq):
            stack.extend(found)
    return node
