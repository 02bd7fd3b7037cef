"""Documents that are only part of one: kustomize patches, compose overrides, chart values beside templates."""

from configaudit.extract.process import Reading
from configaudit.model import Error
from configaudit.parse import Parsed


class Overlay:
    """Collects what must be merged before it is read."""

    def __init__(self) -> None:
        self._held: list[Parsed] = []

    def takes(self, item: Parsed) -> bool:
        """Whether the document is held back to be merged with others."""
        return False

    def partial(self, item: Parsed) -> str:
        """Why nothing may be called missing in the document, or ''."""
        return ''

    def finish(self, reading: Reading, errors: list[Error]) -> None:
        """Merge what was held and read the result."""
