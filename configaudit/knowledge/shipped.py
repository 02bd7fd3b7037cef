"""The data files of the package: `engines/*.json`."""

from collections.abc import Mapping
from functools import cache
from os.path import dirname, join
from typing import Any

HISTORIES = ('vllm', 'sglang')
"""Engines whose flags, variables and metrics are recorded release by release."""


def load(name: str) -> dict[str, Any]:
    """A file of `engines/` as data."""
    import json  # kept off the start-up path of runs that meet no engine

    with open(join(dirname(__file__), 'engines', f'{name}.json'), 'rb') as file:
        found: dict[str, Any] = json.loads(file.read())
    return found


@cache
def servers() -> tuple[str, ...]:
    """Servers with hand-kept settings."""
    return tuple(name for name in sorted(load('others')) if name != 'charts')


@cache
def settings(engine: str) -> Mapping[str, Any]:
    """The hand-kept settings of another server ('tgi', 'ollama', 'triton' ...).

    {'settings': [{setting, default, where, note}], 'source'}; KeyError for a server without a table.
    """
    found: Mapping[str, Any] = load('others')[engine]
    return found
