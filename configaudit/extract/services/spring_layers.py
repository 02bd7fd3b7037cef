"""Profiles of Spring, environments of ASP.NET: which file is only for developers, and what a profile's file is laid over."""

import os.path
from collections.abc import Sequence

from configaudit.extract.services.pool_files import Entry
from configaudit.model import Component, Setting
from configaudit.patterns import regex
from configaudit.places import Document, Place

LAYER = 'a Spring profile, laid over the main configuration'
_FILE = regex(r'^(application|bootstrap|appsettings)(?:[-.]([\w-]+))?\.(?:ya?ml|properties|json)$')
_NAMED = regex(r'[-.](\w+)\.(?:ya?ml|properties|json)$')
_SERVED = regex(r'[\w.-]*\w-(\w+)\.(?:ya?ml|properties)$')
_NOT_SERVED = regex(r'(?:^|/)src/\w*[tT]est\w*/')
_DEVELOPMENT = frozenset(('dev', 'develop', 'development', 'test', 'tests', 'testing', 'unittest', 'it', 'integration', 'integrationtest', 'local', 'localhost', 'ci', 'e2e', 'ide', 'intellij', 'h2', 'embedded', 'demo', 'sample', 'example', 'template'))
_PRODUCTION = frozenset(('prod', 'production', 'prd', 'live', 'release'))
_KEYS = (('spring', 'config', 'activate', 'on-profile'), ('spring', 'config', 'activate', 'on', 'profile'), ('spring', 'profiles'))


def profile_of(document: Document, entries: Sequence[Entry]) -> str:
    """The profile that a file or a document in it is for, or ''."""
    written = next((word.value for path, word in entries if path in _KEYS or path == ('spring', 'config', 'activate', 'onProfile')), '')
    name = os.path.basename(document.path)
    named = _FILE.match(name)
    if written or named is not None:
        return written or named[2] or ''  # type: ignore[index]
    served = _SERVED.match(name)  # 'orders-prod.yaml' of a configuration server
    return served[1] if served is not None and served[1].lower() in _PRODUCTION and any(path[0] == 'spring' for path, _ in entries) else ''


def is_for_development(document: Document, profile: str) -> bool:
    """Whether no service runs with a file: a test's, or a developer's profile, by its own name or that of a configuration server's file."""
    if _NOT_SERVED.search(document.path):
        return True
    named = _NAMED.search(os.path.basename(document.path))
    names = profile.replace('|', ',').split(',') if profile else [named[1]] if named is not None else []
    return bool(names) and all(name.strip(' ()').lower() in _DEVELOPMENT for name in names)


def mark(component: Component, profile: str) -> Component:
    """A component of a profile's file."""
    component.settings['profile'] = Setting('profile', profile, component.place)
    return component


def join_layers(components: list[Component]) -> None:
    """Give a profile's components what the main file beside them says; with a production profile the main file by itself is none."""
    main = {_key(component): component for component in components if 'profile' in component.kind.settings and not component['profile'].known_value}
    covered = set()
    for component in components:
        if 'profile' not in component.settings:
            continue
        base = main.get(_key(component))
        if base is None:
            continue
        whole = component.kind.name == 'pool' and component['library'].known_value == 'adonet'  # a connection string is replaced as a whole
        for name, setting in () if whole else base.settings.items():
            own = component.settings.get(name)
            if own is None or not own.is_set or own.reason == LAYER:
                component.settings[name] = setting
        component.partial = base.partial
        if str(component['profile'].known_value).lower() in _PRODUCTION:
            covered.add(base)
    components[:] = [component for component in components if component not in covered]


def _key(component: Component) -> tuple[str, str, str]:
    """What a layer shares with the file below it: the folder, the kind, and the name inside the file."""
    place: Place = component.place.outermost()
    folder, _, file = place.document.path.rpartition('/')
    own = component.identity.partition('/')[2] if _FILE.match(file) else component.identity
    return folder, component.kind.name, own


def join_configurers(components: list[Component]) -> None:
    """Give the gRPC ends that a module's configuration describes what its programs do to their builders."""
    described = [component for component in components if component.kind.name.startswith('grpc-') and not component['written_in'].known_value]
    used: set[Component] = set()
    for program in components:
        if 'configures' in program.settings:
            ends = [end for end in described if end.kind is program.kind and _module(end) == _module(program)]
            for end in ends:
                end.settings.update({name: setting for name, setting in program.settings.items() if name not in ('configures', 'written_in')})
            used.update([program] if ends else [])
    components[:] = [component for component in components if component not in used]


def _module(component: Component) -> str:
    return component.place.outermost().document.path.partition('src/main/')[0]


def join_processes(components: list[Component]) -> None:
    """Give a process's data source, which its environment reaches, the size and times that its application's own file says; that file's pool is then none."""
    files = [component for component in components if component.kind.name == 'pool' and 'carrier' not in component.peer_map and component.identity.endswith(_OWN)]
    processes = [component for component in components if component.kind.name == 'pool' and 'carrier' in component.peer_map and component.identity.endswith(_OWN)]
    taken: set[Component] = set()
    for process in processes:
        named = [file for file in files if _is_of(file, process)]
        chosen = named if named else files if len(files) == len(processes) == 1 else []
        if len(chosen) == 1:
            for name, setting in chosen[0].settings.items():
                own = process.settings.get(name)
                if setting.is_set and name not in _ADDRESS and (own is None or not own.is_set):
                    process.settings[name] = setting
            taken.add(chosen[0])
        size = process.settings.get('max_open')
        if size is not None and not size.is_set and size.is_known and not chosen:
            process.settings['max_open'] = size._replace(reason='the application\'s own configuration, which is not among the files read, may set it', source='')
    components[:] = [component for component in components if component not in taken]


_OWN = '/spring.datasource'
_ADDRESS = ('url', 'host', 'product', 'serves', 'processes', 'profile')


def _is_of(file: Component, process: Component) -> bool:
    """Whether an application's file is that of a process: by the application's name, or a folder on the file's path that is called like the process."""
    folders = file.place.outermost().document.path.split('/')[:-1]
    return process.name in (file.name, *folders)
