"""Objects of an apiVersion that Kubernetes no longer serves."""

from typing import TYPE_CHECKING

from configaudit.knowledge.kubernetes_versions import REMOVED
from configaudit.knowledge.objects import REMOVED_API
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, Scalar, key_place, place_of, text

if TYPE_CHECKING:
    from configaudit.extract.carriers.pods import Owner

_CHOOSES = (b'.Capabilities', b'semverCompare')
"""Words of a template that picks the apiVersion by the cluster's version."""


def removed_api(owner: 'Owner', root: Map) -> Component | None:
    """The component of an object whose apiVersion is gone; None for all others."""
    node = root.get('apiVersion')
    removal = REMOVED.get((text(root, 'apiVersion') or '', owner.kind))
    if removal is None or not isinstance(node, Scalar):
        return None
    document = owner.document
    if document.template is not None and (any(word in document.data for word in _CHOOSES) or _alternatives(document.parsed)):
        return None
    place = place_of(document, node)
    settings = {
        'api_version': Setting('api_version', node.value, place, slot=Slot('yaml_edit', place)),
        'object_kind': Setting('object_kind', owner.kind, key_place(document, root, 'kind')),
        'removed_in': Setting('removed_in', removal.release, place),
        'instead': Setting('instead', removal.instead, place),
        'same_schema': Setting('same_schema', removal.same_schema, place),
    }
    return Component(REMOVED_API, owner.name, owner.identity, place, settings, scope=owner.namespace)


def _alternatives(text: bytes) -> bool:
    """Whether a template's document spells several apiVersions, of which one is chosen."""
    return (b'\n' + text).count(b'\napiVersion:') > 1
