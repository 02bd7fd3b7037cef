"""Pods with one engine, and the engine that is read from them."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result


def pod_text(image: str, command: str = '', args: str = '', env: str = '', kind: str = 'Pod') -> str:
    """A pod of one container; command, args and env in flow style."""
    lines = [f'apiVersion: v1\nkind: {kind}\nmetadata: {{name: p}}\nspec:\n  containers:\n    - name: c\n      image: {image}\n']
    lines.extend(f'      {key}: {value}\n' for key, value in (('command', command), ('args', args), ('env', env)) if value)
    return ''.join(lines)


@pytest.fixture
def pod() -> Callable[..., str]:
    """Writes the text of a pod."""
    return pod_text


@pytest.fixture
def engines(run: Callable[..., Result]) -> Callable[..., list[Component]]:
    """Every engine in some files."""

    def read(files: dict[str, str]) -> list[Component]:
        return [component for component in run(files).components if 'engine' in component.kind.traits]

    return read


@pytest.fixture
def engine(engines: Callable[..., list[Component]]) -> Callable[..., Component]:
    """The one engine in a pod."""

    def read(image: str, command: str = '', args: str = '', env: str = '', **more: str) -> Component:
        (one,) = engines({'pod.yaml': pod_text(image, command, args, env, more.pop('kind', 'Pod')), **more})
        return one

    return read
