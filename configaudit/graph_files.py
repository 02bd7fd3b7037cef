"""Links that only the picture needs: what lies in a container by a mount, a build folder, an image or a name.

No rule judges by them, so that each is drawn only where one answer is possible.
"""

import os.path
from collections.abc import Collection, Iterable, Iterator, Mapping

from configaudit.graph_links import Edge, addresses_of, relation_word
from configaudit.knowledge.chain import CALLS, IN_CODE, PROXY_IMAGES, PROXY_ROOTS
from configaudit.knowledge.images import identify
from configaudit.link import nearest
from configaudit.model import Component
from configaudit.patterns import regex

_URL = regex(r'[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?([a-z][a-z0-9.-]*)')
_ADDRESS = regex(r'(?<![\w.:/@-])([a-z][a-z0-9.-]*):\d{2,5}(?!\d)')
_NAME = regex(r'[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*')
_NAMES_HOST = regex(r'(?i)(?:host|hostname|addr|address|endpoint|ur[il]|servers?|brokers?|connect)(?:_ip)?$')
"""In a variable's name: its value is the name of a host."""
_LONGEST = 2_000
"""Characters of a value that may be an address, or a list of some."""
_RUNS_IMAGES = ('workload', 'compose-service', 'docker-run')


def edges_in_files(drawn: Mapping[Component, Collection[Component]], edges: Iterable[Edge]) -> Iterator[Edge]:
    """What compose files, folders and images tell of components that nothing else joins."""
    edges = tuple(edges)
    asking = {edge.source for edge in edges if not edge.carries and not edge.beside}
    entered = {edge.target for edge in edges if not edge.beside}
    composed = [one for one in drawn if one.kind.name == 'compose-service']
    services = [one for one in drawn if one.kind.name == 'service']
    for component, parts in drawn.items():
        if component.kind.name in _RUNS_IMAGES:
            yield from _told_by_values(component, parts, composed, services)
        if component not in asking:
            yield from _named(component, composed, services)
        if component not in entered and not component.peers('carrier'):
            yield from _runner(component, drawn, composed)


def _named(component: Component, composed: list[Component], services: list[Component]) -> Iterator[Edge]:
    """The compose service or Service that a host name means: of its own project or folder."""
    for host in addresses_of(component):
        for found in _meant(component, host, composed, services):
            yield Edge(component, found, relation_word(component, found), False, f'host {host}', False)


def _meant(component: Component, host: str, composed: Iterable[Component], services: Iterable[Component]) -> list[Component]:
    found = [one for one in composed if one.name == host and _in_one_line(one, component)]
    first, _, scope = host.partition('.')
    found = found or [one for one in services if one.name == first and _in_scope(one, scope.partition('.')[0] or component.scope) and _in_one_line(one, component)]
    found = nearest(component, found)
    return found if len(found) == 1 and found[0] is not component else []


def _told_by_values(component: Component, parts: Iterable[Component], composed: Iterable[Component], services: Iterable[Component]) -> Iterator[Edge]:
    """Whom a process is told to call, by the addresses in its environment and its arguments."""
    selecting = [service for part in parts for service in part.peers('service')]
    told: dict[Component, str] = {}
    for host, evidence in dict.fromkeys(pair for part in parts for pair in _addresses(part)):
        for found in _meant(component, host, composed, services):
            if found not in selecting:
                told.setdefault(found, evidence)
    yield from (Edge(component, found, CALLS, False, evidence, False) for found, evidence in told.items())


def _addresses(part: Component) -> Iterator[tuple[str, str]]:
    """(host, where it stands) of a container: URLs and host:port anywhere, a bare name where the variable says that it is one."""
    held = part['env'].known_value if 'env' in part.kind.settings else None
    for name, variable in held.items() if isinstance(held, Mapping) else ():
        word = getattr(variable, 'value', None)
        for host in _hosts(getattr(word, 'value', ''), bare=_NAMES_HOST.search(str(name)) is not None):
            yield host, f'env {name}'
    words = part['words'].known_value if 'words' in part.kind.settings else None
    for word in words if isinstance(words, (list, tuple)) else ():
        for host in _hosts(getattr(word, 'value', word), bare=False):
            yield host, 'argument'


def _hosts(text: object, *, bare: bool) -> Iterator[str]:
    if not isinstance(text, str) or len(text) > _LONGEST:
        return
    yield from (found[1] for pattern in (_URL, _ADDRESS) for found in pattern.finditer(text))
    if bare and _NAME.fullmatch(text):
        yield text


def _in_scope(service: Component, scope: str) -> bool:
    return not scope or not service.scope or service.scope == scope


def _runner(component: Component, drawn: Mapping[Component, Collection[Component]], composed: list[Component]) -> Iterator[Edge]:
    """What runs a proxy's file or a program."""
    if component.kind.name in PROXY_ROOTS:
        found, evidence = _mounting(component, composed), 'mount'
        if not found and not any(_in_one_line(one, component) for one in composed):
            found, evidence = _with_image(component, drawn), 'image'
    elif component.kind.name in IN_CODE:
        found, evidence = _building(component, composed), 'build'
    else:
        return
    if len(found) == 1:
        yield Edge(found[0], component, 'opens' if component.kind.name == 'pool' else 'runs', False, evidence, True)


def _mounting(component: Component, composed: Iterable[Component]) -> list[Component]:
    path = os.path.normpath(_path(component))
    return [one for one in composed if any(_holds(one, source, inside, path) for inside, source in _mapping(one, 'mounts'))]


def _holds(service: Component, source: str, inside: str, path: str) -> bool:
    """Whether a mount is this file, or a folder of configuration with it."""
    if not source.startswith('.'):
        return False
    given = os.path.normpath(os.path.join(os.path.dirname(_path(service)), source))
    return given == path or (inside.startswith('/etc/') and path.startswith(given + '/'))


def _building(component: Component, composed: Iterable[Component]) -> list[Component]:
    """The services with the deepest build folder around a file."""
    path = os.path.normpath(_path(component))
    around = [(folder, one) for one in composed if (folder := _build_folder(one)) and (folder == '.' or path.startswith(folder + '/'))]
    deepest = max((len(folder) for folder, _ in around), default=0)
    return [one for folder, one in around if len(folder) == deepest]


def _build_folder(service: Component) -> str:
    build = service['build'].known_value
    context = build.get('context', '.') if isinstance(build, Mapping) else build
    if not isinstance(context, str) or '$' in context or '://' in context:
        return ''
    return os.path.normpath(os.path.join(os.path.dirname(_path(service)), context))


def _with_image(component: Component, drawn: Mapping[Component, Collection[Component]]) -> list[Component]:
    """The only workload around with an image of the proxy that reads the file."""
    product = component['product'].known_value if 'product' in component.kind.settings else 'nginx'
    images = PROXY_IMAGES.get(str(product), ())
    found = [owner for owner, parts in drawn.items() if owner.kind.name in _RUNS_IMAGES and any(_has_image(part, images) for part in parts) and _in_one_line(owner, component)]
    return nearest(component, found)


def _has_image(part: Component, images: Collection[str]) -> bool:
    image = part['image'].known_value if 'image' in part.kind.settings else None
    return isinstance(image, str) and identify(image).repository.rpartition('/')[2] in images


def _mapping(component: Component, name: str) -> list[tuple[str, str]]:
    held = component[name].known_value
    return [(str(key), str(value)) for key, value in held.items()] if isinstance(held, Mapping) else []


def _path(component: Component) -> str:
    return component.place.outermost().document.path


def _in_one_line(one: Component, other: Component) -> bool:
    """Whether the folder of one lies around the folder of the other."""
    here, there = os.path.dirname(_path(one)), os.path.dirname(_path(other))
    return here == there or not here or not there or there.startswith(here + '/') or here.startswith(there + '/')
