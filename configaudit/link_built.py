"""Which compose service runs a program of the tree: the one whose image is built from the folder the program lies in."""

from collections.abc import Iterable
from posixpath import dirname, join, normpath

from configaudit.model import Component


def built_in(components: Iterable[Component], services: Iterable[Component]) -> dict[Component, Component]:
    """Component of source code -> its compose service. Where several services are built from the nearest folder, none is chosen."""
    folders: dict[str, list[Component]] = {}
    for service in services:
        context = _context(service)
        if context is not None:
            folders.setdefault(context, []).append(service)
    found: dict[Component, Component] = {}
    for component in components if folders else ():
        path = normpath(component.place.outermost().document.path)
        around = [folder for folder in folders if folder == '.' or path.startswith(folder + '/')]
        nearest = max(around, key=lambda folder: 0 if folder == '.' else len(folder), default='')
        if len(folders.get(nearest, ())) == 1:
            found[component] = folders[nearest][0]
    return found


def _context(service: Component) -> str | None:
    """The folder of a build, or None for an image that comes from elsewhere."""
    build = service['build'].known_value
    context = build.get('context', '.') if isinstance(build, dict) else build
    if not isinstance(context, str) or '://' in context or '$' in context or context.startswith(('git@', '/')):
        return None
    return normpath(join(dirname(service.place.outermost().document.path), context))
