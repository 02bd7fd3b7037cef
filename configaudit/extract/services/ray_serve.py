"""Deployments in a Ray Serve configuration: how many requests a replica takes at once, and of which Ray."""

from collections.abc import Iterator

from configaudit.extract.settings import read_settings
from configaudit.knowledge.batching_kinds import RAY_DEPLOYMENT
from configaudit.knowledge.versions import Version, parse
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document, Place

_CLUSTER = regex(r'\brayVersion:[ \t]*["\']?(\d+\.\d+\.\d+)')
_IMAGE = regex(r'\bray(?:-llm|-ml)?:(\d+\.\d+\.\d+)')


def ray_deployments(document: Document, root: Map, partial: str) -> Iterator[Component]:
    """The deployments of every application."""
    version, found = _release(document)
    for application in maps(root, 'applications'):
        name = text(application, 'name') or 'default'
        for deployment in maps(application, 'deployments'):
            settings: dict[str, Setting] = {}
            read_settings(document, deployment, RAY_DEPLOYMENT, settings)
            place = place_of(document, deployment.get('name') or deployment)
            settings['import_path'] = Setting('import_path', text(application, 'import_path'), place)
            label = f'{name}.{text(deployment, "name") or "-"}'
            slot = Slot('yaml_edit', Place(document, deployment.start, deployment.start))
            yield Component(
                RAY_DEPLOYMENT, label, f'ray-deployment/{label}', place, settings, slot=slot, partial=partial, version=version, version_from=found,
            )  # fmt: skip


def _release(document: Document) -> tuple[Version | None, str]:
    """The release of Ray that the RayService around a configuration names, and how."""
    outer = document.outer
    for pattern, words in ((_CLUSTER, 'rayVersion'), (_IMAGE, 'image tag')):
        found = pattern.search(outer.document.text) if outer is not None else None
        if found is not None:
            return parse(found[1]), f'{words} {found[1]}'
    return None, 'no RayService around it'
