"""What an image that a compose service builds starts by itself: the command of its Dockerfile, with the service's own environment."""

from posixpath import dirname, join, normpath
from typing import Any

from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.model import Component
from configaudit.places import Document


def built_process(process: Process, stores: Stores) -> Process | None:
    """The process as its Dockerfile starts it; None where the service has a command of its own or builds nothing that the run shows."""
    carrier = process.component
    if process.entrypoint is not None or process.arguments is not None or 'build' not in carrier.kind.settings:
        return None
    build: Any = carrier['build'].known_value
    word = dockerfile_of(carrier, stores)
    if word is None or (isinstance(build, dict) and 'target' in build):
        return None
    from configaudit.extract.carriers.dockerfile import read

    document = word.place.document
    made = read(Document(document.path, 'dockerfile', document.data)).processes
    if not made:
        return None
    own = made[-1]
    return process._replace(
        entrypoint=own.entrypoint, arguments=own.arguments, shell=own.shell, syntax=own.syntax, environment=(*own.environment, *process.environment)
    )


def dockerfile_of(carrier: Component, stores: Stores) -> Word | None:
    """The Dockerfile that a compose service builds, as far as the run shows it."""
    build: Any = carrier['build'].known_value if 'build' in carrier.kind.settings else None
    context, file = (build.get('context', '.'), build.get('dockerfile', 'Dockerfile')) if isinstance(build, dict) else (build, 'Dockerfile')
    if not isinstance(context, str) or not isinstance(file, str) or '://' in context or '$' in context + file:
        return None
    return stores.files.at(normpath(join(carrier.scope, context, file)))


def folder_of(carrier: Component) -> str | None:
    """Where a carrier's programs are: the folder of its Dockerfile, the one that compose builds; None when nothing tells."""
    own = dirname(carrier.place.outermost().document.path)
    if carrier.kind.name == 'dockerfile':
        return own
    build = carrier['build'].known_value if 'build' in carrier.kind.settings else None
    build = build.get('context', '.') if isinstance(build, dict) else build
    return normpath(join(own, build)).removeprefix('.').removeprefix('/') if isinstance(build, str) else None
