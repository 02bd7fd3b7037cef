"""The releases of a project in a package index.

Source of the format: https://peps.python.org/pep-0691/ (JSON) and https://peps.python.org/pep-0700/ (sizes, versions).
"""

import json
import os
import urllib.request
from typing import NamedTuple

from configaudit.knowledge.versions import Version, parse

DEFAULT_INDEX = 'https://pypi.org/simple'
JSON_TYPE = 'application/vnd.pypi.simple.v1+json'
TIMEOUT_S = 60


class File(NamedTuple):
    """A published file: `size` in bytes (0 when the index does not tell), `sha256` in hexadecimal digits."""

    name: str
    url: str
    size: int
    sha256: str

    @property
    def is_wheel(self) -> bool:
        return self.name.endswith('.whl')


class Release(NamedTuple):
    """A final release, post releases included, with its files."""

    name: str
    version: Version
    files: tuple[File, ...]

    @property
    def wheel(self) -> File | None:
        """The smallest wheel: wheels of one release differ in compiled code only."""
        return min((file for file in self.files if file.is_wheel), key=lambda file: file.size, default=None)

    @property
    def source(self) -> File | None:
        return next((file for file in self.files if file.name.endswith('.tar.gz')), None)


def index_url() -> str:
    """The index that pip is told to use, else the standard one."""
    return os.environ.get('PIP_INDEX_URL', DEFAULT_INDEX).rstrip('/')


def fetch(project: str) -> list[dict[str, object]]:
    """The files of a project as the index lists them. Raises urllib.error.URLError."""
    request = urllib.request.Request(f'{index_url()}/{project}/', headers={'Accept': JSON_TYPE})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
        found: list[dict[str, object]] = json.loads(response.read())['files']
    return found


def version_name(file_name: str) -> str:
    """'0.9.2' of vllm-0.9.2-cp38-abi3-manylinux1_x86_64.whl and of vllm-0.9.2.tar.gz."""
    stem = file_name.removesuffix('.tar.gz')
    return stem.split('-')[1] if '-' in stem else ''


def releases(files: list[dict[str, object]], since: Version) -> list[Release]:
    """The final releases from `since` on, oldest first; yanked files and local versions are left out."""
    found: dict[str, list[File]] = {}
    for entry in files:
        name, hashes = str(entry['filename']), entry['hashes']
        if not entry.get('yanked') and isinstance(hashes, dict):
            file = File(name, str(entry['url']), int(str(entry.get('size') or 0)), str(hashes.get('sha256', '')))
            found.setdefault(version_name(name), []).append(file)
    listed = [(version, name) for name in found if (version := parse(name)) and '+' not in name]
    wanted = sorted((version, name) for version, name in listed if version >= since and version.phase in (0, 1))
    return [Release(name, version, tuple(sorted(found[name]))) for version, name in wanted]
