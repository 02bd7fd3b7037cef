"""Which compose service runs a program of the tree: the one whose image is built from the folder the program lies in."""

from collections.abc import Iterable, Iterator
from posixpath import dirname, join, normpath

from configaudit.model import Component


def built_in(components: Iterable[Component], services: Iterable[Component]) -> dict[Component, Component]:
    """Component of source code -> its compose service. Where several services are built from the nearest folder, none is chosen."""
    return {component: around[0] for component, around in _built_around(components, services) if len(around) == 1}


def programs_of(components: Iterable[Component], services: Iterable[Component]) -> dict[Component, list[Component]]:
    """Compose service -> the components of source code in the folder that its image is built from."""
    found: dict[Component, list[Component]] = {}
    for component, around in _built_around(components, services):
        for service in around:
            found.setdefault(service, []).append(component)
    return found


def _built_around(components: Iterable[Component], services: Iterable[Component]) -> Iterator[tuple[Component, list[Component]]]:
    """Each component of source code, and the services that are built from the nearest folder around it."""
    folders: dict[str, list[Component]] = {}
    for service in services:
        context = _context(service)
        if context is not None:
            folders.setdefault(context, []).append(service)
    for component in components if folders else ():
        path = normpath(component.place.outermost().document.path)
        around = [folder for folder in folders if folder == '.' or path.startswith(folder + '/')]
        if around:
            yield component, folders[max(around, key=lambda folder: 0 if folder == '.' else len(folder))]


def _context(service: Component) -> str | None:
    """The folder of a build, or None for an image that comes from elsewhere."""
    build = service['build'].known_value
    context = build.get('context', '.') if isinstance(build, dict) else build
    if not isinstance(context, str) or '://' in context or '$' in context or context.startswith(('git@', '/')):
        return None
    return normpath(join(dirname(service.place.outermost().document.path), context))
