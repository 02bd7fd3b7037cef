"""Rules for container images: which tag is run."""

from collections.abc import Iterator

from configaudit.knowledge.images import identify
from configaudit.model import Component, NotApplicable, Problem, Setting, rule
from configaudit.patterns import regex
from configaudit.units import HOLE

from .serving import is_gateway

_BUILT = ('ko://', 'kind.local/', 'ko.local/', 'dev.local/')
_NUMBERED = regex(r'\d+\.\d')
"""A variant of one release ('cpu-1.7'): only its patches move."""
_NAMED_RELEASE = regex(r'\d+[.-]\d+')
"""A release in the name ('server-cu124.2-3.py311'): only builds of it move."""
_TO_REPLACE = regex(r'replace|placeholder|change-?me|^your-|^ignored|image-?name')
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

    Engines drop flags between minor releases and then stop at start. Pin a release, best with its digest. For programs that serve no
    inference, and where the image's name carries the release, it is advice.
    """
    image = user['image']
    if not image.is_set:
        raise NotApplicable('it names no image')
    reference = str(image.known_value if _tag_is_known(image) else image.value or '')
    if not reference or reference.startswith(_BUILT) or _is_built_here(user):
        raise NotApplicable('it is built here')
    found = identify(reference)
    if not found.floating or found.placeholder or _NUMBERED.search(found.tag) or _stands_for_another(found.repository):
        return
    built = _NAMED_RELEASE.search(found.repository.rpartition('/')[2]) is not None
    serves = not built and (found.engine or _is_service(user))
    why = 'flags and defaults change with every release' if found.engine else 'a restart may run another release'
    why = 'a restart may run another build' if built else why
    message = '{image}: the tag {tag} moves; {why}, pin one' if found.tag else '{image}: no tag, so the registry serves latest; {why}, pin one'
    yield Problem(image, message, image=reference, tag=found.tag, why=why, severity=None if serves else 'advice')


def _tag_is_known(image: Setting) -> bool:
    """Whether a template leaves only the registry or repository open."""
    if image.is_known:
        return False
    tag = identify(str(image.known_value or '')).tag
    return bool(tag) and HOLE not in tag


def _stands_for_another(repository: str) -> bool:
    """Whether the name is one that a tool or a person replaces."""
    name = repository.rpartition('/')[2]
    return repository in _STANDS_FOR_ANOTHER or bool(_CAPITALS.fullmatch(repository) or _TO_REPLACE.search(name))


def _is_built_here(user: Component) -> bool:
    return user.kind.name == 'compose-service' and user['build'].is_set


def _is_service(user: Component) -> bool:
    """Whether it is an inference server, a gateway or part of its pod: not a Job, a base image or some other program."""
    if user.kind.name == 'compose-service':
        return user['role'].value in ('engine', 'gateway', 'python') or bool(user.peers('engine'))
    if user.kind.name != 'container':
        return False
    return bool(user.peer('pod').peers('engine')) or is_gateway(user)
