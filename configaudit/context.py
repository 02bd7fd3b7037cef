"""What only a person knows: one frozen value from the configuration and the command line."""

from collections.abc import Mapping
from typing import NamedTuple


class Service(NamedTuple):
    """The service's own numbers, which no file shows."""

    longest_generation_s: float | None = None
    max_ttft_s: float | None = None
    target_rps: float | None = None


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
    complete: bool = False
    """The run covers the whole application: what is not seen does not exist."""
    profile: str = 'latency'
