"""Kustomize: which documents are patches of which, and the objects that result, merged in-process.

A value of the result keeps the place where it was set: nodes that come from a patch or from
kustomization.yaml remember their own document.
"""

import os.path
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from configaudit.extract.carriers.kubernetes import is_kubernetes
from configaudit.extract.patches import Patch, identity, own_document, read_patches
from configaudit.findings import Error
from configaudit.knowledge.images import name_and_tag
from configaudit.parse import Parsed, Unread
from configaudit.parse.tree import Map, Scalar, Seq, items, mapping, maps, text
from configaudit.places import Document

PATCH = 'a kustomize patch'
MAX_CHAIN = 10
Reader = Callable[[str], Iterable[Parsed | Error | Unread]]

class _Overlay(NamedTuple):
    """One kustomization: the files it takes resources from, its patches, its images and replicas."""

    folder: str
    resources: tuple[str, ...]
    components: tuple[str, ...]
    patches: tuple[Patch, ...]
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
        resources, components = _paths(folder, root, 'resources', 'bases'), _paths(folder, root, 'components')
        patches = tuple(read_patches(item, partial(self._open, folder)))
        images = tuple((text(image, 'name') or '', image, item.document) for image in maps(root, 'images'))
        replicas = tuple((text(entry, 'name') or '', entry.get('count'), item.document) for entry in maps(root, 'replicas'))
        affixes = (text(root, 'namePrefix') or '', text(root, 'nameSuffix') or '')
        self._overlays.append(_Overlay(folder, resources, components, patches, images, replicas, affixes))

    def _open(self, folder: str, name: str) -> Iterable[Parsed | Error | Unread]:
        path = os.path.normpath(os.path.join(folder, name))
        self._patch_files.add(path)
        return self._read(path)

    def takes(self, item: Parsed) -> bool:
        """Whether a document is a patch, or an object that is patched: both are read merged, at the end."""
        path = os.path.normpath(item.document.path)
        if path in self._patch_files:
            return True
        if path not in self._deployments() or not is_kubernetes(item.root):
            return False
        chains = self._deployments()[path]
        changed = any(_changes(step, item.root, item.document.data) for chain in chains for step in chain)
        if changed:
            self._bases.append((path, item))
        return changed

    def is_patch(self, path: str) -> bool:
        """Whether a file is only read as a patch."""
        return os.path.normpath(path) in self._patch_files

    def concerns(self, path: str) -> bool:
        """Whether a file is a kustomization, a patch or a resource of one."""
        return path.endswith(('kustomization.yaml', 'kustomization.yml', 'Kustomization')) or path in self._patch_files or path in self._deployments()

    def _deployments(self) -> dict[str, list[tuple[_Overlay, ...]]]:
        """File -> the chains of kustomizations that deploy it, innermost first; inner ones only where nobody uses them."""
        if self._by_file is None:
            self._by_file = {}
            folders = {overlay.folder: overlay for overlay in self._overlays}
            used = {resource for overlay in self._overlays for resource in (*overlay.resources, *overlay.components)}
            for overlay in self._overlays:
                if overlay.folder not in used:
                    self._collect(overlay, (), folders)
        return self._by_file

    def _collect(self, overlay: _Overlay, outer: tuple[_Overlay, ...], folders: dict[str, _Overlay]) -> None:
        components = [folders[name] for name in overlay.components if name in folders]
        chain = (*components, overlay, *outer)
        assert self._by_file is not None
        for component in components:
            if component not in outer and len(chain) < MAX_CHAIN:
                self._collect(component, (overlay, *outer), folders)
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
            own = identity(base.root)
            for chain in self._deployments()[path]:
                root = base.root
                for step in chain:
                    for patch in step.patches:
                        if patch.fits(base.root, own):
                            used.add(id(patch.root))
                            root = patch.applied(root)
                    root = _renamed(_with_images(root, step), step)
                yield base._replace(root=root), ''
        for overlay in self._overlays:
            for patch in overlay.patches:
                if id(patch.root) not in used and isinstance(patch.root, Map):
                    yield Parsed(patch.document, patch.root), PATCH


def _paths(folder: str, root: Map, *keys: str) -> tuple[str, ...]:
    """The local files and folders of some lists."""
    names = [node.value for key in keys for node in items(root, key) if isinstance(node, Scalar)]
    return tuple(os.path.normpath(os.path.join(folder, name)) for name in names if '://' not in name)


def _changes(step: _Overlay, root: Map, data: bytes) -> bool:
    """Whether a kustomization changes an object: patches it, names one of its images, sets its replicas, or renames a Service."""
    own = identity(root)
    return (
        any(patch.fits(root, own) for patch in step.patches)
        or (own[0] == 'Service' and any(step.affixes))
        or any(name.encode() in data for name, _, _ in step.images)
        or any(name == own[1] for name, _, _ in step.replicas)
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
    name = text(root, 'metadata', 'name')
    names = {wanted for wanted, _, _ in overlay.images}
    renewed = bool(names) and any(not names.isdisjoint((name_and_tag(node['image'].value)[0], node['image'].value)) for node in _with_image(root))
    if not renewed and all(wanted != name for wanted, _, _ in overlay.replicas):
        return root
    root = _copied(root)
    for wanted, count, document in overlay.replicas:
        spec = mapping(root, 'spec')
        if wanted == name and spec is not None and isinstance(count, Scalar):
            spec['replicas'] = own_document(count, document)
            spec.names = {'replicas': count, **spec.names}
    for node in _with_image(root) if renewed else ():
        _set_image(node, overlay)
    return root


def _with_image(root: Map) -> list[Map]:
    """The mappings of a tree that name an image."""
    found: list[Map] = []
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Map) and isinstance(node.get('image'), Scalar):
            found.append(node)
        waiting.extend([child for child in (node.values() if isinstance(node, Map) else node) if isinstance(child, (Map, Seq))])
    return found


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


def _set_image(node: Map, overlay: _Overlay) -> None:
    image = node['image']
    repository, tag = name_and_tag(image.value)
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
