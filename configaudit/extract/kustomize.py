"""Kustomize: which documents are patches of which, and the objects that result, merged in-process.

A value of the result keeps the place where it was set: nodes that come from a patch or from
kustomization.yaml remember their own document.
"""

import os.path
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from configaudit.extract.carriers.kubernetes import is_kubernetes
from configaudit.findings import Error
from configaudit.parse import Parsed, Unread
from configaudit.parse.scalars import inner_document
from configaudit.parse.tree import Map, Scalar, Seq, items, mapping, maps, text
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.places import Document

PATCH = 'a kustomize patch'
MAX_CHAIN = 10
_MERGE_KEYS = {
    'containers': 'name', 'initContainers': 'name', 'env': 'name', 'volumes': 'name', 'volumeMounts': 'mountPath',
    'ports': 'containerPort', 'imagePullSecrets': 'name', 'hostAliases': 'ip', 'workerGroupSpecs': 'groupName',
}  # fmt: skip
"""The patch merge keys of the Kubernetes API for the lists that matter here."""

Reader = Callable[[str], Iterable[Parsed | Error | Unread]]
Key = tuple[str, str]


class _Overlay(NamedTuple):
    """One kustomization: the files it takes resources from, its patches, its images and replicas."""

    folder: str
    resources: tuple[str, ...]
    patches: tuple[tuple[Key, Document, Map], ...]
    keys: frozenset[Key]
    images: tuple[tuple[str, Map, Document], ...]
    replicas: tuple[tuple[str, Any, Document], ...]
    affixes: tuple[str, str]


class Kustomize:
    """The kustomizations of a run; holds back what they patch and yields it merged."""

    def __init__(self, read: Reader) -> None:
        self._read = read
        self._overlays: list[_Overlay] = []
        self._patch_files: set[str] = set()
        self._bases: list[tuple[str, Parsed]] = []
        self._by_file: dict[str, list[tuple[_Overlay, ...]]] | None = None

    def learn(self, path: str) -> None:
        """Take in one kustomization file before anything else is read."""
        for item in self._read(path):
            if isinstance(item, Parsed) and isinstance(item.root, Map):
                self._learn(path, item)

    def _learn(self, path: str, item: Parsed) -> None:
        folder, root = os.path.dirname(path), item.root
        names = [node.value for key in ('resources', 'bases', 'components') for node in items(root, key) if isinstance(node, Scalar)]
        resources = tuple(os.path.normpath(os.path.join(folder, name)) for name in names if '://' not in name)
        patches = list(self._patches(folder, item))
        images = tuple((text(image, 'name') or '', image, item.document) for image in maps(root, 'images'))
        replicas = tuple((text(entry, 'name') or '', entry.get('count'), item.document) for entry in maps(root, 'replicas'))
        keys = frozenset(key for key, _, _ in patches)
        affixes = (text(root, 'namePrefix') or '', text(root, 'nameSuffix') or '')
        self._overlays.append(_Overlay(folder, resources, tuple(patches), keys, images, replicas, affixes))

    def _patches(self, folder: str, item: Parsed) -> Iterator[tuple[Key, Document, Map]]:
        root = item.root
        listed = [node for node in items(root, 'patchesStrategicMerge') if isinstance(node, Scalar)]
        listed += [entry['path'] for entry in maps(root, 'patches') if isinstance(entry.get('path'), Scalar)]
        inline = [entry['patch'] for entry in maps(root, 'patches') if isinstance(entry.get('patch'), Scalar)]
        for node in listed:
            if '\n' in node.value:
                inline.append(node)
                continue
            path = os.path.normpath(os.path.join(folder, node.value))
            self._patch_files.add(path)
            for found in self._read(path):
                if isinstance(found, Parsed) and is_kubernetes(found.root):
                    yield _key(found.root), found.document, found.root
        for node in inline:
            document = inner_document(item.document, node, 'yaml')
            try:
                roots = parse(node.value.encode()).roots
            except SyntaxProblem:
                continue
            yield from ((_key(found), document, found) for found in roots if is_kubernetes(found))

    def takes(self, item: Parsed) -> bool:
        """Whether a document is a patch, or an object that is patched: both are read merged, at the end."""
        path = os.path.normpath(item.document.path)
        if path in self._patch_files:
            return True
        if path not in self._deployments() or not is_kubernetes(item.root):
            return False
        key = _key(item.root)
        chains = self._deployments()[path]
        changed = any(_changes(step, key, item.document.data) for chain in chains for step in chain)
        if changed:
            self._bases.append((path, item))
        return changed

    def concerns(self, path: str) -> bool:
        """Whether a file is a kustomization, a patch or a resource of one."""
        return path.endswith(('kustomization.yaml', 'kustomization.yml', 'Kustomization')) or path in self._patch_files or path in self._deployments()

    def _deployments(self) -> dict[str, list[tuple[_Overlay, ...]]]:
        """File -> the chains of kustomizations that deploy it, innermost first; inner ones only where nobody uses them."""
        if self._by_file is None:
            self._by_file = {}
            folders = {overlay.folder: overlay for overlay in self._overlays}
            used = {resource for overlay in self._overlays for resource in overlay.resources}
            for overlay in self._overlays:
                if overlay.folder not in used:
                    self._collect(overlay, (), folders)
        return self._by_file

    def _collect(self, overlay: _Overlay, outer: tuple[_Overlay, ...], folders: dict[str, _Overlay]) -> None:
        chain = (overlay, *outer)
        assert self._by_file is not None
        for resource in overlay.resources:
            below = folders.get(resource)
            if below is None:
                self._by_file.setdefault(resource, []).append(chain)
            elif below not in chain and len(chain) < MAX_CHAIN:
                self._collect(below, chain, folders)

    def results(self) -> Iterator[tuple[Parsed, str]]:
        """Every patched object, merged for each overlay that deploys it, and every patch without an object (partial)."""
        used: set[int] = set()
        for path, base in self._bases:
            key = _key(base.root)
            for chain in self._deployments()[path]:
                root = base.root
                for step in chain:
                    for patch_key, document, patch in step.patches:
                        if patch_key == key:
                            used.add(id(patch))
                            root = _merged(root, patch, document)
                    root = _renamed(_with_images(root, step), step)
                yield base._replace(root=root), ''
        for overlay in self._overlays:
            for _, document, patch in overlay.patches:
                if id(patch) not in used:
                    yield Parsed(document, patch), PATCH


def _key(root: Map) -> Key:
    return text(root, 'kind') or '', text(root, 'metadata', 'name') or ''


def _merged(base: Map, patch: Map, document: Document) -> Map:
    """A strategic merge: mappings key by key, known lists by their merge key, everything else replaced."""
    result = Map(base.start, base.flow)
    result.end = base.end
    result.update(base)
    result.names.update(base.names)
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
    result = Seq(base.start, base.flow)
    result.end = base.end
    result.extend(base)
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


def _changes(step: _Overlay, key: Key, data: bytes) -> bool:
    """Whether a kustomization changes an object: patches it, names one of its images, sets its replicas, or renames a Service."""
    return (
        key in step.keys
        or (key[0] == 'Service' and any(step.affixes))
        or any(name.encode() in data for name, _, _ in step.images)
        or any(name == key[1] for name, _, _ in step.replicas)
    )


def _renamed(root: Map, overlay: _Overlay) -> Map:
    """A Service under the name that clients reach it by; names of other objects say nothing that is judged."""
    metadata = mapping(root, 'metadata')
    name = None if metadata is None else metadata.get('name')
    if not any(overlay.affixes) or (text(root, 'kind'), text(root, 'apiVersion')) != ('Service', 'v1') or not isinstance(name, Scalar):
        return root
    root = _copied(root)
    made = Scalar(None, None, name.implicit, name.value.join(overlay.affixes), name.start_mark, name.end_mark, style=name.style)
    if hasattr(name, 'document'):
        made.document = name.document
    root['metadata']['name'] = made
    return root


def _with_images(root: Map, overlay: _Overlay) -> Map:
    """The object with the overlay's `images:` and `replicas:` put in; the base itself stays as it is."""
    if not overlay.images and not overlay.replicas:
        return root
    root = _copied(root)
    name = text(root, 'metadata', 'name')
    for wanted, count, document in overlay.replicas:
        spec = mapping(root, 'spec')
        if wanted == name and spec is not None and isinstance(count, Scalar) and 'replicas' in spec:
            spec['replicas'] = own_document(count, document)
    if overlay.images:
        _set_images(root, overlay)
    return root


def _copied(node: Any) -> Any:
    """The collections of a tree anew, the scalars shared."""
    if isinstance(node, Map):
        made: Any = Map(node.start, node.flow)
        made.update((key, _copied(value)) for key, value in node.items())
        made.names, made.merged = node.names, node.merged
    elif isinstance(node, Seq):
        made = Seq(node.start, node.flow)
        made.extend(_copied(item) for item in node)
    else:
        return node
    made.end = node.end
    if hasattr(node, 'document'):
        made.document = node.document
    return made


def _set_images(node: Any, overlay: _Overlay) -> None:
    for child in list(node.values()) if isinstance(node, Map) else node if isinstance(node, Seq) else ():
        if isinstance(child, (Map, Seq)):
            _set_images(child, overlay)
    image = node.get('image') if isinstance(node, Map) else None
    if not isinstance(image, Scalar):
        return
    repository, _, tag = image.value.partition('@')[0].rpartition(':') if ':' in image.value.rpartition('/')[2] else (image.value, '', '')
    for wanted, entry, document in overlay.images:
        if wanted not in (repository, image.value):
            continue
        source = next((entry[key] for key in ('newTag', 'digest', 'newName') if isinstance(entry.get(key), Scalar)), None)
        if source is None:
            continue
        new = text(entry, 'newName') or repository
        digest, new_tag = text(entry, 'digest'), text(entry, 'newTag') or tag
        value = f'{new}@{digest}' if digest else f'{new}:{new_tag}' if new_tag else new
        made = Scalar(None, None, (False, True), value, source.start_mark, source.end_mark, style='"')
        made.document = document
        node['image'] = made
