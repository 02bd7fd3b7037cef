"""Where something of the configuration holds: .gitignore patterns over paths, globs over objects."""

import re
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from configaudit.model import Component
from configaudit.sources import Patterns, compile_patterns


class Scope(NamedTuple):
    """Where something of the configuration holds: paths relative to its folder, and objects."""

    paths: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@lru_cache(maxsize=512)
def glob(pattern: str) -> re.Pattern[str]:
    """A glob over names, compiled."""
    return re.compile(translate(pattern))


@lru_cache(maxsize=512)
def _patterns(patterns: tuple[str, ...]) -> Patterns:
    return compile_patterns(patterns)


def in_paths(patterns: tuple[str, ...], path: str) -> bool:
    """Whether a path, or a folder above it, matches .gitignore patterns; without patterns every path does."""
    if not patterns:
        return True
    compiled = _patterns(patterns)
    steps = path.split('/')
    folders = ('/'.join(steps[:count]) for count in range(1, len(steps)))
    return compiled.match(path, False) or any(compiled.match(folder, True) for folder in folders)


def in_objects(patterns: tuple[str, ...], component: Component) -> bool:
    """Whether a component is one of the objects, or part of one; without patterns every component is."""
    return not patterns or any(_is_object(pattern, component) for pattern in patterns)


def _is_object(pattern: str, component: Component) -> bool:
    steps = component.identity.split('/')
    if '/' not in pattern:
        return any(glob(pattern).match(step) for step in (*steps, component.name))
    wanted = pattern.strip('/').split('/')
    return len(wanted) <= len(steps) and all(glob(part).match(step) for part, step in zip(wanted, steps))


def in_scope(scope: Scope, component: Component, path: str) -> bool:
    """Whether something holds for a component of the file at `path` (relative to the configuration's folder)."""
    return in_paths(scope.paths, path) and in_objects(scope.objects, component)
