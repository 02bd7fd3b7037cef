"""Spring profiles: which file is only for developers, and what a profile's file is laid over."""

import os.path
from collections.abc import Sequence

from configaudit.extract.services.pool_files import Entry
from configaudit.model import Component, Setting
from configaudit.patterns import regex
from configaudit.places import Document, Place

LAYER = 'a Spring profile, laid over the main configuration'
_FILE = regex(r'^(application|bootstrap)(?:-([\w-]+))?\.(?:ya?ml|properties)$')
_NAMED = regex(r'-(\w+)\.(?:ya?ml|properties)$')
_NOT_SERVED = regex(r'(?:^|/)src/\w*[tT]est\w*/')
_DEVELOPMENT = frozenset(('dev', 'develop', 'development', 'test', 'tests', 'testing', 'unittest', 'it', 'integration', 'integrationtest', 'local', 'localhost', 'ci', 'e2e', 'ide', 'intellij', 'h2', 'embedded', 'demo', 'sample'))
_PRODUCTION = frozenset(('prod', 'production', 'prd', 'live', 'release'))
_KEYS = (('spring', 'config', 'activate', 'on-profile'), ('spring', 'config', 'activate', 'on', 'profile'), ('spring', 'profiles'))


def profile_of(document: Document, entries: Sequence[Entry]) -> str:
    """The profile that a file or a document in it is for, or ''."""
    written = next((word.value for path, word in entries if path in _KEYS or path == ('spring', 'config', 'activate', 'onProfile')), '')
    named = _FILE.match(os.path.basename(document.path))
    return written or (named[2] or '' if named is not None else '')


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
        for name, setting in base.settings.items():
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
