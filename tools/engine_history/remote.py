"""Single members of a published archive, without fetching the whole of it."""

import hashlib
import io
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterable

from .index import TIMEOUT_S, File

TAIL_BYTES = 1 << 19  # holds the directory of most wheels
GAP_BYTES = 1 << 17  # members nearer than this come with one request

Wanted = Callable[[str], bool]
Read = Callable[[int, int], bytes]


class RangeFile(io.RawIOBase):
    """A seekable file whose bytes are fetched when they are read, a stretch at a time."""

    def __init__(self, size: int, read: Read) -> None:
        self._size, self._fetch, self._at = size, read, 0
        self._stretches: list[tuple[int, bytes]] = []

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence] + offset
        return self._at

    def load(self, start: int, end: int) -> None:
        """Fetch a stretch that is going to be read."""
        self._stretches.append((start, self._fetch(start, min(end, self._size))))

    def read(self, count: int = -1) -> bytes:
        end = self._size if count < 0 else min(self._at + count, self._size)
        start, self._at = self._at, max(self._at, end)
        if start >= end:
            return b''
        for first, data in self._stretches:
            if first <= start and end <= first + len(data):
                return data[start - first : end - first]
        self.load(start, end)
        return self._stretches[-1][1]


def range_reader(url: str) -> Read:
    """Reads bytes [start, end) of a URL. Raises OSError when the server does not answer with that part."""

    def read(start: int, end: int) -> bytes:
        request = urllib.request.Request(url, headers={'Range': f'bytes={start}-{end - 1}'})
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            if response.status != 206:
                raise OSError(f'{url}: no partial content (status {response.status})')
            data: bytes = response.read()
        return data

    return read


def stretches(members: Iterable[zipfile.ZipInfo]) -> list[tuple[int, int]]:
    """Where the members lie in the archive, near ones joined; room for the local header is added."""
    found: list[tuple[int, int]] = []
    for member in sorted(members, key=lambda each: each.header_offset):
        start = member.header_offset
        end = start + 30 + 2 * len(member.filename) + 256 + member.compress_size
        if found and start - found[-1][1] < GAP_BYTES:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def wheel_members(size: int, read: Read, wanted: Wanted) -> dict[str, str]:
    """Path -> text of the wanted members of a wheel."""
    file = RangeFile(size, read)
    file.load(max(size - TAIL_BYTES, 0), size)
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if wanted(member.filename)]
        for start, end in stretches(members):
            file.load(start, end)
        return {member.filename: archive.read(member).decode() for member in members}


def source_members(data: bytes, wanted: Wanted) -> dict[str, str]:
    """Path (without the folder of the archive) -> text of the wanted members of a source distribution."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            path = member.name.partition('/')[2].removeprefix('python/')
            content = archive.extractfile(member) if member.isfile() and wanted(path) else None
            if content is not None:
                found[path] = content.read().decode()
    return found


def members(wheel: File | None, source: File | None, wanted: Wanted) -> dict[str, str]:
    """The wanted members of a release, from its wheel by parts or else from the whole source distribution.

    Raises OSError when neither can be read and ValueError when the source distribution is not the announced one.
    """
    if wheel is not None:
        return wheel_members(wheel.size, range_reader(wheel.url), wanted)
    if source is None:
        raise OSError('the release has neither a wheel nor a source distribution')
    with urllib.request.urlopen(source.url, timeout=TIMEOUT_S) as response:
        data: bytes = response.read()
    if hashlib.sha256(data).hexdigest() != source.sha256:
        raise ValueError(f'{source.name}: not the file that the index announces')
    return source_members(data, wanted)
