"""The names of vLLM's parsers of tool calls and of reasoning, by release.

The data is `engines/parser_names.json`, written by tools/engine_history/parser_names.py for the releases of the catalogue.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.history import Range, Status, judge, locate
from configaudit.knowledge.shipped import load
from configaudit.knowledge.versions import Version


@cache
def _table() -> Mapping[str, Any]:
    return load('parser_names')


def status(kind: str, name: str, version: Version | None) -> Status:
    """Whether a release registers a parser of that name; with an unknown version whether any does. `kind`: 'tool', 'reasoning'."""
    spans = _table()[kind].get(name, [])
    if version is None:
        return Status('known' if spans else 'unknown', True)
    known = catalogue('vllm')
    ranges = [Range(known.names.index(first), known.names.index(last), {}) for first, last in spans]
    return judge(ranges, locate(known.versions, version), known.names, {})


def names(kind: str, version: Version | None) -> list[str]:
    """All names of that kind in a release, or in any."""
    return [name for name in _table()[kind] if status(kind, name, version).state == 'known']
