"""Rules for container images: which tag is run."""

from collections.abc import Iterator

from configaudit.knowledge.images import identify
from configaudit.model import Component, NotApplicable, Problem, rule
from configaudit.patterns import regex

_BUILT = ('ko://', 'kind.local/', 'ko.local/', 'dev.local/')
_NUMBERED = regex(r'\d+\.\d')
"""A variant of one release ('cpu-1.7'): only its patches move."""
_TO_REPLACE = regex(r'replace|placeholder|change-?me|^your-|image-?name')
_CAPITALS = regex(r'[A-Z0-9_]+')
"""A name to replace: image references are lower case."""
_STANDS_FOR_ANOTHER = ('auto', 'controller', 'scratch')
"""`auto` is Istio's, `controller` the name that scaffolding leaves for kustomize."""


@rule(
    'image-floating-tag', on='image-user', severity='warning', source='Kubernetes documentation, concepts/containers/images; vLLM flag history',
    effect='every replica and every restart runs the same release', side_effect='updates need a change of the manifest',
)  # fmt: skip
def image_floating_tag(user: Component) -> Iterator[Problem]:
    """A tag that moves gives two replicas two releases, and a restart new flags and defaults.

    Engines drop flags between minor releases and then stop at start. Pin a release, best with its digest.
    """
    image = user['image']
    if not image.is_set:
        raise NotApplicable('it names no image')
    reference = str(image.value or '')
    if not reference or reference.startswith(_BUILT) or _is_built_here(user):
        raise NotApplicable('it is built here')
    found = identify(reference)
    name = found.repository.rpartition('/')[2]
    if not found.floating or found.placeholder or _NUMBERED.search(found.tag) or _TO_REPLACE.search(name) or (name in _STANDS_FOR_ANOTHER and '/' not in found.repository) or _CAPITALS.fullmatch(found.repository):
        return
    severity = None if found.engine or _long_running(user) else 'advice'
    message = '{value}: the tag {tag} moves' if found.tag else '{value}: no tag, so the registry serves latest'
    yield Problem(image, message + '; flags and defaults change with every release, pin one', tag=found.tag, severity=severity)  # type: ignore[arg-type]


def _is_built_here(user: Component) -> bool:
    return user.kind.name == 'compose-service' and user['build'].is_set


def _long_running(user: Component) -> bool:
    """Whether it is part of what serves: not a Job, a bare Pod of a test, a base image or a command in a script."""
    if user.kind.name == 'compose-service':
        return True
    if user.kind.name != 'container':
        return False
    if user.peer('pod').peers('engine'):
        return True
    return bool(user.peer('workload')['serves'].value) and user.peer('pod')['object_kind'].value != 'Pod'
