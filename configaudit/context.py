"""What only a person knows: one frozen value from the configuration and the command line."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from configaudit.model import Component
from configaudit.places import Place
from configaudit.scope import Scope, in_scope


class Service(NamedTuple):
    """The service's own numbers, which no file shows."""

    longest_generation_s: float | None = None
    max_ttft_s: float | None = None
    target_rps: float | None = None


class Local(NamedTuple):
    """Facts for some paths or objects."""

    scope: Scope
    engine_versions: Mapping[str, str] = {}
    gpu: str = ''


class Declared(NamedTuple):
    """A database server or pooler that no file shows."""

    name: str
    place: Place
    """Where the configuration describes it."""
    product: str = 'postgres'
    hosts: tuple[str, ...] = ()
    max_connections: int | None = None
    reserved: int | None = None
    idle_timeout_s: float | None = None
    pool_mode: str | None = None
    """Of a pooler; None for a server."""


class Context(NamedTuple):
    """Facts for every rule and extractor of a run."""

    service: Service = Service()
    engine_versions: Mapping[str, str] = {}
    """Engine name -> version that replaces an unknown one ('' applies to all)."""
    assumed_versions: Mapping[str, str] = {}
    """Engine name -> version that every engine of that name is judged as, whatever the files say (`upgrade`)."""
    gpu: str = ''
    """GPU product for engines whose GPU the files do not show."""
    links: tuple[tuple[str, str], ...] = ()
    """(client, server) pairs that a person declared, by component name or identity."""
    databases: tuple[Declared, ...] = ()
    """Database servers and poolers that a person described."""
    complete: bool = False
    """The run covers the whole application: what is not seen does not exist."""
    profile: str = 'latency'
    local: tuple[Local, ...] = ()
    """What holds for some paths or objects only; later entries win."""
    root: str = ''
    """The folder that the paths of `local` are relative to; '' for the working directory."""

    def version_of(self, engine: str, carrier: Component) -> str:
        """The version that a person gave for an engine of this carrier, or ''."""
        tables = [item.engine_versions for item in self._around(carrier)]
        given = [versions.get(engine) or versions.get('') for versions in (*reversed(tables), self.engine_versions)]
        return next(filter(None, given), '')

    def gpu_of(self, carrier: Component) -> str:
        """The GPU that a person gave for this carrier, or ''."""
        return next((item.gpu for item in reversed(self._around(carrier)) if item.gpu), self.gpu)

    def _around(self, carrier: Component) -> list[Local]:
        if not self.local:
            return []
        path = carrier.place.outermost().document.path
        relative = os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, '/') if self.root else path
        return [item for item in self.local if in_scope(item.scope, carrier, relative)]
